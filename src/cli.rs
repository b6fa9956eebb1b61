//! What may be typed: clap types, and nothing else. The options of each command
//! stand with those of its kind, one file below; which commands there are, here.
#![expect(
    missing_docs,
    reason = "the doc comments are the help text, and a field without one has none"
)]

mod adding;
mod changing;
mod format;
mod group;
mod machine;
mod running;
mod schedule;
mod showing;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};

pub use adding::*;
pub use changing::*;
pub use format::*;
pub use group::*;
pub use machine::*;
pub use running::*;
pub use schedule::*;
pub use showing::*;

/// A job scheduler in one binary, on one SQLite file
///
/// Jobs are shell commands. `ax add` puts one in; `ax run` runs what is due, in
/// order of priority, in parallel, after what it depends on, again if it
/// failed, never longer than its timeout. `ax` alone shows the short status.
#[derive(Debug, Parser)]
#[command(name = "ax", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "\
Exit codes: 0 done, 1 what was asked about failed, 2 usage, 3 no such job,
4 not allowed in this state, 5 the store cannot be used, 124 out of time.
`ax help` shows topics, too: exit-codes, states, selectors, times, hooks, ...")]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Cli {
    /// Reads a command line, `args[0]` being the program.
    ///
    /// `ax add` is called once a job, and to set up the options of all other
    /// commands takes as long as adding one: they are set up only if the line is
    /// not a plain `ax add`.
    ///
    /// # Errors
    /// What clap has to say, which may be the help.
    pub fn read(args: &[OsString]) -> Result<Self, clap::Error> {
        if args.get(1).is_some_and(|word| word == "add")
            && let Ok(Adding { global, command: Add::Add(args) }) = Adding::try_parse_from(args)
        {
            return Ok(Self { global, command: Some(Command::Add(args)) });
        }
        Self::try_parse_from(args)
    }
}

/// A [`Cli`] that knows one command alone.
#[derive(Parser)]
struct Adding {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Add,
}

#[derive(Subcommand)]
enum Add {
    Add(Box<AddArgs>),
}

/// Options that every command takes.
#[derive(Debug, Args)]
pub struct Global {
    /// The database [default: $AX_DB, else $XDG_DATA_HOME/ax/ax.db, else ~/.local/share/ax/ax.db]
    #[arg(long, global = true, help_heading = "Global options", value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub db: Option<PathBuf>,
    /// When to use colours [default: auto]
    #[arg(long, global = true, help_heading = "Global options", value_name = "WHEN")]
    pub color: Option<ColorChoice>,
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
    /// Show what failed, by its causes
    Failures(FailuresArgs),
    /// Show what is due and has not been started; exit 1 if there is something
    Overdue(OverdueArgs),
    /// Compare the last attempt that went well with the last that did not
    Diff(DiffArgs),
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
    /// Watch what runs, what waits and what fails, on the whole screen
    Top(TopArgs),
    /// Measure what this machine gives, and how much of it ax reaches
    Bench(BenchArgs),
    /// Print what starts a runner with the machine or the session
    Service(ServiceArgs),
    /// Show what is configured, and where
    Config(ConfigArgs),
    /// Show the help of a command, or of a topic
    Help(HelpArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Print the man pages into a directory
    #[command(hide = true)]
    Man(ManArgs),
    /// Complete a command line for a shell
    #[command(name = "__complete", hide = true)]
    Complete(CompleteArgs),
    /// Run one hook
    #[command(name = "__hook", hide = true)]
    Hook(HookArgs),
    /// Supervise jobs for one worker of a runner
    #[command(name = "__supervise", hide = true)]
    Supervise(SuperviseArgs),
}

impl Command {
    /// Tells whether the configuration means it. What runs beside a runner is
    /// told everything by that, and whoever mends a file must be helped.
    pub const fn is_configured(&self) -> bool {
        match self {
            Self::Config(args) => !args.path,
            Self::Help(_)
            | Self::Complete(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Hook(_)
            | Self::Supervise(_) => false,
            _ => true,
        }
    }

    /// Tells whether a script reads the answer, and failures, as JSON.
    pub fn wants_json(&self) -> bool {
        match self {
            Self::Add(args) => args.show.wants_json(),
            Self::Deps(args) => Show::from(args.show).wants_json(),
            Self::Run(args) => args.json,
            Self::Apply(args) => args.show.wants_json(),
            Self::List(args) => args.show.wants_json(),
            Self::Failures(args) => args.show.wants_json(),
            Self::Overdue(args) => args.show.wants_json(),
            Self::Diff(args) => args.show.wants_json(),
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
            Self::Top(args) => args.show.wants_json(),
            Self::Bench(args) => args.show.wants_json(),
            Self::Config(args) => args.show.wants_json(),
            Self::Logs(_)
            | Self::Snooze(_)
            | Self::Progress(_)
            | Self::Help(_)
            | Self::Service(_)
            | Self::Complete(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Hook(_)
            | Self::Supervise(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_add_is_read_as_by_the_whole() {
        for line in [
            "add true",
            "add --db x -n a --after 3 -- rsync -a b c",
            "add --color never -r 2 true --db y",
            "add --from - --json",
            "add --help",
            "add --no-such",
            "add",
            "--db x add true",
        ] {
            let args: Vec<OsString> =
                ["ax"].into_iter().chain(line.split(' ')).map(OsString::from).collect();
            let said = |read: Result<Cli, clap::Error>| match read {
                Ok(cli) => format!("{cli:?}"),
                Err(error) => error.to_string(),
            };
            assert_eq!(said(Cli::read(&args)), said(Cli::try_parse_from(&args)), "{line}");
        }
    }
}
