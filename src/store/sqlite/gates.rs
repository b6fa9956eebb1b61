//! Groups and mutexes: how many jobs of a kind run at once.
//!
//! Of all ready jobs of a mutex only the next one of each group is let through,
//! and the next one without a group; of those of a group only the next one that
//! its mutex lets through; so whoever looks for the next job of all never meets
//! what waits behind a limit, be it a million jobs. What touches a limit (a job that comes, goes, starts or ends,
//! also one that was edited by hand) enters it in `ax_gates`; draining that
//! table, in the transaction of the turn, finds the next one anew.
//!
//! That is a matter of order alone. A job is taken only if its limits are seen
//! to be open at that moment ([`admit`]).

use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params};

use super::Fallible;
use crate::job::phase::Blocked;
use crate::job::{Claim, JobId, RunnerId};

/// The limits that a job is under.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Limits {
    pub(super) group: Option<String>,
    pub(super) mutex: Option<String>,
}

/// How many limits are looked at in one turn at most; the rest in the next.
pub(super) const PER_TURN: usize = 1_000;

/// Mutexes first: they let jobs through to groups.
pub(super) const TOUCHED: &str = "
    SELECT kind, name FROM ax_gates
    ORDER BY kind DESC, name DESC
    LIMIT 1";

const DONE: &str = "DELETE FROM ax_gates WHERE kind = :kind AND name = :name";

