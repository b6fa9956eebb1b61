//! What may be typed: clap types, and nothing else.
#![expect(
    missing_docs,
    reason = "the doc comments are the help text, and a field without one has none"
)]

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

use crate::job::settings::PRIORITIES;
use crate::job::timetable::{Tz, zone};
use crate::job::{Codes, Cron, Timeout};
use crate::when::{duration, factor, past, positive_duration, timeout};

/// A job scheduler in one binary, on one SQLite file
///
/// Jobs are shell commands. `ax add` puts one in; `ax run` runs what is due, in
/// order of priority, in parallel, after what it depends on, again if it
/// failed, never longer than its timeout.
#[derive(Debug, Parser)]
#[command(name = "ax", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "\
Exit codes: 0 done, 1 what was asked about failed, 2 usage, 3 no such job,
4 not allowed in this state, 5 the store cannot be used, 124 out of time.")]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options that every command takes.
#[derive(Debug, Args)]
pub struct Global {
    /// The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]
    #[arg(long, global = true, help_heading = "Global options", value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub db: Option<PathBuf>,
    /// When to use colours
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        value_name = "WHEN",
        default_value = "auto"
    )]
    pub color: ColorChoice,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How an answer is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people
    Table,
    /// One JSON document
    Json,
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values with a header
    Csv,
    /// The bare ids, one a line
    Ids,
    /// A tree (`ax deps`)
    Tree,
    /// A graph for Graphviz (`ax deps`)
    Dot,
}

/// The options of every command that shows something.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Show {
    /// How to show the answer
    #[arg(short = 'o', long, value_name = "FORMAT", value_parser = list_format())]
    pub format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// The formats of everything but `ax deps`. What an answer cannot be shown as is
/// refused here, before anything is done.
fn list_format() -> impl TypedValueParser<Value = Format> {
    let is_list = |format: &&Format| !matches!(format, Format::Tree | Format::Dot);
    let values = Format::value_variants().iter().filter(is_list);
    PossibleValuesParser::new(values.filter_map(ValueEnum::to_possible_value))
        .map(|name| Format::from_str(&name, false).expect("one of the values above"))
}

/// The options of `ax deps`, which shows graphs too.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ShowGraph {
    /// How to show the answer
    #[arg(short = 'o', long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

impl From<ShowGraph> for Show {
    fn from(ShowGraph { format, json }: ShowGraph) -> Self {
        Self { format, json }
    }
}

impl Show {
    /// The format that was asked for, if one was.
    pub fn wanted(self) -> Option<Format> {
        if self.json { Some(Format::Json) } else { self.format }
    }

