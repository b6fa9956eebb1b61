//! Several runners on one file.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::Value;

use super::super::harness::ledger::noted;
use super::super::harness::{Desk, ended};
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
