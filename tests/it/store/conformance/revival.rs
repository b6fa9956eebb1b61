//! `ax retry`: who comes back, who does not, and what is refused.

use std::time::Duration;

use ax_scheduler::job::{Event, JobId, Kind, NewJob, Outcome, State};
use ax_scheduler::store::{Error, Moved, Result, Revival};

use crate::store::bench::{Bench, ROOM, START, after, after_key, child_of, job, keyed};

promises![
    a_dead_job_comes_back_with_all_its_retries,
    a_job_that_was_lost_comes_back_with_its_losses_forgotten,
    a_cancelled_job_comes_back,
    a_failed_job_comes_back_at_once,
    the_jobs_that_were_skipped_because_of_it_come_back,
    a_chain_of_10_000_comes_back,
    a_skipped_job_that_another_parent_still_breaks_stays_skipped,
    a_skipped_job_whose_parents_come_back_together_comes_back,
    a_handler_that_ran_keeps_its_result,
    a_handler_that_was_skipped_waits_again,
    a_child_that_was_ready_waits_again,
    a_skipped_job_alone_is_still_broken_and_names_the_parent,
    a_skipped_job_with_its_parent_comes_back,
    downstream_brings_back_what_succeeded_too,
    downstream_is_refused_while_something_there_runs,
    downstream_does_not_bring_back_what_another_parent_breaks,
    success_needs_force,
    what_waits_or_runs_is_refused,
    all_come_back_or_none,
    a_job_named_twice_comes_back_once,
    a_job_whose_key_was_taken_is_refused,
    a_rehearsal_tells_the_same_and_changes_nothing,
    an_unknown_job_is_refused,
    a_circle_over_jobs_that_have_ended_is_refused,
    a_started_child_waits_when_its_parent_comes_back,
];

const ALONE: Revival = Revival { downstream: false, force: false, dry_run: false };
const FORCE: Revival = Revival { force: true, ..ALONE };
const DOWNSTREAM: Revival = Revival { downstream: true, ..ALONE };

fn revive(bench: &mut Bench, ids: &[JobId], how: Revival) -> Result<Vec<Moved>> {
    let now = bench.now;
    bench.store.revive(ids, how, now)
}

fn moved(moved: &[Moved]) -> Vec<i64> {
    let mut jobs: Vec<_> = moved.iter().map(|moved| moved.job.0).collect();
    jobs.sort_unstable();
    jobs
}

/// A dead parent and the child that was skipped because of it.
fn broken_pair(bench: &mut Bench) -> (JobId, JobId) {
    let parent = bench.add(job());
    let child = bench.add(after(&[parent]));
    bench.finish(parent, State::Dead);
    assert_eq!(bench.state(child), State::Skipped);
    (parent, child)
}

fn a_dead_job_comes_back_with_all_its_retries(bench: &mut Bench) {
    let id = bench.add(NewJob { max_retries: 1, ..job() });
    for _ in 0..2 {
        bench.end(id, Outcome::Exited(1));
        bench.pass(Duration::from_mins(1));
    }
    assert_eq!(bench.state(id), State::Dead);
    let back = revive(bench, &[id], ALONE).expect("it comes back");
    assert_eq!((back[0].job, back[0].event), (id, Event::Revive));
    let revived = bench.job(id);
    assert_eq!((revived.state, revived.policy.retry_count), (State::Pending, 0));
    assert_eq!((revived.attempts, revived.reason), (2, None));
    assert_eq!(bench.take(id).claim.attempt, 3);
}

fn a_job_that_was_lost_comes_back_with_its_losses_forgotten(bench: &mut Bench) {
    let id = bench.add(NewJob { max_retries: 9, ..job() });
    while bench.state(id) != State::Held {
        bench.end(id, Outcome::Lost("gone".into()));
        bench.pass(Duration::from_hours(1));
    }
    let back = revive(bench, &[id], ALONE).expect("it comes back");
    assert_eq!(back[0].event, Event::ResolveRetry);
    assert_eq!(bench.job(id).policy.losses, 0);
}

