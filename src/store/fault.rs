//! What can be wrong inside the store, and what helps.

use crate::job::{JobId, RunnerId};

/// A disagreement that the store found in itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which check found it.
    pub kind: FaultKind,
    /// The job it is about, if it is about one.
    pub job: Option<JobId>,
    /// What is wrong, for a person: a sentence that names the job.
    pub what: String,
    /// What helps.
    pub cure: Cure,
}

/// What can be wrong inside the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// A dependency on a job that does not exist.
    MissingParent,
    /// A dependency of a job that does not exist.
    MissingChild,
    /// A job that depends on itself.
    SelfDependency,
    /// Jobs that wait for each other.
    Cycle,
    /// A job that waits for what can never come.
    NeverReady,
    /// A job whose state and attempts disagree.
    StateDisagrees,
    /// A count or cache that is not what it counts.
    Drifted,
    /// A job that is due and waits for nothing; a fault if a runner lives.
    Overdue,
    /// A time that lies in the far future or past.
    AbsurdTime,
    /// A schedule that cannot go on, or whose next start is not what it says.
    Schedule,
    /// A value that no `ax` writes.
    Nonsense,
    /// What `integrity_check` says.
    Corrupt,
    /// What `foreign_key_check` says.
    ForeignKey,
    /// A table, index, view or trigger that is not what the schema says.
    Schema,
    /// A write-ahead log that has grown large.
    LargeLog,
}

/// What helps against a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cure {
    /// There is one right repair, and [`super::Store::mend`] makes it.
    Repair(Repair),
    /// A person decides, and types this.
    Advice(String),
}

/// A repair that is right whatever the person meant: it follows from what else
/// is stored, or it forgets what decides nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repair {
    /// Delete dependencies on jobs that do not exist, of a job that has started.
    ForgetMissingParents,
    /// Delete the dependencies of a job that does not exist.
    ForgetMissingChild,
    /// Delete the dependency on itself of a job that has started.
    ForgetSelf,
    /// Let the next turn judge the job's dependencies.
    Judge,
    /// Let a failed job wait for its time alone.
    Unblock,
    /// Let the next turn look again at the group and the mutex of the job.
    LookAtLimits,
    /// Count the attempts, and bring the other counts within their bounds.
    Recount,
    /// Write "lost" behind open attempts that nobody will settle.
    CloseAttempts,
    /// Take the owner from a job that is not with a runner.
    Disown,
    /// Hold a job of which nobody knows what became: a person must decide.
    Suspend,
    /// Enter the runner again that owns jobs, so that they can be recovered.
    Enlist(RunnerId),
    /// Delete the history of a job that does not exist.
    ForgetHistory,
    /// Delete the output of attempts that do not exist.
    ForgetOutput,
    /// Forget that this attempt has an output file.
    ForgetFile(u32),
    /// Make the indexes anew.
    Reindex,
    /// Make missing or changed indexes, views and triggers anew.
    RestoreSchema,
    /// Write the write-ahead log back and empty it.
    Checkpoint,
}

impl Repair {
    /// What it does, in words that fit before and after.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::ForgetMissingParents => "the dependency on a job that does not exist is deleted",
            Self::ForgetMissingChild => {
                "the dependencies of the job that does not exist are deleted"
            }
            Self::ForgetSelf => "the dependency of the job on itself is deleted",
            Self::Judge => "the next turn of a runner judges the job's dependencies again",
            Self::Unblock => "the job waits for its time alone",
            Self::LookAtLimits => "the next turn of a runner looks at the job's limits again",
            Self::Recount => "the job's counts are made what its history says",
            Self::CloseAttempts => "the open attempt is closed as lost; the job stays as it is",
            Self::Disown => "the owner is taken away; the job stays as it is",
            Self::Suspend => "the job is held; `ax recover` settles it",
            Self::Enlist(_) => {
                "the runner is entered as one that is gone; `ax recover` settles the job"
            }
            Self::ForgetHistory => "the attempts of the job that does not exist are deleted",
            Self::ForgetOutput => "the output of attempts that do not exist is deleted",
            Self::ForgetFile(_) => "the attempt no longer claims to have an output file",
            Self::Reindex => "the indexes are made anew",
            Self::RestoreSchema => "the indexes, views and triggers of the schema are made anew",
            Self::Checkpoint => "the log is written back and emptied",
        }
    }
}
