//! A runner's turn: settle, judge, release, claim, in one commit.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params};

use super::gates::Limits;
use super::row;
use super::settle::Written;
use super::{Fallible, cancel, chain, gates, handed, hooks, judge, schedule, settle};
use crate::job::{
    Claim, Claimed, Command, EnvBlock, Event, FlowRunId, JobId, RunnerId, Spec, State, Timestamp,
};
use crate::store::{Moved, Turn, Turned};

/// Does a turn.
pub(super) fn turn(tx: &Transaction<'_>, turn: &Turn<'_>, envs: &mut EnvCache) -> Fallible<Turned> {
    let answers = handed::add_handed(tx, turn.handed, &[])?;
    let added = answers.into_iter().map(Result::ok).collect();
    let mut turned = Turned { added, ..Turned::default() };
    for started in turn.started {
        settle::start(tx, started, turn.now)?;
    }
    for settlement in turn.settled {
        match settle::settle(tx, settlement, turn.now)? {
            Written::Anew => (),
            Written::Before => turned.repeated.push(settlement.claim),
            Written::Late => turned.late.push(settlement.claim),
            Written::Overruled(verdict) => turned.overruled.push((settlement.claim, verdict)),
        }
    }
    chain::mend(tx, turn.now, &mut turned.moved)?;
    if turn.serves {
        schedule::advance(tx, turn.now, &mut turned)?;
    }
    judge::drain(tx, turn.now, judge::PER_TURN, &mut turned.moved)?;
    follow_clock(tx, turn.now)?;
    if turn.serves {
        release(tx, turn.now)?;
    }
    gates::drain(tx, gates::PER_TURN)?;
    claim(tx, turn, envs, &mut turned)?;
    turned.next_due = next_due(tx, turn)?;
    turned.more = is_work(tx, turn)?;
    turned.cancels = cancel::marked(tx, turn.runner)?;
    turned.hooks_owed = hooks::are_owed(tx, turn.scope)?;
    Ok(turned)
}

/// What a turn without news would bring: `None` if there is something to write.
pub(super) fn look(connection: &Connection, turn: &Turn<'_>) -> Fallible<Option<Turned>> {
    if is_work(connection, turn)? {
        return Ok(None);
    }
    let next_due = next_due(connection, turn)?;
    let cancels = cancel::marked(connection, turn.runner)?;
    let hooks_owed = hooks::are_owed(connection, turn.scope)?;
    Ok(Some(Turned { cancels, next_due, hooks_owed, quiet: true, ..Turned::default() }))
}

