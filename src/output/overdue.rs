//! `ax overdue`: what is due, since when, and what it waits for.

use crate::job::phase::Runners;
use serde_json::{Value, json};

use super::table::{Cell, Column, Table};
use super::{Moment, Style, View, cells, json, time};
use crate::escape::escape;
use crate::job::phase::Phase;
use crate::job::{Job, JobId, State, Timestamp};

/// The fields of a job that is overdue, in order.
const FIELDS: [&str; 8] =
    ["id", "name", "status", "group", "schedule", "due_at", "late_s", "reason"];

/// A job that is due and has not been started.
pub struct Late {
    /// The job.
    pub job: Job,
    /// Since when it could run.
    pub since: Timestamp,
}

impl Late {
    /// What it waits for.
    fn why(&self, moment: Moment) -> String {
        let why = match moment.phase(&self.job) {
            Phase::NoRunner => "no runner is alive".to_owned(),
            Phase::Claimed if moment.runners == Runners::None => {
                "the runner that claimed it is gone".to_owned()
            }
            phase => {
                let sentence = phase.sentence(|at| time::short(at, moment.now));
                sentence.strip_prefix("it ").unwrap_or(&sentence).to_owned()
            }
        };
        match &self.job.schedule {
            Some(schedule) => format!("{why} (schedule {schedule})"),
            None => why,
        }
    }

    fn row(&self, moment: Moment) -> Vec<Cell> {
        vec![
            cells::id(&self.job),
            cells::title(&self.job),
            cells::state(self.job.state),
            time::short(self.since, moment.now).into(),
            escape(self.why(moment).as_bytes()).into(),
        ]
    }

    fn item(&self, moment: Moment) -> Value {
        json!({
            "id": self.job.id,
            "name": self.job.title(),
            "status": self.job.state,
            "group": self.job.group,
            "schedule": self.job.schedule,
            "due_at": json::at(Some(self.since)),
            "late_s": json::seconds(moment.now.since(self.since)),
            "reason": self.why(moment),
        })
    }
}

/// What is due and has not been started.
pub struct LateJobs {
    /// The jobs, the latest first.
    pub late: Vec<Late>,
    /// How many more there are.
    pub more: usize,
    /// When this was so.
    pub moment: Moment,
}

impl LateJobs {
    /// What to type, where one thing is the matter with all of them.
    fn hint(&self) -> Option<&'static str> {
        let claimed = self.late.iter().all(|late| late.job.state == State::Dispatched);
        match self.moment.runners {
            _ if self.late.is_empty() => None,
            Runners::None if claimed => Some("`ax recover` or the next `ax run` takes them back"),
            Runners::None => Some("no runner is alive; `ax run` starts one"),
            Runners::Suspended => {
                Some("every runner is suspended; `ax status` tells how one goes on")
            }
            Runners::Working => None,
        }
    }
}

impl View for LateJobs {
    fn items(&self) -> Vec<Value> {
        self.late.iter().map(|late| late.item(self.moment)).collect()
    }

    fn fields(&self) -> Vec<String> {
        json::names(&FIELDS)
    }

    fn ids(&self) -> Vec<JobId> {
        self.late.iter().map(|late| late.job.id).collect()
    }

    /// Nothing in a pipe if there is nothing: who reads it gets mail of a fault only.
    fn text(&self, style: Style) -> String {
        let mut table = Table::new(vec![
            Column::new("id").right(),
            Column::new("name").shrinking(),
            Column::new("status").spared(1),
            Column::new("due"),
            Column::new("why").to_read(),
        ]);
        for late in &self.late {
            table.row(late.row(self.moment));
        }
        let mut text = table.render(style);
        if self.more > 0 {
            text.push_str(&format!("and {} more\n", self.more));
        }
        if let Some(hint) = self.hint() {
            text.push_str(&format!("{hint}\n"));
        }
        if text.is_empty() && style.width.is_some() {
            text.push_str("nothing is overdue\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::phase::Blocked;
    use crate::output::example::{self, MOMENT, after};

    const PIPE: Style = Style { color: false, width: None };

    fn late(job: Job, seconds: i64) -> Late {
        Late { job, since: after(-seconds) }
    }

    fn some() -> Vec<Late> {
        let start = Job { schedule: Some("nightly".to_owned()), ..example::job(7) };
        let blocked = Some(Blocked::Paused { group: "encode".to_owned() });
        let paused = Job { state: State::Ready, blocked, ..example::job(8) };
        let claimed = Job { state: State::Dispatched, ..example::job(9) };
        vec![late(start, 7_200), late(paused, 3_600), late(claimed, 600)]
    }

    #[test]
    fn what_is_overdue_has_its_reason() {
        let want = "
ID  NAME   STATUS      DUE         WHY
 7  job 7  pending     2h00m ago   waits for a free worker (schedule nightly)
 8  job 8  ready       1h00m ago   waits for group encode, which is paused; `ax group resume` lets it go on
 9  job 9  dispatched  10m00s ago  a runner has claimed it and starts it when a worker is free
";
        let jobs = LateJobs { late: some(), more: 0, moment: MOMENT };
        assert_eq!(jobs.text(PIPE), want[1..]);
    }

    #[test]
    fn where_no_runner_lives_that_is_the_reason() {
        let want = "
ID  NAME   STATUS      DUE         WHY
 7  job 7  pending     2h00m ago   no runner is alive (schedule nightly)
 8  job 8  ready       1h00m ago   waits for group encode, which is paused; `ax group resume` lets it go on
 9  job 9  dispatched  10m00s ago  the runner that claimed it is gone
and 4 more
no runner is alive; `ax run` starts one
";
        let moment = Moment { runners: Runners::None, ..MOMENT };
        assert_eq!(LateJobs { late: some(), more: 4, moment }.text(PIPE), want[1..]);
    }

    #[test]
    fn where_nothing_is_overdue_only_a_terminal_is_told_so() {
        let none = LateJobs { late: Vec::new(), more: 0, moment: MOMENT };
        assert_eq!(none.text(PIPE), "");
        let terminal = Style { color: false, width: Some(80) };
        assert_eq!(none.text(terminal), "nothing is overdue\n");
    }

    #[test]
    fn scripts_get_the_fields_that_are_promised() {
        let items = LateJobs { late: some(), more: 0, moment: MOMENT }.items();
        assert!(items.iter().all(|item| item.as_object().expect("an object").keys().eq(FIELDS)));
        assert_eq!(items[0]["late_s"], 7_200);
        assert_eq!(items[1]["group"], Value::Null);
    }
}
