//! The promises, held against what happened.

use std::collections::BTreeMap;

use ax_scheduler::job::dependency::{Readiness, Seen};
use ax_scheduler::job::{Claimed, Edge, JobId, OnLost, Outcome, State};
use rusqlite::{Connection, named_params};

use super::world::{Asked, World};
use crate::model::snapshot::{JobRow, Snapshot};

/// What the store says of the outcome of each attempt.
type Told = BTreeMap<(JobId, u32), String>;

impl World {
    /// A job is claimed only when its dependencies are met.
    pub(crate) fn check_claim(&self, claimed: &Claimed) {
        const PARENTS: &str = "
            SELECT depends_on, kind, status
            FROM ax_deps LEFT JOIN ax_jobs ON id = depends_on
            WHERE job_id = :job";
        let job = claimed.claim.job;
        let mut query = self.shell.prepare_cached(PARENTS).expect("a query");
        let rows = query.query_map(named_params! { ":job": job.0 }, |row| {
            let parent = JobId(row.get(0)?);
            let (kind, state): (String, String) = (row.get(1)?, row.get(2)?);
            let edge = Edge { parent, kind: kind.parse().expect("a kind") };
            Ok(Seen { edge, parent: Some(state.parse().expect("a state")) })
        });
        let seen: Vec<_> = rows.expect("rows").map(|row| row.expect("a row")).collect();
        assert_eq!(Readiness::of(&seen), Readiness::Met, "job {job} is claimed too early");
    }

    /// After a turn no retry waits longer than its job asked for, whatever was
    /// done to the clock.
    pub(crate) fn check_waits(&self) {
        const LONGEST: &str = "
            SELECT max(scheduled_at - retry_max_delay) FROM ax_jobs WHERE status = 'failed'";
        let mut query = self.shell.prepare_cached(LONGEST).expect("a query");
        let longest: Option<i64> = query.query_row([], |row| row.get(0)).expect("a number");
        assert!(longest.is_none_or(|at| at <= self.machine.now), "a retry waits too long");
    }

    /// What holds at any moment, in the histories that are watched.
    pub(crate) fn check_step(&self) {
        if self.is_watched {
            Snapshot::read(&self.shell).check();
        }
    }

    /// What holds once everything has come to its end.
    pub(crate) fn check_end(&mut self) {
        let snapshot = Snapshot::read(&self.shell);
        snapshot.check();
        let told = attempts(&self.shell);
        for (id, asked) in &self.jobs {
            let job = snapshot.jobs.get(id).unwrap_or_else(|| panic!("job {id} is lost"));
            let waits = job.state.is_final() || snapshot.waits_for_a_person(*id);
            assert!(waits, "job {id} waits for ever: {job:?}");
            self.check_success(*id, job, asked);
            check_words(*id, asked, &told);
        }
        self.check_truth(&told);
        self.check_leftovers();
    }

    /// A success was one, or a person said so.
    fn check_success(&self, id: JobId, job: &JobRow, asked: &Asked) {
        let last = self.machine.runs.iter().rev().find(|run| run.claim.job == id);
        let ended_well = last.is_some_and(|run| run.end == Some(Outcome::Exited(0)));
        let is_true = job.state != State::Success || ended_well || asked.was_called_success;
        assert!(is_true, "job {id} is a success: {last:?}");
    }

    /// What the store says of an attempt is what its process did, or it says
    /// that nobody knows, and nobody can know.
    fn check_truth(&self, told: &Told) {
        for run in &self.machine.runs {
            let attempt = (run.claim.job, run.claim.attempt);
            let end = run.end.as_ref().unwrap_or_else(|| panic!("{attempt:?} still runs"));
            let told = told.get(&attempt).unwrap_or_else(|| panic!("{attempt:?} is forgotten"));
            let is_true = told == end.as_str();
            let is_unknown = told == "lost" || told == "interrupted";
            let is_doomed = self.machine.doomed.contains(&attempt);
            assert!(is_true || is_unknown && is_doomed, "{attempt:?}: {told}, but it was {end:?}");
        }
        for (attempt, told) in told {
            let was_started =
                self.machine.runs.iter().any(|run| (run.claim.job, run.claim.attempt) == *attempt);
            let is_doomed = self.machine.doomed.contains(attempt);
            assert!(
                was_started || is_doomed || told == "unstartable",
                "{attempt:?} was not started, but is {told}"
            );
        }
    }

    /// Nothing is left of the dead, and the file is whole.
    fn check_leftovers(&mut self) {
        for runner in &self.runners {
            assert!(
                runner.alive || !runner.lock_exists,
                "the lock of runner {} is left",
                runner.id
            );
        }
        for supervisor in &self.supervisors {
            let is_left = supervisor.journal.exists && !self.runners[supervisor.runner].alive;
            assert!(!is_left, "the journal {} is left", supervisor.path.display());
        }
        let alive = self.runners.iter().filter(|runner| runner.alive).count();
        assert_eq!(self.store(0).runners().expect("an answer").len(), alive, "runners");
        if self.is_watched {
            check_file(&self.shell);
        }
    }
}

/// The outcomes of all attempts, as they were written.
fn attempts(shell: &Connection) -> Told {
    let mut query = shell
        .prepare_cached("SELECT job_id, attempt, coalesce(outcome, 'open') FROM ax_attempts")
        .expect("a query");
    let rows = query.query_map([], |row| Ok(((JobId(row.get(0)?), row.get(1)?), row.get(2)?)));
    rows.expect("rows").map(|row| row.expect("a row")).collect()
}

/// A job that holds on loss is not started again after one without a word.
fn check_words(id: JobId, asked: &Asked, told: &Told) {
    let own = told.range((id, 0)..=(id, u32::MAX));
    let last = own.clone().next_back().map(|((_, attempt), _)| *attempt);
    for ((_, attempt), _) in own.filter(|(_, outcome)| *outcome == "lost") {
        let is_last = last == Some(*attempt);
        let is_free = asked.on_lost != OnLost::Hold || asked.words.contains(attempt);
        assert!(is_last || is_free, "job {id} is started again after attempt {attempt} was lost");
    }
}

fn check_file(shell: &Connection) {
    let text = |sql| shell.query_row(sql, [], |row| row.get::<_, String>(0));
    assert_eq!(text("PRAGMA integrity_check").as_deref(), Ok("ok"));
    let broken = shell
        .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get::<_, i64>(0));
    assert_eq!(broken, Ok(0));
}
