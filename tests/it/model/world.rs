//! A store with three runners, people and an editor, and what each step may change.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use ax_scheduler::job::dependency::Readiness;
use ax_scheduler::job::{
    Claim, Claimed, Edge, JobId, Kind, NewJob, Outcome, ParentRef, RunnerId, Settings, Settlement,
    State, Timestamp, Verdict,
};
use ax_scheduler::store::{Cancel, Edit, Revival, Started, Store, Turn, Turned};
use rusqlite::Connection;

use super::op::{Added, Op};
use super::snapshot::{Snapshot, leads};
use crate::store::bench::{Bench, START, a_runner, after_key, job, process};
use crate::store::by_hand::shell;

/// Everything that acts on one store.
pub(crate) struct World {
    bench: Bench,
    /// A runner has a handle of its own.
    runners: Vec<(RunnerId, Box<dyn Store>)>,
    shell: Connection,
    now: Timestamp,
    /// The claims that have not ended.
    live: BTreeMap<JobId, Claimed>,
    /// The claims that have.
    past: Vec<Claim>,
    /// The attempts that were handed out and not given back.
    started: HashSet<(JobId, u32)>,
    /// How often each job was told to try again, since a person said so.
    retries: BTreeMap<JobId, u32>,
    before: Snapshot,
}

impl World {
    pub(crate) fn new() -> Self {
        let bench = Bench::sqlite();
        let runners = (0..3).map(|_| {
            let mut store = bench.another();
            (store.enlist(&a_runner(), START).expect("a runner"), store)
        });
        let shell = shell(&bench);
        Self {
            runners: runners.collect(),
            now: START,
            live: BTreeMap::new(),
            past: Vec::new(),
            started: HashSet::new(),
            retries: BTreeMap::new(),
            before: Snapshot::read(&shell),
            shell,
            bench,
        }
    }

    /// Lets one thing happen and looks at what became of it.
    pub(crate) fn step(&mut self, op: &Op) {
        let done = self.act(op);
        let after = Snapshot::read(&self.shell);
        if done.is_none() {
            assert_eq!(after, self.before, "what was refused changed nothing: {op:?}");
        }
        let by_hand = matches!(op, Op::SetPending(_));
        for (id, job) in after.jobs.iter().filter(|_| !by_hand) {
            let Some(before) = self.before.jobs.get(id) else { continue };
            let legal = leads(&op.events(), before.state, job.state);
            assert!(legal, "{op:?} moved job {id} from {} to {}", before.state, job.state);
        }
        for (id, retries) in &self.retries {
            let stored = after.jobs.get(id).map_or(*retries, |job| job.retry_count);
            assert_eq!(stored, *retries, "retries of job {id} after {op:?}");
        }
        after.check();
        let counted = self.bench.store.counts().expect("an answer");
        assert_eq!(counted, after.counts(), "counted by index after {op:?}");
        self.before = after;
    }

