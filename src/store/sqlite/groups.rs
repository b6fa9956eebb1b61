//! Groups as people see and change them: their limit, whether they are paused,
//! and how many jobs are in them.
//!
//! The unfinished jobs lie in a few parts, each with an index of its own, so
//! that what has ended is not looked at. A part is counted by group, and what is
//! known of a group is put together by its name.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params};

use super::{Fallible, counts, row};
use crate::store::Group;

const SET: &str = "
    INSERT INTO ax_groups (name, parallel) VALUES (:name, :parallel)
    ON CONFLICT DO UPDATE SET parallel = :parallel";

/// Says how many jobs of a group run at once.
pub(super) fn set(tx: &Transaction<'_>, name: &str, parallel: Option<u32>) -> Fallible<()> {
    tx.execute(SET, named_params! { ":name": name, ":parallel": parallel })?;
    Ok(())
}

const PAUSE: &str = "
    INSERT INTO ax_groups (name, paused) VALUES (:name, :paused)
    ON CONFLICT DO UPDATE SET paused = :paused";

/// Pauses a group or lets it go on.
pub(super) fn pause(tx: &Transaction<'_>, name: &str, paused: bool) -> Fallible<()> {
    tx.execute(PAUSE, named_params! { ":name": name, ":paused": paused })?;
    Ok(())
}

/// The groups that are paused.
pub(super) fn paused(connection: &Connection) -> Fallible<Vec<String>> {
    const PAUSED: &str = "SELECT name FROM ax_groups WHERE paused ORDER BY name";
    let mut query = connection.prepare(PAUSED)?;
    let rows = query.query_map([], |row| Ok(row::text(row, "name")?.unwrap_or_default()))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What the jobs of a part are counted as.
#[derive(Clone, Copy)]
pub(super) enum Count {
    /// Runners have them.
    Running,
    /// They could start.
    Ready,
    /// They wait for their time, other jobs, or a person.
    Waiting,
}

/// Each unfinished job of a group is in one of these. The third are those that
/// wait behind a mutex.
pub(super) const PARTS: [(Count, &str); 7] = [
    (Count::Running, counts::OWNED),
    (Count::Ready, "status = 'ready' AND (mutex IS NULL OR admitted IS NOT NULL)"),
    (Count::Ready, "status = 'ready' AND mutex IS NOT NULL AND admitted IS NULL"),
    (Count::Waiting, "status = 'pending' AND waits_on IS NOT NULL"),
    (Count::Waiting, "status IN ('pending', 'failed') AND waits_on IS NULL AND status = 'pending'"),
    (Count::Waiting, "status = 'failed'"),
    (Count::Waiting, "status = 'held'"),
];

/// Which groups a statement is about: all, or the one called `:name`.
#[derive(Clone, Copy)]
pub(super) enum Which<'a> {
    All,
    One(&'a str),
}

impl Which<'_> {
    /// The condition of it; `column` has the name.
    fn condition(self, column: &str) -> String {
        match self {
            Self::All => format!("{column} IS NOT NULL"),
            Self::One(_) => format!("{column} = :name"),
        }
    }
}

/// The limits of groups.
pub(super) fn limits_sql(which: Which<'_>) -> String {
    format!("SELECT name, parallel, paused FROM ax_groups WHERE {}", which.condition("name"))
}

/// How many jobs of a part are in groups.
pub(super) fn count_sql(part: &str, which: Which<'_>) -> String {
    format!(
        "SELECT group_name AS name, count(*) AS jobs FROM ax_jobs WHERE {part} AND {}
        GROUP BY group_name",
        which.condition("group_name")
    )
}

/// Whether a job of a part is in a group.
pub(super) fn is_in_sql(part: &str) -> String {
    format!("SELECT 1 FROM ax_jobs WHERE {part} AND group_name = :name LIMIT 1")
}

/// All groups that have a limit, are paused, or have unfinished jobs.
pub(super) fn all(connection: &Connection) -> Fallible<Vec<Group>> {
    Ok(gather(connection, Which::All)?.into_values().collect())
}

/// The group of this name.
pub(super) fn one(connection: &Connection, name: &str) -> Fallible<Option<Group>> {
    Ok(gather(connection, Which::One(name))?.into_values().next())
}

/// Tells whether [`one`] would find it, and looks no further.
pub(super) fn exists(connection: &Connection, name: &str) -> Fallible<bool> {
    let is_found = |sql: &str| -> Fallible<bool> {
        let mut query = connection.prepare(sql)?;
        Ok(query.query_row(named_params! { ":name": name }, |_| Ok(())).optional()?.is_some())
    };
    if is_found(&limits_sql(Which::One(name)))? {
        return Ok(true);
    }
    for (_, part) in PARTS {
        if is_found(&is_in_sql(part))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn gather(connection: &Connection, which: Which<'_>) -> Fallible<BTreeMap<String, Group>> {
    let mut groups = Groups(BTreeMap::new());
    each(connection, &limits_sql(which), which, |row| {
        let group = groups.of(row)?;
        group.parallel = row.get("parallel")?;
        group.paused = row.get("paused")?;
        Ok(())
    })?;
    for (count, part) in PARTS {
        each(connection, &count_sql(part, which), which, |row| {
            let jobs: u64 = row.get("jobs")?;
            let group = groups.of(row)?;
            match count {
                Count::Running => group.running += jobs,
                Count::Ready => group.ready += jobs,
                Count::Waiting => group.waiting += jobs,
            }
            Ok(())
        })?;
    }
    Ok(groups.0)
}

/// Reads the rows of a statement.
fn each(
    connection: &Connection,
    sql: &str,
    which: Which<'_>,
    mut read: impl FnMut(&Row<'_>) -> Fallible<()>,
) -> Fallible<()> {
    let mut query = connection.prepare(sql)?;
    let mut rows = match which {
        Which::All => query.query([])?,
        Which::One(name) => query.query(named_params! { ":name": name })?,
    };
    while let Some(row) = rows.next()? {
        read(row)?;
    }
    Ok(())
}

/// What is known of groups, by their names.
struct Groups(BTreeMap<String, Group>);

impl Groups {
    /// The group that a row is about.
    fn of(&mut self, row: &Row<'_>) -> Fallible<&mut Group> {
        let name = row::text(row, "name")?.unwrap_or_default();
        Ok(self.0.entry(name.clone()).or_insert(Group {
            name,
            parallel: None,
            paused: false,
            running: 0,
            ready: 0,
            waiting: 0,
        }))
    }
}
