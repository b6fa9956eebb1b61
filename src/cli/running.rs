//! What runs jobs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};

use super::format::Show;
use crate::when::{duration, positive_duration};

#[derive(Debug, Args)]
#[command(after_help = "\
The first INT or TERM claims no more and lets running jobs end (--grace limits
how long); the second stops them; the third exits at once. A terminal that goes
away stops nothing. With --once, --until-idle or a flow the exit code is 1 if a
job ended dead or held.

On a terminal a live view shows what runs and what waits; elsewhere, and with
TERM=dumb, each event is a line on stderr.

Examples:
  ax run                       serve until stopped
  ax run --until-idle          run until nothing is left to do
  ax run nightly.toml          run a flow now, to its end")]
pub struct RunArgs {
    /// Run this flow now, to its end
    #[arg(value_name = "FILE.toml", value_hint = ValueHint::FilePath)]
    pub flow: Option<PathBuf>,
    /// How many jobs run at once [default: the cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: Option<u16>,
    /// The longest sleep between two looks at the database [default: 1s]
    ///
    /// A runner that has nothing to do sleeps through up to 60 of them, unless
    /// somebody writes to the database or sets the clock.
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub poll_interval: Option<Duration>,
    /// How many jobs are claimed ahead [default: up to 4 × workers, if jobs are short]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub queue_size: Option<u16>,
    /// Run what is due now and what that releases, then end
    #[arg(long, conflicts_with_all = ["until_idle", "flow"])]
    pub once: bool,
    /// Also wait for retries and later times, then end
    #[arg(long, conflicts_with = "flow")]
    pub until_idle: bool,
    /// How long running jobs may go on after the first signal [default: without limit]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub grace: Option<Duration>,
    /// What happens to running jobs at the first signal [default: wait]
    #[arg(long, value_name = "WHAT")]
    pub on_stop: Option<OnStop>,
    /// Print the events as JSON lines on stdout
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A flow without a `schedule` is put in as one run, which a runner takes up. One
with a schedule is registered under its name, or takes the place of what was
registered under it; its next start then stands among the jobs. Either prints
the ids of the jobs. Everything is checked before anything is written.

  schedule = \"30 2 * * *\"      # or @daily and its like
  timezone = \"Europe/Berlin\"   # else that of $TZ, or of the machine
  catch_up = \"one\"             # none, one or all
  overlap = \"skip\"             # skip, queue or allow
  on_end = \"./alert.sh\"        # once a run has ended: `ax help hooks`

  [retry]                      # the whole chain, when a job of it is dead
  max = 2
  delay = \"5m\"")]
pub struct ApplyArgs {
    /// The flow
    #[arg(value_name = "FILE.toml", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    #[command(flatten)]
    pub show: Show,
}

/// What happens to running jobs when a runner is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnStop {
    /// They may end
    Wait,
    /// They run on under their supervisors, which record the result
    Detach,
    /// They are stopped and go back to the queue
    Kill,
}

impl OnStop {
    /// The one of this name.
    ///
    /// # Errors
    /// Names those there are.
    pub fn named(name: &str) -> Result<Self, String> {
        Self::from_str(name, false)
            .map_err(|_| format!("`{}` is none of wait, detach, kill", name.escape_debug()))
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
The unit names this ax and the database that is meant now. When it is stopped the
runner claims no more, waits for --grace, then stops its jobs, which go back to the
queue. With --detach jobs run on, also over a restart, and the next runner takes
them over.

Examples:
  ax service > ~/.config/systemd/user/ax.service
  systemctl --user daemon-reload && systemctl --user enable --now ax
  ax service --detach -- --workers 4
  (crontab -l; ax service crontab) | crontab -")]
pub struct ServiceArgs {
    /// For whom
    #[arg(value_name = "KIND", default_value = "systemd")]
    pub kind: ServiceKind,
    /// A unit of the system instead of one of this user
    #[arg(long)]
    pub system: bool,
    /// How long running jobs may go on when it is stopped
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "60s", conflicts_with = "detach")]
    pub grace: Duration,
    /// Let running jobs run on when it is stopped
    #[arg(long)]
    pub detach: bool,
    /// Options for `ax run`
    #[arg(last = true, value_name = "OPTION")]
    pub options: Vec<OsString>,
}

/// What starts a runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ServiceKind {
    /// A unit of systemd
    Systemd,
    /// A line of a crontab
    Crontab,
}

#[derive(Debug, Args)]
pub struct HookArgs {
    /// The hook to run
    pub hook: i64,
    /// The runner that has taken it
    pub runner: i64,
}

#[derive(Debug, Args)]
pub struct SuperviseArgs {
    /// The journal to write and to hold locked
    pub journal: PathBuf,
    /// The lock of the runner this supervisor belongs to
    pub runner_lock: PathBuf,
    /// How many results may be unsettled at once
    pub keep: usize,
}
