//! `ax bench`: a stress test on a database of its own.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use super::{Answer, Context};
use crate::bench::{self, Plan};
use crate::cli::BenchArgs;
use crate::failure::Failure;

pub(super) fn run(args: &BenchArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let plan = Plan {
        jobs: args.jobs.map(|jobs| usize::try_from(jobs).unwrap_or(usize::MAX)),
        workers: args.workers.map(usize::from),
        rounds: usize::from(args.rounds),
    };
    let dir = args.dir.clone().unwrap_or_else(|| nearest(&context.db));
    let is_watched = io::stderr().is_terminal();
    let mut tell = |what: &str| {
        if is_watched {
            let _ = writeln!(context.err, "ax bench: {what} …");
        }
    };
    Ok(Answer::new(bench::run(plan, &dir, &mut tell)?, args.show))
}

/// The directory of the database, or the one in which it would be made: it is
/// its disk that counts.
fn nearest(db: &Path) -> PathBuf {
    let there = db.ancestors().skip(1).find(|dir| dir.is_dir());
    there.unwrap_or(Path::new("/")).to_owned()
}
