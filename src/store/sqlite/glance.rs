//! What is going on, for whoever looks once a second: every statement reads a
//! bounded number of rows, by index.

use std::time::Duration;

use rusqlite::{Connection, named_params};

use super::{Fallible, counts, row};
use crate::job::{Job, JobId, RunnerId, Timestamp};
use crate::store::{Ended, Glance, Queue};

/// So many jobs are told of at most, of each kind.
const RUNNING: u32 = 2_000;
const FAILED: u32 = 20;
const STARTS: u32 = 20;

/// What runs, who has run longest first; of one runner or of all.
pub(super) fn running() -> String {
    format!(
        "SELECT {} FROM ax_jobs
        WHERE status IN ('dispatched', 'running') AND status = 'running'
            AND (:owner IS NULL OR owner = :owner)
        ORDER BY runs_at, id
        LIMIT {RUNNING}",
        row::JOB_COLUMNS
    )
}

/// What failed last, of each way to fail: those of the last that were added.
pub(super) fn failed() -> [String; 3] {
    let columns = row::JOB_COLUMNS;
    ["status = 'dead'", "status = 'failed'", "status = 'held'"].map(|which| {
        format!("SELECT {columns} FROM ax_jobs WHERE {which} ORDER BY id DESC LIMIT {FAILED}")
    })
}

/// The parts of a [`Queue`], as [`counts::PARTS`] has them, each with its index.
const STANDING: [&str; 8] =
    ["takeable", "limited", "dispatched", "due", "failed_due", "waiting", "held", "dead"];

/// Counts each, no further than tells that there are many.
pub(super) fn counts() -> [String; 8] {
    STANDING.map(|name| {
        let part = counts::PARTS.iter().find(|(other, _)| *other == name);
        let (_, condition) = part.expect("a part of that name is counted");
        let most = Queue::MOST;
        format!("SELECT count(*) FROM (SELECT 1 FROM ax_jobs WHERE {condition} LIMIT {most})")
    })
}

/// How many of the last thousand ended since then, and since when that many.
pub(super) const ENDED: &str = concat!(
    "
    SELECT count(*), min(finished_at) FROM (
        SELECT finished_at FROM ax_jobs
        WHERE ",
    ended!(),
    " AND finished_at > :since
        ORDER BY finished_at DESC
        LIMIT 1000)"
);

/// The schedules that start next.
pub(super) fn starts() -> String {
    format!(
        "SELECT name, next_at FROM ax_schedules
        WHERE next_at IS NOT NULL
        ORDER BY next_at
        LIMIT {STARTS}"
    )
}

/// What is going on; of what runs only that of one runner, if it is named.
pub(super) fn glance(
    connection: &Connection,
    owner: Option<RunnerId>,
    since: Timestamp,
) -> Fallible<Glance> {
    let mut failures = Vec::new();
    for sql in failed() {
        failures.extend(jobs(connection, &sql, &[])?);
    }
    failures.sort_by_key(|job| std::cmp::Reverse(job.finished_at));
    let mut starts_of = connection.prepare_cached(&starts())?;
    let starts = starts_of.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let ended =
        connection.prepare_cached(ENDED)?.query_row(named_params! { ":since": since }, |row| {
            Ok(Ended { count: row.get(0)?, first: row.get(1)? })
        })?;
    Ok(Glance {
        running: jobs(connection, &running(), named_params! { ":owner": owner })?,
        queue: queue(connection)?,
        failures,
        ended,
        starts: starts.collect::<rusqlite::Result<_>>()?,
    })
}

fn jobs(
    connection: &Connection,
    sql: &str,
    params: &[(&str, &dyn rusqlite::ToSql)],
) -> Fallible<Vec<Job>> {
    let mut query = connection.prepare_cached(sql)?;
    let rows = query.query_map(params, row::job)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn queue(connection: &Connection) -> Fallible<Queue> {
    let count = |sql: &String| -> Fallible<u64> {
        Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    };
    let [takeable, limited, claimed, due, failed, waiting, held, dead] = counts();
    let failed = count(&failed)?;
    Ok(Queue {
        ready: count(&takeable)?,
        limited: count(&limited)?,
        claimed: count(&claimed)?,
        scheduled: count(&due)?.saturating_sub(failed),
        failed,
        waiting: count(&waiting)?,
        held: count(&held)?,
        dead: count(&dead)?,
    })
}

/// The last successes of the job of this name (or command) in the last starts
/// of the schedule of a job.
pub(super) const USUAL_OF_SCHEDULE: &str = "
    SELECT done.finished_at - done.runs_at
    FROM ax_jobs AS asked
        JOIN ax_flow_runs AS this ON this.id = asked.flow_run
        JOIN ax_flow_runs AS run ON run.id IN (
            SELECT id FROM ax_flow_runs
            WHERE schedule = this.schedule AND dropped = 0
            ORDER BY due_at DESC
            LIMIT 50)
        JOIN ax_jobs AS done ON done.flow_run = run.id
    WHERE asked.id = :job AND done.status = 'success' AND done.finished_at >= done.runs_at
        AND coalesce(done.name, done.command) = coalesce(asked.name, asked.command)
    ORDER BY run.due_at DESC
    LIMIT 20";

/// The last successes of the name (or command) of a job, among what ended last.
pub(super) const USUAL: &str = concat!(
    "
    SELECT took
    FROM (
        SELECT status, coalesce(name, command) AS title, finished_at - runs_at AS took
        FROM ax_jobs
        WHERE ",
    ended!(),
    "
        ORDER BY finished_at DESC
        LIMIT 5000)
    WHERE status = 'success' AND took >= 0
        AND title = (SELECT coalesce(name, command) FROM ax_jobs WHERE id = :job)
    LIMIT 20"
);

/// How long a job like this usually takes: the median of its last successes.
pub(super) fn usual(connection: &Connection, job: JobId) -> Fallible<Option<Duration>> {
    for sql in [USUAL_OF_SCHEDULE, USUAL] {
        let mut query = connection.prepare_cached(sql)?;
        let rows = query.query_map(named_params! { ":job": job }, |row| row.get(0))?;
        let mut lengths: Vec<u64> = rows.collect::<rusqlite::Result<_>>()?;
        lengths.sort_unstable();
        if let Some(middle) = lengths.get(lengths.len() / 2) {
            return Ok(Some(Duration::from_millis(*middle)));
        }
    }
    Ok(None)
}