    /// Does it; `None` if it was refused or cannot be meant.
    fn act(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::Add(added) => self.add(added),
            Op::AddChain(length) => {
                let member = |at| NewJob {
                    parents: vec![(ParentRef::InBatch(at + 1), Kind::After)],
                    ..job()
                };
                let mut jobs: Vec<_> = (0..*length).map(member).collect();
                jobs.push(job());
                self.bench.store.add(&jobs, self.now).ok().map(drop)
            }
            Op::Link(child, parent, kind) => {
                let edge = Edge { parent: self.job(*parent)?, kind: *kind };
                self.bench.store.link(self.job(*child)?, &[edge], self.now).ok()
            }
            Op::Unlink(child, parent) => {
                let (child, parent) = (self.job(*child)?, self.job(*parent)?);
                self.bench.store.unlink(child, &[parent], self.now).ok().map(drop)
            }
            Op::Turn { runner, room } => {
                self.claim(*runner, *room);
                Some(())
            }
            Op::Start(place) => {
                let claim = self.claim_at(*place)?;
                let started = [Started { claim, process: process(self.now) }];
                self.turn(0, &Turn { started: &started, ..self.bench.empty_turn(0) });
                Some(())
            }
            Op::End(place, outcome) => {
                let claim = self.claim_at(*place)?;
                self.end(claim.job, outcome);
                Some(())
            }
            Op::Late(place, outcome) => self.late(*place, outcome),
            Op::Tick(seconds) => {
                self.now = Timestamp::from_millis(self.now.millis() + seconds * 1000);
                Some(())
            }
            Op::Retry { job, downstream, force } => {
                let how = Revival { downstream: *downstream, force: *force, dry_run: false };
                let id = self.job(*job)?;
                let moved = self.bench.store.revive(&[id], how, self.now).ok()?;
                self.forget_retries(moved.iter().map(|moved| moved.job));
                Some(())
            }
            Op::Cancel { job, downstream } => {
                let how = Cancel { downstream: *downstream, ..Cancel::default() };
                let id = self.job(*job)?;
                self.bench.store.cancel(&[id], &how, self.now).ok().map(drop)
            }
            Op::Edit { job, priority, due_in } => {
                let settings = Settings { priority: Some(*priority), ..Settings::default() };
                let due = due_in.map(|wait| self.now.plus(Duration::from_secs(wait)));
                let edit = Edit { due, settings, ..Edit::default() };
                let id = self.job(*job)?;
                self.bench.store.edit(id, &edit, self.now).ok()
            }
            Op::Group { group, parallel, paused } => {
                let name = format!("g{group}");
                self.bench.store.set_group(&name, *parallel).ok()?;
                self.bench.store.pause_group(&name, *paused).ok()
            }
            Op::Hold(job) => {
                let id = self.job(*job)?;
                self.bench.store.hold(&[id], self.now).ok().map(drop)
            }
            Op::Release(job) => {
                let id = self.job(*job)?;
                self.bench.store.release(&[id], self.now).ok().map(drop)
            }
            Op::Resolve(job, how) => {
                let id = self.job(*job)?;
                let moved = self.bench.store.resolve(&[id], *how, self.now).ok()?;
                if *how == ax_scheduler::store::Resolution::Retry {
                    self.forget_retries(moved.iter().map(|moved| moved.job));
                }
                Some(())
            }
            Op::WriteEdge(child, parent, kind) => self.edit(&format!(
                "INSERT OR IGNORE INTO ax_deps VALUES ({}, {}, '{kind}')",
                self.job(*child)?,
                self.job(*parent)?
            )),
            Op::DeleteEdge(child, parent) => self.edit(&format!(
                "DELETE FROM ax_deps WHERE job_id = {} AND depends_on = {}",
                self.job(*child)?,
                self.job(*parent)?
            )),
            Op::DeleteJob(job) => {
                self.edit(&format!("DELETE FROM ax_jobs WHERE id = {}", self.job(*job)?))
            }
            Op::SetPending(job) => self.edit(&format!(
                "UPDATE ax_jobs SET status = 'pending' WHERE id = {} AND owner IS NULL",
                self.job(*job)?
            )),
        }
    }

    /// The job at this place among those there are, counted round.
    fn job(&self, place: usize) -> Option<JobId> {
        let jobs = &self.before.jobs;
        jobs.keys().nth(place.checked_rem(jobs.len())?).copied()
    }

    fn claim_at(&self, place: usize) -> Option<Claim> {
        let place = place.checked_rem(self.live.len())?;
        self.live.values().nth(place).map(|claimed| claimed.claim)
    }

    fn edit(&self, sql: &str) -> Option<()> {
        self.shell.execute_batch(sql).ok()
    }

    fn forget_retries(&mut self, jobs: impl Iterator<Item = JobId>) {
        for job in jobs {
            self.retries.insert(job, 0);
        }
    }

    fn add(&mut self, added: &Added) -> Option<()> {
        let mut parents: Vec<_> = added
            .parents
            .iter()
            .filter_map(|(place, kind)| Some((ParentRef::Id(self.job(*place)?), *kind)))
            .collect();
        if let Some(key) = added.parent_key {
            parents.extend(after_key(&format!("k{key}")).parents);
        }
        let new = NewJob {
            parents,
            key: added.key.map(|key| format!("k{key}")),
            if_exists: added.if_exists,
            max_retries: added.max_retries,
            on_lost: added.on_lost,
            hold: added.hold,
            scheduled_at: self.now.plus(Duration::from_secs(added.due_in)),
            priority: added.priority,
            group: added.group.map(|group| format!("g{group}")),
            mutex: added.mutex.map(|mutex| format!("m{mutex}")),
            ..job()
        };
        self.bench.store.add(&[new], self.now).ok().map(drop)
    }

    /// A turn of one runner with its own handle.
    fn turn(&mut self, runner: usize, turn: &Turn<'_>) -> Turned {
        let (id, store) = &mut self.runners[runner];
        store.turn(&Turn { runner: *id, now: self.now, ..turn.clone() }).expect("a turn")
    }

    /// Lets a runner claim, and looks at what it got.
    fn claim(&mut self, runner: usize, room: usize) -> bool {
        let turned = self.turn(runner, &self.bench.empty_turn(room));
        let after = Snapshot::read(&self.shell);
        assert!(turned.claimed.len() <= room && turned.nonsense.is_empty());
        for claimed in &turned.claimed {
            after.check_group_of(claimed.claim.job);
        }
        for claimed in turned.claimed {
            let Claim { job, attempt, .. } = claimed.claim;
            assert_eq!(after.readiness(job), Readiness::Met, "job {job} was claimed too early");
            let was_ready = self.before.jobs[&job].state == State::Ready;
            let due = after.jobs[&job].is_due(self.now.millis());
            assert!(due || was_ready, "job {job} was claimed before its time");
            assert!(self.started.insert((job, attempt)), "job {job}, attempt {attempt}, twice");
            assert!(self.live.insert(job, claimed).is_none(), "job {job} runs twice");
        }
        if !turned.more {
            self.check_nothing_is_left(&after, room);
        }
        turned.more
    }

    /// When a turn says that nothing is left to do, nothing is.
    fn check_nothing_is_left(&self, after: &Snapshot, room: usize) {
        assert!(after.is_judged());
        for (id, job) in &after.jobs {
            let waits = matches!(job.state, State::Pending | State::Failed);
            let due = job.scheduled_at <= self.now.millis();
            let met = after.readiness(*id) == Readiness::Met;
            assert!(!(waits && due && met), "job {id} could run and is {}", job.state);
            let could = job.state == State::Ready && !after.is_behind_a_limit(*id);
            assert!(room == 0 || !could, "there is room for job {id}");
        }
    }

    fn settlement(&self, claim: Claim, outcome: &Outcome, verdict: Verdict) -> Settlement {
        let not_started = matches!(outcome, Outcome::NotStarted(_));
        Settlement {
            process: (!not_started).then(|| process(self.now)),
            ended_at: self.now,
            ..self.bench.settlement(claim, outcome.clone(), verdict)
        }
    }

    /// Ends an attempt the way its job's policy wants.
    fn end(&mut self, job: JobId, outcome: &Outcome) {
        let claimed = self.live[&job].clone();
        let (claim, verdict) = (claimed.claim, claimed.policy.judge(outcome, self.now));
        let settled = [self.settlement(claim, outcome, verdict)];
        let turned = self.turn(0, &Turn { settled: &settled, ..self.bench.empty_turn(0) });
        let was = self.before.jobs.get(&job).map(|job| job.state);
        let counts = was.is_some_and(|state| verdict.event().allows(state));
        assert_eq!(turned.late.is_empty(), counts, "{claim:?} ended with {outcome:?}");
        if !counts && was.is_some() {
            // A process that was started cannot be given back unused.
            assert_eq!((was, verdict), (Some(State::Running), Verdict::GiveBack));
            return;
        }
        self.live.remove(&job);
        match verdict {
            Verdict::Retry(_) => *self.retries.entry(job).or_default() += 1,
            Verdict::GiveBack => {
                self.started.remove(&(job, claim.attempt));
                return;
            }
            Verdict::Success
            | Verdict::Dead
            | Verdict::Held
            | Verdict::Interrupt
            | Verdict::Later(_)
            | Verdict::Cancelled => (),
        }
        self.past.push(claim);
    }

    /// A result of an attempt that has ended moves its job nowhere.
    fn late(&mut self, place: usize, outcome: &Outcome) -> Option<()> {
        let claim = self.past[..].get(place.checked_rem(self.past.len())?).copied()?;
        let settled = [self.settlement(claim, outcome, Verdict::Success)];
        self.turn(0, &Turn { settled: &settled, ..self.bench.empty_turn(0) });
        let after = Snapshot::read(&self.shell);
        if let Some((was, is)) = self.before.jobs.get(&claim.job).zip(after.jobs.get(&claim.job)) {
            let told = |job: &super::snapshot::JobRow| {
                (job.attempts, job.owner, job.retry_count, job.state == State::Success)
            };
            assert_eq!(told(is), told(was), "{claim:?} came too late");
        }
        Some(())
    }

    /// Lets everything that is left succeed, however long it takes; what is not
    /// final then waits for a person.
    pub(crate) fn run_to_the_end(mut self) {
        self.now = self.now.plus(Duration::from_hours(2));
        for group in ["g0", "g1"] {
            self.bench.store.pause_group(group, false).expect("it goes on");
        }
        loop {
            let more = self.claim(0, 1_000);
            self.before = Snapshot::read(&self.shell);
            let live: Vec<_> = self.live.keys().copied().collect();
            for job in &live {
                self.end(*job, &Outcome::Exited(0));
                self.before = Snapshot::read(&self.shell);
            }
            if live.is_empty() && !more {
                break;
            }
        }
        let end = Snapshot::read(&self.shell);
        end.check();
        for (id, job) in end.jobs.iter().filter(|(_, job)| !job.state.is_final()) {
            assert!(end.waits_for_a_person(*id), "job {id} waits for ever: {job:?}");
        }
        assert!(self.bench.store.outlook(None).expect("an answer").is_idle());
    }
}
