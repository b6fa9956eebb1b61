//! What people say to a job: hold, go on, it had ended so.

use std::time::Duration;

use ax_scheduler::job::{Event, JobId, NewJob, Outcome, State};
use ax_scheduler::store::{Error, Resolution};

use crate::store::bench::{Bench, ROOM, START, after, job};

promises![
    a_waiting_job_can_be_held_in_every_state_it_waits_in,
    a_job_that_runs_or_ended_cannot_be_held,
    holding_a_held_job_changes_nothing,
    holding_is_all_or_none,
    a_released_job_goes_on_where_it_was,
    a_released_job_whose_parent_died_meanwhile_is_skipped,
    a_released_job_whose_parent_ended_well_meanwhile_runs,
    only_a_held_job_can_be_released,
    a_word_of_success_releases_the_children,
    a_word_of_failure_skips_the_children,
    a_word_to_retry_starts_it_again,
    only_a_held_job_can_be_resolved,
    resolving_is_all_or_none,
];

/// A job whose outcome nobody knows.
fn unknown(bench: &mut Bench) -> JobId {
    let id = bench.add(job());
    bench.finish(id, State::Held);
    id
}

fn wrong_state(error: &Error) -> Option<(JobId, State)> {
    match error {
        Error::WrongState { job, state, .. } => Some((*job, *state)),
        _ => None,
    }
}

fn a_waiting_job_can_be_held_in_every_state_it_waits_in(bench: &mut Bench) {
    let later = NewJob { scheduled_at: START.plus(Duration::from_secs(9)), ..job() };
    let failed = bench.add(job());
    bench.finish(failed, State::Failed);
    let ids = [bench.add(job()), bench.add(later), bench.add(after(&[failed])), failed];
    let moved = bench.store.hold(&ids, START).expect("they are held");
    assert!(moved.iter().all(|moved| moved.event == Event::Hold));
    assert_eq!(bench.states(&ids), [State::Held; 4]);
    assert_eq!(bench.reason(ids[0]), "held by a person");
    bench.pass(Duration::from_hours(1));
    assert!(bench.turn(ROOM).claimed.is_empty());
}

fn a_job_that_runs_or_ended_cannot_be_held(bench: &mut Bench) {
    let ids = bench.add_all(&[job(), job(), job()]);
    bench.take(ids[0]);
    bench.start(ids[1]);
    bench.finish(ids[2], State::Success);
    for (id, state) in ids.iter().zip([State::Dispatched, State::Running, State::Success]) {
        let refused = bench.store.hold(&[*id], START).expect_err("it does not wait");
        assert_eq!(wrong_state(&refused), Some((*id, state)));
    }
}

fn holding_a_held_job_changes_nothing(bench: &mut Bench) {
    let id = unknown(bench);
    let before = bench.job(id);
    assert!(bench.store.hold(&[id], START).expect("no matter").is_empty());
    assert_eq!(bench.job(id), before);
}

fn holding_is_all_or_none(bench: &mut Bench) {
    let id = bench.add(job());
    bench.store.hold(&[id, JobId(9)], START).expect_err("no such job");
    assert_eq!(bench.state(id), State::Ready);
}

fn a_released_job_goes_on_where_it_was(bench: &mut Bench) {
    let id = bench.add(job());
    bench.end(id, Outcome::Exited(1));
    bench.store.hold(&[id], START).expect("it is held");
    let moved = bench.store.release(&[id], START).expect("it goes on");
    assert_eq!((moved[0].job, moved[0].event), (id, Event::Unhold));
    let waiting = bench.job(id);
    assert_eq!((waiting.state, waiting.reason), (State::Pending, None));
    assert_eq!(waiting.policy.retry_count, 1);
    assert!(bench.turn(ROOM).claimed.is_empty());
    bench.pass(Duration::from_secs(5));
    assert_eq!(bench.turn(ROOM).claimed[0].claim.attempt, 2);
}

fn a_released_job_whose_parent_died_meanwhile_is_skipped(bench: &mut Bench) {
    let parent = bench.add(job());
    let child = bench.add(after(&[parent]));
    bench.store.hold(&[child], START).expect("it is held");
    bench.finish(parent, State::Dead);
    assert_eq!(bench.state(child), State::Held);
    bench.store.release(&[child], START).expect("it goes on");
    assert_eq!(bench.state(child), State::Skipped);
}

fn a_released_job_whose_parent_ended_well_meanwhile_runs(bench: &mut Bench) {
    let parent = bench.add(job());
    let child = bench.add(after(&[parent]));
    bench.store.hold(&[child], START).expect("it is held");
    bench.finish(parent, State::Success);
    bench.store.release(&[child], START).expect("it goes on");
    assert_eq!(bench.turn(ROOM).claimed[0].claim.job, child);
}

fn only_a_held_job_can_be_released(bench: &mut Bench) {
    let id = bench.add(job());
    let refused = bench.store.release(&[id], START).expect_err("it is not held");
    assert_eq!(wrong_state(&refused), Some((id, State::Ready)));
    let refused = bench.store.release(&[JobId(9)], START).expect_err("no such job");
    assert!(matches!(refused, Error::NoSuchJob(JobId(9))));
}

fn a_word_of_success_releases_the_children(bench: &mut Bench) {
    let id = unknown(bench);
    let child = bench.add(after(&[id]));
    let moved = bench.store.resolve(&[id], Resolution::Success, START).expect("a word");
    assert_eq!((moved[0].job, moved[0].event), (id, Event::ResolveSuccess));
    assert_eq!(bench.state(id), State::Success);
    assert_eq!(bench.reason(id), "a person said that it had ended well");
    bench.quiesce();
    assert_eq!(bench.state(child), State::Ready);
}

fn a_word_of_failure_skips_the_children(bench: &mut Bench) {
    let id = unknown(bench);
    let child = bench.add(after(&[id]));
    bench.store.resolve(&[id], Resolution::Failed, START).expect("a word");
    assert_eq!(bench.states(&[id, child]), [State::Dead, State::Skipped]);
}

fn a_word_to_retry_starts_it_again(bench: &mut Bench) {
    let id = unknown(bench);
    let moved = bench.store.resolve(&[id], Resolution::Retry, START).expect("a word");
    assert_eq!(moved[0].event, Event::ResolveRetry);
    assert_eq!(bench.turn(ROOM).claimed[0].claim.attempt, 2);
}

fn only_a_held_job_can_be_resolved(bench: &mut Bench) {
    let id = bench.add(job());
    bench.finish(id, State::Dead);
    for how in [Resolution::Success, Resolution::Failed, Resolution::Retry] {
        let refused = bench.store.resolve(&[id], how, START).expect_err("it is dead");
        assert_eq!(wrong_state(&refused), Some((id, State::Dead)));
    }
}

fn resolving_is_all_or_none(bench: &mut Bench) {
    let held = unknown(bench);
    let ready = bench.add(job());
    for how in [Resolution::Success, Resolution::Failed, Resolution::Retry] {
        bench.store.resolve(&[held, ready], how, START).expect_err("one is not held");
        assert_eq!(bench.state(held), State::Held);
    }
}
