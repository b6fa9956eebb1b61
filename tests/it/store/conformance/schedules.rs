//! Schedules: the next start of each stands among the jobs, and each time
//! that is due is started once.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use ax_scheduler::job::schedule::NextStart;
use ax_scheduler::job::{
    CatchUp, Chain, JobId, Kind, NewJob, NewSchedule, Outcome, Overlap, ParentRef, Recurrence,
    Schedule, State, Timestamp, Timetable, Verdict,
};
use ax_scheduler::store::{Cancel, Error, Query, Selector, Turn};

use crate::store::bench::{Bench, ROOM, START, a_runner, named};

promises![
    the_next_start_stands_among_the_jobs,
    when_a_start_is_due_it_goes_and_the_next_one_is_put_in,
    a_start_that_is_due_waits_for_no_runner_to_be_idle,
    the_next_starts_of_schedules_are_nothing_that_is_left_to_do,
    a_start_is_skipped_while_the_one_before_it_has_not_ended,
    a_start_waits_for_the_one_before_it_if_it_may_queue,
    a_start_that_runs_is_not_overlapped_though_one_after_it_was_cancelled,
    starts_overlap_if_they_may,
    a_queue_of_starts_has_an_end,
    who_only_records_a_result_starts_nothing_that_is_due,
    after_three_days_nothing_is_made_up_for_with_none,
    after_three_days_one_start_stands_for_all_with_one,
    after_three_days_the_last_hundred_are_made_up_for_with_all,
    what_is_made_up_for_goes_one_after_the_other_unless_it_may_overlap,
    after_three_days_a_start_that_had_not_ended_still_counts,
    a_chain_starts_as_a_whole_with_each_start,
    a_start_that_was_cancelled_by_hand_ends_no_schedule,
    a_start_that_a_person_cancels_is_followed_by_the_one_after_it_at_once,
    a_chain_of_which_a_person_cancels_all_is_followed_by_the_next_one,
    a_start_of_which_a_part_may_still_run_is_the_next_one,
    nothing_is_made_up_for_in_the_place_of_a_start_that_a_person_cancelled,
    a_start_that_a_person_cancels_late_is_followed_when_it_is_due,
    the_time_of_a_next_start_that_does_not_wait_for_it_is_one_to_wake_for,
    a_start_that_a_person_holds_is_left_alone,
    a_paused_schedule_starts_nothing_and_goes_on_when_it_is_resumed,
    a_paused_schedule_stays_so_when_it_is_replaced,
    a_removed_schedule_is_gone_and_its_name_is_free,
    a_schedule_is_replaced_only_if_that_was_said,
    a_schedule_that_is_there_word_for_word_is_left_as_it_is,
    schedules_are_made_all_or_none,
    a_schedule_that_cannot_be_read_is_paused_and_holds_up_nobody,
    a_chain_that_was_broken_by_hand_is_paused_and_holds_up_nobody,
    a_clock_that_steps_back_starts_no_time_twice,
    a_clock_that_stood_ahead_for_a_while_delays_no_start,
    a_time_that_was_written_by_hand_breaks_nothing,
    the_doctor_names_a_schedule_that_cannot_go_on,
    three_runners_start_each_due_time_once,
];

const MINUTE: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);

/// The next minute after the start of every test.
const FIRST: Timestamp = Timestamp::from_millis(1_700_000_040_000);

fn schedule(name: &str, catch_up: CatchUp, overlap: Overlap) -> NewSchedule {
    let table = Timetable::new("* * * * *", "UTC").expect("valid");
    let recurrence = Recurrence { table, catch_up, overlap };
    let chain = Chain { jobs: vec![named(name)], ..Chain::default() };
    NewSchedule { name: name.to_owned(), recurrence, chain }
}

fn plain() -> NewSchedule {
    schedule("tick", CatchUp::One, Overlap::Skip)
}

