//! `ax top`: what goes on, on one screen.

use super::runners::{self, Alive};
use std::time::Duration;

use anstyle::Style as Paint;
use serde_json::{Value, json};

use super::running::{self, Row};
use super::screen::Size;
use super::table::{Column, Table};
use super::text::counted;
use super::{Moment, Style, View, cells, json, paint, time};
use crate::escape::escape;
use crate::job::{JobId, State};
use crate::store::{Ended, Glance};

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
    #[must_use]
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
            Self::Name => {
                rows.sort_by(|one, two| one.title.cmp(&two.title).then(one.job.cmp(&two.job)));
            }
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
    pub runners: Vec<Alive>,
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
    /// shown from row `first` on, or from where a screen of them is left.
    pub fn lines(&self, size: Size, first: usize, sort: Sort, color: bool) -> Vec<String> {
        let style = Style { color, width: Some(size.columns) };
        let mut lines = self.head(style);
        let (below, room) = self.room(size, style);
        lines.extend(self.running(first, room, style));
        let free = size.rows.saturating_sub(1 + below.len());
        lines.resize(free.max(lines.len()), String::new());
        lines.extend(below);
        let help = format!("{HELP}{}", sort.as_str());
        lines.push(paint::line(&[(help, paint::FAINT)], style));
        lines.truncate(size.rows);
        lines
    }

    /// The last row that what runs can be shown from.
    pub fn last_first(&self, size: Size) -> usize {
        let (_, room) = self.room(size, Style { color: false, width: Some(size.columns) });
        self.rows.len().saturating_sub(rows_in(room))
    }

    /// What stands below what runs, and how many lines are left for that.
    fn room(&self, size: Size, style: Style) -> (Vec<String>, usize) {
        let room = size.rows.saturating_sub(self.head(style).len() + 1);
        let below = self.below(room, style);
        let room = room - below.len();
        (below, room)
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
        let workers = runners::workers(&self.runners);
        let mut pieces = if self.runners.is_empty() {
            vec![("no runner is alive; `ax run` starts one".to_owned(), paint::NOTABLE)]
        } else {
            let runners = counted(self.runners.len(), "runner");
            let workers = counted(workers, "worker");
            vec![(runners, paint::PLAIN), (workers, paint::PLAIN)]
        };
        let suspended = self.runners.iter().filter(|one| one.suspended).count();
        if suspended > 0 {
            pieces.push((format!("{suspended} suspended"), paint::NOTABLE));
        }
        pieces.push((format!("{} running", self.rows.len()), paint::of(State::Running)));
        let rate = rate(self.glance.ended, self.lately, self.moment);
        pieces.extend(rate.map(|rate| (format!("{rate} ended"), paint::PLAIN)));
        paint::listed(pieces)
    }

    /// What runs, after a blank line, in so many lines at most.
    fn running(&self, first: usize, room: usize, style: Style) -> Vec<String> {
        let room = rows_in(room);
        if room == 0 {
            return Vec::new();
        }
        let mut lines = vec![String::new()];
        if self.rows.is_empty() {
            lines.push(paint::line(&[("nothing runs".to_owned(), paint::FAINT)], style));
        }
        let rows = &self.rows[first.min(self.rows.len().saturating_sub(room))..];
        let shown = if rows.len() > room { &rows[..room - 1] } else { rows };
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
            Column::new("status").spared(1),
            Column::new("when").spared(0),
            Column::new("error").to_read(),
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
        let mut table =
            Table::new(vec![Column::new("starts next").shrinking(), Column::new("when")]);
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

/// How many rows fit into so many lines, below a blank one and the header.
const fn rows_in(lines: usize) -> usize {
    lines.saturating_sub(2)
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
            "runners": self.runners.iter().map(Alive::json).collect::<Value>(),
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
        let parts =
            [self.head(style), self.running(0, usize::MAX, style), self.below(usize::MAX, style)];
        parts.concat().into_iter().map(|line| line + "\n").collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Job, RunnerId};
    use crate::output::example::{self, MOMENT, after};
    use crate::store::Queue;
    use crate::store::Runner;

    fn row(id: i64, title: &str, elapsed: u64, usual: Option<u64>, says: &str) -> Row {
        Row {
            job: JobId(id),
            title: title.to_owned(),
            runner: Some(RunnerId(3)),
            elapsed: Duration::from_secs(elapsed),
            usual: usual.map(Duration::from_secs),
            says: Some(says.to_owned()).filter(|says| !says.is_empty()),
        }
    }

    fn busy() -> Top {
        let runner = Runner {
            id: RunnerId(3),
            pid: 812,
            start_time: 1,
            boot_id: "x".to_owned(),
            workers: 4,
            started_at: after(-7_200),
        };
        let dead = Job {
            state: State::Dead,
            name: Some("report".to_owned()),
            finished_at: Some(after(-90)),
            last_error: Some("no space left on device".to_owned()),
            ..example::job(4)
        };
        Top {
            place: "/home/ann/.local/share/ax/ax.db".to_owned(),
            moment: MOMENT,
            runners: vec![Alive { runner, suspended: false }],
            rows: vec![
                row(7, "fetch", 69, Some(30), "page 12 of 40"),
                row(8, "日本語 🎉\x1b[2J", 50, Some(90), "40% copied 4 of 10"),
                row(12, "sleep 3", 2, None, ""),
            ],
            glance: Glance {
                running: Vec::new(),
                queue: Queue { ready: 12, claimed: 4, waiting: 3, dead: 1, ..Queue::default() },
                failures: vec![dead],
                ended: Ended { count: 126, first: Some(after(-59)) },
                starts: vec![("nightly".to_owned(), after(1_800))],
            },
            lately: Duration::from_mins(1),
            trouble: None,
        }
    }

    /// A screen without what is of its day.
    fn screen(rows: usize, columns: usize) -> String {
        let lines = busy().lines(Size { rows, columns }, 0, Sort::Time, false);
        lines[1..].join("\n")
    }

    #[test]
    fn a_screen_of_eighty_columns_shows_all_of_it() {
        insta::assert_snapshot!(screen(18, 80), @r"
        1 runner, 4 workers, 3 running, 2.1/s ended
        queue: 12 ready, 4 claimed, 3 waiting for others, 1 dead

        ID  NAME              RUNNER    FOR  USUAL  SAYS
         7  fetch                  3  1m09s    30s  page 12 of 40
         8  日本語 🎉\x1b[2J       3    50s  1m30s  40% copied 4 of 10
        12  sleep 3                3   2.0s      -




        ID  FAILED LAST  STATUS  WHEN       ERROR
         4  report       dead    1m30s ago  no space left on device

        STARTS NEXT  WHEN
        nightly      in 30m00s
        q leaves · j k scroll · s sorts by time
        ");
    }

    #[test]
    fn a_screen_of_forty_columns_shows_what_matters_most() {
        insta::assert_snapshot!(screen(18, 40), @r"
        1 runner, 4 workers, 3 running, 2.1/s e…
        queue: 12 ready, 4 claimed, 3 waiting f…

        ID  NAME              FOR  SAYS
         7  fetch           1m09s  page 12 of 40
         8  日本語 🎉\x1b…    50s  40% copied 4…
        12  sleep 3          2.0s




        ID  FAILED LAST  ERROR
         4  report       no space left on device

        STARTS NEXT  WHEN
        nightly      in 30m00s
        q leaves · j k scroll · s sorts by time
        ");
    }

    #[test]
    fn a_screen_of_a_hundred_and_sixty_columns_shortens_nothing() {
        insta::assert_snapshot!(screen(18, 160), @r"
        1 runner, 4 workers, 3 running, 2.1/s ended
        queue: 12 ready, 4 claimed, 3 waiting for others, 1 dead

        ID  NAME              RUNNER    FOR  USUAL  SAYS
         7  fetch                  3  1m09s    30s  page 12 of 40
         8  日本語 🎉\x1b[2J       3    50s  1m30s  40% copied 4 of 10
        12  sleep 3                3   2.0s      -




        ID  FAILED LAST  STATUS  WHEN       ERROR
         4  report       dead    1m30s ago  no space left on device

        STARTS NEXT  WHEN
        nightly      in 30m00s
        q leaves · j k scroll · s sorts by time
        ");
    }

    #[test]
    fn no_screen_is_too_small() {
        for rows in 1..30 {
            for columns in [1, 2, 5, 9, 20, 40, 80] {
                let lines = busy().lines(Size { rows, columns }, 0, Sort::Time, false);
                assert_eq!(lines.len(), rows, "{lines:?}");
                let wide = |line: &&String| crate::output::text::width(line) > columns;
                assert_eq!(lines.iter().find(wide), None, "{columns}");
            }
        }
    }

    #[test]
    fn of_many_that_run_a_screen_is_shown_from_any_row_on() {
        let rows = (1..=100).map(|id| row(id, &format!("job {id}"), 9, None, "")).collect();
        let top = Top { rows, ..busy() };
        let size = Size { rows: 24, columns: 80 };
        let shown = |first| top.lines(size, first, Sort::Id, false).join("\n");
        assert!(shown(0).contains("job 1 ") && shown(0).contains("and 89 more"), "{}", shown(0));
        assert!(shown(50).contains("job 51 "), "{}", shown(50));
        let last = top.last_first(size);
        assert_eq!(shown(last), shown(usize::MAX));
        assert!(
            shown(last).contains("job 100 ") && !shown(last).contains("more"),
            "{}",
            shown(last)
        );
    }

    #[test]
    fn what_cannot_be_read_is_told_above_what_was_so() {
        let top = Top { trouble: Some("ax.db has been busy for 30 s".to_owned()), ..busy() };
        let lines = top.lines(Size { rows: 24, columns: 80 }, 0, Sort::Time, false);
        assert_eq!(lines[3], "ax.db has been busy for 30 s");
    }

    #[test]
    fn rows_are_sorted_by_time_name_or_id() {
        let ids = |sort: Sort| {
            let mut rows = busy().rows;
            sort.order(&mut rows);
            rows.iter().map(|row| row.job.0).collect::<Vec<_>>()
        };
        assert_eq!(ids(Sort::Time), [7, 8, 12]);
        assert_eq!(ids(Sort::Time.next()), [7, 12, 8]);
        assert_eq!(ids(Sort::Time.next().next()), [7, 8, 12]);
        assert_eq!(Sort::Id.next(), Sort::Time);
    }

    #[test]
    fn in_a_pipe_it_is_told_once_and_without_keys() {
        let text = busy().text(Style { color: false, width: None });
        assert!(text.contains("\n 7  fetch") && text.contains("nightly"), "{text}");
        assert!(!text.contains("leaves") && text.ends_with('\n'), "{text}");
    }

    #[test]
    fn scripts_get_numbers() {
        let document = busy().document();
        assert_eq!(document["running"][0]["usual_s"], 30.0);
        assert_eq!(document["queue"]["ready"], 12);
        assert_eq!(document["failures"][0]["id"], 4);
        assert_eq!(document["starts"][0]["schedule"], "nightly");
        assert_eq!(document["runners"][0]["pid"], 812);
    }
}
