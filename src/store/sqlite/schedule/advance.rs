//! What a turn does about starts whose time has come.

use rusqlite::{Connection, Transaction, named_params};

use super::stand;
use super::starts::{
    before, drop_run, is_started, move_run, next_free, point_to, put_in, queue_behind,
};
use super::stored::{Standing, Stored, read};
use crate::job::schedule::{Fate, Plan};
use crate::job::{Event, FlowRunId, Overlap, Recurrence, Timestamp};
use crate::store::sqlite::Fallible;
use crate::store::{Moved, Turned};

/// How many schedules are looked after in one turn; the rest is in the next.
const PER_TURN: usize = 100;

pub(in crate::store::sqlite) const IS_DUE: &str = "
    SELECT EXISTS (SELECT 1 FROM ax_schedules WHERE next_at <= :now)
        OR EXISTS (SELECT 1 FROM ax_schedules WHERE next_at IS NOT NULL AND updated_at > :now + 60000)";

pub(in crate::store::sqlite) const DUE: &str = "
    SELECT * FROM ax_schedules
    WHERE next_at <= :now
    ORDER BY next_at";

pub(in crate::store::sqlite) const SET_BACK: &str = "
    SELECT * FROM ax_schedules
    WHERE next_at IS NOT NULL AND updated_at > :now + 60000
    ORDER BY updated_at";

/// Tells whether the time of a start has come, or the clock was set back.
pub(in crate::store::sqlite) fn is_due(connection: &Connection, now: Timestamp) -> Fallible<bool> {
    let mut query = connection.prepare_cached(IS_DUE)?;
    Ok(query.query_row(named_params! { ":now": now }, |row| row.get(0))?)
}

/// Decides about each start whose time has come, and puts the next one in.
/// What was written a minute later than now, or more, tells that the clock was
/// set back: its next start may lie further ahead than it should. (By less,
/// another process was faster.)
pub(in crate::store::sqlite) fn advance(
    tx: &Transaction<'_>,
    now: Timestamp,
    turned: &mut Turned,
) -> Fallible<()> {
    if !is_due(tx, now)? {
        return Ok(());
    }
    for stored in some(tx, DUE, PER_TURN, now)? {
        stored.act(tx, now, turned, Stored::go_on)?;
    }
    for stored in some(tx, SET_BACK, PER_TURN, now)? {
        stored.act(tx, now, turned, Stored::follow_clock)?;
    }
    Ok(())
}

pub(in crate::store::sqlite) const ENDED: &str = "
    SELECT * FROM ax_schedules
    WHERE next_at > :now AND NOT EXISTS (
        SELECT 1 FROM ax_jobs
        WHERE flow_run = next_run AND status NOT IN ('success', 'dead', 'cancelled', 'skipped'))
    ORDER BY next_at";

/// Puts the one after it in for each next start that ended before its time; its
/// time is not started again. Tells whether there was one.
pub(in crate::store::sqlite) fn succeed(tx: &Transaction<'_>, now: Timestamp) -> Fallible<bool> {
    let ended = some(tx, ENDED, usize::MAX, now)?;
    for Stored { schedule, .. } in &ended {
        // One that cannot be read is paused when its time comes.
        if let Ok(recurrence) = &schedule.recurrence {
            stand(tx, &schedule.name, recurrence, &schedule.chain, now)?;
        }
    }
    Ok(!ended.is_empty())
}

fn some(tx: &Transaction<'_>, sql: &str, most: usize, now: Timestamp) -> Fallible<Vec<Stored>> {
    let mut query = tx.prepare_cached(sql)?;
    let rows = query.query_map(named_params! { ":now": now }, read)?;
    Ok(rows.take(most).collect::<rusqlite::Result<_>>()?)
}

/// What is done to a schedule, and to the start of it that stands among the jobs.
type Act = fn(&Stored, &Transaction<'_>, &Recurrence, Standing, Timestamp) -> Fallible<Vec<Moved>>;

impl Stored {
    /// Acts upon a schedule; one that cannot be read is paused.
    fn act(
        &self,
        tx: &Transaction<'_>,
        now: Timestamp,
        turned: &mut Turned,
        act: Act,
    ) -> Fallible<()> {
        match (&self.schedule.recurrence, self.standing) {
            (Ok(recurrence), Some(standing)) => {
                turned.moved.extend(act(self, tx, recurrence, standing, now)?);
            }
            (Ok(_), None) => (),
            (Err(why), _) => {
                let name = self.schedule.name.escape_debug();
                turned.nonsense.push(format!("the schedule `{name}` is paused: {why}"));
                point_to(tx, &self.schedule.name, None, now)?;
            }
        }
        Ok(())
    }

    /// Decides about the start whose time has come, makes up for others, and
    /// puts the next one in.
    fn go_on(
        &self,
        tx: &Transaction<'_>,
        recurrence: &Recurrence,
        (due, run): Standing,
        now: Timestamp,
    ) -> Fallible<Vec<Moved>> {
        let mut moved = Vec::new();
        let name = &self.schedule.name;
        let plan = Plan::of(recurrence, due, now, before(tx, name, recurrence.overlap, due)?);
        let next = next_free(tx, name, recurrence, run, now)?;
        let moves = match (&plan.fate, next) {
            (Fate::Skipped(why), _) => {
                drop_run(tx, run, Event::Skip, why, now, &mut moved)?;
                false
            }
            (Fate::Moves, Some(next)) => move_run(tx, run, next, now)?,
            (Fate::Goes, _) | (Fate::Moves, None) => false,
        };
        // What is made up for goes one after the other, unless it may overlap.
        let in_turn = recurrence.overlap != Overlap::Allow;
        for made_up in plan.made_up {
            if !is_started(tx, name, made_up, None)? {
                self.put_in(tx, made_up, in_turn, now)?;
            }
        }
        let queued = recurrence.overlap == Overlap::Queue;
        let standing = match next {
            Some(next) if moves => {
                if queued {
                    queue_behind(tx, name, run, next)?;
                }
                Some((next, run))
            }
            Some(next) => Some((next, self.put_in(tx, next, queued, now)?)),
            None => None,
        };
        point_to(tx, name, standing, now)?;
        Ok(moved)
    }

    /// Takes the next start to where it belongs by a clock that was set back.
    /// What was started is not started again.
    fn follow_clock(
        &self,
        tx: &Transaction<'_>,
        recurrence: &Recurrence,
        (due, run): Standing,
        now: Timestamp,
    ) -> Fallible<Vec<Moved>> {
        let next = next_free(tx, &self.schedule.name, recurrence, run, now)?;
        let standing = match next {
            Some(next) if next < due && move_run(tx, run, next, now)? => (next, run),
            Some(_) | None => (due, run),
        };
        point_to(tx, &self.schedule.name, Some(standing), now)?;
        Ok(Vec::new())
    }

    /// Puts a start in, which waits for the end of the one before it if it is to.
    fn put_in(
        &self,
        tx: &Transaction<'_>,
        due: Timestamp,
        waits: bool,
        now: Timestamp,
    ) -> Fallible<FlowRunId> {
        put_in(tx, &self.schedule.name, &self.schedule.chain, due, waits, now)
    }
}
