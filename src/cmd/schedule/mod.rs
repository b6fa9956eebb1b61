//! `ax schedule`: what comes again and again.

mod next;

use super::{Answer, Context};
use crate::cli::{ScheduleArgs, ScheduleCommand};
use crate::failure::Failure;

/// Runs one of its commands.
pub(super) fn run(args: ScheduleArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    match args.command {
        ScheduleCommand::Next(args) => next::run(args, context),
    }
}
