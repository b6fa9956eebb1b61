//! Jobs in one SQLite file.
//!
//! Every verb is one transaction, and every writing one starts with
//! `BEGIN IMMEDIATE`: a deferred one that turns into a write fails at once
//! when somebody else has written, without asking the busy handler. A commit
//! is on the disk when the verb returns (`synchronous = FULL`).

/// In which order jobs are taken, as the indexes over ready jobs have it: who
/// waits longest, and each point of priority is worth an hour of waiting
/// ([`crate::job::settings::POINT`]). It does not change while a job waits, so
/// no row is written for it. Nobody waits longer for a time in the past.
macro_rules! turn_of_a_job {
    () => {
        "max(scheduled_at, created_at, coalesce(queued_at, 0)) - 3600000 * priority, scheduled_at, id"
    };
}

/// When a job is due that waits for its time alone, as its index has it: one
/// that was due when it was added stays so, however far the clock is set back.
macro_rules! due {
    () => {
        "iif(status = 'pending' AND scheduled_at <= created_at, 0, scheduled_at)"
    };
}

/// Which jobs have ended, and which have not, as the indexes have it.
macro_rules! ended {
    () => {
        "NOT (status <> 'success' AND status <> 'dead' AND status <> 'cancelled' AND status <> 'skipped')"
    };
}
macro_rules! unfinished {
    () => {
        "status <> 'success' AND status <> 'dead' AND status <> 'cancelled' AND status <> 'skipped'"
    };
}

/// Which jobs a runner may take, as their index has it: those without limits,
/// and those that were let through ([`gates`]).
macro_rules! takeable {
    () => {
        "status = 'ready' AND (coalesce(group_name, mutex) IS NULL OR admitted = 2)"
    };
}

#[macro_use]
mod row;
mod add;
mod busy;
mod cancel;
mod chain;
mod check;
mod claim;
mod control;
mod counts;
mod edges;
mod edit;
mod error;
mod failures;
mod gates;
mod glance;
mod groups;
mod handed;
mod hints;
mod hooks;
mod judge;
mod open;
mod overdue;
#[cfg(test)]
mod plans;
mod prune;
mod query;
mod runner;
mod said;
mod schedule;
mod schema;
mod settle;
mod yardstick;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use self::open::Access;
pub(super) use self::yardstick::yardstick;
use super::{
    Cancel, Cancelling, Child, Counts, Cure, Edit, Enqueued, Failed, Fault, Glance, Group, Handed,
    Hints, Moved, NewRunner, Outlook, Overdue, Prune, Pruned, Query, Repair, Resolution, Result,
    Revival, Runner, Said, Scheduled, Selector, Store, Token, Turn, Turned,
};
use crate::crash;
use crate::job::hook::{HookEnd, HookId, HookRecord, HookTask, OpenHook};
use crate::job::{
    Added, Attempt, Chain, Claim, Claimed, Dependency, Edge, EnvBlock, FlowRunId, Job, JobId,
    NewJob, NewSchedule, RunnerId, Schedule, State, Timestamp,
};

/// A handle on one database file.
pub struct Sqlite {
    connection: Connection,
    access: Access,
    path: PathBuf,
    envs: claim::EnvCache,
    /// What the engine counted when it was asked last whether others wrote.
    version: Option<i64>,
}

impl Sqlite {
    /// Opens the database at `path`, and makes it if there is none.
    pub fn open(path: &Path) -> Result<Self> {
        let (connection, access) = open::open(path)?;
        let envs = claim::EnvCache::default();
        Ok(Self { connection, access, path: path.to_owned(), envs, version: None })
    }

