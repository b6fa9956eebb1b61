//! `ax logs`: shows what an attempt printed, also while it runs.
//!
//! In a pipe the bytes are as the job wrote them; on a terminal control
//! characters are escaped.

use std::io::{self, BufWriter, IsTerminal, SeekFrom, Write};
use std::time::Duration;

use super::printed::{read_output, seek_to_last};
use super::{Answer, Context, select, unprinted};
use crate::cli::LogsArgs;
use crate::data_dir::DataDir;
use crate::escape::Escaping;
use crate::exit;
use crate::failure::Failure;
use crate::job::{Attempt, JobId};
use crate::store::{Error, Store};

/// Between two looks at an attempt that is followed.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) fn run(args: LogsArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let selectors = select::parse(std::slice::from_ref(&args.id))?;
    let mut store = context.store()?;
    let store = store.as_mut();
    let job = match select::ids(store, &selectors)?.as_slice() {
        [job] => *job,
        many => return Err(too_many(&args.id, many.len())),
    };
    let attempt = if args.follow {
        wait_for_attempt(store, job, args.attempt)?
    } else {
        attempt(store, job, args.attempt)?
    };
    let Some(attempt) = attempt else { return Err(no_attempt(job, args.attempt)) };
    let mut reader = Reader { store, dir: context.data_dir(), job, attempt, shown: None };
    if io::stdout().is_terminal() {
        let mut out = Escaping::new(BufWriter::new(&mut *context.out));
        reader.copy(&args, &mut out)?;
        out.finish().map_err(unprinted)?;
    } else {
        reader.copy(&args, &mut *context.out)?;
    }
    context.out.flush().map_err(unprinted)?;
    Ok(Answer::silent(exit::DONE))
}

fn too_many(word: &str, count: usize) -> Failure {
    Failure::usage(format!("`{word}` names {count} jobs, and only one can be shown"))
}

fn no_attempt(job: JobId, wanted: Option<u32>) -> Failure {
    match wanted {
        Some(number) => Failure::not_found(format!("job {job} has no attempt {number}"))
            .hint(format!("`ax show {job}` lists its attempts")),
        None => Failure::not_found(format!("job {job} has not been started"))
            .hint(format!("`ax show {job}` says why")),
    }
}

/// The attempt that was asked for, or the last one that was started.
fn attempt(store: &mut dyn Store, job: JobId, wanted: Option<u32>) -> Result<Option<u32>, Failure> {
    let history = store.attempts(job)?;
    let was_started = |one: &&Attempt| one.started_at.is_some() || one.ended_at.is_some();
    let found = match wanted {
        Some(number) => history.iter().find(|one| one.attempt == number),
        None => history.iter().rev().find(was_started),
    };
    Ok(found.map(|one| one.attempt))
}

/// Waits for the first attempt of a job that has none; `None` if the job ends
/// without one.
fn wait_for_attempt(
    store: &mut dyn Store,
    job: JobId,
    wanted: Option<u32>,
) -> Result<Option<u32>, Failure> {
    loop {
        let over = state_is_final(store, job)?;
        let found = attempt(store, job, wanted)?;
        if found.is_some() || over || wanted.is_some() {
            return Ok(found);
        }
        std::thread::sleep(PAUSE);
    }
}

fn state_is_final(store: &mut dyn Store, job: JobId) -> Result<bool, Failure> {
    Ok(store.get(job)?.ok_or(Error::NoSuchJob(job))?.state.is_final())
}

/// Shows one attempt.
struct Reader<'a> {
    store: &'a mut dyn Store,
    dir: DataDir,
    job: JobId,
    attempt: u32,
    /// How many bytes have been shown; `None` before the first look.
    shown: Option<u64>,
}

impl Reader<'_> {
    fn copy(&mut self, args: &LogsArgs, out: &mut dyn Write) -> Result<(), Failure> {
        loop {
            // Asked before reading: what is written in between is read as well.
            let over = !args.follow || self.has_ended()?;
            self.copy_new(args.lines, out)?;
            if over {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn has_ended(&mut self) -> Result<bool, Failure> {
        let runs =
            |attempt: &Attempt| attempt.attempt == self.attempt && attempt.ended_at.is_none();
        Ok(!self.store.attempts(self.job)?.iter().any(runs))
    }

    /// Copies what has not been shown yet.
    fn copy_new(&mut self, lines: Option<usize>, out: &mut dyn Write) -> Result<(), Failure> {
        let output = read_output(self.store, &self.dir, self.job, self.attempt)?;
        let Some(mut output) = output else { return Ok(()) };
        let from = match (self.shown, lines) {
            (None, Some(lines)) => seek_to_last(output.as_mut(), lines),
            (shown, _) => output.seek(SeekFrom::Start(shown.unwrap_or(0))),
        };
        let from = from.map_err(|error| self.unread(&error))?;
        let copied = io::copy(&mut output, out).map_err(unprinted)?;
        out.flush().map_err(unprinted)?;
        self.shown = Some(from + copied);
        Ok(())
    }

    fn unread(&self, error: &io::Error) -> Failure {
        let Self { job, attempt, .. } = self;
        Failure::store(format!("cannot read the output of job {job}, attempt {attempt}: {error}"))
    }
}
