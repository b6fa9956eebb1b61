//! What a runner runs, when, how it is told of, and when it ends.

use std::fs;
use std::io;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::super::harness::ledger::noted;
use super::super::harness::{Desk, gate, said};
use super::busy_runner;

#[test]
fn once_runs_what_is_due_and_what_that_releases() {
    let desk = Desk::new();
    desk.add(&[], "true");
    desk.add(&["--after", "1"], "true");
    desk.add(&["--delay", "1h"], "true");
    desk.add(&["--hold"], "true");
    assert_eq!(desk.run(&["--once"]).exit(), 0);
    assert_eq!(desk.states(), ["success", "success", "pending", "held"]);
    assert_eq!(desk.leftovers(), [""; 0].map(std::path::PathBuf::from));
}

#[test]
fn once_without_a_job_ends_at_once() {
    assert_eq!(Desk::new().run(&["--once", "--poll-interval", "1h"]).exit(), 0);
}

#[test]
fn a_job_that_ends_dead_is_an_exit_code_of_one_where_a_runner_ends_by_itself() {
    for option in ["--once", "--until-idle"] {
        let desk = Desk::new();
        desk.add(&["-r", "0"], "exit 3");
        desk.add(&[], "true");
        assert_eq!(desk.run(&[option]).exit(), 1, "{option}");
        assert_eq!(desk.states(), ["dead", "success"]);
        assert_eq!(desk.run(&[option]).exit(), 0, "it was seen by the first: {option}");
    }
}

#[test]
fn until_idle_waits_for_retries_and_times_and_not_for_people() {
    let desk = Desk::new();
    let text = "[ $AX_ATTEMPT = 3 ]";
    desk.add(&["--retry-delay", "200ms"], text);
    desk.add(&["--delay", "500ms"], "true");
    desk.add(&["--hold"], "true");
    desk.add(&["--after", "3"], "true");
    desk.add(&["--after", "1,2"], "true");
    assert_eq!(desk.run(&["--until-idle", "--poll-interval", "1h"]).exit(), 0);
    assert_eq!(desk.states(), ["success", "success", "held", "pending", "success"]);
    assert_eq!(desk.job(1)["attempts"], 3);
}

#[test]
fn a_command_wakes_a_runner_long_before_it_would_look() {
    let desk = Desk::new();
    let _runner = desk.run(&["--poll-interval", "1h"]);
    for id in 1..4 {
        desk.add(&[], "true");
        desk.wait_for_states(&vec!["success"; id]);
    }
    desk.add(&["--hold"], "true");
    desk.ok(&["release", "4"]);
    desk.wait_for_states(&["success"; 4]);
    desk.ok(&["retry", "4", "--force"]);
    desk.wait_until("4 has run again", || desk.job(4)["attempts"] == 2);
}

#[test]
fn each_retry_waits_twice_as_long() {
    let desk = Desk::new();
    desk.add(&["-r", "2", "--retry-delay", "200ms"], "exit 7");
    assert_eq!(desk.run(&["--until-idle"]).exit(), 1);
    let job = desk.job(1);
    assert_eq!(
        (&job["status"], &job["attempts"], &job["retry_count"]),
        (&"dead".into(), &3.into(), &2.into())
    );
    let history = job["attempts_history"].as_array().expect("an array");
    let time = |attempt: &Value, what: &str| {
        let text = attempt[what].as_str().expect("a time").to_owned();
        chrono::DateTime::parse_from_rfc3339(&text).expect("RFC 3339").timestamp_millis()
    };
    let waits: Vec<_> = history
        .windows(2)
        .map(|pair| time(&pair[1], "started_at") - time(&pair[0], "ended_at"))
        .collect();
    assert!(waits[0] >= 200 && waits[1] >= 400, "{waits:?}");
}

#[test]
fn what_a_dead_job_releases_runs_and_what_it_blocks_is_skipped() {
    let desk = Desk::new();
    desk.add(&["-r", "0"], "exit 1");
    desk.add(&["--after", "1"], "true");
    desk.add(&["--on-failure", "1"], "true");
    desk.add(&["--after-any", "1,2"], "true");
    assert_eq!(desk.run(&["--once"]).exit(), 1);
    assert_eq!(desk.states(), ["dead", "skipped", "success", "success"]);
}

