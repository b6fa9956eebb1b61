//! Schedules.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::adding::{JobArgs, RecurrenceArgs};
use super::format::Show;
use crate::job::Cron;
use crate::job::Zone;

/// What cron expressions mean, for every help that needs it.
const CRON: &str = "\
A cron expression has five fields: minute, hour, day of the month, month, day of
the week (0 and 7 are Sunday; names work: jan, mon); or it is @hourly, @daily,
@weekly, @monthly or @yearly. A day fits if it fits one of two restricted day
fields. Where the clock is changed, a fixed time comes once a day: right after a
skip that it lies in, and the first time of two that the clock shows it. What
has * or */n as its minute or hour comes whenever the clock shows it.";

#[derive(Debug, Args)]
pub struct ScheduleArgs {
    #[command(subcommand)]
    pub command: ScheduleCommand,
}

#[derive(Debug, Subcommand)]
pub enum ScheduleCommand {
    /// Start a job again and again, whenever a cron expression comes
    #[command(after_help = CRON)]
    Add(Box<ScheduleAddArgs>),
    /// Make a schedule of each line of a crontab, all or none
    #[command(after_help = IMPORT)]
    Import(Box<ScheduleImportArgs>),
    /// Show the schedules
    #[command(visible_alias = "ls")]
    List(ScheduleListArgs),
    /// Show the next starts, with the days on which the clock is changed
    #[command(after_help = CRON)]
    Next(Box<ScheduleNextArgs>),
    /// Take the next start back, and put no others in
    Pause(ScheduleNames),
    /// Let paused schedules go on with their next start
    Resume(ScheduleNames),
    /// Remove schedules; what has begun goes on
    #[command(visible_alias = "rm")]
    Remove(ScheduleNames),
}

impl ScheduleCommand {
    pub(super) fn wants_json(&self) -> bool {
        match self {
            Self::Add(args) => args.show.wants_json(),
            Self::Import(args) => args.show.wants_json(),
            Self::List(args) => args.show.wants_json(),
            Self::Next(args) => args.show.wants_json(),
            Self::Pause(args) | Self::Resume(args) | Self::Remove(args) => args.show.wants_json(),
        }
    }
}

#[derive(Debug, Args)]
pub struct ScheduleAddArgs {
    /// What people call the schedule, and its job
    pub name: String,
    /// When: minute, hour, day of the month, month, day of the week; or @daily and its like
    #[arg(long, value_name = "EXPR", value_parser = cron, allow_hyphen_values = true)]
    pub cron: Cron,
    #[command(flatten)]
    pub recurrence: RecurrenceArgs,
    /// Take the place of the schedule that has the name
    #[arg(long)]
    pub replace: bool,
    #[command(flatten)]
    pub job: JobArgs,
    /// The command: one word is shell text (`-` reads it from standard input), several words are run as they are
    #[arg(trailing_var_arg = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
    #[command(flatten)]
    pub show: Show,
}

const IMPORT: &str = "\
  crontab -l | ax schedule import --dry-run -     shows what would be made
  crontab -l | ax schedule import -

Lines mean what they mean to cron: variables (SHELL, HOME, PATH and any other)
hold for the lines below, CRON_TZ says by whose clock those are meant, `%` ends
the command and begins its standard input, `\\%` is a percent sign. As in cron a
job starts in the home directory with a clean environment, may run as long as it
likes and is not tried again; options change that for all lines. MAILTO is a
variable like any other: `ax logs` shows what a job printed. A schedule is named
by what it runs.";

#[derive(Debug, Args)]
pub struct ScheduleImportArgs {
    /// The crontab (`-` is standard input)
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Show what would be made, and make nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Take the place of the schedules that have the names
    #[arg(long)]
    pub replace: bool,
    /// Read a crontab of the system, with a user before each command
    #[arg(long)]
    pub system: bool,
    #[command(flatten)]
    pub recurrence: RecurrenceArgs,
    #[command(flatten)]
    pub job: JobArgs,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
pub struct ScheduleListArgs {
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
pub struct ScheduleNames {
    /// Which schedules
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
pub struct ScheduleNextArgs {
    /// Of this schedule
    #[arg(value_name = "NAME", required_unless_present = "cron")]
    pub name: Option<String>,
    /// Of this expression: minute, hour, day of the month, month, day of the week; or @daily and its like
    #[arg(long, value_name = "EXPR", value_parser = cron, allow_hyphen_values = true, conflicts_with = "name")]
    pub cron: Option<Cron>,
    /// By the clock of this time zone [default: `$TZ`, else that of the machine]
    #[arg(long, value_name = "ZONE", requires = "cron")]
    pub tz: Option<Zone>,
    /// How many
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    #[command(flatten)]
    pub show: Show,
}

pub(super) fn cron(text: &str) -> Result<Cron, String> {
    text.parse()
}
