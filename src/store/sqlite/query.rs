//! Reading jobs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension, named_params, params_from_iter};

use super::counts::{DROPPED, OWNED};
use super::{Fallible, edges, gates, row};
use crate::job::phase::Blocked;
use crate::job::{
    Attempt, Command, Dependency, Edge, EnvBlock, Job, JobId, State, dependency::Seen,
};
use crate::store::{Order, Query, Selector};

/// One job with its dependencies.
pub(super) fn get(connection: &Connection, id: JobId) -> Fallible<Option<Job>> {
    let mut job = with_dependencies(connection, id)?;
    attach_blocked(connection, job.as_mut_slice())?;
    Ok(job)
}

fn with_dependencies(connection: &Connection, id: JobId) -> Fallible<Option<Job>> {
    let sql = format!("SELECT {} FROM ax_jobs WHERE id = :id", row::JOB_COLUMNS);
    let mut query = connection.prepare_cached(&sql)?;
    let Some(mut job) = query.query_row(named_params! { ":id": id }, row::job).optional()? else {
        return Ok(None);
    };
    let seen = edges::of(connection, id)?;
    job.dependencies = seen.into_iter().map(|seen| Dependency { child: id, seen }).collect();
    Ok(Some(job))
}

/// What people call a job.
pub(super) fn title(connection: &Connection, id: JobId) -> Fallible<String> {
    let mut query =
        connection.prepare_cached("SELECT command, shell, name FROM ax_jobs WHERE id = :id")?;
    let title = query.query_row(named_params! { ":id": id }, |row| {
        let command = row::command(row)?.unwrap_or_else(Command::Shell);
        Ok(row::name(row)?.unwrap_or_else(|| command.text()))
    })?;
    Ok(title)
}

/// A condition with its values, built up part by part.
#[derive(Default)]
pub(super) struct Condition {
    all: Vec<String>,
    pub(super) values: Vec<Box<dyn ToSql>>,
}

impl Condition {
    pub(super) fn of(query: &Query) -> Self {
        let mut condition = Self::default();
        if !query.selectors.is_empty() {
            let any: Vec<_> = query.selectors.iter().map(|one| condition.selector(one)).collect();
            condition.all.push(format!("({})", any.join(" OR ")));
        }
        if !query.states.is_empty() {
            condition.all.push(states(&query.states));
        }
        if let Some(glob) = &query.name {
            let name = condition.name(glob);
            condition.all.push(name);
        }
        if let Some(since) = query.since {
            let since = condition.value(since);
            condition.all.push(format!(
                "max(created_at, coalesce(runs_at, 0), coalesce(finished_at, 0)) >= {since}"
            ));
        }
        if let Some(run) = query.flow_run {
            let run = condition.value(run);
            condition.all.push(format!("flow_run = {run}"));
        }
        condition
    }

    /// Enters a value and returns its place holder.
    fn value(&mut self, value: impl ToSql + 'static) -> String {
        self.values.push(Box::new(value));
        format!("?{}", self.values.len())
    }

    fn selector(&mut self, selector: &Selector) -> String {
        match selector {
            Selector::All => "1".to_owned(),
            Selector::Last => "id = (SELECT max(id) FROM ax_jobs)".to_owned(),
            Selector::Ids(first, last) => {
                let (first, last) = (self.value(*first), self.value(*last));
                format!("id BETWEEN {first} AND {last}")
            }
            Selector::Name(glob) => self.name(glob),
            Selector::Key(key) => {
                let key = self.value(key.clone());
                format!("key = {key}")
            }
            // A literal, so that the index over the state is used.
            Selector::Status(state) => format!("status = '{state}'"),
            Selector::Flow(flow) => {
                let flow = self.value(flow.clone());
                format!("flow GLOB {flow}")
            }
            Selector::Group(group) => {
                let group = self.value(group.clone());
                format!("group_name GLOB {group}")
            }
            Selector::Schedule(schedule) => {
                let schedule = self.value(schedule.clone());
                format!("flow_run IN (SELECT id FROM ax_flow_runs WHERE schedule GLOB {schedule})")
            }
        }
    }

