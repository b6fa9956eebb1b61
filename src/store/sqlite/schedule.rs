//! Schedules: the next start of each stands among the jobs, and when it is due
//! the one after it is put in, in the transaction of the same turn.
//!
//! [`stored`] reads the rows, [`starts`] puts starts in and takes them back,
//! [`mod@advance`] is what a turn does about those whose time has come, and what
//! is done when a person cancels one before; here are the verbs of people.

mod advance;
mod starts;
mod stored;

use rusqlite::{Transaction, named_params};

use super::{Fallible, judge};
use crate::job::{Chain, Event, NewSchedule, Overlap, Recurrence, Timestamp};
use crate::store::{Error, Moved, Scheduled};

pub(super) use self::advance::{advance, is_due, succeed};
use self::starts::{drop_run, point_to, put_in};
pub(super) use self::starts::{next_free, run_jobs};
pub(super) use self::stored::{Stored, all, read_all};
use self::stored::{Written, find, known, with_jobs};

#[cfg(test)]
pub(super) use self::{
    advance::{DUE, ENDED, IS_DUE, SET_BACK},
    starts::{IS_STARTED, LATEST, OPEN_JOBS, RUN_JOBS},
};

/// Makes schedules, or puts them in the place of those that have their names.
pub(super) fn schedule(
    tx: &Transaction<'_>,
    schedules: &[NewSchedule],
    replace: bool,
    now: Timestamp,
) -> Fallible<Vec<Scheduled>> {
    let one = |(index, schedule): (usize, &NewSchedule)| {
        make(tx, schedule, replace, now).map_err(|trouble| super::add::at(index, trouble))
    };
    let made = schedules.iter().enumerate().map(one).collect::<Fallible<_>>()?;
    judge::drain(tx, now, judge::PER_TURN, &mut Vec::new())?;
    Ok(made)
}

const MAKE: &str = "
    INSERT INTO ax_schedules (name, cron, timezone, catch_up, overlap, chain, created_at, updated_at)
    VALUES (:name, :cron, :timezone, :catch_up, :overlap, :chain, :now, :now)
    ON CONFLICT DO UPDATE SET
        cron = :cron, timezone = :timezone, catch_up = :catch_up, overlap = :overlap,
        chain = :chain, updated_at = :now";

fn make(
    tx: &Transaction<'_>,
    schedule: &NewSchedule,
    replace: bool,
    now: Timestamp,
) -> Fallible<Scheduled> {
    let name = &schedule.name;
    let written = Written::of(schedule);
    let old = find(tx, name)?;
    match &old {
        Some(_) if !replace => return Err(Error::ScheduleExists(name.clone()).into()),
        Some(old) if old.written == written && old.standing.is_some() => {
            return scheduled(tx, name, false);
        }
        Some(old) => old.take_back("a newer schedule of its name took its place", now, tx)?,
        None => Vec::new(),
    };
    // What a person paused stays so; what could not go on does so now.
    let is_paused =
        old.as_ref().is_some_and(|old| old.standing.is_none() && old.schedule.recurrence.is_ok());
    let Written { cron, timezone, catch_up, overlap, chain } = &written;
    tx.prepare_cached(MAKE)?.execute(named_params! {
        ":name": name, ":cron": cron, ":timezone": timezone, ":catch_up": catch_up,
        ":overlap": overlap, ":chain": chain, ":now": now,
    })?;
    if !is_paused {
        stand(tx, name, &schedule.recurrence, &schedule.chain, now)?;
    }
    scheduled(tx, name, old.is_none())
}

/// Puts the next start in.
fn stand(
    tx: &Transaction<'_>,
    name: &str,
    recurrence: &Recurrence,
    chain: &Chain,
    now: Timestamp,
) -> Fallible<()> {
    let Some(due) = next_free(tx, name, recurrence, None, now)? else { return Ok(()) };
    let waits = recurrence.overlap == Overlap::Queue;
    let run = put_in(tx, name, chain, due, waits, now)?;
    point_to(tx, name, Some((due, run)), now)
}

/// What stands of a schedule.
fn scheduled(tx: &Transaction<'_>, name: &str, new: bool) -> Fallible<Scheduled> {
    let next = with_jobs(tx, known(tx, name)?)?.next;
    Ok(Scheduled { name: name.to_owned(), new, next })
}

impl Stored {
    /// Takes the start that stands among the jobs back.
    fn take_back(&self, why: &str, now: Timestamp, tx: &Transaction<'_>) -> Fallible<Vec<Moved>> {
        let mut moved = Vec::new();
        if let Some((_, run)) = self.standing {
            drop_run(tx, run, Event::Cancel, why, now, &mut moved)?;
            point_to(tx, &self.schedule.name, None, now)?;
        }
        Ok(moved)
    }
}

/// Takes the next starts back and puts no others in.
pub(super) fn pause(
    tx: &Transaction<'_>,
    names: &[String],
    now: Timestamp,
) -> Fallible<Vec<Moved>> {
    let mut moved = Vec::new();
    for name in names {
        let why = format!("the schedule `{name}` was paused");
        moved.extend(known(tx, name)?.take_back(&why, now, tx)?);
    }
    judge::drain(tx, now, judge::PER_TURN, &mut Vec::new())?;
    Ok(moved)
}

/// Puts the next starts of paused schedules in.
pub(super) fn resume(
    tx: &Transaction<'_>,
    names: &[String],
    now: Timestamp,
) -> Fallible<Vec<Scheduled>> {
    let one = |name: &String| {
        let stored = known(tx, name)?;
        if stored.standing.is_none() {
            let recurrence = stored
                .schedule
                .recurrence
                .map_err(|why| Error::BrokenSchedule { name: name.clone(), why })?;
            stand(tx, name, &recurrence, &stored.schedule.chain, now)?;
        }
        scheduled(tx, name, false)
    };
    let resumed = names.iter().map(one).collect::<Fallible<_>>()?;
    judge::drain(tx, now, judge::PER_TURN, &mut Vec::new())?;
    Ok(resumed)
}

/// Removes schedules; what has begun goes on.
pub(super) fn remove(
    tx: &Transaction<'_>,
    names: &[String],
    now: Timestamp,
) -> Fallible<Vec<Moved>> {
    const REMOVE: &str = "DELETE FROM ax_schedules WHERE name = :name";
    let mut moved = Vec::new();
    for name in names {
        let why = format!("the schedule `{name}` was removed");
        moved.extend(known(tx, name)?.take_back(&why, now, tx)?);
        tx.prepare_cached(REMOVE)?.execute(named_params! { ":name": name })?;
    }
    judge::drain(tx, now, judge::PER_TURN, &mut Vec::new())?;
    Ok(moved)
}
