//! How a person names jobs: selectors, and the ids they stand for.
//!
//! What is no selector is a usage error; a selector that names nothing is
//! "not found". Nobody acts on a part of what was named.

use crate::failure::Failure;
use crate::job::{JobId, State};
use crate::store::{self, Query, Selector, Store};

const FORMS: &str = "selectors are 12, 3-7, 1,2,5-8, last, all, name:GLOB, key:K, status:dead, flow:NAME, \
     group:NAME, schedule:NAME";

/// Reads selectors.
///
/// # Errors
/// A usage error names the word that is none.
pub(super) fn parse(words: &[String]) -> Result<Vec<Selector>, Failure> {
    let mut selectors = Vec::new();
    for word in words {
        match word.split_once(':') {
            Some((field, value)) => selectors.extend(by_field(word, field, value)?),
            None => {
                for part in word.split(',') {
                    selectors.push(by_id(part)?);
                }
            }
        }
    }
    Ok(selectors)
}

fn by_field(word: &str, field: &str, value: &str) -> Result<Vec<Selector>, Failure> {
    if value.is_empty() {
        return Err(no_selector(word));
    }
    let state = |name: &str| name.parse().map(Selector::Status).map_err(Failure::usage);
    match field {
        "name" => Ok(vec![Selector::Name(value.to_owned())]),
        "key" => Ok(vec![Selector::Key(value.to_owned())]),
        "flow" => Ok(vec![Selector::Flow(value.to_owned())]),
        "group" => Ok(vec![Selector::Group(value.to_owned())]),
        "schedule" => Ok(vec![Selector::Schedule(value.to_owned())]),
        "status" => value.split(',').map(state).collect(),
        _ => Err(no_selector(word)),
    }
}

fn by_id(part: &str) -> Result<Selector, Failure> {
    match part {
        "last" => return Ok(Selector::Last),
        "all" => return Ok(Selector::All),
        _ => (),
    }
    if !part.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(no_selector(part));
    }
    match part.split_once('-') {
        None => {
            let id = job_id(part)?;
            Ok(Selector::Ids(id, id))
        }
        Some((first, last)) => {
            let (first, last) = (job_id(first)?, job_id(last)?);
            if first > last {
                return Err(Failure::usage(format!("the range {part} runs backwards"))
                    .hint(format!("{last}-{first} is the other way round")));
            }
            Ok(Selector::Ids(first, last))
        }
    }
}

fn no_selector(word: &str) -> Failure {
    Failure::usage(format!("`{}` is not a selector", word.escape_debug())).hint(FORMS)
}

/// Reads one plain job id.
///
/// # Errors
/// A usage error when it is none.
pub(super) fn job_id(text: &str) -> Result<JobId, Failure> {
    text.parse().map_err(Failure::usage)
}

/// The ids that the selectors name, each once, in the order of the selectors.
///
/// # Errors
/// "Not found" if one of them names nothing.
pub(super) fn ids(store: &mut dyn Store, selectors: &[Selector]) -> Result<Vec<JobId>, Failure> {
    let mut ids = Vec::new();
    for selector in selectors {
        let found = store.select(selector)?;
        if found.is_empty() {
            return Err(not_found(selector));
        }
        ids.extend(found);
    }
    Ok(each_once(ids))
}

/// The one job that a selector names.
///
/// # Errors
/// A usage error if it names several, "not found" if it names none.
pub(super) fn one(store: &mut dyn Store, word: &str) -> Result<JobId, Failure> {
    let selectors = parse(std::slice::from_ref(&word.to_owned()))?;
    match ids(store, &selectors)?.as_slice() {
        [job] => Ok(*job),
        many => {
            let count = many.len();
            Err(Failure::usage(format!("`{word}` names {count} jobs, and only one can be meant")))
        }
    }
}

/// Like [`ids`], but a selector that names jobs by a property leaves out those
/// whose state does not fit, unless none fits. Who types a number means that
/// very job, and is told that it cannot be.
///
/// # Errors
/// "Not found" if one of the selectors names nothing.
pub(super) fn fitting(
    store: &mut dyn Store,
    selectors: &[Selector],
    fits: &dyn Fn(State) -> bool,
) -> Result<Vec<JobId>, Failure> {
    let states: Vec<State> = State::ALL.into_iter().filter(|state| fits(*state)).collect();
    let mut ids = Vec::new();
    for selector in selectors {
        let mut found =
            if is_property(selector) { in_states(store, selector, &states)? } else { Vec::new() };
        if found.is_empty() {
            found = self::ids(store, std::slice::from_ref(selector))?;
        }
        ids.extend(found);
    }
    Ok(each_once(ids))
}

/// Tells whether all of them name jobs by a property.
pub(super) fn are_properties(selectors: &[Selector]) -> bool {
    !selectors.is_empty() && selectors.iter().all(is_property)
}

