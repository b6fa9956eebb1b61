//! `ax hold`: stops jobs that have not started from starting.

use super::{Answer, Context, select};
use crate::cli::HoldArgs;
use crate::failure::Failure;
use crate::job::Event;
use crate::output::moved::MovedJobs;

pub(super) fn run(args: HoldArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let selectors = select::parse(&args.selectors)?;
    let mut store = context.store()?;
    let fits = |state| Event::Hold.allows(state);
    let ids = select::fitting(store.as_mut(), &selectors, &fits)?;
    let moved = store.hold(&ids, context.now())?;
    Ok(Answer::new(MovedJobs::new(moved, false), args.show))
}
