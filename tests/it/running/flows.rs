//! Flows that are run from their files.

use std::fs;

use super::super::harness::{Desk, Said, said};
use super::gated;

/// The flow of the tour, with its products at the desk.
fn nightly(desk: &Desk, more: &[&str]) -> Said {
    let flow = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/flows/nightly.toml");
    let mut command = desk.command(&[&["run", flow], more].concat());
    said(command.env("TMPDIR", desk.path()).env("NIGHTLY_SOURCE", source(desk)))
}

fn source(desk: &Desk) -> String {
    desk.file("orders.csv").display().to_string()
}

fn deliver(desk: &Desk) {
    let orders = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/flows/nightly/orders.csv");
    fs::copy(orders, source(desk)).expect("copied");
}

#[test]
fn a_flow_runs_to_its_end_and_shows_what_became_of_it() {
    let desk = Desk::new();
    deliver(&desk);
    let said = nightly(&desk, &[]);
    assert_eq!(said.exit, 0, "{}", said.err);
    let lines: Vec<_> = said.text().lines().collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    for (line, (name, state)) in lines[1..].iter().zip([
        ("fetch", "success"),
        ("clean", "success"),
        ("report", "success"),
        ("alert", "skipped"),
    ]) {
        assert!(line.contains(name) && line.contains(state), "{line}");
    }
    assert!(desk.file("ax-nightly/report.txt").exists());
    assert_eq!(desk.leftovers().len(), 0);
}

#[test]
fn a_flow_that_fails_alerts_and_goes_on_once_its_cause_is_mended() {
    let desk = Desk::new();
    let said = nightly(&desk, &["--json"]);
    assert_eq!(said.exit, 1, "{}", said.err);
    assert_eq!(desk.states(), ["dead", "skipped", "skipped", "success"]);
    assert_eq!(desk.job(1)["attempts"], 2);
    assert!(desk.file("ax-nightly/alert.txt").exists());
    deliver(&desk);
    desk.ok(&["retry", "1"]);
    assert_eq!(desk.run(&["--until-idle"]).exit(), 0);
    assert_eq!(desk.states(), ["success"; 4]);
    assert!(desk.file("ax-nightly/report.txt").exists());
}

/// A flow of one job that waits for a file.
fn gated_flow(desk: &Desk) {
    let text = format!("name = \"waits\"\n[jobs.one]\nrun = '''{}'''\n", gated());
    fs::write(desk.file("waits.toml"), text).expect("written");
}

#[test]
fn a_flow_leaves_the_jobs_of_others_alone_and_sleeps_beside_them() {
    let desk = Desk::new();
    desk.add(&[], "touch other");
    gated_flow(&desk);
    let mut runner = desk.run(&["waits.toml"]);
    desk.wait_until("the flow runs", || desk.job(2)["status"] == "running");
    runner.assert_asleep();
    desk.open("go");
    assert_eq!(runner.exit(), 0);
    assert_eq!(desk.states(), ["ready", "success"]);
    assert!(!desk.file("other").exists());
}

#[test]
fn a_flow_that_is_stopped_has_not_gone_well() {
    let desk = Desk::new();
    gated_flow(&desk);
    let mut runner = desk.run(&["waits.toml", "--on-stop", "kill"]);
    desk.wait_for_states(&["running"]);
    runner.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(runner.exit(), 1);
    assert_eq!(desk.states(), ["ready"]);
}
