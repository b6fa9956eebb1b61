//! Names to complete what a person types: few, recent ones, however many jobs
//! there are.

use rusqlite::{Connection, Row};

use super::{Fallible, row};
use crate::job::Command;
use crate::store::{Hint, Hints};

pub(super) const JOBS: &str = "
    SELECT id, name, key, status, flow, group_name, mutex, command, shell FROM ax_jobs
    ORDER BY id DESC
    LIMIT 1000";

pub(super) const SCHEDULES: &str = "SELECT name FROM ax_schedules ORDER BY name LIMIT 1000";

pub(super) const GROUPS: &str = "SELECT name FROM ax_groups ORDER BY name LIMIT 1000";

/// The last jobs and what they are in, and the schedules and groups there are.
pub(super) fn look(connection: &Connection) -> Fallible<Hints> {
    let mut query = connection.prepare_cached(JOBS)?;
    let jobs = query.query_map([], hint)?.collect::<rusqlite::Result<_>>()?;
    let names = |sql| -> Fallible<Vec<String>> {
        let mut query = connection.prepare_cached(sql)?;
        let names = query.query_map([], |row| row::text(row, "name"))?;
        let names: Vec<Option<String>> = names.collect::<rusqlite::Result<_>>()?;
        Ok(names.into_iter().flatten().collect())
    };
    Ok(Hints { jobs, schedules: names(SCHEDULES)?, groups: names(GROUPS)? })
}

fn hint(row: &Row<'_>) -> rusqlite::Result<Hint> {
    let command = row.get::<_, row::Bytes>("command")?.0;
    let command = Command::from_bytes(command.clone(), row.get("shell")?);
    Ok(Hint {
        id: row.get("id")?,
        name: row::text(row, "name")?,
        command: command.map_or_else(String::new, |command| command.text()),
        key: row::text(row, "key")?,
        state: row.get("status")?,
        flow: row::text(row, "flow")?,
        group: row::text(row, "group_name")?,
        mutex: row::text(row, "mutex")?,
    })
}
