//! The loop: what wakes it, what it puts up with, and how it ends.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use ax_scheduler::job::{JobId, Outcome, State};
use ax_scheduler::sched::drive::{End, OnStop, Until};

use super::fakes::{Act, Mood};
use super::play::Setting;
use crate::harness::wait_until;

use State::{Pending, Ready, Running, Success};

#[test]
fn until_nothing_is_due_leaves_later_times_alone() {
    let mut setting = Setting::with_jobs(2);
    setting.add(Duration::from_hours(1));
    setting.until = Until::NothingDue;
    let play = setting.start();
    for _ in 0..2 {
        play.hall.end(play.hall.begun(), 0);
    }
    let (mut setting, hall, end) = play.end_well();
    assert_eq!((end, setting.states()), (End::Finished, vec![Success, Success, Pending]));
    assert_eq!(setting.store.runners().expect("read").len(), 0, "it is struck out");
    assert_eq!(hall.executors(), 0, "its executors were dropped");
}

#[test]
fn until_idle_waits_for_later_times() {
    let mut setting = Setting::with_jobs(1);
    setting.add(Duration::from_millis(200));
    setting.until = Until::Idle;
    let play = setting.start();
    play.hall.end(play.hall.begun(), 0);
    play.hall.end(play.hall.begun(), 0);
    let (mut setting, _, end) = play.end_well();
    assert_eq!((end, setting.states()), (End::Finished, vec![Success, Success]));
}

#[test]
fn a_bell_wakes_it() {
    let mut play = Setting::with_jobs(0).start();
    play.setting.add(Duration::ZERO);
    play.ring();
    play.hall.end(play.hall.begun(), 0);
    play.wait_for_states(&[Success]);
    play.signal();
    assert_eq!(play.end_well().2, End::Finished);
}

#[test]
fn it_does_not_trust_its_alarm_as_long_as_somebody_is_writing() {
    let mut setting = Setting::with_jobs(0);
    setting.has_alarm = true;
    // Sixty of these are longer than the test waits.
    setting.poll_interval = Duration::from_secs(1);
    setting.calls.written.store(true, SeqCst);
    let play = setting.start();
    let calls = Arc::clone(&play.setting.calls);
    wait_until("it has seen two commits", String::new, || calls.turns.load(SeqCst) >= 3);
    play.signal();
    assert_eq!(play.end_well().2, End::Finished);
}

#[test]
fn with_nothing_to_do_it_only_asks_whether_anybody_has_written() {
    let mut setting = Setting::with_jobs(0);
    setting.add(Duration::from_hours(1));
    setting.poll_interval = Duration::from_millis(1);
    let mut play = setting.start();
    let calls = Arc::clone(&play.setting.calls);
    let asked = |more: usize| {
        let until = calls.changes.load(SeqCst) + more;
        wait_until("it asks", String::new, || calls.changes.load(SeqCst) >= until);
    };
    asked(10);
    let turns = calls.turns.load(SeqCst);
    asked(100);
    assert_eq!(calls.turns.load(SeqCst), turns);
    play.setting.add(Duration::ZERO);
    play.hall.end(play.hall.begun(), 0);
    play.wait_for_states(&[Pending, Success]);
    asked(10);
    play.setting.add(Duration::from_millis(100));
    play.hall.end(play.hall.begun(), 0);
    play.wait_for_states(&[Pending, Success, Success]);
    play.signal();
    assert_eq!(play.end_well().2, End::Finished);
}

#[test]
fn trouble_with_the_store_is_said_once_and_loses_nothing() {
    let mut play = Setting::with_jobs(2).start();
    let claim = play.hall.begun();
    for mood in [Mood::Full, Mood::Full, Mood::Unusable] {
        play.setting.moods.then(mood);
    }
    play.hall.end(claim, 0);
    let next = play.hall.begun();
    play.wait_for_states(&[Success, State::Dispatched]);
    assert!(play.setting.moods.are_over());
    assert_eq!(play.told_of("no space is left"), 1);
    assert_eq!(play.told_of("is damaged"), 1, "a job is in hand, so it goes on");
    play.hall.end(next, 0);
    play.wait_for_states(&[Success, Success]);
    play.signal();
    let (mut setting, hall, _) = play.end_well();
    hall.none_begun();
    assert_eq!((setting.job(1).attempts, setting.job(2).attempts), (1, 1));
}