#[test]
fn one_worker_takes_the_most_urgent_first_and_the_oldest_of_those() {
    let desk = Desk::new();
    for priority in ["1", "9", "5", "9", "-3"] {
        desk.add(&["--priority", priority], &noted("true"));
    }
    assert_eq!(desk.run(&["--once", "--workers", "1", "--queue-size", "1"]).exit(), 0);
    assert_eq!(desk.ledger().starts(), [2, 4, 3, 1, 5]);
}

#[test]
fn a_job_that_takes_too_long_says_what_to_type() {
    let desk = Desk::new();
    desk.add(&["--timeout", "300ms", "-r", "0"], "sleep 300 & sleep 301; true");
    assert_eq!(desk.run(&["--once"]).exit(), 1);
    let job = desk.job(1);
    assert_eq!(job["last_error"], "timed out after 0.3 s; raise it with --timeout");
    assert_eq!(job["exit_code"], Value::Null);
}

#[test]
fn a_job_sees_the_place_it_was_added_from_and_what_it_is() {
    let desk = Desk::new();
    fs::create_dir(desk.file("place")).expect("a directory");
    let text =
        "pwd; umask; echo $FROM_ADD $FROM_E; env | grep ^AX_ | sort; readlink /proc/self/fd/0";
    let add = ["add", "-n", "a name", "--key", "k", "-e", "FROM_E=b", "-r", "2", "-C", "place"];
    let words = ["-c", "umask 027; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_ax")];
    let mut command = desk.program("sh");
    command.args(words).args(add).arg(text).env("FROM_ADD", "a");
    assert_eq!(said(&mut command).exit, 0);
    assert_eq!(desk.run(&["--once"]).exit(), 0);
    let want = format!(
        "{}\n0027\na b\nAX_ATTEMPT=1\nAX_DB={}\nAX_JOB_ID=1\nAX_JOB_KEY=k\nAX_JOB_NAME=a name\n\
         AX_MAX_RETRIES=2\n/dev/null\n",
        desk.file("place").display(),
        desk.db().display()
    );
    assert_eq!(desk.ok(&["logs", "1"]), want);
}

#[test]
fn events_are_json_lines_on_stdout() {
    let desk = Desk::new();
    desk.add(&["-n", "long"], &gate("go"));
    desk.add(&["-n", "bad", "-r", "0"], "echo why >&2; exit 3");
    desk.add(&["-n", "child", "--after", "2"], "true");
    let mut runner = desk.run(&["--once", "--json", "--workers", "2"]);
    desk.wait_until("it was told", || runner.events().len() == 3);
    desk.open("go");
    assert_eq!(runner.exit(), 1);
    assert_eq!(runner.err(), "");
    let events = runner.events();
    let of = |name: &str, kind: &str| {
        let fits = |event: &&Value| event["title"] == name && event["event"] == kind;
        events.iter().find(fits).unwrap_or_else(|| panic!("{name} {kind}: {events:?}"))
    };
    assert_eq!(of("long", "started")["attempt"], 1);
    assert_eq!(of("long", "ended")["status"], "success");
    let bad = of("bad", "ended");
    assert_eq!(
        (&bad["exit_code"], &bad["error"], &bad["status"]),
        (&3.into(), &"why".into(), &"dead".into())
    );
    assert_eq!(of("child", "skipped")["id"], 3);
}

#[test]
fn without_a_terminal_each_event_is_a_line() {
    let desk = Desk::new();
    desk.add(&["-n", "long", "--timeout", "100ms", "-r", "0"], "sleep 300");
    desk.add(&["-n", "bad\u{1b}[31m", "-r", "0"], "echo why; exit 3");
    let mut runner = desk.run(&["--once", "--workers", "1"]);
    assert_eq!(runner.exit(), 1);
    assert_eq!(runner.out(), "");
    let err = runner.err();
    for part in [
        "job 1 long: started, attempt 1\n",
        "job 1 long: dead after ",
        ": timed out after 0.1 s; raise it with --timeout\n",
        "job 2 bad\\x1b[31m: dead after ",
        ", exit 3: why\n",
    ] {
        assert!(err.contains(part), "{part}\n{err}");
    }
}

