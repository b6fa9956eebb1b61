//! `ax edit`: changes a job that waits.

use std::io;

use super::add::draft;
use super::job_options::on_lost;
use super::{Answer, Context, alive, select, words};
use crate::cli::EditArgs;
use crate::failure::Failure;
use crate::job::{Settings, limits};
use crate::output::edited::EditedJob;
use crate::store::{Edit, Error};

pub(super) fn run(args: EditArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let edit = edit(&args, context)?;
    if edit == Edit::default() {
        return Err(Failure::usage("nothing was said that is to change")
            .hint("`ax edit --help` shows what can be changed"));
    }
    let mut store = context.store()?;
    let store = store.as_mut();
    let id = select::one(store, &args.id)?;
    store.edit(id, &edit, context.now())?;
    context.wake_runners();
    let job = store.get(id)?.ok_or(Error::NoSuchJob(id))?;
    let moment = alive::moment(store, &context.data_dir(), context.now())?;
    Ok(Answer::new(EditedJob { job, moment }, args.show))
}

/// What is to change.
fn edit(args: &EditArgs, context: &Context<'_>) -> Result<Edit, Failure> {
    if let Some(name) = &args.name {
        limits::label("name", name).map_err(Failure::usage)?;
    }
    let command = match args.command.as_slice() {
        [] => None,
        words => Some(words::command(words, &mut io::stdin().lock())?),
    };
    Ok(Edit {
        name: args.name.clone(),
        command,
        due: draft::due(args.delay, args.at.as_deref(), context.now())?,
        settings: Settings {
            priority: args.priority,
            timeout: args.timeout,
            kill_after: args.kill_after,
            max_retries: args.max_retries,
            retry_delay: args.retry_delay,
            retry_backoff: args.retry_backoff,
            retry_max_delay: args.retry_max_delay,
            on_lost: args.on_lost.map(on_lost),
            hold: None,
        },
    })
}
