-- Why a person wants a job ended that a runner owns; whoever owns it stops it.
ALTER TABLE ax_jobs ADD COLUMN cancelling TEXT;
CREATE INDEX ax_jobs_cancelling ON ax_jobs (owner) WHERE cancelling IS NOT NULL;

-- Groups: how many of their jobs run at once (NULL: any number), and whether
-- they are paused. A group without a row has no limit.
CREATE TABLE ax_groups (
    name     TEXT    PRIMARY KEY CHECK (name <> ''),
    parallel INTEGER CHECK (parallel > 0),
    paused   INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1))
) STRICT, WITHOUT ROWID;

ALTER TABLE ax_jobs ADD COLUMN group_name TEXT CHECK (group_name <> '');
ALTER TABLE ax_jobs ADD COLUMN mutex TEXT CHECK (mutex <> '');
-- How far a ready job with a limit has come: NULL while it waits behind others,
-- 1 when it is the next of its mutex, 2 when it may be taken. At most one job
-- of each mutex and of each group is so far, so that what waits behind a limit
-- is passed by whoever looks for the next job.
ALTER TABLE ax_jobs ADD COLUMN admitted INTEGER CHECK (admitted IN (1, 2));

-- Since when a job waits, if that is later than its time and its birth: a
-- person brought it back.
ALTER TABLE ax_jobs ADD COLUMN queued_at INTEGER;

-- What a runner takes next: who waits longest, and each point of priority is
-- worth an hour of waiting.
DROP INDEX ax_jobs_ready;
CREATE INDEX ax_jobs_ready ON ax_jobs (
        max(scheduled_at, created_at, coalesce(queued_at, 0)) - 3600000 * priority, scheduled_at, id)
    WHERE status = 'ready' AND (coalesce(group_name, mutex) IS NULL OR admitted = 2);
-- The next of a mutex and of a group, who is so far, and who has them.
CREATE INDEX ax_jobs_mutex_next ON ax_jobs (mutex,
        max(scheduled_at, created_at, coalesce(queued_at, 0)) - 3600000 * priority, scheduled_at, id)
    WHERE status = 'ready' AND mutex IS NOT NULL;
CREATE INDEX ax_jobs_group_next ON ax_jobs (group_name,
        max(scheduled_at, created_at, coalesce(queued_at, 0)) - 3600000 * priority, scheduled_at, id)
    WHERE status = 'ready' AND group_name IS NOT NULL AND (mutex IS NULL OR admitted IS NOT NULL);
CREATE INDEX ax_jobs_mutex_admitted ON ax_jobs (mutex)
    WHERE status = 'ready' AND mutex IS NOT NULL AND admitted IS NOT NULL;
CREATE INDEX ax_jobs_group_admitted ON ax_jobs (group_name)
    WHERE status = 'ready' AND group_name IS NOT NULL AND admitted = 2;
CREATE INDEX ax_jobs_mutex_held ON ax_jobs (mutex)
    WHERE status IN ('dispatched', 'running') AND mutex IS NOT NULL;
CREATE INDEX ax_jobs_group_held ON ax_jobs (group_name)
    WHERE status IN ('dispatched', 'running') AND group_name IS NOT NULL;

