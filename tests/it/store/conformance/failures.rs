//! Failures: what counts as one, and what is told of it.

use std::time::Duration;

use ax_scheduler::job::{JobId, NewJob, OnLost, Outcome, State};
use ax_scheduler::store::{Failed, Query, Revival, Selector};

use crate::store::bench::{Bench, job, named};

promises![
    what_is_dead_failed_or_lost_is_a_failure,
    what_a_person_holds_or_cancelled_is_none,
    a_failure_has_its_end_its_error_and_its_time,
    the_failures_that_match_are_told_whatever_states_are_asked_for,
    what_is_brought_back_is_no_failure_any_more,
];

fn failures(bench: &mut Bench, query: &Query) -> Vec<Failed> {
    bench.store.failures(query).expect("an answer")
}

fn failed_jobs(bench: &mut Bench, query: &Query) -> Vec<i64> {
    failures(bench, query).into_iter().map(|failed| failed.job.0).collect()
}

fn what_is_dead_failed_or_lost_is_a_failure(bench: &mut Bench) {
    bench.add_all(&[job(), job(), job(), job(), job()]);
    let ends = [State::Success, State::Held, State::Dead, State::Failed];
    for (id, end) in (1..).zip(ends) {
        bench.finish(JobId(id), end);
    }
    assert_eq!(failed_jobs(bench, &Query::default()), [2, 3, 4]);
}

fn what_a_person_holds_or_cancelled_is_none(bench: &mut Bench) {
    bench.add_all(&[job(), job(), NewJob { hold: true, ..job() }]);
    bench.finish(JobId(1), State::Failed);
    bench.store.hold(&[JobId(1)], bench.now).expect("it waits");
    bench.finish(JobId(2), State::Cancelled);
    assert_eq!(failed_jobs(bench, &Query::default()), [0; 0]);
}

fn a_failure_has_its_end_its_error_and_its_time(bench: &mut Bench) {
    let last = NewJob { max_retries: 0, on_lost: OnLost::Hold, ..job() };
    let ends = [
        (Outcome::Exited(3), "exit 3", "exit 3"),
        (Outcome::Signaled(9), "signal 9", "signal 9"),
        (
            Outcome::TimedOut(Duration::from_mins(1)),
            "timed out",
            "timed out after 60 s; raise it with --timeout",
        ),
        (Outcome::Lost("power cut".into()), "lost", "outcome unknown: power cut"),
    ];
    for (outcome, end, error) in ends {
        let id = bench.add(last.clone());
        bench.pass(Duration::from_secs(1));
        bench.end(id, outcome);
        let want = Failed {
            job: id,
            end: Some(end.to_owned()),
            error: Some(error.to_owned()),
            at: Some(bench.now),
        };
        assert_eq!(failures(bench, &Query::default()).pop(), Some(want));
    }
}

fn the_failures_that_match_are_told_whatever_states_are_asked_for(bench: &mut Bench) {
    bench.add_all(&[named("a"), named("b"), named("a")]);
    for id in 1..=2 {
        bench.finish(JobId(id), State::Dead);
    }
    let query = Query {
        selectors: vec![Selector::Name("a".to_owned())],
        states: vec![State::Success],
        ..Query::default()
    };
    assert_eq!(failed_jobs(bench, &query), [1]);
    bench.pass(Duration::from_secs(1));
    let query = Query { since: Some(bench.now), ..Query::default() };
    assert_eq!(failed_jobs(bench, &query), [0; 0]);
}

fn what_is_brought_back_is_no_failure_any_more(bench: &mut Bench) {
    let id = bench.add(job());
    bench.finish(id, State::Dead);
    bench.store.revive(&[id], Revival::default(), bench.now).expect("it is dead");
    assert_eq!(failed_jobs(bench, &Query::default()), [0; 0]);
}
