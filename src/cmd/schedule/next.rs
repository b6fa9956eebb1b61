//! `ax schedule next`: the next starts, and where the clock is changed.

use crate::cli::ScheduleNextArgs;
use crate::cmd::surroundings;
use crate::cmd::{Answer, Context};
use crate::failure::Failure;
use crate::job::Timetable;
use crate::output::schedule::{NextStart, NextStarts};

pub(super) fn run(args: ScheduleNextArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let zone = args.tz.map_or_else(surroundings::time_zone, Ok)?;
    let table = Timetable { cron: args.cron, zone };
    let now = context.now();
    let start = |due| NextStart { due, change: table.clock_change(due) };
    let starts = table.after(now).take(args.limit.into()).map(start).collect();
    Ok(Answer::new(NextStarts { starts, zone, now }, args.show))
}