-- Mutexes and groups whose next job is to be found again before one is taken.
CREATE TABLE ax_gates (
    kind TEXT NOT NULL CHECK (kind IN ('mutex', 'group')),
    name TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER ax_limited_made AFTER INSERT ON ax_jobs
WHEN coalesce(NEW.group_name, NEW.mutex) IS NOT NULL BEGIN
    INSERT INTO ax_gates (kind, name)
        SELECT 'mutex', NEW.mutex WHERE NEW.mutex IS NOT NULL
        UNION ALL SELECT 'group', NEW.group_name WHERE NEW.group_name IS NOT NULL
        ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER ax_limited_moved
AFTER UPDATE OF status, priority, scheduled_at, queued_at, group_name, mutex ON ax_jobs
WHEN coalesce(NEW.group_name, NEW.mutex, OLD.group_name, OLD.mutex) IS NOT NULL BEGIN
    INSERT INTO ax_gates (kind, name)
        SELECT 'mutex', NEW.mutex WHERE NEW.mutex IS NOT NULL
        UNION ALL SELECT 'mutex', OLD.mutex WHERE OLD.mutex IS NOT NULL
        UNION ALL SELECT 'group', NEW.group_name WHERE NEW.group_name IS NOT NULL
        UNION ALL SELECT 'group', OLD.group_name WHERE OLD.group_name IS NOT NULL
        ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER ax_limited_gone AFTER DELETE ON ax_jobs
WHEN coalesce(OLD.group_name, OLD.mutex) IS NOT NULL BEGIN
    INSERT INTO ax_gates (kind, name)
        SELECT 'mutex', OLD.mutex WHERE OLD.mutex IS NOT NULL
        UNION ALL SELECT 'group', OLD.group_name WHERE OLD.group_name IS NOT NULL
        ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER ax_group_made AFTER INSERT ON ax_groups BEGIN
    INSERT INTO ax_gates (kind, name) VALUES ('group', NEW.name)
        ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER ax_group_changed AFTER UPDATE ON ax_groups BEGIN
    INSERT INTO ax_gates (kind, name) VALUES ('group', NEW.name), ('group', OLD.name)
        ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER ax_group_gone AFTER DELETE ON ax_groups BEGIN
    INSERT INTO ax_gates (kind, name) VALUES ('group', OLD.name)
        ON CONFLICT DO NOTHING;
END;

-- After which exit codes a job is tried again, and after which not: `1,2,75-80`.
ALTER TABLE ax_jobs ADD COLUMN retry_on TEXT CHECK (retry_on <> '' AND retry_on NOT GLOB '*[^0-9,-]*');
ALTER TABLE ax_jobs ADD COLUMN no_retry_on TEXT CHECK (no_retry_on <> '' AND no_retry_on NOT GLOB '*[^0-9,-]*');
-- What an attempt says of itself while it runs: when it wants to come again,
-- and how far it is.
ALTER TABLE ax_jobs ADD COLUMN snoozed_until INTEGER;
ALTER TABLE ax_jobs ADD COLUMN progress INTEGER CHECK (progress BETWEEN 0 AND 100);
ALTER TABLE ax_jobs ADD COLUMN progress_text TEXT;

-- What waits and had an attempt that ended later than now: the clock was set back.
DROP INDEX IF EXISTS ax_jobs_failed;
CREATE INDEX ax_jobs_failed ON ax_jobs (finished_at)
    WHERE status IN ('pending', 'failed') AND finished_at IS NOT NULL;

-- The triggers that fire at each move of a job, with alternatives spelled out:
-- of a list of more than two the engine makes a table each time it looks into it.
DROP TRIGGER ax_job_back;
CREATE TRIGGER ax_job_back AFTER UPDATE OF status ON ax_jobs
WHEN (NEW.status = 'pending' OR NEW.status = 'ready' OR NEW.status = 'failed')
    AND OLD.status <> 'pending' AND OLD.status <> 'ready' AND OLD.status <> 'failed'
    AND (NEW.waits_on IS NOT NULL OR EXISTS (SELECT 1 FROM ax_deps WHERE job_id = NEW.id)) BEGIN
    INSERT INTO ax_judge (job_id, edge) VALUES (NEW.id, 1) ON CONFLICT DO UPDATE SET edge = 1;
END;
-- An end can settle at once what needs it, or the first of several failures;
-- everything else waits until the parent that is watched has ended.
DROP TRIGGER ax_parent_moved;
CREATE TRIGGER ax_parent_moved AFTER UPDATE OF status ON ax_jobs
WHEN OLD.status <> NEW.status
    AND (NEW.status = 'success' OR NEW.status = 'dead' OR NEW.status = 'cancelled' OR NEW.status = 'skipped'
        OR OLD.status = 'success' OR OLD.status = 'dead' OR OLD.status = 'cancelled' OR OLD.status = 'skipped') BEGIN
    INSERT OR IGNORE INTO ax_judge (job_id)
        SELECT child.id
        FROM ax_deps AS edge JOIN ax_jobs AS child ON child.id = edge.job_id
        WHERE edge.depends_on = NEW.id
            AND (child.status = 'pending' OR child.status = 'ready' OR child.status = 'failed')
            AND (child.waits_on = NEW.id
                OR (edge.kind = 'after' AND NEW.status <> 'success')
                OR (edge.kind = 'on_failure' AND NEW.status = 'dead')
                OR OLD.status = 'success' OR OLD.status = 'dead'
                OR OLD.status = 'cancelled' OR OLD.status = 'skipped');
END;

-- The first queues of the first schema had another index of this name, and none
-- of what failed.
DROP INDEX ax_jobs_due;
CREATE INDEX ax_jobs_due ON ax_jobs (iif(status = 'pending' AND scheduled_at <= created_at, 0, scheduled_at), id)
    WHERE status IN ('pending', 'failed') AND waits_on IS NULL;
