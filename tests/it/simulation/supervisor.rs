//! A supervisor, one step at a time. Its steps are those of the real one
//! (`exec::supervisor`), and it may be killed between any two.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use ax_scheduler::exec::journal::{Entries, Entry, Step};
use ax_scheduler::exec::process::Identity;
use ax_scheduler::exec::{Ended, Report, Stop};
use ax_scheduler::job::{Captured, Claim, Claimed, Outcome, Process, Settlement};
use ax_scheduler::store::{Started, Turn};

use super::world::World;

/// What a runner says to a supervisor.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "few exist at a time")]
pub(crate) enum Order {
    Run(Claimed),
    Stop(Claim, Stop),
}

/// How far a supervisor is with the job it has in hand.
#[derive(Clone, Debug)]
pub(crate) enum Phase {
    Free,
    /// The intent is in the journal.
    Begun(Claimed),
    /// The runner was seen to live.
    Fenced(Claimed),
    /// The process runs, or has ended, and the journal does not know.
    Spawned(Claimed, Process),
    /// The journal knows of the process.
    Running(Claimed, Process),
    /// It has ended, and the journal does not know.
    Over(Claimed, Ended),
    /// The journal knows of the end; the runner does not.
    Noted(Claimed, Ended),
}

impl Phase {
    fn claim(&self) -> Option<Claim> {
        match self {
            Self::Free => None,
            Self::Begun(claimed)
            | Self::Fenced(claimed)
            | Self::Spawned(claimed, _)
            | Self::Running(claimed, _)
            | Self::Over(claimed, _)
            | Self::Noted(claimed, _) => Some(claimed.claim),
        }
    }

    /// The attempt whose outcome is lost if the supervisor is killed now.
    pub(crate) fn in_doubt(&self) -> Option<Claim> {
        match self {
            Self::Noted(..) => None,
            Self::Free
            | Self::Begun(_)
            | Self::Fenced(_)
            | Self::Spawned(..)
            | Self::Running(..)
            | Self::Over(..) => self.claim(),
        }
    }
}

/// A journal: a ring of the last attempts.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    pub(crate) exists: bool,
    pub(crate) told: Entries,
    keep: usize,
    count: u64,
}

impl Journal {
    pub(crate) fn new(identity: Identity, keep: usize) -> Self {
        let told = Entries { supervisor: Some(identity), entries: Vec::new() };
        Self { exists: true, told, keep, count: 0 }
    }

    fn begin(&mut self, claim: Claim) {
        if self.told.entries.len() == self.keep {
            self.told.entries.remove(0);
        }
        self.told.entries.push(Entry { claim, number: self.count, step: Step::Intent });
        self.count += 1;
    }

    fn note(&mut self, step: Step) {
        self.told.entries.last_mut().expect("an attempt was begun").step = step;
    }
}

/// A supervisor.
#[derive(Debug)]
pub(crate) struct Supervisor {
    /// Its runner, by place.
    pub(crate) runner: usize,
    pub(crate) path: PathBuf,
    pub(crate) alive: bool,
    pub(crate) stopped: bool,
    pub(crate) journal: Journal,
    pub(crate) orders: VecDeque<Order>,
    /// What its runner has not read, and whether it was said on retiring.
    pub(crate) answers: VecDeque<(Report, bool)>,
    pub(crate) phase: Phase,
    queue: VecDeque<Claimed>,
    /// The last ends that its runner may not have stored.
    recent: VecDeque<(Claimed, Report)>,
    /// What is still to be recorded, once it is an orphan.
    records: Option<VecDeque<(Claimed, Report)>>,
    stop: Option<Outcome>,
    told: bool,
    retired: bool,
}

impl Supervisor {
    pub(crate) fn new(runner: usize, path: PathBuf, journal: Journal) -> Self {
        Self {
            runner,
            path,
            alive: true,
            stopped: false,
            journal,
            orders: VecDeque::new(),
            answers: VecDeque::new(),
            phase: Phase::Free,
            queue: VecDeque::new(),
            recent: VecDeque::new(),
            records: None,
            stop: None,
            told: false,
            retired: false,
        }
    }

    fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Free) && self.queue.is_empty()
    }

    fn tell(&mut self, claimed: Claimed, report: Report, heard: bool) {
        if let Some(records) = &mut self.records {
            return records.push_back((claimed, report));
        }
        if heard {
            self.answers.push_back((report.clone(), self.retired));
        }
        let Report::Ended(ended) = &report else { return };
        if matches!(ended.outcome, Outcome::NotStarted(_)) {
            return;
        }
        self.recent.push_back((claimed, report));
        if self.recent.len() > self.journal.keep {
            self.recent.pop_front();
        }
    }
}