fn a_cancelled_job_comes_back(bench: &mut Bench) {
    let id = bench.add(job());
    bench.finish(id, State::Cancelled);
    revive(bench, &[id], ALONE).expect("it comes back");
    assert_eq!(bench.turn(ROOM).claimed[0].claim.job, id);
}

fn a_failed_job_comes_back_at_once(bench: &mut Bench) {
    let id = bench.add(job());
    bench.end(id, Outcome::Exited(1));
    let back = revive(bench, &[id], ALONE).expect("it comes back");
    assert_eq!(back[0].event, Event::Rearm);
    assert_eq!(bench.turn(ROOM).claimed[0].claim.attempt, 2);
}

fn the_jobs_that_were_skipped_because_of_it_come_back(bench: &mut Bench) {
    let (parent, child) = broken_pair(bench);
    let other = bench.add(child_of(child, Kind::After));
    assert_eq!(bench.state(other), State::Skipped);
    let back = revive(bench, &[parent], ALONE).expect("they come back");
    assert_eq!(moved(&back), [parent.0, child.0, other.0]);
    let revived = bench.job(child);
    assert_eq!((revived.state, revived.reason), (State::Pending, None));
    assert_eq!(revived.finished_at, None);
    bench.finish(parent, State::Success);
    bench.finish(child, State::Success);
    bench.finish(other, State::Success);
}

fn a_chain_of_10_000_comes_back(bench: &mut Bench) {
    let first = bench.add(keyed("k0"));
    let chain: Vec<_> = (1..10_000)
        .map(|at| NewJob { key: Some(format!("k{at}")), ..after_key(&format!("k{}", at - 1)) })
        .collect();
    bench.add_all(&chain);
    bench.finish(first, State::Dead);
    bench.quiesce();
    assert_eq!(revive(bench, &[first], ALONE).expect("they come back").len(), 10_000);
    bench.quiesce();
    assert_eq!(bench.states(&[JobId(1), JobId(10_000)]), [State::Ready, State::Pending]);
}

fn a_skipped_job_that_another_parent_still_breaks_stays_skipped(bench: &mut Bench) {
    let parents = bench.add_all(&[job(), job()]);
    let child = bench.add(after(&parents));
    for parent in &parents {
        bench.finish(*parent, State::Dead);
    }
    let back = revive(bench, &parents[..1], ALONE).expect("it comes back");
    assert_eq!(moved(&back), [parents[0].0]);
    assert_eq!(bench.state(child), State::Skipped);
    let back = revive(bench, &parents[1..], ALONE).expect("they come back");
    assert_eq!(moved(&back), [parents[1].0, child.0]);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Pending);
}

fn a_skipped_job_whose_parents_come_back_together_comes_back(bench: &mut Bench) {
    let root = bench.add(job());
    let left = bench.add(after(&[root]));
    let join = bench.add(after(&[root, left]));
    let right = bench.add(after(&[root]));
    bench
        .store
        .link(join, &[ax_scheduler::job::Edge { parent: right, kind: Kind::After }], START)
        .expect("an edge");
    bench.finish(root, State::Dead);
    bench.quiesce();
    let back = revive(bench, &[root], ALONE).expect("they come back");
    assert_eq!(moved(&back), [root.0, left.0, join.0, right.0]);
}

fn a_handler_that_ran_keeps_its_result(bench: &mut Bench) {
    let parent = bench.add(job());
    let handler = bench.add(child_of(parent, Kind::OnFailure));
    bench.finish(parent, State::Dead);
    bench.finish(handler, State::Success);
    revive(bench, &[parent], ALONE).expect("it comes back");
    assert_eq!(bench.state(handler), State::Success);
}

fn a_handler_that_was_skipped_waits_again(bench: &mut Bench) {
    let parent = bench.add(job());
    let handler = bench.add(child_of(parent, Kind::OnFailure));
    bench.finish(parent, State::Success);
    bench.quiesce();
    assert_eq!(bench.state(handler), State::Skipped);
    revive(bench, &[parent], FORCE).expect("it comes back");
    assert_eq!(bench.state(handler), State::Pending);
    bench.finish(parent, State::Dead);
    bench.quiesce();
    assert_eq!(bench.state(handler), State::Ready);
}

