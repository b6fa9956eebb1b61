-- A queue as the seventh schema kept it: that of the sixth, opened by the program of
-- its time, with a job that a command has handed to a runner.
PRAGMA application_id = 1635281506;
PRAGMA user_version = 7;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE ax_jobs (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    CHECK (name <> ''),
    key             TEXT    CHECK (key <> ''),
    command         ANY     NOT NULL CHECK (typeof(command) IN ('text', 'blob') AND length(command) > 0),
    shell           INTEGER NOT NULL DEFAULT 1 CHECK (shell IN (0, 1)),
    status          TEXT    NOT NULL DEFAULT 'pending'
                            CHECK (status = 'pending' OR status = 'ready' OR status = 'dispatched' OR status = 'running'
                                OR status = 'success' OR status = 'failed' OR status = 'dead'
                                OR status = 'held' OR status = 'cancelled' OR status = 'skipped'),
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
    on_lost         TEXT    NOT NULL DEFAULT 'requeue' CHECK (on_lost = 'requeue' OR on_lost = 'hold' OR on_lost = 'fail'),
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
, cancelling TEXT, group_name TEXT CHECK (group_name <> ''), mutex TEXT CHECK (mutex <> ''), admitted INTEGER CHECK (admitted IN (1, 2)), queued_at INTEGER, retry_on TEXT CHECK (retry_on <> '' AND retry_on NOT GLOB '*[^0-9,-]*'), no_retry_on TEXT CHECK (no_retry_on <> '' AND no_retry_on NOT GLOB '*[^0-9,-]*'), snoozed_until INTEGER, progress INTEGER CHECK (progress BETWEEN 0 AND 100), progress_text TEXT, on_end ANY
    CHECK (on_end IS NULL OR (typeof(on_end) IN ('text', 'blob') AND length(on_end) > 0)), on_end_timeout INTEGER CHECK (on_end_timeout > 0), ends_run INTEGER CHECK (ends_run = 1)) STRICT;
