//! Edges: which are refused, and what making and removing one does.

use std::time::Duration;

use ax_scheduler::job::{Edge, JobId, Kind, NewJob, State};
use ax_scheduler::store::{Error, Revival};

use crate::store::bench::{Bench, START, after, after_key, child_of, job, keyed};

promises![
    a_job_that_was_not_given_yet_is_no_parent,
    a_job_does_not_wait_for_itself,
    a_cycle_in_a_batch_names_its_members_in_order,
    a_cycle_in_a_batch_adds_nothing,
    a_new_edge_makes_a_ready_job_wait,
    a_new_edge_to_a_parent_that_ended_well_changes_nothing,
    a_new_edge_to_a_dead_parent_skips_at_once,
    equal_edges_are_one,
    a_job_can_have_several_kinds_of_one_parent,
    a_cycle_through_stored_jobs_is_refused_and_named,
    an_edge_to_itself_is_refused,
    a_missing_parent_is_refused_and_none_of_its_fellows_stays,
    a_missing_child_is_refused,
    a_job_that_has_started_gets_no_parents,
    a_held_job_can_get_a_parent,
    the_last_edge_that_goes_sets_a_job_free,
    removing_what_is_not_there_removes_nothing,
    a_job_that_has_started_loses_no_parents,
    a_skipped_job_can_lose_the_parent_that_broke_it,
    an_edge_that_goes_while_its_job_is_held_is_not_waited_for_later,
];

fn edge(parent: JobId, kind: Kind) -> Edge {
    Edge { parent, kind }
}

fn link(bench: &mut Bench, child: JobId, parents: &[JobId]) -> Result<(), Error> {
    let edges: Vec<_> = parents.iter().map(|parent| edge(*parent, Kind::After)).collect();
    bench.store.link(child, &edges, START)
}

fn a_job_that_was_not_given_yet_is_no_parent(bench: &mut Bench) {
    let refused = bench.try_add(&[after(&[JobId(2)]), job()]);
    let Err(Error::InBatch { index: 0, source }) = refused else { panic!("{refused:?}") };
    assert!(matches!(*source, Error::NoSuchJob(JobId(2))), "{source:?}");
}

fn a_job_does_not_wait_for_itself(bench: &mut Bench) {
    let refused = bench.try_add(&[NewJob { key: Some("k".into()), ..after_key("k") }]);
    let Err(Error::InBatch { index: 0, source }) = refused else { panic!("{refused:?}") };
    assert!(matches!(*source, Error::Cycle(ref jobs) if jobs == &[JobId(1)]), "{source:?}");
}

fn ring(size: usize) -> Vec<NewJob> {
    (0..size)
        .map(|at| NewJob {
            key: Some(format!("k{at}")),
            ..after_key(&format!("k{}", (at + 1) % size))
        })
        .collect()
}

fn a_cycle_in_a_batch_names_its_members_in_order(bench: &mut Bench) {
    let mut jobs = vec![job()];
    jobs.extend(ring(3));
    let refused = bench.try_add(&jobs);
    let Err(Error::BatchCycle { members }) = refused else { panic!("{refused:?}") };
    assert_eq!(members, [1, 2, 3]);
}

fn a_cycle_in_a_batch_adds_nothing(bench: &mut Bench) {
    bench.try_add(&ring(2)).expect_err("a cycle");
    assert_eq!(bench.store.counts().expect("an answer").iter().sum::<u64>(), 0);
    assert_eq!(bench.add(job()), JobId(1));
}

fn a_new_edge_makes_a_ready_job_wait(bench: &mut Bench) {
    let ids = bench.add_all(&[job(), job()]);
    link(bench, ids[0], &[ids[1]]).expect("an edge");
    assert_eq!(bench.state(ids[0]), State::Pending);
    bench.finish(ids[1], State::Success);
    bench.turn(0);
    assert_eq!(bench.state(ids[0]), State::Ready);
}

fn a_new_edge_to_a_parent_that_ended_well_changes_nothing(bench: &mut Bench) {
    let parent = bench.add(job());
    bench.finish(parent, State::Success);
    let child = bench.add(job());
    link(bench, child, &[parent]).expect("an edge");
    assert_eq!(bench.state(child), State::Ready);
}

fn a_new_edge_to_a_dead_parent_skips_at_once(bench: &mut Bench) {
    let parent = bench.add(job());
    bench.finish(parent, State::Dead);
    let child = bench.add(job());
    link(bench, child, &[parent]).expect("an edge");
    assert_eq!(bench.state(child), State::Skipped);
    assert_eq!(bench.reason(child), "needs job 1, which is dead");
}

fn equal_edges_are_one(bench: &mut Bench) {
    let parent = bench.add(job());
    let child = bench.add(after(&[parent, parent]));
    link(bench, child, &[parent, parent]).expect("an edge");
    assert_eq!(bench.parents(child), [(parent, Kind::After)]);
}

fn a_job_can_have_several_kinds_of_one_parent(bench: &mut Bench) {
    let parent = bench.add(job());
    let child = bench.add(child_of(parent, Kind::AfterAny));
    link(bench, child, &[parent]).expect("an edge");
    assert_eq!(bench.parents(child).len(), 2);
    assert_eq!(bench.store.unlink(child, &[parent], START).expect("both go"), 2);
}

