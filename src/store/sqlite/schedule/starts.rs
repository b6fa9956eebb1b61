//! Starts: runs that a schedule puts in, and what stands of them.

use rusqlite::{Connection, OptionalExtension, Transaction, named_params};

use super::stored::Standing;
use crate::job::schedule::{Before, MOST};
use crate::job::{
    Chain, Edge, Event, FlowRunId, JobId, Kind, Overlap, ParentRef, Recurrence, State, Timestamp,
};
use crate::store::Moved;
use crate::store::sqlite::{Fallible, chain, edges, judge, query};

/// Puts a start in, which waits for the end of the one before it if it is to.
pub(super) fn put_in(
    tx: &Transaction<'_>,
    name: &str,
    chain: &Chain,
    due: Timestamp,
    waits: bool,
    now: Timestamp,
) -> Fallible<FlowRunId> {
    let parents = match latest(tx, name, due, 0)? {
        Some(run) if waits => open_jobs(tx, run)?,
        Some(_) | None => Vec::new(),
    };
    let parents: Vec<_> =
        parents.into_iter().map(|job| (ParentRef::Id(job), Kind::AfterAny)).collect();
    let start = chain::Start { schedule: Some(name), due, parents: &parents };
    Ok(chain::start(tx, chain, &start, now)?.run)
}

pub(in crate::store::sqlite) const IS_STARTED: &str = "
    SELECT EXISTS (
        SELECT 1 FROM ax_flow_runs
        WHERE schedule = :name AND due_at = :due AND dropped = 0 AND id IS NOT :standing)";

/// Tells whether there is a start for this time, other than the one that stands.
pub(super) fn is_started(
    connection: &Connection,
    name: &str,
    due: Timestamp,
    standing: Option<FlowRunId>,
) -> rusqlite::Result<bool> {
    let mut query = connection.prepare_cached(IS_STARTED)?;
    let values = named_params! { ":name": name, ":due": due, ":standing": standing };
    query.query_row(values, |row| row.get(0))
}

/// The first time after now for which nothing was started.
pub(in crate::store::sqlite) fn next_free(
    connection: &Connection,
    name: &str,
    recurrence: &Recurrence,
    standing: impl Into<Option<FlowRunId>>,
    now: Timestamp,
) -> rusqlite::Result<Option<Timestamp>> {
    let standing = standing.into();
    for due in recurrence.table.after(now) {
        if !is_started(connection, name, due, standing)? {
            return Ok(Some(due));
        }
    }
    Ok(None)
}

/// So many starts are passed that have ended while one before them has not, as
/// when a person cancelled them.
const PASSED: usize = 20;

pub(in crate::store::sqlite) const LATEST: &str = "
    SELECT run.id
    FROM (
        SELECT id, due_at FROM ax_flow_runs
        WHERE schedule = :name AND dropped = 0 AND due_at < :due
        ORDER BY due_at DESC
        LIMIT :window) AS run
    WHERE EXISTS (
        SELECT 1 FROM ax_jobs
        WHERE flow_run = run.id AND status NOT IN ('success', 'dead', 'cancelled', 'skipped'))
    ORDER BY run.due_at DESC
    LIMIT 1 OFFSET :back";

/// The last start before a time that has not ended, or the one so many before
/// it; what was skipped or taken back does not count.
fn latest(
    tx: &Transaction<'_>,
    name: &str,
    due: Timestamp,
    back: usize,
) -> rusqlite::Result<Option<FlowRunId>> {
    let mut query = tx.prepare_cached(LATEST)?;
    let window = back + PASSED;
    let values = named_params! { ":name": name, ":due": due, ":back": back, ":window": window };
    query.query_row(values, |row| row.get(0)).optional()
}

pub(in crate::store::sqlite) const OPEN_JOBS: &str = "
    SELECT id FROM ax_jobs
    WHERE flow_run = :run AND status NOT IN ('success', 'dead', 'cancelled', 'skipped')
    ORDER BY id";

fn open_jobs(tx: &Transaction<'_>, run: FlowRunId) -> rusqlite::Result<Vec<JobId>> {
    let mut query = tx.prepare_cached(OPEN_JOBS)?;
    let rows = query.query_map(named_params! { ":run": run }, |row| row.get(0))?;
    rows.collect()
}

/// What a start meets. Starts that may overlap do not look at each other.
pub(super) fn before(
    tx: &Transaction<'_>,
    name: &str,
    overlap: Overlap,
    due: Timestamp,
) -> Fallible<Before> {
    let open_job = |back| match latest(tx, name, due, back)? {
        Some(run) => Ok(open_jobs(tx, run)?.first().copied()),
        None => Ok::<_, rusqlite::Error>(None),
    };
    Ok(match overlap {
        Overlap::Allow => Before::default(),
        Overlap::Skip => Before { open: open_job(0)?, full: false },
        Overlap::Queue => Before { open: open_job(0)?, full: open_job(MOST - 1)?.is_some() },
    })
}

