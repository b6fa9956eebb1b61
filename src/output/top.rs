//! `ax top`: what goes on, on one screen.

use std::time::Duration;

use anstyle::Style as Paint;
use serde_json::{Value, json};

use super::running::{self, Row};
use super::screen::Size;
use super::table::{Column, Table};
use super::{Moment, Style, View, cells, json, paint, status, time};
use crate::escape::escape;
use crate::job::{JobId, State};
use crate::store::{Ended, Glance, Runner};

/// So many of each are shown below what runs, if there is room.
const FAILURES: usize = 5;
const STARTS: usize = 3;

/// What runs has at least so many lines, a blank and its header included.
const LEAST: usize = 6;

const HELP: &str = "q leaves · j k scroll · s sorts by ";

/// In which order what runs is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Who has run longest first.
    #[default]
    Time,
    /// By name.
    Name,
    /// By id.
    Id,
}

impl Sort {
    /// The order after this one.
    pub const fn next(self) -> Self {
        match self {
            Self::Time => Self::Name,
            Self::Name => Self::Id,
            Self::Id => Self::Time,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Name => "name",
            Self::Id => "id",
        }
    }

    /// Puts rows into this order.
    pub fn order(self, rows: &mut [Row]) {
        match self {
            Self::Time => rows.sort_by_key(|row| (std::cmp::Reverse(row.elapsed), row.job)),
            Self::Name => rows.sort_by(|one, two| {
                one.title.cmp(&two.title).then(one.job.cmp(&two.job))
            }),
            Self::Id => rows.sort_by_key(|row| row.job),
        }
    }
}

/// What goes on.
pub struct Top {
    /// The database.
    pub place: String,
    /// When this was so.
    pub moment: Moment,
    /// The runners that are alive.
    pub runners: Vec<Runner>,
    /// What runs, in the order in which it is shown.
    pub rows: Vec<Row>,
    /// The rest of it.
    pub glance: Glance,
    /// Within which time [`Glance::ended`] ended.
    pub lately: Duration,
    /// Why this is not newer.
    pub trouble: Option<String>,
}

impl Top {
    /// The lines of a screen, none wider and no more than it has. What runs is
    /// shown from row `first` on.
    pub fn lines(&self, size: Size, first: usize, sort: Sort, color: bool) -> Vec<String> {
        let style = Style { color, width: Some(size.columns) };
        let mut lines = self.head(style);
        let room = size.rows.saturating_sub(lines.len() + 1);
        let below = self.below(room, style);
        let room = room - below.len();
        lines.extend(self.running(first, room, style));
        lines.resize((size.rows.saturating_sub(1 + below.len())).max(lines.len()), String::new());
        lines.extend(below);
        let help = format!("{HELP}{}", sort.as_str());
        lines.push(paint::line(&[(help, paint::FAINT)], style));
        lines.truncate(size.rows);
        lines
    }

    fn head(&self, style: Style) -> Vec<String> {
        let title = [
            ("ax top ".to_owned(), paint::HEAD),
            (escape(self.place.as_bytes()), paint::FAINT),
            (format!("  {}", time::local(self.moment.now)), paint::FAINT),
        ];
        let mut lines = vec![paint::line(&title, style), paint::line(&self.at_work(), style)];
        let queue = running::queue(&self.glance.queue);
        if !queue.is_empty() {
            let queue = [vec![("queue: ".to_owned(), paint::FAINT)], paint::listed(queue)].concat();
            lines.push(paint::line(&queue, style));
        }
        if let Some(trouble) = &self.trouble {
            lines.push(paint::line(&[(escape(trouble.as_bytes()), paint::NOTABLE)], style));
        }
        lines
    }

    /// `1 runner, 4 workers, 3 running, 2.1/s ended`.
    fn at_work(&self) -> Vec<(String, Paint)> {
        let workers = self.runners.iter().map(|runner| runner.workers).sum();
        let mut pieces = if self.runners.is_empty() {
            vec![("no runner is alive; `ax run` starts one".to_owned(), paint::NOTABLE)]
        } else {
            let runners = status::counted(self.runners.len(), "runner");
            let workers = status::counted(workers, "worker");
            vec![(runners, paint::PLAIN), (workers, paint::PLAIN)]
        };
        pieces.push((format!("{} running", self.rows.len()), paint::of(State::Running)));
        let rate = rate(self.glance.ended, self.lately, self.moment);
        pieces.extend(rate.map(|rate| (format!("{rate} ended"), paint::PLAIN)));
        paint::listed(pieces)
    }

