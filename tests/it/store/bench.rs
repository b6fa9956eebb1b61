//! A fresh store to try things on, with a clock and a runner that a test moves.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ax_scheduler::job::{
    Added, Attempt, Captured, Chain, Claim, Claimed, Command, Dependency, EnvBlock, FlowRunId,
    IfExists, Job, JobId, Kind, NewJob, OnLost, Outcome, ParentRef, Process, RunnerId, Settlement,
    State, Timestamp, Verdict,
};
use ax_scheduler::store::{self, NewRunner, Result, Started, Store, Turn, Turned};
use tempfile::TempDir;

/// When every test begins.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// More room than any test has jobs.
pub(crate) const ROOM: usize = 1_000_000;

/// A store, a clock and a runner.
pub(crate) struct Bench {
    pub(crate) store: Box<dyn Store>,
    pub(crate) now: Timestamp,
    pub(crate) runner: RunnerId,
    claimed: HashMap<JobId, Claimed>,
    place: TempDir,
}

impl Bench {
    /// A store in a new `SQLite` file.
    pub(crate) fn sqlite() -> Self {
        let place = tempfile::tempdir().expect("a place for the database");
        let mut store = store::open(&place.path().join("ax.db")).expect("a new store opens");
        let runner = store.enlist(&a_runner(), START).expect("a runner is entered");
        Self { store, now: START, runner, claimed: HashMap::new(), place }
    }

    /// Where the database is.
    pub(crate) fn path(&self) -> PathBuf {
        self.place.path().join("ax.db")
    }

    /// A second handle on the same store.
    pub(crate) fn another(&self) -> Box<dyn Store> {
        store::open(&self.path()).expect("the store opens again")
    }

    /// A run without jobs.
    pub(crate) fn new_run(&mut self) -> FlowRunId {
        self.store.enqueue(&Chain::default(), self.now).expect("a run").run
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, wait: Duration) {
        self.now = self.now.plus(wait);
    }

    /// Adds one job.
    pub(crate) fn add(&mut self, job: NewJob) -> JobId {
        self.add_all(&[job])[0]
    }

    /// Adds jobs.
    pub(crate) fn add_all(&mut self, jobs: &[NewJob]) -> Vec<JobId> {
        self.try_add(jobs).expect("the jobs are added").iter().map(|added| added.id).collect()
    }

    /// Adds jobs, or is told why not.
    pub(crate) fn try_add(&mut self, jobs: &[NewJob]) -> Result<Vec<Added>> {
        self.store.add(jobs, self.now)
    }

    /// Does a turn without news and remembers what was claimed.
    pub(crate) fn turn(&mut self, room: usize) -> Turned {
        self.turn_with(room, &[])
    }

    /// Does a turn with these ends.
    pub(crate) fn turn_with(&mut self, room: usize, settled: &[Settlement]) -> Turned {
        let turn = Turn { settled, ..self.empty_turn(room) };
        let turned = self.store.turn(&turn).expect("a turn");
        for claimed in &turned.claimed {
            self.claimed.insert(claimed.claim.job, claimed.clone());
        }
        turned
    }

