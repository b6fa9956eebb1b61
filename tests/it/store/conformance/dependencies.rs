//! When a job's dependencies let it run, and when they skip it.

use ax_scheduler::job::{Event, JobId, Kind, NewJob, ParentRef, State};

use crate::store::bench::{Bench, START, after, child_of, job};

promises![
    every_kind_at_every_end_of_a_parent_that_was_waited_for,
    every_kind_at_every_end_of_a_parent_that_had_ended_before,
    a_failed_parent_is_waited_for,
    a_held_parent_is_waited_for,
    all_parents_of_after_must_end_well,
    one_bad_parent_of_after_skips_while_another_still_runs,
    one_dead_parent_of_on_failure_is_enough,
    on_failure_is_skipped_when_the_last_parent_ended_well,
    on_failure_is_skipped_at_once_while_another_kind_still_waits,
    once_one_parent_failed_the_others_of_on_failure_are_not_waited_for,
    all_kinds_must_be_met,
    after_any_waits_for_the_last_of_its_parents,
    a_skip_is_told_with_its_cause,
    a_skip_goes_on_to_the_children_of_the_skipped,
    a_child_of_a_later_time_waits_for_its_time_too,
];

/// What becomes of a child of this kind when its parent ends so (SPEC §3).
fn wanted(kind: Kind, end: State) -> State {
    match (kind, end) {
        (Kind::After, State::Success) | (Kind::OnFailure, State::Dead) | (Kind::AfterAny, _) => {
            State::Ready
        }
        (Kind::After | Kind::OnFailure, _) => State::Skipped,
    }
}

/// A parent, and the job whose end makes it end so.
fn parent_to_end(bench: &mut Bench, end: State) -> (JobId, JobId, State) {
    let lever = bench.add(job());
    if end == State::Skipped {
        (bench.add(after(&[lever])), lever, State::Dead)
    } else {
        (lever, lever, end)
    }
}

const ENDS: [State; 4] = [State::Success, State::Dead, State::Cancelled, State::Skipped];

fn every_kind_at_every_end_of_a_parent_that_was_waited_for(bench: &mut Bench) {
    for kind in Kind::ALL {
        for end in ENDS {
            let (parent, lever, lever_end) = parent_to_end(bench, end);
            let child = bench.add(child_of(parent, kind));
            assert_eq!(bench.state(child), State::Pending, "{kind}, {end}");
            bench.finish(lever, lever_end);
            bench.quiesce();
            assert_eq!(bench.state(parent), end);
            assert_eq!(bench.state(child), wanted(kind, end), "{kind}, {end}");
        }
    }
}

fn every_kind_at_every_end_of_a_parent_that_had_ended_before(bench: &mut Bench) {
    for kind in Kind::ALL {
        for end in ENDS {
            let (parent, lever, lever_end) = parent_to_end(bench, end);
            bench.finish(lever, lever_end);
            bench.quiesce();
            assert_eq!(bench.state(parent), end);
            let child = bench.add(child_of(parent, kind));
            assert_eq!(bench.state(child), wanted(kind, end), "{kind}, {end}");
        }
    }
}

fn waits_for(bench: &mut Bench, end: State) {
    let parent = bench.add(job());
    let children = Kind::ALL.map(|kind| bench.add(child_of(parent, kind)));
    bench.finish(parent, end);
    bench.quiesce();
    assert_eq!(bench.states(&children), [State::Pending; 3]);
}

fn a_failed_parent_is_waited_for(bench: &mut Bench) {
    waits_for(bench, State::Failed);
}

fn a_held_parent_is_waited_for(bench: &mut Bench) {
    waits_for(bench, State::Held);
}

fn all_parents_of_after_must_end_well(bench: &mut Bench) {
    let parents = bench.add_all(&[job(), job(), job()]);
    let child = bench.add(after(&parents));
    for parent in [parents[2], parents[0]] {
        bench.finish(parent, State::Success);
        bench.quiesce();
        assert_eq!(bench.state(child), State::Pending);
    }
    bench.finish(parents[1], State::Success);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Ready);
}

fn one_bad_parent_of_after_skips_while_another_still_runs(bench: &mut Bench) {
    let parents = bench.add_all(&[job(), job()]);
    let child = bench.add(after(&parents));
    bench.start(parents[1]);
    bench.finish(parents[0], State::Dead);
    assert_eq!(bench.state(child), State::Skipped);
    assert_eq!(bench.state(parents[1]), State::Running);
}

fn handler(parents: &[JobId]) -> NewJob {
    let parents = parents.iter().map(|parent| (ParentRef::Id(*parent), Kind::OnFailure));
    NewJob { parents: parents.collect(), ..job() }
}

