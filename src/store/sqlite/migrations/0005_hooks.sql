-- What is run when a job, or a run of a flow, has ended: shell text, and the
-- longest it may run (NULL: a minute).
ALTER TABLE ax_jobs ADD COLUMN on_end ANY
    CHECK (on_end IS NULL OR (typeof(on_end) IN ('text', 'blob') AND length(on_end) > 0));
ALTER TABLE ax_jobs ADD COLUMN on_end_timeout INTEGER CHECK (on_end_timeout > 0);
ALTER TABLE ax_flow_runs ADD COLUMN on_end ANY
    CHECK (on_end IS NULL OR (typeof(on_end) IN ('text', 'blob') AND length(on_end) > 0));
ALTER TABLE ax_flow_runs ADD COLUMN on_end_timeout INTEGER CHECK (on_end_timeout > 0);
ALTER TABLE ax_flow_runs ADD COLUMN on_end_cwd ANY
    CHECK (on_end_cwd IS NULL OR typeof(on_end_cwd) IN ('text', 'blob'));
-- Set of the jobs of a run whose end has a hook, so that the last one is seen
-- by what is left of them, and no other job pays for it.
ALTER TABLE ax_jobs ADD COLUMN ends_run INTEGER CHECK (ends_run = 1);
CREATE INDEX ax_jobs_ends_run ON ax_jobs (flow_run)
    WHERE ends_run = 1
        AND status <> 'success' AND status <> 'dead' AND status <> 'cancelled' AND status <> 'skipped';

-- Hooks that are owed or were run, each with the end it is about as it was
-- then: without owner as long as no runner has taken it, begun once it has
-- started_at. One that was begun is never begun again.
CREATE TABLE ax_hooks (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id     INTEGER NOT NULL REFERENCES ax_jobs (id),
    flow_run   INTEGER,
    of_run     INTEGER NOT NULL DEFAULT 0 CHECK (of_run IN (0, 1)),
    status     TEXT    NOT NULL CHECK (status IN ('success', 'dead', 'held', 'cancelled', 'skipped')),
    attempt    INTEGER NOT NULL CHECK (attempt BETWEEN 0 AND 4294967295),
    exit_code  INTEGER CHECK (exit_code BETWEEN -2147483648 AND 2147483647),
    signal     INTEGER CHECK (signal BETWEEN -2147483648 AND 2147483647),
    reason     TEXT,
    command    ANY     NOT NULL CHECK (typeof(command) IN ('text', 'blob') AND length(command) > 0),
    cwd        ANY     CHECK (cwd IS NULL OR typeof(cwd) IN ('text', 'blob')),
    timeout    INTEGER NOT NULL CHECK (timeout > 0),
    owed_at    INTEGER NOT NULL,
    owner      INTEGER,
    started_at INTEGER CHECK (started_at IS NULL OR owner IS NOT NULL),
    ended_at   INTEGER CHECK (ended_at IS NULL OR started_at IS NOT NULL),
    outcome    TEXT    CHECK ((outcome IS NULL) = (ended_at IS NULL)),
    error      TEXT,
    output     BLOB
) STRICT;
CREATE INDEX ax_hooks_owed ON ax_hooks (id) WHERE owner IS NULL AND ended_at IS NULL;
CREATE INDEX ax_hooks_owed_of_run ON ax_hooks (flow_run, id)
    WHERE owner IS NULL AND ended_at IS NULL AND flow_run IS NOT NULL;
CREATE INDEX ax_hooks_open ON ax_hooks (id) WHERE owner IS NOT NULL AND ended_at IS NULL;
CREATE INDEX ax_hooks_job ON ax_hooks (job_id);

-- An end is one in a final state, or an attempt of which nobody knows the
-- outcome and that a person must judge. A start that was taken back has none,
-- nor has a failure after which the whole chain starts again.
CREATE TRIGGER ax_job_ended AFTER UPDATE OF status ON ax_jobs
WHEN NEW.on_end IS NOT NULL AND OLD.status <> NEW.status
    AND (NEW.status = 'success' OR NEW.status = 'dead' OR NEW.status = 'cancelled' OR NEW.status = 'skipped'
        OR (NEW.status = 'held' AND (OLD.status = 'dispatched' OR OLD.status = 'running')))
    AND NOT EXISTS (
        SELECT 1 FROM ax_flow_runs AS run
        WHERE run.id = NEW.flow_run
            AND (run.dropped = 1
                OR (NEW.status = 'dead' AND (run.stage <> 'whole' OR run.retry_count < run.max_retries)))) BEGIN
    INSERT INTO ax_hooks (
        job_id, flow_run, status, attempt, exit_code, signal, reason, command, timeout, owed_at)
    VALUES (
        NEW.id, NEW.flow_run, NEW.status, NEW.attempts, NEW.exit_code, NEW.signal,
        coalesce(NEW.reason, NEW.last_error), NEW.on_end, coalesce(NEW.on_end_timeout, 60000),
        NEW.updated_at);
END;
CREATE TRIGGER ax_job_born_skipped AFTER INSERT ON ax_jobs
WHEN NEW.on_end IS NOT NULL AND NEW.status = 'skipped' BEGIN
    INSERT INTO ax_hooks (job_id, flow_run, status, attempt, reason, command, timeout, owed_at)
    VALUES (
        NEW.id, NEW.flow_run, NEW.status, 0, NEW.reason, NEW.on_end,
        coalesce(NEW.on_end_timeout, 60000), NEW.updated_at);
END;
-- A run ends with the last of its jobs. It is told of the first that is dead,
-- else the first that was cancelled, else the last that succeeded.
CREATE TRIGGER ax_run_ended AFTER UPDATE OF status ON ax_jobs
WHEN NEW.ends_run IS NOT NULL AND OLD.status <> NEW.status
    AND (NEW.status = 'success' OR NEW.status = 'dead' OR NEW.status = 'cancelled' OR NEW.status = 'skipped') BEGIN
    INSERT INTO ax_hooks (
        job_id, flow_run, of_run, status, attempt, exit_code, signal, reason, command, cwd, timeout,
        owed_at)
    SELECT
        job.id, run.id, 1, iif(job.status = 'skipped', 'success', job.status), job.attempts,
        job.exit_code, job.signal, coalesce(job.reason, job.last_error), run.on_end, run.on_end_cwd,
        coalesce(run.on_end_timeout, 60000), NEW.updated_at
    FROM ax_flow_runs AS run JOIN ax_jobs AS job ON job.flow_run = run.id
    WHERE run.id = NEW.flow_run AND run.on_end IS NOT NULL AND run.dropped = 0 AND run.stage = 'whole'
        AND (NEW.status <> 'dead' OR run.retry_count >= run.max_retries)
        AND NOT EXISTS (
            SELECT 1 FROM ax_jobs AS other
            WHERE other.flow_run = NEW.flow_run AND other.ends_run = 1
                AND other.status <> 'success' AND other.status <> 'dead'
                AND other.status <> 'cancelled' AND other.status <> 'skipped')
    ORDER BY
        job.status = 'dead' DESC, job.status = 'cancelled' DESC, job.status = 'success' DESC,
        iif(job.status = 'success', -job.finished_at, job.finished_at),
        iif(job.status = 'success', -job.id, job.id)
    LIMIT 1;
END;
