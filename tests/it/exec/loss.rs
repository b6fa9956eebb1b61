//! Supervisors that are killed, and runners that are.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use ax_scheduler::exec::journal::{Journal, Step, is_locked};
use ax_scheduler::exec::process::{self, Identity};
use ax_scheduler::exec::sweep::Trace;
use ax_scheduler::exec::{Executor, Report, Supervised};
use ax_scheduler::job::{Outcome, RunnerId};
use nix::sys::signal::Signal;

use super::bench::{Bench, KEEP, RUNNER, is_alive, kill, pid_in, site, wait_until};

#[test]
fn when_a_supervisor_is_killed_its_job_is_lost_and_nothing_of_it_survives() {
    let mut bench = Bench::new();
    let text = "setsid sh -c 'echo $$ > left; exec sleep 300' & echo half a line; \
                sleep 300 & echo $! > child; echo $$ > main; wait";
    let job = bench.job(text);
    let begun = bench.begin(job);
    let process = begun.start();
    let pids = ["left", "child", "main"].map(|name| begun.pid_in(name));
    kill(process::stat(process.pid).expect("runs").parent, Signal::SIGKILL);
    let (mut bench, ended) = begun.end();
    assert_eq!(ended.outcome, Outcome::Lost("its supervisor was killed".into()));
    assert!(process.start_time > 0);
    assert_eq!(ended.process, Some(process));
    assert_eq!(pids.map(is_alive), [false; 3]);
    assert_eq!(ended.output.last_line, "half a line");
    assert_eq!(fs::read(bench.output_file(ended.claim)).expect("kept"), b"half a line\n");
    assert_eq!(bench.run_text("exit 4").outcome, Outcome::Exited(4));
}

#[test]
fn a_job_of_which_no_journal_can_tell_any_more_is_lost_and_not_given_back() {
    let mut bench = Bench::new();
    let job = bench.job("echo $$ > main; exec sleep 300");
    let begun = bench.begin(job);
    let process = begun.start();
    fs::remove_dir_all(begun.dir.locks()).expect("removed");
    kill(process::stat(process.pid).expect("runs").parent, Signal::SIGKILL);
    let (_bench, ended) = begun.end();
    assert_eq!(ended.outcome, Outcome::Lost("its supervisor was killed".into()));
    assert!(!is_alive(process.pid));
}

#[test]
fn a_job_that_kills_its_supervisor_is_lost() {
    let mut bench = Bench::new();
    let ended = bench.run_text("echo $$ > main; kill -9 $PPID; sleep 300");
    assert!(matches!(ended.outcome, Outcome::Lost(_)), "{ended:?}");
    assert!(!is_alive(pid_in(&bench.path("main"))));
}

#[test]
fn an_executor_that_breaks_in_the_middle_of_a_job_leaves_it_to_its_supervisor() {
    let mut bench = Bench::new();
    let job = bench.job("until [ -e go ]; do sleep 0.01; done; exit 3");
    let breaks = &mut |_| panic!("told to");
    let execute = AssertUnwindSafe(|| bench.executor.execute(&job, breaks));
    assert!(catch_unwind(execute).is_err());
    let journal = bench.dir.journal(RunnerId(RUNNER), 0);
    let site = Arc::new(site(&bench.db()));
    drop(std::mem::replace(&mut bench.executor, Supervised::new(site)));
    assert!(Journal::read(&journal).expect("read").of(job.claim).is_some(), "it is known to run");
    fs::write(bench.path("go"), "").expect("written");
    assert_eq!(bench.recorded_ends(1)[0].outcome, Outcome::Exited(3));
}

#[test]
fn a_supervisor_killed_between_jobs_costs_nothing() {
    let mut bench = Bench::new();
    bench.run_text("true");
    kill(bench.supervisor(), Signal::SIGKILL);
    let ended = bench.run_text("echo x > ran");
    assert!(matches!(ended.outcome, Outcome::NotStarted(_)), "{ended:?}");
    assert!(!bench.path("ran").exists());
    assert_eq!(bench.run_text("echo x > ran").outcome, Outcome::Exited(0));
}

#[test]
fn a_supervisor_that_cannot_be_started_gives_the_job_back() {
    let mut bench = Bench::new();
    fs::remove_dir_all(bench.dir.locks()).expect("removed");
    let ended = bench.run_text("true");
    let Outcome::NotStarted(why) = ended.outcome else { panic!("{ended:?}") };
    assert!(why.ends_with("runner-3.0: no such file or directory"), "{why}");
}

#[test]
fn a_supervisor_whose_runner_is_dead_starts_nothing() {
    let mut bench = Bench::new();
    bench.lock = None;
    let ended = bench.run_text("echo x > ran");
    assert_eq!(ended.outcome, Outcome::NotStarted("its runner ended".into()));
    assert!(!bench.path("ran").exists());
}

#[test]
fn the_journal_tells_of_the_last_attempts_and_is_locked_while_its_supervisor_lives() {
    let mut bench = Bench::new();
    let path = bench.dir.journal(RunnerId(RUNNER), 0);
    for code in 0..6 {
        bench.run_text(&format!("exit {code}"));
    }
    let read = Journal::read(&path).expect("read");
    let codes = read.entries.iter().filter_map(|entry| match &entry.step {
        Step::Ended { outcome, .. } => outcome.exit_code(),
        Step::Intent | Step::Started(_) => None,
    });
    let codes = codes.collect::<Vec<_>>();
    assert_eq!(codes, [2, 3, 4, 5]);
    assert_eq!(codes.len(), KEEP);
    assert_eq!(read.supervisor.as_ref(), bench.executor.supervisor());
    assert!(is_locked(&path).expect("there"));
    kill(bench.supervisor(), Signal::SIGKILL);
    wait_until("the lock is let go", || !is_locked(&path).expect("there"));
    assert_eq!(Journal::read(&path).expect("read"), read);
}

