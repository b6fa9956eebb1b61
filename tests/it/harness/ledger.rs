//! What jobs write of themselves: a line at their start and one at their end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Shell text of a job that writes its start and its end into the ledger, with
/// something between.
pub(crate) fn noted(between: &str) -> String {
    let line = |what: &str| format!("echo \"{what} $AX_JOB_ID $AX_ATTEMPT\" >> ledger");
    format!("{}; {between}; {}", line("start"), line("end"))
}

/// The lines of all jobs, in the order in which they were written.
pub(crate) struct Ledger(Vec<Line>);

struct Line {
    is_start: bool,
    job: i64,
    attempt: u32,
}

impl Ledger {
    pub(super) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        Self(text.lines().map(Line::read).collect())
    }

    /// The jobs in the order of their starts.
    pub(crate) fn starts(&self) -> Vec<i64> {
        self.0.iter().filter(|line| line.is_start).map(|line| line.job).collect()
    }

    /// The jobs in the order of their ends.
    pub(crate) fn ends(&self) -> Vec<i64> {
        self.0.iter().filter(|line| !line.is_start).map(|line| line.job).collect()
    }

    /// Makes sure that no attempt was started twice, and none while another
    /// one of its job ran.
    #[track_caller]
    pub(crate) fn check(&self) {
        let mut known = BTreeSet::new();
        let mut running = BTreeMap::new();
        for Line { is_start, job, attempt } in &self.0 {
            if *is_start {
                assert!(known.insert((job, attempt)), "{job}.{attempt} was started twice");
                let other = running.insert(job, attempt);
                assert_eq!(other, None, "{job}.{attempt} was started beside another attempt");
            } else {
                assert_eq!(running.remove(job), Some(attempt), "{job}.{attempt} ended unstarted");
            }
        }
    }
}

impl Line {
    fn read(line: &str) -> Self {
        let words: Vec<&str> = line.split(' ').collect();
        let [what, job, attempt] = words[..] else { panic!("a line of three words: {line}") };
        Self {
            is_start: what == "start",
            job: job.parse().expect("an id"),
            attempt: attempt.parse().expect("a number"),
        }
    }
}
