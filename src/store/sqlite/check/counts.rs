//! Faults of states, attempts and what is counted of them.

use rusqlite::{Connection, Result, named_params};

use super::{Help, Question};
use crate::job::{JobId, RunnerId, Timestamp};
use crate::store::{Cure, Fault, FaultKind, Repair};

/// How long a job may be due before that is strange, in milliseconds.
const PATIENCE: i64 = 60_000;

pub(super) fn faults(connection: &Connection, now: Timestamp) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for question in &QUESTIONS {
        question.ask(connection, &mut faults)?;
    }
    strangers(connection, &mut faults)?;
    overdue(connection, now, &mut faults)?;
    Ok(faults)
}

const QUESTIONS: [Question; 11] = [
    Question {
        kind: FaultKind::StateDisagrees,
        sql: "
            SELECT id, 'is ' || status || ', and no runner owns it'
            FROM ax_jobs
            WHERE status IN ('dispatched', 'running') AND owner IS NULL",
        help: Help::Repair(Repair::Suspend),
    },
    Question {
        kind: FaultKind::StateDisagrees,
        sql: "
            SELECT id, 'is ' || status || ', and yet a runner owns it'
            FROM ax_jobs
            WHERE status NOT IN ('dispatched', 'running') AND owner IS NOT NULL",
        help: Help::Repair(Repair::Disown),
    },
    Question {
        kind: FaultKind::StateDisagrees,
        sql: "
            SELECT id, 'is ' || status || ', and has no open attempt'
            FROM ax_jobs
            WHERE status IN ('dispatched', 'running') AND owner IS NOT NULL
                AND NOT EXISTS (
                    SELECT 1 FROM ax_attempts
                    WHERE job_id = ax_jobs.id AND ended_at IS NULL)",
        help: Help::Repair(Repair::Suspend),
    },
    Question {
        kind: FaultKind::StateDisagrees,
        sql: "
            SELECT job.id, 'is ' || job.status || ', and attempt ' || open.attempt || ' has no end'
            FROM ax_attempts AS open JOIN ax_jobs AS job ON job.id = open.job_id
            WHERE open.ended_at IS NULL
                AND (job.status NOT IN ('dispatched', 'running')
                    OR EXISTS (
                        SELECT 1 FROM ax_attempts AS later
                        WHERE later.job_id = open.job_id AND later.attempt > open.attempt))",
        help: Help::Repair(Repair::CloseAttempts),
    },
    Question {
        kind: FaultKind::StateDisagrees,
        sql: "
            SELECT job.id, 'is failed, and its last attempt is not'
            FROM ax_jobs AS job
            WHERE job.status = 'failed'
                AND NOT EXISTS (
                    SELECT 1 FROM ax_attempts AS last
                    WHERE last.job_id = job.id AND last.ended_at IS NOT NULL
                        AND last.exit_code IS NOT 0
                        AND last.attempt = (
                            SELECT max(attempt) FROM ax_attempts WHERE job_id = job.id))",
        help: Help::Advice("`ax retry {job}` runs it again, `ax hold {job}` stops it"),
    },
    Question {
        kind: FaultKind::Drifted,
        sql: "
            SELECT id, 'has failed and waits for its time, and is marked as waiting for a job'
            FROM ax_jobs
            WHERE status = 'failed' AND waits_on IS NOT NULL",
        help: Help::Repair(Repair::Unblock),
    },
    Question {
        kind: FaultKind::Drifted,
        sql: "
            SELECT id, 'counts other attempts than its history'
            FROM ax_jobs
            WHERE attempts <> coalesce(
                (SELECT max(attempt) FROM ax_attempts WHERE job_id = ax_jobs.id), 0)",
        help: Help::Repair(Repair::Recount),
    },
    Question {
        kind: FaultKind::Drifted,
        sql: "
            SELECT id, 'counts more retries than it may have'
            FROM ax_jobs
            WHERE retry_count > max_retries AND max_retries >= 0
                AND status NOT IN ('success', 'dead', 'cancelled', 'skipped')",
        help: Help::Repair(Repair::Recount),
    },
    Question {
        kind: FaultKind::Drifted,
        sql: "
            SELECT id, 'counts more lost attempts than its history'
            FROM ax_jobs
            WHERE loss_count > 0
                AND loss_count > (
                    SELECT count(*) FROM ax_attempts
                    WHERE job_id = ax_jobs.id AND outcome = 'lost')",
        help: Help::Repair(Repair::Recount),
    },
    Question {
        kind: FaultKind::Drifted,
        sql: "
            SELECT min(id), 'waits for the mutex ' || mutex || ', which is free, and is not let through'
            FROM ax_jobs AS job
            WHERE status = 'ready' AND mutex IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM ax_gates WHERE kind = 'mutex' AND name = job.mutex)
                AND NOT EXISTS (
                    SELECT 1 FROM ax_jobs AS holder
                    WHERE holder.mutex = job.mutex AND holder.status IN ('dispatched', 'running'))
            GROUP BY mutex, group_name HAVING max(coalesce(admitted, 0)) = 0",
        help: Help::Repair(Repair::LookAtLimits),
    },
    Question {
        kind: FaultKind::Drifted,
        sql: "
            SELECT min(id), 'waits for the group ' || group_name || ', which has room, and is not let through'
            FROM ax_jobs AS job
            WHERE status = 'ready' AND group_name IS NOT NULL
                AND (mutex IS NULL OR admitted IS NOT NULL)
                AND NOT EXISTS (
                    SELECT 1 FROM ax_gates WHERE kind = 'group' AND name = job.group_name)
                AND NOT EXISTS (
                    SELECT 1 FROM ax_groups
                    WHERE name = job.group_name
                        AND (paused OR parallel <= (
                            SELECT count(*) FROM ax_jobs AS other
                            WHERE other.group_name = job.group_name
                                AND other.status IN ('dispatched', 'running'))))
            GROUP BY group_name HAVING max(coalesce(admitted, 0)) < 2",
        help: Help::Repair(Repair::LookAtLimits),
    },
];

