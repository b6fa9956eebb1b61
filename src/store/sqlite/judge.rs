//! Judging dependencies.
//!
//! Whatever touches a job's dependencies (an edge made, a parent ended, a row
//! edited by hand) enters the job in `ax_judge`; draining that table is the
//! only place where a job starts or stops waiting for its parents. It is done
//! in the same transaction, so nothing is claimed on an outdated judgement.

use rusqlite::{Connection, OptionalExtension, Transaction, named_params};

use super::Fallible;
use super::edges::{self, Acyclic};
use crate::job::dependency::{Readiness, Seen, cycle_text, skip_reason};
use crate::job::{Event, JobId, Kind, State, Timestamp};
use crate::store::Moved;

/// How many jobs are judged in one turn at most, so that one huge family does
/// not hold the lock while others wait. The rest is judged in the next turn.
pub(super) const PER_TURN: usize = 5_000;

pub(super) const NEXT: &str = "
    SELECT job_id, edge FROM ax_judge
    ORDER BY job_id";

const DONE: &str = "DELETE FROM ax_judge WHERE job_id = :job";

/// Judges up to `limit` jobs; adds those that were skipped to `moved`.
pub(super) fn drain(
    tx: &Transaction<'_>,
    now: Timestamp,
    limit: usize,
    moved: &mut Vec<Moved>,
) -> Fallible<()> {
    let mut left = limit;
    let mut acyclic = Acyclic::default();
    while left > 0 {
        let batch = next(tx, left.min(512))?;
        if batch.is_empty() {
            break;
        }
        left -= batch.len();
        for (job, edge) in batch {
            tx.prepare_cached(DONE)?.execute(named_params! { ":job": job })?;
            if let Some(skipped) = judge(tx, job, edge, &mut acyclic, now)? {
                moved.push(skipped);
            }
        }
    }
    Ok(())
}

/// Tells whether something is left to judge, or a limit was touched.
pub(super) fn is_open(connection: &Connection) -> Fallible<bool> {
    const OPEN: &str = "
        SELECT EXISTS (SELECT 1 FROM ax_judge) OR EXISTS (SELECT 1 FROM ax_gates)";
    let mut open = connection.prepare_cached(OPEN)?;
    Ok(open.query_row([], |row| row.get(0))?)
}

fn next(tx: &Transaction<'_>, limit: usize) -> Fallible<Vec<(JobId, bool)>> {
    let mut next = tx.prepare_cached(NEXT)?;
    let rows = next.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.take(limit).collect::<rusqlite::Result<_>>()?)
}

/// Judges one job; `edge` says that an edge of it may be new.
fn judge(
    tx: &Transaction<'_>,
    job: JobId,
    edge: bool,
    acyclic: &mut Acyclic,
    now: Timestamp,
) -> Fallible<Option<Moved>> {
    let Some(state) = waiting_state(tx, job)? else { return Ok(None) };
    if edge && let Some(cycle) = edges::cycle_through(tx, job, acyclic)? {
        let reason = format!("waits for itself: {}", cycle_text(&cycle));
        return skip(tx, job, state, reason, now).map(Some);
    }
    let seen = edges::of(tx, job)?;
    match Readiness::of(&seen) {
        Readiness::Met => wait_on(tx, job, None)?,
        Readiness::Waiting => {
            back_to_pending(tx, job, state, now)?;
            wait_on(tx, job, watched(&seen))?;
        }
        Readiness::Never(broken) => {
            return skip(tx, job, state, skip_reason(&broken), now).map(Some);
        }
    }
    Ok(None)
}

pub(super) const WAITING: &str = "
    SELECT status FROM ax_jobs
    WHERE id = :job AND NOT EXISTS (
        SELECT 1 FROM ax_flow_runs AS run WHERE run.id = ax_jobs.flow_run AND stage <> 'whole')";

/// The state of a job that waits for its start or its next attempt, `None` for
/// any other, and for one of a run that is about to start again.
fn waiting_state(tx: &Transaction<'_>, job: JobId) -> Fallible<Option<State>> {
    let mut query = tx.prepare_cached(WAITING)?;
    let state: Option<State> =
        query.query_row(named_params! { ":job": job }, |row| row.get(0)).optional()?;
    Ok(state.filter(|state| matches!(state, State::Pending | State::Ready | State::Failed)))
}

/// Takes a waiting job back to where it waits for parents.
fn back_to_pending(tx: &Transaction<'_>, job: JobId, state: State, now: Timestamp) -> Fallible<()> {
    [Event::Block, Event::Rearm]
        .into_iter()
        .filter(|event| event.allows(state))
        .try_for_each(|event| change(tx, job, event, None, now))
}

/// The open parent to watch: of those whose end can settle something, the one
/// added last (see the schema). While no failure has come, that is one of
/// `on_failure`, so that the job is skipped as soon as none can come; after
/// that, it is one of the others.
pub(super) fn watched(seen: &[Seen]) -> Option<JobId> {
    let needs_failure = |seen: &&Seen| seen.edge.kind == Kind::OnFailure;
    let rescue = || seen.iter().filter(needs_failure);
    let unmet = rescue().next().is_some() && !rescue().any(Seen::is_met);
    let open = |seen: &&Seen| seen.parent.is_some_and(|state| !state.is_final());
    seen.iter()
        .filter(open)
        .filter(|seen| needs_failure(seen) == unmet)
        .map(|seen| seen.edge.parent)
        .max()
}

const WAIT_ON: &str = "
    UPDATE ax_jobs SET waits_on = :parent
    WHERE id = :job AND waits_on IS NOT :parent";

fn wait_on(tx: &Transaction<'_>, job: JobId, parent: Option<JobId>) -> Fallible<()> {
    tx.prepare_cached(WAIT_ON)?.execute(named_params! { ":job": job, ":parent": parent })?;
    Ok(())
}

fn skip(
    tx: &Transaction<'_>,
    job: JobId,
    state: State,
    reason: String,
    now: Timestamp,
) -> Fallible<Moved> {
    end_waiting(tx, job, state, Event::Skip, &reason, now)?;
    let title = super::query::title(tx, job)?;
    Ok(Moved { job, title, event: Event::Skip, reason: Some(reason) })
}

/// Ends a job that waits.
pub(super) fn end_waiting(
    tx: &Transaction<'_>,
    job: JobId,
    state: State,
    event: Event,
    reason: &str,
    now: Timestamp,
) -> Fallible<()> {
    back_to_pending(tx, job, state, now)?;
    wait_on(tx, job, None)?;
    change(tx, job, event, Some(reason), now)
}

pub(super) const CHANGE: &str = "
    UPDATE ax_jobs SET
        status = :to,
        reason = :reason,
        finished_at = CASE WHEN :ended THEN :now ELSE finished_at END,
        updated_at = :now
    WHERE id = :job";

/// Moves a job along the table; whoever calls has seen that the move is legal.
pub(super) fn change(
    tx: &Transaction<'_>,
    job: JobId,
    event: Event,
    reason: Option<&str>,
    now: Timestamp,
) -> Fallible<()> {
    let to = event.target();
    tx.prepare_cached(CHANGE)?.execute(named_params! {
        ":job": job, ":to": to, ":reason": reason, ":ended": to.is_final(), ":now": now,
    })?;
    Ok(())
}
