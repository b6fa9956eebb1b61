//! Runs: jobs that were started together, and may be started again together.
//!
//! A job that ends dead breaks its run, if that has tries left (a trigger marks
//! it, whoever wrote the state). From then on none of its jobs is judged, so
//! that nothing comes to know of the failure; what waits is stopped from
//! starting; and once nothing of it runs, all of it starts again.

use rusqlite::{Connection, Transaction, named_params};

use super::row::{AsBytes, Millis};
use super::{Fallible, add, control, query};
use crate::job::{Chain, Event, FlowRunId, JobId, Kind, NewJob, ParentRef, Timestamp};
use crate::store::{Enqueued, Moved};

/// How a chain is started.
pub(super) struct Start<'a> {
    /// By which schedule.
    pub(super) schedule: Option<&'a str>,
    /// When.
    pub(super) due: Timestamp,
    /// What its first jobs wait for.
    pub(super) parents: &'a [(ParentRef, Kind)],
}

/// Puts the jobs of a chain in as one run.
pub(super) fn start(
    tx: &Transaction<'_>,
    chain: &Chain,
    start: &Start<'_>,
    now: Timestamp,
) -> Fallible<Enqueued> {
    const INSERT: &str = "
        INSERT INTO ax_flow_runs (
            flow, schedule, due_at, max_retries, retry_delay, on_end, on_end_timeout, on_end_cwd,
            created_at)
        VALUES (
            coalesce(:flow, :schedule, ''), :schedule, :due, :max_retries, :retry_delay, :on_end,
            :on_end_timeout, :on_end_cwd, :now)
        RETURNING id";
    let values = named_params! {
        ":flow": chain.flow,
        ":schedule": start.schedule,
        ":due": start.schedule.map(|_| start.due),
        ":max_retries": chain.retry.max,
        ":retry_delay": Millis(chain.retry.delay),
        ":on_end": chain.on_end.as_ref().map(|on_end| AsBytes(&on_end.hook.command)),
        ":on_end_timeout": chain.on_end.as_ref().map(|on_end| Millis(on_end.hook.timeout)),
        ":on_end_cwd": chain.on_end.as_ref().map(|on_end| AsBytes(&on_end.cwd)),
        ":now": now,
    };
    let run = tx.prepare_cached(INSERT)?.query_row(values, |row| row.get(0))?;
    let job = |job: &NewJob| {
        let mut job = NewJob {
            flow: chain.flow.clone(),
            run: Some(run),
            scheduled_at: start.due,
            ends_run: chain.on_end.is_some(),
            ..job.clone()
        };
        if job.parents.is_empty() {
            job.parents = start.parents.to_vec();
        }
        job
    };
    let jobs: Vec<NewJob> = chain.jobs.iter().map(job).collect();
    Ok(Enqueued { run, added: add::add(tx, &jobs, now)? })
}

pub(super) const IS_BROKEN: &str = "
    SELECT EXISTS (
        SELECT 1 FROM ax_flow_runs AS run
        WHERE stage <> 'whole' AND (stage = 'broken' OR NOT EXISTS (
            SELECT 1 FROM ax_jobs INDEXED BY ax_jobs_owned
            WHERE status IN ('dispatched', 'running') AND flow_run = run.id)))";

/// Tells whether there is something to do about a broken run.
pub(super) fn is_broken(connection: &Connection) -> Fallible<bool> {
    Ok(connection.prepare_cached(IS_BROKEN)?.query_row([], |row| row.get(0))?)
}

pub(super) const BROKEN: &str = "
    SELECT id, (
        SELECT min(ax_jobs.id) FROM ax_jobs INDEXED BY ax_jobs_owned
        WHERE status IN ('dispatched', 'running') AND flow_run = run.id)
    FROM ax_flow_runs AS run
    WHERE stage <> 'whole'
    ORDER BY id";

/// Starts broken runs again, or halts them as long as something of them runs.
pub(super) fn mend(tx: &Transaction<'_>, now: Timestamp, moved: &mut Vec<Moved>) -> Fallible<()> {
    if !is_broken(tx)? {
        return Ok(());
    }
    let mut broken = tx.prepare_cached(BROKEN)?;
    let rows = broken.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (run, owned) in rows.collect::<rusqlite::Result<Vec<(FlowRunId, Option<JobId>)>>>()? {
        match owned {
            Some(job) => halt(tx, run, job, now)?,
            None => moved.extend(start_again(tx, run, now)?),
        }
    }
    Ok(())
}

pub(super) const HALT: &str = "
    UPDATE ax_jobs SET status = :pending, waits_on = :owned, updated_at = :now
    WHERE flow_run = :run AND status IN ('pending', 'ready', 'failed') AND waits_on IS NOT :owned";

/// Stops what waits from starting: it waits for one that runs.
fn halt(tx: &Transaction<'_>, run: FlowRunId, owned: JobId, now: Timestamp) -> Fallible<()> {
    const HALTED: &str = "UPDATE ax_flow_runs SET stage = 'halted' WHERE id = :run";
    tx.prepare_cached(HALT)?.execute(named_params! {
        ":pending": Event::Block.target(), ":owned": owned, ":now": now, ":run": run,
    })?;
    tx.prepare_cached(HALTED)?.execute(named_params! { ":run": run })?;
    Ok(())
}

/// Starts a whole run again. What a person holds or cancelled stays so.
fn start_again(tx: &Transaction<'_>, run: FlowRunId, now: Timestamp) -> Fallible<Option<Moved>> {
    const AGAIN: &str = "
        UPDATE ax_flow_runs SET stage = 'whole', retry_count = retry_count + 1
        WHERE id = :run
        RETURNING retry_count, max_retries, retry_delay";
    const CULPRIT: &str = "
        SELECT id FROM ax_jobs
        WHERE flow_run = :run AND status = 'dead'
        ORDER BY finished_at, id";
    let run_is = named_params! { ":run": run };
    let (count, max, delay) = tx.prepare_cached(AGAIN)?.query_row(run_is, |row| {
        Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?, row.get::<_, Millis>(2)?.0))
    })?;
    let mut culprits = tx.prepare_cached(CULPRIT)?;
    let culprit = culprits.query_map(run_is, |row| row.get::<_, JobId>(0))?.next().transpose()?;
    control::start_again(tx, run, now.plus(delay), now)?;
    let Some(job) = culprit else { return Ok(None) };
    let reason = Some(format!("the whole chain starts again, retry {count} of {max}"));
    Ok(Some(Moved { job, title: query::title(tx, job)?, event: Event::Revive, reason }))
}