    /// Tells whether a script reads the answer as JSON.
    pub fn wants_json(self) -> bool {
        matches!(self.wanted(), Some(Format::Json | Format::Jsonl))
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Put a job in
    Add(Box<AddArgs>),
    /// Show or change what a job waits for
    Deps(DepsArgs),
    /// Run what is due, or a flow file
    Run(RunArgs),
    /// Put a flow in: one run of it, or its schedule
    Apply(ApplyArgs),
    /// Show jobs
    #[command(visible_alias = "ls")]
    List(ListArgs),
    /// Bring failed jobs back, and what was skipped because of them
    Retry(RetryArgs),
    /// Settle attempts whose outcome nobody knows
    Recover(RecoverArgs),
    /// Look for what is wrong, and say how to cure it
    Doctor(DoctorArgs),
    /// Show everything about a job, and why it is not running
    Show(ShowArgs),
    /// Show the output of a job
    #[command(visible_alias = "log")]
    Logs(LogsArgs),
    /// End jobs; what runs is stopped with everything it started
    Cancel(CancelArgs),
    /// Change a job that waits
    Edit(Box<EditArgs>),
    /// Wait until jobs have ended
    Wait(WaitArgs),
    /// Stop jobs that have not started from starting
    Hold(HoldArgs),
    /// Let held jobs go on
    Release(ReleaseArgs),
    /// Start jobs again and again, and show when
    Schedule(Box<ScheduleArgs>),
    /// In a job: come again later, if this attempt does not fail
    Snooze(SnoozeArgs),
    /// In a job: say how far it is
    Progress(ProgressArgs),
    /// Limit, pause and show groups of jobs
    Group(GroupArgs),
    /// Delete jobs that ended long ago, with their output
    Prune(PruneArgs),
    /// Show counts by state, and the runners that are alive
    #[command(visible_alias = "st")]
    Status(StatusArgs),
    /// Measure what this machine gives, and how much of it ax reaches
    Bench(BenchArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Print the man pages into a directory
    #[command(hide = true)]
    Man(ManArgs),
    /// Supervise jobs for one worker of a runner
    #[command(name = "__supervise", hide = true)]
    Supervise(SuperviseArgs),
}

impl Command {
    /// Tells whether a script reads the answer, and failures, as JSON.
    pub fn wants_json(&self) -> bool {
        match self {
            Self::Add(args) => args.show.wants_json(),
            Self::Deps(args) => Show::from(args.show).wants_json(),
            Self::Run(args) => args.json,
            Self::Apply(args) => args.show.wants_json(),
            Self::List(args) => args.show.wants_json(),
            Self::Retry(args) => args.show.wants_json(),
            Self::Recover(args) => args.show.wants_json(),
            Self::Doctor(args) => args.show.wants_json(),
            Self::Show(args) => args.show.wants_json(),
            Self::Cancel(args) => args.show.wants_json(),
            Self::Wait(args) => args.show.wants_json(),
            Self::Prune(args) => args.show.wants_json(),
            Self::Edit(args) => args.show.wants_json(),
            Self::Group(args) => args.change.show().wants_json(),
            Self::Hold(args) => args.show.wants_json(),
            Self::Release(args) => args.show.wants_json(),
            Self::Schedule(args) => args.command.wants_json(),
            Self::Status(args) => args.show.wants_json(),
            Self::Bench(args) => args.show.wants_json(),
            Self::Logs(_)
            | Self::Snooze(_)
            | Self::Progress(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Supervise(_) => false,
        }
    }
}

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
\"no_retry_on\", \"cwd\", \"env\": {...}}")]
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
pub struct JobArgs {
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
    /// Try again only after these exit codes: 1,2,10-20
    #[arg(long, value_name = "CODES")]
    pub retry_on: Option<Codes>,
    /// Do not try again after these exit codes
    #[arg(long, value_name = "CODES")]
    pub no_retry_on: Option<Codes>,
    /// When an outcome is unknown [default: requeue if the job has retries, else hold]
    #[arg(long, value_name = "POLICY")]
    pub on_lost: Option<OnLost>,
    /// Run no more jobs of this group at once than `ax group set` says
    #[arg(short, long, value_name = "NAME")]
    pub group: Option<String>,
    /// Never run two jobs with the same key at once, over all runners
    #[arg(long, value_name = "KEY")]
    pub mutex: Option<String>,
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
#[derive(Clone, Copy, Debug, Args)]
pub struct RecurrenceArgs {
    /// By the clock of this time zone [default: `$TZ`, else that of the machine]
    #[arg(long, value_name = "ZONE", value_parser = zone)]
    pub tz: Option<Tz>,
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
        tz.map(|_| "--tz").or(catch_up.map(|_| "--catch-up")).or(overlap.map(|_| "--overlap"))
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
#[command(after_help = "\
The first INT or TERM claims no more and lets running jobs end (--grace limits
how long); the second stops them; the third exits at once. A terminal that goes
away stops nothing. With --once, --until-idle or a flow the exit code is 1 if a
job ended dead or held.

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
    /// The longest sleep between two looks at the database
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, default_value = "1s")]
    pub poll_interval: Duration,
    /// How many jobs are claimed ahead [default: 4 × workers]
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
    /// What happens to running jobs at the first signal
    #[arg(long, value_name = "WHAT", default_value = "wait")]
    pub on_stop: OnStop,
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

#[derive(Debug, Args)]
#[command(after_help = "\
Selectors, the same everywhere: 12, 3-7, 1,2,5-8, last, all, name:GLOB, key:K,
status:dead, flow:NAME, group:NAME, schedule:NAME.

Without selector or filter the table shows everything unfinished and the last
20 that ended; every other format shows all that match.")]
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
pub struct RetryArgs {
    /// Which jobs
    #[arg(value_name = "SELECTOR", required_unless_present = "failed")]
    pub selectors: Vec<String>,
    /// Every job that is failed, dead or held
    #[arg(long, conflicts_with = "selectors")]
    pub failed: bool,
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
pub struct DoctorArgs {
    /// Repair what has one right repair, and say what was done
    #[arg(long)]
    pub fix: bool,
    /// With --fix: say what would be done, and do nothing
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
    #[command(flatten)]
    pub show: Show,
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
pub struct LogsArgs {
    /// Which job
    pub id: String,
    /// Go on until the attempt ends
    #[arg(short, long)]
    pub follow: bool,
    /// Only the last so many lines
    #[arg(short = 'n', long, value_name = "LINES")]
    pub lines: Option<usize>,
    /// Of this attempt [default: the last one]
    #[arg(long, value_name = "N")]
    pub attempt: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A job that runs gets TERM and, --kill-after later, KILL, with everything it
started; the command waits until that is gone. The wish is stored: it holds
also if the command or the runner ends before. What waits for a cancelled job
is skipped, unless it waits for any end of it (--after-any). A job that ends by
itself before it is stopped is not cancelled: exit 4.")]
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
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A job that a runner has claimed or that has ended cannot be changed: exit 4.

Examples:
  ax edit 12 --priority 9 --timeout 2h
  ax edit last --at 'tomorrow 02:00'
  ax edit 12 -- ./report.sh --all      another command")]
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
    /// Higher runs first
    #[arg(short, long, allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(PRIORITIES))]
    pub priority: Option<i64>,
    /// The longest an attempt may run, or `none`
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true, value_parser = timeout)]
    pub timeout: Option<Timeout>,
    /// Between TERM and KILL when an attempt is stopped
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true, value_parser = duration)]
    pub kill_after: Option<Duration>,
    /// Failures after which another attempt is made
    #[arg(
        short = 'r',
        long,
        visible_alias = "retries",
        value_name = "N",
        allow_negative_numbers = true
    )]
    pub max_retries: Option<u32>,
    /// The wait before the first retry
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = duration)]
    pub retry_delay: Option<Duration>,
    /// By what each further wait is longer (1 or more)
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub retry_backoff: Option<f64>,
    /// The longest wait between attempts
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = duration)]
    pub retry_max_delay: Option<Duration>,
    /// Try again only after these exit codes: 1,2,10-20
    #[arg(long, value_name = "CODES")]
    pub retry_on: Option<Codes>,
    /// Do not try again after these exit codes
    #[arg(long, value_name = "CODES")]
    pub no_retry_on: Option<Codes>,
    /// When an outcome is unknown
    #[arg(long, value_name = "POLICY")]
    pub on_lost: Option<OnLost>,
    /// Run no more jobs of this group at once than `ax group set` says
    #[arg(short, long, value_name = "NAME", conflicts_with = "no_group")]
    pub group: Option<String>,
    /// Take the job out of its group
    #[arg(long)]
    pub no_group: bool,
    /// Never run two jobs with the same key at once, over all runners
    #[arg(long, value_name = "KEY", conflicts_with = "no_mutex")]
    pub mutex: Option<String>,
    /// Let the job run whoever has its mutex
    #[arg(long)]
    pub no_mutex: bool,
    /// Another command: one word is shell text (`-` reads it from standard input), several words are run as they are
    #[arg(trailing_var_arg = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
    #[command(flatten)]
    pub show: Show,
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
    fn wants_json(&self) -> bool {
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
    #[arg(long, value_name = "ZONE", value_parser = zone, requires = "cron")]
    pub tz: Option<Tz>,
    /// How many
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    #[command(flatten)]
    pub show: Show,
}

