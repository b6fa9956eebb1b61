//! Each test breaks a healthy database the way a person with the `sqlite3`
//! shell could, and sees the fault and nothing else.

use rusqlite::{Connection, TransactionBehavior};

use super::{check, mend};
use crate::job::Timestamp;
use crate::store::sqlite::schema;
use crate::store::{Cure, Fault, FaultKind};

/// 2026-01-01.
const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// One job in every state, as `ax` leaves them; 11 waits for the running 4.
const HEALTHY: &str = "
    INSERT INTO ax_runners VALUES (1, 4710, 88122, 'boot', 2, :now);
    INSERT INTO ax_jobs (id, command, status, owner, attempts, exit_code) VALUES
        (1, 'true', 'pending', NULL, 0, NULL),
        (2, 'true', 'ready', NULL, 0, NULL),
        (3, 'true', 'dispatched', 1, 1, NULL),
        (4, 'true', 'running', 1, 1, NULL),
        (5, 'true', 'success', NULL, 1, 0),
        (6, 'true', 'failed', NULL, 1, 1),
        (7, 'true', 'dead', NULL, 2, 1),
        (8, 'true', 'held', NULL, 1, NULL),
        (9, 'true', 'cancelled', NULL, 0, NULL),
        (10, 'true', 'skipped', NULL, 0, NULL),
        (11, 'true', 'pending', NULL, 0, NULL);
    UPDATE ax_jobs SET retry_count = 1, scheduled_at = :later WHERE id IN (6, 7);
    UPDATE ax_jobs SET loss_count = 1 WHERE id = 8;
    INSERT INTO ax_deps VALUES (10, 7, 'after'), (11, 4, 'after'), (11, 5, 'after'),
        (11, 8, 'after_any');
    UPDATE ax_jobs SET waits_on = 8 WHERE id = 11;
    DELETE FROM ax_judge;
    INSERT INTO ax_attempts (job_id, attempt, owner, claimed_at, ended_at, outcome, exit_code)
    VALUES
        (3, 1, 1, :now, NULL, NULL, NULL), (4, 1, 1, :now, NULL, NULL, NULL),
        (5, 1, 1, :now, :now, 'exited', 0), (6, 1, 1, :now, :now, 'exited', 1),
        (7, 1, 1, :now, :now, 'exited', 1), (7, 2, 1, :now, :now, 'timed out', NULL),
        (8, 1, 1, :now, :now, 'lost', NULL);
    INSERT INTO ax_outputs VALUES (5, 1, x'6f6b');
    UPDATE ax_jobs SET created_at = :now, updated_at = :now;
    UPDATE ax_jobs SET scheduled_at = :now WHERE scheduled_at <> :later;";

fn healthy() -> Connection {
    let mut connection = Connection::open_in_memory().expect("memory");
    schema::migrate(&mut connection).expect("migrated");
    let later = (NOW.millis() + 5_000).to_string();
    let sql = HEALTHY.replace(":later", &later).replace(":now", &NOW.millis().to_string());
    connection.execute_batch(&sql).expect("healthy rows");
    connection
}

/// A healthy database, after a person was at it.
fn broken(sql: &str) -> Connection {
    let connection = healthy();
    let open = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;";
    let close = "PRAGMA foreign_keys = ON; PRAGMA ignore_check_constraints = OFF;";
    connection.execute_batch(&format!("{open} {sql}; {close}")).expect("broken by hand");
    connection
}

/// The same, after a runner has judged what was written.
fn judged(sql: &str) -> Connection {
    let connection = broken(sql);
    connection.execute("DELETE FROM ax_judge", []).expect("judged");
    connection
}

fn faults(connection: &Connection) -> Vec<Fault> {
    check(connection, NOW).expect("checked")
}

fn found(connection: &Connection) -> Vec<(FaultKind, i64)> {
    let job = |fault: &Fault| fault.job.map_or(0, |job| job.0);
    faults(connection).iter().map(|fault| (fault.kind, job(fault))).collect()
}

fn told(connection: &Connection) -> String {
    let faults = faults(connection);
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults[0].what.clone()
}

/// Mends everything that can be, and tells what is left.
fn mended(connection: &mut Connection) -> Vec<(FaultKind, i64)> {
    for fault in faults(connection) {
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let tx = tx.expect("a transaction");
        let done = mend(&tx, &fault, NOW).expect("mended");
        assert_eq!(done.is_some(), matches!(fault.cure, Cure::Repair(_)), "{fault:?}");
        tx.commit().expect("committed");
    }
    found(connection)
}

