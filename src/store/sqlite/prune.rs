//! Deleting what ended long ago; nothing else in the program deletes a job.
//!
//! Jobs are looked at from the latest end to the earliest, so that children go
//! before their parents, and in batches that hold the write lock for a moment.

use rusqlite::{Connection, Transaction, named_params};

use super::Fallible;
use crate::job::{JobId, State, Timestamp};
use crate::store::{Prune, Pruned};

/// So many jobs are looked at in a batch.
const BATCH: usize = 250;

/// After so many edges of jobs were deleted, a batch ends early.
const EDGES: usize = 5_000;

/// A job is kept as long as one that has not ended depends on it, as long as
/// one that was skipped and may have been so because of it is kept, as long as
/// the run it belongs to has not ended and may start again from the first, and
/// as long as a hook of it has not ended.
pub(super) const OLD: &str = concat!(
    "
    SELECT id, status, finished_at,
        EXISTS (
            SELECT 1 FROM ax_deps AS edge JOIN ax_jobs AS child ON child.id = edge.job_id
            WHERE edge.depends_on = job.id
                AND (child.status NOT IN ('success', 'dead', 'cancelled', 'skipped')
                    OR (child.status = 'skipped' AND child.finished_at > :before)))
        OR EXISTS (
            SELECT 1 FROM ax_flow_runs AS run JOIN ax_jobs AS other ON other.flow_run = run.id
            WHERE run.id = job.flow_run AND run.retry_count < run.max_retries
                AND other.status NOT IN ('success', 'dead', 'cancelled', 'skipped'))
        OR EXISTS (
            SELECT 1 FROM ax_hooks AS hook
            WHERE hook.job_id = job.id AND hook.ended_at IS NULL) AS is_needed
    FROM ax_jobs AS job
    WHERE ",
    ended!(),
    " AND finished_at <= :from AND (finished_at < :from OR id < :below)
    ORDER BY finished_at DESC, id DESC
    LIMIT 250"
);

/// A job that ended long enough ago.
struct Old {
    id: JobId,
    state: State,
    ended_at: Timestamp,
    is_needed: bool,
}

fn batch(connection: &Connection, how: &Prune) -> Fallible<Vec<Old>> {
    let (from, below) = how.after.unwrap_or((how.before, JobId(i64::MAX)));
    let mut query = connection.prepare_cached(OLD)?;
    let values = named_params! { ":before": how.before, ":from": from, ":below": below };
    let rows = query.query_map(values, |row| {
        let (id, state, ended_at) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Old { id, state, ended_at, is_needed: row.get(3)? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What a batch would delete.
pub(super) fn look(connection: &Connection, how: &Prune) -> Fallible<Pruned> {
    go_through(&batch(connection, how)?, |_, _| Ok(0))
}

/// Deletes a batch.
pub(super) fn prune(tx: &Transaction<'_>, how: &Prune) -> Fallible<Pruned> {
    let pruned = go_through(&batch(tx, how)?, |job, files| delete(tx, job, files))?;
    if pruned.next.is_none() {
        forget_environments(tx)?;
    }
    Ok(pruned)
}

/// Goes through a batch with what deletes a job and tells how many edges went.
fn go_through(
    batch: &[Old],
    mut delete: impl FnMut(JobId, &mut Vec<(JobId, u32)>) -> Fallible<usize>,
) -> Fallible<Pruned> {
    let mut pruned = Pruned::default();
    let mut edges = 0;
    for (place, old) in batch.iter().enumerate() {
        if !old.is_needed {
            edges += delete(old.id, &mut pruned.files)?;
            pruned.removed.push((old.id, old.state));
        }
        let is_last = place + 1 == BATCH || edges > EDGES;
        if is_last {
            pruned.next = Some((old.ended_at, old.id));
            break;
        }
    }
    Ok(pruned)
}

/// Deletes a job with all that belongs to it; notes the files of its output.
fn delete(tx: &Transaction<'_>, job: JobId, files: &mut Vec<(JobId, u32)>) -> Fallible<usize> {
    const FILES: &str =
        "SELECT attempt FROM ax_attempts WHERE job_id = :job AND output_in_file = 1";
    const EDGES_UP: &str = "DELETE FROM ax_deps WHERE job_id = :job";
    const EDGES_DOWN: &str = "DELETE FROM ax_deps WHERE depends_on = :job";
    const REST: [&str; 5] = [
        "DELETE FROM ax_hooks WHERE job_id = :job",
        "DELETE FROM ax_outputs WHERE job_id = :job",
        "DELETE FROM ax_attempts WHERE job_id = :job",
        "DELETE FROM ax_judge WHERE job_id = :job",
        "DELETE FROM ax_jobs WHERE id = :job",
    ];
    let values = named_params! { ":job": job };
    let mut query = tx.prepare_cached(FILES)?;
    for attempt in query.query_map(values, |row| row.get(0))? {
        files.push((job, attempt?));
    }
    let edges = tx.prepare_cached(EDGES_UP)?.execute(values)?
        + tx.prepare_cached(EDGES_DOWN)?.execute(values)?;
    for delete in REST {
        tx.prepare_cached(delete)?.execute(values)?;
    }
    Ok(edges)
}

/// Deletes the environments that no job has any more. All jobs must be looked
/// at for that, so it is done when there are few.
fn forget_environments(tx: &Transaction<'_>) -> Fallible<()> {
    const ARE_FEW: &str = "SELECT count(*) < 10000 FROM (SELECT 1 FROM ax_jobs LIMIT 10000)";
    const FORGET: &str = "
        DELETE FROM ax_envs
        WHERE id NOT IN (SELECT env_id FROM ax_jobs WHERE env_id IS NOT NULL)";
    if tx.query_row(ARE_FEW, [], |row| row.get(0))? {
        // Whether a job has it is asked once for all, not once for each.
        tx.execute_batch("PRAGMA defer_foreign_keys = on")?;
        tx.execute(FORGET, [])?;
    }
    Ok(())
}