    fn name(&mut self, glob: &str) -> String {
        let glob = self.value(glob.to_owned());
        format!("coalesce(name, CAST(command AS TEXT)) GLOB {glob}")
    }

    pub(super) fn sql(&self) -> String {
        if self.all.is_empty() { "1".to_owned() } else { self.all.join(" AND ") }
    }
}

/// A condition on the state. What ended is found by its end, and states that
/// few jobs are in each by its index; of the others a large part of the table
/// is wanted anyway.
pub(super) fn states(states: &[State]) -> String {
    if State::ALL.iter().all(|state| state.is_final() == states.contains(state)) {
        return ended!().to_owned();
    }
    let by_index = |state: &State| match state {
        State::Failed | State::Dead | State::Held => Some(format!("status = '{state}'")),
        State::Dispatched | State::Running => Some(format!("{OWNED} AND status = '{state}'")),
        State::Cancelled | State::Skipped => Some(format!("{DROPPED} AND status = '{state}'")),
        State::Pending | State::Ready | State::Success => None,
    };
    if let [one] = states
        && let Some(part) = by_index(one)
    {
        return part;
    }
    let parts: Option<Vec<_>> = states.iter().map(by_index).collect();
    if let Some(parts) = parts {
        let parts: Vec<_> =
            parts.iter().map(|part| format!("SELECT id FROM ax_jobs WHERE {part}")).collect();
        return format!("id IN ({})", parts.join(" UNION ALL "));
    }
    let names: Vec<_> = states.iter().map(|state| format!("'{state}'")).collect();
    format!("status IN ({})", names.join(", "))
}

/// The jobs that match, with their dependencies.
pub(super) fn list(connection: &Connection, query: &Query) -> Fallible<Vec<Job>> {
    let condition = Condition::of(query);
    let mut statement = connection.prepare(&list_sql(query, &condition))?;
    let rows = statement.query_map(params_from_iter(&condition.values), row::job)?;
    let mut jobs = rows.collect::<rusqlite::Result<Vec<Job>>>()?;
    if query.limit.is_some() {
        jobs.reverse();
    }
    if query.limit.is_some() {
        each_its_dependencies(connection, &mut jobs)?;
    } else {
        attach_dependencies(connection, &condition, &mut jobs)?;
    }
    attach_blocked(connection, &mut jobs)?;
    Ok(jobs)
}

/// Reads the jobs of a query. A limit keeps the last ones; they are found
/// backwards and turned round.
pub(super) fn list_sql(query: &Query, condition: &Condition) -> String {
    let (order, backwards) = order(query.order);
    let end = match query.limit {
        None => order,
        Some(limit) => format!("{backwards} LIMIT {}", i64::try_from(limit).unwrap_or(i64::MAX)),
    };
    format!("SELECT {} FROM ax_jobs WHERE {} ORDER BY {end}", row::JOB_COLUMNS, condition.sql())
}

/// Tells of ready jobs with limits what they wait for; each limit is asked once.
fn attach_blocked(connection: &Connection, jobs: &mut [Job]) -> Fallible<()> {
    let mut known: HashMap<(Option<String>, Option<String>), Option<Blocked>> = HashMap::new();
    let limited = |job: &&mut Job| job.group.is_some() || job.mutex.is_some();
    for job in jobs.iter_mut().filter(|job| job.state == State::Ready).filter(limited) {
        let limits = (job.group.clone(), job.mutex.clone());
        job.blocked = match known.entry(limits) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(place) => {
                let (group, mutex) = (job.group.as_deref(), job.mutex.as_deref());
                place.insert(gates::blocked(connection, group, mutex)?).clone()
            }
        };
    }
    Ok(())
}

