//! Keys: one unfinished job at most has a key, and parents can be named by it.

use ax_scheduler::job::{Added, IfExists, JobId, Kind, NewJob, ParentRef, State};
use ax_scheduler::store::{Error, Query, Revival};

use crate::store::bench::{Bench, ROOM, after, after_key, job, keyed};

promises![
    a_key_that_exists_answers_with_the_job_that_has_it,
    a_key_that_exists_is_refused_if_asked,
    a_waiting_job_makes_room_for_a_newer_one_if_asked,
    the_children_of_a_replaced_job_hear_of_it,
    a_claimed_job_is_not_replaced,
    a_held_job_still_has_its_key,
    an_ended_job_has_given_its_key_away,
    a_key_twice_in_a_batch_is_one_job,
    a_key_twice_in_a_batch_is_refused_if_asked,
    a_key_twice_in_a_batch_replaces_nothing,
    a_parent_is_found_by_key_before_and_behind_in_the_batch,
    the_batch_comes_before_the_store,
    an_unfinished_parent_comes_before_a_later_one_that_ended,
    the_latest_of_ended_parents_counts,
    an_unknown_key_of_a_parent_is_refused,
    a_key_like_sql_is_a_key,
];

fn with(if_exists: IfExists) -> NewJob {
    NewJob { if_exists, priority: 9, ..keyed("k") }
}

fn source(refused: ax_scheduler::store::Result<Vec<Added>>) -> (usize, Error) {
    match refused {
        Err(Error::InBatch { index, source }) => (index, *source),
        other => panic!("not refused in a batch: {other:?}"),
    }
}

fn a_key_that_exists_answers_with_the_job_that_has_it(bench: &mut Bench) {
    let first = bench.add(keyed("k"));
    let again = bench.try_add(&[with(IfExists::Skip)]).expect("an answer");
    assert_eq!(again, [Added { id: first, new: false }]);
    assert_eq!(bench.job(first).priority, 5);
    assert_eq!(bench.store.count(&Query::default()).expect("an answer"), 1);
}

fn a_key_that_exists_is_refused_if_asked(bench: &mut Bench) {
    let first = bench.add(keyed("k"));
    let (index, refusal) = source(bench.try_add(&[job(), with(IfExists::Error)]));
    assert_eq!(index, 1);
    assert!(matches!(refusal, Error::KeyExists { job, ref key } if job == first && key == "k"));
    assert_eq!(bench.store.count(&Query::default()).expect("an answer"), 1);
}

fn a_waiting_job_makes_room_for_a_newer_one_if_asked(bench: &mut Bench) {
    let first = bench.add(keyed("k"));
    let added = bench.try_add(&[with(IfExists::Replace)]).expect("an answer");
    assert_eq!(added, [Added { id: JobId(2), new: true }]);
    assert_eq!(bench.states(&[first, JobId(2)]), [State::Cancelled, State::Ready]);
    assert_eq!(bench.reason(first), "replaced by a newer job with its key");
}

fn the_children_of_a_replaced_job_hear_of_it(bench: &mut Bench) {
    let first = bench.add(keyed("k"));
    let child = bench.add(after(&[first]));
    bench.try_add(&[with(IfExists::Replace)]).expect("an answer");
    assert_eq!(bench.state(child), State::Skipped);
    assert_eq!(bench.reason(child), "needs job 1, which is cancelled");
}

fn a_claimed_job_is_not_replaced(bench: &mut Bench) {
    let first = bench.add(keyed("k"));
    bench.take(first);
    let (_, refusal) = source(bench.try_add(&[with(IfExists::Replace)]));
    assert!(matches!(refusal, Error::WrongState { state: State::Dispatched, .. }), "{refusal:?}");
    assert_eq!(bench.state(first), State::Dispatched);
}

fn a_held_job_still_has_its_key(bench: &mut Bench) {
    let first = bench.add(NewJob { hold: true, ..keyed("k") });
    let again = bench.try_add(&[with(IfExists::Skip)]).expect("an answer");
    assert_eq!(again[0].id, first);
}

