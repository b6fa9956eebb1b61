//! What is deleted when it ended long ago, and what is kept.

use std::time::Duration;

use ax_scheduler::job::{
    Captured, Chain, ChainRetry, EnvBlock, JobId, Kind, NewJob, Outcome, ParentRef, Settlement,
    State, Timestamp, Verdict,
};
use ax_scheduler::store::{Prune, Pruned, Revival};

use crate::store::bench::{Bench, ROOM, START, after, child_of, job};
use crate::store::by_hand::shell;

promises![
    what_ended_before_goes_with_all_that_belongs_to_it,
    what_ended_later_or_has_not_ended_stays,
    a_parent_of_an_unfinished_job_stays,
    a_parent_stays_with_a_child_that_was_skipped,
    a_chain_that_has_ended_goes_as_a_whole,
    what_a_chain_would_start_again_stays,
    an_id_is_never_given_twice,
    output_in_files_is_told_of,
    a_dry_run_tells_and_deletes_nothing,
    many_jobs_go_in_batches,
    a_parent_of_many_goes_in_small_batches,
    an_environment_goes_with_its_last_job,
];

/// Prunes batch after batch; tells what each did.
fn prune(bench: &mut Bench, before: Timestamp, dry_run: bool) -> Vec<Pruned> {
    let mut how = Prune { before, after: None, dry_run };
    let mut all = Vec::new();
    loop {
        let pruned = bench.store.prune(&how).expect("an answer");
        how.after = pruned.next;
        let is_last = pruned.next.is_none();
        all.push(pruned);
        if is_last {
            return all;
        }
    }
}

fn gone(bench: &mut Bench) -> Vec<JobId> {
    let now = bench.now;
    let mut ids: Vec<_> = prune(bench, now, false)
        .into_iter()
        .flat_map(|pruned| pruned.removed.into_iter().map(|(job, _)| job))
        .collect();
    ids.sort_unstable();
    ids
}

fn what_a_chain_would_start_again_stays(bench: &mut Bench) {
    let after = |place| NewJob { parents: vec![(ParentRef::InBatch(place), Kind::After)], ..job() };
    let chain = Chain {
        flow: Some("nightly".to_owned()),
        jobs: vec![job(), after(0), after(1)],
        retry: ChainRetry { max: 1, delay: Duration::ZERO },
        on_end: None,
    };
    let added = bench.store.enqueue(&chain, START).expect("added").added;
    for first in &added[..2] {
        bench.finish(first.id, State::Success);
    }
    assert_eq!(gone(bench), []);
    bench.finish(added[2].id, State::Success);
    assert_eq!(gone(bench), [JobId(1), JobId(2), JobId(3)]);
}

fn is_there(bench: &mut Bench, id: JobId) -> bool {
    bench.store.get(id).expect("an answer").is_some()
}

fn what_ended_before_goes_with_all_that_belongs_to_it(bench: &mut Bench) {
    let id = bench.add(job());
    bench.finish(id, State::Success);
    let pruned = prune(bench, START, false);
    assert_eq!(pruned[0].removed, [(id, State::Success)]);
    assert!(!is_there(bench, id));
    assert!(bench.attempts(id).is_empty());
    assert_eq!(bench.store.check(START).expect("an answer"), []);
}

fn what_ended_later_or_has_not_ended_stays(bench: &mut Bench) {
    let ids = bench.add_all(&[job(), job(), job(), job()]);
    bench.finish(ids[0], State::Held);
    bench.finish(ids[1], State::Failed);
    bench.start(ids[2]);
    let late = ids[3];
    bench.take(late);
    bench.pass(Duration::from_millis(1));
    bench.finish(late, State::Success);
    assert!(prune(bench, START, false)[0].removed.is_empty());
    assert_eq!(gone(bench), [late]);
}

fn a_parent_of_an_unfinished_job_stays(bench: &mut Bench) {
    let parents = bench.add_all(&[job(), job(), job()]);
    bench.finish(parents[0], State::Success);
    bench.finish(parents[1], State::Dead);
    bench.add(after(&[parents[0], parents[2]]));
    let other = bench.add(child_of(parents[1], Kind::AfterAny));
    bench.finish(other, State::Success);
    let grandchild = bench.add(after(&[other]));
    assert_eq!(gone(bench), [parents[1]]);
    bench.finish(grandchild, State::Success);
    assert_eq!(gone(bench), [other, grandchild]);
    assert!(is_there(bench, parents[0]));
}

