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
//!
//! What is claimed ahead keeps workers from waiting for the disk, and others
//! from the job. Only short jobs are worth that ([`Ahead`]).

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

/// How many jobs a runner claims ahead of its workers, if nobody says: a
/// quarter of what ended within the last second. Where jobs are short that is as
/// many as there may be; a job behind long ones stays in the table, where it is
/// anybody's, until a worker is free.
#[derive(Debug)]
pub struct Ahead {
    most: usize,
    /// When the second began whose ends are counted.
    since: Instant,
    ended: usize,
    ended_before: usize,
}

impl Ahead {
    const SECOND: Duration = Duration::from_secs(1);

    /// Never more than `most`, and none as long as nothing has ended.
    pub const fn new(most: usize, now: Instant) -> Self {
        Self { most, since: now, ended: 0, ended_before: 0 }
    }

    /// Takes note of the end of a job.
    pub fn note_end(&mut self, now: Instant) {
        self.go_on(now);
        self.ended += 1;
    }

    /// How many jobs may be claimed ahead.
    pub fn allowed(&mut self, now: Instant) -> usize {
        self.go_on(now);
        (self.ended.max(self.ended_before) / 4).min(self.most)
    }

    fn go_on(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.since);
        if passed >= Self::SECOND {
            self.ended_before = if passed < 2 * Self::SECOND { self.ended } else { 0 };
            self.ended = 0;
            self.since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// What may be claimed ahead by four workers after each of some jobs of a length.
    fn ahead(length: Duration) -> Vec<usize> {
        let mut now = Instant::now();
        let mut ahead = Ahead::new(16, now);
        let mut allowed = vec![ahead.allowed(now)];
        for _ in 0..100 {
            now += length;
            for _ in 0..4 {
                ahead.note_end(now);
            }
            allowed.push(ahead.allowed(now));
        }
        allowed
    }

    #[test]
    fn short_jobs_are_claimed_ahead_and_long_ones_are_not() {
        let short = ahead(2 * MS);
        assert_eq!(short[0], 0, "nothing is known of them yet");
        assert!(short[16..].iter().all(|allowed| *allowed == 16), "{short:?}");
        let half_a_second = ahead(500 * MS);
        assert!(half_a_second[4..].iter().all(|allowed| (1..=3).contains(allowed)));
        let long = ahead(Duration::from_mins(1));
        assert!(long.iter().all(|allowed| *allowed <= 1), "{long:?}");
        let now = Instant::now();
        let mut ahead = Ahead::new(16, now);
        (0..100).for_each(|_| ahead.note_end(now));
        assert_eq!(ahead.allowed(now + 1_500 * MS), 16);
        assert_eq!(ahead.allowed(now + 4_000 * MS), 0, "nothing ended for a while");
    }

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
