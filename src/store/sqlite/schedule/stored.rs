//! Schedules as they are stored.

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::starts::run_jobs;
use crate::job::schedule::NextStart;
use crate::job::{Chain, FlowRunId, NewSchedule, Recurrence, Schedule, Timestamp, Timetable};
use crate::store::Error;
use crate::store::sqlite::{Fallible, row};

/// When a start is due, and its run.
pub(super) type Standing = (Timestamp, FlowRunId);

/// A schedule, and the start of it that stands among the jobs.
pub(in crate::store::sqlite) struct Stored {
    pub(in crate::store::sqlite) schedule: Schedule,
    pub(in crate::store::sqlite) standing: Option<Standing>,
    pub(super) written: Written,
}

/// What a schedule says, as it is written; two that are equal start the same.
#[derive(PartialEq)]
pub(super) struct Written {
    pub(super) cron: String,
    pub(super) timezone: String,
    pub(super) catch_up: String,
    pub(super) overlap: String,
    pub(super) chain: String,
}

impl Written {
    pub(super) fn of(schedule: &NewSchedule) -> Self {
        let Recurrence { table, catch_up, overlap } = &schedule.recurrence;
        Self {
            cron: table.cron.to_string(),
            timezone: table.zone.name().to_owned(),
            catch_up: catch_up.to_string(),
            overlap: overlap.to_string(),
            chain: serde_json::to_string(&schedule.chain).expect("texts and numbers are JSON"),
        }
    }

    fn recurrence(&self) -> Result<Recurrence, String> {
        Ok(Recurrence {
            table: Timetable::new(&self.cron, &self.timezone)?,
            catch_up: self.catch_up.parse()?,
            overlap: self.overlap.parse()?,
        })
    }
}

/// Reads a schedule; what is wrong with its row is said in it.
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let text = |column: &str| Ok::<_, rusqlite::Error>(row::text(row, column)?.unwrap_or_default());
    let written = Written {
        cron: text("cron")?,
        timezone: text("timezone")?,
        catch_up: text("catch_up")?,
        overlap: text("overlap")?,
        chain: text("chain")?,
    };
    let chain = serde_json::from_str::<Chain>(&written.chain);
    let recurrence = match &chain {
        Ok(chain) => chain.check().and_then(|()| written.recurrence()),
        Err(error) => Err(format!("its jobs cannot be read: {error}")),
    };
    let at: Option<Timestamp> = row.get("next_at")?;
    let run: Option<FlowRunId> = row.get("next_run")?;
    let schedule = Schedule {
        name: text("name")?,
        recurrence,
        chain: chain.unwrap_or_default(),
        next: at.map(|due| NextStart { due, jobs: Vec::new() }),
    };
    Ok(Stored { schedule, standing: at.zip(run), written })
}

/// The schedule of this name.
pub(super) fn find(connection: &Connection, name: &str) -> Fallible<Option<Stored>> {
    const FIND: &str = "SELECT * FROM ax_schedules WHERE name = :name";
    let mut query = connection.prepare_cached(FIND)?;
    Ok(query.query_row(named_params! { ":name": name }, read).optional()?)
}

/// The schedule of this name, which must be there.
pub(super) fn known(connection: &Connection, name: &str) -> Fallible<Stored> {
    find(connection, name)?.ok_or_else(|| Error::NoSuchSchedule(name.to_owned()).into())
}

/// All schedules, by name.
pub(in crate::store::sqlite) fn all(connection: &Connection) -> Fallible<Vec<Schedule>> {
    let stored = read_all(connection)?.into_iter();
    stored.map(|stored| with_jobs(connection, stored)).collect()
}

/// The rows of all schedules, by name.
pub(in crate::store::sqlite) fn read_all(connection: &Connection) -> rusqlite::Result<Vec<Stored>> {
    const ALL: &str = "SELECT * FROM ax_schedules ORDER BY name";
    let mut query = connection.prepare_cached(ALL)?;
    query.query_map([], read)?.collect()
}

/// A schedule with the jobs of its next start.
pub(super) fn with_jobs(connection: &Connection, stored: Stored) -> Fallible<Schedule> {
    let Stored { mut schedule, standing, .. } = stored;
    if let (Some(next), Some((_, run))) = (&mut schedule.next, standing) {
        next.jobs = run_jobs(connection, run)?.into_iter().map(|(job, _)| job).collect();
    }
    Ok(schedule)
}
