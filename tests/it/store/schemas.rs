//! Queues of earlier programs: one file for each version of the schema, written
//! when it was current and never changed since (`schemas/1.sql`, …).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ax_scheduler::job::{JobId, RunnerId, State, Timestamp};
use ax_scheduler::store::{self, Query, Selector, Store, Turn};
use rusqlite::Connection;
use tempfile::TempDir;

use super::bench::a_runner;

const SCHEMAS: [(u32, &str); 7] = [
    (1, include_str!("schemas/1.sql")),
    (2, include_str!("schemas/2.sql")),
    (3, include_str!("schemas/3.sql")),
    (4, include_str!("schemas/4.sql")),
    (5, include_str!("schemas/5.sql")),
    (6, include_str!("schemas/6.sql")),
    (7, include_str!("schemas/7.sql")),
];

/// When the queues were written, and a moment more.
const THEN: Timestamp = Timestamp::from_millis(1_796_027_500_000);

/// An old queue, as it lies on somebody's disk.
fn old(sql: &str) -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().expect("a place for the database");
    let path = place.path().join("ax.db");
    fs::write(&path, "").expect("a file");
    fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("its owner may");
    Connection::open(&path).expect("it opens").execute_batch(sql).expect("a queue");
    (place, path)
}

/// Every table, index, view and trigger, as it was written.
fn schema(path: &Path) -> Vec<(String, Option<String>)> {
    let shell = Connection::open(path).expect("it opens");
    let mut query =
        shell.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").expect("SQL");
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    rows.map(|row| row.expect("a row")).collect()
}

#[test]
fn a_queue_of_each_schema_comes_to_have_the_schema_of_a_new_one() {
    let place = tempfile::tempdir().expect("a place for the database");
    let new = place.path().join("ax.db");
    drop(store::open(&new).expect("a new store"));
    for (version, sql) in SCHEMAS {
        let (_place, path) = old(sql);
        drop(store::open(&path).unwrap_or_else(|error| panic!("schema {version}: {error}")));
        assert_eq!(
            schema(&path),
            schema(&new),
            "schema {version}: one that people have is never edited, only followed by a migration"
        );
    }
}

/// As the first programs wrote it, before what failed had an index.
#[test]
fn the_first_queues_of_the_first_schema_come_to_have_that_of_a_new_one() {
    const FIRST: &str = "
        DROP INDEX ax_jobs_failed;
        DROP INDEX ax_jobs_due;
        CREATE INDEX ax_jobs_due ON ax_jobs (scheduled_at, id)
            WHERE status IN ('pending', 'failed') AND waits_on IS NULL;";
    let place = tempfile::tempdir().expect("a place for the database");
    let new = place.path().join("ax.db");
    drop(store::open(&new).expect("a new store"));
    let (_place, path) = old(&format!("{}{FIRST}", SCHEMAS[0].1));
    drop(store::open(&path).expect("it opens"));
    assert_eq!(schema(&path), schema(&new));
}

#[test]
fn a_queue_of_each_schema_keeps_what_is_in_it_and_goes_on() {
    use State::{Dead, Dispatched, Failed, Held, Pending, Ready, Skipped, Success};
    for (version, sql) in SCHEMAS {
        let (_place, path) = old(sql);
        let mut store = store::open(&path).expect("an old queue opens");
        let jobs = store.list(&Query::default()).expect("an answer");
        let states: Vec<_> = jobs.iter().map(|job| job.state).collect();
        let kept = [Success, Dead, Skipped, Success, Failed, Held, Pending, Ready, Pending];
        assert_eq!(states[..9], kept);
        assert_eq!(states[9..], [Dispatched, Success, Success]);
        assert_eq!(jobs[1].last_error.as_deref(), Some("no such host"));
        assert_eq!(
            store.output(JobId(1), 1).expect("an answer"),
            Some(b"fetched\nwarning\n".to_vec())
        );
        assert_eq!(store.select(&Selector::Key("nightly".into())).expect("an answer"), [JobId(8)]);
        assert_eq!(store.claims(RunnerId(77)).expect("an answer").len(), 1);
        assert_eq!(store.check(THEN).expect("an answer"), []);
        if version >= 3 {
            keeps_limits(store.as_mut());
        }
        if version >= 5 {
            keeps_hooks(store.as_mut());
        }
        goes_on(store.as_mut());
    }
}

/// What the third schema brought is kept.
fn keeps_limits(store: &mut dyn Store) {
    let groups = store.groups().expect("an answer");
    assert_eq!((groups[0].name.as_str(), groups[0].parallel), ("nightly", Some(2)));
    let job = store.get(JobId(8)).expect("an answer").expect("it is there");
    assert_eq!((job.group.as_deref(), job.mutex.as_deref()), (Some("nightly"), Some("disk")));
    assert_eq!(job.policy.retry_on, "1,2,75-80".parse().ok());
    let done = store.get(JobId(11)).expect("an answer").expect("it is there");
    assert_eq!((done.progress, done.progress_text.as_deref()), (Some(40), Some("copying")));
}

