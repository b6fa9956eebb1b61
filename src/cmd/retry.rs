//! `ax retry`: brings jobs back, and what was skipped because of them.

use super::{Answer, Context, failures, select};
use crate::cli::RetryArgs;
use crate::failure::Failure;
use crate::job::{Event, JobId};
use crate::output::moved::MovedJobs;
use crate::store::{Error, Revival, Selector};

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
    let named = Named::by(&selectors);
    let mut left_out = Vec::new();
    let moved = loop {
        match store.revive(&ids, how, context.now()) {
            Ok(moved) => break moved,
            Err(error) => {
                let job = named.can_do_without(&error).filter(|job| ids.contains(job));
                let Some(job) = job else { return Err(error.into()) };
                ids.retain(|id| *id != job);
                left_out.push(error);
            }
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

/// How the jobs were named that are to come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    /// As those that failed, of a cause or of any.
    AsFailed,
    /// By a property.
    ByProperty,
    /// By their numbers.
    ByNumber,
}

impl Named {
    fn by(selectors: &[Selector]) -> Self {
        if selectors.is_empty() {
            Self::AsFailed
        } else if select::are_properties(selectors) {
            Self::ByProperty
        } else {
            Self::ByNumber
        }
    }

    /// The job that does not come back, where the others are to come back all the
    /// same. Who names a job by its number is told why it cannot; who means what
    /// failed does not mean what a runner has taken up since.
    const fn can_do_without(self, error: &Error) -> Option<JobId> {
        match (self, error) {
            (Self::AsFailed | Self::ByProperty, Error::KeyTaken { job, .. })
            | (Self::AsFailed, Error::WrongState { job, .. }) => Some(*job),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::State;

    #[test]
    fn a_failure_that_a_runner_has_taken_up_meanwhile_keeps_no_other_from_coming_back() {
        let error = || Error::WrongState {
            job: JobId(3),
            state: State::Running,
            wanted: "not dead",
            hint: None,
        };
        assert_eq!(Named::AsFailed.can_do_without(&error()), Some(JobId(3)));
        assert_eq!(Named::ByProperty.can_do_without(&error()), None);
        assert_eq!(Named::ByNumber.can_do_without(&error()), None);
        assert_eq!(Named::AsFailed.can_do_without(&Error::NoSuchJob(JobId(3))), None);
    }

    #[test]
    fn how_jobs_are_named_is_seen_in_their_selectors() {
        assert_eq!(Named::by(&[]), Named::AsFailed);
        assert_eq!(Named::by(&[Selector::Status(State::Dead)]), Named::ByProperty);
        assert_eq!(Named::by(&[Selector::All, Selector::Last]), Named::ByNumber);
    }
}