pub(super) const DUE: &str = concat!(
    "
    SELECT EXISTS (
        SELECT 1 FROM ax_jobs
        WHERE status IN ('pending', 'failed') AND waits_on IS NULL AND ",
    due!(),
    " <= :now)"
);

pub(super) const SET_BACK: &str = "
    SELECT EXISTS (
        SELECT 1 FROM ax_jobs
        WHERE status IN ('pending', 'failed') AND finished_at > :now
            AND (status = 'failed' OR attempts > 0))";

fn is_work(connection: &Connection, turn: &Turn<'_>) -> Fallible<bool> {
    if judge::is_open(connection)? {
        return Ok(true);
    }
    let is_so = |sql| {
        let mut query = connection.prepare_cached(sql)?;
        query.query_row(named_params! { ":now": turn.now }, |row| row.get::<_, bool>(0))
    };
    Ok(is_so(SET_BACK)?
        || (turn.serves && (is_so(DUE)? || schedule::is_due(connection, turn.now)?))
        || chain::is_broken(connection)?
        || (turn.room > 0 && !ready(connection, turn.scope, 1)?.is_empty()))
}

pub(super) const FOLLOW: &str = "
    UPDATE ax_jobs SET
        scheduled_at = :now + max(0, scheduled_at - finished_at), finished_at = :now, updated_at = :now
    WHERE status IN ('pending', 'failed') AND finished_at > :now
        AND (status = 'failed' OR attempts > 0)";

/// A job that waits after an attempt that ended later than now tells that the
/// clock was set back: it waits from now on, as long as it was to wait then.
fn follow_clock(tx: &Transaction<'_>, now: Timestamp) -> Fallible<()> {
    tx.prepare_cached(FOLLOW)?.execute(named_params! { ":now": now })?;
    Ok(())
}

/// At most so many in one turn, the rest in the next. A literal, as every limit
/// here: a bound one has the engine prepare the statement anew each time.
pub(super) const RELEASE: &str = concat!(
    "
    UPDATE ax_jobs SET status = :ready, updated_at = :now
    WHERE id IN (
        SELECT id FROM ax_jobs
        WHERE status IN ('pending', 'failed') AND waits_on IS NULL AND ",
    due!(),
    " <= :now
            AND NOT EXISTS (SELECT 1 FROM ax_judge WHERE job_id = ax_jobs.id)
        ORDER BY ",
    due!(),
    ", id
        LIMIT 2000)"
);

/// Lets what is due become ready: first starts (`Release`) and retries
/// (`Rearm`, then `Release`).
fn release(tx: &Transaction<'_>, now: Timestamp) -> Fallible<()> {
    tx.prepare_cached(RELEASE)?.execute(named_params! {
        ":ready": Event::Release.target(), ":now": now,
    })?;
    Ok(())
}

/// Of a schedule the next start may be none that waits for its time: a person
/// can have ended it, started it or put it off.
pub(super) const NEXT_DUE: &str = concat!(
    "
    SELECT min(at) FROM (
        SELECT min(",
    due!(),
    ") AS at FROM ax_jobs
        WHERE status IN ('pending', 'failed') AND waits_on IS NULL
        UNION ALL
        SELECT min(next_at) FROM ax_schedules WHERE next_at IS NOT NULL)"
);

pub(super) const NEXT_DUE_IN_SCOPE: &str = "
    SELECT min(at) FROM (
        SELECT min(scheduled_at) AS at FROM ax_jobs
        WHERE flow_run = :scope AND status IN ('pending', 'failed') AND waits_on IS NULL
        UNION ALL
        SELECT min(next_at) FROM ax_schedules WHERE next_at IS NOT NULL)";

/// When the next job becomes due that waits for its time alone, or the next
/// start of a schedule, if that lies ahead.
fn next_due(connection: &Connection, turn: &Turn<'_>) -> Fallible<Option<Timestamp>> {
    let due: Option<Timestamp> = match turn.scope {
        None => connection.prepare_cached(NEXT_DUE)?.query_row([], |row| row.get(0)),
        Some(scope) => connection
            .prepare_cached(NEXT_DUE_IN_SCOPE)?
            .query_row(named_params! { ":scope": scope }, |row| row.get(0)),
    }?;
    Ok(due.filter(|due| *due > turn.now))
}

/// Which jobs a runner may take.
pub(super) const TAKEABLE: &str = takeable!();

pub(super) const READY: &str = concat!(
    "
    SELECT id FROM ax_jobs
    WHERE ",
    takeable!(),
    " AND NOT EXISTS (SELECT 1 FROM ax_judge WHERE job_id = ax_jobs.id)
    ORDER BY ",
    turn_of_a_job!()
);

/// A runner of one run of a flow may take its jobs also before those of others
/// that wait for the same limit, which it could not run.
pub(super) const READY_IN_SCOPE: &str = concat!(
    "
    SELECT id FROM ax_jobs AS job
    WHERE flow_run = :scope AND status = 'ready'
        AND NOT EXISTS (SELECT 1 FROM ax_judge WHERE job_id = job.id)
        AND NOT EXISTS (
            SELECT 1 FROM ax_jobs AS holder
            WHERE holder.mutex = job.mutex AND holder.status IN ('dispatched', 'running'))
        AND NOT EXISTS (
            SELECT 1 FROM ax_groups
            WHERE name = job.group_name
                AND (paused OR parallel <= (
                    SELECT count(*) FROM ax_jobs AS other
                    WHERE other.group_name = job.group_name
                        AND other.status IN ('dispatched', 'running'))))
    ORDER BY ",
    turn_of_a_job!()
);

/// The jobs to take next, in order; no more are read than asked for.
fn ready(connection: &Connection, scope: Option<FlowRunId>, limit: usize) -> Fallible<Vec<JobId>> {
    let id = |row: &Row<'_>| row.get(0);
    let jobs = match scope {
        None => connection.prepare_cached(READY)?.query_map([], id)?.take(limit).collect(),
        Some(_) => connection
            .prepare_cached(READY_IN_SCOPE)?
            .query_map(named_params! { ":scope": scope }, id)?
            .take(limit)
            .collect::<rusqlite::Result<_>>(),
    };
    Ok(jobs?)
}

/// What [`claimed`] reads.
macro_rules! claim_columns {
    () => {
        concat!(shared_columns!(), ", extra_env, env_id, id, status")
    };
}

/// The place of a column of them.
macro_rules! at {
    ($name:literal) => {
        const { row::place(claim_columns!(), $name) }
    };
}

const READ: &str = concat!("SELECT ", claim_columns!(), " FROM ax_jobs WHERE id = :job");

const OPEN_ATTEMPT: &str = "
    INSERT OR IGNORE INTO ax_attempts (job_id, attempt, owner, claimed_at)
    VALUES (:job, :attempt, :runner, :now)";

const TAKE: &str = "
    UPDATE ax_jobs SET
        status = :to, attempts = :attempt, owner = :runner, reason = NULL, cancelling = NULL,
        admitted = NULL, snoozed_until = NULL, progress = NULL, progress_text = NULL,
        updated_at = :now
    WHERE id = :job";

fn claim(
    tx: &Transaction<'_>,
    turn: &Turn<'_>,
    envs: &mut EnvCache,
    turned: &mut Turned,
) -> Fallible<()> {
    let mut ahead = turn.room;
    while turned.claimed.len() < turn.room {
        let wanted = ahead.min(turn.room - turned.claimed.len());
        let ready = ready(tx, turn.scope, wanted)?;
        let are_all = ready.len() < wanted;
        match take_all(tx, ready, turn, envs, turned)? {
            Some(limits) => {
                // Behind it somebody else may be the next now.
                gates::pass_on(tx, &limits)?;
                ahead = AHEAD;
            }
            None if are_all => break,
            None => (),
        }
    }
    Ok(())
}

/// How far is looked ahead, after a job with a limit was met.
const AHEAD: usize = 16;

/// Takes these jobs up to the first one with limits; tells which, if there was one.
fn take_all(
    tx: &Transaction<'_>,
    jobs: Vec<JobId>,
    turn: &Turn<'_>,
    envs: &mut EnvCache,
    turned: &mut Turned,
) -> Fallible<Option<Limits>> {
    for job in jobs {
        let (claimed, limits) = take(tx, job, turn, envs)?;
        match claimed {
            Some(Ok(claimed)) => turned.claimed.push(claimed),
            Some(Err(nonsense)) => {
                turned.nonsense.push(format!("job {job} is held: {nonsense}"));
                let title = super::query::title(tx, job)?;
                turned.moved.push(Moved { job, title, event: Event::Hold, reason: Some(nonsense) });
            }
            None => (),
        }
        if limits != Limits::default() {
            return Ok(Some(limits));
        }
    }
    Ok(None)
}

/// Takes a job: its claim, or what is wrong with its row, which is held, or
/// `None` if it has to wait for one of its limits.
fn take(
    tx: &Transaction<'_>,
    job: JobId,
    turn: &Turn<'_>,
    envs: &mut EnvCache,
) -> Fallible<(Option<Result<Claimed, String>>, Limits)> {
    let (next, limits) = next_claim(tx, job, turn.runner, envs)?;
    if limits != Limits::default() && !gates::admit(tx, job, &limits)? {
        return Ok((None, limits));
    }
    let opened = match next {
        Ok(claimed) => open_attempt(tx, claimed, turn.now)?,
        Err(why) => Err(why),
    };
    match &opened {
        Ok(claimed) => {
            tx.prepare_cached(TAKE)?.execute(named_params! {
                ":to": Event::Claim.target(), ":attempt": claimed.claim.attempt,
                ":runner": turn.runner, ":now": turn.now, ":job": job,
            })?;
        }
        Err(why) => judge::change(tx, job, Event::Hold, Some(why), turn.now)?,
    }
    Ok((Some(opened), limits))
}

/// What a claim of this job would be, if its row makes sense, and its limits.
fn next_claim(
    tx: &Transaction<'_>,
    job: JobId,
    owner: RunnerId,
    envs: &mut EnvCache,
) -> Fallible<(Result<Claimed, String>, Limits)> {
    let mut read = tx.prepare_cached(READ)?;
    let claimed = read.query_row(named_params! { ":job": job }, |row| {
        let limits = Limits { group: row::group(row)?, mutex: row::mutex(row)? };
        let command = row::command(row)?.map_err(|_| unsplittable());
        let codes = row::codes(row)?.map(drop);
        if let Err(why) = command.and_then(|command| command.check()).and(codes) {
            return Ok((Err(why), limits));
        }
        let next = match row::attempts(row)?.checked_add(1) {
            Some(attempt) => Ok(claimed(tx, row, Claim { job, attempt, owner }, envs)?),
            None => Err("no number is left for another attempt".to_owned()),
        };
        Ok((next, limits))
    })?;
    Ok(claimed)
}

/// Begins the history of an attempt, unless somebody wrote it already.
fn open_attempt(
    tx: &Transaction<'_>,
    claimed: Claimed,
    now: Timestamp,
) -> Fallible<Result<Claimed, String>> {
    let Claim { job, attempt, owner } = claimed.claim;
    let opened = tx.prepare_cached(OPEN_ATTEMPT)?.execute(named_params! {
        ":job": job, ":attempt": attempt, ":runner": owner, ":now": now,
    })?;
    if opened == 0 {
        return Ok(Err(format!("its history has an attempt {attempt} already")));
    }
    Ok(Ok(claimed))
}

fn unsplittable() -> String {
    "its command was written by hand and cannot be split into words".to_owned()
}

/// Reads what a claim needs from a row of `ax_jobs`.
fn claimed(
    connection: &Connection,
    row: &Row<'_>,
    claim: Claim,
    envs: &mut EnvCache,
) -> rusqlite::Result<Claimed> {
    let command = row::command(row)?.unwrap_or_else(Command::Shell);
    let name = row::name(row)?;
    let key = row::key(row)?;
    let policy = row::policy(row)?;
    let extra = row.get::<_, Option<Vec<u8>>>(at!("extra_env"))?.unwrap_or_default();
    let own = own_variables(&claim, name.as_deref(), key.as_deref(), policy.max_retries);
    let spec = Spec {
        cwd: row::cwd(row)?,
        umask: row::umask(row)?,
        env: envs.get(connection, row.get(at!("env_id"))?)?,
        extra_env: EnvBlock(extra).overlaid(&own),
        timeout: row::timeout(row)?,
        kill_after: row::kill_after(row)?,
        command,
    };
    let title = name.unwrap_or_else(|| spec.command.text());
    Ok(Claimed { claim, title, spec, policy })
}

/// What a job sees of itself, but for `AX_DB`, which the runner knows.
fn own_variables(
    claim: &Claim,
    name: Option<&str>,
    key: Option<&str>,
    max_retries: u32,
) -> EnvBlock {
    let variables = [
        format!("AX_JOB_ID={}", claim.job),
        format!("AX_JOB_NAME={}", name.unwrap_or_default().replace('\0', "")),
        format!("AX_JOB_KEY={}", key.unwrap_or_default().replace('\0', "")),
        format!("AX_ATTEMPT={}", claim.attempt),
        format!("AX_MAX_RETRIES={max_retries}"),
    ];
    EnvBlock::from_entries(variables.iter().map(String::as_bytes))
}

pub(super) const OWNED: &str = concat!(
    "
    SELECT ",
    claim_columns!(),
    " FROM ax_jobs
    WHERE status IN ('dispatched', 'running') AND owner = :owner
    ORDER BY id"
);

/// The unfinished claims of a runner, with the state of each job.
pub(super) fn claims(connection: &Connection, owner: RunnerId) -> Fallible<Vec<(Claimed, State)>> {
    let mut envs = EnvCache::default();
    let mut query = connection.prepare_cached(OWNED)?;
    let rows = query.query_map(named_params! { ":owner": owner }, |row| {
        let claim = Claim { job: row.get(at!("id"))?, attempt: row::attempts(row)?, owner };
        Ok((claimed(connection, row, claim, &mut envs)?, row.get(at!("status"))?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Environments that were read before. Stored ones never change.
#[derive(Default)]
pub(super) struct EnvCache(HashMap<i64, Arc<EnvBlock>>);

impl EnvCache {
    /// More than the environments of a few terminals and scripts need not be kept.
    const CAPACITY: usize = 64;

    fn get(
        &mut self,
        connection: &Connection,
        id: Option<i64>,
    ) -> rusqlite::Result<Option<Arc<EnvBlock>>> {
        const READ: &str = "SELECT block FROM ax_envs WHERE id = :id";
        let Some(id) = id else { return Ok(None) };
        if let Some(known) = self.0.get(&id) {
            return Ok(Some(Arc::clone(known)));
        }
        let mut query = connection.prepare_cached(READ)?;
        let block = query.query_row(named_params! { ":id": id }, |row| row.get(0)).optional()?;
        let block = block.map(|block| Arc::new(EnvBlock(block)));
        if let Some(block) = &block {
            if self.0.len() >= Self::CAPACITY {
                self.0.clear();
            }
            self.0.insert(id, Arc::clone(block));
        }
        Ok(block)
    }
}