fn one_dead_parent_of_on_failure_is_enough(bench: &mut Bench) {
    let parents = bench.add_all(&[job(), job(), job()]);
    let child = bench.add(handler(&parents));
    bench.finish(parents[0], State::Success);
    bench.finish(parents[1], State::Dead);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Ready);
    assert!(!bench.state(parents[2]).is_final());
}

fn on_failure_is_skipped_when_the_last_parent_ended_well(bench: &mut Bench) {
    let parents = bench.add_all(&[job(), job()]);
    let child = bench.add(handler(&parents));
    bench.finish(parents[1], State::Success);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Pending);
    bench.finish(parents[0], State::Success);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Skipped);
    assert_eq!(bench.reason(child), "runs only if job 2 fails, and it is success");
}

fn mixed(on_failure: &[JobId], after: JobId) -> NewJob {
    let mut job = handler(on_failure);
    job.parents.push((ParentRef::Id(after), Kind::After));
    job
}

fn on_failure_is_skipped_at_once_while_another_kind_still_waits(bench: &mut Bench) {
    let parents = bench.add_all(&[job(), job()]);
    let child = bench.add(mixed(&parents[..1], parents[1]));
    bench.finish(parents[0], State::Success);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Skipped);
    assert!(!bench.state(parents[1]).is_final());
}

fn once_one_parent_failed_the_others_of_on_failure_are_not_waited_for(bench: &mut Bench) {
    let parents = bench.add_all(&[job(), job(), job()]);
    let child = bench.add(mixed(&[parents[0], parents[2]], parents[1]));
    bench.finish(parents[0], State::Dead);
    bench.finish(parents[1], State::Success);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Ready);
    assert!(!bench.state(parents[2]).is_final());
}

fn all_kinds_must_be_met(bench: &mut Bench) {
    let parents = bench.add_all(&[job(), job(), job()]);
    let edges = parents.iter().zip(Kind::ALL).map(|(id, kind)| (ParentRef::Id(*id), kind));
    let child = bench.add(NewJob { parents: edges.collect(), ..job() });
    for (parent, end) in
        [(parents[1], State::Dead), (parents[0], State::Success), (parents[2], State::Dead)]
    {
        assert_eq!(bench.state(child), State::Pending);
        bench.finish(parent, end);
        bench.quiesce();
    }
    assert_eq!(bench.state(child), State::Ready);
}

fn after_any_waits_for_the_last_of_its_parents(bench: &mut Bench) {
    let parents = bench.add_all(&[job(), job()]);
    let edges = parents.iter().map(|id| (ParentRef::Id(*id), Kind::AfterAny));
    let child = bench.add(NewJob { parents: edges.collect(), ..job() });
    bench.finish(parents[1], State::Dead);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Pending);
    bench.finish(parents[0], State::Cancelled);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Ready);
}

fn a_skip_is_told_with_its_cause(bench: &mut Bench) {
    let parent = bench.add(job());
    let child = bench.add(NewJob { name: Some("report".into()), ..after(&[parent]) });
    let claim = bench.take(parent).claim;
    let dead = bench.settlement(
        claim,
        ax_scheduler::job::Outcome::Exited(2),
        ax_scheduler::job::Verdict::Dead,
    );
    let moved = bench.turn_with(0, &[dead]).moved;
    assert_eq!(moved.len(), 1);
    assert_eq!((moved[0].job, moved[0].event), (child, Event::Skip));
    assert_eq!(moved[0].title, "report");
    assert_eq!(moved[0].reason.as_deref(), Some("needs job 1, which is dead"));
    assert_eq!(bench.job(child).finished_at, Some(START));
}

fn a_skip_goes_on_to_the_children_of_the_skipped(bench: &mut Bench) {
    let first = bench.add(job());
    let second = bench.add(after(&[first]));
    let third = bench.add(after(&[second]));
    let cleanup = bench.add(child_of(third, Kind::AfterAny));
    bench.finish(first, State::Dead);
    bench.quiesce();
    assert_eq!(bench.states(&[second, third]), [State::Skipped; 2]);
    assert_eq!(bench.reason(third), "needs job 2, which is skipped");
    assert_eq!(bench.state(cleanup), State::Ready);
}

fn a_child_of_a_later_time_waits_for_its_time_too(bench: &mut Bench) {
    let parent = bench.add(job());
    let later = START.plus(std::time::Duration::from_mins(1));
    let child = bench.add(NewJob { scheduled_at: later, ..after(&[parent]) });
    bench.finish(parent, State::Success);
    bench.quiesce();
    assert_eq!(bench.state(child), State::Pending);
    bench.now = later;
    bench.quiesce();
    assert_eq!(bench.state(child), State::Ready);
}
