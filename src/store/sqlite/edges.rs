//! Edges between jobs: made, removed, read, and held against cycles.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use rusqlite::{Connection, OptionalExtension, Transaction, named_params};

use super::Fallible;
use super::judge;
use crate::job::dependency::Seen;
use crate::job::{Dependency, Edge, JobId, State, Timestamp};
use crate::store::{Child, Error};

const INSERT: &str = "
    INSERT OR IGNORE INTO ax_deps (job_id, depends_on, kind)
    VALUES (:child, :parent, :kind)";

/// Writes an edge; of several equal ones, one.
pub(super) fn insert(tx: &Transaction<'_>, child: JobId, edge: Edge) -> Fallible<()> {
    tx.prepare_cached(INSERT)?.execute(named_params! {
        ":child": child, ":parent": edge.parent, ":kind": edge.kind,
    })?;
    Ok(())
}

/// Adds edges to a job that has not started.
pub(super) fn link(
    tx: &Transaction<'_>,
    child: JobId,
    edges: &[Edge],
    now: Timestamp,
) -> Fallible<()> {
    refuse_started(tx, child)?;
    for edge in edges {
        if edge.parent == child {
            return Err(Error::Cycle(vec![child]).into());
        }
        if state(tx, edge.parent)?.is_none() {
            return Err(Error::NoSuchJob(edge.parent).into());
        }
        insert(tx, child, *edge)?;
    }
    for edge in edges {
        if let Some(mut cycle) = way_up(tx, edge.parent, child)? {
            cycle.rotate_right(1);
            return Err(Error::Cycle(cycle).into());
        }
    }
    judge::drain(tx, now, judge::PER_TURN, &mut Vec::new())
}

/// Removes the edges of a job to these parents. A job that was skipped because
/// of one stays so until somebody retries it.
pub(super) fn unlink(
    tx: &Transaction<'_>,
    child: JobId,
    parents: &[JobId],
    now: Timestamp,
) -> Fallible<usize> {
    const DELETE: &str = "DELETE FROM ax_deps WHERE job_id = :child AND depends_on = :parent";
    if state(tx, child)? != Some(State::Skipped) {
        refuse_started(tx, child)?;
    }
    let mut gone = 0;
    for parent in parents {
        gone += tx
            .prepare_cached(DELETE)?
            .execute(named_params! { ":child": child, ":parent": parent })?;
    }
    judge::drain(tx, now, judge::PER_TURN, &mut Vec::new())?;
    Ok(gone)
}

fn refuse_started(tx: &Transaction<'_>, child: JobId) -> Fallible<()> {
    let state = state(tx, child)?.ok_or(Error::NoSuchJob(child))?;
    match state {
        State::Pending | State::Ready | State::Held => Ok(()),
        State::Dispatched
        | State::Running
        | State::Failed
        | State::Success
        | State::Dead
        | State::Cancelled
        | State::Skipped => Err(Error::WrongState {
            job: child,
            state,
            wanted: "and only a job that waits can be given or lose dependencies",
            hint: None,
        }
        .into()),
    }
}

/// The state of a job, `None` if there is no such job.
pub(super) fn state(connection: &Connection, job: JobId) -> Fallible<Option<State>> {
    let mut query = connection.prepare_cached("SELECT status FROM ax_jobs WHERE id = :job")?;
    Ok(query.query_row(named_params! { ":job": job }, |row| row.get(0)).optional()?)
}

pub(super) const OF: &str = "
    SELECT edge.depends_on, edge.kind, parent.status
    FROM ax_deps AS edge LEFT JOIN ax_jobs AS parent ON parent.id = edge.depends_on
    WHERE edge.job_id = :job
    ORDER BY edge.depends_on, edge.kind";

