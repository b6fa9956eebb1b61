//! Ending jobs, and the runner: what signals and persons ask for.

use std::time::Instant;

use super::{Drive, OnStop, Stage};
use crate::exec::Stop;
use crate::job::Claim;
use crate::sched::RunEvent;

impl Drive<'_> {
    /// The signal ladder: claim no more; stop the jobs; leave.
    pub(super) fn signalled(&mut self) {
        match self.stage {
            Stage::Serving => {
                self.stage = Stage::Draining;
                (self.watch)(&RunEvent::Stopping("no more jobs are claimed; running ones may end"));
                let now = self.clock.now();
                for claimed in self.pool.take_back() {
                    self.scheduler.give_back(claimed.claim, "the runner stops", now);
                }
                match self.settings.on_stop {
                    OnStop::Wait(grace) => {
                        self.deadline = grace.and_then(|grace| Instant::now().checked_add(grace));
                    }
                    OnStop::Detach => (),
                    OnStop::Kill => self.stop_running(),
                }
            }
            Stage::Draining => self.stop_running(),
            Stage::Stopping | Stage::Leaving => self.stage = Stage::Leaving,
        }
    }

    pub(super) fn stop_running(&mut self) {
        self.stage = Stage::Stopping;
        self.deadline = None;
        (self.watch)(&RunEvent::Stopping("running jobs are stopped and go back to the queue"));
    }

    /// Tells every worker to stop. One that has only just taken its job may
    /// miss it, so this is said again until all are done.
    pub(super) fn stop_all(&self) {
        for claim in self.scheduler.claims() {
            self.pool.stop(claim, Stop::Shutdown);
        }
        self.hooks.stop();
    }

    /// Stops what a person wants ended; what no worker has begins no more. This
    /// is done again until all are settled.
    pub(super) fn stop_cancelled(&mut self, claims: &[Claim]) {
        if claims.is_empty() {
            return;
        }
        let now = self.clock.now();
        let withdrawn = self.pool.withdraw(claims);
        for job in &withdrawn {
            self.scheduler.give_back(job.claim, "it was cancelled", now);
        }
        let is_withdrawn = |claim: &Claim| withdrawn.iter().any(|job| job.claim == *claim);
        for claim in claims.iter().filter(|claim| !is_withdrawn(claim)) {
            self.pool.stop(*claim, Stop::Cancel);
        }
    }
}