pub(in crate::store::sqlite) const RUN_JOBS: &str = "
    SELECT id, status FROM ax_jobs
    WHERE flow_run = :run
    ORDER BY id";

/// The jobs of a run and where they stand, in the order of their ids.
pub(in crate::store::sqlite) fn run_jobs(
    connection: &Connection,
    run: FlowRunId,
) -> rusqlite::Result<Vec<(JobId, State)>> {
    let mut query = connection.prepare_cached(RUN_JOBS)?;
    let rows =
        query.query_map(named_params! { ":run": run }, |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Ends the jobs of a start that has not begun. One that a person started
/// before its time, or holds, is that person's.
pub(super) fn drop_run(
    tx: &Transaction<'_>,
    run: FlowRunId,
    event: Event,
    why: &str,
    now: Timestamp,
    moved: &mut Vec<Moved>,
) -> Fallible<()> {
    const DROP: &str = "UPDATE ax_flow_runs SET dropped = 1 WHERE id = :run";
    let jobs = run_jobs(tx, run)?;
    let begun = |(_, state): &(JobId, State)| {
        !matches!(state, State::Pending | State::Ready | State::Cancelled | State::Skipped)
    };
    if jobs.iter().any(begun) {
        return Ok(());
    }
    tx.prepare_cached(DROP)?.execute(named_params! { ":run": run })?;
    for (job, state) in jobs.into_iter().filter(|(_, state)| !state.is_final()) {
        judge::end_waiting(tx, job, state, event, why, now)?;
        let title = query::title(tx, job)?;
        moved.push(Moved { job, title, event, reason: Some(why.to_owned()) });
    }
    Ok(())
}

/// Lets a start that was missed stand for a later one; tells whether it does.
/// What a person started, held or cancelled stays as it is.
pub(super) fn move_run(
    tx: &Transaction<'_>,
    run: FlowRunId,
    to: Timestamp,
    now: Timestamp,
) -> Fallible<bool> {
    const MOVE: &str = "
        UPDATE ax_jobs SET scheduled_at = :to, updated_at = :now
        WHERE flow_run = :run";
    const RENAME: &str = "UPDATE ax_flow_runs SET due_at = :to WHERE id = :run";
    if run_jobs(tx, run)?.iter().any(|(_, state)| *state != State::Pending) {
        return Ok(false);
    }
    tx.prepare_cached(MOVE)?.execute(named_params! { ":to": to, ":now": now, ":run": run })?;
    tx.prepare_cached(RENAME)?.execute(named_params! { ":to": to, ":run": run })?;
    Ok(true)
}

/// Lets the first jobs of a start wait for the end of the start before it.
pub(super) fn queue_behind(
    tx: &Transaction<'_>,
    name: &str,
    run: FlowRunId,
    due: Timestamp,
) -> Fallible<()> {
    const FIRST: &str = "
        SELECT id FROM ax_jobs
        WHERE flow_run = :run AND NOT EXISTS (
            SELECT 1 FROM ax_deps AS edge JOIN ax_jobs AS parent ON parent.id = edge.depends_on
            WHERE edge.job_id = ax_jobs.id AND parent.flow_run = :run)
        ORDER BY id";
    let Some(before) = latest(tx, name, due, 0)? else { return Ok(()) };
    let parents = open_jobs(tx, before)?;
    let mut first = tx.prepare_cached(FIRST)?;
    let first = first.query_map(named_params! { ":run": run }, |row| row.get(0))?;
    for child in first.collect::<rusqlite::Result<Vec<JobId>>>()? {
        for parent in &parents {
            edges::insert(tx, child, Edge { parent: *parent, kind: Kind::AfterAny })?;
        }
    }
    Ok(())
}

/// Writes which start stands among the jobs.
pub(super) fn point_to(
    tx: &Transaction<'_>,
    name: &str,
    next: Option<Standing>,
    now: Timestamp,
) -> Fallible<()> {
    const POINT: &str = "
        UPDATE ax_schedules SET next_at = :at, next_run = :run, updated_at = :now
        WHERE name = :name";
    tx.prepare_cached(POINT)?.execute(named_params! {
        ":at": next.map(|(at, _)| at), ":run": next.map(|(_, run)| run), ":now": now, ":name": name,
    })?;
    Ok(())
}
