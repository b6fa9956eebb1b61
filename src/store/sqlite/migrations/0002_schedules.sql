-- What comes again and again. Of each schedule that is not paused the next
-- start stands in ax_jobs, as the run of this number, due at this time.
CREATE TABLE ax_schedules (
    name       TEXT    NOT NULL PRIMARY KEY CHECK (name <> ''),
    cron       TEXT    NOT NULL,
    timezone   TEXT    NOT NULL,
    catch_up   TEXT    NOT NULL DEFAULT 'one' CHECK (catch_up IN ('none', 'one', 'all')),
    overlap    TEXT    NOT NULL DEFAULT 'skip' CHECK (overlap IN ('skip', 'queue', 'allow')),
    chain      TEXT    NOT NULL CHECK (json_valid(chain)),
    next_at    INTEGER,
    next_run   INTEGER REFERENCES ax_flow_runs (id),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CHECK ((next_at IS NULL) = (next_run IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX ax_schedules_next ON ax_schedules (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX ax_schedules_updated ON ax_schedules (updated_at) WHERE next_at IS NOT NULL;
CREATE INDEX ax_schedules_next_run ON ax_schedules (next_run) WHERE next_run IS NOT NULL;

-- A run is one start of a flow, or of the job of a schedule.
ALTER TABLE ax_flow_runs ADD COLUMN schedule TEXT;
ALTER TABLE ax_flow_runs ADD COLUMN due_at INTEGER;
-- Skipped, or taken back before its time.
ALTER TABLE ax_flow_runs ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0 CHECK (dropped IN (0, 1));
-- A schedule starts once for each time that is due.
CREATE UNIQUE INDEX ax_flow_runs_start ON ax_flow_runs (schedule, due_at)
    WHERE schedule IS NOT NULL AND dropped = 0;

-- How often the chain of a run is started again when one of its jobs is dead.
ALTER TABLE ax_flow_runs ADD COLUMN max_retries INTEGER NOT NULL DEFAULT 0 CHECK (max_retries BETWEEN 0 AND 4294967295);
ALTER TABLE ax_flow_runs ADD COLUMN retry_delay INTEGER NOT NULL DEFAULT 0 CHECK (retry_delay >= 0);
ALTER TABLE ax_flow_runs ADD COLUMN retry_count INTEGER NOT NULL DEFAULT 0 CHECK (retry_count BETWEEN 0 AND 4294967295);
-- Broken when a job is dead and the chain is to start again; halted while it
-- waits for those of its jobs that run.
ALTER TABLE ax_flow_runs ADD COLUMN stage TEXT NOT NULL DEFAULT 'whole' CHECK (stage IN ('whole', 'broken', 'halted'));
CREATE INDEX ax_flow_runs_broken ON ax_flow_runs (id) WHERE stage <> 'whole';
CREATE TRIGGER ax_chain_broken AFTER UPDATE OF status ON ax_jobs
WHEN NEW.status = 'dead' AND OLD.status <> 'dead' AND NEW.flow_run IS NOT NULL BEGIN
    UPDATE ax_flow_runs SET stage = 'broken'
    WHERE id = NEW.flow_run AND stage = 'whole' AND retry_count < max_retries;
END;
