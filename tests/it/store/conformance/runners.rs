//! Runners: entered, told, struck out when they own nothing.

use ax_scheduler::job::{RunnerId, State};

use crate::store::bench::{Bench, START, a_runner, job};

promises![
    a_runner_is_entered_with_what_it_said,
    a_runner_number_is_never_used_twice,
    a_runner_that_owns_something_is_not_struck_out,
    a_runner_that_owns_nothing_is_struck_out_once,
];

fn a_runner_is_entered_with_what_it_said(bench: &mut Bench) {
    let runners = bench.store.runners().expect("an answer");
    assert_eq!(runners.len(), 1);
    let wanted = a_runner();
    assert_eq!((runners[0].id, runners[0].pid), (bench.runner, wanted.pid));
    assert_eq!((&runners[0].boot_id, runners[0].workers), (&wanted.boot_id, wanted.workers));
    assert_eq!(runners[0].started_at, START);
}

fn a_runner_number_is_never_used_twice(bench: &mut Bench) {
    let second = bench.store.enlist(&a_runner(), START).expect("a runner");
    assert!(bench.store.discharge(second).expect("an answer"));
    let third = bench.store.enlist(&a_runner(), START).expect("a runner");
    assert!(third > second);
}

fn a_runner_that_owns_something_is_not_struck_out(bench: &mut Bench) {
    let ids = bench.add_all(&[job(), job()]);
    bench.take(ids[0]);
    bench.start(ids[1]);
    let runner = bench.runner;
    assert!(!bench.store.discharge(runner).expect("an answer"));
    bench.finish(ids[0], State::Success);
    assert!(!bench.store.discharge(runner).expect("an answer"));
    assert_eq!(bench.store.runners().expect("an answer").len(), 1);
}

fn a_runner_that_owns_nothing_is_struck_out_once(bench: &mut Bench) {
    let id = bench.add(job());
    bench.finish(id, State::Failed);
    let runner = bench.runner;
    assert!(bench.store.discharge(runner).expect("an answer"));
    assert!(!bench.store.discharge(runner).expect("an answer"));
    assert!(!bench.store.discharge(RunnerId(99)).expect("an answer"));
    assert!(bench.store.runners().expect("an answer").is_empty());
}
