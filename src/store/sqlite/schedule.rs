//! Schedules: the next start of each stands among the jobs, and when it is due
//! the one after it is put in, in the transaction of the same turn.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params};

use super::{Fallible, chain, edges, judge, query, row};
use crate::job::schedule::{Before, Fate, MOST, NextStart, Plan};
use crate::job::{
    Chain, Edge, Event, FlowRunId, JobId, Kind, NewSchedule, Overlap, ParentRef, Recurrence,
    Schedule, State, Timestamp, Timetable,
};
use crate::store::{Error, Moved, Scheduled, Turned};

/// How many schedules are looked after in one turn; the rest is in the next.
const PER_TURN: usize = 100;

pub(super) const IS_DUE: &str = "
    SELECT EXISTS (SELECT 1 FROM ax_schedules WHERE next_at <= :now)
        OR EXISTS (SELECT 1 FROM ax_schedules WHERE next_at IS NOT NULL AND updated_at > :now + 60000)";

pub(super) const DUE: &str = "
    SELECT * FROM ax_schedules
    WHERE next_at <= :now
    ORDER BY next_at";

pub(super) const SET_BACK: &str = "
    SELECT * FROM ax_schedules
    WHERE next_at IS NOT NULL AND updated_at > :now + 60000
    ORDER BY updated_at";

/// Tells whether the time of a start has come, or the clock was set back.
pub(super) fn is_due(connection: &Connection, now: Timestamp) -> Fallible<bool> {
    let mut query = connection.prepare_cached(IS_DUE)?;
    Ok(query.query_row(named_params! { ":now": now }, |row| row.get(0))?)
}

/// Decides about each start whose time has come, and puts the next one in.
/// What was written a minute later than now, or more, tells that the clock was
/// set back: its next start may lie further ahead than it should. (By less,
/// another process was faster.)
pub(super) fn advance(tx: &Transaction<'_>, now: Timestamp, turned: &mut Turned) -> Fallible<()> {
    if !is_due(tx, now)? {
        return Ok(());
    }
    for stored in some(tx, DUE, now)? {
        stored.act(tx, now, turned, Stored::go_on)?;
    }
    for stored in some(tx, SET_BACK, now)? {
        stored.act(tx, now, turned, Stored::follow_clock)?;
    }
    Ok(())
}

fn some(tx: &Transaction<'_>, sql: &str, now: Timestamp) -> Fallible<Vec<Stored>> {
    let mut query = tx.prepare_cached(sql)?;
    let rows = query.query_map(named_params! { ":now": now }, stored)?;
    Ok(rows.take(PER_TURN).collect::<rusqlite::Result<_>>()?)
}

/// What is done to a schedule, and to the start of it that stands among the jobs.
type Act = fn(&Stored, &Transaction<'_>, &Recurrence, Standing, Timestamp) -> Fallible<Vec<Moved>>;

/// When a start is due, and its run.
type Standing = (Timestamp, FlowRunId);

/// A schedule, and the start of it that stands among the jobs.
struct Stored {
    schedule: Schedule,
    standing: Option<Standing>,
    written: Written,
}

/// What a schedule says, as it is written; two that are equal start the same.
#[derive(PartialEq)]
struct Written {
    cron: String,
    timezone: String,
    catch_up: String,
    overlap: String,
    chain: String,
}

impl Written {
    fn of(schedule: &NewSchedule) -> Self {
        let Recurrence { table, catch_up, overlap } = &schedule.recurrence;
        Self {
            cron: table.cron.to_string(),
            timezone: table.zone.name().to_owned(),
            catch_up: catch_up.to_string(),
            overlap: overlap.to_string(),
            chain: serde_json::to_string(&schedule.chain).expect("texts and numbers are JSON"),
        }
    }

    fn recurrence(&self) -> Result<Recurrence, String> {
        Ok(Recurrence {
            table: Timetable::new(&self.cron, &self.timezone)?,
            catch_up: self.catch_up.parse()?,
            overlap: self.overlap.parse()?,
        })
    }
}

/// Reads a schedule; what is wrong with its row is said in it.
fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let text = |column: &str| Ok::<_, rusqlite::Error>(row::text(row, column)?.unwrap_or_default());
    let written = Written {
        cron: text("cron")?,
        timezone: text("timezone")?,
        catch_up: text("catch_up")?,
        overlap: text("overlap")?,
        chain: text("chain")?,
    };
    let chain = serde_json::from_str::<Chain>(&written.chain);
    let recurrence = match &chain {
        Ok(_) => written.recurrence(),
        Err(error) => Err(format!("its jobs cannot be read: {error}")),
    };
    let at: Option<Timestamp> = row.get("next_at")?;
    let run: Option<FlowRunId> = row.get("next_run")?;
    let schedule = Schedule {
        name: text("name")?,
        recurrence,
        chain: chain.unwrap_or_default(),
        next: at.map(|due| NextStart { due, jobs: Vec::new() }),
    };
    Ok(Stored { schedule, standing: at.zip(run), written })
}

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

