//! Timeouts, stops, and what a job leaves behind.

use std::fs;
use std::time::{Duration, Instant};

use ax_scheduler::exec::{Ended, Stop};
use ax_scheduler::job::{Claimed, Outcome};
use nix::sys::signal::Signal;

use super::bench::{Bench, is_alive, kill, pid_in, wait_until};

const LIMIT: Duration = Duration::from_millis(200);

fn limited(bench: &mut Bench, text: &str) -> Claimed {
    let mut job = bench.job(text);
    job.spec.timeout = Some(LIMIT);
    job
}

/// Runs a job into its time limit; tells the process ids it wrote to `pids`.
#[track_caller]
fn time_out(text: &str, kill_after: Duration) -> (Bench, Vec<i32>) {
    let mut bench = Bench::new();
    let mut job = limited(&mut bench, text);
    job.spec.kill_after = kill_after;
    let ended = bench.run(&job);
    assert_eq!(ended.outcome, Outcome::TimedOut(LIMIT));
    let pids = fs::read_to_string(bench.path("pids")).expect("there");
    let pids = pids.lines().map(|line| line.parse().expect("a number")).collect();
    (bench, pids)
}

#[test]
fn a_timeout_stops_the_whole_group() {
    let text = "sleep 300 & echo $! > pids; echo $$ >> pids; sleep 301; true";
    let (_bench, pids) = time_out(text, Duration::from_secs(20));
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| !is_alive(*pid)));
}

#[test]
fn a_timeout_stops_what_left_the_group_without_waiting_for_the_kill() {
    let text = "setsid sh -c 'echo $$ >> pids; exec sleep 300' & echo $$ >> pids; sleep 300";
    let before = Instant::now();
    let (_bench, pids) = time_out(text, Duration::from_secs(20));
    assert!(before.elapsed() < Duration::from_secs(10));
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| !is_alive(*pid)));
}

#[test]
fn a_timeout_stops_a_daemon_that_ignores_term_and_has_lost_its_parents() {
    let text = "(setsid sh -c 'trap \"\" TERM; echo $$ >> pids; sleep 300 & echo $! >> pids; wait' &) ; \
                until [ $(wc -l < pids) = 2 ]; do sleep 0.01; done; sleep 300";
    let (_bench, pids) = time_out(text, Duration::from_secs(20));
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| !is_alive(*pid)));
}

#[test]
fn a_job_that_ignores_term_is_killed_after_its_time() {
    let text = "trap '' TERM; echo $$ > pids; while :; do sleep 0.01; done";
    let before = Instant::now();
    let (bench, pids) = time_out(text, Duration::from_millis(300));
    assert!(before.elapsed() >= LIMIT + Duration::from_millis(300));
    assert!(!is_alive(pids[0]));
    assert!(is_alive(bench.supervisor()));
}

#[test]
fn a_job_that_exits_0_on_term_has_timed_out_all_the_same() {
    let (_bench, pids) =
        time_out("trap 'exit 0' TERM; echo $$ > pids; while :; do sleep 0.01; done", LIMIT * 100);
    assert_eq!(pids.len(), 1);
}

#[test]
fn a_job_may_use_the_time_it_is_given_to_end_well() {
    let mut bench = Bench::new();
    let job = limited(&mut bench, "trap 'echo bye; exit 5' TERM; while :; do sleep 0.01; done");
    let ended = bench.run(&job);
    assert_eq!(ended.outcome, Outcome::TimedOut(LIMIT));
    assert_eq!(ended.output.last_line, "bye");
}

#[test]
fn a_stopped_process_is_woken_to_hear_of_its_end() {
    let text = "trap 'echo bye; exit' TERM; echo $$ > pids; kill -STOP $$";
    let mut bench = Bench::new();
    let job = limited(&mut bench, text);
    let ended = bench.run(&job);
    assert_eq!((ended.outcome, ended.output.bytes), (Outcome::TimedOut(LIMIT), b"bye\n".to_vec()));
}

#[test]
fn a_supervisor_goes_on_after_a_timeout() {
    let (mut bench, _) = time_out("echo $$ > pids; sleep 300", LIMIT);
    let supervisor = bench.supervisor();
    assert_eq!(bench.run_text("exit 4").outcome, Outcome::Exited(4));
    assert_eq!(bench.supervisor(), supervisor);
}

