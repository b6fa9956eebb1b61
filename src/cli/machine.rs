//! What is asked of the machine and the store, not of jobs.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::format::Show;

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
#[command(after_help = "\
Takes about a minute, on a database of its own in a temporary directory, which
is removed in the end. Each figure stands beside its limit, the same work done
bare and measured in turn; a ratio of 1 is the limit itself.

Figures: drain (a job of many, all durable), add (one call), add_from (a job of
a batch), hand (one call, while a runner lives), start (from `ax add` to the
job's first word), child (from a parent's last word to its child's first),
chain (a link of 100).")]
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
#[command(after_help = "\
An option goes before the environment, that before the file, and that before the
default. `ax help config` shows all that may stand in the file.

Examples:
  ax config
  $EDITOR $(ax config --path)")]
pub struct ConfigArgs {
    /// Print where the file is
    #[arg(long, conflicts_with_all = ["format", "json"])]
    pub path: bool,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Topics: exit-codes, states, selectors, times, environment, config, hooks, causes,
flows.

Examples:
  ax help
  ax help schedule add
  ax help exit-codes")]
pub struct HelpArgs {
    /// A command, or a topic
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Commands, options, and the ids, names, keys, flows, groups and schedules that are in
the database are completed; the shell asks ax each time.

Examples:
  ax completions bash > ~/.local/share/bash-completion/completions/ax
  ax completions zsh > ~/.zfunc/_ax           (a directory of $fpath)
  ax completions fish > ~/.config/fish/completions/ax.fish")]
pub struct CompletionsArgs {
    /// Which shell
    pub shell: Shell,
}

/// A shell that can be told what may be typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, Args)]
pub struct CompleteArgs {
    /// The number of the word with the cursor
    pub index: usize,
    /// The words, from `ax` on
    #[arg(last = true)]
    pub words: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Where to
    pub dir: PathBuf,
}
