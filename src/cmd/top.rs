//! `ax top`: watches what goes on, on the whole screen, from the database alone.
//!
//! Where there is no screen to take, what is so now is printed once.

use crate::output::runners::working;
use std::io::{self, IsTerminal, Read};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, raise};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::look::{LATELY, Looker, Seen};
use super::{Answer, Context, alive};
use crate::cli::TopArgs;
use crate::data_dir::DataDir;
use crate::escape::last_line;
use crate::exec::kept::Kept;
use crate::exit;
use crate::failure::{Failure, reason};
use crate::job::{Job, Timestamp};
use crate::output::running::Row;
use crate::output::screen::full::{self, Full, Key};
use crate::output::screen::{self, Size};
use crate::output::top::{Sort, Top};
use crate::output::{self, Moment, cells};

/// How many bytes of an output's end are looked at for its last line.
const TAIL: u64 = 4 * 1024;

/// So many jobs are asked for their last line at most.
const ASKED: usize = 200;

/// The longest that nobody looks whether it is time for something.
const TICK: Duration = Duration::from_secs(1);

pub(super) fn run(args: TopArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    drop(context.store()?);
    let mut eye = Eye {
        looker: Looker::new(context.db.clone(), None, args.interval),
        dir: context.data_dir(),
        place: context.db.display().to_string(),
    };
    let first = eye.look(context.now())?;
    let has_screen = io::stdin().is_terminal() && io::stdout().is_terminal() && screen::can_draw();
    if args.once || args.show.wanted().is_some() || !has_screen {
        return Ok(Answer::new(first, args.show));
    }
    watch(eye, first, context)?;
    Ok(Answer::silent(exit::DONE))
}

/// Who looks, and where.
struct Eye {
    looker: Looker,
    dir: DataDir,
    place: String,
}

impl Eye {
    fn look(&mut self, now: Timestamp) -> Result<Top, Failure> {
        let Seen { glance, running } = self.looker.look(now)?;
        let runners = alive::runners(self.looker.store()?, &self.dir)?;
        let rows = running.iter().enumerate().map(|(n, (job, usual))| Row {
            job: job.id,
            title: job.title(),
            runner: job.owner,
            elapsed: job.runs_at.map_or(Duration::ZERO, |at| now.since(at)),
            usual: *usual,
            says: cells::progress(job)
                .or_else(|| if n < ASKED { self.last_line(job) } else { None }),
        });
        Ok(Top {
            place: self.place.clone(),
            moment: Moment { now, runners: working(&runners) },
            rows: rows.collect(),
            runners,
            glance,
            lately: LATELY,
            trouble: None,
        })
    }

    /// The last line that a job has printed so far. What cannot be read says
    /// nothing: it may be gone by now.
    fn last_line(&self, job: &Job) -> Option<String> {
        let mut output = Kept::open(&self.dir.output(job.id, job.attempts)).ok()?;
        output.skip_to_last_bytes(TAIL).ok()?;
        let mut bytes = Vec::new();
        output.read_to_end(&mut bytes).ok()?;
        Some(last_line(&bytes)).filter(|line| !line.is_empty())
    }
}

/// Shows it until somebody leaves.
fn watch(mut eye: Eye, mut top: Top, context: &mut Context<'_>) -> Result<(), Failure> {
    obey_signals()?;
    let color = output::style(context.color, &io::stdout()).color;
    let full = Full::enter().map_err(|error| unusable(&error))?;
    let (mut first, mut sort) = (0, Sort::default());
    loop {
        sort.order(&mut top.rows);
        let size = Size::of(&io::stdout());
        let lines = top.lines(size, first, sort, color);
        full.draw(&lines, context.out).map_err(super::unprinted)?;
        let wait = eye.looker.next().saturating_duration_since(Instant::now()).min(TICK);
        let last = top.last_first(size);
        first = first.min(last);
        match full.key(wait).map_err(|error| unusable(&error))? {
            Some(Key::Leave) => return Ok(()),
            Some(Key::Suspend) => {
                raise(Signal::SIGTSTP).map_err(|error| unusable(&error.into()))?;
            }
            Some(Key::Up) => first = first.saturating_sub(1),
            Some(Key::Down) => first = (first + 1).min(last),
            Some(Key::PageUp) => first = first.saturating_sub(size.rows / 2),
            Some(Key::PageDown) => first = (first + size.rows / 2).min(last),
            Some(Key::First) => first = 0,
            Some(Key::Last) => first = last,
            Some(Key::Sort) => sort = sort.next(),
            None => (),
        }
        if eye.looker.next() <= Instant::now() {
            match eye.look(context.now()) {
                Ok(newer) => top = newer,
                // It is shown what was so, and why that is not newer.
                Err(failure) => top.trouble = Some(failure.message),
            }
        }
    }
}

fn unusable(error: &io::Error) -> Failure {
    Failure::failed(format!("the terminal cannot be used: {}", reason(error)))
}

/// Gives the terminal back before a signal has its way, and takes it again when
/// a shell lets the program go on.
fn obey_signals() -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP])
        .map_err(|error| Failure::failed(format!("signals cannot be handled: {error}")))?;
    let obey = move || {
        for signal in signals.forever() {
            full::leave();
            let _ = emulate_default_handler(signal);
            // Only a suspended program gets here.
            let _ = full::take();
        }
    };
    let started = thread::Builder::new().name("signals".to_owned()).spawn(obey);
    started.map(drop).map_err(|error| unusable(&error))
}
