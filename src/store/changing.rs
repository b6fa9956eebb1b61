//! What people have done with jobs, and what comes of it.

use serde::{Deserialize, Serialize};

use super::turning::Moved;
use crate::job::{
    Added, Claim, Command, FlowRunId, JobId, NewJob, RunnerId, Settings, State, Timestamp,
    schedule::NextStart,
};

/// By what a job that is handed over is known to both sides; a random number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Token(pub i64);

/// A job that a command handed to a runner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Handed {
    /// By what it is known.
    pub token: Token,
    /// To whom it was handed.
    pub runner: RunnerId,
    /// The process of the command.
    pub pid: i32,
    /// What is to be added.
    pub job: NewJob,
    /// When the command was given.
    pub now: Timestamp,
}

/// A run that was put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enqueued {
    /// Its number.
    pub run: FlowRunId,
    /// Its jobs, in the order of the chain.
    pub added: Vec<Added>,
}

/// A schedule that was made or went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// Its name.
    pub name: String,
    /// Whether no schedule had the name before.
    pub new: bool,
    /// Its next start.
    pub next: Option<NextStart>,
}

/// What `ax retry` is to do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Revival {
    /// Also everything after the jobs.
    pub downstream: bool,
    /// Also jobs that succeeded.
    pub force: bool,
    /// Only say what would be done.
    pub dry_run: bool,
}

/// What `ax cancel` is to do.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    /// Also everything after the jobs.
    pub downstream: bool,
    /// Why, if a person said it.
    pub reason: Option<String>,
    /// Only say what would be done.
    pub dry_run: bool,
}

/// What came of [`Store::cancel`](super::Store::cancel).
#[derive(Clone, Debug, Default)]
pub struct Cancelling {
    /// The jobs that ended at once, and those that were skipped because of them.
    pub moved: Vec<Moved>,
    /// The attempts that somebody has in hand, who is to stop them.
    pub asked: Vec<Asked>,
}

/// An attempt that is to be stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Which attempt.
    pub claim: Claim,
    /// What people call the job.
    pub title: String,
}

/// What is to change about a job; nothing where nothing is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edit {
    /// What people call it.
    pub name: Option<String>,
    /// What it runs.
    pub command: Option<Command>,
    /// When it is due.
    pub due: Option<Timestamp>,
    /// How it runs.
    pub settings: Settings,
    /// It leaves its group.
    pub no_group: bool,
    /// It needs no mutex any more.
    pub no_mutex: bool,
}

/// What is said of an attempt while it runs, most of it by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It wants to come again then, if it does not fail.
    Snooze(Timestamp),
    /// How far it is.
    Progress {
        /// In percent, 0 to 100.
        percent: u8,
        /// In words.
        text: Option<String>,
    },
    /// It was killed, and this is left of it. That is said once of an attempt,
    /// and then refused as for one that does not run.
    Stuck(String),
}

/// What [`Store::prune`](super::Store::prune) is to delete.
#[derive(Clone, Copy, Debug)]
pub struct Prune {
    /// What ended then or earlier.
    pub before: Timestamp,
    /// Where the batch before ended: [`Pruned::next`].
    pub after: Option<(Timestamp, JobId)>,
    /// Only say what would be deleted.
    pub dry_run: bool,
}

/// What a batch of [`Store::prune`](super::Store::prune) came to.
#[derive(Clone, Debug, Default)]
pub struct Pruned {
    /// The jobs that are gone, and how they had ended.
    pub removed: Vec<(JobId, State)>,
    /// Their attempts whose output is in a file, which nobody needs any more.
    pub files: Vec<(JobId, u32)>,
    /// Where the next batch begins; `None` after the last.
    pub next: Option<(Timestamp, JobId)>,
}

/// How a person resolves an unknown outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// It had ended well.
    Success,
    /// It had failed for good.
    Failed,
    /// Start it again.
    Retry,
}