    /// What runs, after a blank line, in so many lines at most.
    fn running(&self, first: usize, room: usize, style: Style) -> Vec<String> {
        let Some(room) = room.checked_sub(2).filter(|room| *room > 0) else { return Vec::new() };
        let first = first.min(self.rows.len().saturating_sub(room));
        let rows = &self.rows[first..];
        let shown = if rows.len() > room { &rows[..room - 1] } else { rows };
        let mut lines = vec![String::new()];
        if shown.is_empty() && rows.is_empty() {
            lines.push(paint::line(&[("nothing runs".to_owned(), paint::FAINT)], style));
        }
        lines.extend(running::lines(shown, style));
        if rows.len() > shown.len() {
            let more = format!("and {} more", rows.len() - shown.len());
            lines.push(paint::line(&[(more, paint::FAINT)], style));
        }
        lines
    }

    /// What failed last and what starts next, each after a blank line, as far
    /// as there is room.
    fn below(&self, room: usize, style: Style) -> Vec<String> {
        let mut below: Vec<String> = Vec::new();
        for part in [self.failures(FAILURES, style), self.starts(STARTS, style)] {
            if !part.is_empty() && below.len() + 1 + part.len() + LEAST <= room {
                below.push(String::new());
                below.extend(part);
            }
        }
        below
    }

    fn failures(&self, most: usize, style: Style) -> Vec<String> {
        let mut table = Table::new(vec![
            Column::new("id").right(),
            Column::new("failed last").shrinking(),
            Column::new("status"),
            Column::new("when"),
            Column::new("error").shrinking(),
        ]);
        for job in self.glance.failures.iter().take(most) {
            table.row(vec![
                cells::id(job),
                cells::title(job),
                cells::state(job.state),
                cells::last_seen(job, self.moment),
                cells::error(job),
            ]);
        }
        table.lines(style)
    }

    fn starts(&self, most: usize, style: Style) -> Vec<String> {
        let mut table = Table::new(vec![Column::new("starts next").shrinking(), Column::new("when")]);
        for (name, at) in self.glance.starts.iter().take(most) {
            let when = time::short(*at, self.moment.now);
            table.row(vec![escape(name.as_bytes()).into(), when.into()]);
        }
        table.lines(style)
    }

    fn item(row: &Row) -> Value {
        json!({
            "id": row.job,
            "name": row.title,
            "runner": row.runner,
            "elapsed_s": json::seconds(row.elapsed),
            "usual_s": row.usual.map(json::seconds),
            "says": row.says,
        })
    }
}

/// How fast jobs end: of very many only the last are counted.
fn rate(ended: Ended, lately: Duration, moment: Moment) -> Option<String> {
    let counted = ended.first.map_or(Duration::ZERO, |first| moment.now.since(first));
    let span = if ended.count >= Ended::MOST { counted } else { lately };
    running::rate(ended.count, span)
}

impl View for Top {
    fn items(&self) -> Vec<Value> {
        self.rows.iter().map(Self::item).collect()
    }

    fn document(&self) -> Value {
        let queue = self.glance.queue;
        let start = |(name, at): &(String, _)| json!({"schedule": name, "at": json::at(Some(*at))});
        json!({
            "runners": self.runners.iter().map(status::runner_json).collect::<Value>(),
            "running": self.items(),
            "queue": {
                "ready": queue.ready, "limited": queue.limited, "claimed": queue.claimed,
                "scheduled": queue.scheduled, "failed": queue.failed, "waiting": queue.waiting,
                "held": queue.held, "dead": queue.dead,
            },
            "failures": self.glance.failures.iter()
                .map(|job| Value::from(json::job(job, self.moment))).collect::<Value>(),
            "starts": self.glance.starts.iter().map(start).collect::<Value>(),
        })
    }

    fn ids(&self) -> Vec<JobId> {
        self.rows.iter().map(|row| row.job).collect()
    }

    fn text(&self, style: Style) -> String {
        let parts = [
            self.head(style),
            self.running(0, usize::MAX, style),
            self.below(usize::MAX, style),
        ];
        parts.concat().into_iter().map(|line| line + "\n").collect()
    }
}
