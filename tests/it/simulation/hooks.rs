//! Processes that run hooks, as `ax __hook` does, and what is promised of them.

use std::collections::BTreeMap;

use ax_scheduler::job::hook::{HookEnd, HookId};
use ax_scheduler::job::{Outcome, RunnerId};
use ax_scheduler::sched::hooks;
use ax_scheduler::store::Store;

use super::door::{Door, Who};
use super::world::{Shared, World};

/// Hooks that a runner has run at once.
const ROOM: usize = 2;

/// How far a process is. It holds its lock all along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Launched,
    Begun,
}

/// The processes that there are.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    alive: BTreeMap<HookId, (RunnerId, Phase)>,
    /// How often each hook was begun.
    begun: BTreeMap<HookId, u32>,
}

impl Processes {
    pub(crate) fn is_alive(&self, hook: HookId) -> bool {
        self.alive.contains_key(&hook)
    }

    pub(crate) fn kill_all(&mut self) {
        self.alive.clear();
    }

    fn is_of(&self, hook: HookId, runner: RunnerId) -> bool {
        self.alive.get(&hook).is_some_and(|(owner, _)| *owner == runner)
    }

    fn of(&self, runner: RunnerId) -> usize {
        self.alive.values().filter(|(owner, _)| *owner == runner).count()
    }
}

/// Lets a runner take hooks and start a process for each; tells whether there
/// were some.
pub(crate) fn take(world: &Shared, at: usize) -> bool {
    let (runner, room) = {
        let world = world.get();
        let runner = world.runners[at].id;
        (runner, ROOM.saturating_sub(world.hooks.of(runner)))
    };
    let taken = Door::plain(world, Who::Runner(at)).take_hooks(runner, None, room);
    let Ok(taken) = taken else { return false };
    let mut world = world.get();
    for hook in &taken {
        if world.is_storm && world.rng.u32(..8) == 0 {
            // No process could be started, and the runner was killed with that.
            continue;
        }
        if let Some((owner, phase)) = world.hooks.alive.get(hook) {
            // One of a dead runner is late: it has the lock, and this one leaves.
            assert_ne!(*owner, runner, "hook {hook} is started twice");
            assert_eq!(*phase, Phase::Launched, "hook {hook} is taken while it runs");
            continue;
        }
        world.hooks.alive.insert(*hook, (runner, Phase::Launched));
    }
    !taken.is_empty()
}

/// Lets a runner settle the hooks that nobody has in hand; tells whether there
/// were some.
pub(crate) fn recover(world: &Shared, at: usize, depth: u32) -> bool {
    let (me, now) = {
        let world = world.get();
        (world.runners[at].id, world.machine.now())
    };
    let scene = Door::open(world, Who::Runner(at), depth);
    let mut store = Door::open(world, Who::Runner(at), depth);
    let mine = |hook| world.get().hooks.is_of(hook, me);
    let left = hooks::left(&mut store, &scene, Some(me), mine).unwrap_or_default();
    let settled = hooks::settle(&mut store, &scene, &left, now);
    settled.is_ok() && !left.is_empty()
}

impl World {
    /// Lets one process do something; tells whether there was one.
    pub(crate) fn step_some_hook(&mut self) -> bool {
        let all: Vec<_> = self.hooks.alive.keys().copied().collect();
        if all.is_empty() {
            return false;
        }
        let hook = self.one_of(&all);
        let (owner, phase) = self.hooks.alive[&hook];
        let now = self.machine.now();
        match phase {
            _ if self.is_trouble() => (),
            Phase::Launched => {
                let begun = self.store(2).begin_hook(hook, owner, now).expect("an answer");
                if begun.is_some() {
                    *self.hooks.begun.entry(hook).or_default() += 1;
                    self.hooks.alive.insert(hook, (owner, Phase::Begun));
                } else {
                    self.hooks.alive.remove(&hook);
                }
            }
            Phase::Begun => {
                let end = HookEnd { outcome: Outcome::Exited(0), output: Vec::new(), at: now };
                let is_first = self.store(2).end_hook(hook, &end).expect("an answer");
                assert!(is_first, "hook {hook} ran, and somebody else told how it ended");
                self.hooks.alive.remove(&hook);
            }
        }
        true
    }

    pub(crate) fn kill_some_hook(&mut self) {
        let all: Vec<_> = self.hooks.alive.keys().copied().collect();
        if !all.is_empty() {
            let hook = self.one_of(&all);
            self.hooks.alive.remove(&hook);
        }
    }

    /// A hook is begun once, and each end that was written has one.
    pub(crate) fn check_hooks(&self) {
        const OPEN: &str = "SELECT count(*) FROM ax_hooks WHERE ended_at IS NULL";
        const IDS: &str = "SELECT id FROM ax_hooks";
        const UNTOLD: &str = "
            SELECT count(*) FROM ax_jobs AS job
            WHERE on_end IS NOT NULL AND status IN ('success', 'dead', 'cancelled', 'skipped')
                AND NOT EXISTS (
                    SELECT 1 FROM ax_hooks
                    WHERE job_id = job.id AND status = job.status AND attempt = job.attempts)";
        let count = |sql| self.shell.query_row(sql, [], |row| row.get::<_, i64>(0));
        assert_eq!(count(OPEN), Ok(0), "hooks have not ended");
        assert_eq!(count(UNTOLD), Ok(0), "jobs have ended without their hook");
        let mut query = self.shell.prepare_cached(IDS).expect("a query");
        let ids = query.query_map([], |row| row.get(0)).expect("rows");
        let ids: Vec<_> = ids.map(|id| HookId(id.expect("a number"))).collect();
        for hook in &ids {
            assert_eq!(self.hooks.begun.get(hook), Some(&1), "hook {hook} is begun once");
        }
        assert_eq!(self.hooks.begun.len(), ids.len());
    }
}
