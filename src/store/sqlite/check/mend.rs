//! The repairs that are right whatever was meant.

use rusqlite::{Connection, Result, Transaction, named_params};

use super::{engine, exists};
use crate::job::{Event, JobId, RunnerId, Timestamp};
use crate::store::{Cure, Fault, Repair};

/// Repairs what has one right repair, and tells what was done. `None` if a
/// person must decide, or if the repair is [`Repair::Checkpoint`], which has
/// no place in a transaction.
pub(in crate::store::sqlite) fn mend(
    tx: &Transaction<'_>,
    fault: &Fault,
    now: Timestamp,
) -> Result<Option<String>> {
    let Cure::Repair(repair) = fault.cure else { return Ok(None) };
    let job = fault.job.unwrap_or_default();
    match repair {
        Repair::Checkpoint => return Ok(None),
        Repair::ForgetMissingChild | Repair::ForgetHistory if exists(tx, job)? => return Ok(None),
        Repair::ForgetMissingParents => on_job(tx, FORGET_MISSING_PARENTS, job)?,
        Repair::ForgetMissingChild => {
            on_job(tx, "DELETE FROM ax_deps WHERE job_id = :job", job)?;
            on_job(tx, "DELETE FROM ax_judge WHERE job_id = :job", job)?;
        }
        Repair::ForgetSelf => on_job(tx, FORGET_SELF, job)?,
        Repair::Judge => on_job(tx, "INSERT OR IGNORE INTO ax_judge (job_id) VALUES (:job)", job)?,
        Repair::Unblock => on_job(tx, UNBLOCK, job)?,
        Repair::LookAtLimits => on_job(tx, LOOK_AT_LIMITS, job)?,
        Repair::Recount => on_job(tx, RECOUNT, job)?,
        Repair::CloseAttempts => close_attempts(tx, job, now)?,
        Repair::Disown => on_job(tx, DISOWN, job)?,
        Repair::Suspend => suspend(tx, job, now)?,
        Repair::Enlist(runner) => enlist(tx, runner, now)?,
        Repair::ForgetHistory => {
            on_job(tx, "DELETE FROM ax_outputs WHERE job_id = :job", job)?;
            on_job(tx, "DELETE FROM ax_attempts WHERE job_id = :job", job)?;
        }
        Repair::ForgetOutput => on_job(tx, FORGET_OUTPUT, job)?,
        Repair::ForgetFile(attempt) => forget_file(tx, job, attempt)?,
        Repair::Reindex => tx.execute_batch("REINDEX")?,
        Repair::RestoreSchema => engine::restore_schema(tx)?,
    }
    Ok(Some(repair.sentence().to_owned()))
}

fn on_job(connection: &Connection, sql: &str, job: JobId) -> Result<()> {
    connection.prepare_cached(sql)?.execute(named_params! { ":job": job }).map(drop)
}

/// The rule of [`super`], asked again: the job may have been brought back.
const FORGET_MISSING_PARENTS: &str = "
    DELETE FROM ax_deps
    WHERE job_id = :job AND depends_on NOT IN (SELECT id FROM ax_jobs)
        AND NOT EXISTS (
            SELECT 1 FROM ax_jobs WHERE id = :job AND status IN ('pending', 'ready', 'held', 'skipped'))";

const FORGET_SELF: &str = "
    DELETE FROM ax_deps
    WHERE job_id = :job AND depends_on = :job
        AND NOT EXISTS (
            SELECT 1 FROM ax_jobs WHERE id = :job AND status IN ('pending', 'ready', 'held', 'skipped'))";

const UNBLOCK: &str = "UPDATE ax_jobs SET waits_on = NULL WHERE id = :job AND status = 'failed'";

const LOOK_AT_LIMITS: &str = "
    INSERT OR IGNORE INTO ax_gates (kind, name)
        SELECT 'mutex', mutex FROM ax_jobs WHERE id = :job AND mutex IS NOT NULL
        UNION ALL
        SELECT 'group', group_name FROM ax_jobs WHERE id = :job AND group_name IS NOT NULL";

const RECOUNT: &str = "
    UPDATE ax_jobs SET
        attempts = coalesce((SELECT max(attempt) FROM ax_attempts WHERE job_id = :job), 0),
        retry_count = min(retry_count, max_retries),
        loss_count = min(loss_count, (
            SELECT count(*) FROM ax_attempts WHERE job_id = :job AND outcome = 'lost'))
    WHERE id = :job";

const DISOWN: &str = "
    UPDATE ax_jobs SET owner = NULL
    WHERE id = :job AND status NOT IN ('dispatched', 'running')";

const FORGET_OUTPUT: &str = "
    DELETE FROM ax_outputs
    WHERE job_id = :job
        AND NOT EXISTS (
            SELECT 1 FROM ax_attempts AS attempt
            WHERE attempt.job_id = ax_outputs.job_id AND attempt.attempt = ax_outputs.attempt)";

/// Closes the open attempts that are not the current one of an owned job.
fn close_attempts(tx: &Transaction<'_>, job: JobId, now: Timestamp) -> Result<()> {
    const CLOSE: &str = "
        UPDATE ax_attempts SET
            ended_at = :now, outcome = 'lost', reason = 'closed by ax doctor: nobody settled it'
        WHERE job_id = :job AND ended_at IS NULL
            AND NOT EXISTS (
                SELECT 1 FROM ax_jobs
                WHERE id = :job AND status IN ('dispatched', 'running')
                    AND ax_attempts.attempt = (
                        SELECT max(attempt) FROM ax_attempts WHERE job_id = :job))";
    tx.execute(CLOSE, named_params! { ":job": job, ":now": now }).map(drop)
}

/// Holds an owned job without owner or open attempt.
fn suspend(tx: &Transaction<'_>, job: JobId, now: Timestamp) -> Result<()> {
    const SUSPEND: &str = "
        UPDATE ax_jobs SET
            status = :to, owner = NULL, updated_at = :now,
            reason = 'outcome unknown: its attempt is not in the history'
        WHERE id = :job AND status IN ('dispatched', 'running')
            AND (owner IS NULL
                OR NOT EXISTS (
                    SELECT 1 FROM ax_attempts WHERE job_id = :job AND ended_at IS NULL))";
    let to = Event::Suspend.target();
    tx.execute(SUSPEND, named_params! { ":job": job, ":to": to, ":now": now }).map(drop)
}

/// Enters a runner of which nothing is known but its number: it counts as gone
/// unless it still holds its lock.
fn enlist(tx: &Transaction<'_>, runner: RunnerId, now: Timestamp) -> Result<()> {
    const ENLIST: &str = "
        INSERT OR IGNORE INTO ax_runners (id, pid, start_time, boot_id, workers, started_at)
        VALUES (:runner, 0, 0, '', 0, :now)";
    tx.execute(ENLIST, named_params! { ":runner": runner, ":now": now }).map(drop)
}

fn forget_file(tx: &Transaction<'_>, job: JobId, attempt: u32) -> Result<()> {
    const FORGET: &str = "
        UPDATE ax_attempts SET output_in_file = 0 WHERE job_id = :job AND attempt = :attempt";
    tx.execute(FORGET, named_params! { ":job": job, ":attempt": attempt }).map(drop)
}
