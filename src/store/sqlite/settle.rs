//! Writing what became of an attempt.
//!
//! Every write is guarded by (job, attempt, owner, state). Where the guard
//! does not hold, somebody else owns the job now: a late result goes to the
//! history and nowhere else.

use rusqlite::{OptionalExtension, Row, Transaction, named_params};

use super::{Fallible, judge, row};
use crate::job::{Captured, Claim, Outcome, Settlement, State, Timestamp, Verdict, state::Event};
use crate::store::Started;

/// A job that still is a claim's.
struct Guarded {
    state: State,
    /// Why a person wants it ended, if one does.
    cancelling: Option<String>,
    /// When the attempt asked to come again, if it did.
    snoozed_until: Option<Timestamp>,
}

/// The job of a claim, if it still is this claim's.
fn guarded(tx: &Transaction<'_>, claim: &Claim) -> Fallible<Option<Guarded>> {
    const GUARD: &str = "
        SELECT status, cancelling, snoozed_until FROM ax_jobs
        WHERE id = :job AND attempts = :attempt AND owner = :owner";
    let mut query = tx.prepare_cached(GUARD)?;
    let guard =
        named_params! { ":job": claim.job, ":attempt": claim.attempt, ":owner": claim.owner };
    let read = |row: &Row<'_>| {
        Ok(Guarded {
            state: row.get("status")?,
            cancelling: row::text(row, "cancelling")?,
            snoozed_until: row.get("snoozed_until")?,
        })
    };
    Ok(query.query_row(guard, read).optional()?)
}

/// Writes that the process of a claim was started; nothing if it is too late.
pub(super) fn start(tx: &Transaction<'_>, started: &Started, now: Timestamp) -> Fallible<()> {
    const START: &str = "
        UPDATE ax_jobs SET status = :to, runs_at = :started_at, updated_at = :now
        WHERE id = :job";
    const ATTEMPT: &str = "
        UPDATE ax_attempts SET pid = :pid, start_time = :start_time, started_at = :started_at
        WHERE job_id = :job AND attempt = :attempt";
    let Started { claim, process } = started;
    let Some(job) = guarded(tx, claim)? else { return Ok(()) };
    if !Event::Start.allows(job.state) {
        return Ok(());
    }
    tx.prepare_cached(START)?.execute(named_params! {
        ":to": Event::Start.target(), ":started_at": process.started_at, ":now": now, ":job": claim.job,
    })?;
    tx.prepare_cached(ATTEMPT)?.execute(named_params! {
        ":pid": process.pid,
        ":start_time": ticks(process.start_time),
        ":started_at": process.started_at,
        ":job": claim.job,
        ":attempt": claim.attempt,
    })?;
    Ok(())
}

fn ticks(start_time: u64) -> i64 {
    i64::try_from(start_time).unwrap_or(i64::MAX)
}

/// What writing the end of an attempt came to.
pub(super) enum Written {
    /// It counts.
    Anew,
    /// The same end was written before (it is told twice when a runner dies).
    Before,
    /// It came after the attempt was given up as lost.
    Late,
    /// It counts, and this became of the job instead of the verdict.
    Overruled(Verdict),
}

/// Writes the end of an attempt.
pub(super) fn settle(
    tx: &Transaction<'_>,
    settlement: &Settlement,
    now: Timestamp,
) -> Fallible<Written> {
    let guarded = guarded(tx, &settlement.claim)?;
    let until = guarded.as_ref().and_then(|guarded| guarded.snoozed_until);
    let verdict = settlement.verdict.snoozed(until, settlement.ended_at);
    let event = verdict.event();
    match guarded {
        Some(Guarded { state, cancelling, .. }) if event.allows(state) => {
            move_job(tx, settlement, verdict, cancelling.as_deref(), now)?;
            if event == Event::GiveBack {
                forget_attempt(tx, &settlement.claim)?;
            } else {
                close_attempt(tx, settlement)?;
                keep_output(tx, &settlement.claim, &settlement.output)?;
            }
            let verdict = cancel_unfinished(tx, settlement, verdict, cancelling, now)?;
            let is_meant = verdict == settlement.verdict;
            Ok(if is_meant { Written::Anew } else { Written::Overruled(verdict) })
        }
        Some(_) | None => note_late(tx, settlement),
    }
}

/// A job that a person wants ended, and that did not end by itself, ends now;
/// tells what became of it.
fn cancel_unfinished(
    tx: &Transaction<'_>,
    settlement: &Settlement,
    verdict: Verdict,
    cancelling: Option<String>,
    now: Timestamp,
) -> Fallible<Verdict> {
    let Some(reason) = cancelling.filter(|_| !verdict.event().target().is_final()) else {
        return Ok(verdict);
    };
    judge::change(tx, settlement.claim.job, Event::Cancel, Some(&reason), now)?;
    Ok(Verdict::Cancelled)
}

const MOVE: &str = "
    UPDATE ax_jobs SET
        status = :to,
        reason = :reason,
        cancelling = NULL,
        snoozed_until = NULL,
        scheduled_at = coalesce(:next_at, scheduled_at),
        retry_count = retry_count + :retry,
        loss_count = loss_count + :loss,
        attempts = attempts - :unused,
        owner = NULL,
        exit_code = iif(:unused, exit_code, :exit_code),
        signal = iif(:unused, signal, :signal),
        last_error = iif(:unused, last_error, :error),
        runs_at = coalesce(:started_at, runs_at),
        finished_at = iif(:unused, finished_at, :ended_at),
        updated_at = :now
    WHERE id = :job";

