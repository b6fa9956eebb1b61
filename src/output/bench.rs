//! What `ax bench` measured.

use std::time::Duration;

use serde_json::{Value, json};

use super::table::{Column, Table, labelled};
use super::text::counted;
use super::{Style, View};
use crate::bench::{Bound, Figure, Quantiles, Report};
use crate::job::JobId;
use crate::sched::AHEAD;

/// The share of the limit from which on nothing but the limit counts.
const NEAR: f64 = 0.8;

impl Report {
    fn figures_text(&self, style: Style) -> String {
        let mut table = Table::new(vec![
            Column::new("figure"),
            Column::new("p50").right(),
            Column::new("p99").right(),
            Column::new("bare p50").right(),
            Column::new("ratio").right(),
            Column::new("per s").right(),
            Column::new("of"),
        ]);
        for figure in &self.figures {
            table.row(vec![
                figure.name.into(),
                short(figure.took.p50).into(),
                short(figure.took.p99).into(),
                short(figure.limit.p50).into(),
                format!("{:.2}", figure.ratio()).into(),
                format!("{:.0}", figure.per_second()).into(),
                figure.what.into(),
            ]);
        }
        table.render(style)
    }

    fn drain_line(&self) -> String {
        let Some(drain) = self.figures.first() else { return String::new() };
        let share = Duration::as_secs_f64(&self.sync.p50) / count(AHEAD * self.workers);
        let (start, sync) = (short(drain.limit.p50), short(Duration::from_secs_f64(share)));
        let bound = match self.drain_bound {
            Bound::Spawn if drain.ratio() >= NEAR => "starting processes, and little else",
            Bound::Spawn => "starting processes, then ax itself",
            Bound::Sync => "the disk",
        };
        format!("{bound} (a job takes {start} to start, and {sync} of a sync that it shares)")
    }

    fn add_line(&self) -> String {
        let Some(add) = self.figures.iter().find(|figure| figure.name == "add") else {
            return String::new();
        };
        let given = add.limit.p50 + self.sync.p50;
        let bound = if given < add.took.p50 / 2 {
            "ax itself"
        } else {
            match self.add_bound {
                Bound::Spawn => "starting a process",
                Bound::Sync => "the disk",
            }
        };
        let (start, sync) = (short(add.limit.p50), short(self.sync.p50));
        format!("{bound} (of {}, a process takes {start} and a sync {sync})", short(add.took.p50))
    }

    fn settings(&self) -> String {
        let queue = self.suggested_queue().map(|size| format!(" --queue-size {size}"));
        format!("ax run --workers {}{}", self.suggested_workers(), queue.unwrap_or_default())
    }

    fn tried_line(&self) -> String {
        let tried = self.tried.iter();
        let texts = tried.map(|one| format!("{} drain {:.0} jobs/s", one.workers, one.per_second));
        texts.collect::<Vec<_>>().join(", ")
    }
}

impl View for Report {
    fn items(&self) -> Vec<Value> {
        self.figures.iter().map(figure_json).collect()
    }

    fn document(&self) -> Value {
        let tried = self.tried.iter();
        let tried = tried.map(|one| json!({"workers": one.workers, "per_s": one.per_second}));
        json!({
            "cores": self.cores,
            "jobs": self.jobs,
            "workers": self.workers,
            "rounds": self.rounds,
            "figures": self.items(),
            "fsync_p50_ms": millis(self.sync.p50),
            "fsync_p99_ms": millis(self.sync.p99),
            "bound": {"drain": self.drain_bound.as_str(), "add": self.add_bound.as_str()},
            "tried": tried.collect::<Value>(),
            "suggested": {
                "workers": self.suggested_workers(),
                "queue_size": self.suggested_queue(),
            },
        })
    }

    fn ids(&self) -> Vec<JobId> {
        Vec::new()
    }

    fn text(&self, style: Style) -> String {
        let Report { cores, jobs, workers, rounds, sync: Quantiles { p50, p99 }, .. } = self;
        let measured = [
            format!("{rounds} × {}", counted(*jobs, "job")),
            counted(*workers, "worker"),
            counted(*cores, "core"),
        ]
        .join(", ");
        let lines = [
            ("measured", measured),
            ("a sync", format!("{} (p99 {})", short(*p50), short(*p99))),
            ("drain bound by", self.drain_line()),
            ("add bound by", self.add_line()),
            ("workers", self.tried_line()),
            ("suggested", self.settings()),
        ];
        format!("{}\n{}", self.figures_text(style), labelled(&lines, style))
    }

