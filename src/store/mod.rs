//! How jobs are kept.
//!
//! [`Store`] is the seam: one handle on one database, whose verbs are one
//! transaction each. It never reads a clock, knows no process and decides no
//! policy; what becomes of a job is decided in [`crate::job`] and only written
//! here, if what was believed still holds. `tests/it/store/conformance.rs`
//! states every promise once, for every backend.

mod fault;
pub mod sqlite;

use std::path::PathBuf;
use std::time::Duration;

use crate::job::hook::{HookEnd, HookId, HookRecord, HookTask, OpenHook};
use crate::job::{
    Added, Attempt, Chain, Claim, Claimed, Command, Dependency, Edge, Event, FlowRunId, Job, JobId,
    NewJob, NewSchedule, Process, RunnerId, Schedule, Settings, Settlement, State, Timestamp,
    Verdict, schedule::NextStart,
};

pub use fault::{Cure, Fault, FaultKind, Repair};

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

/// Opens the database at `path`, and makes it if there is none.
///
/// # Errors
/// [`Error::Unusable`] says why it cannot be used.
pub fn open(path: &std::path::Path) -> Result<Box<dyn Store>> {
    Ok(Box::new(sqlite::Sqlite::open(path)?))
}

/// Opens the database at `path`, which must be there.
///
/// # Errors
/// [`Error::Unusable`] says why it cannot be used.
pub fn open_existing(path: &std::path::Path) -> Result<Box<dyn Store>> {
    if path.exists() {
        return open(path);
    }
    Err(Error::Unusable { path: path.to_owned(), why: "is gone".to_owned(), hint: None })
}

/// Copies every job with its dependencies into a new database at `to` by one
/// prepared statement a table, in one transaction: the limit of adding them.
/// Tells how long that took.
///
/// # Errors
/// When one of the databases cannot be used.
pub fn yardstick(from: &std::path::Path, to: &std::path::Path) -> Result<std::time::Duration> {
    sqlite::yardstick(from, to)
}

/// What the verbs of the store answer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

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

/// What came of [`Store::cancel`].
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

/// What [`Store::prune`] is to delete.
#[derive(Clone, Copy, Debug)]
pub struct Prune {
    /// What ended then or earlier.
    pub before: Timestamp,
    /// Where the batch before ended: [`Pruned::next`].
    pub after: Option<(Timestamp, JobId)>,
    /// Only say what would be deleted.
    pub dry_run: bool,
}

/// What a batch of [`Store::prune`] came to.
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

/// One handle on one database.
///
/// Every verb is one transaction: it happens as a whole or not at all, also
/// over a power cut.
pub trait Store: Send {
    /// Adds jobs, all or none, and judges their dependencies.
    ///
    /// # Errors
    /// [`Error::InBatch`] or [`Error::BatchCycle`] name the job that cannot be added.
    fn add(&mut self, jobs: &[NewJob], now: Timestamp) -> Result<Vec<Added>>;

    /// Adds the jobs of a chain as one run that is due now, all or none.
    ///
    /// # Errors
    /// Those of [`Store::add`].
    fn enqueue(&mut self, chain: &Chain, now: Timestamp) -> Result<Enqueued>;

    /// Makes schedules and puts the next start of each in, all or none; with
    /// `replace` they take the place of those that have their names. One that
    /// is there already, word for word, is left as it is.
    ///
    /// # Errors
    /// [`Error::InBatch`] names the schedule that cannot be made.
    fn schedule(
        &mut self,
        schedules: &[NewSchedule],
        replace: bool,
        now: Timestamp,
    ) -> Result<Vec<Scheduled>>;

    /// All schedules, by name.
    fn schedules(&mut self) -> Result<Vec<Schedule>>;

    /// Takes the next starts of these schedules back and puts no others in.
    fn pause(&mut self, names: &[String], now: Timestamp) -> Result<Vec<Moved>>;

    /// Lets paused schedules go on with the first start after now.
    fn resume(&mut self, names: &[String], now: Timestamp) -> Result<Vec<Scheduled>>;

