//! A figure beside its limit.

use std::time::Duration;

/// The middle and the bad end of many times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantiles {
    /// Half of them were at most this.
    pub p50: Duration,
    /// 99 of 100 were at most this.
    pub p99: Duration,
}

impl Quantiles {
    /// Of these times (nearest rank); zero if there are none.
    pub fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |percent: usize| {
            let rank = (times.len() * percent).div_ceil(100).max(1);
            times.get(rank - 1).copied().unwrap_or_default()
        };
        Self { p50: at(50), p99: at(99) }
    }
}

/// How long something takes, and how long the same takes bare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its stable name, for scripts.
    pub name: &'static str,
    /// What was timed, for a person.
    pub what: &'static str,
    /// How many times were taken.
    pub samples: usize,
    /// How long it took.
    pub took: Quantiles,
    /// How long the same took bare.
    pub limit: Quantiles,
}

impl Figure {
    /// A figure from the times of both.
    pub fn new(
        name: &'static str,
        what: &'static str,
        took: Vec<Duration>,
        limit: Vec<Duration>,
    ) -> Self {
        let samples = took.len();
        Self { name, what, samples, took: Quantiles::of(took), limit: Quantiles::of(limit) }
    }

    /// The share of the possible speed that was reached: 1 is the limit itself.
    pub fn ratio(&self) -> f64 {
        self.limit.p50.as_secs_f64() / self.took.p50.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// How many fit into a second.
    pub fn per_second(&self) -> f64 {
        1.0 / self.took.p50.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// What of the machine is used up first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Starting processes.
    Spawn,
    /// Waiting until the disk has what was written.
    Sync,
}

impl Bound {
    /// The larger of what both take for one job.
    pub fn of(spawn: Duration, sync: Duration) -> Self {
        if sync > spawn { Self::Sync } else { Self::Spawn }
    }

    /// Its stable name, for scripts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spawn => "spawn",
            Self::Sync => "fsync",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(times: impl IntoIterator<Item = u64>) -> Vec<Duration> {
        times.into_iter().map(Duration::from_millis).collect()
    }

    #[test]
    fn the_quantiles_are_times_that_were_taken() {
        let of = |times| {
            let Quantiles { p50, p99 } = Quantiles::of(millis(times));
            (p50.as_millis(), p99.as_millis())
        };
        assert_eq!(of((1..=100).rev().collect::<Vec<_>>()), (50, 99));
        assert_eq!(of(vec![7]), (7, 7));
        assert_eq!(of(vec![3, 1]), (1, 3));
        assert_eq!(of(Vec::new()), (0, 0));
    }

    #[test]
    fn half_of_the_possible_speed_is_a_ratio_of_a_half() {
        let figure = Figure::new("add", "a call", millis([4]), millis([2]));
        assert!((figure.ratio() - 0.5).abs() < 1e-9);
        assert!((figure.per_second() - 250.0).abs() < 1e-9);
    }

    #[test]
    fn what_takes_longer_is_the_bound() {
        let [short, long] = [1, 2].map(Duration::from_millis);
        assert_eq!(Bound::of(short, long), Bound::Sync);
        assert_eq!(Bound::of(long, short), Bound::Spawn);
    }
}
