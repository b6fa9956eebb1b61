//! Odd places to start in, and things that fail while a runner runs.

use std::fs;

use nix::sys::signal::Signal;

use super::super::harness::{Desk, Disk, Runner, gate};
use super::gated;

/// Starts `ax run` from shell text in which `"$@"` is its command line.
fn run_from(desk: &Desk, text: &str, options: &[&str]) -> Runner {
    let mut command = desk.program("/bin/sh");
    let words = ["-c", text, "sh", env!("CARGO_BIN_EXE_ax"), "run"];
    Runner::start(desk, command.args(words).args(options))
}

#[test]
fn where_and_how_a_runner_is_started_makes_no_difference() {
    let desk = Desk::new();
    let starts = [
        "trap '' CHLD TERM INT HUP PIPE; exec \"$@\"",
        "exec env --block-signal \"$@\"",
        "mkdir gone; cd gone; rmdir ../gone; exec \"$@\"",
        "exec setsid nohup \"$@\"",
        "exec \"$@\" 0<&- 1>&- 2>&-",
    ];
    for (done, start) in starts.iter().enumerate() {
        // The C library keeps two signals for itself, 32 and 33.
        let signals = "grep -E 'Sig(Blk|Ign)' /proc/self/status | grep -vE '0{7}[01]80{7}|0{16}'";
        desk.add(&["-r", "0"], &format!("{signals}; [ \"$(pwd)\" = {} ]", desk.path().display()));
        assert_eq!(run_from(&desk, start, &["--once"]).exit(), 0, "{start}");
        assert_eq!(desk.states(), vec!["success"; done + 1], "{start}");
        assert_eq!(desk.ok(&["logs", "last"]), "", "no signal is ignored or blocked: {start}");
    }
}

#[test]
fn signals_reach_a_runner_that_inherited_them_ignored_or_blocked() {
    for start in ["trap '' TERM; exec \"$@\"", "exec env --block-signal \"$@\""] {
        let desk = Desk::new();
        desk.add(&[], &gated());
        let mut runner = run_from(&desk, start, &["--on-stop", "kill"]);
        desk.wait_for_states(&["running"]);
        runner.signal(Signal::SIGTERM);
        assert_eq!(runner.exit(), 0, "{start}");
        assert_eq!(desk.states(), ["ready"]);
    }
}

#[test]
fn a_terminal_that_goes_away_stops_nothing() {
    let desk = Desk::new();
    desk.add(&[], &gated());
    let mut runner = desk.run(&["--once"]);
    desk.wait_for_states(&["running"]);
    runner.signal(Signal::SIGHUP);
    desk.open("go");
    assert_eq!(runner.exit(), 0);
    assert_eq!(desk.states(), ["success"]);
}

#[test]
fn results_wait_until_the_store_is_free() {
    let desk = Desk::new();
    for _ in 0..2 {
        desk.add(&[], &gated());
    }
    let mut runner = desk.run(&["--workers", "2", "--once"]);
    desk.wait_for_states(&["running"; 2]);
    let lock = desk.lock();
    desk.open("go");
    desk.wait_until("both have ended", || desk.ledger().ends().len() == 2);
    assert_eq!(desk.states(), ["running"; 2], "reading works, and nothing is stored");
    drop(lock);
    assert_eq!(runner.exit(), 0);
    assert_eq!(desk.states(), ["success"; 2]);
    assert_eq!(desk.ledger().starts().len(), 2);
}

#[test]
fn a_supervisor_without_a_runner_waits_until_the_store_is_free() {
    let desk = Desk::new();
    desk.add(&["-r", "0"], &format!("{}; exit 3", gated()));
    let runner = desk.run(&[]);
    desk.wait_for_states(&["running"]);
    let lock = desk.lock();
    runner.kill();
    desk.open("go");
    desk.wait_until("it has ended", || desk.ledger().ends().len() == 1);
    assert_eq!(desk.states(), ["running"]);
    drop(lock);
    desk.wait_for_states(&["dead"]);
    assert_eq!(desk.job(1)["exit_code"], 3);
}

#[test]
fn without_a_place_for_output_exit_codes_are_recorded_and_it_is_said_once() {
    let desk = Desk::new();
    desk.add(&["-r", "0"], &format!("{}; echo lost; exit 3", gate("go")));
    desk.add(&["-r", "0", "--after-any", "1"], "echo lost; exit 4");
    desk.add(&["--after-any", "2"], "true");
    let mut runner = desk.run(&["--once"]);
    desk.wait_until("1 runs", || desk.job(1)["status"] == "running");
    fs::remove_dir_all(desk.file("ax.db.d/out")).expect("removed");
    desk.open("go");
    assert_eq!(runner.exit(), 1);
    let said = runner.err();
    assert_eq!(said.matches("jobs run all the same").count(), 1, "{said}");
    assert!(said.contains("ax.db.d/out: no such file or directory; "), "{said}");
    assert_eq!(desk.states(), ["dead", "dead", "success"]);
    assert_eq!((&desk.job(1)["exit_code"], &desk.job(2)["exit_code"]), (&3.into(), &4.into()));
}

#[test]
fn a_runner_waits_for_room_on_a_full_disk() {
    let Some((desk, small)) = Disk::with_desk() else { return };
    desk.add(&[], &gated());
    let mut runner = desk.run(&[]);
    desk.wait_for_states(&["running"]);
    small.fill();
    desk.open("go");
    desk.wait_until("it says so", || runner.err().contains("results are kept"));
    assert_eq!(desk.states(), ["running"], "reading works");
    let big = format!("true {}", "x".repeat(100_000));
    let refused = desk.ax(&["add", &big]);
    assert_eq!(refused.exit, 5, "{}", refused.err);
    assert!(refused.err.starts_with("ax: no space is left for "), "{}", refused.err);
    assert!(runner.is_alive());
    small.empty();
    desk.wait_for_states(&["success"]);
    desk.add(&[], "true");
    desk.wait_for_states(&["success"; 2]);
    assert_eq!(desk.ledger().starts(), [1]);
}
