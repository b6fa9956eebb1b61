//! What a command moved: `12 backup: retried`.

use serde_json::{Value, json};

use super::{Style, View, paint};
use crate::escape::escape;
use crate::job::{Event, JobId};
use crate::store::Moved;

/// The jobs that a command moved, or would move.
pub struct MovedJobs {
    moved: Vec<Moved>,
    dry_run: bool,
}

impl MovedJobs {
    /// What was moved; with `dry_run` what would be.
    pub const fn new(moved: Vec<Moved>, dry_run: bool) -> Self {
        Self { moved, dry_run }
    }
}

impl View for MovedJobs {
    fn items(&self) -> Vec<Value> {
        let item = |moved: &Moved| {
            json!({
                "id": moved.job,
                "title": moved.title,
                "done": done(moved.event),
                "status": moved.event.target(),
                "reason": moved.reason,
                "dry_run": self.dry_run,
            })
        };
        self.moved.iter().map(item).collect()
    }

    fn ids(&self) -> Vec<JobId> {
        self.moved.iter().map(|moved| moved.job).collect()
    }

    fn text(&self, style: Style) -> String {
        self.moved.iter().map(|moved| line(moved, self.dry_run, style)).collect()
    }
}

fn line(moved: &Moved, dry_run: bool, style: Style) -> String {
    const LONGEST: usize = 60;
    let title = super::text::shorten(&escape(moved.title.as_bytes()), LONGEST);
    let would = if dry_run { "would be " } else { "" };
    let done = paint::paint(done(moved.event), paint::of(moved.event.target()), style.color);
    let why = moved.reason.as_ref().map(|why| format!(" ({})", escape(why.as_bytes())));
    format!("{} {title}: {would}{done}{}\n", moved.job, why.unwrap_or_default())
}

/// What a person did, or had done, to a job.
const fn done(event: Event) -> &'static str {
    match event {
        Event::Release => "made ready",
        Event::Block => "made to wait",
        Event::Claim => "claimed",
        Event::Start => "started",
        Event::GiveBack => "given back",
        Event::Succeed | Event::ResolveSuccess => "settled as success",
        Event::Fail => "settled as failed",
        Event::Bury | Event::ResolveDead => "settled as dead",
        Event::Suspend | Event::Hold => "held",
        Event::Interrupt => "interrupted",
        Event::Postpone => "postponed",
        Event::Unhold => "released",
        Event::Rearm | Event::ResolveRetry | Event::Revive | Event::ReviveForced => "retried",
        Event::Cancel => "cancelled",
        Event::Skip => "skipped",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPE: Style = Style { color: false, width: None };

    fn moved(job: i64, event: Event, reason: Option<&str>) -> Moved {
        let title = "evil\nname".to_owned();
        Moved { job: JobId(job), title, event, reason: reason.map(str::to_owned) }
    }

    #[test]
    fn each_job_has_a_line_of_its_own() {
        let jobs = vec![
            moved(3, Event::Revive, None),
            moved(4, Event::Skip, Some("needs job 2, which is dead")),
        ];
        let want = "3 evil\\nname: retried\n4 evil\\nname: skipped (needs job 2, which is dead)\n";
        assert_eq!(MovedJobs::new(jobs, false).text(PIPE), want);
    }

    #[test]
    fn a_dry_run_says_what_would_be() {
        let view = MovedJobs::new(vec![moved(3, Event::Hold, None)], true);
        assert_eq!(view.text(PIPE), "3 evil\\nname: would be held\n");
        assert_eq!(view.items()[0]["dry_run"], true);
        assert_eq!(view.items()[0]["status"], "held");
    }
}
