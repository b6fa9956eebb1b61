//! What schedules look like to people and scripts.

use serde_json::{Value, json};

use super::table::{Cell, Column, Table};
use super::text::counted;
use super::{Style, View, json, paint, time};
use crate::escape::escape;
use crate::job::timetable::ClockChange;
use crate::job::{JobId, Recurrence, Schedule, Timestamp, Zone};

/// A start that lies ahead.
pub struct Ahead {
    /// When.
    pub due: Timestamp,
    /// What the clock does on that day, if it is changed.
    pub change: Option<ClockChange>,
}

/// The answer of `ax schedule next`.
pub struct NextStarts {
    /// The starts, in order.
    pub starts: Vec<Ahead>,
    /// By whose clock.
    pub zone: Zone,
    /// When they were looked at.
    pub now: Timestamp,
}

impl View for NextStarts {
    fn items(&self) -> Vec<Value> {
        let item = |start: &Ahead| {
            json!({
                "due_at": json::at(Some(start.due)),
                "local": time::rfc3339_in(start.due, &self.zone),
                "timezone": self.zone.name(),
                "clock_change": start.change.map(change_json),
            })
        };
        self.starts.iter().map(item).collect()
    }

    fn ids(&self) -> Vec<JobId> {
        Vec::new()
    }

    fn text(&self, style: Style) -> String {
        let changes = self.starts.iter().any(|start| start.change.is_some());
        let mut columns = vec![Column::new("due"), Column::new("when")];
        columns.extend(changes.then(|| Column::new("clock change")));
        let mut table = Table::new(columns);
        for start in &self.starts {
            let mut row: Vec<Cell> = vec![
                time::in_zone(start.due, &self.zone).into(),
                format!("in {}", time::whole(start.due.since(self.now))).into(),
            ];
            let change = start.change.map(change_text).unwrap_or_default();
            row.extend(changes.then(|| Cell::painted(change, paint::NOTABLE)));
            table.row(row);
        }
        table.render(style)
    }
}

/// The fields of a schedule, in order.
const FIELDS: [&str; 10] = [
    "name",
    "cron",
    "timezone",
    "catch_up",
    "overlap",
    "paused",
    "next_at",
    "next_jobs",
    "flow",
    "command",
];

/// The answer of `ax schedule list`.
pub struct ScheduleList {
    /// The schedules, by name.
    pub schedules: Vec<Schedule>,
    /// When they were looked at.
    pub now: Timestamp,
}

impl View for ScheduleList {
    fn items(&self) -> Vec<Value> {
        self.schedules.iter().map(schedule_json).collect()
    }

    fn fields(&self) -> Vec<String> {
        json::names(&FIELDS)
    }

    /// The jobs of the next starts.
    fn ids(&self) -> Vec<JobId> {
        let next = self.schedules.iter().filter_map(|schedule| schedule.next.as_ref());
        next.flat_map(|next| next.jobs.iter().copied()).collect()
    }

    fn text(&self, style: Style) -> String {
        if self.schedules.is_empty() {
            return "no schedules; `ax schedule add` makes one\n".to_owned();
        }
        let mut table = Table::new(vec![
            Column::new("name").shrinking(),
            Column::new("next"),
            Column::new("job").right(),
            Column::new("cron"),
            Column::new("timezone"),
            Column::new("catch up"),
            Column::new("overlap"),
            Column::new("runs").shrinking(),
        ]);
        for schedule in &self.schedules {
            table.row(row(schedule, self.now));
        }
        table.render(style)
    }
}

