//! Hooks of a runner: taken, watched, settled when their process dies.

use std::time::Duration;

use ax_scheduler::clock::{Clock, SystemClock};
use ax_scheduler::job::hook::{self, HookEnd, HookId, HookRecord};
use ax_scheduler::job::{Hook, JobId, NewJob, Outcome, State};
use ax_scheduler::sched::drive::{End, Until};

use super::fakes::HookProcess;
use super::play::{Play, Setting};
use crate::harness::sample::new_job;

const PATIENCE: Duration = Duration::from_secs(20);

impl Setting {
    fn with_hooks(count: usize) -> Self {
        let mut setting = Self::with_jobs(0);
        let now = SystemClock.now();
        let on_end = Some(Hook { command: b"true".to_vec(), timeout: hook::TIMEOUT });
        let job = NewJob { on_end, ..new_job("job", now, &[]) };
        setting.store.add(&vec![job; count], now).expect("added");
        setting
    }

    fn hook(&mut self, job: i64) -> HookRecord {
        self.store.hooks(JobId(job)).expect("read").remove(0)
    }
}

impl Play {
    #[track_caller]
    fn launched(&self) -> HookProcess {
        self.hooks.recv_timeout(PATIENCE).expect("a process is launched")
    }

    /// Begins a hook, as its process does.
    fn begin(&mut self, hook: HookId) {
        let (runner, now) = (self.setting.runner, SystemClock.now());
        let begun = self.setting.store.begin_hook(hook, runner, now).expect("read");
        assert!(begun.is_some(), "hook {hook} is begun once");
    }

    /// Records the end of a hook, as its process does, which then ends.
    fn finish(&mut self, process: HookProcess) {
        let at = SystemClock.now();
        let end = HookEnd { outcome: Outcome::Exited(0), output: Vec::new(), at };
        assert!(self.setting.store.end_hook(process.hook, &end).expect("written"));
        (process.end)();
    }
}

#[test]
fn a_runner_that_ends_when_idle_runs_the_hooks_of_its_jobs_first() {
    for until in [Until::Idle, Until::NothingDue] {
        let mut setting = Setting::with_hooks(3);
        setting.until = until;
        let mut play = setting.start();
        for _ in 0..3 {
            play.hall.end(play.hall.begun(), 0);
        }
        for _ in 0..3 {
            let process = play.launched();
            play.begin(process.hook);
            play.finish(process);
        }
        let (mut setting, _, end) = play.end_well();
        assert_eq!(end, End::Finished);
        for job in 1..=3 {
            assert_eq!(setting.hook(job).outcome.as_deref(), Some("exited"));
        }
    }
}

#[test]
fn hooks_that_hang_hold_up_no_job_and_only_so_many_run_at_once() {
    let mut play = Setting::with_hooks(5).start();
    for _ in 0..5 {
        play.hall.end(play.hall.begun(), 0);
    }
    play.wait_for_states(&[State::Success; 5]);
    let hanging = [play.launched(), play.launched()];
    assert!(play.hooks.is_empty(), "there is room for two");
    for process in hanging {
        play.begin(process.hook);
        play.finish(process);
    }
    for _ in 0..3 {
        let process = play.launched();
        play.begin(process.hook);
        play.finish(process);
    }
    play.signal();
    assert_eq!(play.end_well().2, End::Finished);
}

#[test]
fn a_hook_whose_process_dies_is_unknown_and_never_begun_again() {
    let mut setting = Setting::with_hooks(1);
    setting.until = Until::Idle;
    let mut play = setting.start();
    play.hall.end(play.hall.begun(), 0);
    let process = play.launched();
    play.begin(process.hook);
    (process.end)();
    play.wait_for_event("the hook of job 1 was killed");
    let (mut setting, ..) = play.end_well();
    let hook = setting.hook(1);
    assert_eq!(hook.outcome.as_deref(), Some("lost"));
    assert_eq!(hook.error.as_deref(), Some("outcome unknown: the process that ran it was killed"));
}

#[test]
fn a_hook_whose_process_dies_before_it_began_is_taken_again() {
    let mut setting = Setting::with_hooks(1);
    setting.until = Until::Idle;
    let mut play = setting.start();
    play.hall.end(play.hall.begun(), 0);
    (play.launched().end)();
    play.wait_for_event("could not be begun");
    let process = play.launched();
    play.begin(process.hook);
    play.finish(process);
    let (mut setting, ..) = play.end_well();
    assert_eq!(setting.hook(1).outcome.as_deref(), Some("exited"));
}

#[test]
fn the_first_signal_waits_for_hooks_and_the_second_stops_them() {
    let mut play = Setting::with_hooks(2).start();
    let first = play.hall.begun();
    play.hall.end(first, 0);
    let process = play.launched();
    play.begin(process.hook);
    play.signal();
    play.wait_for_event("no more jobs are claimed");
    assert!(play.hook_stops.is_empty());
    play.signal();
    let stopped = play.hook_stops.recv_timeout(PATIENCE).expect("it is told to stop");
    assert_eq!(stopped, process.hook);
    play.finish(process);
    assert_eq!(play.end_well().2, End::Finished);
}

#[test]
fn what_a_dead_runner_had_taken_is_taken_over() {
    let mut setting = Setting::with_hooks(1);
    let gone = ax_scheduler::job::RunnerId(99);
    let how = ax_scheduler::store::Cancel::default();
    setting.store.cancel(&[JobId(1)], &how, SystemClock.now()).expect("cancelled");
    let taken = setting.store.take_hooks(gone, None, 1).expect("taken");
    setting.until = Until::Idle;
    setting.poll_interval = Duration::from_millis(20);
    let mut play = setting.start();
    let process = play.launched();
    assert_eq!(process.hook, taken[0]);
    play.begin(process.hook);
    play.finish(process);
    play.end_well();
}