/// The order, and the same backwards.
fn order(order: Order) -> (String, String) {
    let by_state = || {
        let places = State::ALL
            .iter()
            .enumerate()
            .map(|(place, state)| format!("WHEN '{state}' THEN {place}"));
        format!("CASE status {} END", places.collect::<Vec<_>>().join(" "))
    };
    let (key, direction, opposite) = match order {
        Order::Id => return ("id".to_owned(), "id DESC".to_owned()),
        Order::Name => ("coalesce(name, CAST(command AS TEXT))".to_owned(), "ASC", "DESC"),
        Order::Status => (by_state(), "ASC", "DESC"),
        Order::Priority => ("priority".to_owned(), "DESC", "ASC"),
        Order::Scheduled => ("scheduled_at".to_owned(), "ASC", "DESC"),
        Order::Started => ("runs_at".to_owned(), "ASC", "DESC"),
        Order::Finished => ("finished_at".to_owned(), "ASC", "DESC"),
    };
    (format!("{key} {direction}, id"), format!("{key} {opposite}, id DESC"))
}

/// Reads the dependencies of all jobs of a list at once. For a few jobs it is
/// cheaper to ask for each.
fn attach_dependencies(
    connection: &Connection,
    condition: &Condition,
    jobs: &mut [Job],
) -> Fallible<()> {
    const FEW: usize = 200;
    if jobs.len() <= FEW {
        return each_its_dependencies(connection, jobs);
    }
    let sql = format!(
        "SELECT edge.job_id, edge.depends_on, edge.kind, parent.status
         FROM ax_deps AS edge LEFT JOIN ax_jobs AS parent ON parent.id = edge.depends_on
         WHERE edge.job_id IN (SELECT id FROM ax_jobs WHERE {})
         ORDER BY edge.job_id, edge.depends_on, edge.kind",
        condition.sql()
    );
    let place: HashMap<JobId, usize> =
        jobs.iter().enumerate().map(|(place, job)| (job.id, place)).collect();
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map(params_from_iter(&condition.values), |row| {
        let edge = Edge { parent: row.get(1)?, kind: row.get(2)? };
        Ok(Dependency { child: row.get(0)?, seen: Seen { edge, parent: row.get(3)? } })
    })?;
    for dependency in rows {
        let dependency = dependency?;
        if let Some(place) = place.get(&dependency.child) {
            jobs[*place].dependencies.push(dependency);
        }
    }
    Ok(())
}

fn each_its_dependencies(connection: &Connection, jobs: &mut [Job]) -> Fallible<()> {
    for job in jobs {
        let seen = edges::of(connection, job.id)?;
        job.dependencies =
            seen.into_iter().map(|seen| Dependency { child: job.id, seen }).collect();
    }
    Ok(())
}

/// How many jobs match.
pub(super) fn count(connection: &Connection, query: &Query) -> Fallible<u64> {
    let condition = Condition::of(query);
    let sql = format!("SELECT count(*) FROM ax_jobs WHERE {}", condition.sql());
    Ok(connection
        .prepare(&sql)?
        .query_row(params_from_iter(&condition.values), |row| row.get(0))?)
}

