//! What runs and what waits, as the live views show it.

use std::time::Duration;

use anstyle::Style as Paint;

use super::table::{Cell, Column, Table};
use super::{Style, cells, paint, time};
use crate::escape::escape;
use crate::job::{JobId, RunnerId, State};
use crate::store::Queue;

/// A job that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which one.
    pub job: JobId,
    /// What people call it.
    pub title: String,
    /// Whose it is, where there may be several.
    pub runner: Option<RunnerId>,
    /// How long it has been running.
    pub elapsed: Duration,
    /// How long it usually does.
    pub usual: Option<Duration>,
    /// What it said last.
    pub says: Option<String>,
}

/// Jobs that run as lines that fit; none without jobs.
pub fn lines(rows: &[Row], style: Style) -> Vec<String> {
    let has_runner = rows.iter().any(|row| row.runner.is_some());
    let mut columns = vec![Column::new("id").right(), Column::new("name").shrinking()];
    if has_runner {
        columns.push(Column::new("runner").right().spared(0));
    }
    columns.extend([
        Column::new("for").right(),
        Column::new("usual").right().spared(1),
        Column::new("says").shrinking(),
    ]);
    let mut table = Table::new(columns);
    for row in rows {
        let mut line = vec![row.job.to_string().into(), escape(row.title.as_bytes()).into()];
        if has_runner {
            line.push(row.runner.map_or(cells::NOTHING.to_owned(), |id| id.to_string()).into());
        }
        line.extend([elapsed(row), usual(row), says(row)]);
        table.row(line);
    }
    table.lines(style)
}

/// What takes more than twice its usual time deserves a second look.
fn elapsed(row: &Row) -> Cell {
    const SOON: Duration = Duration::from_secs(5);
    let is_late = row.usual.is_some_and(|usual| row.elapsed > usual.saturating_mul(2).max(SOON));
    let paint = if is_late { paint::NOTABLE } else { paint::PLAIN };
    Cell::painted(time::took(row.elapsed), paint)
}

fn usual(row: &Row) -> Cell {
    match row.usual {
        Some(usual) => Cell::painted(time::took(usual), paint::FAINT),
        None => Cell::painted(cells::NOTHING, paint::FAINT),
    }
}

fn says(row: &Row) -> Cell {
    escape(row.says.as_deref().unwrap_or_default().as_bytes()).into()
}

/// Words in colours, one after the other.
pub type Pieces = Vec<(String, Paint)>;

/// What does not run, by where it stands; nothing where there is none.
pub fn queue(queue: &Queue) -> Pieces {
    let all = [
        (queue.ready, "ready", paint::of(State::Ready)),
        (queue.limited, "behind limits", paint::of(State::Ready)),
        (queue.claimed, "claimed", paint::of(State::Dispatched)),
        (queue.scheduled, "scheduled", paint::PLAIN),
        (queue.failed, "to try again", paint::of(State::Failed)),
        (queue.waiting, "waiting for others", paint::PLAIN),
        (queue.held, "held", paint::of(State::Held)),
        (queue.dead, "dead", paint::of(State::Dead)),
    ];
    let there = all.into_iter().filter(|(count, ..)| *count > 0);
    there.map(|(count, what, paint)| (format!("{} {what}", many(count)), paint)).collect()
}

/// A number that is counted no further than [`Queue::MOST`].
fn many(count: u64) -> String {
    if count >= Queue::MOST { format!("{}+", Queue::MOST) } else { count.to_string() }
}

/// How fast something happens: `12/s`, `3.4/s`, `18/min`; nothing if it does not.
pub fn rate(count: u64, span: Duration) -> Option<String> {
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX).max(1);
    let tenths = count.saturating_mul(10_000) / millis;
    match tenths {
        _ if count == 0 => None,
        100.. => Some(format!("{}/s", tenths / 10)),
        10..100 => Some(format!("{}.{}/s", tenths / 10, tenths % 10)),
        0..10 => Some(format!("{}/min", (count.saturating_mul(60_000) / millis).max(1))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_told_by_the_second_or_by_the_minute() {
        let of = |count, seconds| rate(count, Duration::from_secs(seconds));
        assert_eq!(of(0, 10), None);
        assert_eq!(of(5, 10).as_deref(), Some("30/min"));
        assert_eq!(of(34, 10).as_deref(), Some("3.4/s"));
        assert_eq!(of(20_000, 10).as_deref(), Some("2000/s"));
        assert_eq!(of(1, 3_600).as_deref(), Some("1/min"));
        assert_eq!(of(7, 0).as_deref(), Some("7000/s"));
    }

    #[test]
    fn where_nothing_stands_nothing_is_said_and_many_are_many() {
        assert_eq!(queue(&Queue::default()), []);
        let some = Queue { ready: Queue::MOST, held: 1, ..Queue::default() };
        let texts: Vec<_> = queue(&some).into_iter().map(|(text, _)| text).collect();
        assert_eq!(texts, ["10000+ ready", "1 held"]);
    }
}
