//! `ax status`: the whole queue on one screen.

use super::runners::{self, Alive};
use serde_json::{Map, Value, json};

use super::table::{Column, Table, labelled};
use super::text::counted;
use super::{Moment, Style, View, json, paint, time};
use crate::escape::escape;
use crate::job::{JobId, State, Timestamp};
use crate::store::Counts;

/// A job, or several of one name, that failed today.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedToday {
    /// The name, or the command of jobs that have none.
    pub title: String,
    /// How many of them failed.
    pub times: usize,
    /// The last error.
    pub error: String,
}

/// A schedule, and when it starts next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coming {
    /// Its name.
    pub schedule: String,
    /// When; `None` while it is paused.
    pub next: Option<Timestamp>,
}

/// The state of the whole queue.
pub struct Status {
    /// How many jobs are in each state.
    pub counts: Counts,
    /// The runners that are alive.
    pub runners: Vec<Alive>,
    /// The schedules, the next to start first and those that are paused last.
    pub schedules: Vec<Coming>,
    /// The groups that are paused.
    pub paused_groups: Vec<String>,
    /// What failed today, the most frequent first.
    pub failures: Vec<FailedToday>,
    /// Among the last how many of each state, where there are more.
    pub among: Option<usize>,
    /// How many of these are shown to people.
    pub most: usize,
    /// When this was so.
    pub moment: Moment,
}

impl Status {
    /// Tells whether there is nothing to tell of.
    pub fn is_empty(&self) -> bool {
        self.counts == Counts::default() && self.runners.is_empty() && self.schedules.is_empty()
    }

    fn count(&self, state: State) -> u64 {
        let pairs = State::ALL.into_iter().zip(self.counts);
        pairs.filter(|(other, _)| *other == state).map(|(_, count)| count).sum()
    }

    fn jobs_line(&self, style: Style) -> String {
        let counted = State::ALL.into_iter().zip(self.counts).filter(|(_, count)| *count > 0);
        let texts: Vec<_> = counted
            .map(|(state, count)| {
                format!("{count} {}", paint::paint(state.as_str(), paint::of(state), style.color))
            })
            .collect();
        if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
    }

    fn runners_line(&self) -> String {
        if self.runners.is_empty() {
            return "none is alive; `ax run` starts one".to_owned();
        }
        let texts: Vec<_> = self.runners.iter().map(|one| one.text(self.moment.now)).collect();
        texts.join(", ")
    }

    fn queue_line(&self) -> String {
        let (ready, claimed) = (self.count(State::Ready), self.count(State::Dispatched));
        let running = self.count(State::Running);
        let workers = counted(runners::workers(&self.runners), "worker");
        format!("{ready} ready, {claimed} claimed, {running} running; {workers} alive")
    }

    /// The next starts: `nightly in 3h12m, backup in 5h00m, 2 more; paused: old`.
    fn schedules_line(&self) -> Option<String> {
        const SHOWN: usize = 3;
        let name = |coming: &Coming| escape(coming.schedule.as_bytes());
        let (open, paused): (Vec<_>, Vec<_>) =
            self.schedules.iter().partition(|coming| coming.next.is_some());
        let next = |coming: &&Coming| {
            let due = coming.next.map(|due| time::short(due, self.moment.now));
            format!("{} {}", name(coming), due.unwrap_or_default())
        };
        let starts = listed(open.iter().map(next), SHOWN);
        let paused = listed(paused.iter().map(|coming| name(coming)), SHOWN);
        let paused = paused.map(|paused| format!("paused: {paused}"));
        let parts: Vec<_> = starts.into_iter().chain(paused).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn paused_line(&self) -> Option<String> {
        const SHOWN: usize = 5;
        let names = self.paused_groups.iter().map(|group| escape(group.as_bytes()));
        let names = listed(names, SHOWN)?;
        Some(format!("{names}; `ax group resume` lets them go on"))
    }

    fn failures_text(&self, style: Style) -> String {
        let mut table = Table::new(vec![
            Column::new("times").right(),
            Column::new("failed today").shrinking(),
            Column::new("last error").shrinking(),
        ]);
        for failed in self.failures.iter().take(self.most) {
            table.row(vec![
                failed.times.to_string().into(),
                escape(failed.title.as_bytes()).into(),
                escape(failed.error.as_bytes()).into(),
            ]);
        }
        let more = self.failures.len().saturating_sub(self.most);
        let mut text = table.render(style);
        if more > 0 {
            text.push_str(&format!("and {more} more; `ax failures` tells of how many causes\n"));
        }
        if let Some(last) = self.among.filter(|_| !self.failures.is_empty()) {
            text.push_str(&format!(
                "among the last {last} that are dead, failed and held; `ax failures` looks at all\n"
            ));
        }
        text
    }
}

/// The first so many, and how many more there are; `None` of none.
fn listed(texts: impl Iterator<Item = String>, most: usize) -> Option<String> {
    let all: Vec<_> = texts.collect();
    let more = all.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("{more} more"));
    let shown: Vec<_> = all.into_iter().take(most).chain(more).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

impl View for Status {
    fn items(&self) -> Vec<Value> {
        let pairs = State::ALL.into_iter().zip(self.counts);
        pairs.map(|(state, count)| json!({"status": state, "count": count})).collect()
    }

