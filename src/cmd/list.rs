//! `ax list`: shows jobs.

use super::{Answer, Context, alive, failures, select};
use crate::cli::{Format, ListArgs, Show, SortKey, StateArg};
use crate::failure::Failure;
use crate::job::{Job, JobId, State, Timestamp};
use crate::output::failed::{self, FailedList};
use crate::output::json;
use crate::output::list::{Empty, JobList, More};
use crate::store::{Order, Query, Selector, Store};
use crate::when::Past;

/// How many of the jobs that ended are shown when nobody says which.
const LAST_ENDED: usize = 20;

/// How many unfinished ones are shown then: more than anybody reads.
const UNFINISHED: usize = 500;

pub(super) fn run(args: ListArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    check_columns(&args.columns)?;
    let query = query(&args, context.now())?;
    let show = shown_as(&args);
    let mut store = context.store()?;
    let store = store.as_mut();
    check_ids(store, &query.selectors)?;
    let moment = alive::moment(store, &context.data_dir(), context.now())?;
    let filtered = is_filtered(&args);
    let table = matches!(show.wanted(), None | Some(Format::Table));
    let (mut jobs, more) = if filtered || !table {
        (store.list(&query)?, More::default())
    } else {
        overview(store, query.order)?
    };
    if !args.cause.is_empty() {
        keep(&mut jobs, &failures::jobs_of(store, &args.cause)?, args.limit);
    }
    if is_about_failures(&args) && args.columns.is_empty() {
        let failures = with_last_attempts(store, jobs)?;
        return Ok(Answer::new(FailedList { failures, moment }, show));
    }
    let empty = if filtered { Empty::NoMatch } else { Empty::NoJobs };
    Ok(Answer::new(JobList { jobs, columns: args.columns, more, empty, moment }, show))
}

fn check_columns(columns: &[String]) -> Result<(), Failure> {
    match columns.iter().find(|name| !json::FIELDS.contains(&name.as_str())) {
        None => Ok(()),
        Some(unknown) => {
            let unknown = unknown.escape_debug();
            let hint = format!("there are {}", json::FIELDS.join(", "));
            Err(Failure::usage(format!("there is no column `{unknown}`")).hint(hint))
        }
    }
}

/// An id that does not exist is a mistake of whoever typed it; a property that
/// no job has is an answer.
pub(super) fn check_ids(store: &mut dyn Store, selectors: &[Selector]) -> Result<(), Failure> {
    for selector in selectors {
        match selector {
            Selector::Ids(..) if store.select(selector)?.is_empty() => {
                return Err(select::not_found(selector));
            }
            Selector::Ids(..)
            | Selector::Last
            | Selector::All
            | Selector::Name(_)
            | Selector::Key(_)
            | Selector::Status(_)
            | Selector::Flow(_)
            | Selector::Group(_)
            | Selector::Schedule(_) => (),
        }
    }
    Ok(())
}

fn shown_as(args: &ListArgs) -> Show {
    if args.quiet { Show { format: Some(Format::Ids), json: false } } else { args.show }
}

/// Leaves these jobs only, the last so many of them.
fn keep(jobs: &mut Vec<Job>, ids: &[JobId], limit: Option<usize>) {
    jobs.retain(|job| ids.binary_search(&job.id).is_ok());
    let first = jobs.len().saturating_sub(limit.unwrap_or(usize::MAX));
    jobs.drain(..first);
}

const fn is_about_failures(args: &ListArgs) -> bool {
    args.failed || !args.cause.is_empty()
}

const fn is_filtered(args: &ListArgs) -> bool {
    !args.selectors.is_empty()
        || !args.status.is_empty()
        || is_about_failures(args)
        || args.name.is_some()
        || args.since.is_some()
        || args.limit.is_some()
}

fn query(args: &ListArgs, now: Timestamp) -> Result<Query, Failure> {
    let states = if is_about_failures(args) {
        State::FAILED.to_vec()
    } else {
        args.status.iter().copied().map(state).collect()
    };
    Ok(Query {
        selectors: select::parse(&args.selectors)?,
        states,
        name: args.name.clone(),
        since: args.since.map(|since| point(since, now)),
        flow_run: None,
        order: order(args.sort),
        // Of one cause the last ones are found when all are known.
        limit: args.limit.filter(|_| args.cause.is_empty()),
    })
}

pub(super) fn point(since: Past, now: Timestamp) -> Timestamp {
    match since {
        Past::At(time) => time,
        Past::Ago(length) => {
            let millis = i64::try_from(length.as_millis()).unwrap_or(i64::MAX);
            Timestamp::from_millis(now.millis().saturating_sub(millis))
        }
    }
}

