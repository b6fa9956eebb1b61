//! Stopping a job with everything it started.
//!
//! TERM and CONT to the process group; then, once the job had its time or
//! nothing of the group is left, KILL to the group and to every descendant
//! that left it, until there are none. Whether something is left is told by
//! `waitpid`: the supervisor adopts what loses its parent, so nothing the job
//! started can end up elsewhere.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::process::{self, Stat};
use crate::crash;
use crate::job::Outcome;

/// Between two rounds: killed processes need a moment to be gone.
const ROUND: Duration = Duration::from_millis(10);
/// Between two rounds when something does not go.
const SLOW_ROUND: Duration = Duration::from_millis(500);
/// Rounds after which they become slow.
const PATIENCE: u32 = 100;

/// A job that is being stopped.
#[derive(Debug)]
pub(super) struct Ladder {
    group: i32,
    outcome: Outcome,
    /// When KILL comes; `None` if it never comes by time alone.
    kill_at: Option<Instant>,
    next: Instant,
    /// How often KILL was sent.
    kills: u32,
}

impl Ladder {
    /// Sends TERM and CONT to the process group of a job that runs. Once it is
    /// gone it has ended with `outcome`, whatever its status says.
    pub(super) fn begin(group: i32, outcome: Outcome, kill_after: Duration, now: Instant) -> Self {
        signal_group(group, Signal::TERM);
        signal_group(group, Signal::CONT);
        Self { group, outcome, kill_at: now.checked_add(kill_after), next: now, kills: 0 }
    }

    /// When [`Ladder::climb`] has something to do again.
    pub(super) const fn next(&self) -> Instant {
        self.next
    }

    /// What the job will have ended with.
    pub(super) fn into_outcome(self) -> Outcome {
        self.outcome
    }

    /// A person's cancel goes before every other reason to stop.
    pub(super) fn cancel(&mut self) {
        self.outcome = Outcome::Cancelled;
    }

    /// Takes the next step, if it is due. Called as long as something is left;
    /// tells once what that is, in words, when it does not go.
    pub(super) fn climb(&mut self, now: Instant) -> Option<String> {
        if now < self.next {
            return None;
        }
        let out_of_time = self.kill_at.is_some_and(|at| at <= now);
        let mut left = Vec::new();
        if self.kills > 0 || out_of_time || is_empty(self.group) {
            left = kill_all(self.group);
            self.kills += 1;
        }
        self.next = now + if self.kills < PATIENCE { ROUND } else { SLOW_ROUND };
        (self.kills == PATIENCE && !left.is_empty()).then(|| process::undying(&left))
    }
}

/// Kills all descendants of this process, those in `group` with one blow; gives
/// those that there were.
fn kill_all(group: i32) -> Vec<Stat> {
    let own = i32::try_from(std::process::id()).expect("a process id fits");
    let Ok(all) = process::all() else { return Vec::new() };
    let mut found = process::descendants(own, &all);
    found.retain(|stat| !stat.has_ended());
    if crash::mutes("kill") {
        return found;
    }
    // A group without a descendant in it may be a stranger's by now.
    if found.iter().any(|stat| stat.group == group) {
        signal_group(group, Signal::KILL);
    }
    for stat in found.iter().filter(|stat| stat.group != group) {
        // One that may not be signalled is tried again as long as it is there.
        let _ = process::signal(stat, Signal::KILL);
    }
    found
}

fn signal_group(group: i32, signal: Signal) {
    if let Some(group) = Pid::from_raw(group) {
        let _ = kill_process_group(group, signal);
    }
}

fn is_empty(group: i32) -> bool {
    Pid::from_raw(group).is_none_or(|group| test_kill_process_group(group) == Err(Errno::SRCH))
}