fn a_child_that_was_ready_waits_again(bench: &mut Bench) {
    let parent = bench.add(job());
    let child = bench.add(after(&[parent]));
    bench.finish(parent, State::Success);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Ready);
    revive(bench, &[parent], FORCE).expect("it comes back");
    assert_eq!(bench.state(child), State::Pending);
    let claimed = bench.turn(ROOM).claimed;
    assert_eq!(claimed.iter().map(|it| it.claim.job).collect::<Vec<_>>(), [parent]);
}

fn a_skipped_job_alone_is_still_broken_and_names_the_parent(bench: &mut Bench) {
    let (parent, child) = broken_pair(bench);
    let refused = revive(bench, &[child], ALONE).expect_err("its parent is dead");
    assert!(matches!(refused, Error::StillBroken { parent: named, .. } if named == parent));
    assert_eq!(refused.to_string(), "job 2 needs job 1, which is dead");
    assert_eq!(bench.state(child), State::Skipped);
}

fn a_skipped_job_with_its_parent_comes_back(bench: &mut Bench) {
    let (parent, child) = broken_pair(bench);
    let back = revive(bench, &[child, parent], ALONE).expect("both come back");
    assert_eq!(moved(&back), [parent.0, child.0]);
}

/// A diamond that was run to its end: 1 → 2, 3 → 4.
fn diamond(bench: &mut Bench) -> Vec<JobId> {
    let root = bench.add(job());
    let sides = bench.add_all(&[after(&[root]), after(&[root])]);
    let join = bench.add(after(&sides));
    let ids = vec![root, sides[0], sides[1], join];
    for id in &ids {
        bench.finish(*id, State::Success);
    }
    ids
}

fn downstream_brings_back_what_succeeded_too(bench: &mut Bench) {
    let ids = diamond(bench);
    let how = Revival { force: true, ..DOWNSTREAM };
    let back = revive(bench, &ids[1..2], how).expect("they come back");
    assert_eq!(moved(&back), [2, 4]);
    assert!(back.iter().all(|moved| moved.event == Event::ReviveForced));
    bench.quiesce();
    let states = [State::Success, State::Ready, State::Success, State::Pending];
    assert_eq!(bench.states(&ids), states);
}

fn downstream_is_refused_while_something_there_runs(bench: &mut Bench) {
    let parent = bench.add(job());
    let child = bench.add(child_of(parent, Kind::AfterAny));
    bench.finish(parent, State::Dead);
    bench.start(child);
    let refused = revive(bench, &[parent], DOWNSTREAM).expect_err("the child runs");
    assert!(matches!(refused, Error::WrongState { job, .. } if job == child), "{refused:?}");
    assert_eq!(bench.state(parent), State::Dead);
}

fn downstream_does_not_bring_back_what_another_parent_breaks(bench: &mut Bench) {
    let parents = bench.add_all(&[job(), job()]);
    let child = bench.add(after(&parents));
    for parent in &parents {
        bench.finish(*parent, State::Dead);
    }
    let back = revive(bench, &parents[..1], DOWNSTREAM).expect("it comes back");
    assert_eq!(moved(&back), [parents[0].0]);
    let child = bench.job(child);
    assert_eq!(child.state, State::Skipped);
    assert!(child.reason.is_some());
}

fn success_needs_force(bench: &mut Bench) {
    let id = bench.add(job());
    bench.finish(id, State::Success);
    let refused = revive(bench, &[id], ALONE).expect_err("it succeeded");
    let Error::WrongState { state: State::Success, hint, .. } = refused else { panic!() };
    assert!(hint.is_some_and(|hint| hint.contains("--force")));
    revive(bench, &[id], FORCE).expect("it comes back");
    assert_eq!(bench.state(id), State::Pending);
}

