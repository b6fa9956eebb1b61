//! What runners look like to people and scripts.

use serde_json::{Value, json};

use super::text::counted;
use super::{json, time};
use crate::job::Timestamp;
use crate::job::phase::Runners;
use crate::store::Runner;

/// A runner that is alive.
pub struct Alive {
    /// The runner.
    pub runner: Runner,
    /// Whether it was suspended: SIGSTOP, or Ctrl-Z. What it has claimed waits,
    /// and what it has started goes on.
    pub suspended: bool,
}

impl Alive {
    /// `3 (pid 812, 4 workers, for 2h00m)`.
    pub(super) fn text(&self, now: Timestamp) -> String {
        let Runner { id, pid, workers, started_at, .. } = &self.runner;
        let (workers, since) = (counted(*workers, "worker"), time::took(now.since(*started_at)));
        let suspended = if self.suspended {
            format!("; suspended: `kill -CONT {pid}` lets it go on")
        } else {
            String::new()
        };
        format!("{id} (pid {pid}, {workers}, for {since}{suspended})")
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "id": self.runner.id,
            "pid": self.runner.pid,
            "workers": self.runner.workers,
            "started_at": json::at(Some(self.runner.started_at)),
            "suspended": self.suspended,
        })
    }
}

/// Whether one of these could run a job.
pub fn working(alive: &[Alive]) -> Runners {
    if alive.is_empty() {
        Runners::None
    } else if alive.iter().all(|one| one.suspended) {
        Runners::Suspended
    } else {
        Runners::Working
    }
}

/// Their workers.
pub(super) fn workers(alive: &[Alive]) -> usize {
    alive.iter().map(|one| one.runner.workers).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::RunnerId;
    use crate::output::example::{TWO, after};

    fn alive(suspended: bool) -> Alive {
        let (id, boot_id, started_at) = (RunnerId(3), "x".to_owned(), after(-7_200));
        let runner = Runner { id, pid: 812, start_time: 1, boot_id, workers: 4, started_at };
        Alive { runner, suspended }
    }

    #[test]
    fn a_runner_that_was_suspended_says_how_it_goes_on() {
        assert_eq!(alive(false).text(TWO), "3 (pid 812, 4 workers, for 2h00m)");
        let text = alive(true).text(TWO);
        assert!(
            text.ends_with(", for 2h00m; suspended: `kill -CONT 812` lets it go on)"),
            "{text}"
        );
        assert_eq!(alive(true).json()["suspended"], true);
    }

    #[test]
    fn one_that_works_is_enough() {
        assert_eq!(working(&[]), Runners::None);
        assert_eq!(working(&[alive(true), alive(true)]), Runners::Suspended);
        assert_eq!(working(&[alive(true), alive(false)]), Runners::Working);
    }
}
