//! `ax schedule list`: the schedules, and when each starts next.

use crate::cli::ScheduleListArgs;
use crate::cmd::{Answer, Context};
use crate::failure::Failure;
use crate::output::schedule::ScheduleList;

pub(super) fn run(args: ScheduleListArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let schedules = context.store()?.schedules()?;
    Ok(Answer::new(ScheduleList { schedules, now: context.now() }, args.show))
}
