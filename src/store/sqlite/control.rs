//! What people do to jobs: retry, recover, hold, release. All or none.

use std::collections::HashSet;

use rusqlite::{OptionalExtension, Transaction, named_params};

use super::edges::{self, Acyclic};
use super::{Fallible, judge, query, row};
use crate::job::dependency::{Readiness, skip_reason};
use crate::job::{Event, FlowRunId, JobId, State, Timestamp};
use crate::store::{Error, Moved, Resolution, Revival};

/// The state of a job, which must be there.
pub(super) fn state_of(tx: &Transaction<'_>, job: JobId) -> Fallible<State> {
    Ok(edges::state(tx, job)?.ok_or(Error::NoSuchJob(job))?)
}

pub(super) fn moved(
    tx: &Transaction<'_>,
    job: JobId,
    event: Event,
    reason: Option<String>,
) -> Fallible<Moved> {
    Ok(Moved { job, title: query::title(tx, job)?, event, reason })
}

const REVIVE: &str = "
    UPDATE ax_jobs SET
        status = :to,
        reason = NULL,
        retry_count = 0,
        loss_count = 0,
        scheduled_at = iif(:at_once OR attempts > 0, min(scheduled_at, created_at), scheduled_at),
        queued_at = :now,
        waits_on = NULL,
        finished_at = NULL,
        updated_at = :now
    WHERE id = :job";

/// Brings jobs back, and with them every job that was skipped because of them.
pub(super) fn revive(
    tx: &Transaction<'_>,
    ids: &[JobId],
    how: Revival,
    now: Timestamp,
) -> Fallible<Vec<Moved>> {
    let mut revived = Revived::default();
    for job in ids {
        if revived.seen.contains(job) {
            continue;
        }
        let state = state_of(tx, *job)?;
        let event = Event::retry_of(state, how.force).ok_or_else(|| not_retryable(*job, state))?;
        revived.one(tx, *job, state, event, now)?;
    }
    let open = revived.moved.iter().rev().map(|moved| moved.job).collect();
    revived.children(tx, open, how.downstream, now)?;
    let mut acyclic = Acyclic::default();
    for job in ids {
        refuse_never_ready(tx, *job, &mut acyclic)?;
    }
    judge::drain(tx, now, usize::MAX, &mut Vec::new())?;
    Ok(revived.moved)
}

fn not_retryable(job: JobId, state: State) -> Error {
    let (wanted, hint) = match state {
        State::Running | State::Dispatched => {
            ("not dead", Some(format!("`ax logs -f {job}` follows it")))
        }
        State::Success => {
            ("not dead", Some(format!("`ax retry --force {job}` runs it again all the same")))
        }
        State::Pending | State::Ready => (
            "and will run without a retry",
            Some(format!("`ax show {job}` says what it waits for")),
        ),
        State::Failed | State::Dead | State::Held | State::Cancelled | State::Skipped => {
            ("not dead", None)
        }
    };
    Error::WrongState { job, state, wanted, hint }
}

/// A skipped job comes back with the parent that broke, not alone; and a job
/// may have come to wait for one that had ended and waits for it in turn.
fn refuse_never_ready(tx: &Transaction<'_>, job: JobId, acyclic: &mut Acyclic) -> Fallible<()> {
    if let Some(cycle) = edges::cycle_through(tx, job, acyclic)? {
        return Err(Error::Cycle(cycle).into());
    }
    match Readiness::of(&edges::of(tx, job)?) {
        Readiness::Met | Readiness::Waiting => Ok(()),
        Readiness::Never(broken) => {
            let parent = broken.edge.parent;
            Err(Error::StillBroken { job, why: skip_reason(&broken), parent }.into())
        }
    }
}

/// The jobs that were brought back so far.
#[derive(Default)]
struct Revived {
    seen: HashSet<JobId>,
    moved: Vec<Moved>,
}

impl Revived {
    fn one(
        &mut self,
        tx: &Transaction<'_>,
        job: JobId,
        state: State,
        event: Event,
        now: Timestamp,
    ) -> Fallible<()> {
        refuse_taken_key(tx, job)?;
        tx.prepare_cached(REVIVE)?.execute(named_params! {
            ":to": event.target(),
            ":at_once": matches!(state, State::Failed),
            ":now": now,
            ":job": job,
        })?;
        self.seen.insert(job);
        self.moved.push(moved(tx, job, event, None)?);
        Ok(())
    }

    /// Brings back the children of `open`, and theirs, as far as
    /// their dependencies can be met again: those that were skipped, and with
    /// `downstream` all that have ended.
    fn children(
        &mut self,
        tx: &Transaction<'_>,
        mut open: Vec<JobId>,
        downstream: bool,
        now: Timestamp,
    ) -> Fallible<()> {
        while let Some(parent) = open.pop() {
            for child in edges::children(tx, parent)? {
                if !self.seen.contains(&child) && self.child(tx, child, downstream, now)? {
                    open.push(child);
                }
            }
        }
        Ok(())
    }

    /// Brings back a child if it is to come back; tells whether to go on to
    /// its own children.
    fn child(
        &mut self,
        tx: &Transaction<'_>,
        child: JobId,
        downstream: bool,
        now: Timestamp,
    ) -> Fallible<bool> {
        let Some(state) = edges::state(tx, child)? else { return Ok(false) };
        match state {
            State::Skipped => (),
            State::Success | State::Dead | State::Cancelled if downstream => (),
            State::Dispatched | State::Running if downstream => {
                return Err(not_retryable(child, state).into());
            }
            // It waits already; what comes after it may have ended long ago.
            State::Pending | State::Ready | State::Failed | State::Held => {
                return Ok(downstream && self.seen.insert(child));
            }
            State::Success
            | State::Dead
            | State::Cancelled
            | State::Dispatched
            | State::Running => return Ok(false),
        }
        let never = matches!(Readiness::of(&edges::of(tx, child)?), Readiness::Never(_));
        match Event::retry_of(state, true) {
            Some(event) if !never => self.one(tx, child, state, event, now).map(|()| true),
            Some(_) | None => Ok(false),
        }
    }
}

