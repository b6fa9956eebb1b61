//! Looking at the store now and then, for the live views.
//!
//! A look reads a bounded number of rows by index, and after each the pause is
//! so long that looking takes no more than a small share of the time.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::job::{Job, JobId, RunnerId, Timestamp};
use crate::store::{self, Glance, Store};

/// Between the ends of two looks at most this share of the time is looked, as
/// long as nobody waits longer than a while for news.
const SHARE: u32 = 50;
const WHILE: Duration = Duration::from_secs(5);

/// What ended lately ended within this time.
pub(super) const LATELY: Duration = Duration::from_mins(1);

/// How many jobs are asked for their usual time in one look, and how long they
/// must have been running: what ends at once needs none.
const ASKED: usize = 8;
const PATIENT: Duration = Duration::from_secs(1);

/// Somebody who looks, with a handle of his own.
pub(super) struct Looker {
    db: PathBuf,
    store: Option<Box<dyn Store>>,
    owner: Option<RunnerId>,
    interval: Duration,
    next: Instant,
    /// The usual times of what runs, as far as they were asked for.
    usual: HashMap<JobId, Option<Duration>>,
}

/// What was seen, and the usual time of what runs.
pub(super) struct Seen {
    pub(super) glance: Glance,
    pub(super) running: Vec<(Job, Option<Duration>)>,
}

impl Looker {
    /// Looks at the jobs of one runner or of all, at most once an interval.
    pub(super) fn new(db: PathBuf, owner: Option<RunnerId>, interval: Duration) -> Self {
        let next = Instant::now();
        Self { db, store: None, owner, interval, next, usual: HashMap::new() }
    }

    /// The handle, which is opened when it is first needed.
    ///
    /// # Errors
    /// When the store cannot be opened.
    pub(super) fn store(&mut self) -> store::Result<&mut dyn Store> {
        let store = match &mut self.store {
            Some(store) => store,
            none => none.insert(store::open_existing(&self.db)?),
        };
        Ok(store.as_mut())
    }

    /// When to look next.
    pub(super) const fn next(&self) -> Instant {
        self.next
    }

    /// Looks.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(super) fn look(&mut self, now: Timestamp) -> store::Result<Seen> {
        let begun = Instant::now();
        let seen = self.see(now);
        let took = begun.elapsed();
        self.next = Instant::now() + self.interval.max(took.saturating_mul(SHARE).min(WHILE));
        seen
    }

    fn see(&mut self, now: Timestamp) -> store::Result<Seen> {
        let since =
            Timestamp::from_millis(now.millis() - i64::try_from(LATELY.as_millis()).unwrap_or(0));
        let owner = self.owner;
        let mut glance = self.store()?.glance(owner, since)?;
        let running = std::mem::take(&mut glance.running);
        self.usual.retain(|id, _| running.iter().any(|job| job.id == *id));
        let is_unknown = |job: &&Job| {
            let is_patient = job.runs_at.is_some_and(|at| now.since(at) >= PATIENT);
            is_patient && !self.usual.contains_key(&job.id)
        };
        let asked: Vec<JobId> =
            running.iter().filter(is_unknown).take(ASKED).map(|job| job.id).collect();
        for id in asked {
            let usual = self.store()?.usual(id)?;
            self.usual.insert(id, usual);
        }
        let with_usual = |job: Job| {
            let usual = self.usual.get(&job.id).copied().flatten();
            (job, usual)
        };
        Ok(Seen { glance, running: running.into_iter().map(with_usual).collect() })
    }
}
