//! Chains: when one of its jobs is dead, the whole chain starts again, as long
//! as it has tries left.

use std::time::Duration;

use ax_scheduler::job::{
    Chain, ChainRetry, Event, JobId, Kind, NewJob, Outcome, ParentRef, State, Verdict,
};
use ax_scheduler::store::{Moved, Resolution};

use crate::store::bench::{Bench, ROOM, after, named};

promises![
    a_chain_starts_again_from_its_first_job_when_one_is_dead,
    a_chain_without_tries_goes_on_as_its_dependencies_say,
    what_runs_on_a_failure_runs_once_no_tries_are_left,
    what_runs_on_a_failure_is_skipped_when_a_later_try_succeeds,
    a_chain_waits_for_those_of_its_jobs_that_run,
    what_is_left_of_a_halted_chain_does_not_start,
    the_tries_of_one_run_are_not_those_of_another,
    what_a_person_calls_dead_starts_the_chain_again,
    what_a_person_cancelled_stays_so_when_the_chain_starts_again,
    what_was_skipped_because_of_a_chain_comes_back_with_it,
    a_chain_that_waits_to_start_again_is_not_idle,
    a_halted_chain_is_no_fault,
];

const DELAY: Duration = Duration::from_mins(5);

fn child(name: &str, parents: &[(usize, Kind)]) -> NewJob {
    let parents = parents.iter().map(|(place, kind)| (ParentRef::InBatch(*place), *kind));
    NewJob { parents: parents.collect(), max_retries: 0, ..named(name) }
}

/// fetch (1), clean (2) after it, alert (3) on the failure of either.
fn nightly(max: u32) -> Chain {
    let jobs = vec![
        child("fetch", &[]),
        child("clean", &[(0, Kind::After)]),
        child("alert", &[(0, Kind::OnFailure), (1, Kind::OnFailure)]),
    ];
    Chain {
        flow: Some("nightly".into()),
        jobs,
        retry: ChainRetry { max, delay: DELAY },
        ..Chain::default()
    }
}

/// load (1) and scan (2) side by side, join (3) after both.
fn branches() -> Chain {
    let both = [(0, Kind::After), (1, Kind::After)];
    let jobs = vec![child("load", &[]), child("scan", &[]), child("join", &both)];
    Chain {
        flow: Some("f".into()),
        jobs,
        retry: ChainRetry { max: 1, delay: DELAY },
        ..Chain::default()
    }
}

impl Bench {
    fn enqueue(&mut self, chain: &Chain) -> Vec<JobId> {
        let added = self.store.enqueue(chain, self.now).expect("added").added;
        added.iter().map(|added| added.id).collect()
    }

    fn states_of(&mut self, ids: &[i64]) -> Vec<State> {
        self.states(&ids.iter().copied().map(JobId).collect::<Vec<_>>())
    }

    /// Lets a job die; tells what the turn told.
    fn die(&mut self, id: i64) -> Vec<String> {
        let claim = self.take(JobId(id)).claim;
        let settlement = self.settlement(claim, Outcome::Exited(1), Verdict::Dead);
        let mut told = self.turn_with(0, &[settlement]).moved;
        told.retain(|moved| moved.event == Event::Revive);
        let text = |moved: &Moved| {
            format!("{} {}", moved.job, moved.reason.as_deref().unwrap_or_default())
        };
        told.iter().map(text).collect()
    }
}

use State::{Cancelled, Dead, Held, Pending, Ready, Running, Skipped, Success};

fn a_chain_starts_again_from_its_first_job_when_one_is_dead(bench: &mut Bench) {
    bench.enqueue(&nightly(2));
    bench.finish(JobId(1), Success);
    let told = bench.die(2);
    assert_eq!(told, ["2 the whole chain starts again, retry 1 of 2"]);
    assert_eq!(bench.states_of(&[1, 2, 3]), [Pending; 3]);
    assert!(bench.turn(ROOM).claimed.is_empty(), "not before its delay");
    bench.pass(DELAY);
    bench.finish(JobId(1), Success);
    bench.finish(JobId(2), Success);
    bench.quiesce();
    assert_eq!(bench.states_of(&[1, 2, 3]), [Success, Success, Skipped]);
    assert_eq!(bench.job(JobId(1)).attempts, 2);
}

fn a_chain_without_tries_goes_on_as_its_dependencies_say(bench: &mut Bench) {
    bench.enqueue(&nightly(0));
    bench.finish(JobId(1), Dead);
    assert_eq!(bench.states_of(&[1, 2, 3]), [Dead, Skipped, Ready]);
}

