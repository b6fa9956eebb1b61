//! How jobs are kept.
//!
//! [`Store`] is the seam: one handle on one database, whose verbs are one
//! transaction each. It never reads a clock, knows no process and decides no
//! policy; what becomes of a job is decided in [`crate::job`] and only written
//! here, if what was believed still holds. `tests/it/store/conformance.rs`
//! states every promise once, for every backend.

mod changing;
mod error;
mod fault;
mod reading;
pub mod sqlite;
mod turning;

use std::time::Duration;

use crate::job::hook::{HookEnd, HookId, HookRecord, HookTask, OpenHook};
use crate::job::{
    Added, Attempt, Chain, Claim, Claimed, Dependency, Edge, FlowRunId, Job, JobId, NewJob,
    NewSchedule, RunnerId, Schedule, State, Timestamp,
};

pub use changing::{
    Asked, Cancel, Cancelling, Edit, Enqueued, Handed, Prune, Pruned, Resolution, Revival, Said,
    Scheduled, Token,
};
pub use error::Error;
pub use fault::{Cure, Fault, FaultKind, Repair};
pub use reading::{
    Child, Counts, Ended, Failed, Glance, Group, Hint, Hints, Order, Outlook, Overdue, Query,
    Queue, Selector,
};
pub use turning::{Moved, NewRunner, Runner, Started, Turn, Turned};

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

    /// Adds each job that was handed to a runner, unless the runner or the
    /// command that handed it has added it before: then it answers with what was
    /// added. One that cannot be added keeps no other out. What is known of the
    /// `answered` is forgotten: nobody will ask for them again.
    fn add_handed(&mut self, handed: &[Handed], answered: &[Token]) -> Result<Vec<Result<Added>>>;

    /// What is known of jobs that were handed to runners which were struck out,
    /// and the process of the command that handed each: it may ask as long as it
    /// lives.
    fn left_handed(&mut self) -> Result<Vec<(Token, i32)>>;

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

    /// Tells whether anybody else has written since this was asked last. It
    /// costs next to nothing.
    fn has_changed(&mut self) -> Result<bool>;

    /// Tells whether somebody is writing at the moment. If nobody is, all that
    /// was written can be seen.
    fn is_being_written(&mut self) -> Result<bool>;

    /// Settles what came in, judges what that touches, releases what is due
    /// and claims what fits: one commit. Writes nothing if there is nothing to do.
    fn turn(&mut self, turn: &Turn<'_>) -> Result<Turned>;

    /// The unfinished claims of a runner, with the state of each job.
    fn claims(&mut self, owner: RunnerId) -> Result<Vec<(Claimed, State)>>;

    /// The claims of a runner that a person wants ended.
    fn cancels(&mut self, owner: RunnerId) -> Result<Vec<Claim>>;

    /// The claims of a runner that were not started, and whose group was paused
    /// since or has more claims than its limit lets through now.
    fn beyond_limits(&mut self, owner: RunnerId) -> Result<Vec<Claim>>;

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

    /// The jobs that wait for this one, by their ids.
    fn children(&mut self, id: JobId) -> Result<Vec<Child>>;

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

    /// One of them; `None` if no such group has been heard of.
    fn group(&mut self, name: &str) -> Result<Option<Group>>;

    /// Tells whether [`Store::group`] finds it, and counts nothing.
    fn has_group(&mut self, name: &str) -> Result<bool>;

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