fn advice(connection: &Connection) -> String {
    match faults(connection).pop().expect("a fault").cure {
        Cure::Advice(advice) => advice,
        Cure::Repair(repair) => panic!("{repair:?} is no advice"),
    }
}

fn one<T: rusqlite::types::FromSql>(connection: &Connection, sql: &str) -> T {
    connection.query_row(sql, [], |row| row.get(0)).expect("a row")
}

#[test]
fn a_healthy_database_has_no_fault() {
    assert_eq!(faults(&healthy()), []);
}

#[test]
fn a_job_that_its_limits_would_let_through_is_let_through() {
    let limits = "UPDATE ax_jobs SET group_name = 'g', mutex = 'm' WHERE id = 2";
    assert_eq!(found(&broken(limits)), [], "a turn looks at it");
    let mut database = broken(&format!("{limits}; DELETE FROM ax_gates"));
    assert_eq!(
        told(&database),
        "job 2 waits for the mutex m, which is free, and is not let through"
    );
    assert_eq!(mended(&mut database), []);
    assert_eq!(one::<i64>(&database, "SELECT count(*) FROM ax_gates"), 2);
    let group = "UPDATE ax_jobs SET group_name = 'g' WHERE id = 2";
    let mut database = broken(&format!("{group}; DELETE FROM ax_gates"));
    assert_eq!(
        told(&database),
        "job 2 waits for the group g, which has room, and is not let through"
    );
    assert_eq!(mended(&mut database), []);
}

#[test]
fn a_job_that_its_limits_hold_back_is_no_fault() {
    for held in [
        "UPDATE ax_jobs SET mutex = 'm' WHERE id IN (2, 4)",
        "UPDATE ax_jobs SET group_name = 'g' WHERE id IN (2, 4);
            INSERT INTO ax_groups VALUES ('g', 1, 0)",
        "UPDATE ax_jobs SET group_name = 'g' WHERE id = 2; INSERT INTO ax_groups VALUES ('g', 9, 1)",
    ] {
        assert_eq!(found(&broken(&format!("{held}; DELETE FROM ax_gates"))), [], "{held}");
    }
}

#[test]
fn a_parent_that_does_not_exist_is_named_with_who_waits_for_it() {
    let mut database = broken("INSERT INTO ax_deps VALUES (2, 4242, 'after')");
    assert_eq!(told(&database), "job 2 waits for job 4242, which does not exist");
    assert!(advice(&database).starts_with("`ax deps remove 2 4242`"));
    assert_eq!(mended(&mut database), [(FaultKind::MissingParent, 2)], "a person decides");
}

#[test]
fn a_missing_parent_of_a_job_that_has_ended_is_forgotten() {
    let mut database = judged("INSERT INTO ax_deps VALUES (5, 4242, 'after')");
    assert_eq!(found(&database), [(FaultKind::MissingParent, 5)]);
    assert_eq!(mended(&mut database), []);
}

#[test]
fn a_missing_parent_of_a_job_that_was_skipped_is_left_to_a_person() {
    let mut database = judged("INSERT INTO ax_deps VALUES (10, 4242, 'after')");
    assert_eq!(mended(&mut database), [(FaultKind::MissingParent, 10)]);
}

#[test]
fn dependencies_of_a_job_that_does_not_exist_are_forgotten() {
    let mut database = broken("INSERT INTO ax_deps VALUES (77, 1, 'after'), (77, 2, 'after')");
    assert_eq!(found(&database), [(FaultKind::MissingChild, 77)]);
    assert_eq!(mended(&mut database), []);
    assert_eq!(one::<i64>(&database, "SELECT count(*) FROM ax_judge"), 0);
}

#[test]
fn a_job_that_waits_for_itself_is_left_to_a_person() {
    let mut database = broken("INSERT INTO ax_deps VALUES (2, 2, 'after')");
    assert_eq!(told(&database), "job 2 waits for itself");
    assert!(advice(&database).starts_with("`ax deps remove 2 2`"));
    assert_eq!(mended(&mut database), [(FaultKind::SelfDependency, 2)]);
}

#[test]
fn a_job_that_has_ended_forgets_that_it_waited_for_itself() {
    let mut database = broken("INSERT INTO ax_deps VALUES (5, 5, 'after')");
    assert_eq!(found(&database), [(FaultKind::SelfDependency, 5)]);
    assert_eq!(mended(&mut database), []);
}

