//! Jobs that are handed to a runner: one for each token, whoever adds it.

use ax_scheduler::job::{Added, IfExists, JobId, NewJob, RunnerId, State};
use ax_scheduler::store::{Error, Handed, Query, Token, Turn};

use crate::store::bench::{Bench, START, a_runner, after, job, keyed};

promises![
    a_turn_adds_what_was_handed_over_and_claims_it,
    a_turn_that_is_given_nothing_that_can_be_added_does_the_rest,
    a_job_is_added_once_for_each_token,
    whoever_asks_again_hears_the_same,
    one_that_cannot_be_added_keeps_no_other_out,
    one_that_cannot_be_added_leaves_nothing_behind,
    what_was_answered_is_forgotten,
    what_was_handed_to_a_runner_outlives_it,
    whoever_writes_is_seen,
    nothing_is_known_of_what_was_handed_to_a_runner_that_is_gone,
];

fn handed(bench: &Bench, token: i64, job: NewJob) -> Handed {
    Handed { token: Token(token), runner: bench.runner, pid: 7, job, now: bench.now }
}

fn add(bench: &mut Bench, handed: Handed) -> Added {
    let mut answers = bench.store.add_handed(&[handed], &[]).expect("an answer");
    assert_eq!(answers.len(), 1);
    answers.remove(0).expect("it is added")
}

fn count(bench: &mut Bench) -> u64 {
    bench.store.count(&Query::default()).expect("an answer")
}

fn a_turn_adds_what_was_handed_over_and_claims_it(bench: &mut Bench) {
    let three = [(10, job()), (11, after(&[JobId(99)])), (12, job())];
    let three = three.map(|(token, job)| handed(bench, token, job));
    let turn = Turn { handed: &three, ..bench.empty_turn(1) };
    let turned = bench.store.turn(&turn).expect("a turn");
    let added = |id| Some(Added { id: JobId(id), new: true });
    assert_eq!(turned.added, [added(1), None, added(2)]);
    let claimed: Vec<_> = turned.claimed.iter().map(|claimed| claimed.claim.job).collect();
    assert_eq!(claimed, [JobId(1)]);
    assert_eq!(bench.states(&[JobId(1), JobId(2)]), [State::Dispatched, State::Ready]);
    let again = bench.store.add_handed(&three[..1], &[]).expect("an answer");
    assert_eq!(again[0].as_ref().ok(), added(1).as_ref(), "a turn and a command know the same");
}

fn a_turn_that_is_given_nothing_that_can_be_added_does_the_rest(bench: &mut Bench) {
    let there = bench.add(job());
    let hopeless = [handed(bench, 1, after(&[JobId(99)]))];
    let turn = Turn { handed: &hopeless, ..bench.empty_turn(1) };
    let turned = bench.store.turn(&turn).expect("a turn");
    assert_eq!(turned.added, [None]);
    assert_eq!(turned.claimed[0].claim.job, there);
}

fn a_job_is_added_once_for_each_token(bench: &mut Bench) {
    let one = handed(bench, 7, job());
    let first = add(bench, one.clone());
    let mut other = bench.another();
    let again = other.add_handed(std::slice::from_ref(&one), &[]).expect("an answer");
    assert_eq!(again[0].as_ref().expect("it is there"), &first);
    let next = handed(bench, 8, job());
    assert_eq!(add(bench, next), Added { id: JobId(2), new: true });
    assert_eq!((first, count(bench)), (Added { id: JobId(1), new: true }, 2));
}

fn whoever_asks_again_hears_the_same(bench: &mut Bench) {
    let there = bench.add(keyed("k"));
    let one = handed(bench, -1, keyed("k"));
    let first = add(bench, one.clone());
    assert_eq!(first, Added { id: there, new: false });
    assert_eq!(add(bench, one), first);
}

fn one_that_cannot_be_added_keeps_no_other_out(bench: &mut Bench) {
    let three = [(10, job()), (11, after(&[JobId(99)])), (12, job())];
    let three = three.map(|(token, job)| handed(bench, token, job));
    let answers = bench.store.add_handed(&three, &[]).expect("an answer");
    let ids = [0, 2].map(|at| answers[at].as_ref().expect("it is added").id);
    assert_eq!(ids, [JobId(1), JobId(2)]);
    let refused = answers[1].as_ref().expect_err("it is refused");
    assert!(refused.to_string().contains("99"), "{refused}");
    assert_eq!(count(bench), 2);
}

fn one_that_cannot_be_added_leaves_nothing_behind(bench: &mut Bench) {
    let there = bench.add(keyed("k"));
    // It would have made room for itself before its parent is looked for.
    let instead =
        NewJob { key: Some("k".into()), if_exists: IfExists::Replace, ..after(&[JobId(99)]) };
    let one = handed(bench, 3, instead);
    let answers = bench.store.add_handed(std::slice::from_ref(&one), &[]).expect("an answer");
    assert!(matches!(answers[0], Err(Error::InBatch { .. })), "{answers:?}");
    assert_eq!((count(bench), bench.state(there)), (1, State::Ready));
    // Its token is as good as new.
    let later = Handed { job: job(), ..one };
    assert!(add(bench, later).new);
}

fn what_was_answered_is_forgotten(bench: &mut Bench) {
    let [one, two] = [1, 2].map(|token| handed(bench, token, job()));
    add(bench, one.clone());
    add(bench, two.clone());
    assert!(bench.store.add_handed(&[], &[one.token]).expect("an answer").is_empty());
    assert_eq!([add(bench, one).id, add(bench, two).id], [JobId(3), JobId(2)]);
}

fn what_was_handed_to_a_runner_outlives_it(bench: &mut Bench) {
    let second = bench.store.enlist(&a_runner(), START).expect("a runner");
    let one = handed(bench, 1, job());
    let to_second = Handed { runner: second, pid: 8, ..handed(bench, 2, job()) };
    add(bench, one.clone());
    add(bench, to_second.clone());
    assert_eq!(bench.store.left_handed().expect("an answer"), []);
    assert!(bench.store.discharge(second).expect("an answer"));
    assert_eq!(bench.store.left_handed().expect("an answer"), [(Token(2), 8)]);
    assert_eq!([add(bench, one).id, add(bench, to_second).id], [JobId(1), JobId(2)]);
    bench.store.add_handed(&[], &[Token(2)]).expect("an answer");
    assert_eq!(bench.store.left_handed().expect("an answer"), []);
}

fn whoever_writes_is_seen(bench: &mut Bench) {
    assert!(!bench.store.is_being_written().expect("an answer"));
    let shell = rusqlite::Connection::open(bench.path()).expect("opened");
    shell.execute_batch("BEGIN IMMEDIATE").expect("begun");
    assert!(bench.store.is_being_written().expect("an answer"));
    shell.execute_batch("COMMIT").expect("ended");
    assert!(!bench.store.is_being_written().expect("an answer"));
    bench.add(job());
}

fn nothing_is_known_of_what_was_handed_to_a_runner_that_is_gone(bench: &mut Bench) {
    let one = Handed { runner: RunnerId(99), ..handed(bench, 1, job()) };
    assert_eq!([add(bench, one.clone()).id, add(bench, one).id], [JobId(1), JobId(2)]);
}