fn what_runs_on_a_failure_runs_once_no_tries_are_left(bench: &mut Bench) {
    bench.enqueue(&nightly(2));
    for _ in 0..2 {
        bench.die(1);
        assert_eq!(bench.states_of(&[1, 2, 3]), [Pending; 3]);
        bench.pass(DELAY);
    }
    bench.finish(JobId(1), Dead);
    assert_eq!(bench.states_of(&[1, 2, 3]), [Dead, Skipped, Ready]);
    assert_eq!(bench.job(JobId(1)).attempts, 3);
}

fn what_runs_on_a_failure_is_skipped_when_a_later_try_succeeds(bench: &mut Bench) {
    bench.enqueue(&nightly(1));
    bench.die(1);
    bench.pass(DELAY);
    bench.finish(JobId(1), Success);
    bench.finish(JobId(2), Success);
    bench.quiesce();
    assert_eq!(bench.state(JobId(3)), Skipped);
}

fn a_chain_waits_for_those_of_its_jobs_that_run(bench: &mut Bench) {
    bench.enqueue(&branches());
    bench.start(JobId(2));
    assert!(bench.die(1).is_empty(), "scan still runs");
    assert_eq!(bench.states_of(&[1, 2, 3]), [Dead, Running, Pending]);
    bench.pass(DELAY);
    bench.turn(ROOM);
    bench.end(JobId(2), Outcome::Exited(0));
    assert_eq!(bench.states_of(&[1, 2, 3]), [Pending; 3], "scan runs again, too");
    bench.pass(DELAY);
    for id in 1..=3 {
        bench.finish(JobId(id), Success);
    }
}

fn what_is_left_of_a_halted_chain_does_not_start(bench: &mut Bench) {
    let jobs = ["a", "b", "c"].map(|name| child(name, &[])).to_vec();
    bench.enqueue(&Chain { jobs, ..branches() });
    bench.turn(2);
    assert_eq!(bench.state(JobId(3)), Ready);
    bench.die(1);
    assert!(bench.turn(ROOM).claimed.is_empty());
    assert_eq!(bench.state(JobId(3)), Pending);
    bench.end(JobId(2), Outcome::Exited(0));
    bench.pass(DELAY);
    assert_eq!(bench.turn(ROOM).claimed.len(), 3);
}

fn the_tries_of_one_run_are_not_those_of_another(bench: &mut Bench) {
    bench.enqueue(&nightly(1));
    bench.enqueue(&nightly(1));
    bench.die(1);
    assert_eq!(bench.die(4), ["4 the whole chain starts again, retry 1 of 1"]);
}

fn what_a_person_calls_dead_starts_the_chain_again(bench: &mut Bench) {
    bench.enqueue(&nightly(1));
    bench.finish(JobId(1), Held);
    bench.store.resolve(&[JobId(1)], Resolution::Failed, bench.now).expect("resolved");
    assert_eq!(bench.states_of(&[1, 2, 3]), [Dead, Pending, Pending], "nothing knows of it yet");
    bench.turn(0);
    assert_eq!(bench.states_of(&[1, 2, 3]), [Pending; 3]);
}

fn what_a_person_cancelled_stays_so_when_the_chain_starts_again(bench: &mut Bench) {
    bench.enqueue(&branches());
    bench.finish(JobId(2), Cancelled);
    bench.die(1);
    bench.quiesce();
    assert_eq!(bench.states_of(&[1, 2, 3]), [Pending, Cancelled, Skipped]);
}

fn what_was_skipped_because_of_a_chain_comes_back_with_it(bench: &mut Bench) {
    bench.enqueue(&branches());
    let outside = bench.add(after(&[JobId(1)]));
    bench.start(JobId(2));
    bench.die(1);
    assert_eq!(bench.state(outside), Skipped);
    bench.end(JobId(2), Outcome::Exited(0));
    bench.quiesce();
    assert_eq!(bench.state(outside), Pending);
}

fn a_chain_that_waits_to_start_again_is_not_idle(bench: &mut Bench) {
    let run = bench.store.enqueue(&nightly(1), bench.now).expect("added").run;
    bench.die(1);
    assert_eq!(bench.store.outlook(Some(run)).expect("an answer").scheduled, 1);
    assert_eq!(bench.turn(0).next_due, Some(bench.now.plus(DELAY)));
}

fn a_halted_chain_is_no_fault(bench: &mut Bench) {
    bench.enqueue(&branches());
    bench.start(JobId(2));
    bench.die(1);
    bench.turn(ROOM);
    assert_eq!(bench.store.check(bench.now).expect("an answer"), []);
    assert!(!bench.turn(ROOM).more, "there is nothing to do but to wait");
}
