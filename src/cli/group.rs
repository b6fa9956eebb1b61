//! Groups.

use clap::{Args, Subcommand};

use super::format::Show;

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
    pub(super) const fn show(&self) -> Show {
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
