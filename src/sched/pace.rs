//! How a runner shares the write lock.
//!
//! SQLite's lock is not fair: whoever asks again at once starves those who
//! sleep between tries. What matters is the share of time in which the lock is
//! free. A runner that has held it for most of the recent past leaves it alone
//! for a moment; one that commits now and then (a lone chain of short jobs)
//! pays nothing.
//!
//! A commit costs about the same for one result and for ten, and what it writes
//! slows down everything else on the machine. While the workers have enough to
//! do, a runner therefore waits for more results, until the queue is low or a
//! moment has passed.

use std::time::{Duration, Instant};

/// Time with the lock that may be spent before a pause is due.
const CREDIT: Duration = Duration::from_millis(6);

/// The longest pause, in which about two of a waiting command's tries fit.
const PAUSE: Duration = Duration::from_millis(2);

/// The longest wait for more results.
pub const GATHER: Duration = Duration::from_millis(10);

/// Tells whether a turn that left `queued` jobs to `workers` may wait for more
/// results before the next one.
pub const fn may_gather(queued: usize, workers: usize) -> bool {
    queued >= 2 * workers
}

/// How many jobs are left in the queue when the wait for more results is over:
/// what the workers get through while the next turn is done.
pub const fn low_water(workers: usize) -> usize {
    workers
}

/// Keeps account of how long the lock was held and free.
#[derive(Debug)]
pub struct Pace {
    debt: Duration,
    free_since: Instant,
}

impl Pace {
    /// Nothing was held yet.
    pub fn new(now: Instant) -> Self {
        Self { debt: Duration::ZERO, free_since: now }
    }

    /// Accounts for a commit that held the lock from `from` to `to`, and tells
    /// how long to leave it alone.
    pub fn held(&mut self, from: Instant, to: Instant) -> Duration {
        let free = from.saturating_duration_since(self.free_since);
        self.debt = self.debt.saturating_sub(free * 2) + to.saturating_duration_since(from);
        self.free_since = to;
        if self.debt > CREDIT { PAUSE } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Commits of `held` with `free` between them; the pauses that were asked for.
    fn run(held: Duration, free: Duration) -> Vec<Duration> {
        let mut now = Instant::now();
        let mut pace = Pace::new(now);
        let mut pauses = Vec::new();
        for _ in 0..100 {
            now += free;
            let from = now;
            now += held;
            let pause = pace.held(from, now);
            now += pause;
            pauses.push(pause);
        }
        pauses
    }

    #[test]
    fn a_lone_chain_of_short_jobs_pays_nothing() {
        assert!(run(MS, MS).iter().all(Duration::is_zero));
    }

    #[test]
    fn commits_without_a_pause_are_held_up() {
        let pauses = run(MS, Duration::ZERO);
        let total: Duration = pauses.iter().sum();
        assert!(total >= 40 * MS, "the lock is free for a good part of the time: {total:?}");
    }

    #[test]
    fn nobody_waits_for_more_results_while_a_worker_could_run_dry() {
        assert!(!may_gather(7, 4));
        for workers in 1..100 {
            assert!(low_water(workers) >= workers);
            assert!(!may_gather(low_water(workers), workers), "a wait lets something through");
        }
    }

    #[test]
    fn the_first_commits_of_a_burst_go_through_at_once() {
        assert!(run(MS, Duration::ZERO)[..6].iter().all(Duration::is_zero));
    }
}