const fn is_property(selector: &Selector) -> bool {
    match selector {
        Selector::Ids(..) | Selector::Last => false,
        Selector::All
        | Selector::Name(_)
        | Selector::Key(_)
        | Selector::Status(_)
        | Selector::Flow(_)
        | Selector::Group(_)
        | Selector::Schedule(_) => true,
    }
}

/// The jobs in these states that a selector names.
fn in_states(
    store: &mut dyn Store,
    selector: &Selector,
    states: &[State],
) -> Result<Vec<JobId>, Failure> {
    let selectors = vec![selector.clone()];
    let query = Query { selectors, states: states.to_vec(), ..Query::default() };
    Ok(store.list(&query)?.into_iter().map(|job| job.id).collect())
}

/// Every job that has failed: one that a person holds has not.
///
/// # Errors
/// "Not found" if there is none.
pub(super) fn failed(store: &mut dyn Store) -> Result<Vec<JobId>, Failure> {
    let failures = store.failures(&Query::default())?;
    if failures.is_empty() {
        return Err(Failure::not_found("no job has failed"));
    }
    Ok(failures.into_iter().map(|failed| failed.job).collect())
}

fn each_once(ids: Vec<JobId>) -> Vec<JobId> {
    let mut seen = std::collections::HashSet::new();
    ids.into_iter().filter(|id| seen.insert(*id)).collect()
}

/// The failure to find any job that a selector names.
pub(super) fn not_found(selector: &Selector) -> Failure {
    let what = match selector {
        Selector::Ids(first, last) if first == last => {
            return store::Error::NoSuchJob(*first).into();
        }
        Selector::Key(key) => return store::Error::NoSuchKey(key.clone()).into(),
        Selector::Ids(first, last) => format!("no job has an id from {first} to {last}"),
        Selector::Last | Selector::All => "there are no jobs".to_owned(),
        Selector::Name(glob) => format!("no job has a name like `{glob}`"),
        Selector::Status(state) => format!("no job is {state}"),
        Selector::Flow(name) => format!("no job belongs to a flow `{name}`"),
        Selector::Group(name) => format!("no job belongs to a group `{name}`"),
        Selector::Schedule(name) => format!("no job was started by a schedule `{name}`"),
    };
    Failure::not_found(what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit;

    fn parsed(words: &[&str]) -> Result<Vec<Selector>, Failure> {
        parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    fn range(first: i64, last: i64) -> Selector {
        Selector::Ids(JobId(first), JobId(last))
    }

    #[test]
    fn ids_and_ranges_may_stand_in_one_word_or_in_several() {
        let want = vec![range(1, 1), range(2, 2), range(5, 8)];
        assert_eq!(parsed(&["1,2,5-8"]), Ok(want.clone()));
        assert_eq!(parsed(&["1", "2", "5-8"]), Ok(want));
    }

    #[test]
    fn words_and_fields_name_jobs_too() {
        let want = vec![
            Selector::Last,
            Selector::All,
            Selector::Name("a:b,*".to_owned()),
            Selector::Key("k-1".to_owned()),
            Selector::Status(State::Dead),
            Selector::Status(State::Held),
            Selector::Flow("nightly".to_owned()),
        ];
        let words = ["last", "all", "name:a:b,*", "key:k-1", "status:dead,held", "flow:nightly"];
        assert_eq!(parsed(&words), Ok(want));
    }

    #[test]
    fn nonsense_is_a_usage_error() {
        let words = [
            "",
            " ",
            "-1",
            "+1",
            "0",
            "1e9",
            "0x1",
            " 1",
            "1 ",
            "1 2",
            "1,,2",
            "1,",
            "1-",
            "-",
            "3-x",
            "1-2-3",
            "７",
            "99999999999999999999",
            "1 or 1=1",
            "1; drop table ax_jobs",
            "all-of-them",
            "backup",
            "name:",
            "key:",
            "status:",
            "status:Dead",
            "color:red",
            "status:failed' or '1'='1",
        ];
        for word in words {
            assert_eq!(parsed(&[word]).map_err(|failure| failure.exit), Err(exit::USAGE), "{word}");
        }
    }

    #[test]
    fn a_range_that_runs_backwards_is_turned_round_by_the_hint() {
        let failure = parsed(&["7-3"]).expect_err("runs backwards");
        assert_eq!(failure.hint.as_deref(), Some("3-7 is the other way round"));
    }

    #[test]
    fn who_finds_nothing_is_told_what_was_looked_for() {
        let failure = not_found(&range(999, 999));
        assert_eq!((failure.exit, failure.message.as_str()), (3, "no such job: 999"));
        let failure = not_found(&Selector::Status(State::Dead));
        assert_eq!((failure.exit, failure.message.as_str()), (3, "no job is dead"));
    }

    #[test]
    fn a_job_that_is_named_twice_is_there_once() {
        let ids = [3, 1, 3, 2, 1].map(JobId).to_vec();
        assert_eq!(each_once(ids), [3, 1, 2].map(JobId));
    }
}
