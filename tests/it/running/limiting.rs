//! Groups and mutexes, with real processes and several runners.

use super::super::harness::{Desk, gate};

/// Shell text of a job that fails if another one is in the same directory at
/// the same time, and notes that it was there.
const ALONE: &str = "mkdir busy || exit 9; echo $AX_JOB_ID >> order; sleep 0.02; rmdir busy";

fn lines(desk: &Desk, name: &str) -> usize {
    std::fs::read_to_string(desk.file(name)).unwrap_or_default().lines().count()
}

#[test]
fn twenty_jobs_with_one_mutex_never_overlap_over_three_runners() {
    let desk = Desk::new();
    for _ in 0..20 {
        desk.add(&["--mutex", "m", "-r", "0"], ALONE);
    }
    let mut runners = [(); 3].map(|()| desk.run(&["--until-idle", "--workers", "4"]));
    assert_eq!(runners.each_mut().map(super::super::harness::Runner::exit), [0; 3]);
    assert_eq!(desk.states(), ["success"; 20]);
    assert_eq!(lines(&desk, "order"), 20);
}

#[test]
fn a_mutex_is_kept_until_nothing_of_a_lost_attempt_is_left() {
    let desk = Desk::new();
    let text = "[ $AX_ATTEMPT = 1 ] || exit 0; mkdir busy; echo $$ > main; \
                trap '' TERM; while true; do sleep 0.05; done";
    desk.add(&["--mutex", "m", "-p", "9", "--retry-delay", "0"], text);
    let runner = desk.run(&[]);
    let main = desk.pid_in("main");
    desk.wait_for_states(&["running"]);
    let text = format!("grep -qs 'State:.[RSDT]' /proc/{main}/status && exit 9; exit 0");
    desk.add(&["--mutex", "m", "-r", "0"], &text);
    runner.kill_with_supervisors();
    assert_eq!(desk.run(&["--until-idle"]).exit(), 0);
    assert_eq!(desk.states(), ["success"; 2]);
    assert_eq!(desk.job(1)["attempts"], 2);
}

#[test]
fn a_group_runs_as_many_as_it_is_set_to_also_when_that_changes() {
    let desk = Desk::new();
    desk.ok(&["group", "set", "g", "--parallel", "1"]);
    for _ in 0..3 {
        desk.add(&["-g", "g"], &gate("go"));
    }
    desk.add(&["-p", "1"], "true");
    let _runner = desk.run(&["--workers", "4", "--poll-interval", "1h"]);
    desk.wait_for_states(&["running", "ready", "ready", "success"]);
    assert_eq!(desk.job(2)["reason"], "waits for group g: 1 of 1 running");
    desk.ok(&["group", "set", "g", "--parallel", "2"]);
    desk.wait_for_states(&["running", "running", "ready", "success"]);
    desk.ok(&["group", "pause", "g"]);
    desk.ok(&["group", "set", "g", "--parallel", "none"]);
    desk.open("go");
    desk.wait_for_states(&["success", "success", "ready", "success"]);
    let why = "waits for group g, which is paused; `ax group resume` lets it go on";
    assert_eq!(desk.job(3)["reason"], why);
    desk.ok(&["group", "resume", "g"]);
    desk.wait_for_states(&["success"; 4]);
}

#[test]
fn until_idle_waits_for_a_full_group_and_not_for_a_paused_one() {
    let desk = Desk::new();
    desk.ok(&["group", "set", "full", "--parallel", "1"]);
    for _ in 0..3 {
        desk.add(&["-g", "full"], "sleep 0.05");
    }
    desk.add(&["-g", "paused"], "true");
    desk.ok(&["group", "pause", "paused"]);
    assert_eq!(desk.run(&["--until-idle", "--workers", "4"]).exit(), 0);
    assert_eq!(desk.states(), ["success", "success", "success", "ready"]);
}

#[test]
fn what_was_claimed_of_a_group_is_not_started_once_the_group_is_paused() {
    let desk = Desk::new();
    for _ in 0..4 {
        desk.add(&["-g", "g"], &gate("go"));
    }
    desk.add(&["-p", "1"], "true");
    let _runner = desk.run(&["--workers", "1", "--queue-size", "4", "--poll-interval", "1h"]);
    desk.wait_for_states(&["running", "dispatched", "dispatched", "dispatched", "dispatched"]);
    desk.ok(&["group", "pause", "g"]);
    desk.wait_for_states(&["running", "ready", "ready", "ready", "dispatched"]);
    desk.open("go");
    desk.wait_for_states(&["success", "ready", "ready", "ready", "success"]);
    assert_eq!(desk.job(2)["attempts"], 0, "no attempt is used");
    desk.ok(&["group", "resume", "g"]);
    desk.wait_for_states(&["success"; 5]);
}

#[test]
fn what_was_claimed_of_a_group_goes_back_when_its_limit_is_lowered() {
    let desk = Desk::new();
    for _ in 0..4 {
        desk.add(&["-g", "g"], &gate("go"));
    }
    let _runner = desk.run(&["--workers", "1", "--queue-size", "4", "--poll-interval", "1h"]);
    desk.wait_for_states(&["running", "dispatched", "dispatched", "dispatched"]);
    desk.ok(&["group", "set", "g", "--parallel", "1"]);
    desk.wait_for_states(&["running", "ready", "ready", "ready"]);
    desk.open("go");
    desk.wait_for_states(&["success"; 4]);
}