fn row(schedule: &Schedule, now: Timestamp) -> Vec<Cell> {
    let next = match (&schedule.next, &schedule.recurrence) {
        (_, Err(_)) => Cell::painted("broken", paint::NOTABLE),
        (None, Ok(_)) => Cell::painted("paused", paint::NOTABLE),
        (Some(next), Ok(_)) => time::short(next.due, now).into(),
    };
    let first = schedule.next.as_ref().and_then(|next| next.jobs.first());
    let job = first.map(JobId::to_string).unwrap_or_default();
    let [cron, zone, catch_up, overlap] = words(schedule);
    vec![
        escape(schedule.name.as_bytes()).into(),
        next,
        job.into(),
        cron.into(),
        zone.into(),
        catch_up.into(),
        overlap.into(),
        escape(runs(schedule).as_bytes()).into(),
    ]
}

/// Expression, zone and policies; what is wrong with a row that cannot be read.
fn words(schedule: &Schedule) -> [String; 4] {
    match &schedule.recurrence {
        Ok(Recurrence { table, catch_up, overlap }) => [
            table.cron.to_string(),
            table.zone.name().to_owned(),
            catch_up.to_string(),
            overlap.to_string(),
        ],
        Err(why) => [escape(why.as_bytes()), String::new(), String::new(), String::new()],
    }
}

/// What a start of it is, for people.
fn runs(schedule: &Schedule) -> String {
    match (&schedule.chain.flow, schedule.chain.jobs.as_slice()) {
        (Some(flow), jobs) => format!("flow {flow} ({})", counted(jobs.len(), "job")),
        (None, jobs) => jobs.first().map(|job| job.command.text()).unwrap_or_default(),
    }
}

fn schedule_json(schedule: &Schedule) -> Value {
    let [cron, timezone, catch_up, overlap] = words(schedule);
    let next = schedule.next.as_ref();
    let single = schedule.chain.flow.is_none().then(|| runs(schedule));
    json!({
        "name": schedule.name,
        "cron": cron,
        "timezone": timezone,
        "catch_up": catch_up,
        "overlap": overlap,
        "paused": next.is_none(),
        "next_at": json::at(next.map(|next| next.due)),
        "next_jobs": next.map(|next| next.jobs.clone()).unwrap_or_default(),
        "flow": schedule.chain.flow,
        "command": single,
    })
}

fn change_text(change: ClockChange) -> String {
    format!("{} becomes {}", change.from.format("%H:%M"), change.to.format("%H:%M"))
}

fn change_json(change: ClockChange) -> Value {
    json!({
        "from": change.from.format("%H:%M").to_string(),
        "to": change.to.format("%H:%M").to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Timetable;

    fn starts(zone: &str, after: i64) -> NextStarts {
        let table = Timetable::new("30 2 * * *", zone).expect("valid");
        let now = Timestamp::from_millis(after);
        let start = |due| Ahead { due, change: table.clock_change(due) };
        NextStarts { starts: table.after(now).take(2).map(start).collect(), zone: table.zone, now }
    }

    /// 2027-03-27 12:00 UTC.
    const BEFORE: i64 = 1_806_148_800_000;

    #[test]
    fn a_day_of_clock_change_is_marked_with_what_the_clock_does() {
        let text = starts("Europe/Berlin", BEFORE).text(Style { color: false, width: None });
        let want = "DUE                          WHEN       CLOCK CHANGE\n\
                    Sun 2027-03-28 03:00 +02:00  in 13h00m  02:00 becomes 03:00\n\
                    Mon 2027-03-29 02:30 +02:00  in 1d12h\n";
        assert_eq!(text, want);
    }

    #[test]
    fn without_a_clock_change_there_is_no_column_for_it() {
        let text = starts("UTC", BEFORE).text(Style { color: false, width: None });
        assert!(text.starts_with("DUE                          WHEN\n"), "{text}");
    }

    #[test]
    fn scripts_get_both_clocks() {
        let items = starts("Europe/Berlin", BEFORE).items();
        let want = json!({
            "due_at": "2027-03-28T01:00:00.000Z",
            "local": "2027-03-28T03:00:00+02:00",
            "timezone": "Europe/Berlin",
            "clock_change": {"from": "02:00", "to": "03:00"},
        });
        assert_eq!(items[0], want);
    }
}