/// The edges of a job, with where each parent stands.
pub(super) fn of(connection: &Connection, job: JobId) -> Fallible<Vec<Seen>> {
    let mut query = connection.prepare_cached(OF)?;
    let rows = query.query_map(named_params! { ":job": job }, |row| {
        let edge = Edge { parent: row.get(0)?, kind: row.get(1)? };
        Ok(Seen { edge, parent: row.get(2)? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The jobs that wait for this one, each once.
pub(super) fn children(connection: &Connection, job: JobId) -> Fallible<Vec<JobId>> {
    const CHILDREN: &str =
        "SELECT DISTINCT job_id FROM ax_deps WHERE depends_on = :job ORDER BY job_id";
    let mut query = connection.prepare_cached(CHILDREN)?;
    let rows = query.query_map(named_params! { ":job": job }, |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The same with their states, once for each thing that they wait for.
pub(super) fn waiting(connection: &Connection, job: JobId) -> Fallible<Vec<Child>> {
    let mut query = connection.prepare_cached(WAITING)?;
    let rows = query.query_map(named_params! { ":job": job }, |row| {
        Ok(Child { job: row.get(0)?, kind: row.get(1)?, state: row.get(2)? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(super) const WAITING: &str = "
    SELECT edge.job_id, edge.kind, child.status
    FROM ax_deps AS edge JOIN ax_jobs AS child ON child.id = edge.job_id
    WHERE edge.depends_on = :job
    ORDER BY edge.job_id, edge.kind";

/// The shortest way from a job over its parents to another job, both ends
/// included. Ended jobs are passed, too: they may be retried.
fn way_up(connection: &Connection, from: JobId, to: JobId) -> Fallible<Option<Vec<JobId>>> {
    let mut reached_from = HashMap::from([(from, from)]);
    let mut open = VecDeque::from([from]);
    while let Some(at) = open.pop_front() {
        if at == to {
            let step = |job: &JobId| (*job != from).then(|| reached_from[job]);
            let mut way: Vec<_> = std::iter::successors(Some(to), step).collect();
            way.reverse();
            return Ok(Some(way));
        }
        for parent in parents(connection, at)? {
            if let Entry::Vacant(place) = reached_from.entry(parent) {
                place.insert(at);
                open.push_back(parent);
            }
        }
    }
    Ok(None)
}

/// Jobs from which no way leads into a cycle. It stays so while no edge is
/// made, so that a search need not look behind them a second time.
#[derive(Default)]
pub(super) struct Acyclic(HashSet<JobId>);

/// A way from a job over its parents back to itself, in the order in which
/// each waits for the next. Ended parents wait for nothing and end the search.
pub(super) fn cycle_through(
    connection: &Connection,
    job: JobId,
    known: &mut Acyclic,
) -> Fallible<Option<Vec<JobId>>> {
    let mut path = vec![(job, waited_for(connection, job)?)];
    let mut on_path = HashMap::from([(job, true)]);
    let mut other_cycle = false;
    while let Some((at, parents)) = path.last_mut() {
        let Some(parent) = parents.pop() else {
            on_path.insert(*at, false);
            path.pop();
            continue;
        };
        if parent == job {
            return Ok(Some(path.iter().map(|(member, _)| *member).collect()));
        }
        if known.0.contains(&parent) {
            continue;
        }
        if let Some(ahead) = on_path.get(&parent) {
            other_cycle |= ahead;
        } else {
            on_path.insert(parent, true);
            path.push((parent, waited_for(connection, parent)?));
        }
    }
    if !other_cycle {
        known.0.extend(on_path.into_keys());
    }
    Ok(None)
}

/// The parents of a job that have not ended.
fn waited_for(connection: &Connection, job: JobId) -> Fallible<Vec<JobId>> {
    let open = |seen: &Seen| seen.parent.is_some_and(|state| !state.is_final());
    let seen = of(connection, job)?;
    Ok(seen.into_iter().filter(open).map(|seen| seen.edge.parent).collect())
}

const UNFINISHED: &str = "
    SELECT DISTINCT edge.job_id
    FROM ax_deps AS edge JOIN ax_jobs AS child ON child.id = edge.job_id
    WHERE child.status NOT IN ('success', 'dead', 'cancelled', 'skipped')
    ORDER BY edge.job_id";

/// The edges between jobs and all their ancestors, and between their
/// descendants; the edges of all unfinished jobs if none is named.
pub(super) fn graph(connection: &Connection, around: &[JobId]) -> Fallible<Vec<Dependency>> {
    if around.is_empty() {
        let mut query = connection.prepare_cached(UNFINISHED)?;
        let rows = query.query_map([], |row| row.get(0))?;
        return edges_of(connection, rows.collect::<rusqlite::Result<_>>()?);
    }
    let up = reach(around, |job| parents(connection, job))?;
    let down = reach(around, |job| children(connection, job))?;
    let mut edges = edges_of(connection, up.union(&down).copied().collect())?;
    edges.retain(|edge| up.contains(&edge.child) || down.contains(&edge.seen.edge.parent));
    Ok(edges)
}

fn parents(connection: &Connection, job: JobId) -> Fallible<Vec<JobId>> {
    Ok(of(connection, job)?.iter().map(|seen| seen.edge.parent).collect())
}

fn edges_of(connection: &Connection, children: HashSet<JobId>) -> Fallible<Vec<Dependency>> {
    let mut children: Vec<_> = children.into_iter().collect();
    children.sort_unstable();
    let mut edges = Vec::new();
    for child in children {
        edges.extend(of(connection, child)?.into_iter().map(|seen| Dependency { child, seen }));
    }
    Ok(edges)
}

/// Everything that `next` leads to from `start`, with the start itself.
pub(super) fn reach(
    start: &[JobId],
    mut next: impl FnMut(JobId) -> Fallible<Vec<JobId>>,
) -> Fallible<HashSet<JobId>> {
    let mut reached: HashSet<JobId> = start.iter().copied().collect();
    let mut open = start.to_vec();
    while let Some(at) = open.pop() {
        for job in next(at)? {
            if reached.insert(job) {
                open.push(job);
            }
        }
    }
    Ok(reached)
}
