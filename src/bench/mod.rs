//! `ax bench`: what this machine gives, and how much of it `ax` leaves.
//!
//! Everything is measured from outside, with the real program on a database
//! in a temporary directory, and each figure stands beside its limit: the
//! same work done bare, in turn with it. Nothing is left behind, whatever
//! ends it.

mod bare;
mod figure;
mod measure;
mod place;
mod program;

use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::failure::Failure;
use crate::sched::AHEAD;

pub use figure::{Bound, Figure, Quantiles};

use measure::Bench;
use place::Place;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How many trivial jobs a drain has; `None` takes as many as start bare in two seconds.
    pub jobs: Option<usize>,
    /// How many workers drain them; `None` takes twice the cores.
    pub workers: Option<usize>,
    /// How often each drain, chain and batch is repeated.
    pub rounds: usize,
}

/// A drain with so many workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// How many.
    pub workers: usize,
    /// Jobs in a second.
    pub per_second: f64,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Report {
    /// The cores that this process may use.
    pub cores: usize,
    /// How many jobs a drain had.
    pub jobs: usize,
    /// How many workers drained them.
    pub workers: usize,
    /// How often.
    pub rounds: usize,
    /// The figures.
    pub figures: Vec<Figure>,
    /// How long a write of one page takes until the disk has it.
    pub sync: Quantiles,
    /// What bounds a drain.
    pub drain_bound: Bound,
    /// What bounds one `ax add`.
    pub add_bound: Bound,
    /// Drains with several numbers of workers, ascending.
    pub tried: Vec<Tried>,
}

impl Report {
    /// The fewest workers that are as fast as the best, but for what differs by chance.
    pub fn suggested_workers(&self) -> usize {
        const CHANCE: f64 = 0.95;
        let best = self.tried.iter().map(|tried| tried.per_second).fold(0.0, f64::max);
        let enough = self.tried.iter().find(|tried| tried.per_second >= CHANCE * best);
        enough.map_or(self.workers, |tried| tried.workers)
    }

    /// How many jobs to claim ahead, where the default makes the disk the
    /// bound: so many that the sync they share is half of what a start takes.
    pub fn suggested_queue(&self) -> Option<usize> {
        const MOST: usize = 1_000;
        let start = self.figures.first()?.limit.p50.as_secs_f64();
        match self.drain_bound {
            Bound::Spawn => None,
            Bound::Sync => {
                let enough = (1..=MOST).find(|ahead| {
                    self.sync.p50.as_secs_f64() <= start / 2.0 * measure::count(*ahead)
                });
                Some(enough.unwrap_or(MOST))
            }
        }
    }
}

/// Measures everything, in a new directory in `dir`; `tell` hears what is
/// going on.
///
/// # Errors
/// When the directory or a program cannot be used, a command of `ax` fails,
/// or a signal ends it.
pub fn run(plan: Plan, dir: &Path, tell: &mut dyn FnMut(&str)) -> Result<Report, Failure> {
    let place = Place::make(dir)?;
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let workers = plan.workers.unwrap_or(2 * cores);
    tell("starting processes, bare");
    let jobs = match plan.jobs {
        Some(jobs) => jobs,
        None => as_many_as_start_in(Duration::from_secs(2), workers)?,
    };
    let bench = Bench { place: &place, jobs, workers, rounds: plan.rounds };
    tell("syncing the disk");
    let sync = bench.sync()?;
    tell(&format!("draining {jobs} jobs with {workers} workers"));
    let drain = bench.drain()?;
    tell("adding");
    let (add, batch) = (bench.add()?, bench.batch()?);
    tell("waiting for starts");
    let [hand, start, child, chain] = bench.latencies()?;
    tell("trying other numbers of workers");
    let tried = bench.try_workers([cores, 2 * cores, 4 * cores])?;
    Ok(Report {
        cores,
        jobs,
        workers,
        rounds: plan.rounds,
        sync,
        drain_bound: Bound::of(drain.limit.p50, sync.p50 / divisor(AHEAD * workers)),
        add_bound: Bound::of(add.limit.p50, sync.p50),
        figures: vec![drain, add, batch, hand, start, child, chain],
        tried,
    })
}

/// How many bare starts fit into a time, at least 200 and at most 5,000.
fn as_many_as_start_in(time: Duration, parallel: usize) -> Result<usize, Failure> {
    const TRIED: usize = 200;
    let took = bare::start_many("true", TRIED, parallel)?;
    let fit = time.as_nanos() / (took.as_nanos() / TRIED as u128).max(1);
    Ok(usize::try_from(fit).unwrap_or(usize::MAX).clamp(200, 5_000) / 100 * 100)
}

fn divisor(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(drain_bound: Bound, sync: Duration) -> Report {
        let times = vec![Duration::from_millis(1)];
        let figure = Figure::new("drain", "a job", times.clone(), times);
        Report {
            cores: 2,
            jobs: 10,
            workers: 4,
            rounds: 1,
            figures: vec![figure],
            sync: Quantiles::of(vec![sync]),
            drain_bound,
            add_bound: Bound::Sync,
            tried: [(2, 80.0), (4, 96.0), (8, 100.0)]
                .map(|(workers, per_second)| Tried { workers, per_second })
                .to_vec(),
        }
    }

    #[test]
    fn of_numbers_of_workers_that_are_as_fast_the_smallest_is_suggested() {
        assert_eq!(report(Bound::Spawn, Duration::ZERO).suggested_workers(), 4);
    }

    #[test]
    fn more_is_claimed_ahead_only_where_the_disk_is_the_bound() {
        assert_eq!(report(Bound::Spawn, Duration::from_millis(1)).suggested_queue(), None);
        assert_eq!(report(Bound::Sync, Duration::from_millis(50)).suggested_queue(), Some(100));
        assert_eq!(report(Bound::Sync, Duration::from_hours(1)).suggested_queue(), Some(1_000));
    }
}