impl Bench {
    /// Makes a schedule; tells the jobs of its next start.
    fn schedule(&mut self, schedule: NewSchedule) -> Vec<JobId> {
        let made = self.store.schedule(&[schedule], false, self.now).expect("made");
        made[0].next.clone().expect("a start").jobs
    }

    fn next(&mut self, name: &str) -> Option<NextStart> {
        let found = |schedule: &Schedule| schedule.name == name;
        let schedules = self.store.schedules().expect("an answer");
        schedules.into_iter().find(found).expect("it is there").next
    }

    /// Every job with its due time in minutes since the first, and its state.
    fn starts(&mut self) -> Vec<(i64, State)> {
        let jobs = self.store.list(&Query::default()).expect("an answer");
        let minutes = |time: Timestamp| (time.millis() - FIRST.millis()) / 60_000;
        jobs.iter().map(|job| (minutes(job.scheduled_at), job.state)).collect()
    }

    /// A person cancels a job.
    fn cancel(&mut self, job: JobId) {
        self.store.cancel(&[job], &Cancel::default(), self.now).expect("cancelled");
    }

    fn claim_all(&mut self) -> Vec<JobId> {
        self.turn(ROOM).claimed.iter().map(|claimed| claimed.claim.job).collect()
    }
}

fn the_next_start_stands_among_the_jobs(bench: &mut Bench) {
    let jobs = bench.schedule(plain());
    assert_eq!(jobs, [JobId(1)]);
    let job = bench.job(JobId(1));
    assert_eq!((job.state, job.scheduled_at), (State::Pending, FIRST));
    assert_eq!(job.schedule.as_deref(), Some("tick"));
    assert_eq!(bench.next("tick"), Some(NextStart { due: FIRST, jobs }));
    assert_eq!(bench.turn(ROOM).next_due, Some(FIRST));
    bench.add(named("tick"));
    let selected = bench.store.select(&Selector::Schedule("ti*".into()));
    assert_eq!(selected.expect("an answer"), [JobId(1)]);
}

fn when_a_start_is_due_it_goes_and_the_next_one_is_put_in(bench: &mut Bench) {
    bench.schedule(plain());
    bench.pass(MINUTE);
    assert_eq!(bench.claim_all(), [JobId(1)]);
    let due = FIRST.plus(MINUTE);
    assert_eq!(bench.next("tick"), Some(NextStart { due, jobs: vec![JobId(2)] }));
    assert_eq!(bench.state(JobId(2)), State::Pending);
    assert!(bench.claim_all().is_empty());
}

fn a_start_that_is_due_waits_for_no_runner_to_be_idle(bench: &mut Bench) {
    bench.schedule(plain());
    bench.pass(MINUTE);
    let turned = bench.turn(0);
    assert!(turned.claimed.is_empty());
    assert_eq!(bench.next("tick").expect("a start").jobs, [JobId(2)]);
}

fn the_next_starts_of_schedules_are_nothing_that_is_left_to_do(bench: &mut Bench) {
    bench.schedule(plain());
    assert!(bench.store.outlook(None).expect("an answer").is_idle());
    bench.pass(MINUTE);
    bench.turn(0);
    assert_eq!(bench.store.outlook(None).expect("an answer").ready, 1);
    bench.finish(JobId(1), State::Failed);
    assert_eq!(bench.store.outlook(None).expect("an answer").scheduled, 1);
}

fn a_start_is_skipped_while_the_one_before_it_has_not_ended(bench: &mut Bench) {
    bench.schedule(plain());
    bench.pass(MINUTE);
    bench.start(JobId(1));
    bench.pass(MINUTE);
    assert!(bench.claim_all().is_empty());
    assert_eq!(bench.state(JobId(2)), State::Skipped);
    let why = "job 1 of the start before it had not ended (overlap = skip)";
    assert_eq!(bench.reason(JobId(2)), why);
    bench.pass(MINUTE);
    bench.turn(ROOM);
    assert_eq!(bench.state(JobId(3)), State::Skipped, "job 1 still runs");
    bench.finish(JobId(1), State::Success);
    bench.pass(MINUTE);
    assert_eq!(bench.claim_all(), [JobId(4)]);
}

