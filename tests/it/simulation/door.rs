//! The way of a simulated process to the store and to what lies on the disk.
//! On the way other things happen, the store is busy or full, or whoever goes
//! is killed.

use std::cell::Cell;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use ax_scheduler::job::hook::{HookEnd, HookId, HookRecord, HookTask, OpenHook};
use ax_scheduler::job::{
    Added, Attempt, Captured, Chain, Claim, Claimed, Dependency, Edge, EnvBlock, FlowRunId, Job,
    JobId, NewJob, NewSchedule, Outcome, Process, RunnerId, Schedule, State, Timestamp,
};
use ax_scheduler::sched::scene::{Scene, Witness};
use ax_scheduler::store::{
    Cancel, Cancelling, Child, Counts, Edit, Enqueued, Error, Failed, Fault, Glance, Group, Handed,
    Hints, Moved, NewRunner, Outlook, Overdue, Prune, Pruned, Query, Resolution, Result, Revival,
    Runner, Said, Scheduled, Selector, Store, Token, Turn, Turned,
};

use super::act;
use super::world::Shared;

/// Who goes through a door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Runner(usize),
    /// A command that a person typed.
    Person,
}

/// A way to the store and the disk.
pub(crate) struct Door<'a> {
    world: &'a Shared,
    who: Who,
    /// How many others are under way already.
    depth: u32,
    /// Which boot of the machine whoever goes belongs to.
    boot: u32,
    /// Whether whoever goes was killed on the way.
    gone: Cell<bool>,
}

/// So many may be under way at once, each in the middle of something.
pub(crate) const DEPTH: u32 = 3;

impl<'a> Door<'a> {
    /// A way on which other things happen.
    pub(crate) fn open(world: &'a Shared, who: Who, depth: u32) -> Self {
        let boot = world.get().machine.boot;
        Self { world, who, depth, boot, gone: Cell::new(false) }
    }

    /// A way on which nothing else happens.
    pub(crate) fn plain(world: &'a Shared, who: Who) -> Self {
        Self::open(world, who, DEPTH)
    }

    /// Lets other things happen; tells whether whoever goes gets through.
    fn pass(&self) -> bool {
        let count = self.world.get().rng.u32(..6);
        let is_storm = self.world.get().is_storm;
        if self.depth + 1 < DEPTH && is_storm {
            for _ in 0..count.saturating_sub(2) {
                act::anything(self.world, self.depth + 1);
            }
        }
        let mut world = self.world.get();
        let is_killed = match self.who {
            Who::Runner(at) => !world.runners[at].alive,
            Who::Person => {
                self.gone.get()
                    || world.machine.boot != self.boot
                    || world.is_storm && world.rng.u32(..30) == 0
            }
        };
        self.gone.set(is_killed);
        !is_killed
    }

    fn knock(&self) -> Result<()> {
        let passes = self.pass();
        let mut world = self.world.get();
        if !passes || world.is_trouble() {
            let path = PathBuf::from("ax.db");
            let busy = Error::Busy { path: path.clone(), seconds: 30 };
            return Err(if world.rng.bool() { busy } else { Error::Full(path) });
        }
        Ok(())
    }

    fn look(&self) -> io::Result<()> {
        if self.pass() { Ok(()) } else { Err(io::Error::other("killed")) }
    }

    fn place(&self) -> usize {
        match self.who {
            Who::Runner(at) => at,
            Who::Person => 0,
        }
    }

    fn through<T>(&self, verb: impl FnOnce(&mut dyn Store) -> Result<T>) -> Result<T> {
        self.knock()?;
        verb(self.world.get().store(self.place()))
    }
}

impl Scene for Door<'_> {
    fn is_alive(&self, runner: &Runner) -> io::Result<bool> {
        self.look()?;
        let world = self.world.get();
        Ok(world.runner(runner.id).is_some_and(|at| world.holds_lock(at)))
    }

    fn is_complete(&self, runner: &Runner) -> io::Result<bool> {
        self.look()?;
        let world = self.world.get();
        Ok(world.runner(runner.id).is_some_and(|at| world.has_all_journals(at)))
    }

    fn witnesses(&self, runner: RunnerId) -> io::Result<Vec<Witness>> {
        let mut all = Vec::new();
        let places = self.world.get().supervisors_of(runner);
        for at in places {
            let alive = self.world.get().supervisors[at].alive;
            self.look()?;
            let world = self.world.get();
            let supervisor = &world.supervisors[at];
            if supervisor.journal.exists {
                let (path, journal) = (supervisor.path.clone(), supervisor.journal.told.clone());
                all.push(Witness { path, alive, journal });
            }
        }
        Ok(all)
    }

    fn stop_survivors(
        &self,
        _: &Witness,
        claim: Claim,
        _: Option<Process>,
    ) -> io::Result<Option<String>> {
        self.look()?;
        self.world.get().machine.end(claim, Outcome::Signaled(9));
        Ok(None)
    }

    fn is_seen(&self, _: Claim, _: &[Witness]) -> io::Result<bool> {
        // What runs has a supervisor here, and files go with a restart alone.
        self.look().map(|()| false)
    }

    fn salvage(&self, _: &Witness, _: Claim) -> Captured {
        Captured::default()
    }

    fn is_hook_alive(&self, hook: HookId) -> io::Result<bool> {
        self.look()?;
        Ok(self.world.get().hooks.is_alive(hook))
    }

    fn stop_hook(&self, _: &OpenHook) -> io::Result<Option<String>> {
        // A process takes all that it has started with it here.
        self.look().map(|()| None)
    }

    fn clear_hook_away(&self, _: HookId) {}

    fn clear_away(&self, runner: RunnerId, witnesses: &[Witness]) {
        let mut world = self.world.get();
        if let Some(at) = world.runner(runner) {
            world.runners[at].lock_exists = false;
        }
        for supervisor in &mut world.supervisors {
            if witnesses.iter().any(|witness| witness.path == supervisor.path) {
                supervisor.journal.exists = false;
            }
        }
    }
}

