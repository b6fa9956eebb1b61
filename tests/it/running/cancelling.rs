//! `ax cancel` against real processes, whoever has them in hand.

use std::process::Stdio;

use nix::sys::signal::Signal;

use super::super::harness::process::{is_alive, is_suspended, kill};
use super::super::harness::{Desk, ended, gate};

/// Shell text that writes its process id and those of two it starts, one of
/// them out of its process group.
const FAMILY: &str = "sleep 300 & echo $! > near; setsid sleep 300 & echo $! > far; \
                      echo $$ > main; wait";

fn family(desk: &Desk) -> [i32; 3] {
    ["main", "near", "far"].map(|name| desk.pid_in(name))
}

#[track_caller]
fn assert_cancelled(desk: &Desk, pids: &[i32]) {
    assert_eq!(desk.job(1)["status"], "cancelled");
    assert!(!pids.iter().any(|pid| is_alive(*pid)), "something is left of {pids:?}");
}

#[test]
fn a_job_that_runs_is_gone_with_all_it_started_when_the_command_ends() {
    let desk = Desk::new();
    desk.add(&["-n", "family"], FAMILY);
    let mut runner = desk.run(&["--poll-interval", "1h"]);
    let pids = family(&desk);
    assert_eq!(desk.ok(&["cancel", "1", "--reason", "wrong day"]), "1 family: cancelled\n");
    assert_cancelled(&desk, &pids);
    let job = desk.job(1);
    assert_eq!((&job["reason"], &job["attempts"]), (&"wrong day".into(), &1.into()));
    assert_eq!(job["attempts_history"][0]["outcome"], "cancelled");
    assert!(runner.is_alive());
    assert!(runner.err().contains("job 1 family: cancelled"), "{}", runner.err());
}

#[test]
fn a_job_that_ignores_term_is_killed() {
    let desk = Desk::new();
    desk.add(&["-k", "100ms"], &format!("trap '' TERM; echo $$ > main; {}", gate("never")));
    let _runner = desk.run(&["--poll-interval", "1h"]);
    let main = desk.pid_in("main");
    desk.ok(&["cancel", "1"]);
    assert_cancelled(&desk, &[main]);
}

#[test]
fn a_claimed_job_is_cancelled_without_having_been_started() {
    let desk = Desk::new();
    let _runner = super::busy_runner(&desk, &["--poll-interval", "1h"]);
    desk.ok(&["cancel", "3"]);
    assert_eq!(desk.states(), ["running", "dispatched", "cancelled"]);
    assert_eq!(desk.job(3)["attempts"], 0);
    desk.open("go");
    desk.wait_for_states(&["success", "success", "cancelled"]);
    assert_eq!(desk.ledger().starts(), [1, 2]);
}

#[test]
fn a_supervisor_without_a_runner_stops_its_job() {
    let desk = Desk::new();
    desk.add(&[], FAMILY);
    let runner = desk.run(&[]);
    let pids = family(&desk);
    desk.wait_for_states(&["running"]);
    runner.kill();
    desk.ok(&["cancel", "1"]);
    assert_cancelled(&desk, &pids);
}

#[test]
fn a_wish_outlives_the_runner_that_did_not_hear_it() {
    let desk = Desk::new();
    desk.add(&[], FAMILY);
    let runner = desk.run(&[]);
    let pids = family(&desk);
    desk.wait_for_states(&["running"]);
    runner.signal(Signal::SIGSTOP);
    let waiting = desk.command(&["cancel", "1"]).stdout(Stdio::piped()).spawn().expect("started");
    let marked = "SELECT count(*) FROM ax_jobs WHERE cancelling IS NOT NULL";
    desk.wait_until("the wish is stored", || {
        let shell = rusqlite::Connection::open(desk.db()).expect("opened");
        shell.query_row(marked, [], |row| row.get::<_, i64>(0)).expect("a number") == 1
    });
    runner.kill();
    assert_eq!(ended(waiting).exit, 0);
    assert_cancelled(&desk, &pids);
}

