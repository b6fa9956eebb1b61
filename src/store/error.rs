//! What a verb of the store may answer instead of its result.

use std::path::PathBuf;

use crate::job::{JobId, State};

/// What a verb of the store may answer instead of its result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such job.
    #[error("no such job: {0}")]
    NoSuchJob(JobId),
    /// No job has this key.
    #[error("no job has the key `{0}`")]
    NoSuchKey(String),
    /// A job cannot make this move from the state it is in.
    #[error("job {job} is {state}, {wanted}")]
    WrongState {
        /// The job.
        job: JobId,
        /// Where it stands.
        state: State,
        /// What was wanted instead: `not dead, cancelled or skipped`.
        wanted: &'static str,
        /// What to type instead.
        hint: Option<String>,
    },
    /// A job cannot come back alone, because its dependencies are still broken.
    #[error("job {job} {why}")]
    StillBroken {
        /// The job.
        job: JobId,
        /// What it needs: [`crate::job::dependency::skip_reason`].
        why: String,
        /// The parent that must come back first.
        parent: JobId,
    },
    /// A job cannot come back, because an unfinished one has its key by now.
    #[error("job {job} cannot come back: job {by} has its key `{key}`")]
    KeyTaken {
        /// The job.
        job: JobId,
        /// The key.
        key: String,
        /// The job that has it.
        by: JobId,
    },
    /// An attempt says something of itself, but does not run (any more).
    #[error("attempt {attempt} of job {job} does not run")]
    NotRunning {
        /// The job.
        job: JobId,
        /// The attempt.
        attempt: u32,
    },
    /// An unfinished job has this key already.
    #[error("job {job} has the key `{key}` already")]
    KeyExists {
        /// The key.
        key: String,
        /// The job that has it.
        job: JobId,
    },
    /// There is no such schedule.
    #[error("no such schedule: `{}`", .0.escape_debug())]
    NoSuchSchedule(String),
    /// There is a schedule of this name already.
    #[error("there is a schedule `{}` already", .0.escape_debug())]
    ScheduleExists(String),
    /// A schedule whose row was written by hand and cannot be read.
    #[error("the schedule `{}` cannot go on: {why}", name.escape_debug())]
    BrokenSchedule {
        /// The schedule.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// These jobs would wait for each other.
    #[error("the jobs would wait for each other: {}", crate::job::dependency::cycle_text(.0))]
    Cycle(Vec<JobId>),
    /// Job number `index` (from 0) of a batch cannot be added.
    #[error("{source}")]
    InBatch {
        /// Which one.
        index: usize,
        /// Why.
        source: Box<Error>,
    },
    /// A key of a batch stands in it twice, or its jobs wait for each other;
    /// `members` are indexes into the batch, in the order of the cycle.
    #[error("jobs of the batch wait for each other")]
    BatchCycle {
        /// The members.
        members: Vec<usize>,
    },
    /// Somebody held the database for the whole time that was allowed.
    #[error("{} has been busy for {seconds} s", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
        /// How long was waited.
        seconds: u64,
    },
    /// There is no room.
    #[error("no space is left for {}", .0.display())]
    Full(PathBuf),
    /// The database cannot be used, and the text says why.
    #[error("{} {why}", path.display())]
    Unusable {
        /// The database.
        path: PathBuf,
        /// What is wrong with it, as the end of a sentence that starts with its path.
        why: String,
        /// What to do.
        hint: Option<String>,
    },
}
