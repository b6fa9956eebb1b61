-- What few moves of a job bring about is done by triggers of views that are
-- never read. A trigger of the table costs each move as much room as its longest
-- statement takes, also where its condition does not hold.

DROP TRIGGER ax_job_back;
DROP TRIGGER ax_chain_broken;
DROP TRIGGER ax_job_ended;
DROP TRIGGER ax_run_ended;
CREATE VIEW ax_moves AS SELECT id AS job_id, status AS old_status FROM ax_jobs;
CREATE TRIGGER ax_job_moved AFTER UPDATE OF status ON ax_jobs
WHEN OLD.status <> NEW.status
    AND (coalesce(NEW.flow_run, NEW.on_end) IS NOT NULL
        OR ((NEW.status = 'pending' OR NEW.status = 'ready' OR NEW.status = 'failed')
            AND OLD.status <> 'pending' AND OLD.status <> 'ready' AND OLD.status <> 'failed')) BEGIN
    INSERT INTO ax_moves (job_id, old_status) VALUES (NEW.id, OLD.status);
END;
CREATE TRIGGER ax_move INSTEAD OF INSERT ON ax_moves BEGIN
    -- What was not judged while a runner owned it, or it was held or had ended.
    INSERT INTO ax_judge (job_id, edge)
        SELECT id, 1 FROM ax_jobs
        WHERE id = NEW.job_id
            AND (status = 'pending' OR status = 'ready' OR status = 'failed')
            AND NEW.old_status <> 'pending' AND NEW.old_status <> 'ready' AND NEW.old_status <> 'failed'
            AND (waits_on IS NOT NULL OR EXISTS (SELECT 1 FROM ax_deps WHERE job_id = NEW.job_id))
        ON CONFLICT DO UPDATE SET edge = 1;
    -- A chain that has tries left starts again when one of its jobs is dead.
    UPDATE ax_flow_runs SET stage = 'broken'
    WHERE id = (SELECT flow_run FROM ax_jobs WHERE id = NEW.job_id AND status = 'dead')
        AND stage = 'whole' AND retry_count < max_retries;
    -- An end is one in a final state, or an attempt of which nobody knows the
    -- outcome and that a person must judge. A start that was taken back has
    -- none, nor has a failure after which the whole chain starts again.
    INSERT INTO ax_hooks (
        job_id, flow_run, status, attempt, exit_code, signal, reason, command, timeout, owed_at)
    SELECT
        id, flow_run, status, attempts, exit_code, signal, coalesce(reason, last_error), on_end,
        coalesce(on_end_timeout, 60000), updated_at
    FROM ax_jobs AS job
    WHERE id = NEW.job_id AND on_end IS NOT NULL
        AND (status = 'success' OR status = 'dead' OR status = 'cancelled' OR status = 'skipped'
            OR (status = 'held' AND (NEW.old_status = 'dispatched' OR NEW.old_status = 'running')))
        AND NOT EXISTS (
            SELECT 1 FROM ax_flow_runs AS run
            WHERE run.id = job.flow_run
                AND (run.dropped = 1
                    OR (job.status = 'dead' AND (run.stage <> 'whole' OR run.retry_count < run.max_retries))));
    -- A run ends with the last of its jobs. It is told of the first that is
    -- dead, else the first that was cancelled, else the last that succeeded.
    INSERT INTO ax_hooks (
        job_id, flow_run, of_run, status, attempt, exit_code, signal, reason, command, cwd, timeout,
        owed_at)
    SELECT
        job.id, run.id, 1, iif(job.status = 'skipped', 'success', job.status), job.attempts,
        job.exit_code, job.signal, coalesce(job.reason, job.last_error), run.on_end, run.on_end_cwd,
        coalesce(run.on_end_timeout, 60000), moved.updated_at
    FROM ax_jobs AS moved
        JOIN ax_flow_runs AS run ON run.id = moved.flow_run
        JOIN ax_jobs AS job ON job.flow_run = run.id
    WHERE moved.id = NEW.job_id AND moved.ends_run IS NOT NULL
        AND (moved.status = 'success' OR moved.status = 'dead' OR moved.status = 'cancelled'
            OR moved.status = 'skipped')
        AND run.on_end IS NOT NULL AND run.dropped = 0 AND run.stage = 'whole'
        AND (moved.status <> 'dead' OR run.retry_count >= run.max_retries)
        AND NOT EXISTS (
            SELECT 1 FROM ax_jobs AS other
            WHERE other.flow_run = run.id AND other.ends_run = 1
                AND other.status <> 'success' AND other.status <> 'dead'
                AND other.status <> 'cancelled' AND other.status <> 'skipped')
    ORDER BY
        job.status = 'dead' DESC, job.status = 'cancelled' DESC, job.status = 'success' DESC,
        iif(job.status = 'success', -job.finished_at, job.finished_at),
        iif(job.status = 'success', -job.id, job.id)
    LIMIT 1;
