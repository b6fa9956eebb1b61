//! `ax logs`: shows what jobs printed, also while they run.
//!
//! Of an output that grew over its limit the beginning and the end are shown,
//! and how much is missing between them. Of one job the bytes are as it wrote
//! them in a pipe; of several jobs each line has the name of its job before
//! it. On a terminal control characters are escaped.

mod follower;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::watch::Watch;
use super::{Answer, Context, select, unprinted, wait};
use crate::cli::LogsArgs;
use crate::escape::Escaping;
use crate::exit;
use crate::failure::Failure;
use crate::job::{Attempt, Job, JobId};
use crate::output;
use crate::output::voice::Voice;
use crate::store::{Error, Store};

use follower::{Follower, Scene, Step, was_started};

/// Between two looks at what is followed.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) fn run(args: LogsArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let selectors = select::parse(&args.selectors)?;
    let mut store = context.store()?;
    let store = store.as_mut();
    let ids = select::ids(store, &selectors)?;
    if let (Some(number), [_, _, ..]) = (args.attempt, ids.as_slice()) {
        let what = format!("--attempt {number} is about one job, and {} are named", ids.len());
        return Err(Failure::usage(what).hint("name one job by its id"));
    }
    let followers = followers(&args, &ids, store, context)?;
    pass_on(followers, args.follow, store, context)?;
    if args.follow && args.attempt.is_none() {
        return wait::until_ended(&ids, None, store, context)?.answer(false);
    }
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
    pass_on(vec![Follower::of(job, Voice::alone())], true, store, context)
}

/// Who follows what. A job that was not started is waited for with `--follow`,
/// and else left out if others were.
fn followers(
    args: &LogsArgs,
    ids: &[JobId],
    store: &mut dyn Store,
    context: &Context<'_>,
) -> Result<Vec<Follower>, Failure> {
    let mut followers = Vec::new();
    for (job, voice) in ids.iter().zip(voices(ids, store, context)?) {
        let follower = Follower::of(*job, voice).last_lines(args.lines);
        match first(&store.attempts(*job)?, args.attempt) {
            Some(first) if args.follow && args.attempt.is_none() => {
                followers.push(follower.beginning_with(first));
            }
            Some(only) => followers.push(follower.with_only(only)),
            None if args.follow && args.attempt.is_none() => followers.push(follower),
            None => (),
        }
    }
    match ids {
        [job] if followers.is_empty() => Err(no_attempt(*job, args.attempt)),
        many if followers.is_empty() => {
            let what = format!("none of these {} jobs has been started", many.len());
            Err(Failure::not_found(what).hint("`ax list` says what they wait for"))
        }
        _ => Ok(followers),
    }
}

/// A job that is named alone is heard as it speaks.
fn voices(
    ids: &[JobId],
    store: &mut dyn Store,
    context: &Context<'_>,
) -> Result<Vec<Voice>, Failure> {
    if let [_] = ids {
        return Ok(vec![Voice::alone()]);
    }
    let get = |id: &JobId| store.get(*id)?.ok_or(Error::NoSuchJob(*id));
    let jobs: Vec<Job> = ids.iter().map(get).collect::<Result<_, _>>()?;
    let color = output::style(context.color, &io::stdout()).color;
    Ok(Voice::among(&jobs, color, io::stdout().is_terminal()))
}

/// The attempt that was asked for, or the last one that was started.
fn first(history: &[Attempt], wanted: Option<u32>) -> Option<u32> {
    let found = match wanted {
        Some(number) => history.iter().find(|one| one.attempt == number),
        None => history.iter().rev().find(|one| was_started(one)),
    };
    found.map(|one| one.attempt)
}

fn no_attempt(job: JobId, wanted: Option<u32>) -> Failure {
    match wanted {
        Some(number) => Failure::not_found(format!("job {job} has no attempt {number}"))
            .hint(format!("`ax show {job}` lists its attempts")),
        None => Failure::not_found(format!("job {job} has not been started"))
            .hint(format!("`ax show {job}` says why")),
    }
}

/// Passes on what the jobs print, until all of it was shown or, if they are
/// followed, until all of them are over.
///
/// # Errors
/// When the store cannot be read or nobody takes what is shown; in the end if
/// the output of one of the jobs is gone.
fn pass_on(
    followers: Vec<Follower>,
    follow: bool,
    store: &mut dyn Store,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let (dir, mut watch) = (context.data_dir(), Watch::of(&context.db));
    let is_raw = matches!(followers.as_slice(), [one] if one.is_alone());
    let Context { out, err, .. } = context;
    let mut out = BufWriter::new(out);
    if is_raw && io::stdout().is_terminal() {
        let mut escaping = Escaping::new(&mut out);
        let scene = Scene { store, dir, out: &mut escaping, err, follow, has_news: true };
        until_over(followers, scene, &mut watch)?;
        escaping.finish().map_err(unprinted)?;
    } else {
        let scene = Scene { store, dir, out: &mut out, err, follow, has_news: true };
        until_over(followers, scene, &mut watch)?;
    }
    out.flush().map_err(unprinted)
}

fn until_over(
    mut followers: Vec<Follower>,
    mut scene: Scene<'_>,
    watch: &mut Watch,
) -> Result<(), Failure> {
    let mut lost = None;
    loop {
        let mut open = Vec::new();
        for mut follower in followers {
            match follower.step(&mut scene)? {
                Step::Goes => open.push(follower),
                Step::Over => (),
                Step::Lost(failure) => lost = lost.or(Some(failure)),
            }
        }
        scene.out.flush().map_err(unprinted)?;
        if open.is_empty() {
            return lost.map_or(Ok(()), Err);
        }
        followers = open;
        pause()?;
        scene.has_news = watch.has_news();
    }
}

/// Pauses, and notices when nobody reads any more.
fn pause() -> Result<(), Failure> {
    let out = io::stdout();
    let timeout = PollTimeout::try_from(PAUSE).unwrap_or(PollTimeout::MAX);
    let mut gone = [PollFd::new(out.as_fd(), PollFlags::empty())];
    match poll(&mut gone, timeout) {
        Ok(1..) => Err(Failure::closed_pipe()),
        Ok(_) | Err(_) => Ok(()),
    }
}
