//! What a job is told when it is put in, and afterwards while it waits.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, Args, ValueEnum, ValueHint};

use super::format::Show;
use super::schedule::cron;
use crate::job::Zone;
use crate::job::settings::PRIORITIES;
use crate::job::{Cron, NoRetryOn, RetryOn, Timeout};
use crate::when::{duration, factor, positive_duration, timeout};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ax add 'tar czf home.tgz ~'             one word is shell text
  ax add -- rsync -a src/ 'my disk:dst'   several words reach the program as they are
  ax add --after 12 --at 'tomorrow 02:00' -n report ./report.sh
  ax add --cron '30 2 * * *' ./backup.sh  every night; `ax schedule` shows more
  ax add --from jobs.jsonl                one JSON object a line, all or none

A line of --from: {\"command\": \"text\" | \"argv\": [...], \"name\", \"key\",
\"after\": [id or key, ...], \"on_failure\", \"after_any\", \"priority\", \"delay\" | \"at\",
\"timeout\", \"kill_after\", \"max_retries\", \"retry_delay\", \"retry_backoff\",
\"retry_max_delay\", \"on_lost\", \"hold\", \"group\", \"mutex\", \"retry_on\",
\"no_retry_on\", \"on_end\", \"on_end_timeout\", \"cwd\", \"env\": {...}}")]
pub struct AddArgs {
    /// What people call the job
    #[arg(short, long)]
    pub name: Option<String>,
    /// Run after these jobs ended with success
    #[arg(short, long, value_name = "ID,...", allow_negative_numbers = true)]
    pub after: Vec<OsString>,
    /// Run if one of these jobs is dead
    #[arg(long, value_name = "ID,...", allow_negative_numbers = true)]
    pub on_failure: Vec<OsString>,
    /// Run after these jobs ended, whatever the end
    #[arg(long, value_name = "ID,...", allow_negative_numbers = true)]
    pub after_any: Vec<OsString>,
    /// Run this much later: 90 (seconds), 10m, 1h30m, 2d
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true, value_parser = duration, conflicts_with = "at")]
    pub delay: Option<Duration>,
    /// Run then: 2026-12-01 02:00, 02:00, tomorrow 02:00, fri 22:30, or RFC 3339
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Run again and again, whenever this cron expression comes: `0 2 * * *`, @daily
    #[arg(long, value_name = "EXPR", value_parser = cron, allow_hyphen_values = true, conflicts_with_all = ["delay", "at", "after", "on_failure", "after_any", "key", "hold", "wait", "follow", "from"])]
    pub cron: Option<Cron>,
    #[command(flatten)]
    pub recurrence: RecurrenceArgs,
    #[command(flatten)]
    pub job: JobArgs,
    /// A name that at most one unfinished job has
    #[arg(long)]
    pub key: Option<String>,
    /// What to do when the key exists
    #[arg(long, value_name = "WHAT", default_value = "skip")]
    pub if_exists: IfExists,
    /// Wait for `ax release` before the first start
    #[arg(long)]
    pub hold: bool,
    /// Wait until the job has ended, and exit with its exit code
    #[arg(long)]
    pub wait: bool,
    /// Show what the job prints until it has ended, and exit with its exit code
    #[arg(long, conflicts_with_all = ["from", "wait", "format", "json"])]
    pub follow: bool,
    /// Add many jobs, one JSON object a line (`-` is standard input), all or none
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "command")]
    pub from: Option<PathBuf>,
    /// The command: one word is shell text (`-` reads it from standard input), several words are run as they are
    #[arg(trailing_var_arg = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
    #[command(flatten)]
    pub show: Show,
}

/// How a job runs.
#[derive(Debug, Args)]
pub struct SettingArgs {
    /// Higher runs first; a point is worth an hour of waiting, so that none waits for ever [default: `$AX_DEFAULT_PRIORITY`, else 5]
    #[arg(short, long, allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(PRIORITIES))]
    pub priority: Option<i64>,
    /// The longest an attempt may run, or `none` [default: `$AX_DEFAULT_TIMEOUT`, else 60s]
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true, value_parser = timeout)]
    pub timeout: Option<Timeout>,
    /// Between TERM and KILL when an attempt is stopped [default: 10s]
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true, value_parser = duration)]
    pub kill_after: Option<Duration>,
    /// Failures after which another attempt is made [default: `$AX_DEFAULT_MAX_RETRIES`, else 3]
    #[arg(
        short = 'r',
        long,
        visible_alias = "retries",
        value_name = "N",
        allow_negative_numbers = true
    )]
    pub max_retries: Option<u32>,
    /// The wait before the first retry [default: `$AX_DEFAULT_RETRY_DELAY`, else 5s]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = duration)]
    pub retry_delay: Option<Duration>,
    /// By what each further wait is longer (1 or more) [default: 2]
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub retry_backoff: Option<f64>,
    /// The longest wait between attempts [default: 1h]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = duration)]
    pub retry_max_delay: Option<Duration>,
    /// Try again only after these exit codes: 1,2,10-20, or `all`
    #[arg(long, value_name = "CODES")]
    pub retry_on: Option<RetryOn>,
    /// Do not try again after these exit codes; `none` are usual
    #[arg(long, value_name = "CODES")]
    pub no_retry_on: Option<NoRetryOn>,
    /// When an outcome is unknown [default: requeue if the job has retries, else hold]
    #[arg(long, value_name = "POLICY")]
    pub on_lost: Option<OnLost>,
    /// Run no more jobs of this group at once than `ax group set` says
    #[arg(short, long, value_name = "NAME")]
    pub group: Option<String>,
    /// Never run two jobs with the same key at once, over all runners
    #[arg(long, value_name = "KEY")]
    pub mutex: Option<String>,
    /// Run this shell text once when the job has ended; `ax help hooks` says what it sees
    #[arg(long, value_name = "COMMAND", value_hint = ValueHint::CommandString, conflicts_with = "no_on_end")]
    pub on_end: Option<OsString>,
    /// Run nothing when the job has ended
    #[arg(long)]
    pub no_on_end: bool,
    /// The longest that may run [default: `$AX_DEFAULT_ON_END_TIMEOUT`, else 60s]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = positive_duration)]
    pub on_end_timeout: Option<Duration>,
}