INSERT INTO ax_jobs VALUES(1,'fetch',NULL,'echo fetched; echo warning >&2',1,'success',NULL,5,1796027311117,60000,10000,3,0,5000,2.0,3600000,'requeue',0,1,NULL,NULL,0,NULL,NULL,1796027311397,1796027311398,1796027311141,1796027311405,'/tmp',18,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO ax_jobs VALUES(2,'broken',NULL,'echo no such host; exit 7',1,'dead',NULL,5,1796027311164,60000,10000,0,0,5000,2.0,3600000,'hold',0,1,NULL,NULL,7,NULL,'no such host',1796027311389,1796027311395,1796027311170,1796027311405,'/tmp',18,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'./alert.sh',30000,NULL);
INSERT INTO ax_jobs VALUES(3,NULL,NULL,'true',1,'skipped','needs job 2, which is dead',5,1796027311206,60000,10000,3,0,5000,2.0,3600000,'requeue',0,0,NULL,NULL,NULL,NULL,NULL,NULL,1796027311405,1796027311207,1796027311405,'/tmp',18,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO ax_jobs VALUES(4,'alert',NULL,'echo alert ''two words''',0,'success',NULL,5,1796027311246,60000,10000,3,0,5000,2.0,3600000,'requeue',0,1,NULL,NULL,0,NULL,NULL,1796027311410,1796027311411,1796027311247,1796027311411,'/tmp',18,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO ax_jobs VALUES(5,NULL,NULL,'exit 3',1,'failed',NULL,5,1796030911398,60000,10000,2,1,3600000,2.0,3600000,'requeue',0,1,NULL,NULL,3,NULL,'exit 3',1796027311395,1796027311398,1796027311297,1796027311405,'/tmp',18,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO ax_jobs VALUES(6,'held',NULL,'true',1,'held','added with --hold',5,1796027311450,60000,10000,3,0,5000,2.0,3600000,'requeue',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1796027311451,1796027311451,'/tmp',18,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO ax_jobs VALUES(7,NULL,NULL,'true',1,'pending',NULL,5,4070908800000,60000,10000,3,0,5000,2.0,3600000,'requeue',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1796027311485,1796027311485,'/tmp',18,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO ax_jobs VALUES(8,NULL,'nightly','true',1,'ready',NULL,9,1796027311515,NULL,3000,3,0,5000,2.0,3600000,'requeue',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1796027311535,1796027311535,'/tmp',18,1,X'413d3100',NULL,NULL,NULL,'nightly','disk',NULL,NULL,'1,2,75-80',NULL,NULL,NULL,NULL,'./alert.sh',30000,NULL);
INSERT INTO ax_jobs VALUES(9,NULL,NULL,'sleep 1',1,'pending',NULL,5,1796027311594,60000,10000,3,0,5000,2.0,3600000,'hold',0,0,NULL,8,NULL,NULL,NULL,NULL,NULL,1796027311595,1796027311595,'/tmp',18,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO ax_jobs VALUES(10,'left',NULL,'sleep 300',1,'dispatched',NULL,5,1796027311618,60000,10000,3,0,5000,2.0,3600000,'requeue',0,1,77,NULL,NULL,NULL,NULL,NULL,NULL,1796027311620,1796027311620,'/tmp',18,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO ax_jobs VALUES(11,'one',NULL,'true',1,'success',NULL,5,1796027311694,60000,10000,3,0,5000,2.0,3600000,'requeue',0,1,NULL,NULL,0,NULL,NULL,1796027311765,1796027311773,1796027311694,1796027311774,'/tmp',18,1,NULL,'nightly',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,40,'copying','echo done',NULL,NULL);
INSERT INTO ax_jobs VALUES(12,'two',NULL,'true',1,'success',NULL,5,1796027311694,60000,10000,3,0,5000,2.0,3600000,'requeue',0,1,NULL,NULL,0,NULL,NULL,1796027311782,1796027311818,1796027311694,1796027311819,'/tmp',18,1,NULL,'nightly',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'echo done',NULL,NULL);
CREATE TABLE ax_deps (
    job_id     INTEGER NOT NULL REFERENCES ax_jobs (id),
    depends_on INTEGER NOT NULL REFERENCES ax_jobs (id),
    kind       TEXT    NOT NULL DEFAULT 'after' CHECK (kind = 'after' OR kind = 'on_failure' OR kind = 'after_any'),
    PRIMARY KEY (job_id, depends_on, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO ax_deps VALUES(9,1,'after_any');
INSERT INTO ax_deps VALUES(3,2,'after');
INSERT INTO ax_deps VALUES(4,2,'on_failure');
INSERT INTO ax_deps VALUES(9,8,'after');
INSERT INTO ax_deps VALUES(12,11,'after');
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
INSERT INTO ax_attempts VALUES(1,1,1,1796027311375,18332,860578,1796027311397,1796027311398,'exited',0,NULL,NULL,16,0);
INSERT INTO ax_attempts VALUES(2,1,1,1796027311375,18330,860577,1796027311389,1796027311395,'exited',7,NULL,'no such host',13,0);
INSERT INTO ax_attempts VALUES(4,1,1,1796027311405,18333,860579,1796027311410,1796027311411,'exited',0,NULL,NULL,16,0);
INSERT INTO ax_attempts VALUES(5,1,1,1796027311375,18331,860578,1796027311395,1796027311398,'exited',3,NULL,'exit 3',0,0);
INSERT INTO ax_attempts VALUES(10,1,77,1796027400000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,0);
INSERT INTO ax_attempts VALUES(11,1,2,1796027311718,18367,860615,1796027311765,1796027311773,'exited',0,NULL,NULL,0,0);
INSERT INTO ax_attempts VALUES(12,1,2,1796027311774,18370,860616,1796027311782,1796027311818,'exited',0,NULL,NULL,0,0);
CREATE TABLE ax_outputs (
    job_id  INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    bytes   BLOB    NOT NULL,
    PRIMARY KEY (job_id, attempt),
    FOREIGN KEY (job_id, attempt) REFERENCES ax_attempts (job_id, attempt)
) STRICT;
INSERT INTO ax_outputs VALUES(2,1,X'6e6f207375636820686f73740a');
INSERT INTO ax_outputs VALUES(1,1,X'666574636865640a7761726e696e670a');
INSERT INTO ax_outputs VALUES(4,1,X'616c6572742074776f20776f7264730a');
CREATE TABLE ax_envs (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    block BLOB NOT NULL UNIQUE
) STRICT;
INSERT INTO ax_envs VALUES(1,X'41585f44423d2f746d702f76312f61782e646200484f4d453d2f686f6d652f7573657200504154483d2f7573722f62696e3a2f62696e005057443d2f746d702f763100');
CREATE TABLE ax_flow_runs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    flow       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
, schedule TEXT, due_at INTEGER, dropped INTEGER NOT NULL DEFAULT 0 CHECK (dropped IN (0, 1)), max_retries INTEGER NOT NULL DEFAULT 0 CHECK (max_retries BETWEEN 0 AND 4294967295), retry_delay INTEGER NOT NULL DEFAULT 0 CHECK (retry_delay >= 0), retry_count INTEGER NOT NULL DEFAULT 0 CHECK (retry_count BETWEEN 0 AND 4294967295), stage TEXT NOT NULL DEFAULT 'whole' CHECK (stage IN ('whole', 'broken', 'halted')), on_end ANY
    CHECK (on_end IS NULL OR (typeof(on_end) IN ('text', 'blob') AND length(on_end) > 0)), on_end_timeout INTEGER CHECK (on_end_timeout > 0), on_end_cwd ANY
    CHECK (on_end_cwd IS NULL OR typeof(on_end_cwd) IN ('text', 'blob'))) STRICT;
INSERT INTO ax_flow_runs VALUES(1,'nightly',1796027311694,NULL,NULL,0,0,0,0,'whole',NULL,NULL,NULL);
CREATE TABLE ax_runners (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    pid        INTEGER NOT NULL CHECK (pid BETWEEN -2147483648 AND 2147483647),
    start_time INTEGER NOT NULL,
    boot_id    TEXT    NOT NULL,
    workers    INTEGER NOT NULL CHECK (workers >= 0),
    started_at INTEGER NOT NULL
) STRICT;
INSERT INTO ax_runners VALUES(77,4711,12345,'c0ffee',4,1796027400000);
CREATE TABLE ax_judge (
    job_id INTEGER PRIMARY KEY,
    edge   INTEGER NOT NULL DEFAULT 0
) STRICT;
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
INSERT INTO ax_schedules VALUES('nightly','30 2 * * *','Europe/Berlin','all','queue','{"flow":"nightly","jobs":[{"name":"fetch","key":null,"if_exists":"Skip","command":{"Argv":["curl","-sf","https://example.org/a b"]},"priority":5,"scheduled_at":0,"timeout":{"secs":60,"nanos":0},"kill_after":{"secs":10,"nanos":0},"max_retries":3,"retry_delay":{"secs":5,"nanos":0},"retry_backoff":2.0,"retry_max_delay":{"secs":3600,"nanos":0},"on_lost":"requeue","cwd":"/","umask":18,"env":"HOME=/home/user\u0000PATH=/bin\u0000PWD=/\u0000","extra_env":"","hold":false,"parents":[],"flow":null,"run":null},{"name":"alert","key":null,"if_exists":"Skip","command":{"Shell":"mail -s nightly ops"},"priority":5,"scheduled_at":0,"timeout":{"secs":60,"nanos":0},"kill_after":{"secs":10,"nanos":0},"max_retries":3,"retry_delay":{"secs":5,"nanos":0},"retry_backoff":2.0,"retry_max_delay":{"secs":3600,"nanos":0},"on_lost":"requeue","cwd":"/","umask":18,"env":"HOME=/home/user\u0000PATH=/bin\u0000PWD=/\u0000","extra_env":"","hold":false,"parents":[[{"InBatch":0},"on_failure"]],"flow":null,"run":null}],"retry":{"max":2,"delay":{"secs":300,"nanos":0}}}',NULL,NULL,1796027500000,1796027500000);
CREATE TABLE ax_groups (
    name     TEXT    PRIMARY KEY CHECK (name <> ''),
    parallel INTEGER CHECK (parallel > 0),
    paused   INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1))
) STRICT, WITHOUT ROWID;
INSERT INTO ax_groups VALUES('nightly',2,0);
CREATE TABLE ax_gates (
    kind TEXT NOT NULL CHECK (kind IN ('mutex', 'group')),
    name TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO ax_gates VALUES('group','nightly');
INSERT INTO ax_gates VALUES('mutex','disk');
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
INSERT INTO ax_hooks VALUES(1,2,NULL,0,'dead',1,7,NULL,'no such host','./alert.sh',NULL,30000,1796027311405,77,1796027311410,1796027311420,'exited','exit 1',X'63616e6e6f742073656e64');
INSERT INTO ax_hooks VALUES(2,11,NULL,0,'success',1,0,NULL,NULL,'echo done',NULL,60000,1796027311430,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO ax_hooks VALUES(3,12,NULL,0,'success',1,0,NULL,NULL,'echo done',NULL,60000,1796027311431,77,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE ax_handed (
    token  INTEGER PRIMARY KEY,
    runner INTEGER NOT NULL,
    pid    INTEGER NOT NULL,
    job_id INTEGER NOT NULL,
    new    INTEGER NOT NULL CHECK (new IN (0, 1))
) STRICT;
INSERT INTO ax_handed VALUES(4711,77,4712,1,1);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('ax_envs',1);
INSERT INTO sqlite_sequence VALUES('ax_jobs',12);
INSERT INTO sqlite_sequence VALUES('ax_runners',77);
INSERT INTO sqlite_sequence VALUES('ax_flow_runs',1);
INSERT INTO sqlite_sequence VALUES('ax_hooks',3);
CREATE INDEX ax_jobs_due ON ax_jobs (iif(status = 'pending' AND scheduled_at <= created_at, 0, scheduled_at), id)
    WHERE status IN ('pending', 'failed') AND waits_on IS NULL;
CREATE INDEX ax_jobs_owned ON ax_jobs (owner) WHERE status IN ('dispatched', 'running');
CREATE INDEX ax_jobs_waiting ON ax_jobs (id) WHERE status = 'pending' AND waits_on IS NOT NULL;
CREATE INDEX ax_jobs_held ON ax_jobs (id) WHERE status = 'held';
CREATE INDEX ax_jobs_dead ON ax_jobs (id) WHERE status = 'dead';
CREATE INDEX ax_jobs_key ON ax_jobs (key, id) WHERE key IS NOT NULL;
CREATE INDEX ax_jobs_flow_run ON ax_jobs (flow_run) WHERE flow_run IS NOT NULL;
CREATE INDEX ax_deps_children ON ax_deps (depends_on, job_id);
CREATE INDEX ax_attempts_in_file ON ax_attempts (job_id, attempt) WHERE output_in_file = 1;
CREATE TRIGGER ax_edge_made AFTER INSERT ON ax_deps BEGIN
    INSERT INTO ax_judge (job_id, edge) VALUES (NEW.job_id, 1) ON CONFLICT DO UPDATE SET edge = 1;
END;
CREATE TRIGGER ax_edge_gone AFTER DELETE ON ax_deps BEGIN
    INSERT OR IGNORE INTO ax_judge (job_id) VALUES (OLD.job_id);
END;
CREATE TRIGGER ax_parent_gone AFTER DELETE ON ax_jobs BEGIN
    INSERT OR IGNORE INTO ax_judge (job_id)
        SELECT job_id FROM ax_deps WHERE depends_on = OLD.id;
END;
CREATE INDEX ax_schedules_next ON ax_schedules (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX ax_schedules_updated ON ax_schedules (updated_at) WHERE next_at IS NOT NULL;
CREATE INDEX ax_schedules_next_run ON ax_schedules (next_run) WHERE next_run IS NOT NULL;
CREATE UNIQUE INDEX ax_flow_runs_start ON ax_flow_runs (schedule, due_at)
    WHERE schedule IS NOT NULL AND dropped = 0;
CREATE INDEX ax_flow_runs_broken ON ax_flow_runs (id) WHERE stage <> 'whole';
CREATE INDEX ax_jobs_cancelling ON ax_jobs (owner) WHERE cancelling IS NOT NULL;
CREATE INDEX ax_jobs_ready ON ax_jobs (
        max(scheduled_at, created_at, coalesce(queued_at, 0)) - 3600000 * priority, scheduled_at, id)
    WHERE status = 'ready' AND (coalesce(group_name, mutex) IS NULL OR admitted = 2);
CREATE INDEX ax_jobs_mutex_next ON ax_jobs (mutex, group_name,
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
CREATE TRIGGER ax_limited_made AFTER INSERT ON ax_jobs
WHEN coalesce(NEW.group_name, NEW.mutex) IS NOT NULL BEGIN
    INSERT INTO ax_gates (kind, name)
        SELECT 'mutex', NEW.mutex WHERE NEW.mutex IS NOT NULL
        UNION ALL SELECT 'group', NEW.group_name WHERE NEW.group_name IS NOT NULL
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
CREATE INDEX ax_jobs_tried ON ax_jobs (finished_at)
    WHERE status IN ('pending', 'failed') AND finished_at IS NOT NULL;
CREATE INDEX ax_jobs_failed ON ax_jobs (id) WHERE status = 'failed';
CREATE INDEX ax_jobs_ended ON ax_jobs (finished_at)
    WHERE NOT (status <> 'success' AND status <> 'dead' AND status <> 'cancelled' AND status <> 'skipped');
CREATE UNIQUE INDEX ax_jobs_open_key ON ax_jobs (key)
    WHERE key IS NOT NULL
        AND status <> 'success' AND status <> 'dead' AND status <> 'cancelled' AND status <> 'skipped';
CREATE INDEX ax_jobs_dropped ON ax_jobs (status) WHERE status IN ('cancelled', 'skipped');
CREATE INDEX ax_jobs_limited ON ax_jobs (admitted)
    WHERE status = 'ready' AND coalesce(group_name, mutex) IS NOT NULL;
CREATE INDEX ax_jobs_ends_run ON ax_jobs (flow_run)
    WHERE ends_run = 1
        AND status <> 'success' AND status <> 'dead' AND status <> 'cancelled' AND status <> 'skipped';
CREATE INDEX ax_hooks_owed ON ax_hooks (id) WHERE owner IS NULL AND ended_at IS NULL;
CREATE INDEX ax_hooks_owed_of_run ON ax_hooks (flow_run, id)
    WHERE owner IS NULL AND ended_at IS NULL AND flow_run IS NOT NULL;
CREATE INDEX ax_hooks_open ON ax_hooks (id) WHERE owner IS NOT NULL AND ended_at IS NULL;
CREATE INDEX ax_hooks_job ON ax_hooks (job_id);
CREATE TRIGGER ax_job_born_skipped AFTER INSERT ON ax_jobs
WHEN NEW.on_end IS NOT NULL AND NEW.status = 'skipped' BEGIN
    INSERT INTO ax_hooks (job_id, flow_run, status, attempt, reason, command, timeout, owed_at)
    VALUES (
        NEW.id, NEW.flow_run, NEW.status, 0, NEW.reason, NEW.on_end,
        coalesce(NEW.on_end_timeout, 60000), NEW.updated_at);
END;
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
END
;
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
CREATE TRIGGER ax_edge_changed AFTER UPDATE ON ax_deps BEGIN
    INSERT INTO ax_judge (job_id, edge) VALUES (NEW.job_id, 1) ON CONFLICT DO UPDATE SET edge = 1;
    INSERT INTO ax_judge (job_id) VALUES (OLD.job_id) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER ax_job_made AFTER INSERT ON ax_jobs BEGIN
    INSERT INTO ax_judge (job_id, edge)
        SELECT NEW.id, 1 WHERE EXISTS (SELECT 1 FROM ax_deps WHERE job_id = NEW.id)
        ON CONFLICT DO UPDATE SET edge = 1;
    INSERT INTO ax_judge (job_id)
        SELECT job_id FROM ax_deps WHERE depends_on = NEW.id
        ON CONFLICT DO NOTHING;
END;
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
CREATE TRIGGER ax_job_renumbered AFTER UPDATE OF id ON ax_jobs WHEN OLD.id <> NEW.id BEGIN
    INSERT INTO ax_judge (job_id, edge) VALUES (NEW.id, 1) ON CONFLICT DO UPDATE SET edge = 1;
    INSERT INTO ax_judge (job_id)
        SELECT job_id FROM ax_deps WHERE depends_on = OLD.id OR depends_on = NEW.id
        ON CONFLICT DO NOTHING;
END;
COMMIT;