fn what_waits_or_runs_is_refused(bench: &mut Bench) {
    let later = NewJob { scheduled_at: START.plus(Duration::from_secs(9)), ..job() };
    let ids = bench.add_all(&[job(), job(), later]);
    bench.take(ids[0]);
    bench.start(ids[1]);
    let ready = bench.add(job());
    for id in [ids[0], ids[1], ids[2], ready] {
        let before = bench.job(id);
        for how in [ALONE, FORCE] {
            let refused = revive(bench, &[id], how).expect_err("it waits or runs");
            let Error::WrongState { job, state, .. } = refused else { panic!("{refused:?}") };
            assert_eq!((job, state), (id, before.state));
        }
        assert_eq!(bench.job(id), before);
    }
}

fn all_come_back_or_none(bench: &mut Bench) {
    let ids = bench.add_all(&[job(), job()]);
    bench.finish(ids[0], State::Dead);
    bench.finish(ids[1], State::Success);
    revive(bench, &ids, ALONE).expect_err("one succeeded");
    assert_eq!(bench.states(&ids), [State::Dead, State::Success]);
}

fn a_job_named_twice_comes_back_once(bench: &mut Bench) {
    let id = bench.add(job());
    bench.finish(id, State::Dead);
    assert_eq!(moved(&revive(bench, &[id, id], ALONE).expect("it comes back")), [1]);
}

fn a_job_whose_key_was_taken_is_refused(bench: &mut Bench) {
    let old = bench.add(keyed("k"));
    bench.finish(old, State::Dead);
    let new = bench.add(keyed("k"));
    let refused = revive(bench, &[old], ALONE).expect_err("its key is taken");
    let told = "job 1 cannot come back: job 2 has its key `k`";
    assert_eq!(refused.to_string(), told, "{old} and {new}");
    assert_eq!(bench.state(old), State::Dead);
}

fn a_rehearsal_tells_the_same_and_changes_nothing(bench: &mut Bench) {
    let (parent, child) = broken_pair(bench);
    let before = (bench.job(parent), bench.job(child));
    let how = Revival { dry_run: true, ..ALONE };
    let rehearsed = revive(bench, &[parent], how).expect("a rehearsal");
    assert_eq!((bench.job(parent), bench.job(child)), before);
    assert!(!bench.turn(ROOM).more);
    assert_eq!(revive(bench, &[parent], ALONE).expect("they come back"), rehearsed);
}

fn an_unknown_job_is_refused(bench: &mut Bench) {
    let refused = revive(bench, &[JobId(9)], ALONE).expect_err("no such job");
    assert!(matches!(refused, Error::NoSuchJob(JobId(9))));
}

/// An ended parent waits for nothing, but both could be retried.
fn a_circle_over_jobs_that_have_ended_is_refused(bench: &mut Bench) {
    let first = bench.add(job());
    let second = bench.add(after(&[first]));
    bench.finish(first, State::Success);
    bench.finish(second, State::Success);
    revive(bench, &[first], FORCE).expect("it comes back");
    let edge = ax_scheduler::job::Edge { parent: second, kind: Kind::After };
    let refused = bench.store.link(first, &[edge], START).expect_err("a circle");
    assert_eq!(refused.to_string(), "the jobs would wait for each other: 1 → 2 → 1");
}

fn a_started_child_waits_when_its_parent_comes_back(bench: &mut Bench) {
    let parent = bench.add(job());
    let children = bench.add_all(&[after(&[parent]), after(&[parent]), after(&[parent])]);
    bench.finish(parent, State::Success);
    bench.finish(children[0], State::Failed);
    bench.start(children[1]);
    bench.take(children[2]);
    revive(bench, &[parent], FORCE).expect("it comes back");
    bench.end(children[1], Outcome::Interrupted);
    bench.end(children[2], Outcome::Exited(1));
    bench.pass(Duration::from_hours(1));
    let claimed: Vec<_> = bench.turn(ROOM).claimed.iter().map(|it| it.claim.job).collect();
    assert_eq!(claimed, [parent]);
    bench.finish(parent, State::Success);
    assert_eq!(bench.turn(ROOM).claimed.len(), 3);
}