fn an_ended_job_has_given_its_key_away(bench: &mut Bench) {
    for end in [State::Success, State::Dead, State::Cancelled] {
        let old = bench.add(keyed("k"));
        bench.finish(old, end);
        let new = bench.try_add(&[with(IfExists::Error)]).expect("the key is free")[0].id;
        assert!(new > old, "{end}");
        bench.finish(new, State::Success);
    }
}

fn a_key_twice_in_a_batch_is_one_job(bench: &mut Bench) {
    let added = bench.try_add(&[keyed("k"), job(), keyed("k")]).expect("an answer");
    let ids: Vec<_> = added.iter().map(|added| (added.id.0, added.new)).collect();
    assert_eq!(ids, [(1, true), (2, true), (1, false)]);
}

fn a_key_twice_in_a_batch_is_refused_if_asked(bench: &mut Bench) {
    let (index, refusal) = source(bench.try_add(&[keyed("k"), with(IfExists::Error)]));
    assert_eq!(index, 1);
    assert!(matches!(refusal, Error::KeyExists { job: JobId(1), .. }), "{refusal:?}");
}

fn a_key_twice_in_a_batch_replaces_nothing(bench: &mut Bench) {
    let (index, refusal) = source(bench.try_add(&[keyed("k"), with(IfExists::Replace)]));
    assert_eq!(index, 1);
    assert!(matches!(refusal, Error::KeyExists { .. }), "{refusal:?}");
}

fn a_parent_is_found_by_key_before_and_behind_in_the_batch(bench: &mut Bench) {
    let middle = NewJob {
        parents: vec![
            (ParentRef::Key("before".into()), Kind::After),
            (ParentRef::Key("behind".into()), Kind::AfterAny),
        ],
        ..job()
    };
    let ids = bench.add_all(&[keyed("before"), middle, keyed("behind")]);
    assert_eq!(bench.parents(ids[1]), [(ids[0], Kind::After), (ids[2], Kind::AfterAny)]);
    assert_eq!(bench.states(&ids), [State::Ready, State::Pending, State::Ready]);
    bench.finish(ids[0], State::Success);
    bench.finish(ids[2], State::Dead);
    bench.turn(0);
    assert_eq!(bench.state(ids[1]), State::Ready);
}

fn the_batch_comes_before_the_store(bench: &mut Bench) {
    let old = bench.add(keyed("k"));
    bench.finish(old, State::Dead);
    let ids = bench.add_all(&[after_key("k"), keyed("k")]);
    assert_eq!(bench.parents(ids[0]), [(ids[1], Kind::After)]);
}

fn an_unfinished_parent_comes_before_a_later_one_that_ended(bench: &mut Bench) {
    let revived = bench.add(keyed("k"));
    bench.finish(revived, State::Dead);
    let later = bench.add(keyed("k"));
    bench.finish(later, State::Success);
    let now = bench.now;
    bench.store.revive(&[revived], Revival::default(), now).expect("it comes back");
    let child = bench.add(after_key("k"));
    assert_eq!(bench.parents(child), [(revived, Kind::After)]);
}

fn the_latest_of_ended_parents_counts(bench: &mut Bench) {
    for end in [State::Dead, State::Success] {
        let id = bench.add(keyed("k"));
        bench.finish(id, end);
    }
    let child = bench.add(after_key("k"));
    assert_eq!(bench.parents(child), [(JobId(2), Kind::After)]);
    assert_eq!(bench.state(child), State::Ready);
}

fn an_unknown_key_of_a_parent_is_refused(bench: &mut Bench) {
    let (index, refusal) = source(bench.try_add(&[job(), after_key("nobody")]));
    assert_eq!(index, 1);
    assert!(matches!(refusal, Error::NoSuchKey(ref key) if key == "nobody"), "{refusal:?}");
    assert!(bench.turn(ROOM).claimed.is_empty());
}

fn a_key_like_sql_is_a_key(bench: &mut Bench) {
    let key = "'; DROP TABLE ax_jobs; --";
    let id = bench.add(keyed(key));
    assert_eq!(bench.job(id).key.as_deref(), Some(key));
    let again = bench.try_add(&[keyed(key)]).expect("an answer");
    assert_eq!(again, [Added { id, new: false }]);
}