/// What the fifth schema brought is kept.
fn keeps_hooks(store: &mut dyn Store) {
    let wish = store.get(JobId(8)).expect("an answer").expect("it is there").on_end;
    let wish = wish.expect("a hook");
    assert_eq!((wish.command.as_slice(), wish.timeout.as_secs()), (&b"./alert.sh"[..], 30));
    let ended = store.hooks(JobId(2)).expect("an answer");
    assert_eq!((ended[0].state, ended[0].error.as_deref()), (State::Dead, Some("exit 1")));
    assert_eq!(ended[0].output, b"cannot send");
    let open = store.open_hooks().expect("an answer");
    assert_eq!(open.iter().map(|hook| hook.job).collect::<Vec<_>>(), [JobId(12)]);
    store.give_back_hook(open[0].id, RunnerId(77)).expect("an answer");
    assert_eq!(store.take_hooks(RunnerId(77), None, 9).expect("an answer").len(), 2);
}

/// What is due is claimed, with all that its process needs.
fn goes_on(store: &mut dyn Store) {
    let runner = store.enlist(&a_runner(), THEN).expect("a runner");
    assert_eq!(runner, RunnerId(78), "no number is used twice");
    let turn = Turn {
        runner,
        now: THEN,
        started: &[],
        settled: &[],
        handed: &[],
        serves: true,
        room: 9,
        scope: None,
    };
    let claimed = store.turn(&turn).expect("a turn").claimed;
    let [one] = &claimed[..] else { panic!("one is due: {claimed:?}") };
    assert_eq!((one.claim.job, one.claim.attempt, one.spec.timeout), (JobId(8), 1, None));
    let env = one.spec.env.as_ref().expect("an environment");
    assert_eq!(env.get("HOME"), Some(&b"/home/user"[..]));
    assert_eq!(one.spec.extra_env.get("A"), Some(&b"1"[..]));
}

#[test]
fn a_queue_whose_tables_somebody_altered_is_refused_in_words_and_stays_as_it_is() {
    let (_place, path) =
        old(&format!("{}ALTER TABLE ax_jobs ADD COLUMN on_end TEXT;", SCHEMAS[2].1));
    let before = schema(&path);
    let said = store::open(&path).map(drop).expect_err("it is not one of ours").to_string();
    assert!(said.contains("says that its schema version is 3, but no ax made"), "{said}");
    assert_eq!(schema(&path), before);
}

/// As the third schema had it: one job of a mutex is the next, in whatever group.
#[test]
fn a_queue_of_the_third_schema_lets_go_what_a_closed_group_held_up() {
    const HELD_UP: &str = "
        INSERT INTO ax_groups (name, paused) VALUES ('closed', 1);
        INSERT INTO ax_jobs (id, command, status, group_name, mutex)
            VALUES (21, 'true', 'ready', 'closed', 'm'), (22, 'true', 'ready', NULL, 'm');
        UPDATE ax_jobs SET admitted = 1 WHERE id = 21;
        DELETE FROM ax_gates;";
    let (_place, path) = old(&format!("{}{HELD_UP}", SCHEMAS[2].1));
    let mut store = store::open(&path).expect("an old queue opens");
    let runner = store.enlist(&a_runner(), THEN).expect("a runner");
    let turn = Turn {
        runner,
        now: THEN,
        started: &[],
        settled: &[],
        handed: &[],
        serves: true,
        room: 9,
        scope: None,
    };
    let claimed = store.turn(&turn).expect("a turn").claimed;
    assert!(claimed.iter().any(|claimed| claimed.claim.job == JobId(22)), "{claimed:?}");
}

#[test]
fn a_schedule_of_an_old_queue_starts_all_that_it_started() {
    for (_, sql) in &SCHEMAS[1..] {
        let (_place, path) = old(sql);
        let mut store = store::open(&path).expect("an old queue opens");
        let resumed = store.resume(&["nightly".to_owned()], THEN).expect("it can be read");
        let next = resumed[0].next.clone().expect("a start");
        // Half past two in Berlin.
        assert_eq!(next.due, Timestamp::from_millis(1_796_088_600_000));
        let fetch = store.get(next.jobs[0]).expect("an answer").expect("a job");
        assert_eq!(fetch.command.text(), "curl -sf 'https://example.org/a b'");
        assert_eq!((fetch.umask, fetch.cwd.as_deref()), (Some(0o022), Some(&b"/"[..])));
        let env = store.environment(fetch.id).expect("an answer").expect("an environment");
        assert_eq!(env.get("HOME"), Some(&b"/home/user"[..]));
        let alert = store.get(next.jobs[1]).expect("an answer").expect("a job");
        assert_eq!(alert.dependencies[0].seen.edge.parent, fetch.id);
    }
}
