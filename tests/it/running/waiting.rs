//! `ax wait`, and `ax add` that waits.

use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use super::super::harness::process::time_at_work;
use super::super::harness::{Desk, ended, gate, said};

fn start(desk: &Desk, words: &[&str]) -> Child {
    let mut command = desk.command(words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started")
}

#[test]
fn it_ends_with_the_jobs_and_tells_how_by_its_exit_code() {
    let desk = Desk::new();
    desk.add(&["-r", "0"], "exit 42");
    desk.add(&["-r", "0"], "kill -9 $$");
    desk.add(&["--after", "1"], "true");
    desk.add(&[], &gate("go"));
    let _runner = desk.run(&["--poll-interval", "1h"]);
    let waiting = start(&desk, &["wait", "4", "1"]);
    let well = start(&desk, &["wait", "4", "--exit-code"]);
    desk.open("go");
    let said = ended(waiting);
    assert_eq!((said.exit, said.text()), (1, ""));
    assert_eq!(
        said.err,
        "ax: job 1 is dead: exit 42\nhint: `ax show 1` tells everything about it\n"
    );
    assert_eq!(ended(well).exit, 0);
    for (words, exit) in [
        (&["wait", "1", "--exit-code"][..], 42),
        (&["wait", "4", "2", "1", "--exit-code"], 137),
        (&["wait", "3", "--exit-code"], 1),
        (&["wait", "4"], 0),
        (&["wait", "9"], 3),
        (&["wait", "status:running"], 3),
        (&["wait"], 2),
        (&["wait", "4", "--timeout", "-1"], 2),
    ] {
        assert_eq!(desk.ax(words).exit, exit, "{words:?}");
    }
    let said = desk.ax(&["wait", "1,4", "--json"]);
    assert_eq!((said.exit, &said.json()[0]["exit_code"]), (1, &42.into()));
}

#[test]
fn it_runs_out_of_time_with_and_without_a_runner() {
    let desk = Desk::new();
    desk.add(&[], &gate("go"));
    desk.add(&["--hold"], "true");
    let said = desk.ax(&["wait", "1", "--timeout", "50ms"]);
    assert_eq!(said.exit, 124);
    assert_eq!(said.err, "ax: job 1 is still ready\nhint: `ax show 1` says what it waits for\n");
    let _runner = desk.run(&[]);
    desk.wait_for_states(&["running", "held"]);
    for id in ["1", "2"] {
        assert_eq!(desk.ax(&["wait", id, "--timeout", "0"]).exit, 124);
    }
    desk.open("go");
    assert_eq!(desk.ax(&["wait", "1", "--timeout", "1h"]).exit, 0);
}

#[test]
fn it_sleeps_while_nothing_happens_and_wakes_when_something_does() {
    const SPAN: Duration = Duration::from_millis(500);
    let desk = Desk::new();
    desk.add(&[], &gate("go"));
    let _runner = desk.run(&["--poll-interval", "1h"]);
    desk.wait_for_states(&["running"]);
    let waiting = start(&desk, &["wait", "1"]);
    let pid = i32::try_from(waiting.id()).expect("a process id fits");
    desk.wait_until("it has begun", || {
        std::fs::read_to_string(format!("/proc/{pid}/wchan")).is_ok_and(|at| at.contains("poll"))
            || time_at_work(pid) > Duration::ZERO
    });
    let before = time_at_work(pid);
    thread::sleep(SPAN);
    let worked = time_at_work(pid).saturating_sub(before);
    assert!(worked < SPAN / 5, "it was at work for {worked:?} of {SPAN:?}");
    desk.open("go");
    assert_eq!(ended(waiting).exit, 0);
}

#[test]
fn adding_and_waiting_prints_the_id_at_once_and_exits_as_the_job_does() {
    let desk = Desk::new();
    let _runner = desk.run(&[]);
    let said = desk.ax(&["add", "--wait", "-r", "0", "echo said; exit 7"]);
    assert_eq!((said.exit, said.text()), (7, "1\n"));
    let said = desk.ax(&["add", "--wait", "true"]);
    assert_eq!((said.exit, said.text(), said.err.as_str()), (0, "2\n", ""));
    let lines = "{\"command\": \"true\"}\n{\"command\": \"exit 5\", \"max_retries\": 0}\n";
    let said = desk.typing(&["add", "--wait", "--from", "-"], lines);
    assert_eq!((said.exit, said.text()), (5, "3\n4\n"));
}

#[test]
fn adding_and_following_shows_what_every_attempt_prints_and_exits_as_the_job_does() {
    let desk = Desk::new();
    let _runner = desk.run(&[]);
    let text = "echo attempt $AX_ATTEMPT; [ $AX_ATTEMPT = 2 ] || exit 3";
    let said = desk.ax(&["add", "--follow", "--retry-delay", "0", text]);
    assert_eq!((said.exit, said.text()), (0, "attempt 1\nattempt 2\n"));
    assert!(said.err.starts_with("job 1\nax: job 1, attempt 1: "), "{}", said.err);
    assert_eq!(said.err.lines().count(), 2, "the next attempt is told of once: {}", said.err);
    let said = desk.ax(&["add", "--follow", "-r", "0", "printf 'no newline'; exit 9"]);
    assert_eq!((said.exit, said.text()), (9, "no newline"));
    let following = start(&desk, &["add", "--follow", &format!("echo begun; {}", gate("go"))]);
    desk.wait_until("it runs", || desk.job(3)["status"] == "running");
    desk.open("go");
    assert_eq!(ended(following).text(), "begun\n");
    let cancelled = start(&desk, &["add", "--follow", "echo begun; sleep 300"]);
    desk.wait_until("it runs", || desk.job(4)["status"] == "running");
    desk.ok(&["cancel", "4"]);
    assert_eq!(ended(cancelled).exit, 1);
}

#[test]
fn on_a_terminal_it_is_told_what_is_waited_for() {
    let desk = Desk::new();
    desk.add(&["-n", "x"], "true");
    let line = format!("{} wait 1 --timeout 100ms", env!("CARGO_BIN_EXE_ax"));
    let said = said(desk.program("script").args(["-qec", &line, "/dev/null"]));
    assert_eq!(said.exit, 124);
    let told = "waiting for job 1: no runner is alive; start one with `ax run`\r\n";
    assert!(said.text().starts_with(told), "{}", said.text());
}

#[test]
fn an_add_that_waits_shows_the_job_as_it_ended() {
    let desk = Desk::new();
    let _runner = desk.run(&["--poll-interval", "20ms"]);
    let said = desk.ax(&["add", "--wait", "--json", "-r", "0", "exit 3"]);
    assert_eq!(said.exit, 3);
    let job = said.json();
    assert_eq!((&job["status"], &job["exit_code"]), (&"dead".into(), &3.into()));
    let late = desk.ax(&["add", "exit 3", "-r", "0"]);
    assert_eq!((late.exit, late.text()), (2, ""));
}
