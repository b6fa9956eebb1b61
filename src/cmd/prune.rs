//! `ax prune`: deletes what ended long ago, with its output.

use std::fs;
use std::thread;
use std::time::Instant;

use super::{Answer, Context};
use crate::cli::PruneArgs;
use crate::failure::Failure;
use crate::job::Timestamp;
use crate::output::pruned::PrunedJobs;
use crate::sched::pace::Pace;
use crate::store::Prune;

pub(super) fn run(args: PruneArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let PruneArgs { older_than, dry_run, show } = args;
    let age = i64::try_from(older_than.as_millis()).unwrap_or(i64::MAX);
    let before = Timestamp::from_millis(context.now().millis().saturating_sub(age));
    let mut how = Prune { before, after: None, dry_run };
    let mut store = context.store()?;
    let dir = context.data_dir();
    let mut pace = Pace::new(Instant::now());
    let mut removed = Vec::new();
    loop {
        let from = Instant::now();
        let pruned = store.prune(&how)?;
        let pause = pace.held(from, Instant::now());
        for (job, attempt) in pruned.files {
            // One that stays is found by the doctor.
            let _ = fs::remove_file(dir.output(job, attempt));
        }
        removed.extend(pruned.removed);
        if pruned.next.is_none() {
            removed.sort_unstable_by_key(|(job, _)| *job);
            return Ok(Answer::new(PrunedJobs { removed, dry_run }, show));
        }
        how.after = pruned.next;
        thread::sleep(pause);
    }
}
