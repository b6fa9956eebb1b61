//! How a runner works.
//!
//! [`Scheduler`] is the runner without threads, processes and clocks: reports
//! go in, one [`Scheduler::turn`] settles them, and the jobs to start come
//! out. [`drive`] is the loop around it, [`pool`] the worker threads, [`hooks`] what
//! is owed once a job has ended, [`settings`] how a runner is to work, [`recover`]
//! what is done about attempts that others left behind, [`scene`] where it looks,
//! [`wake`] how commands wake a sleeping runner, [`alarm`] what else does,
//! [`handover`] how they hand it jobs, [`pace`] how the lock is shared.

pub mod alarm;
pub mod drive;
pub mod event;
pub mod handover;
pub mod hooks;
pub mod pace;
pub mod pool;
pub mod recover;
pub mod scene;
pub mod settings;
pub mod wake;

use std::collections::HashMap;
use std::path::Path;

use crate::exec::{Ended, Report};
use crate::job::{
    Added, Claim, Claimed, EnvBlock, FlowRunId, Outcome, RetryPolicy, RunnerId, Settlement,
    Timestamp,
};
use crate::store::{self, Handed, Started, Store, Turn, Turned};

pub use event::RunEvent;

/// Jobs claimed ahead for each worker, unless a runner is told otherwise.
pub const AHEAD: usize = 4;

/// The jobs a runner has in hand, and what it has heard of them since the
/// last commit.
pub struct Scheduler {
    runner: RunnerId,
    scope: Option<FlowRunId>,
    capacity: usize,
    environment: EnvBlock,
    in_hand: HashMap<Claim, InHand>,
    started: Vec<Started>,
    settled: Vec<Settlement>,
    handed: Vec<Handed>,
}

/// What is needed of a job until it has ended.
struct InHand {
    title: String,
    policy: RetryPolicy,
    /// Whether it was told of its start, so that its output may have a file.
    started: bool,
}

/// What came of a turn.
#[derive(Debug, Default)]
pub struct Step {
    /// The jobs to start, in order.
    pub tasks: Vec<Claimed>,
    /// What was added for each job that was handed over.
    pub added: Vec<Option<Added>>,
    /// What happened, for whoever watches.
    pub events: Vec<RunEvent>,
    /// Attempts whose output is in the database now; a file of it can go.
    pub output_stored: Vec<Claim>,
    /// The jobs in hand that a person wants ended.
    pub cancels: Vec<Claim>,
    /// The next time something is due, if it lies ahead.
    pub next_due: Option<Timestamp>,
    /// Whether there is more to do at once.
    pub more: bool,
    /// Whether a hook waits to be taken.
    pub hooks_owed: bool,
    /// When the store was asked, and found nothing to do.
    quiet_since: Option<Timestamp>,
}

impl Step {
    /// Tells whether there is still nothing to do, if nobody has written since.
    fn is_quiet(&self, now: Timestamp) -> bool {
        !self.hooks_owed
            && self.cancels.is_empty()
            && self.quiet_since.is_some_and(|since| since <= now)
            && self.next_due.is_none_or(|due| now < due)
    }
}

impl Scheduler {
    /// A runner that has at most `capacity` jobs in hand, of one run of a flow
    /// if `scope` names it. Its jobs learn where the database is.
    pub fn new(runner: RunnerId, scope: Option<FlowRunId>, capacity: usize, db: &Path) -> Self {
        use std::os::unix::ffi::OsStrExt;
        let mut entry = b"AX_DB=".to_vec();
        entry.extend_from_slice(db.as_os_str().as_bytes());
        Self {
            runner,
            scope,
            capacity,
            environment: EnvBlock::from_entries([entry.as_slice()]),
            in_hand: HashMap::new(),
            started: Vec::new(),
            settled: Vec::new(),
            handed: Vec::new(),
        }
    }

    /// Has it have at most `capacity` jobs in hand from now on. What it has stays.
    pub const fn limit(&mut self, capacity: usize) {
        self.capacity = capacity;
    }

    /// Tells whether it would take another job.
    pub fn has_room(&self) -> bool {
        self.in_hand.len() < self.capacity
    }

    /// How many jobs are claimed and not known to have ended.
    pub fn in_hand(&self) -> usize {
        self.in_hand.len()
    }

    /// The claims of the jobs in hand.
    pub fn claims(&self) -> impl Iterator<Item = Claim> {
        self.in_hand.keys().copied()
    }

    /// Tells whether a job is in hand.
    pub fn has(&self, claim: Claim) -> bool {
        self.in_hand.contains_key(&claim)
    }

    /// Tells whether something was heard that is not stored yet.
    pub fn has_news(&self) -> bool {
        !self.started.is_empty() || !self.settled.is_empty()
    }

