//! Rows with nonsense in them: held and named, or read as well as can be; the
//! others run.

use ax_scheduler::job::{JobId, State, Timestamp};
use ax_scheduler::store::{Error, Query, Selector};

use super::bench::{Bench, ROOM, job};
use super::by_hand::shell;

/// Writes a row, with columns and values as given, before a job that is sane;
/// tells what the next turn says of it.
fn beside_a_sane_job(columns: &str, values: &str) -> (Bench, Vec<String>) {
    let mut bench = Bench::sqlite();
    let sql = format!("INSERT INTO ax_jobs ({columns}, priority) VALUES ({values}, 99)");
    shell(&bench).execute_batch(&sql).expect("the schema allows it");
    bench.now = bench.job(JobId(1)).created_at;
    let sane = bench.add(job());
    let turned = bench.turn(ROOM);
    assert!(turned.claimed.iter().any(|it| it.claim.job == sane), "the sane job runs");
    assert!(!turned.more);
    (bench, turned.nonsense)
}

#[test]
fn words_that_cannot_be_told_apart_are_held_and_named() {
    let (mut bench, nonsense) = beside_a_sane_job("command, shell", "'echo \"x', 0");
    let why = "its command was written by hand and cannot be split into words";
    assert_eq!(nonsense, [format!("job 1 is held: {why}")]);
    assert_eq!((bench.state(JobId(1)), bench.reason(JobId(1))), (State::Held, why.to_owned()));
    assert_eq!(bench.job(JobId(1)).attempts, 0);
}

#[test]
fn a_blank_command_is_held_and_named() {
    let (mut bench, nonsense) = beside_a_sane_job("command", "'  '");
    assert_eq!(nonsense, ["job 1 is held: the command is empty"]);
    assert_eq!(bench.state(JobId(1)), State::Held);
}

#[test]
fn a_command_with_a_nul_byte_is_held_and_named() {
    let (mut bench, nonsense) = beside_a_sane_job("command", "x'610062'");
    assert_eq!(nonsense, ["job 1 is held: the command contains a NUL byte"]);
    assert_eq!(bench.state(JobId(1)), State::Held);
}

#[test]
fn exit_codes_that_are_none_are_held_and_named() {
    let (mut bench, nonsense) = beside_a_sane_job("command, retry_on", "'true', '1-2-3'");
    let why = "`1-2-3` is neither an exit code from 1 to 255 nor a range";
    assert_eq!(nonsense, [format!("job 1 is held: {why}")]);
    assert_eq!(bench.job(JobId(1)).policy.retry_on, None);
}

#[test]
fn a_job_that_has_used_up_the_numbers_of_attempts_is_held_and_named() {
    let (mut bench, nonsense) = beside_a_sane_job("command, attempts", "'true', 4294967295");
    assert_eq!(nonsense, ["job 1 is held: no number is left for another attempt"]);
    assert_eq!(bench.state(JobId(1)), State::Held);
}

#[test]
fn an_attempt_that_the_history_has_already_is_held_and_named() {
    let mut bench = Bench::sqlite();
    let ids = bench.add_all(&[job(), job()]);
    shell(&bench)
        .execute_batch(
            "INSERT INTO ax_attempts (job_id, attempt, owner, claimed_at) VALUES (1, 1, 9, 0)",
        )
        .expect("the schema allows it");
    let turned = bench.turn(ROOM);
    assert_eq!(turned.claimed.iter().map(|it| it.claim.job).collect::<Vec<_>>(), [ids[1]]);
    assert_eq!(turned.nonsense, ["job 1 is held: its history has an attempt 1 already"]);
}