#[test]
fn that_nobody_reads_stops_nothing() {
    for options in [&["run", "--once"][..], &["run", "--once", "--json"]] {
        let desk = Desk::new();
        desk.add(&[], "true");
        desk.add(&["-r", "0"], "exit 1");
        desk.add(&["--after-any", "2"], "true");
        let closed = || io::pipe().expect("a pipe").1;
        let mut command = desk.command(options);
        command.stdout(closed()).stderr(closed());
        assert_eq!(command.status().expect("started").code(), Some(1), "{options:?}");
        assert_eq!(desk.states(), ["success", "dead", "success"]);
    }
}

#[test]
fn a_runner_that_can_do_nothing_sleeps() {
    let desk = Desk::new();
    let runner = busy_runner(&desk, &["--queue-size", "2"]);
    desk.add(&[], "true");
    runner.assert_asleep();
}

#[test]
fn what_waits_for_a_suspended_runner_says_so_and_how_it_goes_on() {
    let desk = Desk::new();
    let runner = busy_runner(&desk, &[]);
    assert_eq!(desk.ax(&["status", "--json"]).json()["runners"][0]["suspended"], false);
    runner.signal(Signal::SIGSTOP);
    let how = format!("; suspended: `kill -CONT {}` lets it go on)", runner.pid());
    desk.wait_until("it is suspended", || desk.ok(&["status"]).contains(&how));
    assert_eq!(desk.ax(&["status", "--json"]).json()["runners"][0]["suspended"], true);
    for waiting in [2, desk.add(&[], "true")] {
        let why = "every runner is suspended; `ax status` tells how one goes on";
        assert_eq!(desk.job(waiting)["reason"], why);
    }
    runner.signal(Signal::SIGCONT);
    desk.wait_until("it goes on", || !desk.ok(&["status"]).contains("suspended"));
    desk.open("go");
    desk.wait_for_states(&["success"; 4]);
}

#[test]
fn a_runner_whose_database_is_taken_away_lets_its_job_end_and_says_so() {
    for how in ["rm ax.db ax.db-wal ax.db-shm", "mv ax.db other.db", "cp ax.db x; mv x ax.db"] {
        let desk = Desk::new();
        let mut runner = desk.run(&["--workers", "1", "--poll-interval", "1h"]);
        let job = format!("{}; echo done > end", gate("go"));
        desk.add(&[], &job);
        desk.wait_for_states(&["running"]);
        assert!(said(desk.program("sh").args(["-c", how])).exit == 0, "{how}");
        desk.open("go");
        assert_eq!(runner.exit(), 5, "{how}");
        let why = "ax.db was removed or replaced while this runner had it open";
        assert!(runner.err().contains(why), "{how}: {}", runner.err());
        assert_eq!(fs::read_to_string(desk.file("end")).expect("the job went on"), "done\n");
        let idle = Desk::new();
        let mut runner = idle.run(&["--workers", "1", "--poll-interval", "1h"]);
        idle.wait_until("it sleeps soundly", || runner.watches_a_file());
        assert!(said(idle.program("sh").args(["-c", how])).exit == 0, "{how}");
        assert_eq!(runner.exit(), 5, "{how}");
    }
}

#[test]
fn what_is_written_by_hand_wakes_a_runner_that_sleeps_through_its_polls() {
    let desk = Desk::new();
    let runner = desk.run(&["--workers", "1", "--poll-interval", "1h"]);
    desk.add(&[], "true");
    desk.wait_for_states(&["success"]);
    let shell = rusqlite::Connection::open(desk.db()).expect("opened");
    for id in 2..=3 {
        desk.wait_until("it has set its alarm", || runner.watches_a_file());
        shell.execute("INSERT INTO ax_jobs (command) VALUES ('true')", []).expect("written");
        desk.wait_until("it runs", || desk.job(id)["status"] == "success");
    }
}
