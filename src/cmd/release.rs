//! `ax release`: lets held jobs go on.

use super::{Answer, Context, select};
use crate::cli::ReleaseArgs;
use crate::failure::Failure;
use crate::job::Event;
use crate::output::moved::MovedJobs;

pub(super) fn run(args: ReleaseArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let selectors = select::parse(&args.selectors)?;
    let mut store = context.store()?;
    let fits = |state| Event::Unhold.allows(state);
    let ids = select::fitting(store.as_mut(), &selectors, &fits)?;
    let moved = store.release(&ids, context.now())?;
    context.wake_runners();
    Ok(Answer::new(MovedJobs::new(moved, false), args.show))
}
