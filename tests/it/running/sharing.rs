//! Several runners on one file.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::Value;

use super::super::harness::ledger::noted;
use super::super::harness::{Desk, ended, gate};
use super::gated;

fn add_many(desk: &Desk, count: usize) {
    let line = serde_json::json!({ "command": noted("true"), "max_retries": 0 });
    let said = desk.typing(&["add", "--from", "-"], &format!("{line}\n").repeat(count));
    assert_eq!(said.exit, 0, "{}", said.err);
}

#[test]
fn four_runners_start_each_of_many_jobs_once() {
    let desk = Desk::new();
    add_many(&desk, 400);
    let runners: Vec<_> = (0..4).map(|_| desk.run(&["--until-idle", "--workers", "2"])).collect();
    for mut runner in runners {
        assert_eq!(runner.exit(), 0);
    }
    let ledger = desk.ledger();
    ledger.check();
    assert_eq!(ledger.starts().len(), 400);
    assert_eq!(ledger.ends().into_iter().collect::<BTreeSet<_>>().len(), 400);
    assert!(desk.jobs().iter().all(|job| job["status"] == "success" && job["attempts"] == 1));
    assert_eq!(desk.leftovers().len(), 0);
}

#[test]
fn a_runner_that_is_killed_among_others_loses_and_doubles_nothing() {
    let desk = Desk::new();
    add_many(&desk, 300);
    let victim = desk.run(&["--workers", "2"]);
    let mut other = desk.run(&["--workers", "2", "--until-idle", "--poll-interval", "50ms"]);
    desk.wait_until("some have run", || desk.ledger().ends().len() > 50);
    victim.kill();
    assert_eq!(other.exit(), 0);
    let ledger = desk.ledger();
    ledger.check();
    assert_eq!(ledger.starts().len(), 300);
    assert!(desk.jobs().iter().all(|job| job["status"] == "success" && job["attempts"] == 1));
}

/// Three jobs that were lost with their runner and its supervisors.
fn lose_three(desk: &Desk, options: &[&str]) {
    for _ in 0..3 {
        desk.add(options, &gated());
    }
    let runner = desk.run(&["--workers", "3"]);
    desk.wait_for_states(&["running"; 3]);
    runner.kill_with_supervisors();
}

#[test]
fn five_that_recover_at_once_settle_each_job_once() {
    let desk = Desk::new();
    lose_three(&desk, &["--on-lost", "fail"]);
    let start = || {
        let mut command = desk.command(&["recover", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started")
    };
    let recovering: Vec<_> = (0..5).map(|_| start()).collect();
    let mut settled = Vec::new();
    for child in recovering {
        let said = ended(child);
        assert_eq!(said.exit, 0, "{}", said.err);
        let rows: Vec<Value> = serde_json::from_value(said.json()).expect("an array");
        settled.extend(rows.iter().map(|row| row["id"].as_i64().expect("an id")));
    }
    settled.sort_unstable();
    assert_eq!(settled, [1, 2, 3]);
    assert_eq!(desk.states(), ["dead"; 3]);
}

#[test]
fn five_runners_that_start_at_once_run_what_was_lost_once_more() {
    let desk = Desk::new();
    lose_three(&desk, &["--on-lost", "requeue", "--retry-delay", "0"]);
    desk.open("go");
    let runners: Vec<_> = (0..5).map(|_| desk.run(&["--until-idle", "--workers", "1"])).collect();
    for mut runner in runners {
        assert_eq!(runner.exit(), 0);
    }
    assert!(desk.jobs().iter().all(|job| job["status"] == "success" && job["attempts"] == 2));
    assert_eq!(desk.ledger().starts().len(), 6);
}

#[test]
fn what_a_busy_runner_has_no_worker_for_is_run_by_another() {
    let desk = Desk::new();
    desk.add(&[], &gate("go"));
    let _busy = desk.run(&["--workers", "1"]);
    desk.wait_for_states(&["running"]);
    for _ in 0..4 {
        desk.add(&["--mutex", "m"], "true");
    }
    let _free = desk.run(&["--workers", "1"]);
    desk.wait_for_states(&["running", "success", "success", "success", "success"]);
    desk.open("go");
    desk.wait_for_states(&["success"; 5]);
}

#[test]
fn what_was_claimed_behind_short_jobs_goes_back_when_a_long_one_comes_before_it() {
    let desk = Desk::new();
    for _ in 0..40 {
        desk.add(&["-p", "9"], "true");
    }
    let long = desk.add(&["-p", "8"], &gate("go"));
    for _ in 0..2 {
        desk.add(&["-p", "7"], "true");
    }
    let _busy = desk.run(&["--workers", "1"]);
    desk.wait_until("the long one runs", || desk.job(long)["status"] == "running");
    let _free = desk.run(&["--workers", "1"]);
    let states = || desk.states()[41..].to_vec();
    desk.wait_until("another runner has taken the rest", || states() == ["success", "success"]);
    assert_eq!(desk.job(long)["status"], "running");
    desk.open("go");
    desk.wait_for_states(&["success"; 43]);
}
