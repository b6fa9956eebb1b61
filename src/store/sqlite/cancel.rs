//! Ending jobs by a person's word.
//!
//! What nobody has in hand ends at once. What a runner owns is marked: whoever
//! has it in hand (the runner, or a supervisor that outlived it) reads the mark
//! and stops it, and the mark decides when the attempt ends ([`super::settle`]).
//! So a wish outlives the command and every runner.

use rusqlite::{Connection, Transaction, named_params};

use super::{Fallible, control, edges, judge, schedule};
use crate::job::{Claim, Event, JobId, RunnerId, State, Timestamp};
use crate::store::{Asked, Cancel, Cancelling, Error};

/// Why, if nobody said.
const BY_A_PERSON: &str = "cancelled by a person";

/// Ends jobs, or marks them.
pub(super) fn cancel(
    tx: &Transaction<'_>,
    ids: &[JobId],
    how: &Cancel,
    now: Timestamp,
) -> Fallible<Cancelling> {
    let mut all = Cancelling::default();
    for job in ids {
        refuse_ended(*job, control::state_of(tx, *job)?)?;
    }
    let reason = how.reason.as_deref().unwrap_or(BY_A_PERSON);
    for job in meant(tx, ids, how.downstream)? {
        one(tx, job, reason, now, &mut all)?;
    }
    judge::drain(tx, now, judge::PER_TURN, &mut all.moved)?;
    if schedule::succeed(tx, now)? {
        judge::drain(tx, now, judge::PER_TURN, &mut all.moved)?;
    }
    Ok(all)
}

fn refuse_ended(job: JobId, state: State) -> Result<(), Error> {
    if Event::Cancel.allows(state) || state == State::Cancelled {
        return Ok(());
    }
    let wanted = "and only a job that has not ended can be cancelled";
    Err(Error::WrongState { job, state, wanted, hint: None })
}

/// The jobs that were named, and with `downstream` all that come after them.
fn meant(tx: &Transaction<'_>, ids: &[JobId], downstream: bool) -> Fallible<Vec<JobId>> {
    if !downstream {
        return Ok(ids.to_vec());
    }
    let mut all: Vec<_> = edges::reach(ids, |job| edges::children(tx, job))?.into_iter().collect();
    all.sort_unstable();
    Ok(all)
}

const MARK: &str = "UPDATE ax_jobs SET cancelling = :reason, updated_at = :now WHERE id = :job";

fn one(
    tx: &Transaction<'_>,
    job: JobId,
    reason: &str,
    now: Timestamp,
    all: &mut Cancelling,
) -> Fallible<()> {
    let Some(state) = edges::state(tx, job)? else { return Ok(()) };
    match state {
        State::Pending | State::Ready | State::Failed | State::Held => {
            judge::change(tx, job, Event::Cancel, Some(reason), now)?;
            let why = Some(reason.to_owned());
            all.moved.push(control::moved(tx, job, Event::Cancel, why)?);
        }
        State::Dispatched | State::Running => {
            tx.prepare_cached(MARK)?
                .execute(named_params! { ":reason": reason, ":now": now, ":job": job })?;
            all.asked.push(asked(tx, job)?);
        }
        State::Success | State::Dead | State::Cancelled | State::Skipped => (),
    }
    Ok(())
}

fn asked(tx: &Transaction<'_>, job: JobId) -> Fallible<Asked> {
    const CLAIM: &str = "SELECT attempts, owner FROM ax_jobs WHERE id = :job";
    let claim = tx.prepare_cached(CLAIM)?.query_row(named_params! { ":job": job }, |row| {
        Ok(Claim { job, attempt: row.get(0)?, owner: row.get(1)? })
    })?;
    Ok(Asked { claim, title: super::query::title(tx, job)? })
}

pub(super) const MARKED: &str = "
    SELECT id, attempts FROM ax_jobs
    WHERE cancelling IS NOT NULL AND owner = :owner
    ORDER BY id";

/// The claims of a runner that a person wants ended.
pub(super) fn marked(connection: &Connection, owner: RunnerId) -> Fallible<Vec<Claim>> {
    let mut query = connection.prepare_cached(MARKED)?;
    let rows = query.query_map(named_params! { ":owner": owner }, |row| {
        Ok(Claim { job: row.get(0)?, attempt: row.get(1)?, owner })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