/// Jobs whose runner nobody knows, so that nobody would ask after it.
fn strangers(connection: &Connection, faults: &mut Vec<Fault>) -> Result<()> {
    const STRANGERS: &str = "
        SELECT id, owner FROM ax_jobs
        WHERE status IN ('dispatched', 'running')
            AND owner IS NOT NULL AND owner NOT IN (SELECT id FROM ax_runners)
        ORDER BY id";
    let mut query = connection.prepare(STRANGERS)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (job, owner): (JobId, RunnerId) = (row.get(0)?, row.get(1)?);
        faults.push(Fault {
            kind: FaultKind::StateDisagrees,
            job: Some(job),
            what: format!("job {job} is owned by runner {owner}, which nobody knows"),
            cure: Cure::Repair(Repair::Enlist(owner)),
        });
    }
    Ok(())
}

/// Jobs that a living runner should have made ready long ago.
fn overdue(connection: &Connection, now: Timestamp, faults: &mut Vec<Fault>) -> Result<()> {
    const OVERDUE: &str = "
        SELECT id, status FROM ax_jobs
        WHERE status IN ('pending', 'failed') AND waits_on IS NULL
            AND max(scheduled_at, updated_at) < :long_ago
            AND NOT EXISTS (SELECT 1 FROM ax_judge WHERE job_id = ax_jobs.id)
        ORDER BY id";
    let mut query = connection.prepare(OVERDUE)?;
    let mut rows = query.query(named_params! { ":long_ago": now.millis() - PATIENCE })?;
    while let Some(row) = rows.next()? {
        let (job, status): (JobId, String) = (row.get(0)?, row.get(1)?);
        faults.push(Fault {
            kind: FaultKind::Overdue,
            job: Some(job),
            what: format!("job {job} is {status} and overdue, and no runner takes it up"),
            cure: Cure::Advice(format!(
                "`ax show {job}` says more; a runner that hangs or only ends its jobs can be \
                 replaced with `ax run`"
            )),
        });
    }
    Ok(())
}