#[test]
fn what_is_heard_while_the_disk_may_only_be_read_is_kept_and_stored_later() {
    let mut play = Setting::with_jobs(2).start();
    let claim = play.hall.begun();
    for _ in 0..3 {
        play.setting.moods.then(Mood::ReadOnly);
    }
    play.hall.act(claim, Act::Start);
    play.wait_for_event("may only be read; results are kept");
    play.hall.end(claim, 3);
    let next = play.hall.begun();
    play.hall.act(next, Act::Start);
    play.wait_for_states(&[State::Dead, Running]);
    assert!(play.setting.moods.are_over());
    assert_eq!(play.told_of("may only be read"), 1);
    play.hall.end(next, 0);
    play.wait_for_states(&[State::Dead, Success]);
    play.signal();
    let (mut setting, hall, _) = play.end_well();
    hall.none_begun();
    let failed = setting.job(1);
    assert_eq!((failed.attempts, failed.exit_code), (1, Some(3)));
}

#[test]
fn a_store_that_cannot_be_used_ends_a_runner_with_nothing_in_hand() {
    let setting = Setting::with_jobs(1);
    setting.moods.then(Mood::Unusable);
    let (mut setting, hall, end) = setting.start().end();
    assert!(end.expect("no panic").is_err());
    assert_eq!((setting.states(), hall.executors()), (vec![Ready], 0));
}

#[test]
fn a_panic_ends_the_scheduler_and_its_workers_settle_nothing_by_it() {
    let mut setting = Setting::with_jobs(3);
    setting.workers = 2;
    let play = setting.start();
    let (first, _) = (play.hall.begun(), play.hall.begun());
    play.setting.moods.then(Mood::Panic);
    play.hall.end(first, 0);
    let (_, hall, end) = play.end();
    assert!(end.is_err());
    assert_eq!(hall.executors(), 2, "an executor that is dropped says that all is settled");
}

#[test]
fn a_worker_that_panics_is_replaced_and_its_job_is_not_lost() {
    let mut setting = Setting::with_jobs(2);
    setting.until = Until::NothingDue;
    let mut play = setting.start();
    let claim = play.hall.begun();
    play.hall.act(claim, Act::Panic);
    play.wait_for_event("worker 0 broke and is replaced: told to");
    // No supervisor knows of it, so it was not begun and is given back.
    play.wait_for_event("it goes back to the queue, no attempt is used");
    let rest = [(); 2].map(|()| {
        let next = play.hall.begun();
        play.hall.end(next, 0);
        next
    });
    assert!(rest.contains(&claim), "{rest:?}");
    let (mut setting, _, end) = play.end_well();
    assert_eq!((end, setting.states()), (End::Finished, vec![Success, Success]));
    assert_eq!(setting.job(1).attempts, 1);
}

#[test]
fn after_a_job_could_not_be_started_it_rests_and_tries_again() {
    let mut play = Setting::with_jobs(1).start();
    let claim = play.hall.begun();
    let from = Instant::now();
    play.hall.act(claim, Act::End(Outcome::NotStarted("no more processes".to_owned())));
    let again = play.hall.begun();
    assert!(from.elapsed() >= Duration::from_millis(900), "{:?}", from.elapsed());
    assert_eq!(again, claim, "no attempt was used");
    assert_eq!(play.told_of("job 1 goes back to the queue: no more processes"), 1);
    play.hall.end(again, 0);
    play.wait_for_states(&[Success]);
    play.signal();
    play.end_well();
}

