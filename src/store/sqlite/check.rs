//! What can be wrong inside the database.

use rusqlite::{Connection, Result, Transaction};

use crate::job::Timestamp;
use crate::store::Fault;

/// Looks for everything that is wrong.
pub(super) fn check(_connection: &Connection, _now: Timestamp) -> Result<Vec<Fault>> {
    Ok(Vec::new())
}

/// Repairs what has one right repair.
pub(super) fn mend(
    _tx: &Transaction<'_>,
    _fault: &Fault,
    _now: Timestamp,
) -> Result<Option<String>> {
    Ok(None)
}
