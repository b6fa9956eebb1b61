//! `ax schedule import`: the lines of a crontab become schedules.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::add::policies;
use crate::cli::{JobArgs, RecurrenceArgs, ScheduleImportArgs};
use crate::cmd::job_options::JobOptions;
use crate::cmd::{Answer, Context, surroundings};
use crate::failure::{Failure, reason};
use crate::flow;
use crate::flow::crontab::{self, CronLine, Form};
use crate::job::schedule::{NextStart, distinct, name_of};
use crate::job::{
    Chain, EnvBlock, NewSchedule, Recurrence, Schedule, Settings, Timeout, Timestamp, Timetable,
    Zone,
};
use crate::output::schedule::ScheduleList;
use crate::store::{self, Store};

pub(super) fn run(args: ScheduleImportArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let source = if args.file == Path::new("-") {
        "stdin".to_owned()
    } else {
        args.file.display().to_string()
    };
    let form = if args.system { Form::System } else { Form::User };
    let lines = crontab::parse(&source, &text(&args.file, &source)?, form)?;
    let surroundings = Surroundings::read(args.job, args.recurrence, &context.config.defaults())?;
    let mut schedules: Vec<NewSchedule> = Vec::with_capacity(lines.len());
    for line in &lines {
        check_user(line, &source)?;
        let taken = |name: &str| schedules.iter().any(|schedule| schedule.name == name);
        let name = distinct(&name_of(&line.text), taken);
        schedules.push(surroundings.schedule(name, line));
    }
    let mut store = context.store()?;
    let now = context.now();
    let imported = if args.dry_run {
        would_be(schedules, args.replace, store.as_mut(), now)
    } else {
        import(&schedules, args.replace, store.as_mut(), context)
    };
    let schedules = imported.map_err(|error| explain(error, &source, &lines))?;
    Ok(Answer::new(ScheduleList { schedules, now }, args.show))
}

fn text(file: &Path, source: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        fs::read(file).map(|read| bytes = read)
    };
    read.map_err(|error| Failure::usage(format!("{source} cannot be read: {}", reason(&error))))?;
    flow::utf8(source, bytes)
}

/// Jobs run as whoever starts the runner; a line of somebody else is not ours.
fn check_user(line: &CronLine, source: &str) -> Result<(), Failure> {
    let Some(user) = &line.user else { return Ok(()) };
    let own = surroundings::user();
    if own.as_ref() == Some(user) {
        return Ok(());
    }
    let (line, user) = (line.line, user.escape_debug());
    let message = format!("{source}:{line}: the job is to run as `{user}`, who is somebody else");
    Err(Failure::usage(message).hint(format!("let `{user}` import it")))
}

/// What holds for every line.
struct Surroundings {
    options: JobOptions,
    zone: Zone,
    policies: RecurrenceArgs,
}

impl Surroundings {
    /// As in cron, a job has a clean environment and the home directory, may
    /// run as long as it likes and is not tried again, unless options say else.
    fn read(job: JobArgs, policies: RecurrenceArgs, defaults: &Settings) -> Result<Self, Failure> {
        let home = || std::env::var_os("HOME").map(PathBuf::from);
        let job = JobArgs { clean_env: true, cwd: job.cwd.clone().or_else(home), ..job };
        let mut options = JobOptions::read(&job, defaults)?;
        let cron =
            Settings { timeout: Some(Timeout(None)), max_retries: Some(0), ..Settings::default() };
        options.settings = options.settings.or(&cron);
        let zone = policies.tz.clone().map_or_else(surroundings::time_zone, Ok)?;
        Ok(Self { options, zone, policies })
    }

    fn schedule(&self, name: String, line: &CronLine) -> NewSchedule {
        let mut options = self.options.clone();
        if let Some(home) = line.env.get("HOME") {
            options.place = options.place.moved_to(Path::new(OsStr::from_bytes(home)));
        }
        let usual = EnvBlock::from_entries([b"SHELL=/bin/sh".as_slice()]);
        options.extra_env = usual.overlaid(&line.env).overlaid(&options.extra_env);
        let (catch_up, overlap) = policies(&self.policies);
        let zone = line.zone.as_ref().unwrap_or(&self.zone).clone();
        let table = Timetable { cron: line.cron.clone(), zone };
        let chain = Chain { jobs: vec![options.job(&name, line.command())], ..Chain::default() };
        NewSchedule { name, recurrence: Recurrence { table, catch_up, overlap }, chain }
    }
}

fn import(
    schedules: &[NewSchedule],
    replace: bool,
    store: &mut dyn Store,
    context: &Context<'_>,
) -> store::Result<Vec<Schedule>> {
    let made = store.schedule(schedules, replace, context.now())?;
    context.wake_runners();
    let mut stored = store.schedules()?;
    stored.retain(|schedule| made.iter().any(|made| made.name == schedule.name));
    Ok(stored)
}

/// What the schedules would be, with the same refusals.
fn would_be(
    schedules: Vec<NewSchedule>,
    replace: bool,
    store: &mut dyn Store,
    now: Timestamp,
) -> store::Result<Vec<Schedule>> {
    let there = store.schedules()?;
    let taken = |new: &NewSchedule| there.iter().any(|schedule| schedule.name == new.name);
    if let Some(index) = schedules.iter().position(taken).filter(|_| !replace) {
        let source = Box::new(store::Error::ScheduleExists(schedules[index].name.clone()));
        return Err(store::Error::InBatch { index, source });
    }
    let would = |NewSchedule { name, recurrence, chain }: NewSchedule| {
        let next = recurrence.table.next(now).map(|due| NextStart { due, jobs: Vec::new() });
        Schedule { name, recurrence: Ok(recurrence), chain, next }
    };
    Ok(schedules.into_iter().map(would).collect())
}

/// What the store refused, by line.
fn explain(error: store::Error, source: &str, lines: &[CronLine]) -> Failure {
    match error {
        store::Error::InBatch { index, source: why } => {
            let failure = Failure::from(*why);
            let line = lines.get(index).map_or(0, |line| line.line);
            Failure { message: format!("{source}:{line}: {}", failure.message), ..failure }
        }
        other => Failure::from(other),
    }
}
