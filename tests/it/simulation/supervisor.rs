//! A supervisor: what it was told, what it has in hand, and its journal.

use std::collections::VecDeque;
use std::path::PathBuf;

use ax_scheduler::exec::journal::{Entries, Entry, Step};
use ax_scheduler::exec::process::Identity;
use ax_scheduler::exec::{Ended, Report, Stop};
use ax_scheduler::job::{Claim, Claimed, Outcome, Process};

/// What a runner says to a supervisor.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    Run(Box<Claimed>),
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
    pub(crate) fn claim(&self) -> Option<Claim> {
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
    pub(crate) keep: usize,
    count: u64,
}

impl Journal {
    pub(crate) fn new(identity: Identity, keep: usize) -> Self {
        let told = Entries { supervisor: Some(identity), entries: Vec::new() };
        Self { exists: true, told, keep, count: 0 }
    }

    pub(crate) fn begin(&mut self, claim: Claim) {
        if self.told.entries.len() == self.keep {
            self.told.entries.remove(0);
        }
        self.told.entries.push(Entry { claim, number: self.count, step: Step::Intent });
        self.count += 1;
    }

    pub(crate) fn note(&mut self, step: Step) {
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
    pub(crate) queue: VecDeque<Claimed>,
    /// The last ends that its runner may not have stored.
    pub(crate) recent: VecDeque<(Claimed, Report)>,
    /// What is still to be recorded, once it is an orphan.
    pub(crate) records: Option<VecDeque<(Claimed, Report)>>,
    pub(crate) stop: Option<Outcome>,
    pub(crate) told: bool,
    pub(crate) retired: bool,
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

    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Free) && self.queue.is_empty()
    }

    pub(crate) fn tell(&mut self, claimed: Claimed, report: Report, heard: bool) {
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
