//! Supervisors that sleep at a place, and wake when others have taken over.

use nix::sys::signal::Signal;
use rustix::process::{Pid, WaitOptions, waitpid};

use super::super::harness::process::{is_alive, kill};
use super::super::harness::{Desk, Runner};
use super::super::proof::Proof;
use super::super::proof::shapes::Shape;
use super::{add_all, desk, doomed, settle};

const WORDS: [&str; 6] = ["run", "--until-idle", "--workers", "1", "--poll-interval", "20ms"];

/// A supervisor sleeps at a place, and its runner is killed.
#[track_caller]
fn fall_asleep(desk: &Desk, place: &str) -> i32 {
    let mut command = desk.command(&WORDS);
    let runner = Runner::start(desk, doomed(desk, &mut command, &format!("{place}=return(stop)")));
    let sleeper = sleeper(desk, place);
    runner.kill();
    sleeper
}

/// A supervisor sleeps at a place where it only comes when its runner is dead.
/// That one takes a turn when it has heard of something alone, so that in the
/// third its supervisor, however slowly it began, has something to record.
#[track_caller]
fn fall_asleep_orphaned(desk: &Desk, place: &str) -> i32 {
    let mut command = desk.command(&["run", "--workers", "1", "--poll-interval", "1m"]);
    let places = format!("step/before-removal=2*off->return; {place}=return(stop)");
    Runner::start(desk, doomed(desk, &mut command, &places)).status();
    sleeper(desk, place)
}

#[track_caller]
fn sleeper(desk: &Desk, place: &str) -> i32 {
    desk.pid_in(&format!("crashed/{}", place.replace('/', ".")))
}

/// Lets it wake, and checks all once it has left.
#[track_caller]
fn wake_up(desk: &Desk, sleeper: i32, ids: Vec<i64>, exit: impl FnOnce() -> i32) {
    kill(sleeper, Signal::SIGCONT);
    let exits = vec![exit()];
    desk.wait_until("the sleeper has left", || !is_alive(sleeper));
    let _ = waitpid(Pid::from_raw(sleeper), WaitOptions::NOHANG);
    settle(desk);
    Proof::gather(&desk.file("ledger"), desk.db(), ids, exits).check();
    assert!(desk.states().iter().all(|state| state == "success"), "{:?}", desk.states());
}

#[test]
fn a_job_that_was_given_back_is_not_started_by_whoever_wakes_late() {
    let desk = desk();
    let ids = add_all(&desk, &Shape::Chain.lines("chain", 0.0));
    let sleeper = fall_asleep(&desk, "start/before-intent");
    let mut next = Runner::start(&desk, &mut desk.command(&WORDS));
    assert_eq!(next.exit(), 0);
    wake_up(&desk, sleeper, ids, || 0);
    assert!(desk.jobs().iter().all(|job| job["attempts"] == 1));
}

/// While the sleeper sleeps another runner is there, and starts nothing twice.
#[track_caller]
fn leave_it_to(desk: &Desk, ids: Vec<i64>, sleeper: i32) {
    let mut next = Runner::start(desk, &mut desk.command(&WORDS));
    desk.wait_until("the next runner is there", || {
        desk.ax(&["status", "--json"]).json()["runners"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    });
    assert!(next.is_alive(), "it waits for the job");
    wake_up(desk, sleeper, ids, || next.exit());
}

#[test]
fn a_job_that_somebody_is_about_to_start_or_to_end_is_left_to_him() {
    for place in [
        "start/before-fence",
        "start/before-spawn",
        "start/after-spawn",
        "start/after-journal",
        "end/before-journal",
        "end/before-report",
    ] {
        println!("{place}");
        let desk = desk();
        let ids = add_all(&desk, &Shape::Chain.lines("chain", 0.02));
        let sleeper = fall_asleep(&desk, place);
        leave_it_to(&desk, ids, sleeper);
    }
}

#[test]
fn an_end_that_somebody_is_about_to_record_is_left_to_him() {
    for place in ["orphan/before-redirect", "record/before-turn"] {
        println!("{place}");
        let desk = desk();
        let ids = add_all(&desk, &Shape::Chain.lines("chain", 0.02));
        let sleeper = fall_asleep_orphaned(&desk, place);
        leave_it_to(&desk, ids, sleeper);
    }
}
