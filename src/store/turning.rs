//! A runner, and what a turn of it brings and takes.

use super::changing::Handed;
use crate::job::{
    Added, Claim, Claimed, Event, FlowRunId, JobId, Process, RunnerId, Settlement, Timestamp,
    Verdict,
};

/// A runner as it introduces itself.
#[derive(Clone, Debug)]
pub struct NewRunner {
    /// Its process id.
    pub pid: i32,
    /// Start time in clock ticks since boot.
    pub start_time: u64,
    /// The kernel's name of this boot.
    pub boot_id: String,
    /// How many workers it has.
    pub workers: usize,
}

/// A runner that has not been discharged.
#[derive(Clone, Debug)]
pub struct Runner {
    /// Its number.
    pub id: RunnerId,
    /// Its process id.
    pub pid: i32,
    /// Start time in clock ticks since boot.
    pub start_time: u64,
    /// The kernel's name of the boot it belongs to.
    pub boot_id: String,
    /// How many workers it has.
    pub workers: usize,
    /// Since when.
    pub started_at: Timestamp,
}

/// A process that a runner has started for a claim.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    /// The guard.
    pub claim: Claim,
    /// The process.
    pub process: Process,
}

/// What a runner brings into one turn.
#[derive(Clone, Debug)]
pub struct Turn<'a> {
    /// Who.
    pub runner: RunnerId,
    /// When.
    pub now: Timestamp,
    /// Processes that were started.
    pub started: &'a [Started],
    /// Attempts that ended.
    pub settled: &'a [Settlement],
    /// Jobs that commands have handed to the runner.
    pub handed: &'a [Handed],
    /// Whether it starts jobs, if not at once: only then is it known that what
    /// is due by now is started.
    pub serves: bool,
    /// How many jobs it can take.
    pub room: usize,
    /// Take jobs of this run of a flow only.
    pub scope: Option<FlowRunId>,
}

/// A job that changed its state on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The job.
    pub job: JobId,
    /// What people call it.
    pub title: String,
    /// By what.
    pub event: Event,
    /// Why, for a person.
    pub reason: Option<String>,
}

/// What came of a turn.
#[derive(Clone, Debug, Default)]
pub struct Turned {
    /// The jobs that the runner has now.
    pub claimed: Vec<Claimed>,
    /// What was added for each job that was handed over; nothing for one that
    /// cannot be added.
    pub added: Vec<Option<Added>>,
    /// The settlements that came too late and changed nothing.
    pub late: Vec<Claim>,
    /// Those that had been written before and change nothing either.
    pub repeated: Vec<Claim>,
    /// What became of attempts instead of their verdict, because a person or the
    /// attempt itself had said so before it ended.
    pub overruled: Vec<(Claim, Verdict)>,
    /// The claims of the runner that a person wants ended.
    pub cancels: Vec<Claim>,
    /// Jobs that were skipped or suspended on the way.
    pub moved: Vec<Moved>,
    /// The next time something is due (in scope), if it lies ahead.
    pub next_due: Option<Timestamp>,
    /// Whether something is due or judged next turn already.
    pub more: bool,
    /// Whether a hook (in scope) waits for a runner to take it.
    pub hooks_owed: bool,
    /// Rows with nonsense in them, in words; they were suspended.
    pub nonsense: Vec<String>,
    /// Whether there was nothing to write, nor will there be before
    /// `next_due`, unless somebody writes or the clock is set back.
    pub quiet: bool,
}
