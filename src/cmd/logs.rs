//! `ax logs`: shows what an attempt printed, also while it runs.
//!
//! Of an output that grew over its limit the beginning and the end are shown,
//! and how much is missing between them. In a pipe the bytes are as the job wrote them; on a terminal control
//! characters are escaped.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::time::Duration;

use super::printed::{Printed, read_output};
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
    let mut store = context.store()?;
    let store = store.as_mut();
    let job = select::one(store, &args.id)?;
    let attempt = if args.follow {
        wait_for_attempt(store, job, args.attempt)?
    } else {
        attempt(store, job, args.attempt)?
    };
    let Some(attempt) = attempt else { return Err(no_attempt(job, args.attempt)) };
    refuse_lost_output(store, &context.data_dir(), job, attempt)?;
    let mut reader = Reader { store, dir: context.data_dir(), job, attempt, output: None };
    show(context.out, |out| reader.copy(args.follow, args.lines, out))?;
    Ok(Answer::silent(exit::DONE))
}

/// Shows what all attempts of a job print, until it has ended.
///
/// # Errors
/// When the store or the output cannot be read, or nobody takes what is shown.
pub(super) fn follow(
    job: JobId,
    store: &mut dyn Store,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let dir = context.data_dir();
    show(context.out, |out| {
        let mut seen = 0;
        while let Some(attempt) = next_attempt(store, job, seen)? {
            let mut reader =
                Reader { store: &mut *store, dir: dir.clone(), job, attempt, output: None };
            reader.copy(true, None, out)?;
            seen = attempt;
        }
        Ok(())
    })
}

/// Copies to `out`; what goes to a terminal is escaped.
fn show(
    out: &mut dyn Write,
    copy: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if io::stdout().is_terminal() {
        let mut escaping = Escaping::new(BufWriter::new(&mut *out));
        copy(&mut escaping)?;
        escaping.finish().map_err(unprinted)?;
    } else {
        copy(out)?;
    }
    out.flush().map_err(unprinted)
}

/// A long output whose file somebody removed is not an empty one.
fn refuse_lost_output(
    store: &mut dyn Store,
    dir: &DataDir,
    job: JobId,
    attempt: u32,
) -> Result<(), Failure> {
    let history = store.attempts(job)?;
    let is_in_file = history.iter().any(|one| one.attempt == attempt && one.output_in_file);
    let path = dir.output(job, attempt);
    if is_in_file && !path.exists() {
        let what = format!("the output of job {job}, attempt {attempt}, is gone");
        return Err(Failure::failed(what).hint(format!("it was in {}", path.display())));
    }
    Ok(())
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
    let found = match wanted {
        Some(number) => history.iter().find(|one| one.attempt == number),
        None => history.iter().rev().find(|one| was_started(one)),
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

/// Waits for the attempt after this one; `None` if the job ends without one.
fn next_attempt(store: &mut dyn Store, job: JobId, seen: u32) -> Result<Option<u32>, Failure> {
    loop {
        let over = state_is_final(store, job)?;
        let history = store.attempts(job)?;
        let next = history.iter().find(|one| one.attempt > seen && was_started(one));
        if next.is_some() || over {
            return Ok(next.map(|one| one.attempt));
        }
        std::thread::sleep(PAUSE);
    }
}

const fn was_started(one: &Attempt) -> bool {
    one.started_at.is_some() || one.ended_at.is_some()
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
    /// What it printed, from where it has not been shown; `None` before it has
    /// printed anything. It is kept open: it stays readable when it is moved.
    output: Option<Printed>,
}

impl Reader<'_> {
    fn copy(
        &mut self,
        follow: bool,
        lines: Option<usize>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        loop {
            // Asked before reading: what is written in between is read as well.
            let over = !follow || self.has_ended()?;
            self.copy_new(lines, out)?;
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
        if self.output.is_none() {
            self.output = self.open(lines)?;
        }
        let Some(output) = &mut self.output else { return Ok(()) };
        io::copy(output, out).map_err(unprinted)?;
        out.flush().map_err(unprinted)
    }

    fn open(&mut self, lines: Option<usize>) -> Result<Option<Printed>, Failure> {
        let mut output = read_output(self.store, &self.dir, self.job, self.attempt)?;
        if let (Some(output), Some(lines)) = (&mut output, lines) {
            output.skip_to_last_lines(lines).map_err(|error| self.unread(&error))?;
        }
        Ok(output)
    }

    fn unread(&self, error: &io::Error) -> Failure {
        let Self { job, attempt, .. } = self;
        Failure::store(format!("cannot read the output of job {job}, attempt {attempt}: {error}"))
    }
}