    fn document(&self) -> Value {
        let pairs = State::ALL.into_iter().zip(self.counts);
        let counts: Map<_, _> =
            pairs.map(|(state, count)| (state.as_str().to_owned(), count.into())).collect();
        let failed = |failed: &FailedToday| json!({"name": failed.title, "times": failed.times, "last_error": failed.error});
        json!({
            "counts": counts,
            "queue_depth": self.count(State::Ready) + self.count(State::Dispatched),
            "workers": runners::workers(&self.runners),
            "runners": self.runners.iter().map(Alive::json).collect::<Value>(),
            "schedules": self.schedules.iter().map(|coming| json!({
                "name": coming.schedule,
                "paused": coming.next.is_none(),
                "next_at": json::at(coming.next),
            })).collect::<Value>(),
            "paused_groups": self.paused_groups,
            "failed_today_among_last": self.among,
            "failed_today": self.failures.iter().map(failed).collect::<Value>(),
        })
    }

    fn ids(&self) -> Vec<JobId> {
        Vec::new()
    }

    fn text(&self, style: Style) -> String {
        let mut lines = vec![
            ("jobs", self.jobs_line(style)),
            ("runners", self.runners_line()),
            ("queue", self.queue_line()),
        ];
        lines.extend(self.schedules_line().map(|line| ("schedules", line)));
        lines.extend(self.paused_line().map(|line| ("paused groups", line)));
        if self.count(State::Held) > 0 {
            let asks = format!("{} held; `ax list --failed` says why", self.count(State::Held));
            lines.push(("waiting for you", asks));
        }
        let text = labelled(&lines, style);
        let failures = self.failures_text(style);
        if failures.is_empty() { text } else { format!("{text}\n{failures}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::RunnerId;
    use crate::output::example::{MOMENT, after};
    use crate::store::Runner;

    const PIPE: Style = Style { color: false, width: None };

    fn busy() -> Status {
        let runner = Runner {
            id: RunnerId(3),
            pid: 812,
            start_time: 1,
            boot_id: "x".to_owned(),
            workers: 4,
            started_at: after(-7_200),
        };
        let failed =
            FailedToday { title: "backup".to_owned(), times: 3, error: "no space left".to_owned() };
        Status {
            counts: [5, 1, 2, 4, 120, 0, 3, 1, 0, 0],
            runners: vec![Alive { runner, suspended: false }],
            schedules: Vec::new(),
            paused_groups: Vec::new(),
            failures: vec![failed],
            among: None,
            most: 10,
            moment: MOMENT,
        }
    }

    #[test]
    fn a_busy_queue_fits_on_one_screen() {
        let want = "
jobs:            5 pending, 1 ready, 2 dispatched, 4 running, 120 success, 3 dead, 1 held
runners:         3 (pid 812, 4 workers, for 2h00m)
queue:           1 ready, 2 claimed, 4 running; 4 workers alive
waiting for you: 1 held; `ax list --failed` says why

TIMES  FAILED TODAY  LAST ERROR
    3  backup        no space left
";
        assert_eq!(busy().text(PIPE), want[1..]);
    }

    #[test]
    fn the_next_starts_and_what_is_paused_are_a_line_each() {
        let coming = |name: &str, next| Coming { schedule: name.to_owned(), next };
        let mut status = busy();
        status.schedules = vec![
            coming("a", Some(after(60))),
            coming("b", Some(after(7_200))),
            coming("c", Some(after(7_201))),
            coming("d", Some(after(7_202))),
            coming("old", None),
        ];
        status.paused_groups = vec!["encode".to_owned()];
        let want = "
schedules:       a in 1m00s, b in 2h00m, c in 2h00m, 1 more; paused: old
paused groups:   encode; `ax group resume` lets them go on
waiting for you:";
        let text = status.text(PIPE);
        assert!(text.contains(want), "{text}");
        let document = status.document();
        assert_eq!(document["schedules"][0]["next_at"], "2026-12-01T02:01:00.000Z");
        assert_eq!(document["schedules"][4]["paused"], true);
        assert_eq!(document["paused_groups"][0], "encode");
    }

    #[test]
    fn where_not_all_were_looked_at_it_says_so() {
        let status = Status { among: Some(1_000), ..busy() };
        let text = status.text(PIPE);
        let end =
            "\namong the last 1000 that are dead, failed and held; `ax failures` looks at all\n";
        assert!(text.ends_with(end), "{text}");
        assert_eq!(status.document()["failed_today_among_last"], 1_000);
        assert_eq!(busy().document()["failed_today_among_last"], Value::Null);
        let none = Status { among: Some(1_000), failures: Vec::new(), ..busy() };
        assert!(!none.text(PIPE).contains("among"), "nothing is told of nothing");
    }

    #[test]
    fn more_failures_than_are_shown_are_counted() {
        let mut status = Status { most: 1, ..busy() };
        status.failures.push(status.failures[0].clone());
        let text = status.text(PIPE);
        assert!(text.ends_with("\nand 1 more; `ax failures` tells of how many causes\n"), "{text}");
    }

    #[test]
    fn one_worker_is_not_many() {
        let mut status = busy();
        status.runners[0].runner.workers = 1;
        let text = status.text(PIPE);
        assert!(text.contains("(pid 812, 1 worker, for") && text.contains("; 1 worker alive"));
    }

    #[test]
    fn an_empty_queue_says_how_to_start() {
        let status =
            Status { counts: [0; 10], runners: Vec::new(), failures: Vec::new(), ..busy() };
        let want = "
jobs:    none
runners: none is alive; `ax run` starts one
queue:   0 ready, 0 claimed, 0 running; 0 workers alive
";
        assert_eq!(status.text(PIPE), want[1..]);
    }

    #[test]
    fn scripts_get_every_state_also_at_zero() {
        let document = busy().document();
        assert_eq!(document["counts"]["skipped"], 0);
        assert_eq!(document["counts"]["success"], 120);
        assert_eq!(document["queue_depth"], 3);
        assert_eq!(document["runners"][0]["pid"], 812);
        assert_eq!(document["failed_today"][0]["times"], 3);
    }
}