END;

-- Limits whose next job is to be found again.
DROP TRIGGER ax_limited_moved;
CREATE VIEW ax_limits AS SELECT mutex, group_name FROM ax_jobs;
CREATE TRIGGER ax_limited_moved
AFTER UPDATE OF status, priority, scheduled_at, queued_at, group_name, mutex ON ax_jobs
WHEN coalesce(NEW.group_name, NEW.mutex, OLD.group_name, OLD.mutex) IS NOT NULL BEGIN
    INSERT INTO ax_limits (mutex, group_name)
        VALUES (NEW.mutex, NEW.group_name), (OLD.mutex, OLD.group_name);
END;
CREATE TRIGGER ax_limit INSTEAD OF INSERT ON ax_limits BEGIN
    INSERT INTO ax_gates (kind, name)
        SELECT 'mutex', NEW.mutex WHERE NEW.mutex IS NOT NULL
        UNION ALL SELECT 'group', NEW.group_name WHERE NEW.group_name IS NOT NULL
        ON CONFLICT DO NOTHING;
END;

-- A conflict clause of the statement that fires a trigger (UPDATE OR REPLACE …, by
-- hand) goes before that of an INSERT in it, but not before an ON CONFLICT.
DROP TRIGGER ax_edge_changed;
CREATE TRIGGER ax_edge_changed AFTER UPDATE ON ax_deps BEGIN
    INSERT INTO ax_judge (job_id, edge) VALUES (NEW.job_id, 1) ON CONFLICT DO UPDATE SET edge = 1;
    INSERT INTO ax_judge (job_id) VALUES (OLD.job_id) ON CONFLICT DO NOTHING;
END;
DROP TRIGGER ax_job_made;
CREATE TRIGGER ax_job_made AFTER INSERT ON ax_jobs BEGIN
    INSERT INTO ax_judge (job_id, edge)
        SELECT NEW.id, 1 WHERE EXISTS (SELECT 1 FROM ax_deps WHERE job_id = NEW.id)
        ON CONFLICT DO UPDATE SET edge = 1;
    INSERT INTO ax_judge (job_id)
        SELECT job_id FROM ax_deps WHERE depends_on = NEW.id
        ON CONFLICT DO NOTHING;
END;
-- An end can settle at once what needs it, or the first of several failures;
-- everything else waits until the parent that is watched has ended.
DROP TRIGGER ax_parent_moved;
CREATE TRIGGER ax_parent_moved AFTER UPDATE OF status ON ax_jobs
WHEN OLD.status <> NEW.status
    AND (NEW.status = 'success' OR NEW.status = 'dead' OR NEW.status = 'cancelled' OR NEW.status = 'skipped'
        OR OLD.status = 'success' OR OLD.status = 'dead' OR OLD.status = 'cancelled' OR OLD.status = 'skipped') BEGIN
    INSERT INTO ax_judge (job_id)
        SELECT child.id
        FROM ax_deps AS edge JOIN ax_jobs AS child ON child.id = edge.job_id
        WHERE edge.depends_on = NEW.id
            AND (child.status = 'pending' OR child.status = 'ready' OR child.status = 'failed')
            AND (child.waits_on = NEW.id
                OR (edge.kind = 'after' AND NEW.status <> 'success')
                OR (edge.kind = 'on_failure' AND NEW.status = 'dead')
                OR OLD.status = 'success' OR OLD.status = 'dead'
                OR OLD.status = 'cancelled' OR OLD.status = 'skipped')
        ON CONFLICT DO NOTHING;
END;
DROP TRIGGER ax_job_renumbered;
CREATE TRIGGER ax_job_renumbered AFTER UPDATE OF id ON ax_jobs WHEN OLD.id <> NEW.id BEGIN
    INSERT INTO ax_judge (job_id, edge) VALUES (NEW.id, 1) ON CONFLICT DO UPDATE SET edge = 1;
    INSERT INTO ax_judge (job_id)
        SELECT job_id FROM ax_deps WHERE depends_on = OLD.id OR depends_on = NEW.id
        ON CONFLICT DO NOTHING;
END;

-- With the process of the command, so that what is known of its job can go when the
-- command has ended. What it was before is of no use to anybody: the command was of
-- the program before, which does not ask this database any more.
DROP TABLE ax_handed;
CREATE TABLE ax_handed (
    token  INTEGER PRIMARY KEY,
    runner INTEGER NOT NULL,
    pid    INTEGER NOT NULL,
    job_id INTEGER NOT NULL,
    new    INTEGER NOT NULL CHECK (new IN (0, 1))
) STRICT;
