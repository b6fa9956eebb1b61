//! Runs: jobs that were started together.

use rusqlite::{Transaction, named_params};

use super::row::Millis;
use super::{Fallible, add};
use crate::job::{Chain, Kind, NewJob, ParentRef, Timestamp};
use crate::store::Enqueued;

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
        INSERT INTO ax_flow_runs (flow, schedule, due_at, max_retries, retry_delay, created_at)
        VALUES (coalesce(:flow, :schedule, ''), :schedule, :due, :max_retries, :retry_delay, :now)
        RETURNING id";
    let values = named_params! {
        ":flow": chain.flow,
        ":schedule": start.schedule,
        ":due": start.schedule.map(|_| start.due),
        ":max_retries": chain.retry.max,
        ":retry_delay": Millis(chain.retry.delay),
        ":now": now,
    };
    let run = tx.prepare_cached(INSERT)?.query_row(values, |row| row.get(0))?;
    let job = |job: &NewJob| {
        let mut job = NewJob {
            flow: chain.flow.clone(),
            run: Some(run),
            scheduled_at: start.due,
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
