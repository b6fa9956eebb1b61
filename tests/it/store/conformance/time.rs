//! Time: what is due becomes ready, the next time is told, and a turn without
//! news writes nothing.

use std::time::Duration;

use ax_scheduler::job::{NewJob, Outcome, State, Timestamp};
use ax_scheduler::store::{Revival, Turn};

use crate::store::bench::{Bench, ROOM, START, after, job};

promises![
    a_job_becomes_ready_at_its_time_and_not_before,
    a_retry_becomes_ready_at_its_time_and_not_before,
    a_row_of_the_year_9999_holds_up_nobody,
    the_next_time_is_the_earliest_ahead,
    the_next_time_of_a_scope_is_its_own,
    what_waits_for_parents_has_no_next_time,
    more_than_one_turn_can_release_is_released_in_several,
    a_clock_that_steps_back_starts_nothing_twice,
    a_clock_that_steps_back_leaves_ready_what_was_ready,
    what_was_due_when_it_was_added_stays_due_however_far_the_clock_steps_back,
    what_a_person_brings_back_is_due_however_far_the_clock_steps_back,
    a_retry_never_waits_longer_than_it_was_to_wait,
    a_retry_that_was_held_and_let_go_never_waits_longer_than_it_was_to_wait,
    a_time_that_was_asked_for_is_waited_for_by_the_clock,
];

const MINUTE: Duration = Duration::from_mins(1);

fn at(scheduled_at: Timestamp) -> NewJob {
    NewJob { scheduled_at, ..job() }
}

fn a_job_becomes_ready_at_its_time_and_not_before(bench: &mut Bench) {
    let id = bench.add(at(START.plus(MINUTE)));
    bench.now = Timestamp::from_millis(START.plus(MINUTE).millis() - 1);
    bench.quiesce();
    assert_eq!(bench.state(id), State::Pending);
    bench.now = START.plus(MINUTE);
    bench.quiesce();
    assert_eq!(bench.state(id), State::Ready);
}

fn a_retry_becomes_ready_at_its_time_and_not_before(bench: &mut Bench) {
    let id = bench.add(job());
    bench.end(id, Outcome::Exited(1));
    bench.pass(Duration::from_millis(4_999));
    assert!(bench.turn(ROOM).claimed.is_empty());
    bench.pass(Duration::from_millis(1));
    assert_eq!(bench.turn(ROOM).claimed.len(), 1);
}

fn a_row_of_the_year_9999_holds_up_nobody(bench: &mut Bench) {
    let far = bench.add(NewJob { priority: 99, ..at(Timestamp::MAX) });
    let near = bench.add(at(START.plus(MINUTE)));
    let turned = bench.turn(ROOM);
    assert_eq!(turned.next_due, Some(START.plus(MINUTE)));
    bench.pass(MINUTE);
    let turned = bench.turn(ROOM);
    assert_eq!(turned.claimed[0].claim.job, near);
    assert_eq!(turned.next_due, Some(Timestamp::MAX));
    assert!(!turned.more);
    assert_eq!(bench.state(far), State::Pending);
}

fn the_next_time_is_the_earliest_ahead(bench: &mut Bench) {
    assert_eq!(bench.turn(ROOM).next_due, None);
    let failed = bench.add(job());
    bench.add_all(&[at(START.plus(MINUTE * 3)), at(START.plus(MINUTE * 2))]);
    assert_eq!(bench.turn(ROOM).next_due, Some(START.plus(MINUTE * 2)));
    bench.end(failed, Outcome::Exited(1));
    assert_eq!(bench.turn(0).next_due, Some(START.plus(Duration::from_secs(5))));
}

fn the_next_time_of_a_scope_is_its_own(bench: &mut Bench) {
    let run = bench.new_run();
    let scoped = NewJob { run: Some(run), ..at(START.plus(MINUTE * 9)) };
    bench.add_all(&[at(START.plus(MINUTE)), scoped]);
    let turn = Turn { scope: Some(run), ..bench.empty_turn(ROOM) };
    assert_eq!(bench.store.turn(&turn).expect("a turn").next_due, Some(START.plus(MINUTE * 9)));
}

