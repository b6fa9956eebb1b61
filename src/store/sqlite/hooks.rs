//! Hooks: taken by a runner, begun once, ended.
//!
//! Triggers owe them, in the commit in which the end they are about is
//! written. Taking one is no promise to run it: until it is begun it can go
//! back. Beginning it is one guarded write, so nobody begins it a second time.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params};

use super::Fallible;
use super::row::{self, Bytes, Millis};
use crate::job::hook::{self, Ending, HookEnd, HookId, HookRecord, HookTask, OpenHook};
use crate::job::{Command, EnvBlock, FlowRunId, JobId, RunnerId, Spec, Timestamp};

pub(super) const OWED: &str = "
    SELECT id FROM ax_hooks
    WHERE owner IS NULL AND ended_at IS NULL
    ORDER BY id";

pub(super) const OWED_IN_SCOPE: &str = "
    SELECT id FROM ax_hooks
    WHERE owner IS NULL AND ended_at IS NULL AND flow_run = :scope
    ORDER BY id";

/// The hooks to take next, in order; no more are read than asked for.
fn owed(
    connection: &Connection,
    scope: Option<FlowRunId>,
    limit: usize,
) -> rusqlite::Result<Vec<HookId>> {
    let id = |row: &Row<'_>| row.get(0);
    match scope {
        None => connection.prepare_cached(OWED)?.query_map([], id)?.take(limit).collect(),
        Some(_) => connection
            .prepare_cached(OWED_IN_SCOPE)?
            .query_map(named_params! { ":scope": scope }, id)?
            .take(limit)
            .collect(),
    }
}

/// Tells whether a hook waits for a runner.
pub(super) fn are_owed(connection: &Connection, scope: Option<FlowRunId>) -> Fallible<bool> {
    Ok(!owed(connection, scope, 1)?.is_empty())
}

/// Takes up to `room` hooks for a runner.
pub(super) fn take(
    tx: &Transaction<'_>,
    runner: RunnerId,
    scope: Option<FlowRunId>,
    room: usize,
) -> Fallible<Vec<HookId>> {
    const TAKE: &str = "UPDATE ax_hooks SET owner = :runner WHERE id = :hook";
    let hooks = owed(tx, scope, room)?;
    for hook in &hooks {
        tx.prepare_cached(TAKE)?.execute(named_params! { ":runner": runner, ":hook": hook })?;
    }
    Ok(hooks)
}

/// Gives a hook back that a runner has taken and nobody has begun.
pub(super) fn give_back(tx: &Transaction<'_>, hook: HookId, runner: RunnerId) -> Fallible<()> {
    const GIVE_BACK: &str = "
        UPDATE ax_hooks SET owner = NULL
        WHERE id = :hook AND owner = :runner AND started_at IS NULL";
    tx.prepare_cached(GIVE_BACK)?.execute(named_params! { ":hook": hook, ":runner": runner })?;
    Ok(())
}

/// Begins a hook that the runner has taken: what is to be run, or `None` if it
/// was begun or given back before.
pub(super) fn begin(
    tx: &Transaction<'_>,
    hook: HookId,
    runner: RunnerId,
    now: Timestamp,
) -> Fallible<Option<HookTask>> {
    const BEGIN: &str = "
        UPDATE ax_hooks SET started_at = :now
        WHERE id = :hook AND owner = :runner AND started_at IS NULL";
    const READ: &str = "
        SELECT
            hook.id, hook.job_id, hook.of_run, hook.status, hook.attempt, hook.exit_code, hook.signal,
            hook.reason, hook.command, hook.timeout, coalesce(hook.cwd, job.cwd) AS cwd,
            job.name, job.key, job.flow, job.max_retries, job.umask, job.extra_env, env.block,
            attempt.started_at, attempt.ended_at
        FROM ax_hooks AS hook
            JOIN ax_jobs AS job ON job.id = hook.job_id
            LEFT JOIN ax_envs AS env ON env.id = job.env_id
            LEFT JOIN ax_attempts AS attempt
                ON attempt.job_id = hook.job_id AND attempt.attempt = hook.attempt
        WHERE hook.id = :hook";
    let begun = tx
        .prepare_cached(BEGIN)?
        .execute(named_params! { ":now": now, ":hook": hook, ":runner": runner })?;
    if begun == 0 {
        return Ok(None);
    }
    let mut read = tx.prepare_cached(READ)?;
    Ok(read.query_row(named_params! { ":hook": hook }, task).optional()?)
}