#[test]
fn what_nobody_has_in_hand_any_more_is_stopped_by_the_command() {
    let desk = Desk::new();
    desk.add(&["--on-lost", "hold"], FAMILY);
    let runner = desk.run(&[]);
    let pids = family(&desk);
    desk.wait_for_states(&["running"]);
    runner.kill_with_supervisors();
    assert!(is_alive(pids[0]));
    desk.ok(&["cancel", "1"]);
    assert_cancelled(&desk, &pids);
}

#[test]
fn a_job_that_succeeds_while_it_is_asked_to_stop_says_so_and_is_a_success() {
    let desk = Desk::new();
    desk.add(&["-n", "quick"], &format!("trap '' TERM; echo $$ > main; {}", gate("go")));
    let runner = desk.run(&[]);
    desk.pid_in("main");
    desk.wait_for_states(&["running"]);
    // The order to stop comes to a supervisor that has seen the end.
    let supervisor = runner.supervisors()[0];
    kill(supervisor, Signal::SIGSTOP);
    desk.open("go");
    let main = desk.pid_in("main");
    desk.wait_until("the job has ended", || !is_alive(main));
    runner.signal(Signal::SIGSTOP);
    let waiting = desk.command(&["cancel", "1"]).stdout(Stdio::piped()).spawn().expect("started");
    desk.wait_until("the wish is stored", || {
        let shell = rusqlite::Connection::open(desk.db()).expect("opened");
        let marked = "SELECT count(*) FROM ax_jobs WHERE cancelling IS NOT NULL";
        shell.query_row(marked, [], |row| row.get::<_, i64>(0)).expect("a number") == 1
    });
    kill(supervisor, Signal::SIGCONT);
    desk.wait_until("the supervisor has seen the end", || {
        ax_scheduler::exec::process::stat(main).is_none()
    });
    runner.signal(Signal::SIGCONT);
    let said = ended(waiting);
    assert_eq!(said.text(), "1 quick: not cancelled, it had ended: success\n");
    assert_eq!((said.exit, &desk.job(1)["status"]), (4, &"success".into()));
}

#[test]
fn a_job_that_is_not_gone_in_time_is_told_of_with_the_suspended_runner_and_ends_once_it_goes_on() {
    let desk = Desk::new();
    desk.add(&["-n", "family"], FAMILY);
    let runner = desk.run(&["--poll-interval", "1h"]);
    let pids = family(&desk);
    desk.wait_for_states(&["running"]);
    runner.signal(Signal::SIGSTOP);
    desk.wait_until("it is suspended", || is_suspended(runner.pid()));
    let said = desk.ax(&["cancel", "1", "--timeout", "0s"]);
    assert_eq!(
        said.text(),
        "1 family: being stopped, and cancelled once all its processes are gone\n"
    );
    let want = format!(
        "ax: job 1 is not gone yet; the wish is stored and holds: it is cancelled once everything \
         that was started is gone\n\
         hint: the runner (pid {0}) is suspended: `kill -CONT {0}` lets it go on\n",
        runner.pid()
    );
    assert_eq!((said.exit, said.err), (1, want));
    runner.signal(Signal::SIGCONT);
    desk.wait_for_states(&["cancelled"]);
    assert_cancelled(&desk, &pids);
}

#[test]
fn a_job_whose_supervisor_is_suspended_names_the_supervisor() {
    let desk = Desk::new();
    desk.add(&[], FAMILY);
    let runner = desk.run(&["--poll-interval", "1h", "--workers", "1"]);
    let pids = family(&desk);
    desk.wait_for_states(&["running"]);
    let supervisor = runner.supervisors()[0];
    kill(supervisor, Signal::SIGSTOP);
    desk.wait_until("it is suspended", || is_suspended(supervisor));
    let said = desk.ax(&["cancel", "1", "--timeout", "0s", "--json"]);
    assert_eq!((said.exit, &said.json()[0]["done"]), (1, &"being stopped".into()));
    let told: serde_json::Value = serde_json::from_str(&said.err).expect("JSON on stderr");
    let hint = format!(
        "a supervisor (pid {supervisor}) is suspended: `kill -CONT {supervisor}` lets it go on"
    );
    assert_eq!(told["error"]["hint"], hint);
    kill(supervisor, Signal::SIGCONT);
    desk.wait_for_states(&["cancelled"]);
    assert_cancelled(&desk, &pids);
}
