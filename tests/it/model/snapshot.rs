//! The rows of a database at one moment, read beside the store, and what must
//! hold of them whatever happened before.

use std::collections::{BTreeMap, BTreeSet};

use ax_scheduler::job::dependency::{Readiness, Seen};
use ax_scheduler::job::{Edge, Event, JobId, State};
use ax_scheduler::store::Counts;
use rusqlite::{Connection, Row};

/// A job, as far as the invariants are about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JobRow {
    pub(crate) state: State,
    pub(crate) attempts: u32,
    pub(crate) retry_count: u32,
    pub(crate) scheduled_at: i64,
    created_at: i64,
    pub(crate) owner: Option<i64>,
    max_retries: u32,
    waits_on: Option<i64>,
    reason: Option<String>,
    key: Option<String>,
    ended: bool,
    /// Whether a person wants it ended that somebody has in hand.
    is_marked: bool,
    group: Option<String>,
    mutex: Option<String>,
}

impl JobRow {
    /// Tells whether its time has come, or had come when it was added.
    pub(crate) fn is_due(&self, now: i64) -> bool {
        self.scheduled_at <= now.max(self.created_at)
    }
}

/// All rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) jobs: BTreeMap<JobId, JobRow>,
    edges: BTreeMap<JobId, Vec<Edge>>,
    /// The numbers of a job's attempts, and whether each is open.
    attempts: BTreeMap<JobId, Vec<(u32, bool)>>,
    unjudged: BTreeSet<JobId>,
    /// How many jobs of a group may run at once, and whether it is paused.
    groups: BTreeMap<String, (Option<u32>, bool)>,
}

impl Snapshot {
    pub(crate) fn read(shell: &Connection) -> Self {
        let mut edges: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let sql = "SELECT job_id, depends_on, kind FROM ax_deps ORDER BY job_id, depends_on, kind";
        for (child, edge) in rows(shell, sql, edge) {
            edges.entry(child).or_default().push(edge);
        }
        let mut attempts: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let sql = "SELECT job_id, attempt, ended_at IS NULL FROM ax_attempts ORDER BY 1, 2";
        for (job, attempt) in rows(shell, sql, |row| (id(row), (value(row, 1), value(row, 2)))) {
            attempts.entry(job).or_default().push(attempt);
        }
        Self {
            jobs: rows(shell, "SELECT * FROM ax_jobs", |row| (id(row), job(row)))
                .into_iter()
                .collect(),
            edges,
            attempts,
            groups: rows(shell, "SELECT * FROM ax_groups", |row| {
                (value(row, "name"), (value(row, "parallel"), value(row, "paused")))
            })
            .into_iter()
            .collect(),
            unjudged: rows(shell, "SELECT job_id FROM ax_judge", id).into_iter().collect(),
        }
    }

    /// Tells whether no dependency is still to be judged.
    pub(crate) fn is_judged(&self) -> bool {
        self.unjudged.is_empty()
    }

    fn seen(&self, job: JobId) -> Vec<Seen> {
        let state = |parent| self.jobs.get(parent).map(|row| row.state);
        let edges = self.edges.get(&job).into_iter().flatten();
        edges.map(|edge| Seen { edge: *edge, parent: state(&edge.parent) }).collect()
    }

    /// What its dependencies say of a job.
    pub(crate) fn readiness(&self, job: JobId) -> Readiness {
        Readiness::of(&self.seen(job))
    }

    /// Holds the rows against everything that must hold at any moment.
    pub(crate) fn check(&self) {
        for (id, job) in &self.jobs {
            self.check_counts(*id, job);
            if !self.unjudged.contains(id) {
                self.check_waiting(*id, job);
            }
        }
        self.check_keys();
        self.check_mutexes();
        if self.is_judged() {
            self.check_cycles();
        }
    }

