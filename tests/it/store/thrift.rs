//! What costs nothing: turns without news, joins, environments.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use ax_scheduler::job::{EnvBlock, JobId, Kind, NewJob, Outcome, ParentRef, State, Verdict};

use super::bench::{Bench, ROOM, START, after, job};
use super::by_hand::shell;

fn number(shell: &rusqlite::Connection, sql: &str) -> i64 {
    shell.query_row(sql, [], |row| row.get(0)).expect("a number")
}

#[test]
fn a_turn_without_news_writes_nothing() {
    let mut bench = Bench::sqlite();
    let running = bench.add(job());
    bench.add_all(&[
        after(&[running]),
        NewJob { scheduled_at: START.plus(Duration::from_mins(1)), ..job() },
        NewJob { hold: true, ..job() },
    ]);
    bench.start(running);
    let witness = shell(&bench);
    let wal = bench.path().with_extension("db-wal");
    let seen = || {
        let version = number(&witness, "PRAGMA data_version");
        (version, fs::metadata(&wal).expect("a log").len())
    };
    let before = seen();
    for room in [0, 1, ROOM] {
        assert!(bench.turn(room).claimed.is_empty());
        assert_eq!(seen(), before);
    }
    bench.add(job());
    assert_ne!(seen(), before, "the witness sees what is written");
}

/// Counts how often a job is entered to be judged.
fn tally(bench: &Bench) -> rusqlite::Connection {
    let shell = shell(bench);
    shell
        .execute_batch(
            "CREATE TABLE tally (job_id INTEGER);
             CREATE TRIGGER tally AFTER INSERT ON ax_judge BEGIN
                 INSERT INTO tally VALUES (NEW.job_id);
             END;",
        )
        .expect("a tally");
    shell
}

/// Ends 20,000 parents of one join in 20 turns; tells how often it was judged.
fn judgements_of_a_join(kind: Kind, end: (Outcome, Verdict)) -> i64 {
    let mut bench = Bench::sqlite();
    let parents = bench.add_all(&vec![job(); 20_000]);
    let edges = parents.iter().map(|parent| (ParentRef::Id(*parent), kind));
    let join = bench.add(NewJob { parents: edges.collect(), ..job() });
    let shell = tally(&bench);
    let waits_on = format!("SELECT waits_on FROM ax_jobs WHERE id = {join}");
    loop {
        assert_eq!(number(&shell, &waits_on), parents[parents.len() - 1].0);
        let claimed = bench.turn(1_000).claimed;
        let ends: Vec<_> =
            claimed.iter().map(|it| bench.settlement(it.claim, end.0.clone(), end.1)).collect();
        bench.turn_with(0, &ends);
        if claimed.iter().any(|it| it.claim.job == parents[parents.len() - 1]) {
            break;
        }
    }
    assert_eq!(bench.state(join), State::Ready);
    number(&shell, "SELECT count(*) FROM tally")
}

#[test]
fn a_join_over_20_000_parents_that_end_in_order_is_judged_once() {
    assert_eq!(judgements_of_a_join(Kind::After, (Outcome::Exited(0), Verdict::Success)), 1);
}

#[test]
fn a_join_over_20_000_parents_that_fail_in_order_is_judged_once() {
    assert_eq!(judgements_of_a_join(Kind::AfterAny, (Outcome::Exited(1), Verdict::Dead)), 1);
}

#[test]
fn jobs_without_dependencies_are_never_judged() {
    let mut bench = Bench::sqlite();
    let shell = tally(&bench);
    let ids = bench.add_all(&[job(), job(), job(), job()]);
    for (id, end) in ids.iter().zip([State::Success, State::Dead, State::Failed, State::Held]) {
        bench.finish(*id, end);
    }
    bench.pass(Duration::from_mins(1));
    bench.finish(ids[2], State::Success);
    bench.store.resolve(&ids[3..], ax_scheduler::store::Resolution::Retry, START).expect("a word");
    assert_eq!(number(&shell, "SELECT count(*) FROM tally"), 0);
}

#[test]
fn an_environment_is_stored_once_per_content() {
    let mut bench = Bench::sqlite();
    let env = |value: &str| Arc::new(EnvBlock::from_entries([value.as_bytes()]));
    bench.add_all(&[
        NewJob { env: env("A=1"), ..job() },
        NewJob { env: env("A=1"), ..job() },
        NewJob { env: env("A=2"), ..job() },
    ]);
    bench.add(NewJob { env: env("A=1"), ..job() });
    assert_eq!(number(&shell(&bench), "SELECT count(*) FROM ax_envs"), 2);
}

#[test]
fn the_number_of_an_environment_that_is_gone_is_not_given_to_another() {
    let mut bench = Bench::sqlite();
    let env = |value: &str| Arc::new(EnvBlock::from_entries([value.as_bytes()]));
    let first = bench.add(NewJob { env: env("A=1"), ..job() });
    bench.take(first);
    shell(&bench)
        .execute_batch("UPDATE ax_jobs SET env_id = NULL; DELETE FROM ax_envs;")
        .expect("an edit");
    let second = bench.add(NewJob { env: env("A=2"), ..job() });
    assert_eq!(bench.take(second).spec.env, Some(env("A=2")));
    assert_eq!(second, JobId(2));
}
