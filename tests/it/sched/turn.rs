//! `Scheduler::turn`: what is heard goes in, jobs to start come out.

use std::time::Duration;

use ax_scheduler::clock::{Clock, SystemClock};
use ax_scheduler::exec::Report;
use ax_scheduler::job::{Claim, Outcome, Process, Settlement, State, Verdict};
use ax_scheduler::sched::{Scheduler, Step};
use ax_scheduler::store::Turn;

use super::fakes::{Mood, Moody, ended};
use super::play::Setting;

/// A scheduler that has claimed what fits.
fn claimed(setting: &Setting, capacity: usize) -> (Scheduler, Moody, Step) {
    let mut scheduler = Scheduler::new(setting.runner, setting.scope, capacity, setting.desk.db());
    let mut store = setting.moody();
    let step = turn(&mut scheduler, &mut store);
    (scheduler, store, step)
}

fn turn(scheduler: &mut Scheduler, store: &mut Moody) -> Step {
    scheduler.turn(store, SystemClock.now(), true).expect("no trouble")
}

fn claims(step: &Step) -> Vec<Claim> {
    step.tasks.iter().map(|task| task.claim).collect()
}

fn exited(claim: Claim, code: i32) -> Report {
    Report::Ended(ended(claim, Outcome::Exited(code)))
}

#[test]
fn what_was_heard_is_kept_over_trouble_and_settled_once() {
    let mut setting = Setting::with_jobs(1);
    let (mut scheduler, mut store, step) = claimed(&setting, 5);
    scheduler.note(exited(claims(&step)[0], 0));
    for mood in [Mood::Busy, Mood::Full] {
        setting.moods.then(mood);
        assert!(scheduler.turn(&mut store, SystemClock.now(), true).is_err());
        assert!(scheduler.has_news() && scheduler.in_hand() == 1);
    }
    let step = turn(&mut scheduler, &mut store);
    assert_eq!((step.events.len(), scheduler.in_hand()), (1, 0));
    assert!(!scheduler.has_news());
    assert_eq!(turn(&mut scheduler, &mut store).events.len(), 0);
    assert_eq!((setting.job(1).state, setting.job(1).attempts), (State::Success, 1));
}

#[test]
fn there_is_never_more_in_hand_than_the_capacity() {
    let setting = Setting::with_jobs(10);
    let (mut scheduler, mut store, step) = claimed(&setting, 3);
    let first = claims(&step);
    assert_eq!(first.len(), 3);
    assert!(step.more);
    assert_eq!(turn(&mut scheduler, &mut store).tasks.len(), 0);
    scheduler.note(exited(first[0], 0));
    scheduler.note(exited(first[2], 1));
    assert_eq!(turn(&mut scheduler, &mut store).tasks.len(), 2);
    assert_eq!(scheduler.in_hand(), 3);
}

#[test]
fn who_does_not_claim_settles_all_the_same() {
    let mut setting = Setting::with_jobs(2);
    let (mut scheduler, mut store, step) = claimed(&setting, 1);
    scheduler.note(exited(claims(&step)[0], 0));
    let step = scheduler.turn(&mut store, SystemClock.now(), false).expect("no trouble");
    assert_eq!((step.tasks.len(), step.more), (0, false));
    assert_eq!(setting.states(), [State::Success, State::Ready]);
}

#[test]
fn what_is_given_back_has_used_no_attempt() {
    let mut setting = Setting::with_jobs(1);
    let (mut scheduler, mut store, step) = claimed(&setting, 1);
    scheduler.give_back(claims(&step)[0], "the runner stops", SystemClock.now());
    scheduler.turn(&mut store, SystemClock.now(), false).expect("no trouble");
    assert_eq!((setting.job(1).state, setting.job(1).attempts), (State::Ready, 0));
    assert_eq!(claims(&turn(&mut scheduler, &mut store))[0].attempt, 1);
}

#[test]
fn a_start_is_told_of_once_it_is_stored() {
    let mut setting = Setting::with_jobs(1);
    let (mut scheduler, mut store, step) = claimed(&setting, 1);
    let process = Process { pid: 7, start_time: 9, started_at: SystemClock.now() };
    scheduler.note(Report::Started { claim: claims(&step)[0], process });
    assert_eq!(setting.states(), [State::Dispatched]);
    assert_eq!(turn(&mut scheduler, &mut store).events[0].to_json()["event"], "started");
    assert_eq!(setting.states(), [State::Running]);
}

#[test]
fn a_result_that_comes_too_late_changes_nothing_and_says_so() {
    let mut setting = Setting::with_jobs(1);
    let (mut scheduler, mut store, step) = claimed(&setting, 1);
    let (claim, now) = (claims(&step)[0], SystemClock.now());
    let lost = Settlement {
        claim,
        outcome: Outcome::Lost("nobody knows".to_owned()),
        verdict: Verdict::Held,
        process: None,
        ended_at: now,
        output: ended(claim, Outcome::Interrupted).output,
    };
    let settled = [lost];
    let runner = setting.runner;
    let turn_of = |settled| Turn {
        runner,
        now,
        started: &[],
        settled,
        handed: &[],
        serves: false,
        room: 0,
        scope: setting.scope,
    };
    setting.store.turn(&turn_of(&settled)).expect("no trouble");
    scheduler.note(exited(claim, 0));
    let step = turn(&mut scheduler, &mut store);
    assert_eq!(step.events[0].to_json()["late"], true);
    assert_eq!((setting.states(), scheduler.in_hand()), (vec![State::Held], 0));
}

#[test]
fn a_job_that_is_forgotten_is_somebody_elses_to_settle() {
    let mut setting = Setting::with_jobs(1);
    let (mut scheduler, mut store, step) = claimed(&setting, 1);
    scheduler.forget(claims(&step)[0]);
    scheduler.note(exited(claims(&step)[0], 0));
    assert!(!scheduler.has_news());
    turn(&mut scheduler, &mut store);
    assert_eq!(setting.states(), [State::Dispatched]);
}

#[test]
fn a_scope_takes_the_jobs_of_its_flow_alone() {
    let mut setting = Setting::with_jobs(2);
    setting.add_to_flow();
    setting.scope = Some(setting.add_to_flow());
    let (mut scheduler, mut store, step) = claimed(&setting, 9);
    assert_eq!(claims(&step).iter().map(|claim| claim.job.0).collect::<Vec<_>>(), [4]);
    assert!(!step.more, "what it may not take is nothing to do");
    scheduler.note(exited(claims(&step)[0], 0));
    assert!(!turn(&mut scheduler, &mut store).more);
    assert_eq!(setting.states()[..3], [State::Ready; 3]);
}

#[test]
fn jobs_learn_where_the_database_is_and_the_runner_when_the_next_is_due() {
    let mut setting = Setting::with_jobs(1);
    setting.add(Duration::from_hours(2));
    let (_, _, step) = claimed(&setting, 5);
    let db = step.tasks[0].spec.extra_env.get("AX_DB");
    assert_eq!(db, Some(setting.desk.db().as_os_str().as_encoded_bytes()));
    let wait = step.next_due.expect("one is due").since(SystemClock.now());
    assert!(wait > Duration::from_mins(119) && wait <= Duration::from_hours(2), "{wait:?}");
}