fn a_cycle_through_stored_jobs_is_refused_and_named(bench: &mut Bench) {
    let first = bench.add(job());
    let second = bench.add(after(&[first]));
    let third = bench.add(after(&[second]));
    let refused = link(bench, first, &[third]).expect_err("a cycle");
    assert_eq!(refused.to_string(), "the jobs would wait for each other: 1 → 3 → 2 → 1");
    assert!(bench.parents(first).is_empty());
    assert_eq!(bench.state(first), State::Ready);
}

fn an_edge_to_itself_is_refused(bench: &mut Bench) {
    let id = bench.add(job());
    let refused = link(bench, id, &[id]).expect_err("a cycle");
    assert_eq!(refused.to_string(), "the jobs would wait for each other: 1 → 1");
}

fn a_missing_parent_is_refused_and_none_of_its_fellows_stays(bench: &mut Bench) {
    let ids = bench.add_all(&[job(), job()]);
    let refused = link(bench, ids[0], &[ids[1], JobId(99)]).expect_err("no parent");
    assert!(matches!(refused, Error::NoSuchJob(JobId(99))), "{refused:?}");
    assert!(bench.parents(ids[0]).is_empty());
}

fn a_missing_child_is_refused(bench: &mut Bench) {
    let parent = bench.add(job());
    for refused in [
        link(bench, JobId(99), &[parent]).expect_err("no child"),
        bench.store.unlink(JobId(99), &[parent], START).expect_err("no child"),
    ] {
        assert!(matches!(refused, Error::NoSuchJob(JobId(99))), "{refused:?}");
    }
}

/// A job in each state in which it has started.
fn started(bench: &mut Bench) -> Vec<(JobId, State)> {
    let mut jobs = Vec::new();
    for end in [State::Success, State::Failed, State::Dead, State::Cancelled] {
        let id = bench.add(job());
        bench.finish(id, end);
        jobs.push((id, end));
    }
    let dead = jobs[2].0;
    jobs.push((bench.add(after(&[dead])), State::Skipped));
    let running = bench.add(job());
    bench.start(running);
    jobs.push((running, State::Running));
    let dispatched = bench.add(job());
    bench.take(dispatched);
    jobs.push((dispatched, State::Dispatched));
    jobs
}

fn a_job_that_has_started_gets_no_parents(bench: &mut Bench) {
    let parent = bench.add(NewJob { scheduled_at: START.plus(Duration::from_secs(9)), ..job() });
    for (id, wanted) in started(bench) {
        let refused = link(bench, id, &[parent]).expect_err("it has started");
        assert!(matches!(refused, Error::WrongState { state, .. } if state == wanted), "{wanted}");
    }
}

fn a_held_job_can_get_a_parent(bench: &mut Bench) {
    let parent = bench.add(job());
    let child = bench.add(NewJob { hold: true, ..job() });
    link(bench, child, &[parent]).expect("an edge");
    assert_eq!(bench.state(child), State::Held);
    bench.store.release(&[child], START).expect("it goes on");
    assert_eq!(bench.state(child), State::Pending);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Pending);
}

fn the_last_edge_that_goes_sets_a_job_free(bench: &mut Bench) {
    let parents = bench.add_all(&[job(), job()]);
    let child = bench.add(after(&parents));
    assert_eq!(bench.store.unlink(child, &parents[..1], START).expect("one goes"), 1);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Pending);
    assert_eq!(bench.store.unlink(child, &parents[1..], START).expect("one goes"), 1);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Ready);
}

fn removing_what_is_not_there_removes_nothing(bench: &mut Bench) {
    let child = bench.add(keyed("k"));
    assert_eq!(bench.store.unlink(child, &[JobId(99)], START).expect("no matter"), 0);
}

fn a_job_that_has_started_loses_no_parents(bench: &mut Bench) {
    for (id, wanted) in started(bench).into_iter().filter(|(_, state)| *state != State::Skipped) {
        let refused = bench.store.unlink(id, &[JobId(1)], START).expect_err("it has started");
        assert!(matches!(refused, Error::WrongState { state, .. } if state == wanted), "{wanted}");
    }
}

fn a_skipped_job_can_lose_the_parent_that_broke_it(bench: &mut Bench) {
    let dead = bench.add(job());
    let child = bench.add(after(&[dead]));
    bench.finish(dead, State::Dead);
    assert_eq!(bench.store.unlink(child, &[dead], START).expect("it goes"), 1);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Skipped);
    bench.store.revive(&[child], Revival::default(), START).expect("nothing breaks it now");
    bench.quiesce();
    assert_eq!(bench.state(child), State::Ready);
}

fn an_edge_that_goes_while_its_job_is_held_is_not_waited_for_later(bench: &mut Bench) {
    let parent = bench.add(job());
    let child = bench.add(after(&[parent]));
    bench.store.hold(&[child], START).expect("it is held");
    bench.store.unlink(child, &[parent], START).expect("it goes");
    bench.quiesce();
    bench.store.release(&[child], START).expect("it goes on");
    bench.quiesce();
    assert_eq!(bench.state(child), State::Ready);
}
