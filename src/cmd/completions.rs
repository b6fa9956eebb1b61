//! `ax completions`: what a shell needs to complete the command line.
//!
//! The scripts know nothing but how to ask `ax __complete`, so they fit every
//! version of the program, and names come from the database.

use super::{Answer, Context, unprinted};
use crate::cli::{CompletionsArgs, Shell};
use crate::exit;
use crate::failure::Failure;

pub(super) fn run(args: &CompletionsArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let script = match args.shell {
        Shell::Bash => include_str!("complete/ax.bash"),
        Shell::Zsh => include_str!("complete/ax.zsh"),
        Shell::Fish => include_str!("complete/ax.fish"),
    };
    context
        .out
        .write_all(script.as_bytes())
        .and_then(|()| context.out.flush())
        .map_err(unprinted)?;
    Ok(Answer::silent(exit::DONE))
}