    /// Takes note of a report, and judges it if it is an end.
    pub fn note(&mut self, report: Report) {
        match report {
            Report::Started { claim, process } => {
                if let Some(job) = self.in_hand.get_mut(&claim) {
                    job.started = true;
                    self.started.push(Started { claim, process });
                }
            }
            // Only a person needs it.
            Report::Stuck { .. } => (),
            Report::Ended(ended) => self.note_end(ended),
        }
    }

    fn note_end(&mut self, ended: Ended) {
        let Some(job) = self.in_hand.get(&ended.claim) else { return };
        let verdict = job.policy.judge(&ended.outcome, ended.ended_at);
        let Ended { claim, outcome, process, ended_at, output } = ended;
        self.settled.push(Settlement { claim, outcome, verdict, process, ended_at, output });
    }

    /// Takes in jobs that commands hand over, for the next turn alone.
    pub fn take_in(&mut self, handed: Vec<Handed>) {
        self.handed = handed;
    }

    /// Lets go of a job whose worker broke: its supervisor records the end.
    pub fn forget(&mut self, claim: Claim) {
        self.in_hand.remove(&claim);
    }

    /// Gives back a job that was claimed and not handed to a worker.
    pub fn give_back(&mut self, claim: Claim, why: &str, now: Timestamp) {
        self.note_end(Ended {
            claim,
            outcome: Outcome::NotStarted(why.to_owned()),
            process: None,
            ended_at: now,
            output: crate::job::Captured::default(),
        });
    }

    /// Stores what was heard and, if `claiming`, takes jobs up to the
    /// capacity: one commit.
    ///
    /// # Errors
    /// What the store says. Nothing that was heard of jobs is lost: the next turn
    /// brings it again.
    pub fn turn(
        &mut self,
        store: &mut dyn Store,
        now: Timestamp,
        claiming: bool,
    ) -> store::Result<Step> {
        let ending = self.settled.len();
        let room = self.capacity.saturating_sub(self.in_hand.len().saturating_sub(ending));
        let handed = std::mem::take(&mut self.handed);
        let turned = store.turn(&Turn {
            runner: self.runner,
            now,
            started: &self.started,
            settled: &self.settled,
            handed: &handed,
            serves: claiming,
            room: if claiming { room } else { 0 },
            scope: self.scope,
        })?;
        Ok(self.stored(turned, now))
    }

    /// What follows from a commit that went well.
    fn stored(&mut self, turned: Turned, now: Timestamp) -> Step {
        let Turned { next_due, more, hooks_owed, cancels, added, .. } = turned;
        let quiet_since = turned.quiet.then_some(now);
        let mut step =
            Step { added, cancels, next_due, more, hooks_owed, quiet_since, ..Step::default() };
        for started in self.started.drain(..) {
            if let Some(job) = self.in_hand.get(&started.claim) {
                step.events.push(RunEvent::started(&started, &job.title));
            }
        }
        for mut settlement in self.settled.drain(..) {
            let overruled = turned.overruled.iter().find(|(claim, _)| *claim == settlement.claim);
            settlement.verdict = overruled.map_or(settlement.verdict, |(_, verdict)| *verdict);
            let Some(job) = self.in_hand.remove(&settlement.claim) else { continue };
            if job.started && !settlement.output.in_file {
                step.output_stored.push(settlement.claim);
            }
            let late = turned.late.contains(&settlement.claim);
            step.events.push(RunEvent::ended(&settlement, job.title, late));
        }
        step.events.extend(turned.moved.into_iter().map(RunEvent::Moved));
        step.events.extend(turned.nonsense.into_iter().map(RunEvent::Trouble));
        for mut claimed in turned.claimed {
            claimed.spec.extra_env = claimed.spec.extra_env.overlaid(&self.environment);
            let (title, policy) = (claimed.title.clone(), claimed.policy.clone());
            self.in_hand.insert(claimed.claim, InHand { title, policy, started: false });
            step.tasks.push(claimed);
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_quiet_until_something_is_due_or_the_clock_is_set_back() {
        let [before, since, due] = [1, 2, 9].map(Timestamp::from_millis);
        let step = || Step { quiet_since: Some(since), ..Step::default() };
        assert!(step().is_quiet(since) && step().is_quiet(Timestamp::MAX));
        assert!(!step().is_quiet(before), "what waits since later waits too long");
        let waiting = Step { next_due: Some(due), ..step() };
        assert!(waiting.is_quiet(Timestamp::from_millis(8)) && !waiting.is_quiet(due));
        let claim = Claim { job: crate::job::JobId(1), attempt: 1, owner: RunnerId(1) };
        assert!(!Step { cancels: vec![claim], ..step() }.is_quiet(since));
        assert!(!Step { hooks_owed: true, ..step() }.is_quiet(since));
        assert!(!Step { quiet_since: None, ..step() }.is_quiet(since), "something was written");
    }
}
