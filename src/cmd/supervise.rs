//! `ax __supervise`: the process that starts and watches the jobs of one
//! worker, and records their end itself when its runner is gone.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::{Answer, Context};
use crate::cli::SuperviseArgs;
use crate::clock::{Clock, SystemClock};
use crate::crash;
use crate::data_dir::DataDir;
use crate::exec::Report;
use crate::exec::supervisor::{self, Heir, Post};
use crate::exit;
use crate::failure::Failure;
use crate::job::{Claim, Claimed, Settlement};
use crate::sched::wake;
use crate::store::{self, Said, Started, Store, Turn};

/// Between two tries to store a result.
const REST: Duration = Duration::from_secs(1);

/// Runs the command.
///
/// # Errors
/// When the supervisor cannot begin.
pub(super) fn run(args: SuperviseArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let mut heir = Records { db: context.db.clone(), store: None };
    let post = Post {
        dir: context.data_dir(),
        journal: args.journal,
        runner_lock: args.runner_lock,
        keep: args.keep,
    };
    supervisor::serve(&post, &mut heir)
        .map_err(|error| Failure::failed(format!("the supervisor cannot go on: {error}")))?;
    if heir.store.is_some() {
        wake::wake_runners(&DataDir::of(&heir.db), None);
    }
    Ok(Answer::silent(exit::DONE))
}

/// Where results are stored that no runner asks for any more.
struct Records {
    db: PathBuf,
    store: Option<Box<dyn Store>>,
}

impl Heir for Records {
    /// Stores what is known of an attempt. A result is never given up: while
    /// the store is busy or full, it is tried again.
    fn record(&mut self, claimed: &Claimed, report: &Report) {
        while let Err(error) = self.try_write(claimed, report) {
            if matches!(error, store::Error::Unusable { .. }) && !self.db.exists() {
                // The database was removed; nobody is left to tell.
                return;
            }
            self.store = None;
            thread::sleep(REST);
        }
    }

    /// While the store cannot be asked, nobody wants it.
    fn is_cancelled(&mut self, claim: Claim) -> bool {
        let asked = open(&mut self.store, &self.db).and_then(|store| store.cancels(claim.owner));
        asked.is_ok_and(|claims| claims.contains(&claim))
    }
}

impl Records {
    fn try_write(&mut self, claimed: &Claimed, report: &Report) -> store::Result<()> {
        let now = SystemClock.now();
        let started: Vec<Started> = started(report).into_iter().collect();
        let settled: Vec<Settlement> = settled(claimed, report).into_iter().collect();
        let store = open(&mut self.store, &self.db)?;
        if let Report::Stuck { claim, why } = report {
            // A person is told, if it is not too late.
            return match store.say(claim.job, claim.attempt, &Said::Stuck(why.clone()), now) {
                Err(store::Error::NotRunning { .. }) => Ok(()),
                said => said,
            };
        }
        let turn = Turn {
            runner: claimed.claim.owner,
            now,
            started: &started,
            settled: &settled,
            handed: &[],
            serves: false,
            room: 0,
            scope: None,
        };
        crash::point("record", "before-turn");
        let late = store.turn(&turn)?.late;
        crash::point("record", "after-turn");
        for Settlement { claim, output, .. } in settled {
            if !output.in_file && !late.contains(&claim) {
                // It is in the database; a file that stays is found by the doctor.
                let _ = fs::remove_file(DataDir::of(&self.db).output(claim.job, claim.attempt));
            }
        }
        Ok(())
    }
}

fn open<'a>(store: &'a mut Option<Box<dyn Store>>, db: &Path) -> store::Result<&'a mut dyn Store> {
    if store.is_none() {
        *store = Some(store::open_existing(db)?);
    }
    Ok(store.as_deref_mut().expect("it was opened just now"))
}

fn started(report: &Report) -> Option<Started> {
    match report {
        Report::Started { claim, process } => Some(Started { claim: *claim, process: *process }),
        Report::Stuck { .. } | Report::Ended(_) => None,
    }
}

fn settled(claimed: &Claimed, report: &Report) -> Option<Settlement> {
    match report {
        Report::Started { .. } | Report::Stuck { .. } => None,
        Report::Ended(ended) => Some(Settlement {
            claim: ended.claim,
            outcome: ended.outcome.clone(),
            verdict: claimed.policy.judge(&ended.outcome, ended.ended_at),
            process: ended.process,
            ended_at: ended.ended_at,
            output: ended.output.clone(),
        }),
    }
}