/// The verbs of the store, each through the door.
macro_rules! verbs {
    ($($verb:ident($($name:ident: $kind:ty),*) -> $answer:ty;)+) => {
        $(fn $verb(&mut self, $($name: $kind),*) -> Result<$answer> {
            self.through(|store| store.$verb($($name),*))
        })+
    };
}

impl Store for Door<'_> {
    verbs! {
        add(jobs: &[NewJob], now: Timestamp) -> Vec<Added>;
        add_handed(handed: &[Handed], answered: &[Token]) -> Vec<Result<Added>>;
        left_handed() -> Vec<(Token, i32)>;
        enqueue(chain: &Chain, now: Timestamp) -> Enqueued;
        schedule(schedules: &[NewSchedule], replace: bool, now: Timestamp) -> Vec<Scheduled>;
        schedules() -> Vec<Schedule>;
        pause(names: &[String], now: Timestamp) -> Vec<Moved>;
        resume(names: &[String], now: Timestamp) -> Vec<Scheduled>;
        unschedule(names: &[String], now: Timestamp) -> Vec<Moved>;
        link(child: JobId, edges: &[Edge], now: Timestamp) -> ();
        unlink(child: JobId, parents: &[JobId], now: Timestamp) -> usize;
        enlist(runner: &NewRunner, now: Timestamp) -> RunnerId;
        discharge(runner: RunnerId) -> bool;
        runners() -> Vec<Runner>;
        has_changed() -> bool;
        is_being_written() -> bool;
        turn(turn: &Turn<'_>) -> Turned;
        claims(owner: RunnerId) -> Vec<(Claimed, State)>;
        cancels(owner: RunnerId) -> Vec<Claim>;
        beyond_limits(owner: RunnerId) -> Vec<Claim>;
        take_hooks(runner: RunnerId, scope: Option<FlowRunId>, room: usize) -> Vec<HookId>;
        give_back_hook(hook: HookId, runner: RunnerId) -> ();
        begin_hook(hook: HookId, runner: RunnerId, now: Timestamp) -> Option<HookTask>;
        end_hook(hook: HookId, end: &HookEnd) -> bool;
        open_hooks() -> Vec<OpenHook>;
        hooks(job: JobId) -> Vec<HookRecord>;
        outlook(scope: Option<FlowRunId>) -> Outlook;
        select(selector: &Selector) -> Vec<JobId>;
        list(query: &Query) -> Vec<Job>;
        unfinished(most: usize) -> Vec<Job>;
        count(query: &Query) -> u64;
        failures(query: &Query) -> Vec<Failed>;
        overdue(before: Timestamp) -> Vec<Overdue>;
        get(id: JobId) -> Option<Job>;
        environment(id: JobId) -> Option<EnvBlock>;
        attempts(id: JobId) -> Vec<Attempt>;
        output(id: JobId, attempt: u32) -> Option<Vec<u8>>;
        output_files() -> Vec<(JobId, u32)>;
        children(id: JobId) -> Vec<Child>;
        graph(around: &[JobId]) -> Vec<Dependency>;
        counts() -> Counts;
        glance(owner: Option<RunnerId>, since: Timestamp) -> Glance;
        usual(job: JobId) -> Option<Duration>;
        revive(ids: &[JobId], how: Revival, now: Timestamp) -> Vec<Moved>;
        resolve(ids: &[JobId], how: Resolution, now: Timestamp) -> Vec<Moved>;
        hold(ids: &[JobId], now: Timestamp) -> Vec<Moved>;
        release(ids: &[JobId], now: Timestamp) -> Vec<Moved>;
        cancel(ids: &[JobId], how: &Cancel, now: Timestamp) -> Cancelling;
        edit(id: JobId, edit: &Edit, now: Timestamp) -> ();
        hints() -> Hints;
        set_group(name: &str, parallel: Option<u32>) -> ();
        pause_group(name: &str, paused: bool) -> ();
        groups() -> Vec<Group>;
        group(name: &str) -> Option<Group>;
        has_group(name: &str) -> bool;
        paused_groups() -> Vec<String>;
        say(job: JobId, attempt: u32, said: &Said, now: Timestamp) -> ();
        prune(how: &Prune) -> Pruned;
        check(now: Timestamp) -> Vec<Fault>;
        mend(fault: &Fault, now: Timestamp) -> Option<String>;
    }
}