#[test]
fn a_cycle_is_told_once_with_the_edge_to_blame() {
    let database = judged("INSERT INTO ax_deps VALUES (10, 8, 'after'), (8, 10, 'after')");
    assert_eq!(told(&database), "jobs wait for each other: 8 → 10 → 8");
    assert!(advice(&database).starts_with("`ax deps remove 8 10` opens it there"));
}

#[test]
fn a_cycle_whose_edge_to_blame_is_of_a_job_that_has_started_is_opened_by_hand() {
    let database = judged("INSERT INTO ax_deps VALUES (7, 10, 'after')");
    assert_eq!(told(&database), "jobs wait for each other: 7 → 10 → 7");
    assert!(advice(&database).contains("DELETE FROM ax_deps WHERE job_id = 7 AND depends_on = 10"));
}

#[test]
fn a_job_that_waits_for_what_can_never_come_is_judged_again() {
    let mut database = judged(
        "INSERT INTO ax_deps VALUES (2, 7, 'after'), (1, 5, 'on_failure');
         UPDATE ax_jobs SET waits_on = 5 WHERE id = 1",
    );
    let want = [(FaultKind::NeverReady, 1), (FaultKind::NeverReady, 2)];
    assert_eq!(found(&database), want);
    assert!(faults(&database)[1].what.ends_with("it needs job 7, which is dead"));
    assert_eq!(mended(&mut database), []);
}

#[test]
fn what_the_next_turn_judges_is_no_fault() {
    assert_eq!(faults(&broken("INSERT INTO ax_deps VALUES (2, 7, 'after')")), []);
}

#[test]
fn a_job_that_waits_for_held_parents_alone_is_no_fault() {
    let waits = "INSERT INTO ax_deps VALUES (1, 8, 'after');
        UPDATE ax_jobs SET waits_on = 8 WHERE id = 1";
    assert_eq!(faults(&judged(waits)), []);
}

#[test]
fn a_mark_that_says_something_else_than_the_dependencies_is_judged_again() {
    for sql in [
        "UPDATE ax_jobs SET waits_on = 4 WHERE id = 1",
        "INSERT INTO ax_deps VALUES (1, 4, 'after')",
        "INSERT INTO ax_deps VALUES (1, 4, 'after'); UPDATE ax_jobs SET waits_on = 5 WHERE id = 1",
    ] {
        let mut database = judged(sql);
        assert_eq!(found(&database), [(FaultKind::Drifted, 1)], "{sql}");
        assert_eq!(mended(&mut database), [], "{sql}");
    }
}

#[test]
fn a_job_made_ready_by_hand_before_its_parents_is_judged_again() {
    let mut database = judged("UPDATE ax_jobs SET status = 'ready' WHERE id = 11");
    assert_eq!(found(&database), [(FaultKind::Drifted, 11)]);
    assert_eq!(mended(&mut database), []);
}

#[test]
fn an_owner_and_a_state_that_disagree_are_brought_together() {
    for (sql, job) in [
        ("UPDATE ax_jobs SET owner = NULL WHERE id = 4", 4),
        ("UPDATE ax_jobs SET owner = 1 WHERE id = 2", 2),
        (
            "DELETE FROM ax_attempts WHERE job_id = 3; UPDATE ax_jobs SET attempts = 0 WHERE id = 3",
            3,
        ),
        ("UPDATE ax_jobs SET owner = 9 WHERE id = 4", 4),
    ] {
        let mut database = judged(sql);
        assert_eq!(found(&database).first(), Some(&(FaultKind::StateDisagrees, job)), "{sql}");
        mended(&mut database);
        assert_eq!(mended(&mut database), [], "{sql}");
    }
}

#[test]
fn an_owned_job_without_history_is_held_for_a_person() {
    let mut database = judged("UPDATE ax_jobs SET owner = NULL WHERE id = 4");
    mended(&mut database);
    assert_eq!(one::<String>(&database, "SELECT status FROM ax_jobs WHERE id = 4"), "held");
}

#[test]
fn an_open_attempt_of_a_job_that_is_not_owned_is_closed_as_lost() {
    let mut database = judged("UPDATE ax_jobs SET status = 'cancelled', owner = NULL WHERE id = 4");
    let what = "job 4 is cancelled, and attempt 1 has no end";
    assert!(faults(&database).iter().any(|fault| fault.what == what));
    let outcome = "SELECT outcome FROM ax_attempts WHERE job_id = 4";
    mended(&mut database);
    assert_eq!(one::<String>(&database, outcome), "lost");
}

