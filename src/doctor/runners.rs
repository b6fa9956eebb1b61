//! Attempts that nobody watches.

use std::fs;
use std::path::PathBuf;

use super::{Finding, Patient, lock};
use crate::data_dir::DataDir;
use crate::job::{Claim, Claimed, RunnerId, State};
use crate::store::Error;

/// Tells whether a runner is alive.
pub(super) fn any_alive(patient: &mut Patient<'_>) -> Result<bool, Error> {
    let runners = patient.store.runners()?;
    Ok(runners.iter().any(|runner| lock::is_held(&patient.dir.runner_lock(runner.id))))
}

/// Finds attempts whose runner is gone and that no supervisor has in hand.
///
/// Locks are looked at before the claims are read: who dies in between has
/// settled what it had, or is told of now.
pub(super) fn check(patient: &mut Patient<'_>) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for runner in patient.store.runners()? {
        if lock::is_held(&patient.dir.runner_lock(runner.id)) {
            continue;
        }
        let journals = journals_in_use(patient.dir, runner.id);
        for (Claimed { claim, .. }, state) in patient.store.claims(runner.id)? {
            if !journals.iter().any(|journal| mentions(journal, claim)) {
                findings.push(unwatched(claim, state));
            }
        }
    }
    Ok(findings)
}

fn unwatched(claim: Claim, state: State) -> Finding {
    let job = claim.job;
    Finding::new(
        "no supervisor",
        format!("job {job} is {state}, and neither its runner nor a supervisor is alive"),
        "`ax recover`, or the next `ax run`, settles it by its --on-lost",
    )
    .of(Some(job))
}

/// The journals of supervisors that outlived this runner.
fn journals_in_use(dir: &DataDir, runner: RunnerId) -> Vec<String> {
    let journals = dir.journals(runner).unwrap_or_default().into_iter();
    journals.filter(|path| lock::is_held(path)).map(text).collect()
}

fn text(journal: PathBuf) -> String {
    fs::read(journal).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// Tells whether a supervisor was given this claim; it has a line for each.
fn mentions(journal: &str, claim: Claim) -> bool {
    let line = format!("{}.{} runner {} ", claim.job, claim.attempt, claim.owner);
    journal.lines().any(|entry| entry.trim_start_matches('\0').starts_with(&line))
}