fn move_job(
    tx: &Transaction<'_>,
    settlement: &Settlement,
    verdict: Verdict,
    cancelling: Option<&str>,
    now: Timestamp,
) -> Fallible<()> {
    let Settlement { claim, outcome, process, ended_at, output, verdict: _ } = settlement;
    let next_at = match verdict {
        Verdict::Retry(at) | Verdict::Later(at) => Some(at),
        Verdict::Success
        | Verdict::Dead
        | Verdict::Held
        | Verdict::GiveBack
        | Verdict::Interrupt
        | Verdict::Cancelled => None,
    };
    let error = outcome.error(&output.last_line);
    let reason = match verdict {
        Verdict::Held => error.as_deref(),
        Verdict::Cancelled => cancelling,
        Verdict::Success
        | Verdict::Retry(_)
        | Verdict::Dead
        | Verdict::GiveBack
        | Verdict::Interrupt
        | Verdict::Later(_) => None,
    };
    tx.prepare_cached(MOVE)?.execute(named_params! {
        ":to": verdict.event().target(),
        ":reason": reason,
        ":next_at": next_at,
        ":retry": matches!(verdict, Verdict::Retry(_)),
        ":loss": matches!(outcome, Outcome::Lost(_)) && verdict != Verdict::GiveBack,
        ":unused": verdict == Verdict::GiveBack,
        ":exit_code": outcome.exit_code(),
        ":signal": outcome.signal(),
        ":error": error,
        ":started_at": process.map(|process| process.started_at),
        ":ended_at": ended_at,
        ":now": now,
        ":job": claim.job,
    })?;
    Ok(())
}

/// A claim that was given back has not used its attempt.
fn forget_attempt(tx: &Transaction<'_>, claim: &Claim) -> Fallible<()> {
    const FORGET: &str = "DELETE FROM ax_attempts WHERE job_id = :job AND attempt = :attempt";
    tx.prepare_cached(FORGET)?
        .execute(named_params! { ":job": claim.job, ":attempt": claim.attempt })?;
    Ok(())
}

const CLOSE: &str = "
    UPDATE ax_attempts SET
        pid = coalesce(:pid, pid),
        start_time = coalesce(:start_time, start_time),
        started_at = coalesce(:started_at, started_at),
        ended_at = :ended_at,
        outcome = :outcome,
        exit_code = :exit_code,
        signal = :signal,
        reason = :reason,
        output_bytes = :written,
        output_in_file = :in_file
    WHERE job_id = :job AND attempt = :attempt";

fn close_attempt(tx: &Transaction<'_>, settlement: &Settlement) -> Fallible<()> {
    let Settlement { claim, outcome, process, ended_at, output, verdict: _ } = settlement;
    tx.prepare_cached(CLOSE)?.execute(named_params! {
        ":pid": process.map(|process| process.pid),
        ":start_time": process.map(|process| ticks(process.start_time)),
        ":started_at": process.map(|process| process.started_at),
        ":ended_at": ended_at,
        ":outcome": outcome.as_str(),
        ":exit_code": outcome.exit_code(),
        ":signal": outcome.signal(),
        ":reason": outcome.error(&output.last_line),
        ":written": i64::try_from(output.written).unwrap_or(i64::MAX),
        ":in_file": output.in_file,
        ":job": claim.job,
        ":attempt": claim.attempt,
    })?;
    Ok(())
}

fn keep_output(tx: &Transaction<'_>, claim: &Claim, output: &Captured) -> Fallible<()> {
    const KEEP: &str = "
        INSERT OR REPLACE INTO ax_outputs (job_id, attempt, bytes)
        VALUES (:job, :attempt, :bytes)";
    if !output.bytes.is_empty() {
        tx.prepare_cached(KEEP)?.execute(named_params! {
            ":job": claim.job, ":attempt": claim.attempt, ":bytes": output.bytes,
        })?;
    }
    Ok(())
}

/// Notes a result that came after the attempt was given up as lost, unless it
/// is the one that was written before.
fn note_late(tx: &Transaction<'_>, settlement: &Settlement) -> Fallible<Written> {
    const OUTCOME: &str = "
        SELECT outcome FROM ax_attempts
        WHERE job_id = :job AND attempt = :attempt AND owner = :owner";
    const NOTE: &str = "
        UPDATE ax_attempts SET reason = coalesce(reason || '; ', '') || :late
        WHERE job_id = :job AND attempt = :attempt AND owner = :owner
            AND instr(coalesce(reason, ''), :late) = 0";
    let Settlement { claim, outcome, .. } = settlement;
    let attempt =
        named_params! { ":job": claim.job, ":attempt": claim.attempt, ":owner": claim.owner };
    let known: Option<Option<String>> =
        tx.prepare_cached(OUTCOME)?.query_row(attempt, |row| row.get(0)).optional()?;
    if known.flatten().as_deref() == Some(outcome.as_str()) {
        return Ok(Written::Before);
    }
    let end = outcome.error(&settlement.output.last_line);
    let late = format!("reported later: {}", end.as_deref().unwrap_or("success"));
    tx.prepare_cached(NOTE)?.execute(named_params! {
        ":late": late, ":job": claim.job, ":attempt": claim.attempt, ":owner": claim.owner,
    })?;
    Ok(Written::Late)
}
