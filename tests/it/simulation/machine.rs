//! A machine: its clock, its boots, and the processes of jobs on it.
//!
//! It is the witness: whatever the store says of an attempt is held against
//! what its process really did.

use std::collections::{BTreeMap, BTreeSet};

use ax_scheduler::job::{Claim, JobId, Outcome, Process, Timestamp};

use crate::store::bench::START;

/// A process of a job, or what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) claim: Claim,
    /// How it ended; `None` while it runs.
    pub(crate) end: Option<Outcome>,
}

/// The machine.
#[derive(Debug)]
pub(crate) struct Machine {
    /// What the clock shows.
    pub(crate) now: i64,
    /// What it would show if nobody had set it.
    pub(crate) right: i64,
    pub(crate) boot: u32,
    pids: i32,
    pub(crate) runs: Vec<Run>,
    /// The attempts whose outcome nobody can know.
    pub(crate) doomed: BTreeSet<(JobId, u32)>,
    /// How often each job may still be started, by its retries and by what
    /// stopped it from outside.
    pub(crate) starts_left: BTreeMap<JobId, i64>,
    /// What no two jobs have at once.
    pub(crate) mutexes: BTreeMap<JobId, String>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self {
            now: START.millis(),
            right: START.millis(),
            boot: 1,
            pids: 100,
            runs: Vec::new(),
            doomed: BTreeSet::new(),
            starts_left: BTreeMap::new(),
            mutexes: BTreeMap::new(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }

    pub(crate) fn boot_id(&self) -> String {
        format!("boot-{}", self.boot)
    }

    pub(crate) fn pass(&mut self, millis: i64) {
        self.now += millis;
        self.right += millis;
    }

    pub(crate) fn pid(&mut self) -> i32 {
        self.pids += 1;
        self.pids
    }

    /// Starts the process of an attempt.
    pub(crate) fn start(&mut self, claim: Claim) -> Process {
        for run in self.runs.iter().filter(|run| run.claim.job == claim.job) {
            assert_ne!(run.claim.attempt, claim.attempt, "{claim:?} is started twice");
            assert!(run.end.is_some(), "{claim:?} is started beside {:?}", run.claim);
        }
        if let Some(mutex) = self.mutexes.get(&claim.job) {
            let has_it = |run: &&Run| self.mutexes.get(&run.claim.job) == Some(mutex);
            for run in self.runs.iter().filter(has_it) {
                assert!(run.end.is_some(), "{claim:?} and {:?} both have {mutex}", run.claim);
            }
        }
        let left = self.starts_left.get_mut(&claim.job).expect("a job that was added");
        *left -= 1;
        assert!(*left >= 0, "{claim:?} is started once too often");
        let process = Process {
            pid: self.pid(),
            start_time: self.now.unsigned_abs(),
            started_at: self.now(),
        };
        self.runs.push(Run { claim, end: None });
        process
    }

    /// The process of an attempt, if one was started.
    pub(crate) fn run(&mut self, claim: Claim) -> Option<&mut Run> {
        self.runs.iter_mut().rev().find(|run| run.claim == claim)
    }

    /// Ends the process of an attempt, unless it has ended.
    pub(crate) fn end(&mut self, claim: Claim, how: Outcome) {
        let Some(run) = self.run(claim) else { return };
        if run.end.is_some() {
            return;
        }
        let free = matches!(how, Outcome::Interrupted);
        run.end = Some(how);
        if free {
            self.allow(claim.job, 1);
        }
    }

    pub(crate) fn allow(&mut self, job: JobId, more: i64) {
        *self.starts_left.entry(job).or_default() += more;
    }

    /// Restarts: every process is gone. What was claimed may have been started.
    pub(crate) fn restart(&mut self, claims: &[Claim]) {
        self.boot += 1;
        for run in self.runs.iter_mut().filter(|run| run.end.is_none()) {
            run.end = Some(Outcome::Interrupted);
        }
        for claim in claims {
            self.doom(*claim);
            self.allow(claim.job, 1);
        }
    }

    /// Nobody will ever know how this attempt ended.
    pub(crate) fn doom(&mut self, claim: Claim) {
        self.doomed.insert((claim.job, claim.attempt));
    }
}
