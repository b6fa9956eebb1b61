//! What the store is asked, and what it answers.

use crate::job::{FlowRunId, Job, JobId, Kind, State, Timestamp};

/// How a job is named by a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// `12` and `3-7`: the jobs from the first id to the last.
    Ids(JobId, JobId),
    /// `last`: the job that was added last.
    Last,
    /// `all`.
    All,
    /// `name:GLOB`.
    Name(String),
    /// `key:K`.
    Key(String),
    /// `status:dead`.
    Status(State),
    /// `flow:NAME`.
    Flow(String),
    /// `group:NAME`.
    Group(String),
    /// `schedule:NAME`.
    Schedule(String),
}

/// In which order a list comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Order {
    /// By id.
    #[default]
    Id,
    /// By name, then id.
    Name,
    /// By state in the order of [`State::ALL`], then id.
    Status,
    /// Higher first, then id.
    Priority,
    /// By due time, then id.
    Scheduled,
    /// By the start of the last attempt, then id; what never started comes first.
    Started,
    /// By the last end, then id; what never ended comes first.
    Finished,
}

/// Which jobs a list shows. Every condition must hold; a job matches
/// `selectors` if it matches one of them, or if there are none.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// By name of a person.
    pub selectors: Vec<Selector>,
    /// In one of these states; any if empty.
    pub states: Vec<State>,
    /// Whose name (or command, if it has none) matches this glob.
    pub name: Option<String>,
    /// That was added, started or ended at or after this time.
    pub since: Option<Timestamp>,
    /// Of this run of a flow.
    pub flow_run: Option<FlowRunId>,
    /// In this order.
    pub order: Order,
    /// The last so many in that order.
    pub limit: Option<usize>,
}

/// How a job failed: as much of it as tells why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The job.
    pub job: JobId,
    /// How its last attempt ended ([`crate::job::cause::end`]).
    pub end: Option<String>,
    /// What a person reads of it.
    pub error: Option<String>,
    /// When that was.
    pub at: Option<Timestamp>,
}

/// A job that could run and has not been started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overdue {
    /// The job.
    pub job: JobId,
    /// Since when it could run: its time, its birth, or when a person brought it
    /// back or the last of its parents ended, whatever is latest.
    pub since: Timestamp,
}

/// What is unfinished, by what it waits for; of a flow run or of everything.
/// The next starts of schedules are not among it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// Dispatched or running, of any runner.
    pub owned: u64,
    /// Ready.
    pub ready: u64,
    /// Failed (a retry is scheduled), or pending with its dependencies met.
    pub scheduled: u64,
    /// Hooks that are owed or run, of any runner.
    pub hooks: u64,
    /// Whether dependencies are still to be judged.
    pub unjudged: bool,
}

impl Outlook {
    /// Tells whether nothing will happen any more by itself.
    pub const fn is_idle(&self) -> bool {
        self.owned == 0
            && self.ready == 0
            && self.scheduled == 0
            && self.hooks == 0
            && !self.unjudged
    }
}

/// How many jobs are in each state, in the order of [`State::ALL`].
pub type Counts = [u64; State::ALL.len()];

/// What is going on, as far as a person can take it in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Glance {
    /// The jobs that run, who has run longest first, without dependencies.
    pub running: Vec<Job>,
    /// The others that have not ended well.
    pub queue: Queue,
    /// What failed last (failed, dead or held), the last one first.
    pub failures: Vec<Job>,
    /// What ended lately.
    pub ended: Ended,
    /// The schedules that start next, and when.
    pub starts: Vec<(String, Timestamp)>,
}

/// How many jobs that do not run stand where. No number is counted further than
/// [`Queue::MOST`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Ready to be taken.
    pub ready: u64,
    /// Ready, but for a group or a mutex.
    pub limited: u64,
    /// Claimed by a runner that has not started them.
    pub claimed: u64,
    /// Pending, and waiting for their time.
    pub scheduled: u64,
    /// Failed, and to be tried again.
    pub failed: u64,
    /// Pending, and waiting for other jobs.
    pub waiting: u64,
    /// Held.
    pub held: u64,
    /// Dead.
    pub dead: u64,
}

impl Queue {
    /// So many are many.
    pub const MOST: u64 = 10_000;
}

/// How many jobs ended lately, of the last [`Ended::MOST`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// How many.
    pub count: u64,
    /// When the first of them did.
    pub first: Option<Timestamp>,
}

impl Ended {
    /// No more are counted.
    pub const MOST: u64 = 1_000;
}

/// A group of jobs, and how it is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What people call it.
    pub name: String,
    /// How many of its jobs run at once; `None` for any number.
    pub parallel: Option<u32>,
    /// Whether none of its jobs is started.
    pub paused: bool,
    /// How many of its jobs runners have.
    pub running: u64,
    /// How many could start.
    pub ready: u64,
    /// How many wait for their time, other jobs, or a person.
    pub waiting: u64,
}

/// Names to complete what a person types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The last jobs, the latest first.
    pub jobs: Vec<Hint>,
    /// The names of schedules.
    pub schedules: Vec<String>,
    /// The groups that have a limit or are paused.
    pub groups: Vec<String>,
}

/// A job that waits for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// The job.
    pub job: JobId,
    /// For what it waits.
    pub kind: Kind,
    /// Where it stands.
    pub state: State,
}

/// A job, as far as it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Its number.
    pub id: JobId,
    /// What people call it.
    pub name: Option<String>,
    /// What it runs.
    pub command: String,
    /// The idempotency key.
    pub key: Option<String>,
    /// Where it stands.
    pub state: State,
    /// The flow it belongs to.
    pub flow: Option<String>,
    /// The group whose limit it is under.
    pub group: Option<String>,
    /// What no two jobs have at once.
    pub mutex: Option<String>,
}