fn task(row: &Row<'_>) -> rusqlite::Result<HookTask> {
    let started_at: Option<Timestamp> = row.get("started_at")?;
    let ended_at: Option<Timestamp> = row.get("ended_at")?;
    let ending = Ending {
        hook: row.get("id")?,
        job: row.get("job_id")?,
        name: row::text(row, "name")?,
        key: row::text(row, "key")?,
        flow: row::text(row, "flow")?,
        state: row.get("status")?,
        attempt: row.get("attempt")?,
        max_retries: row.get("max_retries")?,
        exit_code: row.get("exit_code")?,
        signal: row.get("signal")?,
        reason: row::text(row, "reason")?,
        took: started_at.zip(ended_at).map(|(from, to)| to.since(from)),
    };
    // What `-e` set is the job's own, and a run's hook is not one of its jobs.
    let of_run: bool = row.get("of_run")?;
    let own: Option<Vec<u8>> = if of_run { None } else { row.get("extra_env")? };
    let env: Option<Vec<u8>> = row.get("block")?;
    let spec = Spec {
        command: Command::Shell(row.get::<_, Bytes>("command")?.0),
        cwd: row.get::<_, Option<Bytes>>("cwd")?.map(|bytes| bytes.0),
        umask: row.get("umask")?,
        env: env.map(|block| Arc::new(EnvBlock(block))),
        extra_env: EnvBlock(own.unwrap_or_default()),
        timeout: Some(timeout(row)?),
        kill_after: hook::KILL_AFTER,
    };
    Ok(HookTask { ending, spec })
}

fn timeout(row: &Row<'_>) -> rusqlite::Result<Duration> {
    Ok(row.get::<_, Millis>("timeout")?.0)
}

/// Writes how a hook ended that was begun; the first word counts.
pub(super) fn end(tx: &Transaction<'_>, hook: HookId, end: &HookEnd) -> Fallible<bool> {
    const END: &str = "
        UPDATE ax_hooks SET ended_at = :at, outcome = :outcome, error = :error, output = :output
        WHERE id = :hook AND started_at IS NOT NULL AND ended_at IS NULL";
    let written = tx.prepare_cached(END)?.execute(named_params! {
        ":at": end.at,
        ":outcome": end.outcome.as_str(),
        ":error": end.error(),
        ":output": (!end.output.is_empty()).then_some(&end.output),
        ":hook": hook,
    })?;
    Ok(written > 0)
}

pub(super) const OPEN: &str = "
    SELECT id, job_id, owner, started_at IS NOT NULL AS begun FROM ax_hooks
    WHERE owner IS NOT NULL AND ended_at IS NULL
    ORDER BY id";

/// The hooks that runners have taken and that have not ended.
pub(super) fn open(connection: &Connection) -> Fallible<Vec<OpenHook>> {
    let mut query = connection.prepare_cached(OPEN)?;
    let rows = query.query_map([], |row| {
        Ok(OpenHook {
            id: row.get("id")?,
            job: row.get("job_id")?,
            owner: row.get("owner")?,
            begun: row.get("begun")?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(super) const TAKEN: &str = "
    SELECT count(*) FROM ax_hooks
    WHERE owner IS NOT NULL AND ended_at IS NULL AND (:scope IS NULL OR flow_run = :scope)";

/// How many hooks have not ended; of those that are owed no more are counted
/// than tell whether there are some.
pub(super) fn unfinished(connection: &Connection, scope: Option<FlowRunId>) -> Fallible<u64> {
    let mut query = connection.prepare_cached(TAKEN)?;
    let taken: u64 = query.query_row(named_params! { ":scope": scope }, |row| row.get(0))?;
    Ok(taken + u64::from(are_owed(connection, scope)?))
}

pub(super) const OF_JOB: &str = "SELECT * FROM ax_hooks WHERE job_id = :job ORDER BY id";

/// The hooks of a job, oldest first.
pub(super) fn of_job(connection: &Connection, job: JobId) -> Fallible<Vec<HookRecord>> {
    let mut query = connection.prepare_cached(OF_JOB)?;
    let rows = query.query_map(named_params! { ":job": job }, |row| {
        Ok(HookRecord {
            id: row.get("id")?,
            of_run: row.get("of_run")?,
            state: row.get("status")?,
            attempt: row.get("attempt")?,
            command: row.get::<_, Bytes>("command")?.0,
            owed_at: row.get("owed_at")?,
            started_at: row.get("started_at")?,
            ended_at: row.get("ended_at")?,
            outcome: row::text(row, "outcome")?,
            error: row::text(row, "error")?,
            output: row.get::<_, Option<Vec<u8>>>("output")?.unwrap_or_default(),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
