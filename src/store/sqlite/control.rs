//! What people do to jobs: retry, recover, hold, release. All or none.

use std::collections::HashSet;

use rusqlite::{OptionalExtension, Transaction, named_params};

use super::{Fallible, edges, judge, query};
use crate::job::dependency::{Readiness, skip_reason};
use crate::job::{Event, JobId, State, Timestamp};
use crate::store::{Error, Moved, Resolution, Revival};

/// The state of a job, which must be there.
fn state_of(tx: &Transaction<'_>, job: JobId) -> Fallible<State> {
    Ok(edges::state(tx, job)?.ok_or(Error::NoSuchJob(job))?)
}

fn moved(
    tx: &Transaction<'_>,
    job: JobId,
    event: Event,
    reason: Option<String>,
) -> Fallible<Moved> {
    Ok(Moved { job, title: query::title(tx, job)?, event, reason })
}

/// Enters a job to be judged; judging finds out whether it still waits.
fn enter(tx: &Transaction<'_>, job: JobId) -> Fallible<()> {
    const ENTER: &str = "INSERT OR IGNORE INTO ax_judge (job_id) VALUES (:job)";
    tx.prepare_cached(ENTER)?.execute(named_params! { ":job": job })?;
    Ok(())
}

const REVIVE: &str = "
    UPDATE ax_jobs SET
        status = :to,
        reason = NULL,
        retry_count = 0,
        loss_count = 0,
        scheduled_at = iif(:at_once, min(scheduled_at, :now), scheduled_at),
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
    if how.downstream {
        revived.descendants(tx, ids, now)?;
    }
    revived.skipped_children(tx, now)?;
    for job in ids {
        refuse_never_ready(tx, *job)?;
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

/// A skipped job comes back with the parent that broke, not alone.
fn refuse_never_ready(tx: &Transaction<'_>, job: JobId) -> Fallible<()> {
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
        enter(tx, job)?;
        self.seen.insert(job);
        self.moved.push(moved(tx, job, event, None)?);
        Ok(())
    }

    /// Brings back everything after the jobs that has ended.
    fn descendants(&mut self, tx: &Transaction<'_>, ids: &[JobId], now: Timestamp) -> Fallible<()> {
        let all = edges::reach(ids, |job| edges::children(tx, job))?;
        let mut after: Vec<_> = all.into_iter().filter(|job| !self.seen.contains(job)).collect();
        after.sort_unstable();
        for job in after {
            let state = state_of(tx, job)?;
            if state.is_owned() {
                return Err(not_retryable(job, state).into());
            }
            match Event::retry_of(state, true) {
                Some(event) if state.is_final() => self.one(tx, job, state, event, now)?,
                // It waits already, for its parents or for a person.
                Some(_) | None => (),
            }
        }
        Ok(())
    }

    /// Brings back the skipped children of what was brought back, and theirs,
    /// as far as their dependencies can be met again.
    fn skipped_children(&mut self, tx: &Transaction<'_>, now: Timestamp) -> Fallible<()> {
        let mut open: Vec<_> = self.moved.iter().map(|moved| moved.job).collect();
        open.reverse();
        while let Some(parent) = open.pop() {
            for child in edges::children(tx, parent)? {
                let state = state_of(tx, child)?;
                let skipped = state == State::Skipped && !self.seen.contains(&child);
                if !skipped || matches!(Readiness::of(&edges::of(tx, child)?), Readiness::Never(_))
                {
                    continue;
                }
                self.one(tx, child, state, Event::Revive, now)?;
                open.push(child);
            }
        }
        Ok(())
    }
}

/// A key belongs to one unfinished job; a newer one may have it by now.
fn refuse_taken_key(tx: &Transaction<'_>, job: JobId) -> Fallible<()> {
    const TAKEN: &str = "
        SELECT other.id, other.key
        FROM ax_jobs AS job JOIN ax_jobs AS other ON other.key = job.key
        WHERE job.id = :job AND other.id <> job.id
            AND other.status NOT IN ('success', 'dead', 'cancelled', 'skipped')";
    let mut query = tx.prepare_cached(TAKEN)?;
    let taken =
        query.query_row(named_params! { ":job": job }, |row| Ok((row.get(0)?, row.get(1)?)));
    match taken.optional()? {
        Some((job, key)) => Err(Error::KeyExists { key, job }.into()),
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

/// Lets held jobs go on.
pub(super) fn release(tx: &Transaction<'_>, ids: &[JobId], now: Timestamp) -> Fallible<Vec<Moved>> {
    let mut all = Vec::new();
    for job in ids {
        refuse_other_than(tx, *job, Event::Unhold, "not held")?;
        judge::change(tx, *job, Event::Unhold, None, now)?;
        enter(tx, *job)?;
        all.push(moved(tx, *job, Event::Unhold, None)?);
    }
    judge::drain(tx, now, judge::PER_TURN, &mut Vec::new())?;
    Ok(all)
}
