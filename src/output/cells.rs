//! How the parts of a job appear in a table.

use super::table::Cell;
use super::{Moment, json, paint, time};
use crate::escape::{escape, last_line};
use crate::job::phase::Phase;
use crate::job::{Job, State, Timestamp};

/// What stands where there is nothing to say.
pub const NOTHING: &str = "-";

/// The id.
pub fn id(job: &Job) -> Cell {
    job.id.to_string().into()
}

/// The state, in its colour.
pub fn state(state: State) -> Cell {
    Cell::painted(state.as_str(), paint::of(state))
}

/// The name, or the command of a job that has none.
pub fn title(job: &Job) -> Cell {
    escape(job.title().as_bytes()).into()
}

/// Which attempt it is, and how many there can be: `2/4`. The number is the
/// one that `ax logs --attempt` takes.
pub fn attempt(job: &Job) -> Cell {
    if job.attempts == 0 {
        return Cell::painted(NOTHING, paint::FAINT);
    }
    let started = u64::from(job.attempts);
    format!("{started}/{}", (started + to_come(job)).max(allowed(job))).into()
}

/// How many starts the retries allow.
fn allowed(job: &Job) -> u64 {
    u64::from(job.policy.max_retries) + 1
}

/// How many starts there can still be. A retry by a person begins a new count,
/// and a shutdown or a loss costs a start but no retry.
fn to_come(job: &Job) -> u64 {
    let left = allowed(job).saturating_sub(u64::from(job.policy.retry_count));
    match job.state {
        State::Pending | State::Ready | State::Failed | State::Held => left,
        State::Dispatched | State::Running => left.saturating_sub(1),
        State::Success | State::Dead | State::Cancelled | State::Skipped => 0,
    }
}

/// The time that matters: due for what waits, started for what runs, ended for
/// what ended.
pub fn when(job: &Job, moment: Moment) -> Cell {
    let at = match job.state {
        State::Pending | State::Ready | State::Failed => {
            Some(job.scheduled_at).filter(|due| *due > moment.now)
        }
        State::Dispatched | State::Held => None,
        State::Running => job.runs_at,
        State::Success | State::Dead | State::Cancelled | State::Skipped => job.finished_at,
    };
    time_cell(at, moment)
}

/// When the last attempt ended, or began if it has not ended.
pub fn last_seen(job: &Job, moment: Moment) -> Cell {
    time_cell(job.finished_at.or(job.runs_at), moment)
}

/// When the next attempt is due.
pub fn next_try(job: &Job, moment: Moment) -> Cell {
    let next = (job.state == State::Failed).then_some(job.scheduled_at);
    time_cell(next, moment)
}

fn time_cell(time: Option<Timestamp>, moment: Moment) -> Cell {
    match time {
        Some(time) => time::short(time, moment.now).into(),
        None => Cell::painted(NOTHING, paint::FAINT),
    }
}

/// How long the last attempt took, or has been running.
pub fn took(job: &Job, moment: Moment) -> Cell {
    let end = match job.state {
        State::Running => Some(moment.now),
        State::Success | State::Failed | State::Dead | State::Held => job.finished_at,
        State::Pending | State::Ready | State::Dispatched | State::Cancelled | State::Skipped => {
            None
        }
    };
    match (job.runs_at, end) {
        (Some(start), Some(end)) if end >= start => time::took(end.since(start)).into(),
        (Some(_) | None, _) => Cell::painted(NOTHING, paint::FAINT),
    }
}

/// Why a job waits, failed or was stopped, unless another column says it.
pub fn why(job: &Job, moment: Moment) -> Cell {
    let show = |at| time::short(at, moment.now);
    let reason = || json::reason(job, moment, &show);
    let why = match moment.phase(job) {
        Phase::Running => progress(job),
        Phase::Scheduled(_) => None,
        Phase::NextStart(_, schedule) => Some(format!("schedule {schedule}")),
        Phase::NoRunner => Some("no runner is alive".to_owned()),
        Phase::Suspended => Some("every runner is suspended".to_owned()),
        Phase::Backoff(_) | Phase::Ended(State::Dead, _) => job.last_error.clone().or_else(reason),
        Phase::Stuck(why) => Some(why),
        Phase::Claimed
        | Phase::Queued
        | Phase::Blocked(_)
        | Phase::Waiting(_)
        | Phase::WaitingForPerson(_)
        | Phase::Held(_)
        | Phase::Ended(..) => reason(),
    };
    escape(why.unwrap_or_default().as_bytes()).into()
}