#[test]
fn a_failed_job_without_a_failure_is_a_persons_matter() {
    let mut database = judged("UPDATE ax_attempts SET exit_code = 0 WHERE job_id = 6");
    assert_eq!(mended(&mut database), [(FaultKind::StateDisagrees, 6)]);
}

#[test]
fn a_success_that_a_person_declared_is_no_fault() {
    assert_eq!(faults(&judged("UPDATE ax_jobs SET status = 'success' WHERE id = 7")), []);
}

#[test]
fn counts_that_drifted_are_made_what_the_history_says() {
    for (sql, job) in [
        ("UPDATE ax_jobs SET attempts = 5 WHERE id = 7", 7),
        ("UPDATE ax_jobs SET attempts = 0 WHERE id = 4", 4),
        ("UPDATE ax_jobs SET retry_count = 9 WHERE id = 6", 6),
        ("UPDATE ax_jobs SET loss_count = 2 WHERE id = 8", 8),
        ("UPDATE ax_jobs SET waits_on = 4 WHERE id = 6", 6),
    ] {
        let mut database = judged(sql);
        assert_eq!(found(&database), [(FaultKind::Drifted, job)], "{sql}");
        assert_eq!(mended(&mut database), [], "{sql}");
    }
}

#[test]
fn a_retry_that_is_due_for_a_minute_is_overdue_and_a_ready_job_is_not() {
    let long_ago = NOW.millis() - 61_000;
    let sql = format!(
        "UPDATE ax_jobs SET scheduled_at = {long_ago}, updated_at = {long_ago}
         WHERE id IN (2, 6, 11)"
    );
    assert_eq!(found(&judged(&sql)), [(FaultKind::Overdue, 6)]);
}

#[test]
fn times_that_cannot_be_meant_are_named_with_their_field() {
    for (field, value) in [
        ("created_at", "1767225600"),
        ("updated_at", "1767225600000000"),
        ("runs_at", "-1"),
        ("finished_at", "4102444800000"),
        ("scheduled_at", "253402300800000"),
    ] {
        let database = judged(&format!("UPDATE ax_jobs SET {field} = {value} WHERE id = 2"));
        assert_eq!(told(&database), format!("{field} of job 2 lies in the far future or past"));
    }
}

#[test]
fn a_job_planned_for_long_after_is_no_fault() {
    let sql = "UPDATE ax_jobs SET scheduled_at = 4102444800000 WHERE id = 1";
    assert_eq!(faults(&judged(sql)), []);
}

#[test]
fn a_clock_that_stands_in_1970_is_accused_and_not_the_jobs() {
    let faults = check(&healthy(), Timestamp::from_millis(0)).expect("checked");
    let kinds: Vec<_> = faults.iter().map(|fault| (fault.kind, fault.job)).collect();
    assert_eq!(kinds, [(FaultKind::AbsurdTime, None)]);
}

#[test]
fn values_that_no_ax_writes_are_named_with_what_they_must_be() {
    for (column, value) in [
        ("status", "'foo'"),
        ("timeout", "-5"),
        ("shell", "7"),
        ("kill_after", "-1"),
        ("max_retries", "-1"),
        ("retry_delay", "-1"),
        ("retry_backoff", "0.5"),
        ("retry_max_delay", "-1"),
        ("on_lost", "'pray'"),
        ("exit_code", "99999999999"),
        ("signal", "99999999999"),
        ("umask", "512"),
        ("name", "''"),
        ("name", "CAST(x'ff' AS TEXT)"),
        ("reason", "CAST(x'ff' AS TEXT)"),
        ("cwd", "3"),
        ("command", "''"),
        ("command", "42"),
        ("command", "x'0041'"),
    ] {
        let database = judged(&format!("UPDATE ax_jobs SET {column} = {value} WHERE id = 1"));
        assert_eq!(found(&database), [(FaultKind::Nonsense, 1)], "{column} = {value}");
        assert!(told(&database).contains(column), "{column} = {value}");
    }
}

#[test]
fn words_that_cannot_be_told_apart_are_nonsense() {
    let database = judged("UPDATE ax_jobs SET shell = 0, command = 'echo ''x' WHERE id = 1");
    assert_eq!(told(&database), "job 1 cannot be run: its command cannot be split into words");
}

