//! `ax status`: counts by state, the runners that are alive, and what failed today.

use std::collections::HashMap;

use super::{Answer, Context, alive};
use crate::cli::{Show, StatusArgs};
use crate::failure::Failure;
use crate::job::{Job, Schedule, State, Timestamp};
use crate::output::runners::working;
use crate::output::status::{Coming, FailedToday, Status};
use crate::output::welcome::Welcome;
use crate::output::{Moment, time};
use crate::store::{Order, Query, Store};

/// Of each state that is a failure the last so many are looked at, because the
/// answer is wanted at once.
const LAST: usize = 1_000;
/// Failures that are shown to people.
const MOST: usize = 10;
/// The same of the short status.
const FEW: usize = 3;

pub(super) fn run(args: StatusArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let mut store = context.store()?;
    Ok(Answer::new(look(store.as_mut(), MOST, context)?, args.show))
}

/// `ax` alone: the short status, or the first commands where there is nothing
/// yet. It makes no database.
pub(super) fn short(context: &Context<'_>) -> Result<Answer, Failure> {
    let is_there = std::fs::metadata(&context.db).is_ok_and(|file| file.len() > 0);
    if is_there {
        let mut store = context.store()?;
        let status = look(store.as_mut(), FEW, context)?;
        if !status.is_empty() {
            return Ok(Answer::new(status, Show::default()));
        }
    }
    Ok(Answer::new(Welcome, Show::default()))
}

/// The status now, with so many failures for people.
fn look(store: &mut dyn Store, most: usize, context: &Context<'_>) -> Result<Status, Failure> {
    let now = context.now();
    let midnight = time::midnight(now);
    let counts = store.counts()?;
    let runners = alive::runners(store, &context.data_dir())?;
    let mut failed = Vec::new();
    for state in State::FAILED {
        let (states, order, limit) = (vec![state], Order::Id, Some(LAST));
        failed.extend(store.list(&Query { states, order, limit, ..Query::default() })?);
    }
    failed.retain(|job| job.finished_at.is_some_and(|end| end >= midnight));
    failed.sort_by_key(|job| job.finished_at);
    let moment = Moment { now, runners: working(&runners) };
    let (schedules, paused_groups) = (coming(store.schedules()?), store.paused_groups()?);
    let failures = ranked(&failed);
    let more = |(state, count): (State, u64)| State::FAILED.contains(&state) && count > LAST as u64;
    let among = State::ALL.into_iter().zip(counts).any(more).then_some(LAST);
    Ok(Status { counts, runners, schedules, paused_groups, failures, among, most, moment })
}

/// The schedules by their next starts, those that are paused last.
fn coming(schedules: Vec<Schedule>) -> Vec<Coming> {
    let coming = |schedule: Schedule| Coming {
        schedule: schedule.name,
        next: schedule.next.map(|next| next.due),
    };
    let mut all: Vec<_> = schedules.into_iter().map(coming).collect();
    all.sort_by_key(|coming| coming.next.unwrap_or(Timestamp::MAX));
    all
}

/// Counts failures by what people call the jobs, the most frequent first. The
/// jobs come in the order of their ends, so the last error of a name stays.
fn ranked(failed: &[Job]) -> Vec<FailedToday> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut ranked: Vec<FailedToday> = Vec::new();
    for job in failed {
        let title = job.title();
        let place = *places.entry(title.clone()).or_insert(ranked.len());
        if place == ranked.len() {
            ranked.push(FailedToday { title, times: 0, error: String::new() });
        }
        let error = job.last_error.as_ref().or(job.reason.as_ref());
        ranked[place].times += 1;
        ranked[place].error = error.cloned().unwrap_or_default();
    }
    ranked.sort_by_key(|failed| std::cmp::Reverse(failed.times));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::example;

    #[test]
    fn the_most_frequent_failure_comes_first_with_its_last_error() {
        let failed = |name: &str, error: &str| Job {
            name: Some(name.to_owned()),
            last_error: Some(error.to_owned()),
            ..example::job(1)
        };
        let jobs = [failed("once", "a"), failed("twice", "old"), failed("twice", "new")];
        let want = [("twice", 2, "new"), ("once", 1, "a")].map(|(title, times, error)| {
            FailedToday { title: title.to_owned(), times, error: error.to_owned() }
        });
        assert_eq!(ranked(&jobs), want);
    }
}
