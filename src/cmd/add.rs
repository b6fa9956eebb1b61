//! `ax add`: puts jobs in.
//!
//! What the options say becomes a [`Draft`]. One command fills it in as it is;
//! each line of `--from` lays what it says over it. The store takes all of the
//! jobs or none.

mod batch;
pub(super) mod draft;
mod line;
mod lines;
mod problems;

use std::io::{self, IsTerminal};
use std::path::Path;

use crate::cli::{AddArgs, Format, Show};
use crate::cmd::{Answer, Context, alive, logs, schedule, wait, words};
use crate::failure::Failure;
use crate::job::{Added, Job, JobId, NewJob};
use crate::output::added::AddedJobs;
use crate::sched::handover::{self, Outcome};
use crate::store::{self, Error, Handed, Store};

use draft::Draft;

/// Adds one job, or those of `--from`.
///
/// # Errors
/// Says what is wrong with what was typed or written, or why the store
/// refuses it. Nothing was added then.
pub(super) fn run(args: AddArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    if args.cron.is_some() {
        return schedule::add::short(args, context);
    }
    if let Some(option) = args.recurrence.given() {
        let message = format!("{option} is about what comes again and again");
        return Err(Failure::usage(message).hint("say when it comes with --cron"));
    }
    let draft = Draft::read(&args, &context.config.defaults(), context.now())?;
    let added = match &args.from {
        Some(path) => from(path, &draft, context)?,
        None => one(&args, draft, context)?,
    };
    let ids: Vec<JobId> = added.iter().map(|added| added.id).collect();
    if !args.follow && !args.wait && !needs_jobs(args.show) {
        let jobs = None;
        return Ok(Answer::new(AddedJobs { added, jobs, one: args.from.is_none() }, args.show));
    }
    let mut store = context.store()?;
    let store = store.as_mut();
    if args.follow {
        // The output of the job is all that stands on stdout.
        let _ = writeln!(context.err, "job {}", ids[0]);
        logs::follow(ids[0], store, context)?;
    } else {
        // A bare id is of use at once, and the rest of a job when it has ended.
        let waits_first = args.wait && needs_jobs(args.show);
        let ended =
            if waits_first { Some(wait::until_ended(&ids, None, store, context)?) } else { None };
        let answer = answer(added, args.from.is_none(), args.show, store, context)?;
        if !args.wait {
            return Ok(answer);
        }
        context.print(&answer)?;
        if let Some(ended) = ended {
            return ended.answer(true);
        }
    }
    wait::until_ended(&ids, None, store, context)?.answer(true)
}

fn one(args: &AddArgs, draft: Draft, context: &mut Context<'_>) -> Result<Vec<Added>, Failure> {
    let command = words::command(&args.command, &mut io::stdin().lock())?;
    let job = NewJob { key: args.key.clone(), ..draft.job(command) };
    let added = [hand_or_add(&job, context)?];
    tell(&added, &job, context);
    Ok(added.into())
}

/// Lets a runner add the job, if one lives, or adds it.
fn hand_or_add(job: &NewJob, context: &Context<'_>) -> Result<Added, Failure> {
    let now = context.now();
    let added = match handover::hand(&context.data_dir(), &context.db, job, now) {
        Outcome::Added { added, by, has_company } => {
            if has_company {
                context.wake_runners_but(by);
            }
            return Ok(added);
        }
        Outcome::NotTaken => context.store()?.add(std::slice::from_ref(job), now)?[0],
        Outcome::Unknown(doubt) => {
            let handed = doubt.handed(job.clone(), now);
            let answer = add_in_doubt(handed, context).map_err(|failure| {
                failure.hint("a runner had the job and may have added it: `ax list` tells")
            })?;
            answer?
        }
    };
    context.wake_runners();
    Ok(added)
}

/// Adds a job that a runner was handed and may have added.
fn add_in_doubt(handed: Handed, context: &Context<'_>) -> Result<store::Result<Added>, Failure> {
    let mut answers = context.store()?.add_handed(&[handed], &[])?;
    Ok(answers.remove(0))
}

fn from(path: &Path, draft: &Draft, context: &Context<'_>) -> Result<Vec<Added>, Failure> {
    let mut store = context.store()?;
    let mut batch = lines::read(path, draft)?;
    batch.check(&mut |selector| store.select(selector))?;
    let added = store.add(&batch.jobs, context.now()).map_err(|error| batch.explain(error))?;
    context.wake_runners();
    Ok(added)
}

/// Answers with the jobs that were added.
pub(super) fn answer(
    added: Vec<Added>,
    one: bool,
    show: Show,
    store: &mut dyn Store,
    context: &Context<'_>,
) -> Result<Answer, Failure> {
    let jobs = if needs_jobs(show) {
        let moment = alive::moment(store, &context.data_dir(), context.now())?;
        Some((stored(&added, store)?, moment))
    } else {
        None
    };
    Ok(Answer::new(AddedJobs { added, jobs, one }, show))
}

/// Ids are known; whatever else is shown must be looked up.
fn needs_jobs(show: Show) -> bool {
    match show.wanted() {
        Some(Format::Json | Format::Jsonl | Format::Csv) => true,
        Some(Format::Table | Format::Ids | Format::Tree | Format::Dot) | None => false,
    }
}

fn stored(added: &[Added], store: &mut dyn Store) -> Result<Vec<Job>, Failure> {
    let get = |added: &Added| {
        store.get(added.id)?.ok_or(Error::NoSuchJob(added.id)).map_err(Failure::from)
    };
    added.iter().map(get).collect()
}

/// Tells a person, and no script, that nothing new was added.
fn tell(added: &[Added], job: &NewJob, context: &mut Context<'_>) {
    let [Added { id, new: false }] = added else { return };
    if io::stderr().is_terminal() {
        let key = job.key.as_deref().unwrap_or_default().escape_debug();
        // Whether talk is heard changes nothing about what was done.
        let _ = writeln!(context.err, "job {id} has the key `{key}` already; nothing was added");
    }
}
