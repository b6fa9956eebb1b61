//! The job that a supervisor has in hand, and what is due about it when.

use std::time::{Duration, Instant};

use rustix::process::WaitStatus;

use super::ladder::Ladder;
use crate::job::{Claim, Claimed, Outcome, Process};

/// A job that ends before it has lived so long is told of by its end alone,
/// and its output gets no file.
const SHORT_LIFE: Duration = Duration::from_millis(10);

/// How often the length of the output is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// How often once it has been over its limit.
const CLOSE_LOOK: Duration = Duration::from_millis(25);

/// A job that runs.
#[derive(Debug)]
pub(super) struct Hand {
    claimed: Claimed,
    process: Process,
    end: Option<Outcome>,
    ladder: Option<Ladder>,
    /// When its start is to be told of; `None` once that is done.
    tell_at: Option<Instant>,
    /// When its time is up; `None` without a limit.
    time_up_at: Option<Instant>,
    look_at: Instant,
}

impl Hand {
    /// A job that was started now.
    pub(super) fn new(claimed: Claimed, process: Process, now: Instant) -> Self {
        Self {
            time_up_at: claimed.spec.timeout.and_then(|limit| now.checked_add(limit)),
            claimed,
            process,
            end: None,
            ladder: None,
            tell_at: Some(now + SHORT_LIFE),
            look_at: now + LOOK,
        }
    }

    /// Which attempt it is.
    pub(super) const fn claim(&self) -> Claim {
        self.claimed.claim
    }

    /// What was asked for.
    pub(super) const fn claimed(&self) -> &Claimed {
        &self.claimed
    }

    /// Its first process.
    pub(super) const fn process(&self) -> Process {
        self.process
    }

    /// When something is due.
    pub(super) fn next(&self) -> Instant {
        let stop_at = self.ladder.as_ref().map_or(self.time_up_at, |ladder| Some(ladder.next()));
        [self.tell_at, stop_at].into_iter().flatten().fold(self.look_at, Instant::min)
    }

    /// Notes that a process ended, if it is the job's first.
    pub(super) fn note_end(&mut self, pid: i32, status: WaitStatus) {
        if pid == self.process.pid {
            self.end = Some(outcome(status));
        }
    }

    /// Tells whether the job has ended: by itself with its first process, or
    /// stopped with its last.
    pub(super) const fn has_ended(&self, some_are_left: bool) -> bool {
        !some_are_left || self.ladder.is_none() && self.end.is_some()
    }

    /// How it ended.
    pub(super) fn into_end(self) -> (Claimed, Outcome) {
        let unseen = || Outcome::Lost("its exit status was not seen".to_owned());
        let outcome = match self.ladder {
            Some(ladder) => ladder.into_outcome(),
            None => self.end.unwrap_or_else(unseen),
        };
        (self.claimed, outcome)
    }

    /// Begins to stop it. A second reason changes nothing, but for a cancel.
    pub(super) fn stop(&mut self, outcome: Outcome, now: Instant) {
        let kill_after = self.claimed.spec.kill_after;
        match &mut self.ladder {
            None => self.ladder = Some(Ladder::begin(self.process.pid, outcome, kill_after, now)),
            Some(ladder) if outcome == Outcome::Cancelled => ladder.cancel(),
            Some(_) => (),
        }
    }

    /// Goes on stopping it, or begins to if its time is up; tells once, in
    /// words, what is left of it when it does not go.
    pub(super) fn climb(&mut self, now: Instant) -> Option<String> {
        if self.ladder.is_none() && self.time_up_at.is_some_and(|at| at <= now) {
            let limit = self.claimed.spec.timeout.unwrap_or_default();
            self.stop(Outcome::TimedOut(limit), now);
        }
        self.ladder.as_mut().and_then(|ladder| ladder.climb(now))
    }

    /// Tells whether its start is to be told of now.
    pub(super) fn is_tell_due(&self, now: Instant) -> bool {
        self.tell_at.is_some_and(|at| at <= now)
    }

    /// Its start is told of, with the start time that its process is known by.
    pub(super) const fn is_told(&mut self, start_time: u64) {
        self.process.start_time = start_time;
        self.tell_at = None;
    }

    /// Tells whether it is time to look at the length of the output.
    pub(super) fn is_look_due(&self, now: Instant) -> bool {
        self.look_at <= now
    }

    /// Its output has been looked at, and was over its limit or not.
    pub(super) fn looked(&mut self, now: Instant, was_over: bool) {
        self.look_at = now + if was_over { CLOSE_LOOK } else { LOOK };
    }
}

/// What the status of a process that ended means.
pub(super) fn outcome(status: WaitStatus) -> Outcome {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Outcome::Exited(code),
        (None, Some(signal)) => Outcome::Signaled(signal),
        (None, None) => Outcome::Lost("its exit status makes no sense".to_owned()),
    }
}
