//! The proof that nothing was lost and nothing done twice.
//!
//! Jobs of [`shapes`] write what happens to them into a ledger. When all is
//! quiet a [`Proof`] gathers the ledger, the database and the processes that
//! are left, and holds them against every one of the [`promises`].

mod facts;
mod lines;
mod promises;
pub(crate) mod shapes;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ax_scheduler::exec::process;
use rusqlite::Connection;

use facts::{Attempt, Edge, Job};
use lines::Line;

/// Exit codes that are documented, and the one of `ax wait`.
const DOCUMENTED: [i32; 7] = [0, 1, 2, 3, 4, 5, 124];

/// All that is known once everything is quiet.
pub(crate) struct Proof {
    /// The ids that `ax add` printed.
    acknowledged: BTreeSet<i64>,
    jobs: Vec<Job>,
    edges: Vec<Edge>,
    attempts: Vec<Attempt>,
    ledger: Vec<Line>,
    /// What SQLite finds wrong with the file.
    damage: Vec<String>,
    /// Processes of attempts that are still there.
    survivors: Vec<String>,
    /// The exit codes of all commands.
    exits: Vec<i32>,
}

/// A promise that was not kept: a sentence about a job, or about none.
struct Breach {
    job: Option<i64>,
    what: String,
}

impl Breach {
    fn of(job: i64, what: impl Into<String>) -> Self {
        Self { job: Some(job), what: what.into() }
    }
}

impl Proof {
    /// Gathers what there is in the directory of the ledger and in the
    /// database; `acknowledged` and `exits` are what the commands answered.
    pub(crate) fn gather(
        ledger: &Path,
        db: &Path,
        acknowledged: impl IntoIterator<Item = i64>,
        exits: Vec<i32>,
    ) -> Self {
        let connection = Connection::open(db).expect("the database can be opened");
        Self {
            acknowledged: acknowledged.into_iter().collect(),
            jobs: facts::jobs(&connection),
            edges: facts::edges(&connection),
            attempts: facts::attempts(&connection),
            damage: facts::damage(&connection),
            ledger: lines::read(ledger),
            survivors: survivors(db),
            exits,
        }
    }

    /// Fails with everything that is not as it was promised.
    #[track_caller]
    pub(crate) fn check(&self) {
        let mut told = String::new();
        for (sentence, promise) in promises::ALL {
            for Breach { job, what } in promise(self) {
                told += &format!("\n{}: {what}\n", sentence.replace('_', " "));
                told += &job.map(|job| self.story(job)).unwrap_or_default();
            }
        }
        assert!(told.is_empty(), "{told}");
    }

    /// What became of the jobs, in figures.
    pub(crate) fn figures(&self) -> String {
        let in_state = |state: &str| self.jobs.iter().filter(|job| job.state == state).count();
        let states = ["success", "dead", "skipped", "held", "pending"];
        let states: Vec<_> =
            states.iter().map(|state| format!("{} {state}", in_state(state))).collect();
        let starts = self.ledger.iter().filter(|line| line.is_start()).count();
        let is = |one: &Attempt, how: &str| one.outcome.as_deref() == Some(how);
        let ended = |how: &str| self.attempts.iter().filter(|one| is(one, how)).count();
        format!(
            "{} jobs ({}), {starts} starts, {} attempts lost, {} timed out, {} interrupted",
            self.jobs.len(),
            states.join(", "),
            ended("lost"),
            ended("timed out"),
            ended("interrupted"),
        )
    }

    fn story(&self, id: i64) -> String {
        let mut told = String::new();
        for job in self.jobs.iter().filter(|job| job.id == id) {
            told += &format!("  {job:?}\n");
        }
        for edge in self.edges.iter().filter(|edge| edge.child == id) {
            told += &format!("  {edge:?}\n");
        }
        for attempt in self.attempts.iter().filter(|attempt| attempt.job == id) {
            told += &format!("  {attempt:?}\n");
        }
        for (place, line) in self.ledger.iter().enumerate().filter(|(_, line)| line.job == id) {
            told += &format!("  ledger {place}: {line:?}\n");
        }
        told
    }
}

/// Processes that some attempt at this database has started.
fn survivors(db: &Path) -> Vec<String> {
    let db = format!("AX_DB={}", db.display());
    let mut found = Vec::new();
    for stat in process::all().expect("/proc can be read") {
        let block = fs::read(format!("/proc/{}/environ", stat.pid)).unwrap_or_default();
        let block = String::from_utf8_lossy(&block);
        let of_a_job = block.split('\0').find(|entry| entry.starts_with("AX_JOB_ID="));
        if let Some(job) = of_a_job
            && block.split('\0').any(|entry| entry == db)
            && !stat.has_ended()
        {
            found.push(format!("{job} {stat:?}"));
        }
    }
    found
}
