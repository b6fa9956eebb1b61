//! Processes that do not end when they are killed, as those of another user or
//! those that wait for a device that does not answer.

use super::super::harness::{Desk, Runner, gate};
use super::{desk, doomed};

const MUTE: &str = "kill/mute=return";

/// Shell text of a job that only ends once there is a file `go`.
fn stubborn() -> String {
    format!("trap '' TERM; {}", super::super::harness::ledger::noted(&gate("go")))
}

fn runner(desk: &Desk) -> Runner {
    let mut command = desk.command(&["run", "--workers", "1", "--poll-interval", "20ms"]);
    Runner::start(desk, doomed(desk, &mut command, MUTE))
}

#[track_caller]
fn wait_until_shown(desk: &Desk, job: i64) {
    desk.wait_until("it is shown", || {
        let job = desk.job(job);
        let reason = job["reason"].as_str().unwrap_or_default();
        job["status"] == "running" && reason.starts_with("killed and not ended: process ")
    });
}

#[test]
fn a_job_that_cannot_be_killed_is_shown_and_its_worker_is_set_aside() {
    let desk = desk();
    let options = ["-r", "0", "--timeout", "200ms", "--kill-after", "0"];
    let stuck = desk.add(&options, &stubborn());
    let other = desk.add(&[], "true");
    let runner = runner(&desk);
    wait_until_shown(&desk, stuck);
    let list = desk.ok(&["list"]);
    assert!(list.contains("killed and not ended: process "), "{list}");
    let shown = desk.ok(&["show", &stuck.to_string()]);
    assert!(shown.contains("it is being stopped; killed and not ended: process "), "{shown}");
    let told = format!("job {stuck}, attempt 1: killed and not ended: ");
    desk.wait_until("the runner tells of it", || runner.err().contains(&told));
    assert_ne!(desk.job(other)["status"], "success");
    desk.open("go");
    desk.wait_for_states(&["dead", "success"]);
    assert!(desk.job(stuck)["reason"].is_null());
}

#[test]
fn what_a_dead_supervisor_left_and_cannot_be_killed_is_shown_and_waited_for() {
    let desk = desk();
    let lost = desk.add(&["--on-lost", "requeue"], &stubborn());
    let first = desk.run(&["--workers", "1"]);
    desk.wait_until("it runs", || desk.ledger().starts() == [lost]);
    desk.wait_for_states(&["running"]);
    first.kill_with_supervisors();
    let next = runner(&desk);
    wait_until_shown(&desk, lost);
    let told = format!("job {lost}, attempt 1: outcome unknown: killed and not ended: ");
    desk.wait_until("the runner tells of it", || next.err().contains(&told));
    desk.add(&[], "true");
    desk.wait_for_states(&["running", "success"]);
    desk.open("go");
    desk.wait_for_states(&["success", "success"]);
    assert_eq!(desk.job(lost)["attempts"], 2);
    desk.ledger().check();
}
