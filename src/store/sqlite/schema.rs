//! The schema and its versions.
//!
//! `user_version` counts the migrations a database has had. All that are
//! missing run in one transaction: a database has the old schema or the new
//! one, never something between.

use rusqlite::{Connection, TransactionBehavior};

/// `application_id` of every ax database: "axjb".
pub(super) const APPLICATION_ID: i32 = 0x6178_6a62;

/// The migrations, in order; number n leads to version n.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/0001_init.sql")];

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

/// Looks at a database without changing it.
pub(super) fn look(connection: &Connection) -> rusqlite::Result<Found> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    match (pragma("application_id")?, pragma("user_version")?) {
        (APPLICATION_ID, version) => Ok(Found::Ours(version)),
        (0, 0) if is_empty(connection)? => Ok(Found::Empty),
        (_, _) => Ok(Found::Foreign),
    }
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
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
    tx.commit()
}