/// Where and how a job runs.
#[derive(Debug, Args)]
pub struct JobArgs {
    #[command(flatten)]
    pub settings: SettingArgs,
    /// Run in this directory [default: this one]
    #[arg(short = 'C', long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub cwd: Option<PathBuf>,
    /// Set a variable for the job
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub env: Vec<OsString>,
    /// Start from an empty environment, but for HOME, PATH, USER, LOGNAME and SHELL
    #[arg(long)]
    pub clean_env: bool,
}

/// What is done where a schedule does not go smoothly.
#[derive(Clone, Debug, Args)]
pub struct RecurrenceArgs {
    /// By the clock of this time zone [default: `$TZ`, else that of the machine]
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<Zone>,
    /// About starts that came due while no runner was there [default: one]
    #[arg(long, value_name = "POLICY")]
    pub catch_up: Option<CatchUp>,
    /// About a start while the one before it has not ended [default: skip]
    #[arg(long, value_name = "POLICY")]
    pub overlap: Option<Overlap>,
}

impl RecurrenceArgs {
    /// The first option that was given.
    pub fn given(&self) -> Option<&'static str> {
        let Self { tz, catch_up, overlap } = self;
        tz.as_ref()
            .map(|_| "--tz")
            .or(catch_up.map(|_| "--catch-up"))
            .or(overlap.map(|_| "--overlap"))
    }
}

/// What to do about starts that came due while no runner was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CatchUp {
    /// They are skipped
    None,
    /// One start stands for all of them
    One,
    /// Each is made up for, the last 100 at most
    All,
}

/// What to do about a start while the one before it has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Overlap {
    /// It is skipped
    Skip,
    /// It waits, and 100 at most do
    Queue,
    /// Both run
    Allow,
}

/// What to do with a job whose outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnLost {
    /// Start it again, like after a failure; held after 3 losses
    Requeue,
    /// Stop and let a person decide
    Hold,
    /// Count it as failed for good
    Fail,
}

/// What to do when an unfinished job has the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IfExists {
    /// Print the id of the job that has it
    Skip,
    /// Cancel that job, if it has not started, and add this one
    Replace,
    /// Refuse, with exit 4
    Error,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A job that a runner has claimed or that has ended cannot be changed: exit 4.

Examples:
  ax edit 12 --priority 9 --timeout 2h
  ax edit last --at 'tomorrow 02:00'
  ax edit 12 -- ./report.sh --all      another command")]
#[command(mut_args(without_default))]
pub struct EditArgs {
    /// Which job
    pub id: String,
    /// What people call the job
    #[arg(short, long)]
    pub name: Option<String>,
    /// Run this much later than now: 90 (seconds), 10m, 1h30m, 2d
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true, value_parser = duration, conflicts_with = "at")]
    pub delay: Option<Duration>,
    /// Run then: 2026-12-01 02:00, 02:00, tomorrow 02:00, fri 22:30, or RFC 3339
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    #[command(flatten)]
    pub settings: SettingArgs,
    /// Take the job out of its group
    #[arg(long, conflicts_with = "group")]
    pub no_group: bool,
    /// Let the job run whoever has its mutex
    #[arg(long, conflicts_with = "mutex")]
    pub no_mutex: bool,
    /// Another command: one word is shell text (`-` reads it from standard input), several words are run as they are
    #[arg(trailing_var_arg = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
    #[command(flatten)]
    pub show: Show,
}

/// What is said of a default is not true of a job that has its values.
fn without_default(arg: Arg) -> Arg {
    let Some(help) = arg.get_help().map(ToString::to_string) else { return arg };
    match help.split_once(" [default: ") {
        Some((what, _)) => arg.help(what.to_owned()),
        None => arg,
    }
}
