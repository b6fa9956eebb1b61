//! `ax failures`: what failed, one row a cause.

use std::collections::HashMap;

use super::list::{check_ids, point};
use super::{Answer, Context, select};
use crate::cli::FailuresArgs;
use crate::escape::last_line;
use crate::failure::Failure;
use crate::job::{Cause, CauseId, JobId};
use crate::output::failures::{Alike, Failures};
use crate::store::{Failed, Query, Store};

pub(super) fn run(args: FailuresArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let now = context.now();
    let query = Query {
        selectors: select::parse(&args.selectors)?,
        name: args.name,
        since: args.since.map(|since| point(since, now)),
        ..Query::default()
    };
    let mut store = context.store()?;
    let store = store.as_mut();
    check_ids(store, &query.selectors)?;
    let mut causes = ranked(store.failures(&query)?);
    let shown = args.limit.unwrap_or(causes.len()).min(causes.len());
    let more = causes.split_off(shown).len();
    for alike in &mut causes {
        alike.title = store.get(alike.example())?.map(|job| job.title()).unwrap_or_default();
    }
    Ok(Answer::new(Failures { causes, more, now }, args.show))
}

/// The failures by their causes: what most jobs failed of first, of several the
/// one that came last.
fn ranked(failures: Vec<Failed>) -> Vec<Alike> {
    let mut causes: HashMap<Cause, Alike> = HashMap::new();
    for mut failed in failures {
        let error = last_line(failed.error.unwrap_or_default().as_bytes());
        let cause = Cause::of(failed.end.clone(), &error);
        failed.error = Some(error);
        match causes.get_mut(&cause) {
            Some(alike) => alike.add(&failed),
            None => {
                causes.insert(cause.clone(), Alike::new(cause, &failed));
            }
        }
    }
    let mut ranked: Vec<_> = causes.into_values().collect();
    ranked.sort_by(|one, other| {
        let key = |alike: &Alike| (alike.jobs.len(), alike.last, alike.example());
        key(other).cmp(&key(one))
    });
    ranked
}

/// The jobs that failed of the causes whose ids begin like this.
///
/// # Errors
/// A usage error if it can begin none, or begins several; "not found" if
/// nothing failed of it.
pub(super) fn jobs_of(store: &mut dyn Store, words: &[String]) -> Result<Vec<JobId>, Failure> {
    if let Some(word) = words.iter().find(|word| !CauseId::may_begin_with(word)) {
        let what = format!("`{}` is not the id of a cause", word.escape_debug());
        return Err(Failure::usage(what).hint("`ax failures` shows the causes and their ids"));
    }
    let causes = ranked(store.failures(&Query::default())?);
    let mut jobs = Vec::new();
    for word in words {
        jobs.extend(&one(&causes, word)?.jobs);
    }
    jobs.sort_unstable();
    jobs.dedup();
    Ok(jobs)
}

fn one<'a>(causes: &'a [Alike], word: &str) -> Result<&'a Alike, Failure> {
    let meant: Vec<_> =
        causes.iter().filter(|alike| alike.cause.id().as_str().starts_with(word)).collect();
    match meant.as_slice() {
        [one] => Ok(one),
        [] => Err(Failure::not_found(format!("nothing failed of a cause `{word}`"))
            .hint("`ax failures` shows the causes there are")),
        many => {
            let ids: Vec<_> = many.iter().map(|alike| alike.cause.id().to_string()).collect();
            let count = many.len();
            let what = format!("`{word}` begins the ids of {count} causes, and one must be meant");
            Err(Failure::usage(what).hint(format!("they are {}", ids.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit;
    use crate::output::example::after;

    fn failed(job: i64, end: &str, error: &str, seconds: i64) -> Failed {
        Failed {
            job: JobId(job),
            end: Some(end.to_owned()),
            error: Some(error.to_owned()),
            at: Some(after(seconds)),
        }
    }

    #[test]
    fn failures_of_one_cause_are_counted_from_the_first_to_the_last() {
        let causes = ranked(vec![
            failed(1, "exit 1", "part 1 failed", 10),
            failed(2, "exit 2", "part 2 failed", 90),
            failed(3, "exit 1", "part 3 failed", 5),
            failed(4, "exit 1", "part 4 failed", 7),
        ]);
        let jobs: Vec<_> = causes.iter().map(|alike| alike.jobs.clone()).collect();
        assert_eq!(jobs, [[1, 3, 4].map(JobId).to_vec(), vec![JobId(2)]]);
        assert_eq!((causes[0].first, causes[0].last), (Some(after(5)), Some(after(10))));
        assert_eq!(causes[0].example(), JobId(1), "the one that failed last");
    }

    #[test]
    fn of_causes_with_as_many_jobs_the_last_one_comes_first() {
        let causes = ranked(vec![
            failed(1, "exit 1", "a", 20),
            failed(2, "exit 1", "b", 30),
            failed(3, "exit 1", "c", 10),
        ]);
        let examples: Vec<_> = causes.iter().map(|alike| alike.example().0).collect();
        assert_eq!(examples, [2, 1, 3]);
    }

    #[test]
    fn the_beginning_of_an_id_is_enough_unless_it_begins_another_one() {
        let letters = "abcdefghijklmnopqrstuvwxyz".chars();
        let many = letters.map(|letter| failed(1, "exit 1", &letter.to_string(), 0)).collect();
        let causes = ranked(many);
        let whole = causes[0].cause.id();
        assert_eq!(one(&causes, whole.as_str()).map(|alike| alike.cause.id()), Ok(whole));
        // Of 26 ids in 16 letters two begin alike.
        let first = |alike: &Alike| alike.cause.id().as_str()[..1].to_owned();
        let twice = causes
            .iter()
            .find(|one| causes.iter().filter(|other| first(one) == first(other)).count() > 1);
        let failure = one(&causes, &first(twice.expect("pigeons"))).expect_err("two begin so");
        assert_eq!(failure.exit, exit::USAGE);
        let one = ranked(vec![failed(1, "exit 1", "x", 0)]);
        assert_eq!(super::one(&one, &first(&one[0])).map(Alike::example), Ok(JobId(1)));
        let other = if first(&one[0]) == "b" { "c" } else { "b" };
        let failure = super::one(&one, other).expect_err("nothing begins so");
        assert_eq!(failure.exit, exit::NOT_FOUND);
    }
}