fn put_in(
    tx: &Transaction<'_>,
    name: &str,
    chain: &Chain,
    due: Timestamp,
    waits: bool,
    now: Timestamp,
) -> Fallible<FlowRunId> {
    let parents = match latest(tx, name, due, 0)? {
        Some(run) if waits => open_jobs(tx, run)?,
        Some(_) | None => Vec::new(),
    };
    let parents: Vec<_> =
        parents.into_iter().map(|job| (ParentRef::Id(job), Kind::AfterAny)).collect();
    let start = chain::Start { schedule: Some(name), due, parents: &parents };
    Ok(chain::start(tx, chain, &start, now)?.run)
}

pub(super) const IS_STARTED: &str = "
    SELECT EXISTS (
        SELECT 1 FROM ax_flow_runs
        WHERE schedule = :name AND due_at = :due AND dropped = 0 AND id IS NOT :standing)";

/// Tells whether there is a start for this time, other than the one that stands.
fn is_started(
    tx: &Transaction<'_>,
    name: &str,
    due: Timestamp,
    standing: Option<FlowRunId>,
) -> Fallible<bool> {
    let mut query = tx.prepare_cached(IS_STARTED)?;
    let values = named_params! { ":name": name, ":due": due, ":standing": standing };
    Ok(query.query_row(values, |row| row.get(0))?)
}

/// The first time after now for which nothing was started.
fn next_free(
    tx: &Transaction<'_>,
    name: &str,
    recurrence: &Recurrence,
    standing: impl Into<Option<FlowRunId>>,
    now: Timestamp,
) -> Fallible<Option<Timestamp>> {
    let standing = standing.into();
    for due in recurrence.table.after(now) {
        if !is_started(tx, name, due, standing)? {
            return Ok(Some(due));
        }
    }
    Ok(None)
}

pub(super) const LATEST: &str = "
    SELECT id FROM ax_flow_runs
    WHERE schedule = :name AND dropped = 0 AND due_at < :due
    ORDER BY due_at DESC
    LIMIT 1 OFFSET :back";

/// The last start before a time, or the one so many before it; what was
/// skipped or taken back does not count.
fn latest(
    tx: &Transaction<'_>,
    name: &str,
    due: Timestamp,
    back: usize,
) -> Fallible<Option<FlowRunId>> {
    let mut query = tx.prepare_cached(LATEST)?;
    let values = named_params! { ":name": name, ":due": due, ":back": back };
    Ok(query.query_row(values, |row| row.get(0)).optional()?)
}

pub(super) const OPEN_JOBS: &str = "
    SELECT id FROM ax_jobs
    WHERE flow_run = :run AND status NOT IN ('success', 'dead', 'cancelled', 'skipped')
    ORDER BY id";

