//! The jobs of a file: who waits for whom, checked before the store is asked.
//!
//! The store checks again, in the transaction that adds them. Looking first
//! tells everything that is wrong at once, by line and key.

use std::collections::{BTreeSet, HashMap};

use super::problems::{Problem, refuse};
use crate::failure::Failure;
use crate::job::{JobId, Kind, NewJob, ParentRef, graph};
use crate::store::{self, Selector};
use crate::suggest::did_you_mean;

/// Jobs of one file and the lines they stand in.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) source: String,
    pub(super) jobs: Vec<NewJob>,
    pub(super) lines: Vec<usize>,
}

/// Asks the store for the jobs that a selector names.
pub(super) type Select<'a> = &'a mut dyn FnMut(&Selector) -> store::Result<Vec<JobId>>;

impl Batch {
    /// Turns keys of the file into places in the batch, and looks for jobs
    /// that do not exist and jobs that wait for each other.
    ///
    /// # Errors
    /// Names all that is wrong, or says why the store cannot be asked.
    pub(super) fn check(&mut self, select: Select<'_>) -> Result<(), Failure> {
        let (keys, mut problems) = self.keys();
        self.resolve(&keys);
        problems.extend(self.missing_keys(&keys, select)?);
        problems.extend(self.missing_ids(select)?);
        problems.extend(self.cycles());
        refuse(&self.source, problems)
    }

    /// Where each key stands; a key that stands twice is a problem.
    fn keys(&self) -> (HashMap<String, usize>, Vec<Problem>) {
        let mut keys = HashMap::with_capacity(self.jobs.len());
        let mut problems = Vec::new();
        for (index, job) in self.jobs.iter().enumerate() {
            let Some(key) = &job.key else { continue };
            if let Some(first) = keys.get(key) {
                let what = format!("{} is also the key of line {}", shown(key), self.lines[*first]);
                problems.push(self.wrong(index, what));
            } else {
                keys.insert(key.clone(), index);
            }
        }
        (keys, problems)
    }

    fn resolve(&mut self, keys: &HashMap<String, usize>) {
        for (parent, _) in self.jobs.iter_mut().flat_map(|job| &mut job.parents) {
            if let ParentRef::Key(key) = parent
                && let Some(index) = keys.get(key)
            {
                *parent = ParentRef::InBatch(*index);
            }
        }
    }

    /// Parents by key that stand neither in the file nor in the store.
    fn missing_keys(
        &self,
        keys: &HashMap<String, usize>,
        select: Select<'_>,
    ) -> Result<Vec<Problem>, Failure> {
        let mut stored: HashMap<&str, bool> = HashMap::new();
        let mut problems = Vec::new();
        for (index, job) in self.jobs.iter().enumerate() {
            for (parent, kind) in &job.parents {
                let ParentRef::Key(key) = parent else { continue };
                if !stored.contains_key(key.as_str()) {
                    let found = !select(&Selector::Key(key.clone()))?.is_empty();
                    stored.insert(key, found);
                }
                if !stored[key.as_str()] {
                    let what = format!("field `{kind}`: no job has the key {}", shown(key));
                    let hint = key_hint(key, keys);
                    problems.push(Problem::missing(self.lines[index], what + &hint));
                }
            }
        }
        Ok(problems)
    }

    /// Parents by id that are not in the store.
    fn missing_ids(&self, select: Select<'_>) -> Result<Vec<Problem>, Failure> {
        let uses = self.jobs.iter().enumerate().flat_map(|(index, job)| {
            job.parents.iter().filter_map(move |(parent, kind)| match parent {
                ParentRef::Id(id) => Some((*id, index, *kind)),
                ParentRef::Key(_) | ParentRef::InBatch(_) => None,
            })
        });
        let uses: Vec<_> = uses.collect();
        let wanted: BTreeSet<JobId> = uses.iter().map(|(id, _, _)| *id).collect();
        let mut missing = wanted.clone();
        for (first, last) in runs(&wanted) {
            for found in select(&Selector::Ids(first, last))? {
                missing.remove(&found);
            }
        }
        let problem = |(id, index, kind): &(JobId, usize, Kind)| {
            let what = format!("field `{kind}`: no such job: {id}");
            missing.contains(id).then(|| Problem::missing(self.lines[*index], what))
        };
        Ok(uses.iter().filter_map(problem).collect())
    }