    /// A turn of the bench's runner without news.
    pub(crate) fn empty_turn(&self, room: usize) -> Turn<'static> {
        Turn {
            runner: self.runner,
            now: self.now,
            started: &[],
            settled: &[],
            handed: &[],
            serves: true,
            room,
            scope: None,
        }
    }

    /// Turns until nothing is left to do, claiming nothing.
    pub(crate) fn quiesce(&mut self) {
        while self.turn(0).more {}
    }

    /// Claims what is ready, and tells the claim of this job.
    pub(crate) fn take(&mut self, job: JobId) -> Claimed {
        if !self.state(job).is_owned() {
            self.turn(ROOM);
        }
        assert!(self.state(job).is_owned(), "job {job} is claimed, not {}", self.state(job));
        self.claimed[&job].clone()
    }

    /// Claims a job and tells that its process was started.
    pub(crate) fn start(&mut self, job: JobId) -> Claimed {
        let claimed = self.take(job);
        let started = [Started { claim: claimed.claim, process: process(self.now) }];
        self.store.turn(&Turn { started: &started, ..self.empty_turn(0) }).expect("a turn");
        claimed
    }

    /// Claims a job and lets it end; its own policy says what becomes of it.
    pub(crate) fn end(&mut self, job: JobId, outcome: Outcome) -> Turned {
        let claimed = self.take(job);
        let verdict = claimed.policy.judge(&outcome, self.now);
        let settlement = self.settlement(claimed.claim, outcome, verdict);
        self.turn_with(0, &[settlement])
    }

    /// Claims a job and lets it end in this way, whatever its policy.
    pub(crate) fn finish(&mut self, job: JobId, end: State) {
        let (outcome, verdict) = match end {
            State::Success => (Outcome::Exited(0), Verdict::Success),
            State::Dead => (Outcome::Exited(1), Verdict::Dead),
            State::Cancelled => (Outcome::Cancelled, Verdict::Cancelled),
            State::Held => (Outcome::Lost("power cut".into()), Verdict::Held),
            State::Failed => {
                (Outcome::Exited(1), Verdict::Retry(self.now.plus(Duration::from_secs(5))))
            }
            State::Pending | State::Ready | State::Dispatched | State::Running | State::Skipped => {
                unreachable!("no attempt ends as {end}")
            }
        };
        let claim = self.take(job).claim;
        let settlement = self.settlement(claim, outcome, verdict);
        self.turn_with(0, &[settlement]);
        assert_eq!(self.state(job), end);
    }

    /// The end of an attempt, now.
    pub(crate) fn settlement(
        &self,
        claim: Claim,
        outcome: Outcome,
        verdict: Verdict,
    ) -> Settlement {
        let process = Some(process(self.now));
        let output = Captured::default();
        Settlement { claim, outcome, verdict, process, ended_at: self.now, output }
    }

    /// A stored job.
    pub(crate) fn job(&mut self, id: JobId) -> Job {
        self.store.get(id).expect("the store answers").expect("the job is there")
    }

    /// Where a job stands.
    pub(crate) fn state(&mut self, id: JobId) -> State {
        self.job(id).state
    }

    /// Where several jobs stand.
    pub(crate) fn states(&mut self, ids: &[JobId]) -> Vec<State> {
        ids.iter().map(|id| self.state(*id)).collect()
    }

    /// Why a job stands there; empty if nobody said.
    pub(crate) fn reason(&mut self, id: JobId) -> String {
        self.job(id).reason.unwrap_or_default()
    }

    /// What a job depends on.
    pub(crate) fn parents(&mut self, id: JobId) -> Vec<(JobId, Kind)> {
        let edge = |dependency: &Dependency| dependency.seen.edge;
        self.job(id).dependencies.iter().map(edge).map(|edge| (edge.parent, edge.kind)).collect()
    }

    /// The history of a job.
    pub(crate) fn attempts(&mut self, id: JobId) -> Vec<Attempt> {
        self.store.attempts(id).expect("the store answers")
    }
}

/// A job that is due at once, with the defaults of `ax add`.
pub(crate) fn job() -> NewJob {
    NewJob {
        name: None,
        key: None,
        if_exists: IfExists::Skip,
        command: Command::Shell(b"true".to_vec()),
        priority: 5,
        scheduled_at: START,
        timeout: Some(Duration::from_mins(1)),
        kill_after: Duration::from_secs(10),
        max_retries: 3,
        retry_delay: Duration::from_secs(5),
        retry_backoff: 2.0,
        retry_max_delay: Duration::from_hours(1),
        on_lost: OnLost::Requeue,
        cwd: b"/".to_vec(),
        umask: 0o022,
        env: Arc::new(EnvBlock::from_entries([b"PATH=/bin".as_slice()])),
        extra_env: EnvBlock::default(),
        retry_on: None,
        no_retry_on: None,
        group: None,
        mutex: None,
        on_end: None,
        ends_run: false,
        hold: false,
        parents: Vec::new(),
        flow: None,
        run: None,
    }
}

/// A job with a name.
pub(crate) fn named(name: &str) -> NewJob {
    NewJob { name: Some(name.to_owned()), ..job() }
}

/// A job with a key.
pub(crate) fn keyed(key: &str) -> NewJob {
    NewJob { key: Some(key.to_owned()), ..job() }
}

/// A job with one dependency.
pub(crate) fn child_of(parent: JobId, kind: Kind) -> NewJob {
    NewJob { parents: vec![(ParentRef::Id(parent), kind)], ..job() }
}

/// A job that runs after all of these.
pub(crate) fn after(parents: &[JobId]) -> NewJob {
    let parents = parents.iter().map(|parent| (ParentRef::Id(*parent), Kind::After)).collect();
    NewJob { parents, ..job() }
}

/// A job that runs after the one with this key.
pub(crate) fn after_key(key: &str) -> NewJob {
    NewJob { parents: vec![(ParentRef::Key(key.to_owned()), Kind::After)], ..job() }
}

/// A runner as it introduces itself.
pub(crate) fn a_runner() -> NewRunner {
    NewRunner { pid: 4711, start_time: 12_345, boot_id: "boot".into(), workers: 4 }
}

/// A process that was started at `started_at`.
pub(crate) fn process(started_at: Timestamp) -> Process {
    Process { pid: 815, start_time: 99, started_at }
}
