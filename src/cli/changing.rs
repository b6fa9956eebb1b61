//! What moves jobs that there are.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::format::{Show, ShowGraph};
use crate::when::duration;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_precedence_over_arg = true)]
pub struct DepsArgs {
    /// Show what this job waits for and what waits for it; all unfinished edges without it
    pub id: Option<String>,
    #[command(flatten)]
    pub show: ShowGraph,
    #[command(subcommand)]
    pub change: Option<DepsChange>,
}

#[derive(Debug, Subcommand)]
pub enum DepsChange {
    /// Let a job that has not started wait for other jobs
    Add {
        /// The job
        id: String,
        /// Run after these jobs ended with success
        #[arg(short, long, value_name = "ID,...")]
        after: Vec<OsString>,
        /// Run if one of these jobs is dead
        #[arg(long, value_name = "ID,...")]
        on_failure: Vec<OsString>,
        /// Run after these jobs ended, whatever the end
        #[arg(long, value_name = "ID,...")]
        after_any: Vec<OsString>,
    },
    /// Stop a job from waiting for others
    Remove {
        /// The job
        id: String,
        /// The jobs it waits for no longer
        #[arg(required = true, value_name = "PARENT")]
        parents: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub struct RetryArgs {
    /// Which jobs
    #[arg(value_name = "SELECTOR", required_unless_present_any = ["failed", "cause"])]
    pub selectors: Vec<String>,
    /// Every job that has failed, as `ax failures` counts them; none that a person holds
    #[arg(long, conflicts_with = "selectors")]
    pub failed: bool,
    /// Every job that failed of these causes; the beginning of an id of `ax failures` is enough
    #[arg(long, value_name = "CAUSE,...", value_delimiter = ',', conflicts_with_all = ["selectors", "failed"])]
    pub cause: Vec<String>,
    /// Also run everything after them again
    #[arg(long)]
    pub downstream: bool,
    /// Also jobs that ended with success
    #[arg(long)]
    pub force: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without --as, attempts whose runner and supervisor are gone are settled by
their job's --on-lost, and jobs that wait for a person are listed.")]
pub struct RecoverArgs {
    /// Which jobs
    #[arg(value_name = "SELECTOR", required_if_eq_any = [("resolution", "success"), ("resolution", "failed"), ("resolution", "retry")])]
    pub selectors: Vec<String>,
    /// How the attempt really ended, as you found out; `retry` starts the job again
    #[arg(long = "as", value_name = "OUTCOME", id = "resolution")]
    pub resolution: Option<Resolution>,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub show: Show,
}

/// How a person resolves an unknown outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Resolution {
    /// It had ended well
    Success,
    /// It had failed for good
    Failed,
    /// Start it again
    Retry,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A job that runs gets TERM and, --kill-after later, KILL, with everything it
started; the command waits until that is gone. If it is not gone after
--timeout, the command says what is in the way (a suspended runner) and exits
with 1. The wish is stored: it holds also if the command or the runner ends
before. What waits for a cancelled job is skipped, unless it waits for any end
of it (--after-any). A job that ends by itself before it is stopped is not
cancelled: exit 4.")]
pub struct CancelArgs {
    /// Which jobs
    #[arg(value_name = "SELECTOR", required = true)]
    pub selectors: Vec<String>,
    /// Also everything after them
    #[arg(long)]
    pub downstream: bool,
    /// Why; it is shown with the job
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Wait no longer than this [default: its --kill-after and 5 s]
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true, value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
pub struct HoldArgs {
    /// Which jobs
    #[arg(value_name = "SELECTOR", required = true)]
    pub selectors: Vec<String>,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
pub struct ReleaseArgs {
    /// Which jobs
    #[arg(value_name = "SELECTOR", required = true)]
    pub selectors: Vec<String>,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
#[command(after_help = "\
For the command of a job. When the attempt then ends with exit code 0 or 75, the
job comes again at that time, and no retry is used; if it fails, that counts.
Exit code 75 alone means later, too: after the retry delay, at least a second.

Example:
  ax add 'test -e ready || { ax snooze 30m; exit; }; ./go.sh'")]
pub struct SnoozeArgs {
    /// How long from now: 90 (seconds), 10m, 1h30m, 2d
    #[arg(value_name = "DURATION", allow_negative_numbers = true, value_parser = duration)]
    pub wait: Duration,
}

#[derive(Debug, Args)]
#[command(after_help = "\
For the command of a job. `ax list`, `ax show` and the JSON show it, until the
next attempt begins.

Example:
  ax progress 40 copied 4 of 10 files")]
pub struct ProgressArgs {
    /// How far it is, in percent
    #[arg(value_name = "PERCENT", value_parser = percent)]
    pub percent: u8,
    /// In words
    #[arg(value_name = "TEXT", trailing_var_arg = true)]
    pub text: Vec<String>,
}

fn percent(text: &str) -> Result<u8, String> {
    match text.strip_suffix('%').unwrap_or(text).parse() {
        Ok(percent @ 0..=100) => Ok(percent),
        Ok(_) | Err(_) => Err("is not a whole number from 0 to 100".to_owned()),
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Deletes what ended with success, dead, cancelled or skipped, and nothing that a
job depends on that has not ended. Ids are never used again. Runners and other
commands go on meanwhile. Only this command deletes jobs.")]
pub struct PruneArgs {
    /// What ended so long ago or longer: 30d, 12h; 0 is everything that has ended
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = duration)]
    pub older_than: Duration,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub show: Show,
}