fn a_parent_stays_with_a_child_that_was_skipped(bench: &mut Bench) {
    let parent = bench.add(job());
    bench.finish(parent, State::Dead);
    bench.pass(Duration::from_secs(1));
    let child = bench.add(after(&[parent]));
    assert_eq!(bench.state(child), State::Skipped);
    assert!(prune(bench, START, false)[0].removed.is_empty());
    bench.store.revive(&[parent], Revival::default(), START).expect("both come back");
    assert_eq!(bench.state(child), State::Pending);
}

fn a_chain_that_has_ended_goes_as_a_whole(bench: &mut Bench) {
    let first = bench.add(job());
    let rest: Vec<_> = (0..5).map(|at| bench.add(after(&[JobId(first.0 + at)]))).collect();
    bench.finish(first, State::Dead);
    bench.quiesce();
    assert_eq!(bench.state(rest[4]), State::Skipped);
    assert_eq!(gone(bench).len(), 6);
    assert_eq!(bench.store.check(START).expect("an answer"), []);
}

fn an_id_is_never_given_twice(bench: &mut Bench) {
    let last = *bench.add_all(&[job(), job()]).last().expect("two");
    for id in [JobId(1), last] {
        bench.finish(id, State::Success);
    }
    assert_eq!(gone(bench).len(), 2);
    assert!(bench.add(job()) > last);
}

fn output_in_files_is_told_of(bench: &mut Bench) {
    let id = bench.add(job());
    let claim = bench.take(id).claim;
    let output = Captured { in_file: true, written: 99_999, ..Captured::default() };
    let long =
        Settlement { output, ..bench.settlement(claim, Outcome::Exited(0), Verdict::Success) };
    bench.turn_with(0, &[long]);
    assert!(prune(bench, START, true)[0].files.is_empty());
    assert_eq!(prune(bench, START, false)[0].files, [(id, 1)]);
}

fn a_dry_run_tells_and_deletes_nothing(bench: &mut Bench) {
    let id = bench.add(job());
    bench.finish(id, State::Dead);
    assert_eq!(prune(bench, START, true)[0].removed, [(id, State::Dead)]);
    assert!(is_there(bench, id));
}

fn many_jobs_go_in_batches(bench: &mut Bench) {
    let kept = bench.add(job());
    bench.finish(kept, State::Success);
    bench.add(child_of(kept, Kind::AfterAny));
    let parent = bench.add(job());
    bench.finish(parent, State::Dead);
    bench.add_all(&vec![after(&[parent]); 1_200]);
    let pruned = prune(bench, START, false);
    assert!(pruned.iter().all(|batch| batch.removed.len() <= 250));
    assert_eq!(pruned.iter().map(|batch| batch.removed.len()).sum::<usize>(), 1_201);
    assert!(is_there(bench, kept));
}

fn a_parent_of_many_goes_in_small_batches(bench: &mut Bench) {
    let parents = bench.add_all(&vec![job(); 100]);
    bench.turn(ROOM);
    for parent in &parents {
        bench.finish(*parent, State::Dead);
    }
    bench.add_all(&vec![after(&parents); 200]);
    let pruned = prune(bench, START, false);
    assert!(pruned[0].removed.len() < 100, "{}", pruned[0].removed.len());
    assert_eq!(pruned.iter().map(|batch| batch.removed.len()).sum::<usize>(), 300);
}

fn an_environment_goes_with_its_last_job(bench: &mut Bench) {
    let env = std::sync::Arc::new(EnvBlock::from_entries([b"SECRET=1".as_slice()]));
    let ids = bench.add_all(&[job(), NewJob { env, ..job() }]);
    bench.finish(ids[1], State::Success);
    assert_eq!(gone(bench), [ids[1]]);
    let env = bench.store.environment(ids[0]).expect("an answer").expect("it stays");
    assert_eq!(env.get("PATH"), Some(&b"/bin"[..]));
    let count = "SELECT count(*) FROM ax_envs";
    let left = shell(bench).query_row(count, [], |row| row.get::<_, i64>(0));
    assert_eq!(left, Ok(1));
}
