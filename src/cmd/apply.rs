//! `ax apply`: stores a flow: as one run, or as a schedule.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Answer, Context, add, schedule, surroundings};
use crate::cli::ApplyArgs;
use crate::failure::Failure;
use crate::flow::{self, Flow, FlowSchedule};
use crate::job::{Chain, NewJob, NewSchedule, Recurrence, Settings, Timetable};
use crate::store::Error;

pub(super) fn run(args: ApplyArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let (flow, dir) = flow::load(&args.file)?;
    let chain = chain(&flow, &dir, &context.config.defaults())?;
    match flow.schedule {
        None => {
            let mut store = context.store()?;
            let added = store.enqueue(&chain, context.now())?.added;
            context.wake_runners();
            add::answer(added, false, args.show, store.as_mut(), context)
        }
        Some(schedule) => register(flow.name, schedule, chain, &args, context),
    }
}

/// Registers the schedule of a flow, or puts it in the place of its former one.
fn register(
    name: String,
    schedule: FlowSchedule,
    chain: Chain,
    args: &ApplyArgs,
    context: &Context<'_>,
) -> Result<Answer, Failure> {
    let FlowSchedule { cron, zone, catch_up, overlap } = schedule;
    let zone = zone.map_or_else(surroundings::time_zone, Ok)?;
    let recurrence = Recurrence { table: Timetable { cron, zone }, catch_up, overlap };
    let mut store = context.store()?;
    let other = store.schedules()?.into_iter().find(|other| other.name == name);
    if other.is_some_and(|other| other.chain.flow.is_none()) {
        let hint = format!("`ax schedule remove` it, or name the flow otherwise: {name}");
        return Err(Failure::from(Error::ScheduleExists(name)).hint(hint));
    }
    let schedule = NewSchedule { name, recurrence, chain };
    let made = store.schedule(&[schedule], true, context.now())?;
    schedule::answer(&made, false, args.show, store.as_mut(), context)
}

/// The chain of a flow whose file is in `dir`, with the surroundings of whoever
/// types.
///
/// # Errors
/// When a directory is not there: the first attempt only would find that out.
pub(super) fn chain(flow: &Flow, dir: &Path, defaults: &Settings) -> Result<Chain, Failure> {
    let chain = flow.chain(&surroundings::at(dir, false), defaults);
    chain.jobs.iter().try_for_each(check_directory)?;
    Ok(chain)
}

fn check_directory(job: &NewJob) -> Result<(), Failure> {
    let dir = Path::new(OsStr::from_bytes(&job.cwd));
    if dir.is_dir() {
        return Ok(());
    }
    let name = job.name.as_deref().unwrap_or_default();
    let what = format!("job `{name}` is to run in {}, which is no directory", dir.display());
    Err(Failure::usage(what))
}
