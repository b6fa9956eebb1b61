//! Runners: entered when they start, struck out when they own nothing any more.

use rusqlite::{Connection, Transaction, named_params};

use super::Fallible;
use crate::job::{RunnerId, Timestamp};
use crate::store::{NewRunner, Runner};

const ENLIST: &str = "
    INSERT INTO ax_runners (pid, start_time, boot_id, workers, started_at)
    VALUES (:pid, :start_time, :boot_id, :workers, :now)
    RETURNING id";

/// Enters a runner.
pub(super) fn enlist(
    tx: &Transaction<'_>,
    runner: &NewRunner,
    now: Timestamp,
) -> Fallible<RunnerId> {
    let start_time = i64::try_from(runner.start_time).unwrap_or(i64::MAX);
    Ok(tx.query_row(
        ENLIST,
        named_params! {
            ":pid": runner.pid, ":start_time": start_time, ":boot_id": runner.boot_id,
            ":workers": runner.workers, ":now": now,
        },
        |row| row.get(0),
    )?)
}

pub(super) const DISCHARGE: &str = "
    DELETE FROM ax_runners
    WHERE id = :runner
        AND NOT EXISTS (
            SELECT 1 FROM ax_jobs
            WHERE status IN ('dispatched', 'running') AND owner = :runner)";

/// Strikes out a runner that owns nothing.
pub(super) fn discharge(tx: &Transaction<'_>, runner: RunnerId) -> Fallible<bool> {
    Ok(tx.execute(DISCHARGE, named_params! { ":runner": runner })? > 0)
}

const ALL: &str = "
    SELECT id, pid, start_time, boot_id, workers, started_at FROM ax_runners
    ORDER BY id";

/// All runners that were not struck out.
pub(super) fn all(connection: &Connection) -> Fallible<Vec<Runner>> {
    let mut query = connection.prepare_cached(ALL)?;
    let rows = query.query_map([], |row| {
        Ok(Runner {
            id: row.get(0)?,
            pid: row.get(1)?,
            start_time: row.get(2)?,
            boot_id: row.get(3)?,
            workers: row.get(4)?,
            started_at: row.get(5)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