fn cron(text: &str) -> Result<Cron, String> {
    text.parse()
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
A job joins a group with `ax add --group NAME`. A group without a limit runs any
number of jobs at once; of one that is paused none is started, and what runs
goes on. A change holds at once, for all runners.

Examples:
  ax group set encode --parallel 2     two at once, over all runners
  ax group set encode --parallel none  any number
  ax group pause encode")]
pub struct GroupArgs {
    #[command(subcommand)]
    pub change: GroupChange,
}

#[derive(Debug, Subcommand)]
pub enum GroupChange {
    /// Say how many jobs of a group run at once
    Set {
        /// The group
        name: String,
        /// So many, or `none` for any number
        #[arg(short, long, value_name = "N", value_parser = parallel)]
        parallel: Parallel,
        #[command(flatten)]
        show: Show,
    },
    /// Show the groups that have a limit, are paused, or have unfinished jobs
    List {
        #[command(flatten)]
        show: Show,
    },
    /// Start no more jobs of a group; what runs goes on
    Pause {
        /// The group
        name: String,
        #[command(flatten)]
        show: Show,
    },
    /// Let a paused group go on
    Resume {
        /// The group
        name: String,
        #[command(flatten)]
        show: Show,
    },
}

impl GroupChange {
    const fn show(&self) -> Show {
        match self {
            Self::Set { show, .. }
            | Self::List { show }
            | Self::Pause { show, .. }
            | Self::Resume { show, .. } => *show,
        }
    }
}

/// How many jobs of a group run at once; any number if `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parallel(pub Option<u32>);

fn parallel(text: &str) -> Result<Parallel, String> {
    match text.parse() {
        _ if text == "none" => Ok(Parallel(None)),
        Ok(0) => Err("must be 1 or more; `ax group pause` starts none".to_owned()),
        Ok(count) => Ok(Parallel(Some(count))),
        Err(_) => Err("is neither a whole number from 1 on nor `none`".to_owned()),
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

#[derive(Debug, Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Takes about a minute, on a database of its own in a temporary directory, which
is removed in the end. Each figure stands beside its limit, the same work done
bare and measured in turn; a ratio of 1 is the limit itself.

Figures: drain (a job of many, all durable), add (one call), add_from (a job of
a batch), start (from `ax add` to the job's first word), child (from a parent's
last word to its child's first), chain (a link of 100).")]
pub struct BenchArgs {
    /// How many jobs are drained [default: as many as start bare in 2 s, 200 to 5000]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub jobs: Option<u32>,
    /// How many workers drain them [default: twice the cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: Option<u16>,
    /// How often each is repeated
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub rounds: u16,
    /// Where the temporary directory is made [default: where the database is]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Which shell
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Where to
    pub dir: PathBuf,
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
