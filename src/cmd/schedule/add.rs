//! `ax schedule add`, and its short form `ax add --cron`.

use std::io;

use super::answer;
use crate::cli::{self, AddArgs, RecurrenceArgs, ScheduleAddArgs, Show};
use crate::cmd::job_options::JobOptions;
use crate::cmd::{Answer, Context, surroundings, words};
use crate::failure::{Failure, SCHEDULE_EXISTS};
use crate::job::{
    CatchUp, Chain, Command, Cron, NewSchedule, Overlap, Recurrence, Timetable, limits, schedule,
};

pub(super) fn run(args: ScheduleAddArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let command = words::command(&args.command, &mut io::stdin().lock())?;
    let options = JobOptions::read(&args.job, &context.config.defaults())?;
    let recurrence = recurrence(args.cron, args.recurrence)?;
    make(args.name, recurrence, &options, command, (args.replace, args.show), context)
}

/// `ax add --cron`: the schedule is called like the job, or else like the
/// program that it runs.
///
/// # Errors
/// Says what is wrong with what was typed, or that the name is taken.
pub(in crate::cmd) fn short(args: AddArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let Some(cron) = args.cron else { return Err(Failure::usage("no --cron was given")) };
    let command = words::command(&args.command, &mut io::stdin().lock())?;
    let options = JobOptions::read(&args.job, &context.config.defaults())?;
    let recurrence = recurrence(cron, args.recurrence)?;
    let made = |name, command| {
        make(name, recurrence.clone(), &options, command, (false, args.show), context)
    };
    if let Some(name) = args.name {
        return made(name, command);
    }
    loop {
        match made(free_name(&command, context)?, command.clone()) {
            // Somebody was faster; another name is free.
            Err(failure) if failure.code == SCHEDULE_EXISTS => (),
            answer => return answer,
        }
    }
}

/// A name that no schedule has.
fn free_name(command: &Command, context: &Context<'_>) -> Result<String, Failure> {
    let taken = context.store()?.schedules()?;
    let is_taken = |name: &str| taken.iter().any(|schedule| schedule.name == name);
    Ok(schedule::distinct(&schedule::name_of(&command.text()), is_taken))
}

fn make(
    name: String,
    recurrence: Recurrence,
    options: &JobOptions,
    command: Command,
    (replace, show): (bool, Show),
    context: &Context<'_>,
) -> Result<Answer, Failure> {
    limits::label("name", &name).map_err(Failure::usage)?;
    let chain = Chain { jobs: vec![options.job(&name, command)], ..Chain::default() };
    let schedule = NewSchedule { name, recurrence, chain };
    let mut store = context.store()?;
    let made = store.schedule(&[schedule], replace, context.now())?;
    answer(&made, true, show, store.as_mut(), context)
}

fn recurrence(cron: Cron, args: RecurrenceArgs) -> Result<Recurrence, Failure> {
    let (catch_up, overlap) = policies(&args);
    let zone = args.tz.map_or_else(surroundings::time_zone, Ok)?;
    Ok(Recurrence { table: Timetable { cron, zone }, catch_up, overlap })
}

/// The policies that were named, and else the usual ones.
pub(super) fn policies(args: &RecurrenceArgs) -> (CatchUp, Overlap) {
    (args.catch_up.map(catch_up).unwrap_or_default(), args.overlap.map(overlap).unwrap_or_default())
}

const fn catch_up(policy: cli::CatchUp) -> CatchUp {
    match policy {
        cli::CatchUp::None => CatchUp::None,
        cli::CatchUp::One => CatchUp::One,
        cli::CatchUp::All => CatchUp::All,
    }
}

const fn overlap(policy: cli::Overlap) -> Overlap {
    match policy {
        cli::Overlap::Skip => Overlap::Skip,
        cli::Overlap::Queue => Overlap::Queue,
        cli::Overlap::Allow => Overlap::Allow,
    }
}
