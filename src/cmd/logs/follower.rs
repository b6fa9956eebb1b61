//! Following one job: attempt after attempt, and what is told in between.

use std::io::{self, IsTerminal, Read, Write};

use crate::clock::{Clock, SystemClock};
use crate::cmd::alive;
use crate::cmd::printed::{Printed, read_output};
use crate::cmd::unprinted;
use crate::data_dir::DataDir;
use crate::escape::escape;
use crate::failure::Failure;
use crate::job::{Attempt, Job, JobId};
use crate::output::time;
use crate::output::voice::{Voice, called};
use crate::store::{Error, Store};

/// How much is read at once, in bytes.
const BLOCK: usize = 16 * 1024;

/// Where followers look and speak.
pub(super) struct Scene<'a> {
    pub(super) store: &'a mut dyn Store,
    pub(super) dir: DataDir,
    pub(super) out: &'a mut dyn Write,
    pub(super) err: &'a mut dyn Write,
    /// Whether to go on until the jobs are over.
    pub(super) follow: bool,
    /// Whether something may have been written to the store.
    pub(super) has_news: bool,
}

/// What became of a look at a job.
pub(super) enum Step {
    /// There may be more later.
    Goes,
    /// All was shown.
    Over,
    /// The output of an attempt is gone.
    Lost(Failure),
}

/// Follows one job.
pub(super) struct Follower {
    job: JobId,
    voice: Voice,
    /// The last attempt that was shown, or is not to be.
    seen: u32,
    /// Whether one attempt is all that is wanted.
    is_one: bool,
    /// How many last lines of the first attempt are wanted, if not all.
    lines: Option<usize>,
    reading: Option<Reading>,
    /// Whether what became of the attempt before was told, or is no news.
    told: bool,
}

/// An attempt that is being read.
struct Reading {
    attempt: u32,
    /// What it printed, from where it has not been shown; `None` before it has
    /// printed anything. It is kept open: it stays readable when it is moved.
    output: Option<Printed>,
}

impl Follower {
    /// Follows a job from its first attempt.
    pub(super) const fn of(job: JobId, voice: Voice) -> Self {
        Self { job, voice, seen: 0, is_one: false, lines: None, reading: None, told: false }
    }

    /// The same from this attempt on.
    pub(super) fn beginning_with(self, first: u32) -> Self {
        Self { seen: first.saturating_sub(1), told: true, ..self }
    }

    /// The same with this attempt alone.
    pub(super) fn with_only(self, only: u32) -> Self {
        Self { is_one: true, ..self.beginning_with(only) }
    }

    /// The same with only the last lines of the first attempt that is shown.
    pub(super) fn last_lines(self, lines: Option<usize>) -> Self {
        Self { lines, ..self }
    }

    /// Tells whether the job is heard alone.
    pub(super) const fn is_alone(&self) -> bool {
        self.voice.is_alone()
    }

    /// Shows what there is to be shown by now.
    ///
    /// # Errors
    /// When the store or the output cannot be read, or nobody takes what is shown.
    pub(super) fn step(&mut self, scene: &mut Scene<'_>) -> Result<Step, Failure> {
        loop {
            if let Some(reading) = &self.reading {
                // Asked before reading: what is written in between is read as well.
                let attempt = reading.attempt;
                let over = !scene.follow || scene.has_news && self.has_ended(attempt, scene)?;
                self.copy_new(scene)?;
                if !over {
                    return Ok(Step::Goes);
                }
                self.end_attempt(attempt, scene)?;
                if self.is_one {
                    return Ok(Step::Over);
                }
            }
            if !scene.has_news {
                return Ok(Step::Goes);
            }
            // Asked before the history: an attempt that comes later is no matter then.
            let job = scene.store.get(self.job)?.ok_or(Error::NoSuchJob(self.job))?;
            let history = scene.store.attempts(self.job)?;
            let next = history.iter().find(|one| one.attempt > self.seen && self.wants(one));
            match next {
                Some(next) => {
                    if let Some(failure) = lost_output(&scene.dir, next) {
                        return Ok(Step::Lost(failure));
                    }
                    let attempt = next.attempt;
                    if self.seen > 0 {
                        self.tell(&job, "the next one has started", scene)?;
                    }
                    self.reading = Some(Reading { attempt, output: None });
                }
                None if job.state.is_final() => return Ok(Step::Over),
                None => {
                    // Before its first attempt only a person wants to know.
                    if !self.told && (self.seen > 0 || io::stderr().is_terminal()) {
                        let moment = alive::moment(scene.store, &scene.dir, SystemClock.now())?;
                        let why = moment.phase(&job).sentence(time::local);
                        self.tell(&job, &why, scene)?;
                    }
                    return Ok(Step::Goes);
                }
            }
        }
    }

