//! How jobs failed: of each the few columns that tell why, so that a hundred
//! thousand of them are read in a moment.

use rusqlite::{Connection, Row, params_from_iter};

use super::query::Condition;
use super::{Fallible, row};
use crate::job::cause::end;
use crate::store::{Failed, Query};

/// What counts as failed, each found by an index of its own: what is dead, what
/// waits for its next attempt, and what is held because an attempt was lost (a
/// job that a person holds has another reason).
pub(super) const FAILED: [&str; 3] =
    ["status = 'dead'", "status = 'failed'", "status = 'held' AND reason = last_error"];

/// The history is asked where the job itself does not tell how it ended.
pub(super) const READ: &str = "
    SELECT id, exit_code, signal, coalesce(reason, last_error) AS error, finished_at,
        iif(coalesce(exit_code, signal) IS NULL, (
            SELECT outcome FROM ax_attempts WHERE job_id = id AND attempt = attempts), NULL) AS outcome
    FROM ax_jobs";

/// The failures of the jobs that match.
pub(super) fn failures(connection: &Connection, query: &Query) -> Fallible<Vec<Failed>> {
    let query = Query { states: Vec::new(), ..query.clone() };
    let mut failures = Vec::new();
    for failed in FAILED {
        let condition = Condition::of(&query);
        let sql = format!("{READ} WHERE {failed} AND {}", condition.sql());
        let mut statement = connection.prepare(&sql)?;
        let rows = statement.query_map(params_from_iter(&condition.values), read)?;
        for failure in rows {
            failures.push(failure?);
        }
    }
    failures.sort_by_key(|failure| failure.job);
    Ok(failures)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Failed> {
    let outcome = row::text(row, "outcome")?;
    Ok(Failed {
        job: row.get("id")?,
        end: end(row.get("exit_code")?, row.get("signal")?, outcome.as_deref()),
        error: row::text(row, "error")?,
        at: row.get("finished_at")?,
    })
}