fn what_waits_for_parents_has_no_next_time(bench: &mut Bench) {
    let parent = bench.add(job());
    bench.add(after(&[parent]));
    bench.take(parent);
    assert_eq!(bench.turn(ROOM).next_due, None);
}

fn more_than_one_turn_can_release_is_released_in_several(bench: &mut Bench) {
    bench.add_all(&vec![at(START.plus(MINUTE)); 5_000]);
    bench.pass(MINUTE);
    let first = bench.turn(0);
    assert!(first.more);
    bench.quiesce();
    assert_eq!(bench.turn(ROOM).claimed.len(), 5_000);
}

fn a_clock_that_steps_back_starts_nothing_twice(bench: &mut Bench) {
    let id = bench.add(job());
    let claim = bench.take(id).claim;
    bench.now = Timestamp::from_millis(0);
    assert!(bench.turn(ROOM).claimed.is_empty());
    bench.now = START.plus(MINUTE * 120);
    assert!(bench.turn(ROOM).claimed.is_empty());
    assert_eq!(bench.take(id).claim, claim);
}

fn a_clock_that_steps_back_leaves_ready_what_was_ready(bench: &mut Bench) {
    let id = bench.add(job());
    bench.now = Timestamp::from_millis(0);
    assert_eq!(bench.turn(ROOM).claimed[0].claim.job, id);
}

/// 1970, and two hours before the start.
const BACK: [Timestamp; 2] =
    [Timestamp::from_millis(0), Timestamp::from_millis(START.millis() - 7_200_000)];

fn what_was_due_when_it_was_added_stays_due_however_far_the_clock_steps_back(bench: &mut Bench) {
    for back in BACK {
        bench.now = START;
        let parent = bench.add(job());
        let held = bench.add(NewJob { hold: true, ..job() });
        let child = bench.add(after(&[parent]));
        bench.take(parent);
        bench.now = back;
        bench.end(parent, Outcome::Exited(0));
        bench.store.release(&[held], back).expect("it is held");
        assert_eq!(bench.take(child).claim.job, child);
        assert_eq!(bench.take(held).claim.job, held);
    }
}

fn what_a_person_brings_back_is_due_however_far_the_clock_steps_back(bench: &mut Bench) {
    for back in BACK {
        bench.now = START.plus(MINUTE);
        let id = bench.add(NewJob { max_retries: 1, ..job() });
        bench.end(id, Outcome::Exited(1));
        bench.pass(MINUTE);
        bench.finish(id, State::Dead);
        bench.now = back;
        bench.store.revive(&[id], Revival::default(), back).expect("it is dead");
        assert_eq!(bench.take(id).claim.attempt, 3);
    }
}

fn a_retry_never_waits_longer_than_it_was_to_wait(bench: &mut Bench) {
    for back in BACK {
        bench.now = START;
        let id = bench.add(job());
        bench.end(id, Outcome::Exited(1));
        bench.now = back;
        let turned = bench.turn(ROOM);
        assert_eq!(turned.next_due, Some(back.plus(Duration::from_secs(5))));
        assert_eq!(bench.state(id), State::Failed);
        bench.pass(Duration::from_secs(5));
        bench.finish(id, State::Success);
    }
}

fn a_retry_that_was_held_and_let_go_never_waits_longer_than_it_was_to_wait(bench: &mut Bench) {
    let wait = Duration::from_secs(5);
    for (back, is_held_then) in BACK.into_iter().flat_map(|back| [(back, true), (back, false)]) {
        bench.now = START;
        let id = bench.add(job());
        bench.end(id, Outcome::Exited(1));
        bench.store.hold(&[id], START).expect("it waits");
        bench.now = if is_held_then { back } else { START };
        bench.store.release(&[id], bench.now).expect("it is held");
        bench.now = back;
        bench.turn(0);
        bench.pass(wait);
        assert_eq!(bench.take(id).claim.attempt, 2);
        bench.finish(id, State::Success);
    }
}

fn a_time_that_was_asked_for_is_waited_for_by_the_clock(bench: &mut Bench) {
    let id = bench.add(at(START.plus(MINUTE)));
    bench.now = BACK[1];
    assert_eq!(bench.turn(ROOM).next_due, Some(START.plus(MINUTE)));
    assert_eq!(bench.state(id), State::Pending);
}