#[test]
fn what_a_job_leaves_behind_is_left_alone_and_never_waited_for() {
    let mut bench = Bench::new();
    let before = Instant::now();
    let ended = bench.run_text("sleep 300 & echo $! > left; echo done");
    assert!(before.elapsed() < Duration::from_mins(1));
    assert_eq!(ended.outcome, Outcome::Exited(0));
    assert!(ended.output.in_file);
    assert_eq!(fs::read(bench.output_file(ended.claim)).expect("kept"), b"done\n");
    let left = pid_in(&bench.path("left"));
    assert!(is_alive(left));

    assert!(bench.executor.supervisor().is_none());
    let job = limited(&mut bench, "sleep 300");
    assert_eq!(bench.run(&job).outcome, Outcome::TimedOut(LIMIT));
    assert!(is_alive(left), "a later sweep hit the wrong job");
    kill(left, Signal::SIGKILL);
}

#[test]
fn the_journal_of_a_retired_supervisor_stays_while_its_results_may_be_unsettled() {
    let mut bench = Bench::new();
    let ended = bench.run_text("sleep 300 & echo $! > left");
    let journal = bench.dir.journal(ended.claim.owner, 0);
    for _ in 0..super::KEEP {
        assert!(journal.exists());
        bench.run_text("true");
    }
    assert!(!journal.exists());
    kill(pid_in(&bench.path("left")), Signal::SIGKILL);
}

fn stop(text: &str, why: Stop) -> (Bench, Ended) {
    let mut bench = Bench::new();
    let job = bench.job(text);
    let begun = bench.begin(job);
    begun.start();
    let pid = begun.pid_in("pid");
    begun.stopper.stop(begun.claim, why);
    let (bench, ended) = begun.end();
    assert!(!is_alive(pid));
    (bench, ended)
}

#[test]
fn a_cancelled_job_ends_as_cancelled_once_it_is_gone() {
    let (_bench, ended) = stop("echo $$ > pid; sleep 300", Stop::Cancel);
    assert_eq!(ended.outcome, Outcome::Cancelled);
}

#[test]
fn a_shutdown_ends_a_job_as_interrupted() {
    let (mut bench, ended) = stop("echo $$ > pid; sleep 300", Stop::Shutdown);
    assert_eq!(ended.outcome, Outcome::Interrupted);
    assert_eq!(bench.run_text("exit 4").outcome, Outcome::Exited(4));
}

#[test]
fn a_stop_that_means_another_attempt_stops_nothing() {
    let mut bench = Bench::new();
    let job = bench.job("until [ -e go ]; do sleep 0.01; done; exit 7");
    let begun = bench.begin(job);
    begun.start();
    let other = ax_scheduler::job::Claim { attempt: 2, ..begun.claim };
    begun.stopper.stop(other, Stop::Cancel);
    fs::write(begun.temp.join("go"), "").expect("written");
    assert_eq!(begun.end().1.outcome, Outcome::Exited(7));
}

#[test]
fn a_cancel_goes_before_a_shutdown() {
    let mut bench = Bench::new();
    let job = bench.job("trap 'echo x > asked' TERM; until [ -e go ]; do sleep 0.01; done");
    let begun = bench.begin(job);
    begun.start();
    begun.stopper.stop(begun.claim, Stop::Shutdown);
    let asked = begun.temp.join("asked");
    wait_until("the job was asked to end", || asked.exists());
    begun.stopper.stop(begun.claim, Stop::Cancel);
    begun.stopper.stop(begun.claim, Stop::Shutdown);
    fs::write(begun.temp.join("go"), "").expect("written");
    assert_eq!(begun.end().1.outcome, Outcome::Cancelled);
}

#[test]
fn a_stop_that_comes_while_the_job_is_being_sent_is_not_lost() {
    let mut bench = Bench::new();
    for _ in 0..20 {
        let job = bench.job("sleep 300");
        let (back, ended) = bench.begin(job).end_by(Stop::Cancel);
        assert_eq!(ended.outcome, Outcome::Cancelled);
        bench = back;
    }
}