/// Finds the next job of up to `limit` of the mutexes and groups that were touched.
pub(super) fn drain(tx: &Transaction<'_>, limit: usize) -> Fallible<()> {
    for _ in 0..limit {
        let touched = tx
            .prepare_cached(TOUCHED)?
            .query_row([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
            .optional()?;
        let Some((kind, name)) = touched else { break };
        find_next(tx, &kind, &name)?;
    }
    Ok(())
}

/// Finds the next job of the limits of one that was taken.
pub(super) fn pass_on(tx: &Transaction<'_>, limits: &Limits) -> Fallible<()> {
    limits.mutex.as_ref().map_or(Ok(()), |name| find_next(tx, "mutex", name))?;
    limits.group.as_ref().map_or(Ok(()), |name| find_next(tx, "group", name))
}

fn find_next(tx: &Transaction<'_>, kind: &str, name: &str) -> Fallible<()> {
    tx.prepare_cached(DONE)?.execute(named_params! { ":kind": kind, ":name": name })?;
    if kind == "mutex" { next_of_mutex(tx, name) } else { next_of_group(tx, name) }
}

const TOUCH: &str = "INSERT OR IGNORE INTO ax_gates (kind, name) VALUES (:kind, :name)";

fn touch(tx: &Transaction<'_>, kind: &str, name: &str) -> Fallible<()> {
    tx.prepare_cached(TOUCH)?.execute(named_params! { ":kind": kind, ":name": name })?;
    Ok(())
}

pub(super) const MUTEX_HOLDER: &str = "
    SELECT id FROM ax_jobs
    WHERE status IN ('dispatched', 'running') AND mutex = :name
    LIMIT 1";

pub(super) const MUTEX_NEXT: &str = concat!(
    "
    SELECT id, group_name FROM ax_jobs
    WHERE status = 'ready' AND mutex = :name AND group_name IS NULL
    ORDER BY ",
    turn_of_a_job!(),
    "
    LIMIT 1"
);

/// The next one in the group after this one.
pub(super) const MUTEX_NEXT_GROUP: &str = concat!(
    "
    SELECT id, group_name FROM ax_jobs
    WHERE status = 'ready' AND mutex = :name AND group_name > :group
    ORDER BY group_name, ",
    turn_of_a_job!(),
    "
    LIMIT 1"
);

pub(super) const MUTEX_ADMITTED: &str = "
    SELECT id, group_name FROM ax_jobs
    WHERE status = 'ready' AND mutex = :name AND admitted IS NOT NULL";

const MUTEX_BACK: &str = "UPDATE ax_jobs SET admitted = NULL WHERE id = :job";

const MUTEX_THROUGH: &str = "
    UPDATE ax_jobs SET admitted = iif(group_name IS NULL, 2, 1)
    WHERE id = :job";

/// A job with a mutex, and its group.
type Member = (JobId, Option<String>);

fn next_of_mutex(tx: &Transaction<'_>, name: &str) -> Fallible<()> {
    let next = if holder(tx, name)?.is_some() { Vec::new() } else { candidates(tx, name)? };
    let admitted: Vec<_> = tx
        .prepare_cached(MUTEX_ADMITTED)?
        .query_map(named_params! { ":name": name }, member)?
        .collect::<rusqlite::Result<_>>()?;
    let back = admitted.iter().filter(|member| !next.contains(member));
    let through = next.iter().filter(|member| !admitted.contains(member));
    for (sql, (job, group)) in
        back.map(|member| (MUTEX_BACK, member)).chain(through.map(|member| (MUTEX_THROUGH, member)))
    {
        tx.prepare_cached(sql)?.execute(named_params! { ":job": job })?;
        group.as_ref().map_or(Ok(()), |group| touch(tx, "group", group))?;
    }
    Ok(())
}

/// The next ready job of a mutex without a group, and the next one of each
/// group: a group that lets none of its jobs through holds up no others.
fn candidates(connection: &Connection, name: &str) -> Fallible<Vec<Member>> {
    let mut lone = connection.prepare_cached(MUTEX_NEXT)?;
    let lone = lone.query_row(named_params! { ":name": name }, member).optional()?;
    let mut next: Vec<_> = lone.into_iter().collect();
    let mut grouped = connection.prepare_cached(MUTEX_NEXT_GROUP)?;
    let mut last = String::new();
    while let Some((job, Some(group))) =
        grouped.query_row(named_params! { ":name": name, ":group": last }, member).optional()?
    {
        next.push((job, Some(group.clone())));
        last = group;
    }
    Ok(next)
}

fn member(row: &Row<'_>) -> rusqlite::Result<Member> {
    Ok((row.get(0)?, row.get(1)?))
}

pub(super) const GROUP_NEXT: &str = concat!(
    "
    SELECT id FROM ax_jobs
    WHERE status = 'ready' AND group_name = :name AND (mutex IS NULL OR admitted IS NOT NULL)
    ORDER BY ",
    turn_of_a_job!(),
    "
    LIMIT 1"
);

pub(super) const GROUP_BACK: &str = "
    UPDATE ax_jobs SET admitted = iif(mutex IS NULL, NULL, 1)
    WHERE status = 'ready' AND admitted = 2 AND group_name = :name AND id IS NOT :next";

const GROUP_THROUGH: &str = "
    UPDATE ax_jobs SET admitted = 2
    WHERE id = :next AND admitted IS NOT 2";

fn next_of_group(tx: &Transaction<'_>, name: &str) -> Fallible<()> {
    let next = match closed_group(tx, name)? {
        Some(_) => None,
        None => first(tx, GROUP_NEXT, name)?,
    };
    tx.prepare_cached(GROUP_BACK)?.execute(named_params! { ":name": name, ":next": next })?;
    tx.prepare_cached(GROUP_THROUGH)?.execute(named_params! { ":next": next })?;
    Ok(())
}

fn first(connection: &Connection, sql: &str, name: &str) -> Fallible<Option<JobId>> {
    let mut query = connection.prepare_cached(sql)?;
    Ok(query.query_row(named_params! { ":name": name }, |row| row.get(0)).optional()?)
}

/// The job that has a mutex.
fn holder(connection: &Connection, name: &str) -> Fallible<Option<JobId>> {
    first(connection, MUTEX_HOLDER, name)
}

pub(super) const GROUP: &str = "
    SELECT paused, parallel, (
        SELECT count(*) FROM ax_jobs
        WHERE status IN ('dispatched', 'running') AND group_name = :name) AS running
    FROM ax_groups
    WHERE name = :name";

/// Why a group lets no job through; `None` if it does.
fn closed_group(connection: &Connection, name: &str) -> Fallible<Option<Blocked>> {
    let mut query = connection.prepare_cached(GROUP)?;
    let group = query.query_row(named_params! { ":name": name }, |row| {
        Ok((row.get::<_, bool>(0)?, row.get::<_, Option<u32>>(1)?, row.get::<_, u32>(2)?))
    });
    let name = || name.to_owned();
    Ok(match group.optional()? {
        Some((true, ..)) => Some(Blocked::Paused { group: name() }),
        Some((false, Some(parallel), running)) if running >= parallel => {
            Some(Blocked::Full { group: name(), running, parallel })
        }
        Some((false, ..)) | None => None,
    })
}

/// What keeps a ready job with these limits from being taken at this moment.
pub(super) fn blocked(
    connection: &Connection,
    group: Option<&str>,
    mutex: Option<&str>,
) -> Fallible<Option<Blocked>> {
    if let Some(group) = group
        && let Some(closed) = closed_group(connection, group)?
    {
        return Ok(Some(closed));
    }
    let Some(mutex) = mutex else { return Ok(None) };
    let held = holder(connection, mutex)?;
    Ok(held.map(|holder| Blocked::Mutex { mutex: mutex.to_owned(), holder }))
}

/// Tells whether a job may be taken at this moment. If not, it goes back behind
/// its limits.
pub(super) fn admit(tx: &Transaction<'_>, job: JobId, limits: &Limits) -> Fallible<bool> {
    const BACK: &str = "UPDATE ax_jobs SET admitted = NULL WHERE id = :job";
    if blocked(tx, limits.group.as_deref(), limits.mutex.as_deref())?.is_none() {
        return Ok(true);
    }
    tx.prepare_cached(BACK)?.execute(named_params! { ":job": job })?;
    Ok(false)
}

pub(super) const BEYOND: &str = "
    SELECT job.id, job.attempts
    FROM ax_jobs AS job CROSS JOIN ax_groups AS held ON held.name = job.group_name
    WHERE job.status IN ('dispatched', 'running') AND job.owner = :owner
        AND job.status = 'dispatched'
        AND (held.paused OR held.parallel < (
            SELECT count(*) FROM ax_jobs
            WHERE status IN ('dispatched', 'running') AND group_name = held.name))
    ORDER BY job.id";

/// The claims of a runner that were not started and that their group would not
/// let through any more.
pub(super) fn beyond(connection: &Connection, owner: RunnerId) -> Fallible<Vec<Claim>> {
    let mut query = connection.prepare_cached(BEYOND)?;
    let rows = query.query_map(named_params! { ":owner": owner }, |row| {
        Ok(Claim { job: row.get(0)?, attempt: row.get(1)?, owner })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
