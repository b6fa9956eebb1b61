//! `ax retry`: brings jobs back, and what was skipped because of them.

use super::{Answer, Context, select};
use crate::cli::RetryArgs;
use crate::failure::Failure;
use crate::job::Event;
use crate::output::moved::MovedJobs;
use crate::store::Revival;

pub(super) fn run(args: RetryArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let selectors = select::parse(&args.selectors)?;
    let mut store = context.store()?;
    let ids = if args.failed {
        select::failed(store.as_mut())?
    } else {
        let fits = |state| Event::retry_of(state, args.force).is_some();
        select::fitting(store.as_mut(), &selectors, &fits)?
    };
    let RetryArgs { downstream, force, dry_run, .. } = args;
    let moved = store.revive(&ids, Revival { downstream, force, dry_run }, context.now())?;
    if !dry_run {
        context.wake_runners();
    }
    Ok(Answer::new(MovedJobs::new(moved, dry_run), args.show))
}