    fn cycles(&self) -> Vec<Problem> {
        let parents: Vec<Vec<usize>> = self.jobs.iter().map(parents_in_batch).collect();
        let problem = |circle: Vec<usize>| self.wrong(circle[0], self.cycle_text(&circle));
        graph::cycles(&parents).into_iter().map(problem).collect()
    }

    fn wrong(&self, index: usize, what: String) -> Problem {
        Problem::wrong(self.lines[index], what)
    }

    /// `jobs wait for each other: a (line 3) → b (line 7) → a`.
    fn cycle_text(&self, circle: &[usize]) -> String {
        if let [alone] = circle {
            return format!("{} waits for itself", self.title(*alone));
        }
        let step = |index: &usize| format!("{} (line {})", self.title(*index), self.lines[*index]);
        let steps: Vec<String> =
            graph::shown(circle).map(|index| index.map_or("…".to_owned(), step)).collect();
        let first = self.title(circle[0]);
        format!("jobs wait for each other: {} → {first}", steps.join(" → "))
    }

    fn title(&self, index: usize) -> String {
        let job = &self.jobs[index];
        job.key.as_deref().or(job.name.as_deref()).map_or_else(|| "a job".to_owned(), shown)
    }

    /// What the store refused, by line and key.
    pub(super) fn explain(&self, error: store::Error) -> Failure {
        use store::Error as E;
        match error {
            E::InBatch { index, source } => {
                let failure = Failure::from(*source);
                let line = self.lines.get(index).copied().unwrap_or_default();
                let message = format!("{}:{line}: {}", self.source, failure.message);
                Failure { message, ..failure }
            }
            E::BatchCycle { members } if members.iter().all(|index| *index < self.jobs.len()) => {
                let message = self.cycle_text(&members);
                let failure = Failure::from(E::BatchCycle { members });
                Failure { message: format!("{}: {message}", self.source), ..failure }
            }
            E::BatchCycle { .. }
            | E::NoSuchJob(_)
            | E::NoSuchKey(_)
            | E::NoSuchSchedule(_)
            | E::ScheduleExists(_)
            | E::BrokenSchedule { .. }
            | E::WrongState { .. }
            | E::StillBroken { .. }
            | E::NotRunning { .. }
            | E::KeyExists { .. }
            | E::KeyTaken { .. }
            | E::Cycle(_)
            | E::Busy { .. }
            | E::Full(_)
            | E::Unusable { .. } => Failure::from(error),
        }
    }
}

fn parents_in_batch(job: &NewJob) -> Vec<usize> {
    let index = |(parent, _): &(ParentRef, Kind)| match parent {
        ParentRef::InBatch(index) => Some(*index),
        ParentRef::Id(_) | ParentRef::Key(_) => None,
    };
    job.parents.iter().filter_map(index).collect()
}

fn key_hint(key: &str, keys: &HashMap<String, usize>) -> String {
    if key.parse::<JobId>().is_ok() {
        return format!("; an id is written without quotes: {key}");
    }
    did_you_mean(key, keys.keys().map(String::as_str))
}

/// The ids as stretches without a gap.
fn runs(ids: &BTreeSet<JobId>) -> Vec<(JobId, JobId)> {
    let mut runs: Vec<(JobId, JobId)> = Vec::new();
    for id in ids {
        match runs.last_mut() {
            Some((_, last)) if last.0 + 1 == id.0 => *last = *id,
            Some(_) | None => runs.push((*id, *id)),
        }
    }
    runs
}