const RESET: &str = "
    UPDATE ax_jobs SET
        status = :to, reason = NULL, retry_count = 0, loss_count = 0, scheduled_at = :at,
        waits_on = NULL, finished_at = NULL, updated_at = :now
    WHERE flow_run = :run AND status NOT IN ('held', 'cancelled')";

/// Starts the jobs of a run again at a time, and brings back what was skipped
/// because of them. None of them may run.
pub(super) fn start_again(
    tx: &Transaction<'_>,
    run: FlowRunId,
    at: Timestamp,
    now: Timestamp,
) -> Fallible<()> {
    const JUDGE: &str = "
        INSERT OR IGNORE INTO ax_judge (job_id)
            SELECT id FROM ax_jobs WHERE flow_run = :run AND status = 'pending'";
    const JOBS: &str = "SELECT id FROM ax_jobs WHERE flow_run = :run ORDER BY id DESC";
    tx.prepare_cached(RESET)?.execute(named_params! {
        ":to": Event::Revive.target(), ":at": at, ":now": now, ":run": run,
    })?;
    tx.prepare_cached(JUDGE)?.execute(named_params! { ":run": run })?;
    let mut jobs = tx.prepare_cached(JOBS)?;
    let jobs = jobs.query_map(named_params! { ":run": run }, |row| row.get(0))?;
    let jobs = jobs.collect::<rusqlite::Result<Vec<JobId>>>()?;
    let seen = jobs.iter().copied().collect();
    Revived { seen, moved: Vec::new() }.children(tx, jobs, false, now)
}

/// A key belongs to one unfinished job; a newer one may have it by now.
fn refuse_taken_key(tx: &Transaction<'_>, job: JobId) -> Fallible<()> {
    const TAKEN: &str = "
        SELECT other.id, other.key
        FROM ax_jobs AS job JOIN ax_jobs AS other ON other.key = job.key
        WHERE job.id = :job AND other.id <> job.id
            AND other.status NOT IN ('success', 'dead', 'cancelled', 'skipped')";
    let mut query = tx.prepare_cached(TAKEN)?;
    let taken = query.query_row(named_params! { ":job": job }, |row| {
        let key = row::text(row, "key")?.unwrap_or_default();
        Ok(Error::KeyTaken { job, key, by: row.get("id")? })
    });
    match taken.optional()? {
        Some(taken) => Err(taken.into()),
        None => Ok(()),
    }
}

/// Writes a person's word about an unknown outcome.
pub(super) fn resolve(
    tx: &Transaction<'_>,
    ids: &[JobId],
    how: Resolution,
    now: Timestamp,
) -> Fallible<Vec<Moved>> {
    let (event, reason) = match how {
        Resolution::Success => {
            (Event::ResolveSuccess, Some("a person said that it had ended well"))
        }
        Resolution::Failed => (Event::ResolveDead, Some("a person said that it had failed")),
        Resolution::Retry => return revive_held(tx, ids, now),
    };
    let mut all = Vec::new();
    for job in ids {
        refuse_other_than(tx, *job, event, "not held")?;
        judge::change(tx, *job, event, reason, now)?;
        all.push(moved(tx, *job, event, reason.map(str::to_owned))?);
    }
    judge::drain(tx, now, judge::PER_TURN, &mut Vec::new())?;
    Ok(all)
}

fn revive_held(tx: &Transaction<'_>, ids: &[JobId], now: Timestamp) -> Fallible<Vec<Moved>> {
    for job in ids {
        refuse_other_than(tx, *job, Event::ResolveRetry, "not held")?;
    }
    revive(tx, ids, Revival::default(), now)
}

fn refuse_other_than(
    tx: &Transaction<'_>,
    job: JobId,
    event: Event,
    wanted: &'static str,
) -> Fallible<()> {
    let state = state_of(tx, job)?;
    if event.allows(state) {
        Ok(())
    } else {
        Err(Error::WrongState { job, state, wanted, hint: None }.into())
    }
}

/// Stops jobs that have not started from starting.
pub(super) fn hold(tx: &Transaction<'_>, ids: &[JobId], now: Timestamp) -> Fallible<Vec<Moved>> {
    let mut all = Vec::new();
    for job in ids {
        if state_of(tx, *job)? == State::Held {
            continue;
        }
        refuse_other_than(tx, *job, Event::Hold, "and only a job that waits can be held")?;
        judge::change(tx, *job, Event::Hold, Some("held by a person"), now)?;
        all.push(moved(tx, *job, Event::Hold, None)?);
    }
    Ok(all)
}

/// Lets held jobs go on; they begin to wait for their turn now.
pub(super) fn release(tx: &Transaction<'_>, ids: &[JobId], now: Timestamp) -> Fallible<Vec<Moved>> {
    const QUEUE: &str = "UPDATE ax_jobs SET queued_at = :now WHERE id = :job";
    let mut all = Vec::new();
    for job in ids {
        refuse_other_than(tx, *job, Event::Unhold, "not held")?;
        judge::change(tx, *job, Event::Unhold, None, now)?;
        tx.prepare_cached(QUEUE)?.execute(named_params! { ":job": job, ":now": now })?;
        all.push(moved(tx, *job, Event::Unhold, None)?);
    }
    judge::drain(tx, now, judge::PER_TURN, &mut Vec::new())?;
    Ok(all)
}
