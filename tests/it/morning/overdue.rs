//! `ax overdue`, as a monitor calls it.

use crate::harness::{Desk, gate};
use crate::scheduling::make_due;

const NOW: [&str; 3] = ["overdue", "--grace", "0"];

#[test]
fn what_no_runner_has_started_is_overdue_and_the_exit_code_tells() {
    let desk = Desk::new();
    desk.add(&["-n", "backup"], "true");
    let said = desk.ax(&["overdue"]);
    assert_eq!((said.exit, said.text(), said.err.as_str()), (0, "", ""), "it may be late by 5m");
    let said = desk.ax(&NOW);
    assert_eq!(said.exit, 1);
    let text = said.text();
    assert!(
        text.contains(" 1  backup  ready ") && text.contains("  no runner is alive\n"),
        "{text}"
    );
    assert!(text.ends_with("\nno runner is alive; `ax run` starts one\n"), "{text}");
    desk.ok(&["run", "--until-idle"]);
    let said = desk.ax(&NOW);
    assert_eq!((said.exit, said.text()), (0, ""));
}

#[test]
fn a_schedule_whose_time_has_passed_is_overdue() {
    let desk = Desk::new();
    desk.ok(&["schedule", "add", "nightly", "--cron", "@yearly", "--", "true"]);
    assert_eq!(desk.ax(&NOW).exit, 0);
    make_due(&desk, "nightly");
    let said = desk.ax(&[&NOW[..], &["--json"]].concat());
    assert_eq!(said.exit, 1);
    assert_eq!(said.json()[0]["schedule"], "nightly");
    assert_eq!(said.json()[0]["reason"], "no runner is alive (schedule nightly)");
}

#[test]
fn what_waits_behind_a_paused_group_or_a_busy_worker_says_so() {
    let desk = Desk::new();
    desk.add(&["-p", "9"], &gate("go"));
    desk.add(&["--group", "g"], "true");
    desk.ok(&["group", "pause", "g"]);
    desk.add(&[], "true");
    let _runner = desk.run(&["--workers", "1", "--queue-size", "4"]);
    desk.wait_for_states(&["running", "ready", "dispatched"]);
    let said = desk.ax(&[&NOW[..], &["-o", "jsonl"]].concat());
    assert_eq!(said.exit, 1);
    let text = said.text();
    assert!(text.contains("group g, which is paused; `ax group resume` lets it go on"), "{text}");
    assert!(text.contains("a runner has claimed it"), "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
    desk.ok(&["group", "resume", "g"]);
    desk.open("go");
    desk.wait_for_states(&["success"; 3]);
    assert_eq!(desk.ax(&NOW).exit, 0);
}

#[test]
fn a_long_list_is_cut_for_people_and_whole_for_scripts() {
    let desk = Desk::new();
    let jobs = "{\"command\": \"true\"}\n".repeat(25);
    assert_eq!(desk.typing(&["add", "--from", "-"], &jobs).exit, 0);
    let said = desk.ax(&NOW);
    assert_eq!(said.text().lines().count(), 1 + 20 + 1 + 1, "{}", said.text());
    assert!(said.text().contains("\nand 5 more\n"));
    let lines = |options: &[&str]| desk.ax(&[&NOW[..], options].concat()).text().lines().count();
    assert_eq!(lines(&["-o", "ids"]), 25);
    assert_eq!(lines(&["-o", "ids", "-n", "3"]), 3);
    assert_eq!(lines(&["-o", "csv"]), 26);
}

#[test]
fn where_there_is_no_database_a_monitor_is_told_and_none_is_made() {
    let desk = Desk::new();
    let said = desk.ax(&["overdue"]);
    let want = format!("ax: there is no database {}\n", desk.db().display());
    assert_eq!(said.exit, 5);
    assert!(said.err.starts_with(&want), "{}", said.err);
    assert!(!desk.db().exists());
}
