-- Times are milliseconds since 1970 UTC, durations milliseconds.
-- Rows written here by hand are judged like any other: every column of a job
-- but its command has a default, and the triggers below tell the next runner
-- which jobs to judge again.

CREATE TABLE ax_jobs (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    CHECK (name <> ''),
    key             TEXT    CHECK (key <> ''),
    command         ANY     NOT NULL CHECK (typeof(command) IN ('text', 'blob') AND length(command) > 0),
    shell           INTEGER NOT NULL DEFAULT 1 CHECK (shell IN (0, 1)),
    status          TEXT    NOT NULL DEFAULT 'pending'
                            CHECK (status IN ('pending', 'ready', 'dispatched', 'running', 'success',
                                              'failed', 'dead', 'held', 'cancelled', 'skipped')),
    reason          TEXT,
    priority        INTEGER NOT NULL DEFAULT 5,
    scheduled_at    INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
    timeout         INTEGER DEFAULT 60000 CHECK (timeout > 0),
    kill_after      INTEGER NOT NULL DEFAULT 10000 CHECK (kill_after >= 0),
    max_retries     INTEGER NOT NULL DEFAULT 3 CHECK (max_retries BETWEEN 0 AND 4294967295),
    retry_count     INTEGER NOT NULL DEFAULT 0 CHECK (retry_count BETWEEN 0 AND 4294967295),
    retry_delay     INTEGER NOT NULL DEFAULT 5000 CHECK (retry_delay >= 0),
    retry_backoff   REAL    NOT NULL DEFAULT 2.0 CHECK (retry_backoff >= 1.0),
    retry_max_delay INTEGER NOT NULL DEFAULT 3600000 CHECK (retry_max_delay >= 0),
    on_lost         TEXT    NOT NULL DEFAULT 'requeue' CHECK (on_lost IN ('requeue', 'hold', 'fail')),
    loss_count      INTEGER NOT NULL DEFAULT 0 CHECK (loss_count BETWEEN 0 AND 4294967295),
    attempts        INTEGER NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 4294967295),
    owner           INTEGER CHECK ((owner IS NOT NULL) = (status IN ('dispatched', 'running'))),
    -- An open parent whose end can settle something for this job; NULL when it
    -- waits for none. Of several the one added last, so that a join over n
    -- parents that end in order is judged once and not n times.
    waits_on        INTEGER,
    exit_code       INTEGER CHECK (exit_code BETWEEN -2147483648 AND 2147483647),
    signal          INTEGER CHECK (signal BETWEEN -2147483648 AND 2147483647),
    last_error      TEXT,
    runs_at         INTEGER,
    finished_at     INTEGER,
    created_at      INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
    updated_at      INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
    cwd             ANY     CHECK (cwd IS NULL OR typeof(cwd) IN ('text', 'blob')),
    umask           INTEGER CHECK (umask BETWEEN 0 AND 511),
    env_id          INTEGER REFERENCES ax_envs (id),
    extra_env       BLOB,
    flow            TEXT,
    flow_run        INTEGER REFERENCES ax_flow_runs (id)
) STRICT;

-- What a runner takes next.
CREATE INDEX ax_jobs_ready ON ax_jobs (priority DESC, scheduled_at, id) WHERE status = 'ready';
-- What becomes ready next. What was due when it was added stays due, whatever
-- the clock shows later.
CREATE INDEX ax_jobs_due ON ax_jobs (iif(status = 'pending' AND scheduled_at <= created_at, 0, scheduled_at), id)
    WHERE status IN ('pending', 'failed') AND waits_on IS NULL;
-- What failed later than now: the clock was set back.
CREATE INDEX ax_jobs_failed ON ax_jobs (finished_at) WHERE status = 'failed';
-- What runners own, what waits for parents or people, what failed for good.
CREATE INDEX ax_jobs_owned ON ax_jobs (owner) WHERE status IN ('dispatched', 'running');
CREATE INDEX ax_jobs_waiting ON ax_jobs (id) WHERE status = 'pending' AND waits_on IS NOT NULL;
CREATE INDEX ax_jobs_held ON ax_jobs (id) WHERE status = 'held';
CREATE INDEX ax_jobs_dead ON ax_jobs (id) WHERE status = 'dead';
-- What ended last.
CREATE INDEX ax_jobs_ended ON ax_jobs (finished_at)
    WHERE status IN ('success', 'dead', 'cancelled', 'skipped');
-- A key belongs to one unfinished job at most.
CREATE UNIQUE INDEX ax_jobs_open_key ON ax_jobs (key)
    WHERE key IS NOT NULL AND status NOT IN ('success', 'dead', 'cancelled', 'skipped');
CREATE INDEX ax_jobs_key ON ax_jobs (key, id) WHERE key IS NOT NULL;
CREATE INDEX ax_jobs_flow_run ON ax_jobs (flow_run) WHERE flow_run IS NOT NULL;

