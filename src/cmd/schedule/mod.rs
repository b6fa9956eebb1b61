//! `ax schedule`: what comes again and again.

pub(super) mod add;
mod import;
mod list;
mod next;

use super::{Answer, Context, add as jobs};
use crate::cli::{ScheduleArgs, ScheduleCommand, ScheduleNames, Show};
use crate::failure::Failure;
use crate::job::{Added, JobId, Schedule};
use crate::output::moved::MovedJobs;
use crate::store::{Error, Moved, Scheduled, Store};

/// Runs one of its commands.
pub(super) fn run(args: ScheduleArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    match args.command {
        ScheduleCommand::Add(args) => add::run(*args, context),
        ScheduleCommand::Import(args) => import::run(*args, context),
        ScheduleCommand::List(args) => list::run(args, context),
        ScheduleCommand::Next(args) => next::run(*args, context),
        ScheduleCommand::Pause(args) => {
            let mut store = context.store()?;
            Ok(taken_back(store.pause(&args.names, context.now())?, args.show))
        }
        ScheduleCommand::Resume(args) => resume(args, context),
        ScheduleCommand::Remove(args) => {
            let mut store = context.store()?;
            Ok(taken_back(store.unschedule(&args.names, context.now())?, args.show))
        }
    }
}

fn taken_back(moved: Vec<Moved>, show: Show) -> Answer {
    Answer::new(MovedJobs::new(moved, false), show)
}

fn resume(args: ScheduleNames, context: &Context<'_>) -> Result<Answer, Failure> {
    let mut store = context.store()?;
    let resumed = store.resume(&args.names, context.now())?;
    answer(&resumed, false, args.show, store.as_mut(), context)
}

/// Answers with the jobs of the next starts, which stand among all others.
pub(super) fn answer(
    scheduled: &[Scheduled],
    one: bool,
    show: Show,
    store: &mut dyn Store,
    context: &Context<'_>,
) -> Result<Answer, Failure> {
    let jobs = |scheduled: &Scheduled| -> Vec<Added> {
        let added = |id: &JobId| Added { id: *id, new: scheduled.new };
        scheduled.next.iter().flat_map(|next| &next.jobs).map(added).collect()
    };
    context.wake_runners();
    jobs::answer(scheduled.iter().flat_map(jobs).collect(), one, show, store, context)
}

/// The schedule of this name.
fn find(store: &mut dyn Store, name: &str) -> Result<Schedule, Failure> {
    let mut schedules = store.schedules()?.into_iter();
    let found = schedules.find(|schedule| schedule.name == name);
    Ok(found.ok_or_else(|| Error::NoSuchSchedule(name.to_owned()))?)
}
