//! Attempts that nobody watches.

use super::{Finding, Patient};
use crate::job::Claim;
use crate::job::hook::OpenHook;
use crate::sched::hooks;
use crate::sched::recover::{self, Error, Fate};

/// Tells whether a runner is alive.
pub(super) fn any_alive(patient: &mut Patient<'_>) -> Result<bool, Error> {
    for runner in patient.store.runners()? {
        if recover::is_alive(patient.dir, &runner)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Finds hooks that a runner has taken that is gone, and that nobody runs.
pub(super) fn check_hooks(patient: &mut Patient<'_>) -> Result<Vec<Finding>, Error> {
    let left = hooks::left(patient.store, patient.dir, None, |_| false)?;
    Ok(left.into_iter().map(unrun).collect())
}

fn unrun(hook: OpenHook) -> Finding {
    let job = hook.job;
    let what = format!("a hook of job {job} is with a runner that is gone, and nobody runs it");
    let cure = if hook.begun {
        "the next `ax run` tells it as unknown; it is not run again"
    } else {
        "the next `ax run` runs it"
    };
    Finding::new("no runner", what, cure).of(Some(job))
}

/// Finds attempts whose runner is gone and that no supervisor has in hand.
pub(super) fn check(patient: &mut Patient<'_>) -> Result<Vec<Finding>, Error> {
    let left = recover::find_all(patient.store, patient.dir)?;
    let finding = |left: recover::Left| match left.fate {
        Fate::RunsOn => None,
        Fate::Ended(_, _) => Some(unwatched(left.claimed.claim)),
    };
    Ok(left.into_iter().filter_map(finding).collect())
}

fn unwatched(claim: Claim) -> Finding {
    let job = claim.job;
    Finding::new(
        "no supervisor",
        format!("job {job} is with a runner that is gone, and no supervisor has it in hand"),
        "`ax recover`, or the next `ax run`, settles it",
    )
    .of(Some(job))
}