const fn state(arg: StateArg) -> State {
    match arg {
        StateArg::Pending => State::Pending,
        StateArg::Ready => State::Ready,
        StateArg::Dispatched => State::Dispatched,
        StateArg::Running => State::Running,
        StateArg::Success => State::Success,
        StateArg::Failed => State::Failed,
        StateArg::Dead => State::Dead,
        StateArg::Held => State::Held,
        StateArg::Cancelled => State::Cancelled,
        StateArg::Skipped => State::Skipped,
    }
}

const fn order(key: SortKey) -> Order {
    match key {
        SortKey::Id => Order::Id,
        SortKey::Name => Order::Name,
        SortKey::Status => Order::Status,
        SortKey::Priority => Order::Priority,
        SortKey::Scheduled => Order::Scheduled,
        SortKey::Started => Order::Started,
        SortKey::Finished => Order::Finished,
    }
}

/// What is unfinished and what ended last, in one order; and how many more
/// there are of both.
fn overview(store: &mut dyn Store, order: Order) -> Result<(Vec<Job>, More), Failure> {
    let states = State::ALL.into_iter().filter(|state| state.is_final());
    let ended = Query {
        states: states.collect(),
        order: Order::Finished,
        limit: Some(LAST_ENDED),
        ..Query::default()
    };
    let counts = store.counts()?;
    let all = |over: bool| {
        let pairs = State::ALL.into_iter().zip(counts);
        pairs.filter(|(state, _)| state.is_final() == over).map(|(_, count)| count).sum::<u64>()
    };
    let ended = store.list(&ended)?;
    let mut jobs = store.unfinished(UNFINISHED)?;
    let more = More {
        ended: all(true).saturating_sub(ended.len() as u64),
        unfinished: all(false).saturating_sub(jobs.len() as u64),
    };
    jobs.extend(ended);
    sort(&mut jobs, order);
    Ok((jobs, more))
}

/// Sorts like [`Order`] says.
fn sort(jobs: &mut [Job], order: Order) {
    jobs.sort_by_key(|job| job.id);
    match order {
        Order::Id => (),
        Order::Name => jobs.sort_by_cached_key(Job::title),
        Order::Status => jobs.sort_by_key(|job| job.state),
        Order::Priority => jobs.sort_by_key(|job| std::cmp::Reverse(job.priority)),
        Order::Scheduled => jobs.sort_by_key(|job| job.scheduled_at),
        Order::Started => jobs.sort_by_key(|job| job.runs_at),
        Order::Finished => jobs.sort_by_key(|job| job.finished_at),
    }
}

fn with_last_attempts(
    store: &mut dyn Store,
    jobs: Vec<Job>,
) -> Result<Vec<failed::Failure>, Failure> {
    let mut failures = Vec::with_capacity(jobs.len());
    for job in jobs {
        let told = job.exit_code.is_some() || job.signal.is_some();
        let last = if told { None } else { store.attempts(job.id)?.pop() };
        failures.push(failed::Failure { job, last });
    }
    Ok(failures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit;
    use crate::output::example::{self, after};

    #[test]
    fn a_column_that_does_not_exist_is_named() {
        let columns = ["id", "colour"].map(str::to_owned);
        let failure = check_columns(&columns).expect_err("there is no such column");
        assert_eq!(failure.exit, exit::USAGE);
        assert_eq!(failure.message, "there is no column `colour`");
        assert!(check_columns(&json::FIELDS.map(str::to_owned)).is_ok());
    }

    #[test]
    fn jobs_that_are_equal_in_the_order_come_by_id() {
        let job = |id, priority, end| Job { priority, finished_at: end, ..example::job(id) };
        let jobs = [job(3, 5, None), job(1, 9, Some(after(2))), job(2, 5, Some(after(1)))];
        let sorted = |order| {
            let mut jobs = jobs.to_vec();
            sort(&mut jobs, order);
            jobs.iter().map(|job| job.id.0).collect::<Vec<_>>()
        };
        assert_eq!(sorted(Order::Id), [1, 2, 3]);
        assert_eq!(sorted(Order::Priority), [1, 2, 3]);
        assert_eq!(sorted(Order::Finished), [3, 2, 1]);
    }

    #[test]
    fn a_time_before_all_times_is_no_overflow() {
        let long = Past::Ago(std::time::Duration::MAX);
        assert!(point(long, Timestamp::from_millis(-10)) < Timestamp::from_millis(0));
    }
}
