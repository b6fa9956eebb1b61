//! How a job is run.
//!
//! [`Executor`] is the seam: one value runs one job at a time. The real one,
//! [`Supervised`], hands the job to a supervising process that outlives its
//! runner; a test may put a fake in its place. Nothing here knows the database.
//!
//! In the runner: [`supervised`] starts supervisors and hears their reports.
//! In the supervisor: [`supervisor`] is its life, `hand` the job it has, `spawn`
//! and `launch` start it, `ladder` stops it, [`spool`] takes its output, `reports`
//! tells of it. [`hook`] runs what is owed once a job has ended. Between them:
//! `protocol`, and the [`journal`] that tells what a dead supervisor had done. For
//! whoever cleans up: [`lock`], [`process`] and [`sweep`].

mod entry;
mod hand;
pub mod hook;
mod hosted;
pub mod journal;
pub mod kept;
mod ladder;
mod launch;
pub mod lock;
pub mod output;
pub mod process;
mod protocol;
mod reports;
mod spawn;
pub mod spool;
pub mod supervised;
pub mod supervisor;
pub mod sweep;

pub use hosted::{Site, living_journals};
pub use spawn::reason;
pub use supervised::Supervised;

use serde::{Deserialize, Serialize};

use crate::job::{Captured, Claim, Claimed, Outcome, Process, Timestamp};

/// How an attempt ended, before anybody has judged it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Which attempt.
    pub claim: Claim,
    /// How it ended.
    pub outcome: Outcome,
    /// The process, if one was started.
    pub process: Option<Process>,
    /// When it ended.
    pub ended_at: Timestamp,
    /// What it printed.
    pub output: Captured,
}

/// What an executor tells about an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Report {
    /// Its process was started. Short attempts are told by their end alone.
    Started {
        /// Which attempt.
        claim: Claim,
        /// The process.
        process: Process,
    },
    /// It was killed, and not all of it ends.
    Stuck {
        /// Which attempt.
        claim: Claim,
        /// What is left of it, in words.
        why: String,
    },
    /// It ended.
    Ended(Ended),
}

/// What an attempt shows before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Its process was started.
    Started(Process),
    /// It was killed, and this is left of it, in words.
    Stuck(String),
}

/// Why an attempt is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// The runner shuts down.
    Shutdown,
    /// A person cancelled it.
    Cancel,
}

/// Runs one job at a time.
pub trait Executor: Send {
    /// Runs a claimed job to its end. Tells through `tell` of its start, at
    /// once or never (a short attempt is told by its end alone), and of
    /// processes that do not go.
    fn execute(&mut self, claimed: &Claimed, tell: &mut dyn FnMut(Sign)) -> Ended;

    /// A handle by which another thread stops what this executor runs.
    fn stopper(&self) -> Box<dyn Stopper>;
}

/// Stops an attempt from another thread.
pub trait Stopper: Send {
    /// Stops the attempt with this claim, if it is the one that runs; its end
    /// is reported the ordinary way once all its processes are gone.
    fn stop(&self, claim: Claim, why: Stop);
}