/// A key or name in a message.
fn shown(text: &str) -> String {
    format!("`{}`", text.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit;
    use crate::job::{Command, EnvBlock, Place, Settings, Timestamp};
    use std::path::Path;

    fn job(key: &str, parents: &[&str]) -> NewJob {
        let place = Place::new(Path::new("/"), 0o022, &EnvBlock::default());
        let parent = |parent: &&str| match parent.parse() {
            Ok(id) => (ParentRef::Id(id), Kind::After),
            Err(_) => (ParentRef::Key((*parent).to_owned()), Kind::After),
        };
        NewJob {
            key: Some(key.to_owned()),
            parents: parents.iter().map(parent).collect(),
            ..Settings::default().job(
                Command::Shell(b"true".to_vec()),
                &place,
                Timestamp::from_millis(0),
            )
        }
    }

    /// A batch with the jobs in lines 1, 2, 3 …
    fn batch(jobs: &[(&str, &[&str])]) -> Batch {
        Batch {
            source: "j".to_owned(),
            jobs: jobs.iter().map(|(key, parents)| job(key, parents)).collect(),
            lines: (1..=jobs.len()).collect(),
        }
    }

    /// A store with the jobs 1 to 9, the last of which has the key `stored`.
    #[expect(clippy::unnecessary_wraps, reason = "a real store may fail")]
    fn select(selector: &Selector) -> store::Result<Vec<JobId>> {
        Ok(match selector {
            Selector::Ids(first, last) => (first.0..=last.0.min(9)).map(JobId).collect(),
            Selector::Key(key) if key == "stored" => vec![JobId(9)],
            Selector::Key(_) => Vec::new(),
            other => panic!("not asked for: {other:?}"),
        })
    }

    fn refusal(jobs: &[(&str, &[&str])]) -> Failure {
        batch(jobs).check(&mut select).expect_err("something is wrong")
    }

    #[test]
    fn a_key_of_the_file_is_found_also_in_a_later_line() {
        let mut batch = batch(&[("a", &["b", "stored", "7"]), ("b", &[])]);
        batch.check(&mut select).expect("nothing is wrong");
        let parents: Vec<_> = batch.jobs[0].parents.iter().map(|(parent, _)| parent).collect();
        let stored = ParentRef::Key("stored".to_owned());
        assert_eq!(parents, [&ParentRef::InBatch(1), &stored, &ParentRef::Id(JobId(7))]);
    }

    #[test]
    fn a_missing_parent_is_named_by_line_and_key() {
        let failure = refusal(&[("fetch", &[]), ("b", &["fetsh"])]);
        let message = "j:2: field `after`: no job has the key `fetsh`; did you mean `fetch`?";
        assert_eq!((failure.message.as_str(), failure.exit), (message, exit::NOT_FOUND));
        let failure = refusal(&[("a", &["12"])]);
        assert_eq!(failure.message, "j:1: field `after`: no such job: 12");
    }

    #[test]
    fn a_cycle_and_a_missing_parent_are_told_together() {
        let failure = refusal(&[("a", &["c"]), ("b", &["gone"]), ("c", &["a"])]);
        let message = "nothing was added: j has 2 problems\n  \
            j:1: jobs wait for each other: `a` (line 1) → `c` (line 3) → `a`\n  \
            j:2: field `after`: no job has the key `gone`";
        assert_eq!((failure.message.as_str(), failure.exit), (message, exit::USAGE));
    }

    #[test]
    fn a_job_that_waits_for_itself_is_refused() {
        assert_eq!(refusal(&[("a", &["a"])]).message, "j:1: `a` waits for itself");
    }

    #[test]
    fn a_key_stands_once_in_a_file() {
        let failure = refusal(&[("a", &[]), ("b", &[]), ("a", &[])]);
        assert_eq!(failure.message, "j:3: `a` is also the key of line 1");
    }

    #[test]
    fn what_the_store_refuses_is_told_by_line() {
        let batch = batch(&[("a", &[]), ("b", &[])]);
        let source = Box::new(store::Error::NoSuchKey("gone".to_owned()));
        let failure = batch.explain(store::Error::InBatch { index: 1, source });
        assert_eq!(failure.message, "j:2: no job has the key `gone`");
        assert_eq!(failure.exit, exit::NOT_FOUND);
        let failure = batch.explain(store::Error::BatchCycle { members: vec![1, 0] });
        let circle = "j: jobs wait for each other: `b` (line 2) → `a` (line 1) → `b`";
        assert_eq!(failure.message, circle);
    }

    #[test]
    fn ids_are_asked_for_in_stretches() {
        let ids = [1, 2, 3, 7, 9, 10].map(JobId).into_iter().collect();
        let stretches = [(1, 3), (7, 7), (9, 10)].map(|(a, b)| (JobId(a), JobId(b)));
        assert_eq!(runs(&ids), stretches);
    }
}