fn not_started(why: &str) -> Outcome {
    Outcome::NotStarted(why.to_owned())
}

impl World {
    fn ended(&self, claim: Claim, outcome: Outcome, process: Option<Process>) -> Ended {
        let ended_at = self.machine.now();
        Ended { claim, outcome, process, ended_at, output: Captured::default() }
    }

    /// Lets a supervisor do one thing; tells whether there was one.
    pub(crate) fn step_supervisor(&mut self, at: usize) -> bool {
        let supervisor = &self.supervisors[at];
        if !supervisor.alive || supervisor.stopped {
            return false;
        }
        if supervisor.records.is_some() && self.rng.bool() && self.record(at) {
            return true;
        }
        // What was heard together with the end of the runner comes before it.
        if self.rng.bool() && self.advance(at) {
            return true;
        }
        self.hear(at) || self.advance(at) || self.record(at) || self.leave(at)
    }

    /// Hears what the runner says, or that it is gone.
    fn hear(&mut self, at: usize) -> bool {
        let heard = self.runners[self.supervisors[at].runner].alive;
        let supervisor = &mut self.supervisors[at];
        if supervisor.records.is_some() {
            return false;
        }
        match supervisor.orders.pop_front() {
            Some(Order::Run(claimed)) => supervisor.queue.push_back(claimed),
            Some(Order::Stop(claim, why)) => self.stop_attempt(at, claim, why),
            None if heard || supervisor.retired => return false,
            None => self.be_orphaned(at),
        }
        true
    }

    fn be_orphaned(&mut self, at: usize) {
        self.tell_trace(|| format!("supervisor {at} is orphaned"));
        let supervisor = &mut self.supervisors[at];
        supervisor.records = Some(supervisor.recent.drain(..).collect());
        while let Some(claimed) = self.supervisors[at].queue.pop_front() {
            let ended = self.ended(claimed.claim, not_started("its runner ended"), None);
            self.supervisors[at].tell(claimed, Report::Ended(ended), false);
        }
        self.tell_start(at);
    }

    fn stop_attempt(&mut self, at: usize, claim: Claim, why: Stop) {
        let supervisor = &mut self.supervisors[at];
        let outcome = match why {
            Stop::Shutdown => Outcome::Interrupted,
            Stop::Cancel => Outcome::Cancelled,
        };
        if supervisor.phase.claim() == Some(claim) {
            supervisor.stop = Some(outcome);
        } else if let Some(place) = supervisor.queue.iter().position(|it| it.claim == claim) {
            let claimed = supervisor.queue.remove(place).expect("it was found");
            let ended = self.ended(claim, not_started("the runner shuts down"), None);
            self.report(at, claimed, Report::Ended(ended));
        }
    }

    /// Says something to the runner; one that is gone makes an orphan.
    fn report(&mut self, at: usize, claimed: Claimed, report: Report) {
        let heard = self.runners[self.supervisors[at].runner].alive;
        self.supervisors[at].tell(claimed, report, heard);
        if !heard && self.supervisors[at].records.is_none() {
            self.be_orphaned(at);
        }
    }

    fn tell_start(&mut self, at: usize) {
        let supervisor = &mut self.supervisors[at];
        let Phase::Running(claimed, process) = &supervisor.phase else { return };
        let (claimed, process) = (claimed.clone(), *process);
        if !std::mem::replace(&mut supervisor.told, true) {
            let claim = claimed.claim;
            self.report(at, claimed, Report::Started { claim, process });
        }
    }

