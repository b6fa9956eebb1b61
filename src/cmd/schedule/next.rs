//! `ax schedule next`: the next starts, and where the clock is changed.

use super::find;
use crate::cli::ScheduleNextArgs;
use crate::cmd::surroundings;
use crate::cmd::{Answer, Context};
use crate::failure::Failure;
use crate::job::{Timestamp, Timetable};
use crate::output::schedule::{Ahead, NextStarts};
use crate::store::Error;

pub(super) fn run(args: ScheduleNextArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let now = context.now();
    let (table, first) = match (args.cron, args.name) {
        (Some(cron), _) => {
            let zone = args.tz.map_or_else(surroundings::time_zone, Ok)?;
            (Timetable { cron, zone }, None)
        }
        (None, Some(name)) => standing(&name, context)?,
        (None, None) => return Err(Failure::usage("neither a schedule nor --cron was named")),
    };
    let later = table.after(first.map_or(now, |first| first.max(now)));
    let ahead = |due| Ahead { due, change: table.clock_change(due) };
    let starts = first.into_iter().chain(later).take(args.limit.into()).map(ahead).collect();
    Ok(Answer::new(NextStarts { starts, zone: table.zone, now }, args.show))
}

/// When a schedule starts, and the start that stands among the jobs.
fn standing(name: &str, context: &Context<'_>) -> Result<(Timetable, Option<Timestamp>), Failure> {
    let schedule = find(context.store()?.as_mut(), name)?;
    let broken = |why| Error::BrokenSchedule { name: name.to_owned(), why };
    let recurrence = schedule.recurrence.map_err(broken)?;
    let Some(next) = schedule.next else {
        let message = format!("the schedule `{}` is paused", name.escape_debug());
        return Err(Failure::refused(message).hint("`ax schedule resume` lets it go on"));
    };
    Ok((recurrence.table, Some(next.due)))
}