    /// Runs the work of a verb in one writing transaction; an error undoes it.
    fn write<T>(
        &mut self,
        verb: &str,
        work: impl FnOnce(&Transaction<'_>) -> Fallible<T>,
    ) -> Result<T> {
        self.refuse_alone()?;
        crash::point(verb, "before-begin");
        let done = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(Trouble::from)
            .and_then(|tx| {
                let done = work(&tx)?;
                crash::point(verb, "before-commit");
                tx.commit()?;
                crash::point(verb, "after-commit");
                Ok(done)
            });
        done.map_err(|trouble| trouble.told_of(&self.path))
    }

    /// Tries to take the write lock, and does not wait for it.
    fn is_locked(&mut self) -> rusqlite::Result<bool> {
        self.connection.busy_handler(None::<fn(i32) -> bool>)?;
        let tried = self.connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK");
        self.connection.busy_handler(Some(busy::wait))?;
        match tried {
            Ok(()) => Ok(false),
            Err(error) if open::is_busy(&error) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// A handle that is open alone would keep all others out after its first
    /// write; the disk was full when it was opened.
    fn refuse_alone(&self) -> Result<()> {
        match self.access {
            Access::Shared => Ok(()),
            Access::Alone => Err(super::Error::Full(self.path.clone())),
        }
    }

    /// Runs `work` on one snapshot of the database.
    fn read<T>(&mut self, work: impl FnOnce(&Connection) -> Fallible<T>) -> Result<T> {
        let done = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Deferred)
            .map_err(Trouble::from)
            .and_then(|tx| work(&tx));
        done.map_err(|trouble| trouble.told_of(&self.path))
    }
}

/// What goes wrong inside a verb.
enum Trouble {
    /// An answer of the store.
    Answer(super::Error),
    /// The engine.
    Engine(rusqlite::Error),
    /// The database itself; the text goes on from its path.
    Unusable(String),
}

/// What the inner functions of the verbs return.
type Fallible<T> = std::result::Result<T, Trouble>;

impl Trouble {
    fn told_of(self, path: &Path) -> super::Error {
        match self {
            Self::Answer(answer) => answer,
            Self::Engine(engine) => error::translate(path, &engine),
            Self::Unusable(why) => {
                super::Error::Unusable { path: path.to_owned(), why, hint: None }
            }
        }
    }
}

impl From<super::Error> for Trouble {
    fn from(answer: super::Error) -> Self {
        Self::Answer(answer)
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(engine: rusqlite::Error) -> Self {
        Self::Engine(engine)
    }
}

impl Store for Sqlite {
    fn add(&mut self, jobs: &[NewJob], now: Timestamp) -> Result<Vec<Added>> {
        self.write("add", |tx| add::add(tx, jobs, now))
    }

    fn add_handed(&mut self, handed: &[Handed], answered: &[Token]) -> Result<Vec<Result<Added>>> {
        self.write("add-handed", |tx| handed::add_handed(tx, handed, answered))
    }

    fn left_handed(&mut self) -> Result<Vec<(Token, i32)>> {
        self.read(handed::left)
    }

    fn enqueue(&mut self, chain: &Chain, now: Timestamp) -> Result<Enqueued> {
        let start = chain::Start { schedule: None, due: now, parents: &[] };
        self.write("enqueue", |tx| chain::start(tx, chain, &start, now))
    }

    fn schedule(
        &mut self,
        schedules: &[NewSchedule],
        replace: bool,
        now: Timestamp,
    ) -> Result<Vec<Scheduled>> {
        self.write("schedule", |tx| schedule::schedule(tx, schedules, replace, now))
    }

    fn schedules(&mut self) -> Result<Vec<Schedule>> {
        self.read(schedule::all)
    }

    fn pause(&mut self, names: &[String], now: Timestamp) -> Result<Vec<Moved>> {
        self.write("pause", |tx| schedule::pause(tx, names, now))
    }

    fn resume(&mut self, names: &[String], now: Timestamp) -> Result<Vec<Scheduled>> {
        self.write("resume", |tx| schedule::resume(tx, names, now))
    }

    fn unschedule(&mut self, names: &[String], now: Timestamp) -> Result<Vec<Moved>> {
        self.write("unschedule", |tx| schedule::remove(tx, names, now))
    }

    fn link(&mut self, child: JobId, edges: &[Edge], now: Timestamp) -> Result<()> {
        self.write("link", |tx| edges::link(tx, child, edges, now))
    }

    fn unlink(&mut self, child: JobId, parents: &[JobId], now: Timestamp) -> Result<usize> {
        self.write("unlink", |tx| edges::unlink(tx, child, parents, now))
    }

    fn enlist(&mut self, runner: &NewRunner, now: Timestamp) -> Result<RunnerId> {
        self.write("enlist", |tx| runner::enlist(tx, runner, now))
    }

    fn discharge(&mut self, runner: RunnerId) -> Result<bool> {
        self.write("discharge", |tx| runner::discharge(tx, runner))
    }

    fn runners(&mut self) -> Result<Vec<Runner>> {
        self.read(runner::all)
    }

    fn has_changed(&mut self) -> Result<bool> {
        let version = self
            .connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut query| query.query_row([], |row| row.get(0)))
            .map_err(|error| error::translate(&self.path, &error))?;
        Ok(self.version.replace(version) != Some(version))
    }

    fn is_being_written(&mut self) -> Result<bool> {
        self.is_locked().map_err(|error| error::translate(&self.path, &error))
    }

    fn turn(&mut self, turn: &Turn<'_>) -> Result<Turned> {
        if turn.started.is_empty() && turn.settled.is_empty() && turn.handed.is_empty() {
            let quiet = self.read(|connection| claim::look(connection, turn))?;
            if let Some(quiet) = quiet {
                return Ok(quiet);
            }
        }
        let mut envs = std::mem::take(&mut self.envs);
        let turned = self.write("turn", |tx| claim::turn(tx, turn, &mut envs));
        self.envs = envs;
        turned
    }

    fn claims(&mut self, owner: RunnerId) -> Result<Vec<(Claimed, State)>> {
        self.read(|connection| claim::claims(connection, owner))
    }

    fn cancels(&mut self, owner: RunnerId) -> Result<Vec<Claim>> {
        self.read(|connection| cancel::marked(connection, owner))
    }

    fn beyond_limits(&mut self, owner: RunnerId) -> Result<Vec<Claim>> {
        self.read(|connection| gates::beyond(connection, owner))
    }

    fn take_hooks(
        &mut self,
        runner: RunnerId,
        scope: Option<FlowRunId>,
        room: usize,
    ) -> Result<Vec<HookId>> {
        self.write("take-hooks", |tx| hooks::take(tx, runner, scope, room))
    }

    fn give_back_hook(&mut self, hook: HookId, runner: RunnerId) -> Result<()> {
        self.write("give-back-hook", |tx| hooks::give_back(tx, hook, runner))
    }

    fn begin_hook(
        &mut self,
        hook: HookId,
        runner: RunnerId,
        now: Timestamp,
    ) -> Result<Option<HookTask>> {
        self.write("begin-hook", |tx| hooks::begin(tx, hook, runner, now))
    }

    fn end_hook(&mut self, hook: HookId, end: &HookEnd) -> Result<bool> {
        self.write("end-hook", |tx| hooks::end(tx, hook, end))
    }

    fn open_hooks(&mut self) -> Result<Vec<OpenHook>> {
        self.read(hooks::open)
    }

    fn hooks(&mut self, job: JobId) -> Result<Vec<HookRecord>> {
        self.read(|connection| hooks::of_job(connection, job))
    }

    fn outlook(&mut self, scope: Option<FlowRunId>) -> Result<Outlook> {
        self.read(|connection| counts::outlook(connection, scope))
    }

    fn select(&mut self, selector: &Selector) -> Result<Vec<JobId>> {
        self.read(|connection| query::select(connection, selector))
    }

    fn list(&mut self, query: &Query) -> Result<Vec<Job>> {
        self.read(|connection| query::list(connection, query))
    }

    fn unfinished(&mut self, most: usize) -> Result<Vec<Job>> {
        self.read(|connection| query::unfinished(connection, most))
    }

    fn count(&mut self, query: &Query) -> Result<u64> {
        self.read(|connection| query::count(connection, query))
    }

    fn failures(&mut self, query: &Query) -> Result<Vec<Failed>> {
        self.read(|connection| failures::failures(connection, query))
    }

    fn overdue(&mut self, before: Timestamp) -> Result<Vec<Overdue>> {
        self.read(|connection| overdue::overdue(connection, before))
    }

    fn get(&mut self, id: JobId) -> Result<Option<Job>> {
        self.read(|connection| query::get(connection, id))
    }

    fn environment(&mut self, id: JobId) -> Result<Option<EnvBlock>> {
        self.read(|connection| query::environment(connection, id))
    }

    fn attempts(&mut self, id: JobId) -> Result<Vec<Attempt>> {
        self.read(|connection| query::attempts(connection, id))
    }

    fn output(&mut self, id: JobId, attempt: u32) -> Result<Option<Vec<u8>>> {
        self.read(|connection| query::output(connection, id, attempt))
    }

    fn output_files(&mut self) -> Result<Vec<(JobId, u32)>> {
        self.read(query::output_files)
    }

    fn children(&mut self, id: JobId) -> Result<Vec<Child>> {
        self.read(|connection| edges::waiting(connection, id))
    }

    fn graph(&mut self, around: &[JobId]) -> Result<Vec<Dependency>> {
        self.read(|connection| edges::graph(connection, around))
    }

    fn counts(&mut self) -> Result<Counts> {
        self.read(counts::counts)
    }

    fn glance(&mut self, owner: Option<RunnerId>, since: Timestamp) -> Result<Glance> {
        self.read(|connection| glance::glance(connection, owner, since))
    }

    fn usual(&mut self, job: JobId) -> Result<Option<Duration>> {
        self.read(|connection| glance::usual(connection, job))
    }

    fn revive(&mut self, ids: &[JobId], how: Revival, now: Timestamp) -> Result<Vec<Moved>> {
        let revive = |tx: &Transaction<'_>| control::revive(tx, ids, how, now);
        if how.dry_run { self.rehearse(revive) } else { self.write("revive", revive) }
    }

    fn resolve(&mut self, ids: &[JobId], how: Resolution, now: Timestamp) -> Result<Vec<Moved>> {
        self.write("resolve", |tx| control::resolve(tx, ids, how, now))
    }

    fn hold(&mut self, ids: &[JobId], now: Timestamp) -> Result<Vec<Moved>> {
        self.write("hold", |tx| control::hold(tx, ids, now))
    }

    fn release(&mut self, ids: &[JobId], now: Timestamp) -> Result<Vec<Moved>> {
        self.write("release", |tx| control::release(tx, ids, now))
    }

    fn cancel(&mut self, ids: &[JobId], how: &Cancel, now: Timestamp) -> Result<Cancelling> {
        let cancel = |tx: &Transaction<'_>| cancel::cancel(tx, ids, how, now);
        if how.dry_run { self.rehearse(cancel) } else { self.write("cancel", cancel) }
    }

    fn edit(&mut self, id: JobId, edit: &Edit, now: Timestamp) -> Result<()> {
        self.write("edit", |tx| edit::edit(tx, id, edit, now))
    }

    fn hints(&mut self) -> Result<Hints> {
        self.read(hints::look)
    }

    fn set_group(&mut self, name: &str, parallel: Option<u32>) -> Result<()> {
        self.write("group", |tx| groups::set(tx, name, parallel))
    }

    fn pause_group(&mut self, name: &str, paused: bool) -> Result<()> {
        self.write("group", |tx| groups::pause(tx, name, paused))
    }

    fn groups(&mut self) -> Result<Vec<Group>> {
        self.read(groups::all)
    }

    fn group(&mut self, name: &str) -> Result<Option<Group>> {
        self.read(|connection| groups::one(connection, name))
    }

    fn has_group(&mut self, name: &str) -> Result<bool> {
        self.read(|connection| groups::exists(connection, name))
    }

    fn paused_groups(&mut self) -> Result<Vec<String>> {
        self.read(groups::paused)
    }

    fn say(&mut self, job: JobId, attempt: u32, said: &Said, now: Timestamp) -> Result<()> {
        self.write("say", |tx| said::say(tx, job, attempt, said, now))
    }

    fn prune(&mut self, how: &Prune) -> Result<Pruned> {
        if how.dry_run {
            return self.read(|connection| prune::look(connection, how));
        }
        self.write("prune", |tx| prune::prune(tx, how))
    }

    fn check(&mut self, now: Timestamp) -> Result<Vec<Fault>> {
        self.read(|connection| Ok(check::check(connection, now)?))
    }

    fn mend(&mut self, fault: &Fault, now: Timestamp) -> Result<Option<String>> {
        if fault.cure == Cure::Repair(Repair::Checkpoint) {
            self.refuse_alone()?;
            let emptied = check::checkpoint(&self.connection);
            let emptied = emptied.map_err(|engine| error::translate(&self.path, &engine))?;
            return Ok(emptied.then(|| Repair::Checkpoint.sentence().to_owned()));
        }
        self.write("mend", |tx| Ok(check::mend(tx, fault, now)?))
    }
}

impl Sqlite {
    /// Does the work and undoes it, to tell what it would have done.
    fn rehearse<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> Fallible<T>) -> Result<T> {
        let done = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(Trouble::from)
            .and_then(|tx| {
                let done = work(&tx)?;
                tx.rollback()?;
                Ok(done)
            });
        done.map_err(|trouble| trouble.told_of(&self.path))
    }
}