    fn table(&self, style: Style) -> String {
        self.figures_text(style)
    }
}

fn figure_json(figure: &Figure) -> Value {
    json!({
        "name": figure.name,
        "what": figure.what,
        "samples": figure.samples,
        "p50_ms": millis(figure.took.p50),
        "p99_ms": millis(figure.took.p99),
        "bare_p50_ms": millis(figure.limit.p50),
        "bare_p99_ms": millis(figure.limit.p99),
        "ratio": figure.ratio(),
        "per_s": figure.per_second(),
    })
}

fn millis(length: Duration) -> f64 {
    length.as_secs_f64() * 1e3
}

fn count(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Three digits that count: `412µs`, `1.86ms`, `14.2ms`.
fn short(length: Duration) -> String {
    match length.as_nanos() {
        0..10_000 => format!("{:.1}µs", length.as_secs_f64() * 1e6),
        10_000..1_000_000 => format!("{:.0}µs", length.as_secs_f64() * 1e6),
        1_000_000..10_000_000 => format!("{:.2}ms", millis(length)),
        10_000_000..1_000_000_000 => format!("{:.1}ms", millis(length)),
        _ => format!("{:.2}s", length.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Tried;

    const PIPE: Style = Style { color: false, width: None };

    fn report() -> Report {
        let micros = |times: [u64; 2]| times.map(Duration::from_micros).to_vec();
        let drain = Figure::new("drain", "a job", micros([500, 520]), micros([400, 410]));
        let add = Figure::new("add", "a call", micros([2_000, 2_400]), micros([600, 610]));
        Report {
            cores: 2,
            jobs: 1_000,
            workers: 4,
            rounds: 2,
            figures: vec![drain, add],
            sync: Quantiles::of(micros([800, 1_600])),
            drain_bound: Bound::Spawn,
            add_bound: Bound::Sync,
            tried: vec![
                Tried { workers: 2, per_second: 1_500.0 },
                Tried { workers: 4, per_second: 2_000.0 },
            ],
        }
    }

    #[test]
    fn each_figure_stands_beside_its_limit_and_the_bounds_are_told_in_words() {
        let want = "
FIGURE     P50     P99  BARE P50  RATIO  PER S  OF
drain    500µs   520µs     400µs   0.80   2000  a job
add     2.00ms  2.40ms     600µs   0.30    500  a call

measured:       2 × 1000 jobs, 4 workers, 2 cores
a sync:         800µs (p99 1.60ms)
drain bound by: starting processes, and little else (a job takes 400µs to start, and 50µs of a sync that it shares)
add bound by:   the disk (of 2.00ms, a process takes 600µs and a sync 800µs)
workers:        2 drain 1500 jobs/s, 4 drain 2000 jobs/s
suggested:      ax run --workers 4
";
        assert_eq!(report().text(PIPE), want[1..]);
    }

    #[test]
    fn a_slow_disk_is_named_and_more_is_claimed_ahead() {
        let sync = Quantiles::of(vec![Duration::from_millis(20)]);
        let report = Report { sync, drain_bound: Bound::Sync, ..report() };
        assert!(report.drain_line().starts_with("the disk (a job takes"));
        assert_eq!(report.settings(), "ax run --workers 4 --queue-size 100");
    }

    #[test]
    fn scripts_get_numbers_in_milliseconds() {
        let document = report().document();
        assert_eq!(document["figures"][1]["p50_ms"], 2.0);
        assert_eq!(document["suggested"]["workers"], 4);
        assert_eq!(document["suggested"]["queue_size"], Value::Null);
    }

    #[test]
    fn times_have_the_digits_that_count() {
        let short = |nanos| short(Duration::from_nanos(nanos));
        assert_eq!([short(4_210), short(412_300)], ["4.2µs", "412µs"]);
        assert_eq!([short(1_859_000), short(14_230_000)], ["1.86ms", "14.2ms"]);
    }
}