fn a_start_waits_for_the_one_before_it_if_it_may_queue(bench: &mut Bench) {
    bench.schedule(schedule("tick", CatchUp::One, Overlap::Queue));
    bench.pass(MINUTE);
    bench.start(JobId(1));
    bench.pass(MINUTE);
    assert!(bench.claim_all().is_empty());
    assert_eq!(bench.parents(JobId(2)), [(JobId(1), Kind::AfterAny)]);
    bench.pass(MINUTE);
    assert!(bench.claim_all().is_empty());
    bench.finish(JobId(1), State::Dead);
    assert_eq!(bench.claim_all(), [JobId(2)]);
    bench.finish(JobId(2), State::Success);
    assert_eq!(bench.claim_all(), [JobId(3)]);
}

fn a_start_that_runs_is_not_overlapped_though_one_after_it_was_cancelled(bench: &mut Bench) {
    for (overlap, name) in [(Overlap::Skip, "skips"), (Overlap::Queue, "queues")] {
        let first = bench.schedule(schedule(name, CatchUp::One, overlap))[0];
        bench.pass(MINUTE);
        bench.start(first);
        for _ in 0..3 {
            let next = bench.next(name).expect("a start").jobs[0];
            bench.cancel(next);
        }
        let next = bench.next(name).expect("a start").jobs[0];
        bench.pass(4 * MINUTE);
        assert!(bench.claim_all().is_empty(), "{name}");
        if overlap == Overlap::Skip {
            assert_eq!(bench.state(next), State::Skipped);
        } else {
            assert_eq!(bench.parents(next), [(first, Kind::AfterAny)]);
            bench.finish(first, State::Success);
            assert_eq!(bench.claim_all(), [next]);
        }
        bench.store.unschedule(&[name.to_owned()], bench.now).expect("removed");
    }
}

fn starts_overlap_if_they_may(bench: &mut Bench) {
    bench.schedule(schedule("tick", CatchUp::One, Overlap::Allow));
    for id in 1..=3 {
        bench.pass(MINUTE);
        assert_eq!(bench.claim_all(), [JobId(id)]);
    }
}

fn a_queue_of_starts_has_an_end(bench: &mut Bench) {
    bench.schedule(schedule("tick", CatchUp::One, Overlap::Queue));
    for _ in 0..103 {
        bench.pass(MINUTE);
        bench.turn(ROOM);
    }
    let states: Vec<_> = bench.starts().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states.iter().filter(|state| **state == State::Skipped).count(), 3);
    assert_eq!(bench.reason(JobId(101)), "100 starts before it had not ended (overlap = queue)");
    assert_eq!(bench.state(JobId(100)), State::Pending);
}

/// A schedule whose first start ended well; then no runner for three days.
fn after_three_days(bench: &mut Bench, catch_up: CatchUp, overlap: Overlap) {
    bench.schedule(schedule("tick", catch_up, overlap));
    bench.pass(MINUTE);
    bench.finish(JobId(1), State::Success);
    bench.pass(3 * DAY);
}

/// The minute of the turn after those three days, counted from the first.
const LATER: i64 = 3 * 24 * 60;

fn after_three_days_nothing_is_made_up_for_with_none(bench: &mut Bench) {
    for overlap in Overlap::ALL {
        *bench = Bench::sqlite();
        after_three_days(bench, CatchUp::None, overlap);
        bench.turn(ROOM);
        // The start of this very minute is not late.
        let want = [(0, State::Success), (LATER + 1, State::Pending), (LATER, State::Dispatched)];
        assert_eq!(bench.starts(), want, "{overlap}");
        assert_eq!(bench.next("tick").expect("a start").jobs, [JobId(2)]);
    }
}