#[test]
fn nonsense_in_edges_and_attempts_is_found_too() {
    let edge = broken("UPDATE ax_deps SET kind = 'because' WHERE depends_on = 8");
    assert_eq!(found(&edge), [(FaultKind::Nonsense, 11)]);
    let attempt = broken("UPDATE ax_attempts SET pid = 99999999999 WHERE job_id = 5");
    assert_eq!(found(&attempt), [(FaultKind::Nonsense, 5)]);
}

#[test]
fn a_terminal_escape_in_a_value_is_shown_escaped() {
    let database = judged("UPDATE ax_jobs SET status = 'x' || char(27) || '[2J' WHERE id = 1");
    assert!(told(&database).starts_with("status of job 1 is 'x\\u{1b}[2J'"));
}

#[test]
fn a_history_without_a_job_and_an_output_without_an_attempt_are_forgotten() {
    for (sql, job) in [
        ("DELETE FROM ax_jobs WHERE id = 6", 6),
        ("INSERT INTO ax_outputs VALUES (5, 3, x'6f6b')", 5),
    ] {
        let mut database = judged(sql);
        assert_eq!(found(&database), [(FaultKind::ForeignKey, job)], "{sql}");
        assert_eq!(mended(&mut database), [], "{sql}");
    }
}

#[test]
fn a_job_whose_environment_is_gone_is_a_persons_matter() {
    let mut database = judged("UPDATE ax_jobs SET env_id = 9 WHERE id = 1");
    assert_eq!(mended(&mut database), [(FaultKind::ForeignKey, 1)]);
    assert!(advice(&database).contains("UPDATE ax_jobs SET env_id = NULL WHERE id = 1"));
}

#[test]
fn an_index_or_trigger_that_was_dropped_or_changed_is_made_anew() {
    for sql in [
        "DROP TRIGGER ax_edge_made",
        "DROP INDEX ax_jobs_ready",
        "DROP TRIGGER ax_edge_gone;
         CREATE TRIGGER ax_edge_gone AFTER DELETE ON ax_deps BEGIN SELECT 1; END",
    ] {
        let mut database = broken(sql);
        assert_eq!(found(&database), [(FaultKind::Schema, 0)], "{sql}");
        assert_eq!(mended(&mut database), [], "{sql}");
    }
}

#[test]
fn a_view_that_was_dropped_or_changed_is_made_anew_with_its_triggers() {
    let changed = "CREATE VIEW ax_moves AS SELECT 1 AS job_id, 2 AS old_status";
    for sql in ["DROP VIEW ax_moves", &format!("DROP VIEW ax_moves; {changed}")] {
        let mut database = broken(sql);
        assert_eq!(found(&database), [(FaultKind::Schema, 0); 2], "{sql}");
        assert_eq!(mended(&mut database), [], "{sql}");
    }
    let with_trigger = format!(
        "DROP VIEW ax_moves; {changed};
         CREATE TRIGGER ax_move INSTEAD OF INSERT ON ax_moves BEGIN SELECT 1; END"
    );
    assert_eq!(mended(&mut broken(&with_trigger)), []);
}

#[test]
fn a_table_that_has_the_name_of_a_view_is_not_dropped() {
    let mut database = broken("DROP VIEW ax_moves; CREATE TABLE ax_moves (mine)");
    let left = [(FaultKind::Schema, 0); 2];
    assert_eq!(found(&database), left);
    assert_eq!(mended(&mut database), left);
    let told = faults(&database).remove(0);
    assert!(told.what.ends_with("is a view, and here a table has its name"), "{told:?}");
    assert!(matches!(&told.cure, Cure::Advice(how) if how.contains("\"DROP TABLE ax_moves\"")));
    database.execute_batch("DROP TABLE ax_moves").expect("dropped");
    assert_eq!(mended(&mut database), []);
}

#[test]
fn an_index_that_misses_a_row_is_made_anew() {
    let definition = |sql: &str| {
        format!(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = '{sql}' WHERE name = 'ax_jobs_key';
             PRAGMA writable_schema = RESET;"
        )
    };
    let narrow = definition("CREATE INDEX ax_jobs_key ON ax_jobs (key, id) WHERE 0");
    let real = definition("CREATE INDEX ax_jobs_key ON ax_jobs (key, id) WHERE key IS NOT NULL");
    let mut database =
        broken(&format!("{narrow} UPDATE ax_jobs SET key = 'k' WHERE id = 1; {real}"));
    assert_eq!(found(&database), [(FaultKind::Corrupt, 0)]);
    assert_eq!(mended(&mut database), []);
}
