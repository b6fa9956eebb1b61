//! `ax wait`: waits until jobs have ended, and tells how by its exit code.
//!
//! Nothing is printed unless it is asked for; on a terminal it is told what is
//! waited for, so that nobody waits for a runner that is not there.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use super::watch::Watch;
use super::{Answer, Context, alive, select};
use crate::cli::WaitArgs;
use crate::escape::escape;
use crate::exit;
use crate::failure::Failure;
use crate::job::dependency::{Readiness, Seen};
use crate::job::{Job, JobId, Kind, State};
use crate::output::list::{Empty, JobList, More};
use crate::output::time;
use crate::store::{Error, Store};

/// Between two looks at what is told on a terminal.
const LOOK: Duration = Duration::from_secs(1);

/// What a signal adds to its number where an exit code is wanted, as in a shell.
const SIGNALED: i32 = 128;

pub(super) fn run(args: WaitArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let selectors = select::parse(&args.selectors)?;
    let mut store = context.store()?;
    let store = store.as_mut();
    let ids = select::ids(store, &selectors)?;
    let deadline = args.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let end = until_ended(&ids, deadline, store, context)?;
    if args.show.wanted().is_none() {
        return end.answer(args.exit_code);
    }
    let moment = alive::moment(store, &context.data_dir(), context.now())?;
    let get = |id: &JobId| store.get(*id)?.ok_or(Error::NoSuchJob(*id)).map_err(Failure::from);
    let jobs = ids.iter().map(get).collect::<Result<_, _>>()?;
    let list =
        JobList { jobs, columns: Vec::new(), more: More::default(), empty: Empty::NoMatch, moment };
    Ok(Answer::new(list, args.show).exit(end.exit(args.exit_code)))
}

/// How jobs ended that were waited for.
pub(super) enum End {
    /// All with success, or spared.
    Well,
    /// This is the first that ended otherwise.
    Badly(Box<Job>),
    /// Time is up, and this one has not ended.
    Open(Box<Job>),
}

impl End {
    /// The exit code; with `own` that of the job.
    fn exit(&self, own: bool) -> u8 {
        match self {
            Self::Well => exit::DONE,
            Self::Badly(job) if own => own_code(job),
            Self::Badly(_) => exit::FAILED,
            Self::Open(_) => exit::TIMED_OUT,
        }
    }

    /// Silence, or what went wrong.
    ///
    /// # Errors
    /// When it did not go well.
    pub(super) fn answer(self, own: bool) -> Result<Answer, Failure> {
        let exit = self.exit(own);
        let failure = match self {
            Self::Well => return Ok(Answer::silent(exit)),
            Self::Badly(job) => {
                let why = job.last_error.as_ref().or(job.reason.as_ref());
                let why =
                    why.map(|why| format!(": {}", escape(why.as_bytes()))).unwrap_or_default();
                Failure::failed(format!("job {} is {}{why}", job.id, job.state))
                    .hint(format!("`ax show {}` tells everything about it", job.id))
            }
            Self::Open(job) => Failure::timed_out(format!("job {} is still {}", job.id, job.state))
                .hint(format!("`ax show {}` says what it waits for", job.id)),
        };
        Err(Failure { exit, ..failure })
    }
}

/// The exit code of a job that did not end with success: its own, 128 and the
/// signal, or 1 where there is neither.
fn own_code(job: &Job) -> u8 {
    let code = job.exit_code.or(job.signal.map(|signal| signal + SIGNALED));
    code.and_then(|code| u8::try_from(code).ok()).filter(|code| *code > 0).unwrap_or(exit::FAILED)
}

/// Waits until all have ended, or until the deadline.
///
/// # Errors
/// When the store cannot be asked, or a job is not there any more.
pub(super) fn until_ended(
    ids: &[JobId],
    deadline: Option<Instant>,
    store: &mut dyn Store,
    context: &mut Context<'_>,
) -> Result<End, Failure> {
    let mut watch = Watch::of(&context.db);
    let mut talk = Talk::default();
    let mut bad = None;
    for id in ids {
        loop {
            let job = store.get(*id)?.ok_or(Error::NoSuchJob(*id))?;
            if job.state.is_final() {
                let is_first_bad = !ended_well(&job) && bad.is_none();
                bad = if is_first_bad { Some(Box::new(job)) } else { bad };
                break;
            }
            if deadline.is_some_and(|at| at <= Instant::now()) {
                return Ok(End::Open(Box::new(job)));
            }
            talk.tell(&job, store, context)?;
            watch.sleep(deadline);
        }
    }
    Ok(bad.map_or(End::Well, End::Badly))
}

/// With success, or not needed: it was to run on a failure, and none came.
fn ended_well(job: &Job) -> bool {
    let seen: Vec<_> = job.dependencies.iter().map(|dependency| dependency.seen).collect();
    let is_spared = || {
        matches!(Readiness::of(&seen), Readiness::Never(Seen { edge, parent })
            if edge.kind == Kind::OnFailure && parent.is_some())
    };
    job.state == State::Success || job.state == State::Skipped && is_spared()
}

/// What was told on the terminal.
#[derive(Default)]
struct Talk {
    said: String,
    looked: Option<Instant>,
}

impl Talk {
    /// Tells what is waited for, if somebody looks and it is new.
    fn tell(
        &mut self,
        job: &Job,
        store: &mut dyn Store,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let is_early = self.looked.is_some_and(|at| at.elapsed() < LOOK);
        if is_early || !io::stderr().is_terminal() {
            return Ok(());
        }
        self.looked = Some(Instant::now());
        let moment = alive::moment(store, &context.data_dir(), context.now())?;
        let why = moment.phase(job).sentence(time::local);
        let line = format!("waiting for job {}: {}", job.id, escape(why.as_bytes()));
        if line != self.said {
            // Whether talk is heard changes nothing about what is done.
            let _ = writeln!(context.err, "{line}");
            self.said = line;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Dependency, Edge};
    use crate::output::example;

    fn ended(state: State, exit_code: Option<i32>, signal: Option<i32>) -> End {
        End::Badly(Box::new(Job { state, exit_code, signal, ..example::job(7) }))
    }

    #[test]
    fn a_job_for_a_failure_that_did_not_come_ended_well() {
        let skipped = |kind, parent| {
            let edge = Edge { parent: JobId(2), kind };
            let seen = Seen { edge, parent: Some(parent) };
            let dependencies = vec![Dependency { child: JobId(7), seen }];
            Job { state: State::Skipped, dependencies, ..example::job(7) }
        };
        assert!(ended_well(&skipped(Kind::OnFailure, State::Success)));
        assert!(!ended_well(&skipped(Kind::After, State::Dead)));
        assert!(!ended_well(&Job { state: State::Cancelled, ..example::job(7) }));
    }

    #[test]
    fn the_exit_code_is_one_or_that_of_the_job() {
        let code = ended(State::Dead, Some(42), None);
        assert_eq!((code.exit(false), code.exit(true)), (1, 42));
        assert_eq!(ended(State::Dead, None, Some(9)).exit(true), 137);
        for odd in [None, Some(0), Some(-1), Some(256)] {
            assert_eq!(ended(State::Cancelled, odd, None).exit(true), 1, "{odd:?}");
        }
        assert_eq!(End::Well.exit(true), 0);
        assert_eq!(End::Open(Box::new(example::job(7))).exit(true), 124);
    }
}