fn after_three_days_one_start_stands_for_all_with_one(bench: &mut Bench) {
    for overlap in Overlap::ALL {
        *bench = Bench::sqlite();
        after_three_days(bench, CatchUp::One, overlap);
        bench.turn(ROOM);
        let want = [(0, State::Success), (LATER + 1, State::Pending), (LATER, State::Dispatched)];
        assert_eq!(bench.starts(), want, "{overlap}");
        bench.pass(MINUTE);
        bench.finish(JobId(3), State::Success);
        assert_eq!(bench.claim_all(), [JobId(2)], "{overlap}: the next one goes on time");
    }
}

fn after_three_days_the_last_hundred_are_made_up_for_with_all(bench: &mut Bench) {
    for overlap in Overlap::ALL {
        *bench = Bench::sqlite();
        after_three_days(bench, CatchUp::All, overlap);
        bench.quiesce();
        let starts = bench.starts();
        assert_eq!(starts.len(), 102, "{overlap}");
        assert_eq!(starts[1], (LATER + 1, State::Pending));
        let made_up: Vec<i64> = starts[2..].iter().map(|(minute, _)| *minute).collect();
        assert_eq!(made_up, (LATER - 99..=LATER).collect::<Vec<_>>(), "{overlap}");
    }
}

fn what_is_made_up_for_goes_one_after_the_other_unless_it_may_overlap(bench: &mut Bench) {
    for overlap in [Overlap::Skip, Overlap::Queue] {
        *bench = Bench::sqlite();
        after_three_days(bench, CatchUp::All, overlap);
        for id in 3..=102 {
            assert_eq!(bench.claim_all(), [JobId(id)], "{overlap}");
            bench.finish(JobId(id), State::Success);
        }
        assert!(bench.claim_all().is_empty());
        bench.pass(MINUTE);
        assert_eq!(bench.claim_all(), [JobId(2)]);
    }
    *bench = Bench::sqlite();
    after_three_days(bench, CatchUp::All, Overlap::Allow);
    assert_eq!(bench.claim_all().len(), 100);
}

fn after_three_days_a_start_that_had_not_ended_still_counts(bench: &mut Bench) {
    for (catch_up, overlap, made_up) in [
        (CatchUp::One, Overlap::Skip, vec![]),
        (CatchUp::All, Overlap::Skip, vec![]),
        (CatchUp::One, Overlap::Queue, vec![(LATER, State::Pending)]),
        (CatchUp::One, Overlap::Allow, vec![(LATER, State::Dispatched)]),
    ] {
        *bench = Bench::sqlite();
        bench.schedule(schedule("tick", catch_up, overlap));
        bench.pass(MINUTE);
        bench.start(JobId(1));
        bench.pass(3 * DAY);
        bench.turn(ROOM);
        let ahead = vec![(0, State::Running), (LATER + 1, State::Pending)];
        assert_eq!(bench.starts(), [ahead, made_up].concat(), "{catch_up} {overlap}");
    }
}

fn a_chain_starts_as_a_whole_with_each_start(bench: &mut Bench) {
    let after = |place| vec![(ParentRef::InBatch(place), Kind::After)];
    let jobs = vec![
        named("fetch"),
        NewJob { parents: after(0), ..named("clean") },
        NewJob { parents: vec![(ParentRef::InBatch(0), Kind::AfterAny)], ..named("tidy") },
    ];
    let chain = Chain { flow: Some("nightly".into()), jobs, ..Chain::default() };
    assert_eq!(bench.schedule(NewSchedule { chain, ..plain() }), [1, 2, 3].map(JobId));
    assert_eq!(bench.job(JobId(2)).flow.as_deref(), Some("nightly"));
    bench.pass(MINUTE);
    assert_eq!(bench.claim_all(), [JobId(1)]);
    bench.finish(JobId(1), State::Success);
    assert_eq!(bench.claim_all(), [JobId(2), JobId(3)]);
    assert_eq!(bench.parents(JobId(5)), [(JobId(4), Kind::After)]);
    bench.pass(MINUTE);
    bench.turn(ROOM);
    let skipped = bench.states(&[4, 5, 6].map(JobId));
    assert_eq!(skipped, [State::Skipped; 3], "no job of a skipped start runs, not even `tidy`");
}

