//! `ax failures`, and what is done about those of one cause.

use std::time::Duration;

use ax_scheduler::job::Outcome;
use serde_json::Value;

use super::{Ended, Night, ended};
use crate::harness::Desk;

/// One of 10,000 jobs of which 300 fail, of five causes.
fn one_of_many(n: usize) -> Ended {
    let name = format!("job {n}");
    let (outcome, line) = match n % 100 {
        0 => (
            Outcome::Exited(1),
            format!(
                "[2026-12-01 02:{:02}:{:02}] cp: error writing '/mnt/{n}/part {n}.tar': No space left on device",
                n % 60,
                n % 59
            ),
        ),
        1 if n % 2_000 < 1_000 => (
            Outcome::Exited(7),
            format!(
                "curl: (7) Failed to connect to example.org port 443 after {n} ms: Connection refused"
            ),
        ),
        1 => (Outcome::TimedOut(Duration::from_secs(n as u64 + 1)), String::new()),
        2 if n % 2_000 < 1_000 => (
            Outcome::Signaled(9),
            format!("worker{n} handles request {n:08x}-{n:04x}-4{:03x}-8000-{n:012x}", n % 4096),
        ),
        2 => (Outcome::Exited(1), format!("KeyError: 'price' in /data/{n}.csv")),
        _ => (Outcome::Exited(0), format!("{n} done")),
    };
    ended(&name, outcome, line)
}

fn failures(desk: &Desk) -> Vec<Value> {
    desk.ax(&["failures", "--json"]).json().as_array().expect("an array").clone()
}

#[test]
fn three_hundred_failures_of_five_causes_among_ten_thousand_jobs_are_five_rows() {
    let mut night = Night::new();
    night.pass(&(0..10_000).map(one_of_many).collect::<Vec<_>>());
    let table = night.desk.ok(&["failures"]);
    assert_eq!(table.lines().count(), 1 + 5, "{table}");
    let causes = failures(&night.desk);
    let jobs: Vec<_> = causes.iter().map(|cause| cause["jobs"].as_u64()).collect();
    assert_eq!(jobs, [100, 50, 50, 50, 50].map(Some));
    let ends: Vec<_> = causes.iter().map(|cause| cause["end"].as_str().expect("a text")).collect();
    assert_eq!(ends[0], "exit 1");
    for end in ["exit 7", "timed out", "signal 9", "exit 1"] {
        assert!(ends.contains(&end), "{end} of {ends:?}");
    }
    let full = &causes[0];
    assert_eq!(full["error"], "[<time>] cp: error writing '<path>': No space left on device");

    let cause = full["cause"].as_str().expect("a text");
    let ids = night.desk.ok(&["list", "--cause", cause, "-q"]);
    assert!(ids.lines().all(|id| id.parse::<usize>().expect("an id") % 100 == 1), "{ids}");
    let would = night.desk.ok(&["retry", "--cause", &cause[..4], "--dry-run", "-o", "ids"]);
    assert_eq!(would, ids);
    assert_eq!(failures(&night.desk), causes, "nothing was done");
    assert_eq!(night.desk.ok(&["retry", "--cause", &cause[..4], "-o", "ids"]), ids);
    assert_eq!(failures(&night.desk), causes[1..], "those of one are back, and no others");
    assert_eq!(night.desk.ok(&["list", "--status", "dead", "-q"]).lines().count(), 200);
}

#[test]
fn a_real_failure_is_found_by_its_cause_and_runs_again() {
    let desk = Desk::new();
    for n in 1..=2 {
        desk.add(
            &["-r", "0"],
            &format!("test -e fixed || {{ echo cannot read /in/{n}.csv >&2; exit {n}; }}"),
        );
    }
    assert_eq!(desk.ax(&["run", "--until-idle"]).exit, 1);
    let causes = failures(&desk);
    assert_eq!(causes.len(), 2, "an exit code is a part of the cause");
    desk.open("fixed");
    let second = causes.iter().find(|cause| cause["end"] == "exit 2").expect("job 2");
    assert_eq!(second["example"], 2);
    desk.ok(&["retry", "--cause", second["cause"].as_str().expect("a text")]);
    desk.ok(&["run", "--until-idle"]);
    assert_eq!(desk.states(), ["dead", "success"]);
}

#[test]
fn every_format_has_the_causes() {
    let mut night = Night::new();
    night.pass(&[
        ended("a", Outcome::Exited(3), "no such table".to_owned()),
        ended("b", Outcome::Exited(3), "no such table".to_owned()),
        ended("c", Outcome::Exited(4), "\u{1b}[31mred\u{1b}[0m".to_owned()),
    ]);
    let csv = night.desk.ok(&["failures", "-o", "csv"]);
    let head = "cause,jobs,end,error,first_at,last_at,example,example_name,example_error";
    assert_eq!(csv.lines().next(), Some(head));
    assert_eq!(csv.lines().count(), 1 + 2);
    assert_eq!(night.desk.ok(&["failures", "-o", "jsonl"]).lines().count(), 2);
    assert_eq!(night.desk.ok(&["failures", "-o", "ids"]), "1\n2\n3\n");
    let first = night.desk.ok(&["failures", "-n", "1"]);
    assert!(first.ends_with("  no such table\nand 1 more cause\n"), "{first}");
    let of_one = night.desk.ok(&["failures", "name:c", "--since", "2026-01-01 02:00"]);
    assert_eq!(of_one.lines().count(), 2, "{of_one}");
    assert!(!of_one.contains('\u{1b}'));
    assert_eq!(night.desk.ok(&["failures", "--name", "nobody"]), "");
}

#[test]
fn a_cause_that_is_none_is_told_in_words() {
    let mut night = Night::new();
    night.pass(&[ended("a", Outcome::Exited(3), "no such table".to_owned())]);
    let said = night.desk.ax(&["retry", "--cause", "12"]);
    let want =
        "ax: `12` is not the id of a cause\nhint: `ax failures` shows the causes and their ids\n";
    assert_eq!((said.exit, said.err.as_str()), (2, want));
    let said = night.desk.ax(&["retry", "--cause", "zzzzzzzz"]);
    let want = "ax: nothing failed of a cause `zzzzzzzz`\nhint: `ax failures` shows the causes there are\n";
    assert_eq!((said.exit, said.err.as_str()), (3, want));
    assert_eq!(night.desk.ax(&["retry", "--cause", "b", "1"]).exit, 2);
    assert_eq!(night.desk.ax(&["failures", "99"]).exit, 3);
}