    const fn wants(&self, one: &Attempt) -> bool {
        self.is_one || was_started(one)
    }

    fn has_ended(&self, attempt: u32, scene: &mut Scene<'_>) -> Result<bool, Failure> {
        let runs = |one: &Attempt| one.attempt == attempt && one.ended_at.is_none();
        Ok(!scene.store.attempts(self.job)?.iter().any(runs))
    }

    /// Copies what has not been shown yet.
    fn copy_new(&mut self, scene: &mut Scene<'_>) -> Result<(), Failure> {
        let Some(reading) = &mut self.reading else { return Ok(()) };
        let attempt = reading.attempt;
        let unread = |error: &io::Error| {
            let what = format!("the output of job {}, attempt {attempt}", self.job);
            Failure::store(format!("cannot read {what}: {error}"))
        };
        if reading.output.is_none() {
            reading.output = read_output(scene.store, &scene.dir, self.job, attempt)?;
            if let (Some(output), Some(lines)) = (&mut reading.output, self.lines) {
                output.skip_to_last_lines(lines).map_err(|error| unread(&error))?;
            }
        }
        let Some(output) = &mut reading.output else { return Ok(()) };
        let mut block = vec![0; BLOCK];
        loop {
            match output.read(&mut block).map_err(|error| unread(&error))? {
                0 => return Ok(()),
                read => self.voice.say(&block[..read], scene.out).map_err(unprinted)?,
            }
        }
    }

    fn end_attempt(&mut self, attempt: u32, scene: &mut Scene<'_>) -> Result<(), Failure> {
        self.voice.end(scene.out).map_err(unprinted)?;
        self.seen = attempt;
        self.reading = None;
        self.lines = None;
        self.told = false;
        Ok(())
    }

    /// Tells once how an attempt ended, and why another is to come.
    fn tell(&mut self, job: &Job, why: &str, scene: &mut Scene<'_>) -> Result<(), Failure> {
        if std::mem::replace(&mut self.told, true) {
            return Ok(());
        }
        scene.out.flush().map_err(unprinted)?;
        let is_within_line = !self.voice.is_at_start() && io::stdout().is_terminal();
        let apart = if is_within_line { "\n" } else { "" };
        let who = called(job.id, job.name.as_deref());
        let failed = match &job.last_error {
            Some(error) if self.seen > 0 => format!("{}; ", escape(error.as_bytes())),
            Some(_) | None => String::new(),
        };
        let after = if self.seen > 0 { format!(", attempt {}", self.seen) } else { String::new() };
        let line = format!("{apart}ax: {who}{after}: {failed}{}\n", escape(why.as_bytes()));
        // Whether talk is heard changes nothing about what is shown.
        let _ = scene.err.write_all(line.as_bytes());
        Ok(())
    }
}

/// Tells whether an attempt came so far that it may have printed something.
pub(super) const fn was_started(one: &Attempt) -> bool {
    one.started_at.is_some() || one.ended_at.is_some()
}

/// A long output whose file somebody removed is not an empty one.
fn lost_output(dir: &DataDir, one: &Attempt) -> Option<Failure> {
    let path = dir.output(one.job, one.attempt);
    if !one.output_in_file || path.exists() {
        return None;
    }
    let what = format!("the output of job {}, attempt {}, is gone", one.job, one.attempt);
    Some(Failure::failed(what).hint(format!("it was in {}", path.display())))
}