fn a_start_that_was_cancelled_by_hand_ends_no_schedule(bench: &mut Bench) {
    bench.schedule(plain());
    let by_hand = rusqlite::Connection::open(bench.path()).expect("it opens");
    by_hand.execute("UPDATE ax_jobs SET status = 'cancelled' WHERE id = 1", []).expect("written");
    bench.pass(MINUTE);
    assert!(bench.claim_all().is_empty());
    bench.pass(MINUTE);
    assert_eq!(bench.claim_all(), [JobId(2)]);
}

fn a_start_that_a_person_cancels_is_followed_by_the_one_after_it_at_once(bench: &mut Bench) {
    for overlap in Overlap::ALL {
        *bench = Bench::sqlite();
        bench.schedule(schedule("tick", CatchUp::All, overlap));
        for id in 1..=2 {
            bench.cancel(JobId(id));
            let due = FIRST.plus(MINUTE * u32::try_from(id).expect("small"));
            let next = NextStart { due, jobs: vec![JobId(id + 1)] };
            assert_eq!(bench.next("tick"), Some(next), "{overlap}");
        }
        for _ in 0..2 {
            bench.pass(MINUTE);
            assert!(bench.claim_all().is_empty(), "{overlap}: nothing for the cancelled times");
        }
        bench.pass(MINUTE);
        assert_eq!(bench.claim_all(), [JobId(3)], "{overlap}");
        let want = [(3, State::Pending), (2, State::Dispatched)];
        assert_eq!(bench.starts()[2..], [want[1], want[0]], "{overlap}");
    }
}

fn a_chain_of_which_a_person_cancels_all_is_followed_by_the_next_one(bench: &mut Bench) {
    let parents = vec![(ParentRef::InBatch(0), Kind::After)];
    let jobs = vec![named("fetch"), NewJob { parents, ..named("clean") }];
    bench.schedule(NewSchedule { chain: Chain { jobs, ..Chain::default() }, ..plain() });
    bench.cancel(JobId(1));
    assert_eq!(bench.state(JobId(2)), State::Skipped);
    let next = bench.next("tick").expect("a start");
    assert_eq!(next, NextStart { due: FIRST.plus(MINUTE), jobs: vec![JobId(3), JobId(4)] });
    bench.pass(2 * MINUTE);
    assert_eq!(bench.claim_all(), [JobId(3)], "the new one was judged");
}

fn a_start_of_which_a_part_may_still_run_is_the_next_one(bench: &mut Bench) {
    let chain = Chain { jobs: vec![named("one"), named("other")], ..Chain::default() };
    bench.schedule(NewSchedule { chain, ..plain() });
    bench.cancel(JobId(1));
    assert_eq!(bench.next("tick").expect("a start").due, FIRST);
    bench.pass(MINUTE);
    assert_eq!(bench.claim_all(), [JobId(2)]);
}

fn nothing_is_made_up_for_in_the_place_of_a_start_that_a_person_cancelled(bench: &mut Bench) {
    bench.schedule(schedule("tick", CatchUp::All, Overlap::Allow));
    bench.cancel(JobId(1));
    bench.pass(4 * MINUTE);
    bench.turn(ROOM);
    let minutes: Vec<_> = bench.starts().into_iter().map(|(minute, _)| minute).collect();
    assert_eq!(minutes, [0, 4, 1, 2, 3]);
}

fn a_start_that_a_person_cancels_late_is_followed_when_it_is_due(bench: &mut Bench) {
    bench.schedule(plain());
    bench.pass(MINUTE);
    bench.cancel(JobId(1));
    assert_eq!(bench.next("tick").expect("a start").jobs, [JobId(1)], "no runner was there");
    bench.turn(ROOM);
    let next = NextStart { due: FIRST.plus(MINUTE), jobs: vec![JobId(2)] };
    assert_eq!(bench.next("tick"), Some(next));
}

