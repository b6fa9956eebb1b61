//! What became of jobs that were to end: `12 backup: cancelled`.

use serde_json::{Value, json};

use super::{Style, View, paint};
use crate::escape::escape;
use crate::job::{JobId, State};
use crate::store::{Asked, Moved};

/// What became of a job that was to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is cancelled.
    Cancelled,
    /// It waited for one that is cancelled, and is skipped.
    Skipped,
    /// It is not gone yet; it is cancelled once it is.
    Stopping,
    /// It had ended by itself, or somebody brought it back.
    Ended(State),
}

/// A job, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The job.
    pub job: JobId,
    /// What people call it.
    pub title: String,
    /// What became of it.
    pub fate: Fate,
    /// Why, for a person.
    pub reason: Option<String>,
}

impl Row {
    /// A job that was ended or skipped at once.
    pub fn moved(moved: Moved) -> Self {
        let Moved { job, title, event, reason } = moved;
        let fate = match event.target() {
            State::Cancelled => Fate::Cancelled,
            State::Skipped => Fate::Skipped,
            state => Fate::Ended(state),
        };
        Self { job, title, fate, reason }
    }

    /// A job that somebody had in hand.
    pub fn asked(asked: Asked, fate: Fate) -> Self {
        Self { job: asked.claim.job, title: asked.title, fate, reason: None }
    }

    fn state(&self) -> State {
        match self.fate {
            Fate::Cancelled => State::Cancelled,
            Fate::Skipped => State::Skipped,
            Fate::Stopping => State::Running,
            Fate::Ended(state) => state,
        }
    }

    const fn done(&self) -> &'static str {
        match self.fate {
            Fate::Cancelled => "cancelled",
            Fate::Skipped => "skipped",
            Fate::Stopping => "being stopped",
            Fate::Ended(_) => "not cancelled",
        }
    }
}

/// The jobs that `ax cancel` was about.
pub struct CancelledJobs {
    /// What became of each.
    pub rows: Vec<Row>,
    /// Whether nothing was done.
    pub dry_run: bool,
}

impl View for CancelledJobs {
    fn items(&self) -> Vec<Value> {
        let item = |row: &Row| {
            json!({
                "id": row.job,
                "title": row.title,
                "done": row.done(),
                "status": row.state(),
                "reason": row.reason,
                "dry_run": self.dry_run,
            })
        };
        self.rows.iter().map(item).collect()
    }

    fn ids(&self) -> Vec<JobId> {
        self.rows.iter().map(|row| row.job).collect()
    }

    fn text(&self, style: Style) -> String {
        self.rows.iter().map(|row| line(row, self.dry_run, style)).collect()
    }
}

fn line(row: &Row, dry_run: bool, style: Style) -> String {
    const LONGEST: usize = 60;
    let title = super::text::shorten(&escape(row.title.as_bytes()), LONGEST);
    let would = if dry_run { "would be " } else { "" };
    let done = paint::paint(row.done(), paint::of(row.state()), style.color);
    let why = match row.fate {
        Fate::Ended(state) if state.is_final() => format!(", it had ended: {state}"),
        Fate::Ended(state) => format!(", somebody brought it back: it is {state}"),
        Fate::Stopping => ", and cancelled once all its processes are gone".to_owned(),
        Fate::Cancelled => String::new(),
        Fate::Skipped => {
            let why = row.reason.as_ref().map(|why| format!(" ({})", escape(why.as_bytes())));
            why.unwrap_or_default()
        }
    };
    format!("{} {title}: {would}{done}{why}\n", row.job)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Claim, RunnerId};

    #[test]
    fn each_job_has_a_line_that_says_what_became_of_it() {
        let claim = Claim { job: JobId(3), attempt: 1, owner: RunnerId(1) };
        let row = |fate| Row::asked(Asked { claim, title: "a\nb".to_owned() }, fate);
        let fates = [Fate::Cancelled, Fate::Stopping, Fate::Ended(State::Success)];
        let view = CancelledJobs { rows: fates.map(row).to_vec(), dry_run: false };
        let want = "3 a\\nb: cancelled\n\
                    3 a\\nb: being stopped, and cancelled once all its processes are gone\n\
                    3 a\\nb: not cancelled, it had ended: success\n";
        assert_eq!(view.text(Style { color: false, width: None }), want);
        assert_eq!(view.items()[2]["status"], "success");
    }
}
