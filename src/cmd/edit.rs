//! `ax edit`: changes a job that waits.

use std::io;

use super::add::draft;
use super::job_options::{check_label, on_lost};
use super::{Answer, Context, alive, select, words};
use crate::cli::EditArgs;
use crate::failure::Failure;
use crate::job::Settings;
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
    check_label("name", args.name.as_deref())?;
    check_label("group", args.group.as_deref())?;
    check_label("mutex", args.mutex.as_deref())?;
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
            group: args.group.clone(),
            mutex: args.mutex.clone(),
            retry_on: args.retry_on.clone(),
            no_retry_on: args.no_retry_on.clone(),
        },
        no_group: args.no_group,
        no_mutex: args.no_mutex,
    })
}
