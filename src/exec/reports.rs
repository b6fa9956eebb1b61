//! What a supervisor tells, and to whom.
//!
//! As long as the runner listens, reports go to it. The last of them are kept,
//! because it may die before it has stored them; then they, and all that
//! follow, are recorded instead.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::Sender;

use super::protocol::{Answer, send};
use super::{Ended, Report};
use crate::job::{Claimed, Outcome, Process};

/// A report, and what its attempt was asked to do.
pub(super) type Due = (Claimed, Report);

/// The reports of one supervisor.
#[derive(Debug)]
pub(super) struct Reports {
    runner: UnixStream,
    keep: usize,
    /// The last ends; the runner may not have stored them.
    recent: VecDeque<Due>,
    /// Where reports go once the runner is gone.
    records: Option<Sender<Due>>,
    unheard: bool,
}

impl Reports {
    /// Reports to this runner, which has up to `keep` of them unsettled.
    pub(super) const fn new(runner: UnixStream, keep: usize) -> Self {
        Self { runner, keep, recent: VecDeque::new(), records: None, unheard: false }
    }

    /// Tells whether the runner was found gone.
    pub(super) const fn are_unheard(&self) -> bool {
        self.unheard
    }

    /// Tells of a start.
    pub(super) fn start(&mut self, claimed: &Claimed, process: Process) {
        let report = Report::Started { claim: claimed.claim, process };
        match &self.records {
            Some(records) => record(records, (claimed.clone(), report)),
            None => self.say(&report, false),
        }
    }

    /// Tells what is left of a job that was killed.
    pub(super) fn stuck(&mut self, claimed: &Claimed, why: String) {
        let report = Report::Stuck { claim: claimed.claim, why };
        match &self.records {
            Some(records) => record(records, (claimed.clone(), report)),
            None => self.say(&report, false),
        }
    }

    /// Tells of an end, and whether it is the last one told of.
    pub(super) fn end(&mut self, claimed: Claimed, ended: Ended, retires: bool) {
        let report = Report::Ended(ended);
        if let Some(records) = &self.records {
            return record(records, (claimed, report));
        }
        self.say(&report, retires);
        if is_given_back(&report) {
            // The runner may have claimed it again under the same number;
            // whoever finds the runner dead reads of it in the journal.
            return;
        }
        if self.recent.len() >= self.keep.max(1) {
            self.recent.pop_front();
        }
        self.recent.push_back((claimed, report));
    }

    fn say(&mut self, report: &Report, retires: bool) {
        let answer = Answer::Report { report: Cow::Borrowed(report), retires };
        self.unheard |= send(&mut self.runner, &answer).is_err();
    }

    /// Has everything recorded from now on, and first of all what the runner
    /// may not have stored.
    pub(super) fn redirect(&mut self, records: Sender<Due>) {
        self.recent.drain(..).for_each(|due| record(&records, due));
        self.records = Some(records);
    }

    /// Says that nothing more will be recorded.
    pub(super) fn close(&mut self) {
        self.records = None;
    }
}

fn record(records: &Sender<Due>, due: Due) {
    // Whoever records listens until this sender is dropped.
    let _ = records.send(due);
}

fn is_given_back(report: &Report) -> bool {
    match report {
        Report::Started { .. } | Report::Stuck { .. } => false,
        Report::Ended(ended) => matches!(ended.outcome, Outcome::NotStarted(_)),
    }
}