CREATE TABLE ax_deps (
    job_id     INTEGER NOT NULL REFERENCES ax_jobs (id),
    depends_on INTEGER NOT NULL REFERENCES ax_jobs (id),
    kind       TEXT    NOT NULL DEFAULT 'after' CHECK (kind IN ('after', 'on_failure', 'after_any')),
    PRIMARY KEY (job_id, depends_on, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX ax_deps_children ON ax_deps (depends_on, job_id);

-- One row an execution; the output of it if it is short.
CREATE TABLE ax_attempts (
    job_id         INTEGER NOT NULL REFERENCES ax_jobs (id),
    attempt        INTEGER NOT NULL CHECK (attempt BETWEEN 1 AND 4294967295),
    owner          INTEGER NOT NULL,
    claimed_at     INTEGER NOT NULL,
    pid            INTEGER CHECK (pid BETWEEN -2147483648 AND 2147483647),
    start_time     INTEGER,
    started_at     INTEGER,
    ended_at       INTEGER,
    outcome        TEXT,
    exit_code      INTEGER CHECK (exit_code BETWEEN -2147483648 AND 2147483647),
    signal         INTEGER CHECK (signal BETWEEN -2147483648 AND 2147483647),
    reason         TEXT,
    output_bytes   INTEGER NOT NULL DEFAULT 0 CHECK (output_bytes >= 0),
    output_in_file INTEGER NOT NULL DEFAULT 0 CHECK (output_in_file IN (0, 1)),
    PRIMARY KEY (job_id, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX ax_attempts_in_file ON ax_attempts (job_id, attempt) WHERE output_in_file = 1;

CREATE TABLE ax_outputs (
    job_id  INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    bytes   BLOB    NOT NULL,
    PRIMARY KEY (job_id, attempt),
    FOREIGN KEY (job_id, attempt) REFERENCES ax_attempts (job_id, attempt)
) STRICT;

-- Environments, once per content: NAME=value entries, each ended by a NUL.
-- Runners keep those they have read, so an id never comes to mean another.
CREATE TABLE ax_envs (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    block BLOB NOT NULL UNIQUE
) STRICT;

CREATE TABLE ax_flow_runs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    flow       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE ax_runners (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    pid        INTEGER NOT NULL CHECK (pid BETWEEN -2147483648 AND 2147483647),
    start_time INTEGER NOT NULL,
    boot_id    TEXT    NOT NULL,
    workers    INTEGER NOT NULL CHECK (workers >= 0),
    started_at INTEGER NOT NULL
) STRICT;

-- Jobs whose dependencies are to be judged in the next turn; edge = 1 when an
-- edge was written that nobody has checked for a cycle.
CREATE TABLE ax_judge (
    job_id INTEGER PRIMARY KEY,
    edge   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TRIGGER ax_edge_made AFTER INSERT ON ax_deps BEGIN
    INSERT INTO ax_judge (job_id, edge) VALUES (NEW.job_id, 1) ON CONFLICT DO UPDATE SET edge = 1;
END;
CREATE TRIGGER ax_edge_changed AFTER UPDATE ON ax_deps BEGIN
    INSERT INTO ax_judge (job_id, edge) VALUES (NEW.job_id, 1) ON CONFLICT DO UPDATE SET edge = 1;
    INSERT OR IGNORE INTO ax_judge (job_id) VALUES (OLD.job_id);
END;
CREATE TRIGGER ax_edge_gone AFTER DELETE ON ax_deps BEGIN
    INSERT OR IGNORE INTO ax_judge (job_id) VALUES (OLD.job_id);
END;
CREATE TRIGGER ax_job_made AFTER INSERT ON ax_jobs BEGIN
    INSERT INTO ax_judge (job_id, edge)
        SELECT NEW.id, 1 WHERE EXISTS (SELECT 1 FROM ax_deps WHERE job_id = NEW.id)
        ON CONFLICT DO UPDATE SET edge = 1;
    INSERT OR IGNORE INTO ax_judge (job_id)
        SELECT job_id FROM ax_deps WHERE depends_on = NEW.id;
END;
-- What was not judged while a runner owned it, or it was held or had ended.
CREATE TRIGGER ax_job_back AFTER UPDATE OF status ON ax_jobs
WHEN NEW.status IN ('pending', 'ready', 'failed')
    AND OLD.status NOT IN ('pending', 'ready', 'failed')
    AND (NEW.waits_on IS NOT NULL OR EXISTS (SELECT 1 FROM ax_deps WHERE job_id = NEW.id)) BEGIN
    INSERT INTO ax_judge (job_id, edge) VALUES (NEW.id, 1) ON CONFLICT DO UPDATE SET edge = 1;
END;
-- An end can settle at once what needs it, or the first of several failures;
-- everything else waits until the parent that is watched has ended.
CREATE TRIGGER ax_parent_moved AFTER UPDATE OF status ON ax_jobs
WHEN OLD.status <> NEW.status
    AND (NEW.status IN ('success', 'dead', 'cancelled', 'skipped')
        OR OLD.status IN ('success', 'dead', 'cancelled', 'skipped')) BEGIN
    INSERT OR IGNORE INTO ax_judge (job_id)
        SELECT child.id
        FROM ax_deps AS edge JOIN ax_jobs AS child ON child.id = edge.job_id
        WHERE edge.depends_on = NEW.id
            AND child.status IN ('pending', 'ready', 'failed')
            AND (child.waits_on = NEW.id
                OR (edge.kind = 'after' AND NEW.status <> 'success')
                OR (edge.kind = 'on_failure' AND NEW.status = 'dead')
                OR OLD.status IN ('success', 'dead', 'cancelled', 'skipped'));
END;
CREATE TRIGGER ax_parent_gone AFTER DELETE ON ax_jobs BEGIN
    INSERT OR IGNORE INTO ax_judge (job_id)
        SELECT job_id FROM ax_deps WHERE depends_on = OLD.id;
END;
CREATE TRIGGER ax_job_renumbered AFTER UPDATE OF id ON ax_jobs WHEN OLD.id <> NEW.id BEGIN
    INSERT INTO ax_judge (job_id, edge) VALUES (NEW.id, 1) ON CONFLICT DO UPDATE SET edge = 1;
    INSERT OR IGNORE INTO ax_judge (job_id)
        SELECT job_id FROM ax_deps WHERE depends_on IN (OLD.id, NEW.id);
END;
