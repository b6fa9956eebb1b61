//! The schema and its versions.
//!
//! `user_version` counts the migrations a database has had. All that are
//! missing run in one transaction: a database has the old schema or the new
//! one, never something between.

use rusqlite::{Connection, TransactionBehavior};

use crate::crash;

/// `application_id` of every ax database: "axjb".
pub(super) const APPLICATION_ID: i32 = 0x6178_6a62;

/// The migrations, in order; number n leads to version n.
const MIGRATIONS: [&str; 7] = [
    include_str!("migrations/0001_init.sql"),
    include_str!("migrations/0002_schedules.sql"),
    include_str!("migrations/0003_groups.sql"),
    include_str!("migrations/0004_indexes.sql"),
    include_str!("migrations/0005_hooks.sql"),
    include_str!("migrations/0006_handed.sql"),
    include_str!("migrations/0007_moves.sql"),
];

/// The version this program knows.
#[expect(clippy::cast_possible_wrap, clippy::cast_possible_truncation, reason = "a small constant")]
pub(super) const VERSION: i32 = MIGRATIONS.len() as i32;

/// What an open file turns out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing is in it.
    Empty,
    /// Another program's database.
    Foreign,
    /// One of ours, with this version.
    Ours(i32),
}

/// One statement, and so one moment: between two, somebody else could make
/// the schema, and an empty file would look like another program's.
const LOOK: &str = "
    SELECT
        (SELECT application_id FROM pragma_application_id),
        (SELECT user_version FROM pragma_user_version),
        NOT EXISTS (SELECT 1 FROM sqlite_schema)";

/// Looks at a database without changing it.
pub(super) fn look(connection: &Connection) -> rusqlite::Result<Found> {
    let (id, version, is_empty): (i32, i32, bool) =
        connection.query_row(LOOK, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(match (id, version) {
        (APPLICATION_ID, version) => Found::Ours(version),
        (0, 0) if is_empty => Found::Empty,
        (_, _) => Found::Foreign,
    })
}

/// Brings an empty or an older database to [`VERSION`], as a whole or not at
/// all. Somebody else may have done so in the meantime.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = match look(&tx)? {
        Found::Empty => 0,
        Found::Ours(version) => usize::try_from(version).unwrap_or(0),
        Found::Foreign => return Ok(()),
    };
    for migration in MIGRATIONS.iter().skip(done) {
        tx.execute_batch(migration)?;
    }
    if done < MIGRATIONS.len() {
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", VERSION)?;
    }
    crash::point("migrate", "before-commit");
    tx.commit()?;
    crash::point("migrate", "after-commit");
    Ok(())
}