fn open_jobs(tx: &Transaction<'_>, run: FlowRunId) -> Fallible<Vec<JobId>> {
    let mut query = tx.prepare_cached(OPEN_JOBS)?;
    let rows = query.query_map(named_params! { ":run": run }, |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What a start meets. Starts that may overlap do not look at each other.
fn before(tx: &Transaction<'_>, name: &str, overlap: Overlap, due: Timestamp) -> Fallible<Before> {
    let open_job = |back| match latest(tx, name, due, back)? {
        Some(run) => Ok(open_jobs(tx, run)?.first().copied()),
        None => Ok::<_, super::Trouble>(None),
    };
    Ok(match overlap {
        Overlap::Allow => Before::default(),
        Overlap::Skip => Before { open: open_job(0)?, full: false },
        Overlap::Queue => Before { open: open_job(0)?, full: open_job(MOST - 1)?.is_some() },
    })
}

pub(super) const RUN_JOBS: &str = "
    SELECT id, status FROM ax_jobs
    WHERE flow_run = :run
    ORDER BY id";

fn run_jobs(connection: &Connection, run: FlowRunId) -> Fallible<Vec<(JobId, State)>> {
    let mut query = connection.prepare_cached(RUN_JOBS)?;
    let rows =
        query.query_map(named_params! { ":run": run }, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Ends the jobs of a start that has not begun. One that a person started
/// before its time, or holds, is that person's.
fn drop_run(
    tx: &Transaction<'_>,
    run: FlowRunId,
    event: Event,
    why: &str,
    now: Timestamp,
    moved: &mut Vec<Moved>,
) -> Fallible<()> {
    const DROP: &str = "UPDATE ax_flow_runs SET dropped = 1 WHERE id = :run";
    let jobs = run_jobs(tx, run)?;
    let begun = |(_, state): &(JobId, State)| {
        !matches!(state, State::Pending | State::Ready | State::Cancelled | State::Skipped)
    };
    if jobs.iter().any(begun) {
        return Ok(());
    }
    tx.prepare_cached(DROP)?.execute(named_params! { ":run": run })?;
    for (job, state) in jobs.into_iter().filter(|(_, state)| !state.is_final()) {
        judge::end_waiting(tx, job, state, event, why, now)?;
        let title = query::title(tx, job)?;
        moved.push(Moved { job, title, event, reason: Some(why.to_owned()) });
    }
    Ok(())
}

/// Lets a start that was missed stand for a later one; tells whether it does.
/// What a person started, held or cancelled stays as it is.
fn move_run(tx: &Transaction<'_>, run: FlowRunId, to: Timestamp, now: Timestamp) -> Fallible<bool> {
    const MOVE: &str = "
        UPDATE ax_jobs SET scheduled_at = :to, updated_at = :now
        WHERE flow_run = :run";
    const RENAME: &str = "UPDATE ax_flow_runs SET due_at = :to WHERE id = :run";
    if run_jobs(tx, run)?.iter().any(|(_, state)| *state != State::Pending) {
        return Ok(false);
    }
    tx.prepare_cached(MOVE)?.execute(named_params! { ":to": to, ":now": now, ":run": run })?;
    tx.prepare_cached(RENAME)?.execute(named_params! { ":to": to, ":run": run })?;
    Ok(true)
}

/// Lets the first jobs of a start wait for the end of the start before it.
fn queue_behind(tx: &Transaction<'_>, name: &str, run: FlowRunId, due: Timestamp) -> Fallible<()> {
    const FIRST: &str = "
        SELECT id FROM ax_jobs
        WHERE flow_run = :run AND NOT EXISTS (
            SELECT 1 FROM ax_deps AS edge JOIN ax_jobs AS parent ON parent.id = edge.depends_on
            WHERE edge.job_id = ax_jobs.id AND parent.flow_run = :run)
        ORDER BY id";
    let Some(before) = latest(tx, name, due, 0)? else { return Ok(()) };
    let parents = open_jobs(tx, before)?;
    let mut first = tx.prepare_cached(FIRST)?;
    let first = first.query_map(named_params! { ":run": run }, |row| row.get(0))?;
    for child in first.collect::<rusqlite::Result<Vec<JobId>>>()? {
        for parent in &parents {
            edges::insert(tx, child, Edge { parent: *parent, kind: Kind::AfterAny })?;
        }
    }
    Ok(())
}

/// Writes which start stands among the jobs.
fn point_to(
    tx: &Transaction<'_>,
    name: &str,
    next: Option<Standing>,
    now: Timestamp,
) -> Fallible<()> {
    const POINT: &str = "
        UPDATE ax_schedules SET next_at = :at, next_run = :run, updated_at = :now
        WHERE name = :name";
    tx.prepare_cached(POINT)?.execute(named_params! {
        ":at": next.map(|(at, _)| at), ":run": next.map(|(_, run)| run), ":now": now, ":name": name,
    })?;
    Ok(())
}

fn find(connection: &Connection, name: &str) -> Fallible<Option<Stored>> {
    const FIND: &str = "SELECT * FROM ax_schedules WHERE name = :name";
    let mut query = connection.prepare_cached(FIND)?;
    Ok(query.query_row(named_params! { ":name": name }, stored).optional()?)
}

fn known(connection: &Connection, name: &str) -> Fallible<Stored> {
    find(connection, name)?.ok_or_else(|| Error::NoSuchSchedule(name.to_owned()).into())
}

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
    let made = schedules.iter().enumerate().map(one).collect();
    judge::drain(tx, now, judge::PER_TURN, &mut Vec::new())?;
    made
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
    let Written { cron, timezone, catch_up, overlap, chain } = &written;
    tx.prepare_cached(MAKE)?.execute(named_params! {
        ":name": name, ":cron": cron, ":timezone": timezone, ":catch_up": catch_up,
        ":overlap": overlap, ":chain": chain, ":now": now,
    })?;
    stand(tx, name, &schedule.recurrence, &schedule.chain, now)?;
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

fn with_jobs(connection: &Connection, stored: Stored) -> Fallible<Schedule> {
    let Stored { mut schedule, standing, .. } = stored;
    if let (Some(next), Some((_, run))) = (&mut schedule.next, standing) {
        next.jobs = run_jobs(connection, run)?.into_iter().map(|(job, _)| job).collect();
    }
    Ok(schedule)
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

/// All schedules, by name.
pub(super) fn all(connection: &Connection) -> Fallible<Vec<Schedule>> {
    const ALL: &str = "SELECT * FROM ax_schedules ORDER BY name";
    let mut query = connection.prepare_cached(ALL)?;
    let rows = query.query_map([], stored)?.collect::<rusqlite::Result<Vec<_>>>()?;
    rows.into_iter().map(|stored| with_jobs(connection, stored)).collect()
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
    let resumed = names.iter().map(one).collect();
    judge::drain(tx, now, judge::PER_TURN, &mut Vec::new())?;
    resumed
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
