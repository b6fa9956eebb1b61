//! What people type.

use std::time::Duration;

use ax_scheduler::job::hook::{self, Hook};
use ax_scheduler::job::{Event, IfExists, JobId, Kind, NewJob, OnLost, ParentRef, State};
use ax_scheduler::sched::recover;
use ax_scheduler::store::{Cancel, Error, Moved, Resolution, Revival, Store};

use super::door::{Door, Who};
use super::world::{Asked, Shared, World};
use crate::store::bench::job;

impl World {
    fn a_job(&mut self) -> NewJob {
        let now = self.machine.now();
        let due_in = if self.rng.u32(..4) == 0 { self.rng.u64(..90) } else { 0 };
        let keyed = self.rng.u32(..5) == 0;
        let is_exclusive = self.rng.u32(..4) == 0;
        let has_hook = self.rng.u32(..4) == 0;
        NewJob {
            key: keyed.then(|| format!("key-{}", self.rng.u32(..2))),
            if_exists: self.one_of(&[IfExists::Skip, IfExists::Replace, IfExists::Error]),
            mutex: is_exclusive.then(|| format!("mutex-{}", self.rng.u32(..2))),
            priority: self.rng.i64(0..3),
            scheduled_at: now.plus(Duration::from_secs(due_in)),
            max_retries: self.rng.u32(..3),
            retry_delay: Duration::from_secs(self.rng.u64(..20)),
            retry_max_delay: Duration::from_mins(1),
            on_lost: self.one_of(&OnLost::ALL),
            hold: self.rng.u32(..12) == 0,
            on_end: has_hook.then(|| Hook { command: b"true".to_vec(), timeout: hook::TIMEOUT }),
            ..job()
        }
    }