/// The ids that a selector names.
pub(super) fn select(connection: &Connection, selector: &Selector) -> Fallible<Vec<JobId>> {
    let mut condition = Condition::default();
    let selected = condition.selector(selector);
    let sql = format!("SELECT id FROM ax_jobs WHERE {selected} ORDER BY id");
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map(params_from_iter(&condition.values), |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The environment a job was added with, `-e` included.
pub(super) fn environment(connection: &Connection, id: JobId) -> Fallible<Option<EnvBlock>> {
    const READ: &str = "
        SELECT env.block, job.extra_env
        FROM ax_jobs AS job LEFT JOIN ax_envs AS env ON env.id = job.env_id
        WHERE job.id = :id";
    let blocks = connection.query_row(READ, named_params! { ":id": id }, |row| {
        let base: Option<Vec<u8>> = row.get(0)?;
        let extra: Option<Vec<u8>> = row.get(1)?;
        Ok((base, EnvBlock(extra.unwrap_or_default())))
    });
    Ok(blocks
        .optional()?
        .and_then(|(base, extra)| base.map(|base| EnvBlock(base).overlaid(&extra))))
}

/// The history of a job, oldest first.
pub(super) fn attempts(connection: &Connection, id: JobId) -> Fallible<Vec<Attempt>> {
    const READ: &str = "SELECT * FROM ax_attempts WHERE job_id = :id ORDER BY attempt";
    let mut query = connection.prepare_cached(READ)?;
    let rows = query.query_map(named_params! { ":id": id }, row::attempt)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The output of an attempt, if it is kept in the database.
pub(super) fn output(
    connection: &Connection,
    id: JobId,
    attempt: u32,
) -> Fallible<Option<Vec<u8>>> {
    const READ: &str = "SELECT bytes FROM ax_outputs WHERE job_id = :id AND attempt = :attempt";
    let mut query = connection.prepare_cached(READ)?;
    let bytes = query.query_row(named_params! { ":id": id, ":attempt": attempt }, |row| row.get(0));
    Ok(bytes.optional()?)
}

/// Attempts whose output is in a file of its own.
pub(super) fn output_files(connection: &Connection) -> Fallible<Vec<(JobId, u32)>> {
    const READ: &str = "
        SELECT job_id, attempt FROM ax_attempts
        WHERE output_in_file = 1
        ORDER BY job_id, attempt";
    let mut query = connection.prepare_cached(READ)?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The unfinished jobs that a person looks for first, each part by its index:
/// what runs, failed, is held, comes next, waits behind a limit, waits for its
/// time, waits for others.
pub(super) const UNFINISHED: &str = concat!(
    "
    SELECT id FROM (SELECT id FROM ax_jobs WHERE status IN ('dispatched', 'running') LIMIT :most)
    UNION ALL
    SELECT id FROM (SELECT id FROM ax_jobs WHERE status = 'failed' LIMIT :most)
    UNION ALL
    SELECT id FROM (SELECT id FROM ax_jobs WHERE status = 'held' LIMIT :most)
    UNION ALL
    SELECT id FROM (
        SELECT id FROM ax_jobs WHERE ",
    takeable!(),
    " ORDER BY ",
    turn_of_a_job!(),
    " LIMIT :most)
    UNION ALL
    SELECT id FROM (
        SELECT id FROM ax_jobs
        WHERE status = 'ready' AND coalesce(group_name, mutex) IS NOT NULL AND admitted IS NOT 2
        LIMIT :most)
    UNION ALL
    SELECT id FROM (
        SELECT id FROM ax_jobs
        WHERE status IN ('pending', 'failed') AND waits_on IS NULL AND status = 'pending'
        ORDER BY ",
    due!(),
    ", id
        LIMIT :most)
    UNION ALL
    SELECT id FROM (
        SELECT id FROM ax_jobs WHERE status = 'pending' AND waits_on IS NOT NULL
        ORDER BY id LIMIT :most)
    LIMIT :most"
);

/// Unfinished jobs with their dependencies, at most so many.
pub(super) fn unfinished(connection: &Connection, most: usize) -> Fallible<Vec<Job>> {
    let mut query = connection.prepare_cached(UNFINISHED)?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let ids = query.query_map(named_params! { ":most": most }, |row| row.get(0))?;
    let ids = ids.collect::<rusqlite::Result<Vec<JobId>>>()?;
    let jobs = ids.into_iter().map(|id| with_dependencies(connection, id));
    let mut jobs = jobs.filter_map(Result::transpose).collect::<Fallible<Vec<_>>>()?;
    attach_blocked(connection, &mut jobs)?;
    Ok(jobs)
}
