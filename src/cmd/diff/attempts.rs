//! Which attempts are compared.

use super::select;
use crate::failure::Failure;
use crate::job::{Attempt, Job, JobId, Outcome, Verdict};
use crate::output::diff::Side;
use crate::store::{Error, Selector, Store};

/// Two attempts.
pub(super) struct Pair {
    pub(super) one: Side,
    pub(super) other: Side,
}

/// How an attempt went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Well,
    Badly,
}

impl How {
    /// `None` for an attempt that has not ended, that a person or a shutdown
    /// ended, or that asked to come again later.
    fn of(job: &Job, attempt: &Attempt) -> Option<Self> {
        let well = Outcome::Exited(0).as_str();
        attempt.ended_at?;
        let outcome = attempt.outcome.as_deref()?;
        match attempt.exit_code {
            Some(0) => Some(Self::Well),
            Some(code) => {
                let verdict = job.policy.judge(&Outcome::Exited(code), job.updated_at);
                (!matches!(verdict, Verdict::Later(_))).then_some(Self::Badly)
            }
            None if outcome == well => None,
            None => {
                let neither = [Outcome::Cancelled, Outcome::Interrupted];
                (!neither.iter().any(|end| end.as_str() == outcome)).then_some(Self::Badly)
            }
        }
    }
}

/// The last attempt that ended of the job that a word names, or the one that it
/// names as `JOB.ATTEMPT`.
///
/// # Errors
/// When there is none.
pub(super) fn last(store: &mut dyn Store, word: &str) -> Result<Side, Failure> {
    if let Some((job, number)) = named(word)? {
        let job = get(store, job)?;
        let history = store.attempts(job.id)?;
        return history.into_iter().find(|one| one.attempt == number).map_or_else(
            || {
                let what = format!("job {} has no attempt {number}", job.id);
                Err(Failure::not_found(what)
                    .hint(format!("`ax show {}` lists its attempts", job.id)))
            },
            |attempt| Ok(Side { job: job.clone(), attempt }),
        );
    }
    let job = select::one(store, word)?;
    let job = get(store, job)?;
    let ended = store.attempts(job.id)?.into_iter().rfind(|one| one.ended_at.is_some());
    match ended {
        Some(attempt) => Ok(Side { job, attempt }),
        None => Err(Failure::not_found(format!("no attempt of job {} has ended", job.id))
            .hint(format!("`ax show {}` says what it does", job.id))),
    }
}

/// Reads `JOB.ATTEMPT`; `None` if a word is no such thing.
fn named(word: &str) -> Result<Option<(JobId, u32)>, Failure> {
    match word.split_once('.') {
        Some((job, attempt)) if attempt.bytes().all(|byte| byte.is_ascii_digit()) => {
            let Ok(job) = job.parse() else { return Ok(None) };
            let number = attempt.parse().ok().filter(|number| *number > 0);
            number.map(|number| Some((job, number))).ok_or_else(|| {
                Failure::usage(format!("`{word}` names no attempt"))
                    .hint("they are numbered from 1: 12.1")
            })
        }
        Some(_) | None => Ok(None),
    }
}

/// The last attempts that went well and badly of the jobs that a word names. What
/// one job has not is looked for among those that do the same: the others of its
/// schedule that have its name, else all that have it.
///
/// # Errors
/// When there is none that went well, or none that went badly.
pub(super) fn good_and_bad(store: &mut dyn Store, word: &str) -> Result<Pair, Failure> {
    if let Some((id, _)) = named(word)? {
        let hint = format!(
            "`ax diff {id}` compares its last good with its last bad one, and `ax diff {word} {id}` this one with its last"
        );
        return Err(
            Failure::usage(format!("`{word}` is one attempt, and two are compared")).hint(hint)
        );
    }
    let selectors = select::parse(&[word.to_owned()])?;
    let mut ids = select::ids(store, &selectors)?;
    let mut found = [find(store, &ids, How::Well)?, find(store, &ids, How::Badly)?];
    if let [id] = ids.as_slice()
        && found.iter().flatten().count() == 1
    {
        let job = get(store, *id)?;
        ids = peers(store, &job)?;
        for (found, how) in found.iter_mut().zip([How::Well, How::Badly]) {
            if found.is_none() {
                *found = find(store, &ids, how)?;
            }
        }
    }
    match found {
        [Some(one), Some(other)] => Ok(Pair { one, other }),
        [None, Some(bad)] => Err(lacks(&bad, "ended well")),
        [Some(good), None] => Err(lacks(&good, "failed")),
        [None, None] => {
            Err(Failure::not_found(format!("no attempt of `{word}` ended well or failed"))
                .hint(format!("`ax list {word}` shows where it stands")))
        }
    }
}

/// The failure to find the other side.
fn lacks(there: &Side, what: &str) -> Failure {
    let Side { job, attempt } = there;
    let like = match (&job.schedule, &job.name) {
        (Some(schedule), _) => {
            format!(", nor any other of the schedule `{}`", schedule.escape_debug())
        }
        (None, Some(name)) => format!(", nor any other named `{}`", name.escape_debug()),
        (None, None) => String::new(),
    };
    Failure::not_found(format!("no attempt of job {} {what}{like}", job.id)).hint(format!(
        "`ax logs {} --attempt {}` shows the one there is, and `ax diff {} OTHER` compares it with another",
        job.id, attempt.attempt, job.id
    ))
}

/// The last attempt of these jobs that went so: of the job that was added last.
fn find(store: &mut dyn Store, ids: &[JobId], how: How) -> Result<Option<Side>, Failure> {
    let mut newest = ids.to_vec();
    newest.sort_unstable_by(|one, other| other.cmp(one));
    for id in newest {
        let job = get(store, id)?;
        let attempts = store.attempts(id)?;
        if let Some(attempt) = attempts.into_iter().rfind(|one| How::of(&job, one) == Some(how)) {
            return Ok(Some(Side { job, attempt }));
        }
    }
    Ok(None)
}

/// The jobs that do the same as this one, itself left out.
fn peers(store: &mut dyn Store, job: &Job) -> Result<Vec<JobId>, Failure> {
    let selector = match (&job.schedule, &job.name) {
        (Some(schedule), _) => Selector::Schedule(literal(schedule)),
        (None, Some(name)) => Selector::Name(literal(name)),
        (None, None) => return Ok(Vec::new()),
    };
    let mut peers = Vec::new();
    for id in store.select(&selector)? {
        if id != job.id && get(store, id)?.title() == job.title() {
            peers.push(id);
        }
    }
    Ok(peers)
}

/// A glob that nothing matches but this text.
fn literal(text: &str) -> String {
    let mut glob = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '*' | '?' | '[' => glob.extend(['[', char, ']']),
            _ => glob.push(char),
        }
    }
    glob
}

fn get(store: &mut dyn Store, id: JobId) -> Result<Job, Failure> {
    Ok(store.get(id)?.ok_or(Error::NoSuchJob(id))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_named_by_its_job_and_its_number() {
        assert_eq!(named("12.3"), Ok(Some((JobId(12), 3))));
        for word in ["12", "name:a.3", "last", "12.x", "x.3"] {
            assert_eq!(named(word), Ok(None), "{word}");
        }
        assert!(
            named("12.0").is_err() && named("12.").is_err() && named("12.99999999999").is_err()
        );
    }

    #[test]
    fn a_name_that_looks_like_a_glob_stands_for_itself() {
        assert_eq!(literal("a*b?[c]"), "a[*]b[?][[]c]");
    }
}
