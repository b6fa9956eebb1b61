//! What only looks.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::format::Show;
use crate::when::{duration, past, positive_duration};

#[derive(Debug, Args)]
#[command(after_help = "\
Selectors, the same everywhere: 12, 3-7, 1,2,5-8, last, all, name:GLOB, key:K,
status:dead, flow:NAME, group:NAME, schedule:NAME.

Without selector or filter the table shows what is unfinished (500 at most) and
the last 20 that ended, and says how many more there are; every other format
shows all that match.")]
pub struct ListArgs {
    /// Which jobs
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// In one of these states
    #[arg(long, value_name = "STATE,...", value_delimiter = ',')]
    pub status: Vec<StateArg>,
    /// That are failed, dead or held, with the reason
    #[arg(long, conflicts_with = "status")]
    pub failed: bool,
    /// That failed of these causes; the beginning of an id of `ax failures` is enough
    #[arg(long, value_name = "CAUSE,...", value_delimiter = ',', conflicts_with = "status")]
    pub cause: Vec<String>,
    /// Whose name matches this glob
    #[arg(long, value_name = "GLOB")]
    pub name: Option<String>,
    /// That were added, started or ended within this time: 2h, 1d, or a time
    #[arg(long, value_name = "DURATION", value_parser = past)]
    pub since: Option<crate::when::Past>,
    /// In this order
    #[arg(long, value_name = "KEY", default_value = "id")]
    pub sort: SortKey,
    /// Show these columns (names as in the JSON)
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Show the last so many
    #[arg(short = 'n', long, value_name = "LIMIT")]
    pub limit: Option<usize>,
    /// Show the ids only
    #[arg(short, long, conflicts_with_all = ["format", "json"])]
    pub quiet: bool,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A job counts if it is dead, if it failed and waits for its next attempt, or if it
is held because an attempt was lost. Its cause is how its last attempt ended and
its last error, in which numbers, ids, paths and times are made equal. The id of
a cause is always the same; its beginning is enough. `ax help causes` has it all.

Examples:
  ax failures --since 12h
  ax failures group:encode -n 5
  ax list --cause kgkr
  ax retry --cause kgkr --dry-run")]
pub struct FailuresArgs {
    /// Of which jobs
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,
    /// Of jobs whose name matches this glob
    #[arg(long, value_name = "GLOB")]
    pub name: Option<String>,
    /// Of jobs that were added, started or ended within this time: 2h, 1d, or a time
    #[arg(long, value_name = "DURATION", value_parser = past)]
    pub since: Option<crate::when::Past>,
    /// Show the so many causes of most jobs
    #[arg(short = 'n', long, value_name = "LIMIT")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
#[command(after_help = "\
For a monitor: it reads the database alone, so it works when no runner is alive,
which is why most things are overdue. What waits for a free worker, a group, a
mutex or a paused group counts, too, and says so; what a person holds, and what
waits for other jobs, does not. The next start of a schedule counts when its
time has passed.

Exit codes: 0 nothing is overdue (and nothing is printed into a pipe), 1
something is, 5 there is no database, or it cannot be used.

Example, in the crontab of a machine that mails what cron prints:
  */10 * * * * ax overdue --grace 15m")]
pub struct OverdueArgs {
    /// How late is not yet overdue
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = duration, default_value = "5m")]
    pub grace: Duration,
    /// Show the so many latest [default: 20 in a table, else all]
    #[arg(short = 'n', long, value_name = "LIMIT")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Of one job the last attempt that ended with success stands beside the last that
failed. If it has only one of them, the other is looked for among the jobs that do
the same: those of its schedule, else those of its name. With OTHER the last
attempts of two jobs are compared, or the ones that are named: 12.2 is attempt 2
of job 12. What was cancelled, interrupted or postponed is neither good nor bad.

Lines that differ in numbers, ids, paths and times alone count as equal.

Examples:
  ax diff 12
  ax diff schedule:nightly       its last good run with its last bad one
  ax diff 12.1 12.3")]
pub struct DiffArgs {
    /// Which job, or jobs; with OTHER a job or an attempt
    #[arg(value_name = "SELECTOR")]
    pub what: String,
    /// Compare with this job or attempt
    #[arg(value_name = "OTHER")]
    pub other: Option<String>,
    /// Let every byte of the outputs count
    #[arg(long)]
    pub exact: bool,
    /// Show so many lines around the first that differs
    #[arg(short = 'n', long, value_name = "LINES", default_value = "3")]
    pub lines: usize,
    #[command(flatten)]
    pub show: Show,
}

/// A state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StateArg {
    Pending,
    Ready,
    Dispatched,
    Running,
    Success,
    Failed,
    Dead,
    Held,
    Cancelled,
    Skipped,
}

/// What a list is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SortKey {
    Id,
    Name,
    Status,
    Priority,
    Scheduled,
    Started,
    Finished,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Which jobs
    #[arg(value_name = "SELECTOR", required = true)]
    pub selectors: Vec<String>,
    /// Show the environment too; it may contain secrets
    #[arg(long)]
    pub env: bool,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The output of one job comes as it wrote it; on a terminal control characters are
escaped. Of several jobs each line has the job's id and name before it, and
lines never mix; a line of more than 64 KiB is broken.

With --follow a job that failed is followed into its next attempt, and what it
waits for is told on stderr. The exit code is then that of `ax wait`: 0 all
ended with success, 1 one did not. Ctrl-C leaves at once (130); the jobs go on.

Examples:
  ax logs 12                   what job 12 printed last
  ax logs -f last              follow the job that was added last
  ax logs -f flow:nightly      all jobs of a flow, each line with its name")]
pub struct LogsArgs {
    /// Which jobs: 12, 3-7, last, name:GLOB, flow:NAME, schedule:NAME, …
    #[arg(value_name = "SELECTOR", required = true)]
    pub selectors: Vec<String>,
    /// Go on until the jobs have ended, or the attempt of --attempt
    #[arg(short, long)]
    pub follow: bool,
    /// Only the last so many lines, of each job
    #[arg(short = 'n', long, value_name = "LINES")]
    pub lines: Option<usize>,
    /// Of this attempt of one job [default: the last one]
    #[arg(long, value_name = "N")]
    pub attempt: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 all ended with success (or were to run on a failure, and none
came), 1 one did not (with --exit-code: its own code, 128 and the signal that
ended it, or 1 if it has neither), 124 out of time, 3 no such job. A job that is
held has not ended. Nothing is printed but with --format or --json.

Examples:
  ax wait 12 && ./next.sh
  ax wait flow:nightly --timeout 2h
  ax add --wait 'make test'            the same for a new job")]
pub struct WaitArgs {
    /// Which jobs
    #[arg(value_name = "SELECTOR", required = true)]
    pub selectors: Vec<String>,
    /// Wait no longer than this
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true, value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Exit with the code of the job; of several, of the first that did not succeed
    #[arg(long)]
    pub exit_code: bool,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Keys: q or Ctrl-C leaves, j and k or the arrows scroll, space and b a page, g and
G to the ends, s sorts by time, name or id, Ctrl-Z suspends.

It reads the database alone, so it shows what any runner does. In a pipe, with
--once, with --format and on a dumb terminal it prints what is so now, once.

Examples:
  ax top                       watch until q is pressed
  ax top --interval 5s         look every five seconds
  ax top | head -20            once, as text")]
pub struct TopArgs {
    /// How often to look
    #[arg(short, long, value_name = "DURATION", value_parser = positive_duration, default_value = "1s")]
    pub interval: Duration,
    /// Print what is so now, and end
    #[arg(long)]
    pub once: bool,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub show: Show,
}
