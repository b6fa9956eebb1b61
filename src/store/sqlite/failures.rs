//! How jobs failed: of each the few columns that tell why, so that a hundred
//! thousand of them are read in a moment.

use rusqlite::{Connection, Row, params_from_iter};

use super::query::Condition;
use super::{Fallible, row};
use crate::job::State;
use crate::job::cause::end;
use crate::store::{Failed, Query};

/// Of what is dead, failed or held, what counts: a job that a person holds has
/// another reason than its last error.
const COUNTS: &str = "(status <> 'held' OR reason = last_error)";

/// The history is asked where the job itself does not tell how it ended.
const READ: &str = "
    SELECT id, exit_code, signal, coalesce(reason, last_error) AS error, finished_at,
        iif(coalesce(exit_code, signal) IS NULL, (
            SELECT outcome FROM ax_attempts WHERE job_id = id AND attempt = attempts), NULL) AS outcome
    FROM ax_jobs";

/// Reads the failures of the jobs that meet a condition.
pub(super) fn sql(condition: &str) -> String {
    format!("{READ} WHERE {condition} AND {COUNTS} ORDER BY id")
}

/// The failures of the jobs that match.
pub(super) fn failures(connection: &Connection, query: &Query) -> Fallible<Vec<Failed>> {
    let condition = Condition::of(&Query { states: State::FAILED.to_vec(), ..query.clone() });
    let mut statement = connection.prepare(&sql(&condition.sql()))?;
    let rows = statement.query_map(params_from_iter(&condition.values), read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
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