#[test]
fn the_first_signal_gives_back_what_no_worker_has() {
    let mut play = Setting::with_jobs(3).start();
    let claim = play.hall.begun();
    play.hall.act(claim, Act::Start);
    play.wait_for_states(&[Running, State::Dispatched, State::Dispatched]);
    play.signal();
    play.wait_for_states(&[Running, Ready, Ready]);
    assert_eq!(play.hall.stops(), []);
    play.hall.end(claim, 0);
    let (mut setting, hall, end) = play.end_well();
    assert_eq!((end, setting.states()), (End::Finished, vec![Success, Ready, Ready]));
    hall.none_begun();
}

#[test]
fn the_second_signal_stops_jobs_also_those_that_miss_it_at_first() {
    let play = Setting::with_jobs(1).start();
    let claim = play.hall.begun();
    play.hall.be_deaf_to(2);
    play.signal();
    play.signal();
    let (mut setting, hall, end) = play.end_well();
    assert!(hall.stops().len() > 2 && hall.stops().iter().all(|stopped| *stopped == claim));
    assert_eq!((end, setting.states()), (End::Finished, vec![Ready]));
    assert_eq!(setting.job(1).attempts, 1, "the attempt counts");
}

#[test]
fn the_third_signal_leaves_jobs_behind() {
    let mut play = Setting::with_jobs(1).start();
    let claim = play.hall.begun();
    play.hall.act(claim, Act::Start);
    play.hall.be_deaf_to(usize::MAX);
    play.wait_for_states(&[Running]);
    play.signal();
    play.signal();
    wait_until("it is stopped", String::new, || !play.hall.stops().is_empty());
    play.signal();
    let (mut setting, hall, end) = play.end_well();
    assert_eq!((end, setting.states()), (End::Detached, vec![Running]));
    assert_eq!(hall.executors(), 1, "its executor is left alone");
    assert_eq!(setting.store.runners().expect("read").len(), 1, "it is not struck out");
}

#[test]
fn a_cancelled_job_is_stopped_also_one_that_misses_it_at_first() {
    let mut play = Setting::with_jobs(3).start();
    let claim = play.hall.begun();
    play.hall.act(claim, Act::Start);
    play.wait_for_states(&[Running, State::Dispatched, State::Dispatched]);
    play.hall.be_deaf_to(2);
    play.cancel(&[1, 3]);
    play.ring();
    let next = play.hall.begun();
    assert_eq!(next.job, JobId(2));
    play.hall.end(next, 0);
    play.wait_for_states(&[State::Cancelled, Success, State::Cancelled]);
    assert!(play.hall.stops().iter().filter(|stopped| **stopped == claim).count() > 2);
    play.signal();
    let (mut setting, hall, end) = play.end_well();
    hall.none_begun();
    assert_eq!((end, setting.job(1).attempts, setting.job(3).attempts), (End::Finished, 1, 0));
}

#[test]
fn grace_is_over_by_itself() {
    let mut setting = Setting::with_jobs(1);
    setting.on_stop = OnStop::Wait(Some(Duration::from_millis(50)));
    let play = setting.start();
    let claim = play.hall.begun();
    play.signal();
    let (mut setting, hall, end) = play.end_well();
    assert_eq!(hall.stops().first(), Some(&claim));
    assert_eq!((end, setting.states()), (End::Finished, vec![Ready]));
}

#[test]
fn who_detaches_gives_back_first_and_stores_what_it_knows() {
    let mut setting = Setting::with_jobs(2);
    setting.on_stop = OnStop::Detach;
    let mut play = setting.start();
    play.hall.act(play.hall.begun(), Act::Start);
    play.wait_for_states(&[Running, State::Dispatched]);
    play.signal();
    let (mut setting, hall, end) = play.end_well();
    assert_eq!((end, setting.states()), (End::Detached, vec![Running, Ready]));
    assert_eq!((hall.stops(), hall.executors()), (vec![], 1));
}
