//! `ax retry`: brings jobs back, and what was skipped because of them.

use super::{Answer, Context, failures, select};
use crate::cli::RetryArgs;
use crate::failure::Failure;
use crate::job::Event;
use crate::output::moved::MovedJobs;
use crate::store::{Error, Revival};

pub(super) fn run(args: RetryArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let selectors = select::parse(&args.selectors)?;
    let mut store = context.store()?;
    let mut ids = if args.failed {
        select::failed(store.as_mut())?
    } else if !args.cause.is_empty() {
        failures::jobs_of(store.as_mut(), &args.cause)?
    } else {
        let fits = |state| Event::retry_of(state, args.force).is_some();
        select::fitting(store.as_mut(), &selectors, &fits)?
    };
    let RetryArgs { downstream, force, dry_run, .. } = args;
    let how = Revival { downstream, force, dry_run };
    // Who names a job by its number is told why it cannot come back.
    let lenient = selectors.is_empty() || select::are_properties(&selectors);
    let mut left_out = Vec::new();
    let moved = loop {
        match store.revive(&ids, how, context.now()) {
            Err(Error::KeyTaken { job, key, by }) if lenient && ids.contains(&job) => {
                ids.retain(|id| *id != job);
                left_out.push(Error::KeyTaken { job, key, by });
            }
            other => break other?,
        }
    };
    for why in &left_out {
        // Whether talk is heard changes nothing about what was done.
        let _ = writeln!(context.err, "ax: {why}");
    }
    if !dry_run {
        context.wake_runners();
    }
    Ok(Answer::new(MovedJobs::new(moved, dry_run), args.show))
}
