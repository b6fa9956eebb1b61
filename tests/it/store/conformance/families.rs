//! Large families: nothing overflows, nobody else waits, joins are cheap.

use ax_scheduler::job::{JobId, Kind, NewJob, Outcome, ParentRef, State, Verdict};
use ax_scheduler::store::Query;

use crate::store::bench::{Bench, ROOM, after, after_key, child_of, job, keyed};

promises![
    a_chain_of_10_000_is_skipped_to_its_end,
    a_parent_of_100_000_ends_and_another_job_is_claimed_at_once,
    ten_thousand_blocked_jobs_of_top_priority_do_not_delay_one_that_can_run,
    every_child_of_a_large_family_runs,
];

fn chain(length: usize) -> Vec<NewJob> {
    (0..length)
        .map(|at| NewJob {
            key: Some(format!("k{at}")),
            ..after_key(&format!("k{}", at.max(1) - 1))
        })
        .skip(1)
        .collect()
}

fn count(bench: &mut Bench, state: State) -> u64 {
    let query = Query { states: vec![state], ..Query::default() };
    bench.store.count(&query).expect("an answer")
}

fn a_chain_of_10_000_is_skipped_to_its_end(bench: &mut Bench) {
    let first = bench.add(keyed("k0"));
    let ids = bench.add_all(&chain(10_000));
    bench.finish(first, State::Dead);
    bench.quiesce();
    assert_eq!(count(bench, State::Skipped), 9_999);
    let last = *ids.last().expect("a long chain");
    assert_eq!(bench.reason(last), format!("needs job {}, which is skipped", last.0 - 1));
}

fn a_parent_of_100_000_ends_and_another_job_is_claimed_at_once(bench: &mut Bench) {
    let parent = bench.add(job());
    let claim = bench.take(parent).claim;
    bench.add_all(&vec![after(&[parent]); 100_000]);
    let other = bench.add(job());
    let dead = bench.settlement(claim, Outcome::Exited(1), Verdict::Dead);
    let first = bench.turn_with(1, &[dead]);
    assert_eq!(first.claimed.iter().map(|it| it.claim.job).collect::<Vec<_>>(), [other]);
    assert!(first.more, "a family this large takes several turns");
    assert!(first.moved.len() < 100_000);
    bench.quiesce();
    assert_eq!(count(bench, State::Skipped), 100_000);
}

fn ten_thousand_blocked_jobs_of_top_priority_do_not_delay_one_that_can_run(bench: &mut Bench) {
    let parent = bench.add(job());
    bench.take(parent);
    bench.add_all(&vec![NewJob { priority: i64::MAX, ..after(&[parent]) }; 10_000]);
    let other = bench.add(NewJob { priority: i64::MIN, ..job() });
    let claimed = bench.turn(ROOM).claimed;
    assert_eq!(claimed.iter().map(|it| it.claim.job).collect::<Vec<_>>(), [other]);
}

fn every_child_of_a_large_family_runs(bench: &mut Bench) {
    let parent = bench.add(job());
    let children = bench.add_all(&vec![child_of(parent, Kind::AfterAny); 6_000]);
    let join = NewJob {
        parents: children.iter().map(|id| (ParentRef::Id(*id), Kind::After)).collect(),
        ..job()
    };
    let join = bench.add(join);
    bench.finish(parent, State::Dead);
    let mut run: Vec<JobId> = Vec::new();
    loop {
        let turned = bench.turn(1_000);
        let ends: Vec<_> = turned
            .claimed
            .iter()
            .map(|it| bench.settlement(it.claim, Outcome::Exited(0), Verdict::Success))
            .collect();
        run.extend(turned.claimed.iter().map(|it| it.claim.job));
        if ends.is_empty() && !turned.more {
            break;
        }
        bench.turn_with(0, &ends);
    }
    assert_eq!(run.len(), 6_001);
    assert_eq!(run.last(), Some(&join));
}
