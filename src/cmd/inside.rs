//! `ax snooze` and `ax progress`: what a job says of itself while it runs.
//!
//! Which attempt speaks is told by its environment.

use super::{Answer, Context};
use crate::cli::{ProgressArgs, SnoozeArgs};
use crate::exit;
use crate::failure::Failure;
use crate::job::{JobId, limits};
use crate::store::{self, Said};

pub(super) fn snooze(args: &SnoozeArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    say("snooze", &Said::Snooze(context.now().plus(args.wait)), context)
}

pub(super) fn progress(args: &ProgressArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let text = args.text.join(" ");
    if !text.is_empty() {
        limits::label("text", &text).map_err(Failure::usage)?;
    }
    let text = (!text.is_empty()).then_some(text);
    say("progress", &Said::Progress { percent: args.percent, text }, context)
}

fn say(command: &str, said: &Said, context: &Context<'_>) -> Result<Answer, Failure> {
    let job: JobId = variable(command, "AX_JOB_ID")?;
    let attempt: u32 = variable(command, "AX_ATTEMPT")?;
    let mut store = store::open_existing(&context.db)?;
    store.say(job, attempt, said, context.now())?;
    Ok(Answer::silent(exit::DONE))
}

/// Reads a variable that `ax` gives to every job.
fn variable<T: std::str::FromStr>(command: &str, name: &str) -> Result<T, Failure> {
    let value = std::env::var(name).ok().and_then(|text| text.parse().ok());
    value.ok_or_else(|| {
        Failure::usage(format!("`ax {command}` is for a job that runs, and {name} names none"))
            .hint("call it in the command of a job")
    })
}