    /// Goes on with the job in hand.
    fn advance(&mut self, at: usize) -> bool {
        let phase = std::mem::replace(&mut self.supervisors[at].phase, Phase::Free);
        let next = match phase {
            Phase::Free => return self.begin_next(at),
            Phase::Begun(claimed) => {
                if self.holds_lock(self.supervisors[at].runner) {
                    Phase::Fenced(claimed)
                } else {
                    let ended = self.ended(claimed.claim, not_started("its runner ended"), None);
                    Phase::Over(claimed, ended)
                }
            }
            Phase::Fenced(claimed) => self.spawn(claimed),
            Phase::Spawned(claimed, process) => {
                self.supervisors[at].journal.note(Step::Started(process));
                Phase::Running(claimed, process)
            }
            Phase::Running(claimed, process) => {
                if let Some(ended) = self.watch(at, &claimed, process) {
                    Phase::Over(claimed, ended)
                } else {
                    self.supervisors[at].phase = Phase::Running(claimed, process);
                    let is_new = !self.supervisors[at].told && self.rng.bool();
                    if is_new {
                        self.tell_start(at);
                    }
                    return is_new;
                }
            }
            Phase::Over(claimed, ended) => {
                let Ended { outcome, process, ended_at, .. } = ended.clone();
                let step = Step::Ended { process, outcome, ended_at, written: 0 };
                self.supervisors[at].journal.note(step);
                Phase::Noted(claimed, ended)
            }
            Phase::Noted(claimed, ended) => {
                let leaves_some = ended.process.is_some() && self.rng.u32(..12) == 0;
                let supervisor = &mut self.supervisors[at];
                supervisor.retired |= leaves_some;
                (supervisor.told, supervisor.stop) = (false, None);
                self.report(at, claimed, Report::Ended(ended));
                Phase::Free
            }
        };
        self.supervisors[at].phase = next;
        true
    }

    fn begin_next(&mut self, at: usize) -> bool {
        let supervisor = &mut self.supervisors[at];
        if supervisor.retired || supervisor.records.is_some() {
            return false;
        }
        let Some(claimed) = supervisor.queue.pop_front() else { return false };
        supervisor.journal.begin(claimed.claim);
        supervisor.phase = Phase::Begun(claimed);
        true
    }

    fn spawn(&mut self, claimed: Claimed) -> Phase {
        let refusal = match self.rng.u32(..16) {
            0 if self.is_storm => not_started("no more processes"),
            1 if self.is_storm => Outcome::Unstartable("no such directory".to_owned()),
            _ => {
                let process = self.machine.start(claimed.claim);
                self.tell_trace(|| format!("{:?} is started", claimed.claim));
                return Phase::Spawned(claimed, process);
            }
        };
        if matches!(refusal, Outcome::Unstartable(_)) {
            // It is a failed attempt, though no process was started.
            self.machine.allow(claimed.claim.job, -1);
        }
        let ended = self.ended(claimed.claim, refusal, None);
        Phase::Over(claimed, ended)
    }

    /// Looks whether the job has ended, or is to be stopped.
    fn watch(&mut self, at: usize, claimed: &Claimed, process: Process) -> Option<Ended> {
        let time_is_up = self.rng.u32(..30) == 0;
        let timeout = time_is_up.then_some(Outcome::TimedOut(Duration::from_mins(1)));
        let stop = self.supervisors[at].stop.clone().or(timeout);
        if let Some(outcome) = stop {
            self.machine.end(claimed.claim, outcome);
        }
        let outcome = self.machine.run(claimed.claim)?.end.clone()?;
        Some(self.ended(claimed.claim, outcome, Some(process)))
    }

    /// Records one of the results that no runner asks for.
    fn record(&mut self, at: usize) -> bool {
        let Some(records) = &self.supervisors[at].records else { return false };
        let Some((claimed, report)) = records.front().cloned() else { return false };
        let (mut started, mut settled) = (Vec::new(), Vec::new());
        match report {
            Report::Started { claim, process } => started.push(Started { claim, process }),
            Report::Ended(ended) => {
                let verdict = claimed.policy.judge(&ended.outcome, ended.ended_at);
                let Ended { claim, outcome, process, ended_at, output } = ended;
                settled.push(Settlement { claim, outcome, verdict, process, ended_at, output });
            }
        }
        if self.is_trouble() {
            return true;
        }
        self.tell_trace(|| format!("supervisor {at} records {started:?} {settled:?}"));
        let turn = Turn {
            runner: claimed.claim.owner,
            now: self.machine.now(),
            started: &started,
            settled: &settled,
            room: 0,
            scope: None,
        };
        self.store(at).turn(&turn).expect("a turn");
        if let Some(records) = &mut self.supervisors[at].records {
            records.pop_front();
        }
        true
    }

    /// Ends, if nothing is left to do.
    fn leave(&mut self, at: usize) -> bool {
        let supervisor = &mut self.supervisors[at];
        let is_done = match &supervisor.records {
            Some(records) => records.is_empty(),
            None => supervisor.retired,
        };
        if !is_done || !supervisor.is_idle() {
            return false;
        }
        supervisor.alive = false;
        if supervisor.records.is_some() {
            supervisor.journal.exists = false;
        }
        true
    }
}