    pub(crate) fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.rng.usize(..all.len())].clone()
    }

    /// A few jobs: alone, in a chain, or with parents that are there already.
    pub(crate) fn add(&mut self) {
        let mut jobs = Vec::new();
        for at in 0..self.rng.usize(1..3) {
            let mut job = self.a_job();
            if at > 0 && self.rng.u32(..3) > 0 {
                let parent = self.rng.usize(..at);
                job.parents.push((ParentRef::InBatch(parent), self.one_of(&Kind::ALL)));
            }
            if let Some(parent) = self.some_job().filter(|_| self.rng.u32(..3) == 0) {
                job.parents.push((ParentRef::Id(parent), self.one_of(&Kind::ALL)));
            }
            jobs.push(job);
        }
        let now = self.machine.now();
        let added = match self.store(0).add(&jobs, now) {
            Ok(added) => added,
            Err(Error::InBatch { .. } | Error::BatchCycle { .. }) => return,
            Err(error) => panic!("adding fails: {error}"),
        };
        self.tell_trace(|| format!("added {added:?}"));
        for (added, job) in added.iter().zip(jobs).filter(|(added, _)| added.new) {
            self.machine.allow(added.id, i64::from(job.max_retries) + 1);
            if let Some(mutex) = job.mutex {
                self.machine.mutexes.insert(added.id, mutex);
            }
            let asked = Asked {
                max_retries: job.max_retries,
                on_lost: job.on_lost,
                words: Vec::new(),
                was_called_success: false,
                last_attempt: None,
            };
            self.jobs.insert(added.id, asked);
        }
    }

    fn some_job(&mut self) -> Option<JobId> {
        let ids: Vec<_> = self.jobs.keys().copied().collect();
        (!ids.is_empty()).then(|| self.one_of(&ids))
    }

    /// Some of the jobs in one of these states, or any.
    fn some_job_in(&mut self, states: &[State]) -> Option<JobId> {
        let id = self.some_job()?;
        let state = self.state(id);
        (states.contains(&state) || self.rng.u32(..8) == 0).then_some(id)
    }

    fn state(&self, id: JobId) -> State {
        let sql = "SELECT status FROM ax_jobs WHERE id = ?1";
        let mut query = self.shell.prepare_cached(sql).expect("a query");
        let state: String = query.query_row([id.0], |row| row.get(0)).expect("it was added");
        state.parse().expect("a state")
    }

    /// Takes note that a person lets jobs start again.
    fn let_go_on(&mut self, moved: &[Moved]) {
        for Moved { job, .. } in moved {
            let attempts =
                self.store(0).get(*job).expect("an answer").expect("it was added").attempts;
            let asked = self.jobs.get_mut(job).expect("it was added");
            asked.words.push(attempts);
            asked.last_attempt = None;
            self.machine.starts_left.insert(*job, i64::from(asked.max_retries) + 1);
        }
    }

    /// A word about jobs that wait or have ended.
    pub(crate) fn control(&mut self) {
        use State::{Cancelled, Dead, Failed, Held, Pending, Ready, Skipped, Success};
        let now = self.machine.now();
        match self.rng.u32(..4) {
            0 => {
                let Some(id) = self.some_job_in(&[Dead, Cancelled, Skipped, Failed]) else {
                    return;
                };
                let how = Revival {
                    downstream: self.rng.bool(),
                    force: self.rng.u32(..4) == 0,
                    dry_run: self.rng.u32(..10) == 0,
                };
                let moved = self.store(0).revive(&[id], how, now);
                self.tell_trace(|| format!("retry {id}: {moved:?}"));
                if let Some(moved) = moved.ok().filter(|_| !how.dry_run) {
                    self.let_go_on(&moved);
                }
            }
            1 => self.cancel(),
            2 => {
                let Some(id) = self.some_job_in(&[Pending, Ready, Failed]) else { return };
                let moved = self.store(0).hold(&[id], now);
                self.tell_trace(|| format!("hold {id}: {moved:?}"));
            }
            _ => {
                let Some(id) = self.some_job_in(&[Held, Success]) else { return };
                let moved = self.store(0).release(&[id], now);
                self.tell_trace(|| format!("release {id}: {moved:?}"));
                if moved.is_ok() {
                    self.note_word(id);
                }
            }
        }
    }

    /// A person ends jobs. None of their attempts is made after that.
    fn cancel(&mut self) {
        use State::{Dispatched, Failed, Held, Pending, Ready, Running};
        let open = [Pending, Ready, Dispatched, Running, Failed, Held];
        let Some(id) = self.some_job_in(&open) else { return };
        let how =
            Cancel { downstream: self.rng.bool(), reason: None, dry_run: self.rng.u32(..10) == 0 };
        let now = self.machine.now();
        let cancelling = self.store(0).cancel(&[id], &how, now);
        self.tell_trace(|| format!("cancel {id}: {cancelling:?}"));
        let Some(cancelling) = cancelling.ok().filter(|_| !how.dry_run) else { return };
        let ended = cancelling.moved.iter().filter(|moved| moved.event == Event::Cancel);
        let asked = cancelling.asked.iter().map(|asked| asked.claim.job);
        for job in ended.map(|moved| moved.job).chain(asked) {
            let attempts =
                self.store(0).get(job).expect("an answer").expect("it was added").attempts;
            self.jobs.get_mut(&job).expect("it was added").last_attempt = Some(attempts);
        }
    }

    /// Takes note that a person lets a job go on, which may have been held
    /// because nobody knows how it ended.
    fn note_word(&mut self, id: JobId) {
        let attempts = self.store(0).get(id).expect("an answer").expect("it was added").attempts;
        self.jobs.get_mut(&id).expect("it was added").words.push(attempts);
        if self.machine.doomed.contains(&(id, attempts)) {
            self.machine.allow(id, 1);
        }
    }
}

/// `ax recover`, with or without a word about a job.
pub(crate) fn recover(world: &Shared, depth: u32) {
    let now = world.get().machine.now();
    let id = world.get().some_job_in(&[State::Held, State::Dispatched, State::Running]);
    let hold: Vec<_> = id.filter(|_| world.get().rng.bool()).into_iter().collect();
    let scene = Door::open(world, Who::Person, depth);
    let mut store = Door::open(world, Who::Person, depth);
    let recovered = recover::settle_all(&mut store, &scene, None, &hold, now);
    world.get().tell_trace(|| format!("ax recover {hold:?}: {recovered:?}"));
    if recovered.is_err() || hold.is_empty() {
        return;
    }
    let how = world.get().one_of(&[Resolution::Success, Resolution::Failed, Resolution::Retry]);
    let Ok(moved) = store.resolve(&hold, how, now) else { return };
    let mut world = world.get();
    world.tell_trace(|| format!("resolved as {how:?}: {moved:?}"));
    match how {
        Resolution::Success => {
            world.jobs.get_mut(&hold[0]).expect("it was added").was_called_success = true;
        }
        Resolution::Failed => (),
        Resolution::Retry => world.let_go_on(&moved),
    }
}
