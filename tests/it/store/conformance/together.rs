//! Several handles at once.

use std::collections::HashSet;
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::Duration;

use ax_scheduler::job::{Captured, Claimed, NewJob, Outcome, Settlement, Verdict};
use ax_scheduler::store::{Query, Turn};

use crate::store::bench::{Bench, START, a_runner, job, keyed, process};

promises![
    four_runners_claim_two_thousand_jobs_each_attempt_once,
    many_adds_with_one_key_make_one_job,
    many_adds_at_once_all_get_ids_of_their_own,
    one_of_two_releases_wins,
    what_others_write_is_noticed_once,
    a_turn_that_finds_nothing_to_do_is_quiet_until_something_is_due,
];

fn fail_once(claimed: &Claimed) -> Settlement {
    let (outcome, verdict) = if claimed.claim.attempt == 1 {
        (Outcome::Exited(1), Verdict::Retry(START))
    } else {
        (Outcome::Exited(0), Verdict::Success)
    };
    Settlement {
        claim: claimed.claim,
        outcome,
        verdict,
        process: Some(process(START)),
        ended_at: START,
        output: Captured::default(),
    }
}

fn what_others_write_is_noticed_once(bench: &mut Bench) {
    let mut other = bench.another();
    other.has_changed().expect("an answer");
    assert!(!other.has_changed().expect("an answer"), "nobody has written since");
    bench.add(job());
    assert!(other.has_changed().expect("an answer"));
    assert!(!other.has_changed().expect("an answer"), "it was told of before");
    other.add(&[job()], START).expect("added");
    assert!(!other.has_changed().expect("an answer"), "it has written that itself");
    other.list(&Query::default()).expect("read");
    bench.add(job());
    other.list(&Query::default()).expect("read");
    assert!(other.has_changed().expect("an answer"), "also if it was read meanwhile");
}

fn a_turn_that_finds_nothing_to_do_is_quiet_until_something_is_due(bench: &mut Bench) {
    let wait = Duration::from_secs(5);
    let soon = bench.now.plus(wait);
    bench.add(NewJob { scheduled_at: soon, ..job() });
    let turned = bench.turn(1);
    assert_eq!((turned.quiet, turned.next_due), (true, Some(soon)));
    bench.pass(wait);
    let turned = bench.turn(1);
    assert_eq!((turned.quiet, turned.claimed.len()), (false, 1));
}

fn four_runners_claim_two_thousand_jobs_each_attempt_once(bench: &mut Bench) {
    bench.add_all(&vec![job(); 2_000]);
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..4 {
            let (mut store, tell) = (bench.another(), tell.clone());
            let turn = bench.empty_turn(16);
            scope.spawn(move || {
                let runner = store.enlist(&a_runner(), START).expect("a runner");
                let mut settled = Vec::new();
                loop {
                    let turn = Turn { runner, settled: &settled, ..turn };
                    let turned = store.turn(&turn).expect("a turn");
                    assert!(turned.late.is_empty());
                    if turned.claimed.is_empty() && !turned.more && settled.is_empty() {
                        break;
                    }
                    settled = turned.claimed.iter().map(fail_once).collect();
                    for claimed in turned.claimed {
                        tell.send((claimed.claim.job, claimed.claim.attempt)).expect("a listener");
                    }
                }
            });
        }
    });
    drop(tell);
    let claims: Vec<_> = told.into_iter().collect();
    assert_eq!(claims.len(), 4_000);
    assert_eq!(claims.iter().collect::<HashSet<_>>().len(), 4_000);
}

fn many_adds_with_one_key_make_one_job(bench: &mut Bench) {
    let start = Barrier::new(8);
    let added = thread::scope(|scope| {
        let adds: Vec<_> = (0..8)
            .map(|_| {
                let (mut store, start) = (bench.another(), &start);
                scope.spawn(move || {
                    start.wait();
                    store.add(&[keyed("k")], START).expect("an answer")[0]
                })
            })
            .collect();
        adds.into_iter().map(|add| add.join().expect("no panic")).collect::<Vec<_>>()
    });
    assert_eq!(added.iter().filter(|added| added.new).count(), 1);
    assert!(added.iter().all(|one| one.id == added[0].id));
    assert_eq!(bench.store.count(&Query::default()).expect("an answer"), 1);
}

fn many_adds_at_once_all_get_ids_of_their_own(bench: &mut Bench) {
    let ids = thread::scope(|scope| {
        let adds: Vec<_> = (0..4)
            .map(|_| {
                let mut store = bench.another();
                scope.spawn(move || {
                    let add = |_| store.add(&[job(), job()], START).expect("an answer");
                    (0..25).flat_map(add).map(|added| added.id).collect::<Vec<_>>()
                })
            })
            .collect();
        adds.into_iter().flat_map(|add| add.join().expect("no panic")).collect::<HashSet<_>>()
    });
    assert_eq!(ids.len(), 200);
}

fn one_of_two_releases_wins(bench: &mut Bench) {
    let id = bench.add(ax_scheduler::job::NewJob { hold: true, ..job() });
    let start = Barrier::new(2);
    let won = thread::scope(|scope| {
        let both: Vec<_> = (0..2)
            .map(|_| {
                let (mut store, start) = (bench.another(), &start);
                scope.spawn(move || {
                    start.wait();
                    store.release(&[id], START).is_ok()
                })
            })
            .collect();
        both.into_iter().map(|one| one.join().expect("no panic")).collect::<Vec<_>>()
    });
    assert_eq!(won.iter().filter(|won| **won).count(), 1);
}