#[test]
fn a_runner_that_is_done_leaves_nothing_behind() {
    let mut bench = Bench::new();
    bench.run_text("echo x");
    let supervisor = bench.supervisor();
    let Bench { temp: _temp, dir, executor, .. } = bench;
    drop(executor);
    assert!(process::stat(supervisor).is_none());
    assert!(!dir.journal(RunnerId(RUNNER), 0).exists());
    assert_eq!(fs::read_dir(dir.out()).expect("listed").count(), 0);
    assert!(!dir.root().join("recorded").exists());
}

#[test]
fn a_runner_that_is_done_leaves_nothing_of_a_supervisor_that_was_killed_when_idle() {
    let mut bench = Bench::new();
    bench.run_text("echo x");
    kill(bench.supervisor(), Signal::SIGKILL);
    let Bench { temp: _temp, dir, executor, .. } = bench;
    drop(executor);
    assert!(!dir.journal(RunnerId(RUNNER), 0).exists());
    assert_eq!(fs::read_dir(dir.out()).expect("listed").count(), 0);
}

#[test]
fn when_a_runner_is_killed_its_job_runs_on_and_its_end_is_recorded() {
    let bench = Bench::without_runner();
    let text = "echo $$ > main; until [ -e go ]; do sleep 0.01; done; echo out; exit 3";
    let mut runner = bench.start_runner(&[text]);
    let main = pid_in(&bench.path("main"));
    let supervisor = bench.first_supervisor();
    runner.kill();
    wait_until(
        "the start is recorded",
        || matches!(&bench.recorded()[..], [(_, Report::Started { process, .. })] if process.pid == main),
    );
    assert!(is_alive(main));
    fs::write(bench.path("go"), "").expect("written");
    let ends = bench.recorded_ends(1);
    assert_eq!((&ends[0].outcome, &ends[0].output.bytes[..]), (&Outcome::Exited(3), &b"out\n"[..]));
    wait_until("the supervisor has ended", || !is_alive(supervisor));
    assert!(!bench.dir.journal(RunnerId(RUNNER), 0).exists());
}

#[test]
fn a_timeout_holds_after_the_runner_is_gone_also_while_the_store_is_busy() {
    let bench = Bench::without_runner();
    let text = "echo $$ > main; sleep 300";
    let limit = Duration::from_secs(1);
    fs::write(bench.dir.root().join("busy"), "").expect("written");
    let mut runner = bench.start_runner_as("", limit, &[text]);
    let main = pid_in(&bench.path("main"));
    runner.kill();
    wait_until("the job has been stopped", || !is_alive(main));
    assert_eq!(bench.recorded(), []);
    fs::remove_file(bench.dir.root().join("busy")).expect("removed");
    assert_eq!(bench.recorded_ends(1)[0].outcome, Outcome::TimedOut(limit));
}

#[test]
fn a_job_without_a_runner_is_stopped_when_a_person_wants_it_ended() {
    let bench = Bench::without_runner();
    let mut runner = bench.start_runner(&["echo $$ > main; sleep 300 & wait"]);
    let main = pid_in(&bench.path("main"));
    runner.kill();
    fs::write(bench.dir.root().join("cancelled"), "").expect("written");
    let ends = bench.recorded_ends(1);
    assert_eq!(ends[0].outcome, Outcome::Cancelled);
    assert!(!is_alive(main));
}

#[test]
fn the_last_ends_are_recorded_for_a_runner_that_may_not_have_stored_them() {
    let bench = Bench::without_runner();
    let mut runner = bench.start_runner(&["exit 1", "exit 2", "exit 3"]);
    let idle = bench.dir.root().join("idle");
    wait_until("the runner idles", || idle.exists());
    runner.kill();
    let codes: Vec<_> =
        bench.recorded_ends(3).iter().map(|ended| ended.outcome.exit_code()).collect();
    assert_eq!(codes, [Some(1), Some(2), Some(3)]);
}

#[test]
fn another_runner_finds_what_a_killed_supervisor_of_a_killed_runner_has_left() {
    let bench = Bench::without_runner();
    let text = "setsid sh -c 'echo $$ > left; exec sleep 300' & echo $$ > main; wait";
    let mut runner = bench.start_runner(&[text]);
    let pids = ["left", "main"].map(|name| pid_in(&bench.path(name)));
    let supervisor = bench.first_supervisor();
    kill(supervisor, Signal::SIGSTOP);
    runner.kill();
    kill(supervisor, Signal::SIGKILL);
    let journal = bench.dir.journal(RunnerId(RUNNER), 0);
    wait_until("the lock is let go", || !is_locked(&journal).expect("there"));
    let read = Journal::read(&journal).expect("read");
    let claim = super::claimed(&bench.db(), 1, text).claim;
    let Some(Step::Started(process)) = read.of(claim).map(|entry| entry.step.clone()) else {
        panic!("{read:?}");
    };
    let identity: Identity = read.supervisor.expect("named");
    let db = bench.db();
    let trace = Trace::new(identity, claim, Some(process), Some(db.as_os_str().as_encoded_bytes()));
    process::sweep_survivors(&trace).expect("swept");
    assert_eq!(pids.map(is_alive), [false; 2]);
}
