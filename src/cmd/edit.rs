//! `ax edit`: changes a job that waits.

use std::io;

use super::add::draft;
use super::job_options::{check_label, settings};
use super::{Answer, Context, alive, select, words};
use crate::cli::EditArgs;
use crate::failure::Failure;
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
    let command = match args.command.as_slice() {
        [] => None,
        words => Some(words::command(words, &mut io::stdin().lock())?),
    };
    Ok(Edit {
        name: args.name.clone(),
        command,
        due: draft::due(args.delay, args.at.as_deref(), context.now())?,
        settings: settings(&args.settings)?,
        no_group: args.no_group,
        no_mutex: args.no_mutex,
    })
}
