//! What `ax logs` shows of real jobs, and how it ends.

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use nix::sys::signal::Signal;

use super::harness::{Desk, Runner, gate, wait_until};

/// Somebody who follows.
fn follow(desk: &Desk, words: &[&str]) -> Runner {
    Runner::start(desk, &mut desk.command(&[&["logs", "-f"], words].concat()))
}

#[test]
fn lines_of_several_jobs_have_their_names_and_never_mix() {
    let desk = Desk::new();
    desk.add(&["-n", "slow"], &format!("printf half; {}; echo ' a line'; echo two", gate("go")));
    desk.add(&[], &format!("until [ -e begun ]; do sleep 0.02; done; echo first; {}", gate("go")));
    let _runner = desk.run(&["--workers", "2"]);
    desk.wait_for_states(&["running", "running"]);
    let mut follower = follow(&desk, &["1-2"]);
    desk.open("begun");
    desk.wait_until("a whole line is shown", || follower.out() == "2      | first\n");
    desk.open("go");
    assert_eq!(follower.exit(), 0);
    assert_eq!(follower.out(), "2      | first\n1 slow | half a line\n1 slow | two\n");
}

#[test]
fn a_job_that_fails_is_followed_into_its_next_attempt() {
    let desk = Desk::new();
    desk.add(
        &["-n", "flaky", "--retry-delay", "0"],
        "echo try $AX_ATTEMPT; exit $((2 - AX_ATTEMPT))",
    );
    let mut follower = follow(&desk, &["last"]);
    let _runner = desk.run(&[]);
    assert_eq!((follower.exit(), follower.out().as_str()), (0, "try 1\ntry 2\n"));
}

#[test]
fn what_comes_after_a_failed_attempt_is_told_on_stderr() {
    let desk = Desk::new();
    let text = "printf try; test -e go";
    desk.add(&["-n", "flaky", "--retry-delay", "1h"], text);
    let _runner = desk.run(&[]);
    desk.wait_for_states(&["failed"]);
    let mut follower = follow(&desk, &["1"]);
    let want = "ax: job 1 flaky, attempt 1: try; its last attempt failed; the next one is due 2";
    desk.wait_until("it is told", || follower.err().starts_with(want));
    desk.open("go");
    desk.ok(&["edit", "1", "--at", "2020-01-01 00:00"]);
    assert_eq!((follower.exit(), follower.out().as_str()), (0, "trytry"));
    assert_eq!(follower.err().lines().count(), 1, "{}", follower.err());
}

#[test]
fn who_follows_ends_as_who_waits_would() {
    let desk = Desk::new();
    desk.add(&["-r", "0", "-n", "bad"], "echo broken; exit 3");
    desk.add(&["-n", "child", "--after", "1"], "true");
    desk.add(&["-n", "good"], "echo fine");
    desk.ax(&["run", "--until-idle"]);
    for (words, exit, out) in [
        (&["1"][..], 1, "broken\n"),
        (&["3"], 0, "fine\n"),
        (&["1", "3"], 1, "1 bad  | broken\n3 good | fine\n"),
        (&["2"], 1, ""),
    ] {
        let said = desk.ax(&[&["logs", "-f"], words].concat());
        assert_eq!((said.exit, said.text()), (exit, out), "{words:?}: {}", said.err);
        let waited = desk.ax(&[&["wait"], words].concat());
        assert_eq!((waited.exit, waited.err), (said.exit, said.err), "{words:?}");
    }
    assert_eq!(desk.ax(&["logs", "-f", "1", "--attempt", "1"]).exit, 0, "it ends with the attempt");
}

#[test]
fn without_following_what_was_not_started_is_left_out() {
    let desk = Desk::new();
    desk.add(&["-n", "one"], "echo 1; echo 2; echo 3");
    desk.ax(&["run", "--once"]);
    desk.add(&["-n", "later"], "true");
    assert_eq!(desk.ok(&["logs", "all", "-n", "2"]), "1 one   | 2\n1 one   | 3\n");
    desk.add(&[], "true");
    let said = desk.ax(&["logs", "2-3"]);
    assert_eq!((said.exit, said.text()), (3, ""));
    assert!(said.err.starts_with("ax: none of these 2 jobs has been started\n"), "{}", said.err);
    let said = desk.ax(&["logs", "1-2", "--attempt", "1"]);
    assert_eq!((said.exit, said.text()), (2, ""));
    assert!(said.err.starts_with("ax: --attempt 1 is about one job, and 2 are named\n"));
}

#[test]
fn one_output_that_is_gone_hides_no_other() {
    let desk = Desk::new();
    desk.add(&["-n", "long"], "head -c 20000 /dev/zero");
    desk.add(&["-n", "short"], "echo here");
    desk.ax(&["run", "--until-idle"]);
    let out = desk.db().with_extension("db.d").join("out");
    std::fs::remove_dir_all(&out).expect("the output can be removed");
    let said = desk.ax(&["logs", "1-2"]);
    assert_eq!((said.exit, said.text()), (1, "2 short | here\n"));
    assert!(said.err.starts_with("ax: the output of job 1, attempt 1, is gone\n"), "{}", said.err);
}

#[test]
fn an_interrupt_leaves_at_once_and_the_job_goes_on() {
    let desk = Desk::new();
    desk.add(&[], &format!("echo begun; {}", gate("go")));
    let _runner = desk.run(&[]);
    let mut follower = follow(&desk, &["1"]);
    desk.wait_until("it follows", || follower.out() == "begun\n");
    desk.wait_for_states(&["running"]);
    follower.signal(Signal::SIGINT);
    let end = follower.status().signal();
    assert_eq!(end, Some(Signal::SIGINT as i32), "a shell shows 130");
    assert_eq!(desk.states(), ["running"]);
    desk.open("go");
    desk.wait_for_states(&["success"]);
}

#[test]
fn who_follows_leaves_in_silence_when_nobody_reads_any_more() {
    let desk = Desk::new();
    desk.add(&[], &gate("go"));
    let _runner = desk.run(&[]);
    desk.wait_for_states(&["running"]);
    let mut command = desk.command(&["logs", "-f", "1"]);
    let mut follower = command.stdout(Stdio::piped()).spawn().expect("ax can be started");
    drop(follower.stdout.take());
    let mut end = None;
    wait_until("it leaves", String::new, || {
        end = follower.try_wait().expect("it can be asked");
        end.is_some()
    });
    assert_eq!(end.and_then(|status| status.code()), Some(0));
}