/// How far the last attempt said it was: `40% copying`.
pub fn progress(job: &Job) -> Option<String> {
    let percent = job.progress?;
    let text = job.progress_text.as_ref().map(|text| format!(" {text}"));
    Some(format!("{percent}%{}", text.unwrap_or_default()))
}

/// The last line of the error of the last attempt.
pub fn error(job: &Job) -> Cell {
    let error = job.reason.as_ref().or(job.last_error.as_ref());
    last_line(error.map_or("", String::as_str).as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::phase::Runners;
    use crate::output::example::{self, MOMENT, after};
    use crate::output::table::{Column, Table};

    /// The text of a cell, as a table shows it.
    fn text(cell: Cell) -> String {
        let mut table = Table::new(vec![Column::new("x")]);
        table.row(vec![cell]);
        let shown = table.render(crate::output::Style { color: false, width: None });
        shown.lines().nth(1).unwrap_or("").to_owned()
    }

    fn job(state: State, attempts: u32, retry_count: u32) -> Job {
        let mut job = Job { state, attempts, ..example::job(7) };
        job.policy.retry_count = retry_count;
        job
    }

    #[test]
    fn attempts_are_counted_up_to_the_last_one_there_can_be() {
        let of = |state, attempts, retries| text(attempt(&job(state, attempts, retries)));
        assert_eq!(of(State::Pending, 0, 0), "-");
        assert_eq!(of(State::Running, 1, 0), "1/4");
        assert_eq!(of(State::Failed, 1, 1), "1/4");
        assert_eq!(of(State::Running, 2, 1), "2/4");
        assert_eq!(of(State::Success, 2, 1), "2/4");
        assert_eq!(of(State::Dead, 4, 3), "4/4");
        assert_eq!(of(State::Cancelled, 1, 1), "1/4");
    }

    #[test]
    fn a_retry_by_a_person_makes_room_for_more_attempts() {
        assert_eq!(text(attempt(&job(State::Pending, 4, 0))), "4/8");
        assert_eq!(text(attempt(&job(State::Running, 5, 0))), "5/8");
        assert_eq!(text(attempt(&job(State::Dead, 8, 3))), "8/8");
    }

    #[test]
    fn the_time_of_a_job_is_the_one_that_matters() {
        let waits = Job { scheduled_at: after(90), ..job(State::Pending, 0, 0) };
        assert_eq!(text(when(&waits, MOMENT)), "in 1m30s");
        assert_eq!(text(when(&job(State::Ready, 0, 0), MOMENT)), "-");
        let runs = Job { runs_at: Some(after(-5)), ..job(State::Running, 1, 0) };
        assert_eq!(text(when(&runs, MOMENT)), "5s ago");
        assert_eq!(text(took(&runs, MOMENT)), "5.0s");
        let ended = Job {
            runs_at: Some(after(-5)),
            finished_at: Some(after(-3)),
            ..job(State::Dead, 1, 0)
        };
        assert_eq!(text(when(&ended, MOMENT)), "3s ago");
        assert_eq!(text(took(&ended, MOMENT)), "2.0s");
    }

    #[test]
    fn a_clock_that_was_set_back_gives_no_duration() {
        let odd =
            Job { runs_at: Some(after(9)), finished_at: Some(after(1)), ..job(State::Dead, 1, 0) };
        assert_eq!(text(took(&odd, MOMENT)), "-");
    }

    #[test]
    fn a_failure_is_told_by_its_error_and_a_wait_by_its_cause() {
        let dead =
            Job { last_error: Some("no\x1b such table".to_owned()), ..job(State::Dead, 4, 3) };
        assert_eq!(text(why(&dead, MOMENT)), r"no\x1b such table");
        let ready = job(State::Ready, 0, 0);
        assert_eq!(text(why(&ready, MOMENT)), "waits for a free worker");
        let alone = Moment { runners: Runners::None, ..MOMENT };
        assert_eq!(text(why(&ready, alone)), "no runner is alive");
    }
}