#[test]
fn text_that_is_not_utf8_is_read_as_well_as_can_be() {
    let text = "CAST(x'61ff62' AS TEXT)";
    let columns = "command, name, key, reason, last_error, flow";
    let (mut bench, nonsense) =
        beside_a_sane_job(columns, &format!("{text}, {text}, {text}, {text}, {text}, {text}"));
    assert!(nonsense.is_empty());
    let odd = bench.job(JobId(1));
    assert_eq!((odd.state, odd.name.as_deref()), (State::Dispatched, Some("a\u{fffd}b")));
    assert_eq!(odd.command.to_bytes(), b"a\xffb");
}

#[test]
fn times_far_away_are_read_and_hold_up_nobody() {
    for time in [i64::MIN, -1, Timestamp::MAX.millis() + 1, i64::MAX] {
        let columns = "command, scheduled_at, runs_at, finished_at, updated_at";
        let values = format!("'true', {time}, {time}, {time}, {time}");
        let (mut bench, nonsense) = beside_a_sane_job(columns, &values);
        assert!(nonsense.is_empty());
        assert_eq!(bench.job(JobId(1)).scheduled_at, Timestamp::from_millis(time));
        bench.store.list(&Query::default()).expect("a list");
    }
}

#[test]
fn numbers_at_their_limits_are_read_and_settled() {
    let columns = "command, timeout, kill_after, max_retries, retry_delay, retry_backoff, \
                   retry_max_delay, loss_count, umask, priority";
    let max = i64::MAX;
    let values =
        format!("'true', {max}, {max}, 4294967295, {max}, 9e999, {max}, 4294967295, 511, {max}");
    let mut bench = Bench::sqlite();
    let sql = format!("INSERT INTO ax_jobs ({columns}) VALUES ({values})");
    shell(&bench).execute_batch(&sql).expect("the schema allows it");
    bench.now = bench.job(JobId(1)).created_at;
    bench.end(JobId(1), ax_scheduler::job::Outcome::Exited(1));
    let failed = bench.job(JobId(1));
    assert_eq!((failed.state, failed.scheduled_at), (State::Failed, Timestamp::MAX));
}

#[test]
fn an_environment_that_is_gone_is_the_runners_own() {
    let (mut bench, nonsense) = beside_a_sane_job("command, env_id", "'true', 99");
    assert!(nonsense.is_empty());
    assert_eq!(bench.take(JobId(1)).spec.env, None);
}

#[test]
fn what_no_column_can_mean_is_refused_by_the_schema() {
    let bench = Bench::sqlite();
    let shell = shell(&bench);
    for (column, value) in [
        ("status", "'done'"),
        ("status", "'running'"),
        ("exit_code", "4294967296"),
        ("signal", "-4294967296"),
        ("attempts", "-1"),
        ("attempts", "4294967296"),
        ("timeout", "0"),
        ("kill_after", "-1"),
        ("priority", "'high'"),
        ("umask", "512"),
        ("retry_backoff", "0.5"),
        ("name", "''"),
        ("extra_env", "'A=1'"),
    ] {
        let sql = format!("INSERT INTO ax_jobs (command, {column}) VALUES ('true', {value})");
        assert!(shell.execute_batch(&sql).is_err(), "{column} = {value}");
    }
    for columns in ["command) VALUES ('')", "command) VALUES (7)", "name) VALUES ('x')"] {
        let sql = format!("INSERT INTO ax_jobs ({columns}");
        assert!(shell.execute_batch(&sql).is_err(), "{columns}");
    }
}

#[test]
fn when_the_last_id_is_taken_adding_says_so() {
    let mut bench = Bench::sqlite();
    let sql = format!("INSERT INTO ax_jobs (id, command) VALUES ({}, 'true')", i64::MAX);
    shell(&bench).execute_batch(&sql).expect("the schema allows it");
    let refused = bench.try_add(&[job()]).expect_err("no id is left");
    let Error::Unusable { why, .. } = refused else { panic!("{refused:?}") };
    assert!(why.contains("no id is left"), "{why}");
    assert_eq!(bench.store.select(&Selector::Last).expect("an answer"), [JobId(i64::MAX)]);
}