fn the_time_of_a_next_start_that_does_not_wait_for_it_is_one_to_wake_for(bench: &mut Bench) {
    bench.schedule(plain());
    bench.store.hold(&[JobId(1)], START).expect("held");
    assert_eq!(bench.turn(ROOM).next_due, Some(FIRST));
    bench.add(named("other"));
    assert_eq!(bench.turn(ROOM).next_due, Some(FIRST), "also for who has something to write");
}

fn a_start_that_a_person_holds_is_left_alone(bench: &mut Bench) {
    bench.schedule(plain());
    bench.store.hold(&[JobId(1)], START).expect("held");
    bench.pass(MINUTE);
    bench.turn(ROOM);
    assert_eq!(bench.state(JobId(1)), State::Held);
    bench.pass(3 * DAY);
    bench.turn(ROOM);
    assert_eq!(bench.state(JobId(1)), State::Held);
    assert!(bench.next("tick").expect("a start").due > bench.now);
}

fn a_paused_schedule_starts_nothing_and_goes_on_when_it_is_resumed(bench: &mut Bench) {
    bench.schedule(plain());
    let names = ["tick".to_owned()];
    let moved = bench.store.pause(&names, bench.now).expect("paused");
    assert_eq!(moved.iter().map(|moved| moved.job).collect::<Vec<_>>(), [JobId(1)]);
    assert_eq!(bench.reason(JobId(1)), "the schedule `tick` was paused");
    assert_eq!(bench.next("tick"), None);
    assert!(bench.store.pause(&names, bench.now).expect("it is already").is_empty());
    bench.pass(3 * DAY);
    assert!(bench.claim_all().is_empty());
    let resumed = bench.store.resume(&names, bench.now).expect("resumed");
    assert_eq!(resumed[0].next.as_ref().expect("a start").jobs, [JobId(2)]);
    assert_eq!(bench.store.resume(&names, bench.now).expect("it goes on already"), resumed);
    assert!(bench.claim_all().is_empty(), "what came due while it was paused was not missed");
    bench.pass(MINUTE);
    assert_eq!(bench.claim_all(), [JobId(2)]);
}

fn a_removed_schedule_is_gone_and_its_name_is_free(bench: &mut Bench) {
    bench.schedule(plain());
    let names = ["tick".to_owned()];
    bench.store.unschedule(&names, bench.now).expect("removed");
    assert_eq!(bench.state(JobId(1)), State::Cancelled);
    assert!(bench.store.schedules().expect("an answer").is_empty());
    let gone = bench.store.unschedule(&names, bench.now);
    assert!(matches!(gone, Err(Error::NoSuchSchedule(name)) if name == "tick"));
    assert_eq!(bench.schedule(plain()), [JobId(2)]);
    bench.pass(MINUTE);
    assert_eq!(bench.claim_all(), [JobId(2)]);
}

fn a_schedule_is_replaced_only_if_that_was_said(bench: &mut Bench) {
    bench.schedule(plain());
    let newer = schedule("tick", CatchUp::All, Overlap::Skip);
    let refused = bench.store.schedule(std::slice::from_ref(&newer), false, bench.now);
    assert!(matches!(refused, Err(Error::InBatch { index: 0, .. })), "{refused:?}");
    let made = bench.store.schedule(&[newer], true, bench.now).expect("replaced");
    assert!(!made[0].new);
    assert_eq!(made[0].next.as_ref().expect("a start").jobs, [JobId(2)]);
    assert_eq!(bench.reason(JobId(1)), "a newer schedule of its name took its place");
}

fn a_schedule_that_is_there_word_for_word_is_left_as_it_is(bench: &mut Bench) {
    let jobs = bench.schedule(plain());
    let made = bench.store.schedule(&[plain()], true, bench.now).expect("left");
    assert_eq!(made[0].next.as_ref().expect("a start").jobs, jobs);
    assert_eq!(bench.state(JobId(1)), State::Pending);
}

