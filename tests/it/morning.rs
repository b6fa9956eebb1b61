//! The morning after: what failed in the night, why, and what to type.

mod diff;
mod failures;
mod overdue;

use std::collections::HashMap;

use ax_scheduler::job::{
    Captured, Claimed, NewJob, Outcome, RunnerId, Settlement, Timestamp, Verdict,
};
use ax_scheduler::store::{self, NewRunner, Store, Turn};

use super::harness::Desk;
use super::harness::sample::new_job;

/// Two in the night.
const TWO: Timestamp = Timestamp::from_millis(1_796_090_400_000);

/// A desk, and a runner of the night that has gone.
struct Night {
    desk: Desk,
    store: Box<dyn Store>,
    runner: RunnerId,
}

/// A job, and how it ended.
struct Ended {
    job: NewJob,
    outcome: Outcome,
    last_line: String,
}

impl Night {
    fn new() -> Self {
        let desk = Desk::new();
        let mut store = store::open(desk.db()).expect("a new database");
        let runner = NewRunner { pid: 1, start_time: 1, boot_id: "boot".to_owned(), workers: 4 };
        let runner = store.enlist(&runner, TWO).expect("a runner can be entered");
        Self { desk, store, runner }
    }

    /// Adds jobs, claims all of them and lets them end as they do.
    fn pass(&mut self, ended: &[Ended]) {
        let jobs: Vec<_> = ended.iter().map(|ended| ended.job.clone()).collect();
        let added = self.store.add(&jobs, TWO).expect("the jobs can be added");
        let ends: HashMap<_, _> = added.iter().map(|added| added.id).zip(ended).collect();
        let turn = Turn {
            runner: self.runner,
            now: TWO,
            started: &[],
            settled: &[],
            handed: &[],
            serves: true,
            room: jobs.len(),
            scope: None,
        };
        let mut claimed = Vec::new();
        while claimed.len() < jobs.len() {
            claimed.extend(self.store.turn(&turn).expect("a turn").claimed);
        }
        let end = |claimed: &Claimed| {
            let ended = ends[&claimed.claim.job];
            let last_line = ended.last_line.clone();
            let verdict = match ended.outcome {
                Outcome::Exited(0) => Verdict::Success,
                _ => Verdict::Dead,
            };
            Settlement {
                claim: claimed.claim,
                outcome: ended.outcome.clone(),
                verdict,
                process: None,
                ended_at: TWO,
                output: Captured { last_line, ..Captured::default() },
            }
        };
        let settled: Vec<_> = claimed.iter().map(end).collect();
        self.store
            .turn(&Turn { settled: &settled, room: 0, ..turn })
            .expect("the ends are written");
    }
}

fn ended(name: &str, outcome: Outcome, last_line: String) -> Ended {
    Ended { job: new_job(name, TWO, &[]), outcome, last_line }
}
