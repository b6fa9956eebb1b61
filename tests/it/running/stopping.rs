//! Signals to a runner, one after the other.

use std::path::PathBuf;

use nix::sys::signal::Signal;

use super::super::harness::process::is_alive;
use super::super::harness::{Desk, gate};
use super::{busy_runner, gated};

const NONE: [PathBuf; 0] = [];

#[test]
fn the_first_signal_lets_running_jobs_end_and_gives_the_others_back() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let desk = Desk::new();
        let mut runner = busy_runner(&desk, &[]);
        runner.signal(signal);
        desk.wait_for_states(&["running", "ready", "ready"]);
        assert_eq!(desk.job(2)["attempts"], 0);
        assert!(runner.is_alive());
        desk.open("go");
        assert_eq!(runner.exit(), 0);
        assert_eq!(desk.states(), ["success", "ready", "ready"]);
        assert_eq!(desk.leftovers(), NONE);
        assert_eq!(desk.run(&["--once", "--workers", "1"]).exit(), 0);
        assert_eq!(desk.ledger().ends(), [1, 2, 3]);
        desk.ledger().check();
    }
}

#[test]
fn the_second_signal_stops_running_jobs_and_puts_them_back() {
    let desk = Desk::new();
    let mut runner = busy_runner(&desk, &[]);
    let supervisors = runner.supervisors();
    runner.signal(Signal::SIGTERM);
    desk.wait_for_states(&["running", "ready", "ready"]);
    runner.signal(Signal::SIGTERM);
    assert_eq!(runner.exit(), 0);
    assert_eq!(desk.states(), ["ready", "ready", "ready"]);
    let job = desk.job(1);
    assert_eq!((&job["attempts"], &job["retry_count"]), (&1.into(), &0.into()));
    assert_eq!(job["attempts_history"][0]["outcome"], "interrupted");
    assert!(!supervisors.into_iter().any(is_alive));
    assert_eq!(desk.leftovers(), NONE);
    desk.open("go");
    assert_eq!(desk.run(&["--once"]).exit(), 0);
    assert_eq!(desk.job(1)["attempts"], 2);
    assert_eq!(desk.ledger().ends().len(), 3);
}

#[test]
fn the_third_signal_ends_the_runner_and_its_supervisor_goes_on() {
    let desk = Desk::new();
    let text = format!("trap '' TERM; echo $$ > main; {}", gate("go"));
    desk.add(&["--kill-after", "1h"], &text);
    let mut runner = desk.run(&[]);
    let main = desk.pid_in("main");
    desk.wait_for_states(&["running"]);
    runner.signal(Signal::SIGTERM);
    desk.wait_until("it drains", || runner.err().contains("no more jobs"));
    runner.signal(Signal::SIGTERM);
    desk.wait_until("it stops", || runner.err().contains("are stopped"));
    runner.signal(Signal::SIGTERM);
    runner.exit();
    assert!(is_alive(main));
    desk.open("go");
    desk.wait_for_states(&["ready"]);
    assert_eq!(desk.job(1)["retry_count"], 0);
}

#[test]
fn signals_end_a_runner_that_waits_for_the_store() {
    let desk = Desk::new();
    let mut runner = busy_runner(&desk, &[]);
    let lock = desk.lock();
    // Signals that come at once are one, so three may not be enough.
    desk.wait_until("it ends", || {
        let lives = runner.is_alive();
        if lives {
            runner.signal(Signal::SIGTERM);
        }
        !lives
    });
    assert_eq!(runner.exit(), 1);
    drop(lock);
    desk.open("go");
    // A signal that came before the runner waited has stopped the job.
    desk.wait_until("its supervisor has recorded the end", || {
        ["success", "ready"].iter().any(|state| desk.job(1)["status"] == *state)
    });
}

#[test]
fn grace_ends_by_itself() {
    let desk = Desk::new();
    let mut runner = busy_runner(&desk, &["--grace", "100ms", "--poll-interval", "1h"]);
    runner.signal(Signal::SIGTERM);
    assert_eq!(runner.exit(), 0);
    assert_eq!(desk.states(), ["ready"; 3]);
}

#[test]
fn a_runner_that_waits_for_a_job_to_stop_sleeps() {
    let desk = Desk::new();
    let text = format!("trap '' TERM; echo $$ > main; {}", gate("go"));
    desk.add(&["--kill-after", "1h"], &text);
    let mut runner = desk.run(&["--grace", "0"]);
    desk.pid_in("main");
    desk.wait_for_states(&["running"]);
    runner.signal(Signal::SIGTERM);
    desk.wait_until("it stops", || runner.err().contains("are stopped"));
    runner.assert_asleep();
    desk.open("go");
    assert_eq!(runner.exit(), 0);
}

#[test]
fn on_stop_kill_stops_jobs_at_the_first_signal() {
    let desk = Desk::new();
    let mut runner = busy_runner(&desk, &["--on-stop", "kill"]);
    runner.signal(Signal::SIGTERM);
    assert_eq!(runner.exit(), 0);
    assert_eq!(desk.states(), ["ready"; 3]);
    assert_eq!((&desk.job(1)["attempts"], &desk.job(2)["attempts"]), (&1.into(), &0.into()));
}

#[test]
fn on_stop_detach_leaves_jobs_to_their_supervisors() {
    let desk = Desk::new();
    let mut runner = busy_runner(&desk, &["--on-stop", "detach"]);
    runner.signal(Signal::SIGTERM);
    assert_eq!(runner.exit(), 0);
    assert_eq!(desk.states(), ["running", "ready", "ready"]);
    let mut next = desk.run(&["--until-idle", "--workers", "2"]);
    desk.wait_for_states(&["running", "running", "running"]);
    assert_eq!(desk.ledger().starts().len(), 3);
    desk.open("go");
    assert_eq!(next.exit(), 0);
    assert_eq!(desk.states(), ["success"; 3]);
    desk.ledger().check();
    assert_eq!(desk.run(&["--once"]).exit(), 0);
    assert_eq!(desk.leftovers(), NONE);
}

#[test]
fn a_detached_job_is_recorded_without_a_runner() {
    let desk = Desk::new();
    desk.add(&[], &format!("{}; echo said", gated()));
    let mut runner = desk.run(&["--on-stop", "detach"]);
    desk.wait_for_states(&["running"]);
    runner.signal(Signal::SIGTERM);
    assert_eq!(runner.exit(), 0);
    desk.open("go");
    desk.wait_for_states(&["success"]);
    assert_eq!(desk.ok(&["logs", "1"]), "said\n");
    desk.wait_until("the output file is gone", || {
        !desk.leftovers().iter().any(|path| path.ends_with("1.1.log"))
    });
}

#[test]
fn a_run_that_is_stopped_before_its_end_has_failed() {
    let desk = Desk::new();
    desk.add(&[], &gated());
    let mut runner = desk.run(&["--until-idle"]);
    desk.wait_for_states(&["running"]);
    runner.signal(Signal::SIGTERM);
    desk.wait_until("it drains", || runner.err().contains("no more jobs"));
    desk.open("go");
    assert_eq!(runner.exit(), 1);
}