    fn check_counts(&self, id: JobId, job: &JobRow) {
        assert_eq!(job.owner.is_some(), job.state.is_owned(), "owner of job {id}: {job:?}");
        assert!(job.owner.is_some() || !job.is_marked, "a mark on job {id}: {job:?}");
        assert!(job.retry_count <= job.max_retries, "retries of job {id}: {job:?}");
        assert!(job.ended || !job.state.is_final(), "job {id} has no end: {job:?}");
        let history = self.attempts.get(&id).cloned().unwrap_or_default();
        let numbers: Vec<_> = history.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, (1..=job.attempts).collect::<Vec<_>>(), "history of job {id}: {job:?}");
        let open: Vec<_> = history.into_iter().filter(|(_, open)| *open).collect();
        let wanted = if job.state.is_owned() { vec![(job.attempts, true)] } else { Vec::new() };
        assert_eq!(open, wanted, "open attempts of job {id}: {job:?}");
    }

    /// A judged job that waits can still run, waits for an open parent of its
    /// own, and for none only if all is met.
    fn check_waiting(&self, id: JobId, job: &JobRow) {
        match job.state {
            State::Pending | State::Ready | State::Failed => (),
            State::Skipped => {
                assert!(job.reason.is_some(), "job {id} does not say why: {job:?}");
                return;
            }
            State::Dispatched
            | State::Running
            | State::Success
            | State::Dead
            | State::Held
            | State::Cancelled => return,
        }
        let seen = self.seen(id);
        match (Readiness::of(&seen), job.waits_on) {
            (Readiness::Met, None) => (),
            (Readiness::Waiting, Some(watched)) => {
                assert_eq!(job.state, State::Pending, "job {id} waits: {job:?}, {seen:?}");
                let open = |seen: &Seen| seen.parent.is_some_and(|state| !state.is_final());
                let is_watched = |seen: &Seen| open(seen) && seen.edge.parent.0 == watched;
                assert!(seen.iter().any(is_watched), "job {id} waits on {watched}: {seen:?}");
            }
            (readiness, waits_on) => {
                panic!("job {id} is {} with {readiness:?} and waits on {waits_on:?}", job.state)
            }
        }
    }

    /// No two jobs have a mutex at once.
    fn check_mutexes(&self) {
        let mut holders = BTreeMap::new();
        for (id, job) in self.jobs.iter().filter(|(_, job)| job.state.is_owned()) {
            if let Some(mutex) = &job.mutex
                && let Some(other) = holders.insert(mutex, id)
            {
                panic!("jobs {other} and {id} both have the mutex {mutex}");
            }
        }
    }

    fn owned(&self, has: impl Fn(&JobRow) -> bool) -> usize {
        self.jobs.values().filter(|job| job.state.is_owned() && has(job)).count()
    }

    /// A job that was just claimed is one that its group let through.
    pub(crate) fn check_group_of(&self, id: JobId) {
        let Some(group) = &self.jobs[&id].group else { return };
        let Some((parallel, paused)) = self.groups.get(group) else { return };
        assert!(!paused, "job {id} is started, and {group} is paused");
        let running = self.owned(|job| job.group.as_ref() == Some(group));
        let may = parallel.is_none_or(|parallel| running <= parallel as usize);
        assert!(may, "{running} jobs of {group} run: {parallel:?}");
    }

    /// How many jobs are in each state.
    pub(crate) fn counts(&self) -> Counts {
        State::ALL.map(|state| {
            self.jobs.values().filter(|job| job.state == state).count().try_into().expect("few")
        })
    }

    /// Tells whether a limit keeps a ready job from being taken.
    pub(crate) fn is_behind_a_limit(&self, id: JobId) -> bool {
        let job = &self.jobs[&id];
        let group = job.group.as_ref().and_then(|group| self.groups.get(group));
        let is_full = group.is_some_and(|(parallel, paused)| {
            let running = self.owned(|other| other.group == job.group);
            *paused || parallel.is_some_and(|parallel| running >= parallel as usize)
        });
        is_full || (job.mutex.is_some() && self.owned(|other| other.mutex == job.mutex) > 0)
    }

    fn check_keys(&self) {
        let mut taken = BTreeMap::new();
        for (id, job) in self.jobs.iter().filter(|(_, job)| !job.state.is_final()) {
            if let Some(key) = &job.key
                && let Some(other) = taken.insert(key, id)
            {
                panic!("jobs {other} and {id} both have the key {key}");
            }
        }
    }

    /// Jobs that wait do not wait for each other: taking away those that wait
    /// for nobody who waits leaves nobody.
    fn check_cycles(&self) {
        let waits = |id: &JobId| {
            self.jobs.get(id).is_some_and(|job| {
                matches!(job.state, State::Pending | State::Ready | State::Failed)
            })
        };
        let mut left: BTreeSet<_> = self.jobs.keys().copied().filter(waits).collect();
        loop {
            let blocked = |id: &JobId| {
                self.edges.get(id).into_iter().flatten().any(|edge| left.contains(&edge.parent))
            };
            let still: BTreeSet<_> = left.iter().copied().filter(blocked).collect();
            if still.len() == left.len() {
                break;
            }
            left = still;
        }
        assert!(left.is_empty(), "these wait for each other: {left:?}");
    }

    /// Tells whether a job waits, through others or itself, for a person.
    pub(crate) fn waits_for_a_person(&self, id: JobId) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![id];
        while let Some(at) = open.pop() {
            if self.jobs.get(&at).is_some_and(|job| job.state == State::Held) {
                return true;
            }
            if seen.insert(at) {
                open.extend(self.edges.get(&at).into_iter().flatten().map(|edge| edge.parent));
            }
        }
        false
    }
}

/// Tells whether these events lead from one state to the other, in one or several moves.
pub(crate) fn leads(events: &[Event], from: State, to: State) -> bool {
    let mut reached = vec![from];
    let mut next = 0;
    while let Some(at) = reached.get(next).copied() {
        next += 1;
        for event in events.iter().filter(|event| event.allows(at)) {
            if !reached.contains(&event.target()) {
                reached.push(event.target());
            }
        }
    }
    reached.contains(&to)
}

fn rows<T>(shell: &Connection, sql: &str, read: impl Fn(&Row<'_>) -> T) -> Vec<T> {
    let mut statement = shell.prepare_cached(sql).expect("a query");
    let rows = statement.query_map([], |row| Ok(read(row))).expect("rows");
    rows.map(|row| row.expect("a row")).collect()
}

fn value<T: rusqlite::types::FromSql>(row: &Row<'_>, column: impl rusqlite::RowIndex) -> T {
    row.get(column).expect("a column of this form")
}

fn id(row: &Row<'_>) -> JobId {
    JobId(value(row, 0))
}

fn edge(row: &Row<'_>) -> (JobId, Edge) {
    let kind = value::<String>(row, 2).parse().expect("a kind");
    (id(row), Edge { parent: JobId(value(row, 1)), kind })
}

fn job(row: &Row<'_>) -> JobRow {
    JobRow {
        state: value::<String>(row, "status").parse().expect("a state"),
        attempts: value(row, "attempts"),
        retry_count: value(row, "retry_count"),
        max_retries: value(row, "max_retries"),
        scheduled_at: value(row, "scheduled_at"),
        created_at: value(row, "created_at"),
        owner: value(row, "owner"),
        waits_on: value(row, "waits_on"),
        reason: value(row, "reason"),
        key: value(row, "key"),
        ended: value::<Option<i64>>(row, "finished_at").is_some(),
        is_marked: value::<Option<String>>(row, "cancelling").is_some(),
        group: value(row, "group_name"),
        mutex: value(row, "mutex"),
    }
}
