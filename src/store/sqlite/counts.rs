//! How many jobs there are: in each state, and of those that still happen.
//!
//! A million jobs are counted by the entries of an index. No index is over the
//! state alone, as each move of a job would write it; those that there are have
//! each job in one of a few parts, and of the small parts the jobs are looked at.

use rusqlite::{Connection, Row};

use super::{Fallible, claim, hooks};
use crate::job::{FlowRunId, State};
use crate::store::{Counts, Outlook};

/// What runners own.
pub(super) const OWNED: &str = "status IN ('dispatched', 'running')";

/// What ended without having run, of which there is little.
pub(super) const DROPPED: &str = "status IN ('cancelled', 'skipped')";

/// What is counted of all jobs, with its name.
pub(super) const PARTS: [(&str, &str); 12] = [
    ("waiting", "status = 'pending' AND waits_on IS NOT NULL"),
    ("due", "status IN ('pending', 'failed') AND waits_on IS NULL"),
    ("failed", "status = 'failed'"),
    ("failed_due", "status = 'failed' AND waits_on IS NULL"),
    ("takeable", claim::TAKEABLE),
    (
        "limited",
        "status = 'ready' AND coalesce(group_name, mutex) IS NOT NULL AND admitted IS NOT 2",
    ),
    ("dispatched", "status IN ('dispatched', 'running') AND status = 'dispatched'"),
    ("owned", OWNED),
    ("ended", ended!()),
    ("dead", "status = 'dead'"),
    ("held", "status = 'held'"),
    ("cancelled", "status IN ('cancelled', 'skipped') AND status = 'cancelled'"),
];

/// Counts each of [`PARTS`], and what was dropped, at one moment.
pub(super) fn counts_sql() -> String {
    let parts = PARTS.iter().chain([&("dropped", DROPPED)]);
    let counts = parts.map(|(name, condition)| {
        format!("(SELECT count(*) FROM ax_jobs WHERE {condition}) AS {name}")
    });
    format!("SELECT {}", counts.collect::<Vec<_>>().join(", "))
}

/// How many jobs are in each state.
pub(super) fn counts(connection: &Connection) -> Fallible<Counts> {
    let mut query = connection.prepare_cached(&counts_sql())?;
    let count = |row: &Row<'_>, state: State| -> rusqlite::Result<u64> {
        let of = |name: &str| row.get::<_, u64>(name);
        Ok(match state {
            State::Pending => of("waiting")? + of("due")? - of("failed_due")?,
            State::Ready => of("takeable")? + of("limited")?,
            State::Running => of("owned")? - of("dispatched")?,
            State::Success => of("ended")? - of("dead")? - of("dropped")?,
            State::Skipped => of("dropped")? - of("cancelled")?,
            State::Dispatched | State::Failed | State::Dead | State::Held | State::Cancelled => {
                of(state.as_str())?
            }
        })
    };
    let counts = query.query_row([], |row| {
        let mut counts = Counts::default();
        for (place, state) in counts.iter_mut().zip(State::ALL) {
            *place = count(row, state)?;
        }
        Ok(counts)
    })?;
    Ok(counts)
}

/// What is owned, ready, scheduled. Of what is ready and has limits the next
/// one is let through, if the limits are open, and else somebody is owned or a
/// person is waited for, who paused a group. The next start of a schedule is
/// nothing that is left to do.
pub(super) const TO_DO: [&str; 3] = [
    OWNED,
    claim::TAKEABLE,
    "status IN ('pending', 'failed') AND waits_on IS NULL
        AND NOT EXISTS (SELECT 1 FROM ax_schedules WHERE next_run = ax_jobs.flow_run)",
];

/// The same of one run of a flow, whose runner asks for its own jobs only.
pub(super) const TO_DO_IN_SCOPE: [&str; 3] = [
    TO_DO[0],
    "status = 'ready'
        AND NOT EXISTS (SELECT 1 FROM ax_groups WHERE name = ax_jobs.group_name AND paused)",
    TO_DO[2],
];

/// Counts the jobs of a run of a flow; of all jobs no more than tell whether
/// there are some.
pub(super) fn counts_of(scope: Option<FlowRunId>) -> [String; 3] {
    match scope {
        None => TO_DO.map(|condition| {
            format!("SELECT count(*) FROM (SELECT 1 FROM ax_jobs WHERE {condition} LIMIT 1000)")
        }),
        Some(run) => TO_DO_IN_SCOPE.map(|condition| {
            format!("SELECT count(*) FROM ax_jobs WHERE flow_run = {} AND {condition}", run.0)
        }),
    }
}

/// What is unfinished, by what it waits for.
pub(super) fn outlook(connection: &Connection, scope: Option<FlowRunId>) -> Fallible<Outlook> {
    let count = |sql: &str| -> Fallible<u64> {
        Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    };
    let [owned, ready, scheduled] = counts_of(scope);
    Ok(Outlook {
        owned: count(&owned)?,
        ready: count(&ready)?,
        scheduled: count(&scheduled)?,
        hooks: hooks::unfinished(connection, scope)?,
        unjudged: super::judge::is_open(connection)?,
    })
}