    /// Removes schedules and takes their next starts back. What has begun goes on.
    fn unschedule(&mut self, names: &[String], now: Timestamp) -> Result<Vec<Moved>>;

    /// Adds dependencies to a job that has not started, and judges it.
    fn link(&mut self, child: JobId, edges: &[Edge], now: Timestamp) -> Result<()>;

    /// Removes dependencies on these parents and judges the job; tells how
    /// many edges went.
    fn unlink(&mut self, child: JobId, parents: &[JobId], now: Timestamp) -> Result<usize>;

    /// Enters a runner.
    fn enlist(&mut self, runner: &NewRunner, now: Timestamp) -> Result<RunnerId>;

    /// Strikes out a runner that owns nothing any more; tells whether it did.
    fn discharge(&mut self, runner: RunnerId) -> Result<bool>;

    /// The runners that were not discharged.
    fn runners(&mut self) -> Result<Vec<Runner>>;

    /// Settles what came in, judges what that touches, releases what is due
    /// and claims what fits: one commit. Writes nothing if there is nothing to do.
    fn turn(&mut self, turn: &Turn<'_>) -> Result<Turned>;

    /// The unfinished claims of a runner, with the state of each job.
    fn claims(&mut self, owner: RunnerId) -> Result<Vec<(Claimed, State)>>;

    /// The claims of a runner that a person wants ended.
    fn cancels(&mut self, owner: RunnerId) -> Result<Vec<Claim>>;

    /// Takes up to `room` of the hooks (of this run of a flow) that are owed,
    /// oldest first. They can be begun by the runner alone now, or given back.
    fn take_hooks(
        &mut self,
        runner: RunnerId,
        scope: Option<FlowRunId>,
        room: usize,
    ) -> Result<Vec<HookId>>;

    /// Lets a hook be taken again that the runner had taken, unless it was begun.
    fn give_back_hook(&mut self, hook: HookId, runner: RunnerId) -> Result<()>;

    /// Begins a hook that the runner has taken: what is to be run. `None` if it
    /// was begun or given back before: no hook is begun twice.
    fn begin_hook(
        &mut self,
        hook: HookId,
        runner: RunnerId,
        now: Timestamp,
    ) -> Result<Option<HookTask>>;

    /// Writes how a hook ended that was begun; tells whether nobody had before.
    fn end_hook(&mut self, hook: HookId, end: &HookEnd) -> Result<bool>;

    /// The hooks that runners have taken and that have not ended.
    fn open_hooks(&mut self) -> Result<Vec<OpenHook>>;

    /// The hooks of a job, and of its run where it decided how that ended,
    /// oldest first.
    fn hooks(&mut self, job: JobId) -> Result<Vec<HookRecord>>;

    /// What is unfinished, by what it waits for.
    fn outlook(&mut self, scope: Option<FlowRunId>) -> Result<Outlook>;

    /// The ids that a person's selector names, in order. Empty if none match.
    fn select(&mut self, selector: &Selector) -> Result<Vec<JobId>>;

    /// The jobs that match, with their dependencies.
    fn list(&mut self, query: &Query) -> Result<Vec<Job>>;

    /// Unfinished jobs with their dependencies, at most so many, those that a
    /// person looks for first: what runs, failed, is held, comes next, waits.
    fn unfinished(&mut self, most: usize) -> Result<Vec<Job>>;

    /// How many jobs match, whatever the limit.
    fn count(&mut self, query: &Query) -> Result<u64>;

    /// How the jobs failed that match and are dead, failed, or held because an
    /// attempt was lost, in the order of their ids. States of the query are left
    /// aside, and so are its order and its limit.
    fn failures(&mut self, query: &Query) -> Result<Vec<Failed>>;

    /// The jobs that could run since `before` or longer and have not been
    /// started, the longest first.
    fn overdue(&mut self, before: Timestamp) -> Result<Vec<Overdue>>;

    /// One job.
    fn get(&mut self, id: JobId) -> Result<Option<Job>>;

    /// The environment a job was added with, `-e` included.
    fn environment(&mut self, id: JobId) -> Result<Option<crate::job::EnvBlock>>;

    /// The history of a job, oldest first.
    fn attempts(&mut self, id: JobId) -> Result<Vec<Attempt>>;

    /// The output of an attempt, if it is kept in the database.
    fn output(&mut self, id: JobId, attempt: u32) -> Result<Option<Vec<u8>>>;

    /// Attempts whose output is in a file of its own.
    fn output_files(&mut self) -> Result<Vec<(JobId, u32)>>;

    /// The dependencies that lead from these jobs to their ancestors and from
    /// their descendants to them; all dependencies of unfinished jobs if empty.
    fn graph(&mut self, around: &[JobId]) -> Result<Vec<Dependency>>;

    /// How many jobs are in each state.
    fn counts(&mut self) -> Result<Counts>;

    /// What is going on: of what runs only that of one runner, if it is named;
    /// of what ended, what did after this time. Reads a bounded number of rows.
    fn glance(&mut self, owner: Option<RunnerId>, since: Timestamp) -> Result<Glance>;

    /// How long a job like this usually takes: the median of the last successes
    /// of its schedule, else of its name or, if it has none, its command, among
    /// what ended last. Reads a bounded number of rows.
    fn usual(&mut self, job: JobId) -> Result<Option<Duration>>;

    /// Brings jobs back, and with them every job that was skipped because of
    /// them. All or none.
    fn revive(&mut self, ids: &[JobId], how: Revival, now: Timestamp) -> Result<Vec<Moved>>;

    /// Writes a person's word about an unknown outcome. All or none.
    fn resolve(&mut self, ids: &[JobId], how: Resolution, now: Timestamp) -> Result<Vec<Moved>>;

    /// Stops jobs that have not started from starting. All or none.
    fn hold(&mut self, ids: &[JobId], now: Timestamp) -> Result<Vec<Moved>>;

    /// Lets held jobs go on. All or none.
    fn release(&mut self, ids: &[JobId], now: Timestamp) -> Result<Vec<Moved>>;

    /// Ends jobs that have not ended, by a person's word: at once what nobody
    /// has in hand; what a runner owns is marked, and ends cancelled when its
    /// attempt ends, unless that ends the job by itself. All or none.
    fn cancel(&mut self, ids: &[JobId], how: &Cancel, now: Timestamp) -> Result<Cancelling>;

    /// Changes a job that waits, and nothing about one that somebody has in
    /// hand or that has ended.
    fn edit(&mut self, id: JobId, edit: &Edit, now: Timestamp) -> Result<()>;

    /// Names to complete what a person types: few, and recent ones.
    fn hints(&mut self) -> Result<Hints>;

    /// Says how many jobs of a group run at once: any number if `None`.
    fn set_group(&mut self, name: &str, parallel: Option<u32>) -> Result<()>;

    /// Pauses a group, so that none of its jobs is started, or lets it go on.
    fn pause_group(&mut self, name: &str, paused: bool) -> Result<()>;

    /// The groups that have a limit, are paused, or have unfinished jobs.
    fn groups(&mut self) -> Result<Vec<Group>>;

    /// The names of the groups that are paused, whatever is in them.
    fn paused_groups(&mut self) -> Result<Vec<String>>;

    /// Writes down what an attempt says of itself while it runs.
    ///
    /// # Errors
    /// [`Error::NotRunning`] if it does not run.
    fn say(&mut self, job: JobId, attempt: u32, said: &Said, now: Timestamp) -> Result<()>;

    /// Deletes a batch of what ended long ago, with all that belongs to it, but
    /// never a parent of an unfinished job. Nothing else deletes a job.
    fn prune(&mut self, how: &Prune) -> Result<Pruned>;

    /// Looks for everything that is wrong inside the database.
    fn check(&mut self, now: Timestamp) -> Result<Vec<Fault>>;

    /// Repairs what has one right repair; tells what was done, or `None`.
    fn mend(&mut self, fault: &Fault, now: Timestamp) -> Result<Option<String>>;
}