fn schedules_are_made_all_or_none(bench: &mut Bench) {
    let two = [plain(), schedule("tock", CatchUp::One, Overlap::Skip), plain()];
    let refused = bench.store.schedule(&two, false, bench.now);
    assert!(matches!(refused, Err(Error::InBatch { index: 2, .. })), "{refused:?}");
    assert!(bench.store.schedules().expect("an answer").is_empty());
    assert!(bench.starts().is_empty());
}

fn a_schedule_that_cannot_be_read_is_paused_and_holds_up_nobody(bench: &mut Bench) {
    bench.schedule(plain());
    bench.schedule(schedule("tock", CatchUp::One, Overlap::Skip));
    let by_hand = rusqlite::Connection::open(bench.path()).expect("it opens");
    let break_it = "UPDATE ax_schedules SET cron = 'whenever' WHERE name = 'tick'";
    by_hand.execute(break_it, []).expect("written");
    bench.pass(MINUTE);
    let turned = bench.turn(ROOM);
    assert!(turned.nonsense[0].starts_with("the schedule `tick` is paused: 1 field"));
    assert_eq!(bench.next("tick"), None);
    assert_eq!(bench.next("tock").expect("a start").jobs, [JobId(3)]);
    let resumed = bench.store.resume(&["tick".to_owned()], bench.now);
    assert!(matches!(resumed, Err(Error::BrokenSchedule { .. })));
}

fn a_chain_that_was_broken_by_hand_is_paused_and_holds_up_nobody(bench: &mut Bench) {
    for parents in [
        r#"[[{"InBatch":0},"after"]]"#,
        r#"[[{"InBatch":9},"after"]]"#,
        r#"[[{"Id":1},"after"]]"#,
        "7",
    ] {
        *bench = Bench::sqlite();
        bench.schedule(plain());
        let by_hand = rusqlite::Connection::open(bench.path()).expect("it opens");
        let sql = "UPDATE ax_schedules SET chain = json_set(chain, '$.jobs[0].parents', json(?1))";
        by_hand.execute(sql, [parents]).expect("written");
        bench.pass(MINUTE);
        let turned = bench.turn(ROOM);
        assert!(turned.nonsense[0].starts_with("the schedule `tick` is paused: "), "{parents}");
        assert_eq!(turned.claimed.len(), 1, "what stood goes");
    }
}

fn a_clock_that_steps_back_starts_no_time_twice(bench: &mut Bench) {
    bench.schedule(plain());
    bench.pass(MINUTE);
    bench.finish(JobId(1), State::Success);
    bench.now = START;
    assert!(bench.claim_all().is_empty());
    bench.pass(MINUTE);
    assert!(bench.claim_all().is_empty());
    bench.pass(MINUTE);
    assert_eq!(bench.claim_all(), [JobId(2)]);
}

fn a_clock_that_stood_ahead_for_a_while_delays_no_start(bench: &mut Bench) {
    bench.schedule(schedule("tick", CatchUp::None, Overlap::Skip));
    bench.pass(400 * DAY);
    bench.turn(ROOM);
    assert!(bench.next("tick").expect("a start").due > bench.now);
    bench.now = START;
    bench.turn(ROOM);
    assert_eq!(bench.next("tick"), Some(NextStart { due: FIRST, jobs: vec![JobId(1)] }));
    bench.pass(MINUTE);
    assert!(bench.claim_all().contains(&JobId(1)));
}

fn a_time_that_was_written_by_hand_breaks_nothing(bench: &mut Bench) {
    bench.schedule(plain());
    let by_hand = rusqlite::Connection::open(bench.path()).expect("it opens");
    by_hand.execute("UPDATE ax_schedules SET next_at = 0", []).expect("written");
    bench.turn(ROOM);
    bench.pass(MINUTE);
    bench.turn(ROOM);
    assert_eq!(bench.next("tick").expect("a start").due, FIRST.plus(MINUTE));
    assert_eq!(bench.starts().iter().filter(|(minute, _)| *minute == 0).count(), 1);
}

