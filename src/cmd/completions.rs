//! `ax completions`: what a shell needs to complete the command line.

use clap::{Args, CommandFactory};

use super::{Answer, Context, unprinted};
use crate::cli::{Cli, CompletionsArgs, Global};
use crate::exit;
use crate::failure::Failure;

pub(super) fn run(args: &CompletionsArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    // Into memory first: the generator knows no closed pipes.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut visible(), "ax", &mut script);
    context.out.write_all(&script).and_then(|()| context.out.flush()).map_err(unprinted)?;
    Ok(Answer::silent(exit::DONE))
}

/// The command line without what is hidden, which the generators would show.
fn visible() -> clap::Command {
    let ax =
        clap::Command::new("ax").version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true);
    let whole = Cli::command();
    let shown = whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    Global::augment_args(ax).subcommands(shown.collect::<Vec<_>>())
}
