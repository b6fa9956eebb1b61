//! The limit of adding: the same rows, already parsed and judged.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params_from_iter};

use super::open::open;
use super::{Fallible, Trouble};
use crate::store::Result;

/// What `ax add` writes, parents first.
const TABLES: [&str; 3] = ["ax_envs", "ax_jobs", "ax_deps"];

/// A table as it is read and written.
struct Copied {
    table: &'static str,
    columns: usize,
    rows: Vec<Vec<Value>>,
}

impl Copied {
    fn read(connection: &Connection, table: &'static str) -> Fallible<Self> {
        let mut query = connection.prepare(&format!("SELECT * FROM {table}"))?;
        let columns = query.column_count();
        let rows = query.query_map([], |row| (0..columns).map(|place| row.get(place)).collect())?;
        let rows = rows.collect::<rusqlite::Result<_>>()?;
        Ok(Self { table, columns, rows })
    }

    fn write(&self, tx: &Transaction<'_>) -> Fallible<()> {
        let places = vec!["?"; self.columns].join(", ");
        let mut insert = tx.prepare(&format!("INSERT INTO {} VALUES ({places})", self.table))?;
        for row in &self.rows {
            insert.execute(params_from_iter(row))?;
        }
        Ok(())
    }
}

/// Copies jobs bare; tells how long the writing took, the sync included.
///
/// # Errors
/// When one of the databases cannot be used.
pub(in crate::store) fn yardstick(from: &Path, to: &Path) -> Result<Duration> {
    let (source, _) = open(from)?;
    let tables =
        TABLES.map(|table| Copied::read(&source, table)).into_iter().collect::<Fallible<Vec<_>>>();
    let tables = tables.map_err(|trouble| trouble.told_of(from))?;
    let (mut copy, _) = open(to)?;
    let begin = Instant::now();
    let tx = copy.transaction().map_err(Trouble::from);
    let written = tx.and_then(|tx| {
        tables.iter().try_for_each(|copied| copied.write(&tx))?;
        Ok(tx.commit()?)
    });
    written.map_err(|trouble| trouble.told_of(to))?;
    Ok(begin.elapsed())
}
