-- The next of a mutex in each group: a group that is closed holds up no others
-- of the mutex. Of each limit the next job is found anew.
DROP INDEX ax_jobs_mutex_next;
CREATE INDEX ax_jobs_mutex_next ON ax_jobs (mutex, group_name,
        max(scheduled_at, created_at, coalesce(queued_at, 0)) - 3600000 * priority, scheduled_at, id)
    WHERE status = 'ready' AND mutex IS NOT NULL;
-- Made anew after it: of two that fit as well the engine takes the younger one.
DROP INDEX ax_jobs_mutex_admitted;
CREATE INDEX ax_jobs_mutex_admitted ON ax_jobs (mutex)
    WHERE status = 'ready' AND mutex IS NOT NULL AND admitted IS NOT NULL;
INSERT INTO ax_gates (kind, name)
    SELECT 'mutex', mutex FROM ax_jobs WHERE status = 'ready' AND mutex IS NOT NULL
    UNION SELECT 'group', group_name FROM ax_jobs WHERE status = 'ready' AND group_name IS NOT NULL
    ON CONFLICT DO NOTHING;

-- What waits and had an attempt; the index of what failed is that of a state.
DROP INDEX ax_jobs_failed;
CREATE INDEX ax_jobs_tried ON ax_jobs (finished_at)
    WHERE status IN ('pending', 'failed') AND finished_at IS NOT NULL;

-- States that few jobs are in, so that they are found and the others counted
-- without a look at each job.
CREATE INDEX ax_jobs_failed ON ax_jobs (id) WHERE status = 'failed';
CREATE INDEX ax_jobs_dropped ON ax_jobs (status) WHERE status IN ('cancelled', 'skipped');
CREATE INDEX ax_jobs_limited ON ax_jobs (admitted)
    WHERE status = 'ready' AND coalesce(group_name, mutex) IS NOT NULL;

-- What is looked at whenever a job is added or moves, with alternatives spelled
-- out: of a list of more than two the engine makes a table each time it looks
-- into it. What a table demands of its rows cannot be altered otherwise.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'CHECK (status IN (''pending'', ''ready'', ''dispatched'', ''running'', ''success'',
                                              ''failed'', ''dead'', ''held'', ''cancelled'', ''skipped''))',
    'CHECK (status = ''pending'' OR status = ''ready'' OR status = ''dispatched'' OR status = ''running''
                                OR status = ''success'' OR status = ''failed'' OR status = ''dead''
                                OR status = ''held'' OR status = ''cancelled'' OR status = ''skipped'')'),
    'CHECK (on_lost IN (''requeue'', ''hold'', ''fail''))',
    'CHECK (on_lost = ''requeue'' OR on_lost = ''hold'' OR on_lost = ''fail'')')
WHERE type = 'table' AND name = 'ax_jobs';
UPDATE sqlite_schema SET sql = replace(sql,
    'CHECK (kind IN (''after'', ''on_failure'', ''after_any''))',
    'CHECK (kind = ''after'' OR kind = ''on_failure'' OR kind = ''after_any'')')
WHERE type = 'table' AND name = 'ax_deps';
PRAGMA writable_schema = RESET;
-- So written that who looks for one of the states alone does not take this index.
DROP INDEX ax_jobs_ended;
CREATE INDEX ax_jobs_ended ON ax_jobs (finished_at)
    WHERE NOT (status <> 'success' AND status <> 'dead' AND status <> 'cancelled' AND status <> 'skipped');
DROP INDEX ax_jobs_open_key;
CREATE UNIQUE INDEX ax_jobs_open_key ON ax_jobs (key)
    WHERE key IS NOT NULL
        AND status <> 'success' AND status <> 'dead' AND status <> 'cancelled' AND status <> 'skipped';
