//! What is due and has not been started, whether a runner lives or not.

use rusqlite::{Connection, named_params};

use super::Fallible;
use crate::job::{JobId, Timestamp};
use crate::store::Overdue;

/// Since when a job could run: its time, its birth, or when a person brought it
/// back or the last of its parents ended, whatever is latest.
macro_rules! since {
    () => {
        "max(scheduled_at, created_at, coalesce(queued_at, 0), coalesce((
            SELECT max(parent.finished_at)
            FROM ax_deps AS edge JOIN ax_jobs AS parent ON parent.id = edge.depends_on
            WHERE edge.job_id = ax_jobs.id), 0))"
    };
}

/// What waits for its time, for a worker, for its limits, and what a runner has
/// claimed, each found by an index of its own. What is still to be judged may
/// wait for something else.
pub(super) const OVERDUE: &str = concat!(
    "
    SELECT id, since FROM (
        SELECT id, ",
    since!(),
    " AS since FROM ax_jobs
        WHERE status IN ('pending', 'failed') AND waits_on IS NULL AND ",
    due!(),
    " <= :before
        UNION ALL
        SELECT id, ",
    since!(),
    " FROM ax_jobs WHERE ",
    takeable!(),
    "
        UNION ALL
        SELECT id, ",
    since!(),
    " FROM ax_jobs
        WHERE status = 'ready' AND coalesce(group_name, mutex) IS NOT NULL AND admitted IS NOT 2
        UNION ALL
        SELECT id, ",
    since!(),
    " FROM ax_jobs
        WHERE status IN ('dispatched', 'running') AND status = 'dispatched')
    WHERE since <= :before AND id NOT IN (SELECT job_id FROM ax_judge)
    ORDER BY since, id"
);

/// What could run since `before` or longer, the longest first.
pub(super) fn overdue(connection: &Connection, before: Timestamp) -> Fallible<Vec<Overdue>> {
    let mut query = connection.prepare(OVERDUE)?;
    let rows = query.query_map(named_params! { ":before": before }, |row| {
        Ok(Overdue { job: row.get::<_, JobId>("id")?, since: row.get("since")? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