fn the_doctor_names_a_schedule_that_cannot_go_on(bench: &mut Bench) {
    for (by_hand, what) in [
        ("UPDATE ax_schedules SET catch_up = 'one'", None),
        ("UPDATE ax_schedules SET timezone = 'Nowhere'", Some("cannot be read: `Nowhere`")),
        ("DELETE FROM ax_jobs", Some("has no job")),
        ("UPDATE ax_schedules SET next_at = next_at + 86400000", Some("stands later")),
    ] {
        *bench = Bench::sqlite();
        bench.schedule(plain());
        let shell = rusqlite::Connection::open(bench.path()).expect("it opens");
        shell.execute_batch(by_hand).expect("written");
        let faults = bench.store.check(bench.now).expect("an answer");
        let told: Vec<_> = faults.iter().map(|fault| fault.what.as_str()).collect();
        match what {
            None => assert!(told.is_empty(), "{told:?}"),
            Some(what) => assert!(told.len() == 1 && told[0].contains(what), "{told:?}"),
        }
    }
}

fn a_paused_schedule_stays_so_when_it_is_replaced(bench: &mut Bench) {
    bench.schedule(plain());
    let tick = ["tick".to_owned()];
    bench.store.pause(&tick, bench.now).expect("paused");
    for schedule in [plain(), schedule("tick", CatchUp::All, Overlap::Allow)] {
        let made = bench.store.schedule(&[schedule], true, bench.now).expect("made");
        assert_eq!(made[0].next, None);
    }
    let resumed = bench.store.resume(&tick, bench.now).expect("resumed");
    assert!(resumed[0].next.is_some());
}

/// So a supervisor without a runner, which records the end of its job.
fn who_only_records_a_result_starts_nothing_that_is_due(bench: &mut Bench) {
    let ended = bench.add(named("ended"));
    let claim = bench.take(ended).claim;
    let standing = bench.schedule(schedule("tick", CatchUp::None, Overlap::Skip));
    bench.now = FIRST;
    let settled = [bench.settlement(claim, Outcome::Exited(0), Verdict::Success)];
    let recording = Turn { serves: false, settled: &settled, ..bench.empty_turn(0) };
    let turned = bench.store.turn(&recording).expect("a turn");
    assert!(!turned.more, "nothing that it would do");
    assert_eq!(bench.states(&standing), [State::Pending]);
    bench.pass(MINUTE * 2);
    bench.turn(ROOM);
    let due = bench.job(standing[0]).scheduled_at;
    assert!(due > FIRST, "it was missed, and nothing is made up for");
}

fn three_runners_start_each_due_time_once(bench: &mut Bench) {
    const MINUTES: usize = 200;
    bench.schedule(schedule("tick", CatchUp::One, Overlap::Allow));
    let barrier = std::sync::Barrier::new(3);
    let claimed = thread::scope(|scope| {
        let runner = |_| {
            let (mut store, turn, barrier) = (bench.another(), bench.empty_turn(4), &barrier);
            scope.spawn(move || {
                let runner = store.enlist(&a_runner(), START).expect("a runner");
                let mut claimed = Vec::new();
                for minute in 1..=MINUTES {
                    barrier.wait();
                    let now = START.plus(MINUTE * u32::try_from(minute).expect("few"));
                    let turned = store.turn(&Turn { runner, now, ..turn }).expect("a turn");
                    claimed.extend(turned.claimed.iter().map(|claimed| claimed.claim.job));
                }
                claimed
            })
        };
        let runners: Vec<_> = (0..3).map(runner).collect();
        runners.into_iter().flat_map(|runner| runner.join().expect("it ends")).collect::<Vec<_>>()
    });
    assert_eq!(claimed.len(), MINUTES);
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), MINUTES);
    let due: HashSet<_> = bench.starts().into_iter().map(|(minute, _)| minute).collect();
    assert_eq!(due.len(), MINUTES + 1, "and the next one stands");
}
