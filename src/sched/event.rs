//! What a runner tells whoever watches it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::job::{Claim, Outcome, Settlement, State, Timestamp, Verdict};
use crate::store::{Moved, Started};

/// Something that happened, after it was stored.
#[derive(Clone, Debug)]
pub enum RunEvent {
    /// A process was started.
    Started {
        /// Which attempt.
        claim: Claim,
        /// What people call the job.
        title: String,
        /// When.
        at: Timestamp,
    },
    /// An attempt ended.
    Ended {
        /// Which attempt.
        claim: Claim,
        /// What people call the job.
        title: String,
        /// How.
        outcome: Outcome,
        /// What becomes of the job.
        verdict: Verdict,
        /// What a person reads of a failure.
        error: Option<String>,
        /// How long it ran.
        took: Option<Duration>,
        /// Whether the job was somebody else's by then.
        late: bool,
    },
    /// A job was skipped or held on the way.
    Moved(Moved),
    /// An attempt that somebody left behind was settled.
    Recovered {
        /// Which attempt.
        claim: Claim,
        /// What people call the job.
        title: String,
        /// What becomes of the job.
        verdict: Verdict,
        /// What was found out, and what becomes of the job, in words.
        what: String,
    },
    /// Something is wrong, and work goes on.
    Trouble(String),
    /// A signal came.
    Stopping(&'static str),
}

impl RunEvent {
    /// A start, from what is known of it.
    pub fn started(started: &Started, title: &str) -> Self {
        let Started { claim, process } = *started;
        Self::Started { claim, title: title.to_owned(), at: process.started_at }
    }

    /// An end, from what was stored of it.
    pub fn ended(settlement: &Settlement, title: String, late: bool) -> Self {
        let started_at = settlement.process.map(|process| process.started_at);
        Self::Ended {
            claim: settlement.claim,
            title,
            outcome: settlement.outcome.clone(),
            verdict: settlement.verdict,
            error: settlement.outcome.error(&settlement.output.last_line),
            took: started_at.map(|started_at| settlement.ended_at.since(started_at)),
            late,
        }
    }

    /// Tells whether a runner that ends by itself has failed by it: a job ended
    /// dead or held, or it was stopped before it was done.
    pub const fn is_failure(&self) -> bool {
        match self {
            Self::Ended { verdict, late, .. } => !*late && is_bad(*verdict),
            Self::Recovered { verdict, .. } => is_bad(*verdict),
            Self::Moved(moved) => matches!(moved.event.target(), State::Held),
            Self::Stopping(_) => true,
            Self::Started { .. } | Self::Trouble(_) => false,
        }
    }

    /// The event as a JSON object; `event` says which.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Started { claim, title, .. } => json!({
                "event": "started", "id": claim.job, "attempt": claim.attempt, "title": title,
            }),
            Self::Ended { claim, title, outcome, verdict, error, took, late } => json!({
                "event": "ended",
                "id": claim.job,
                "attempt": claim.attempt,
                "title": title,
                "outcome": outcome.as_str(),
                "exit_code": outcome.exit_code(),
                "signal": outcome.signal(),
                "error": error,
                "took_s": took.map(|took| took.as_secs_f64()),
                "status": verdict.event().target(),
                "late": late,
            }),
            Self::Moved(moved) => json!({
                "event": moved.event.target(), "id": moved.job, "title": moved.title,
                "reason": moved.reason,
            }),
            Self::Recovered { claim, title, verdict, what } => json!({
                "event": "recovered", "id": claim.job, "attempt": claim.attempt, "title": title,
                "status": verdict.event().target(), "what": what,
            }),
            Self::Trouble(what) => json!({ "event": "trouble", "what": what }),
            Self::Stopping(what) => json!({ "event": "stopping", "what": what }),
        }
    }
}

const fn is_bad(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Dead | Verdict::Held => true,
        Verdict::Success
        | Verdict::Retry(_)
        | Verdict::GiveBack
        | Verdict::Interrupt
        | Verdict::Later(_)
        | Verdict::Cancelled => false,
    }
}
