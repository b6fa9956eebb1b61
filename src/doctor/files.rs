//! Files that nobody needs, and files that somebody needs and that are gone.
//!
//! The directory is listed before the database is asked, and a file is looked
//! at again before it is accused: runners come, go and clean up meanwhile.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Finding, Mending, Patient};
use crate::exec::lock::is_locked;
use crate::job::hook::HookId;
use crate::job::{JobId, RunnerId};
use crate::sched::recover::Error;
use crate::store::{Cure, Fault, FaultKind, Repair};

pub(super) fn check(patient: &mut Patient<'_>) -> Result<Vec<Finding>, Error> {
    let outputs = names(&patient.dir.out());
    let traces = [patient.dir.locks(), patient.dir.wake()].map(|dir| names(&dir)).concat();
    let mut findings = missing_outputs(patient, &outputs)?;
    findings.extend(stray_outputs(patient, &outputs)?);
    let all: Vec<_> = outputs.into_iter().chain(traces).collect();
    findings.extend(traces_of_hooks(patient, &all)?);
    findings.extend(traces_of_the_gone(patient, all.into_iter())?);
    Ok(findings)
}

fn names(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    paths
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Attempts whose output should be in a file that is not there.
fn missing_outputs(patient: &mut Patient<'_>, listed: &[PathBuf]) -> Result<Vec<Finding>, Error> {
    let listed: HashSet<_> = listed.iter().collect();
    let mut findings = Vec::new();
    for (job, attempt) in patient.store.output_files()? {
        let path = patient.dir.output(job, attempt);
        if listed.contains(&path) || is_there(&path) || !has_file(patient, job, attempt)? {
            continue;
        }
        let what = format!("the output file of attempt {attempt} of job {job} is gone");
        let repair = Repair::ForgetFile(attempt);
        let cure = Cure::Repair(repair);
        let fault = Fault { kind: FaultKind::Drifted, job: Some(job), what: what.clone(), cure };
        let mending = Mending::Store(fault, repair);
        findings.push(Finding::repairable("missing output", what, mending).of(Some(job)));
    }
    Ok(findings)
}

/// Asks again: it may have been deleted since.
fn has_file(patient: &mut Patient<'_>, job: JobId, attempt: u32) -> Result<bool, Error> {
    let attempts = patient.store.attempts(job)?;
    Ok(attempts.iter().any(|known| known.attempt == attempt && known.output_in_file))
}

/// Output files of attempts that do not exist.
fn stray_outputs(patient: &mut Patient<'_>, listed: &[PathBuf]) -> Result<Vec<Finding>, Error> {
    let known: HashSet<_> = patient.store.output_files()?.into_iter().collect();
    let mut findings = Vec::new();
    for path in listed {
        let Some((job, attempt)) = attempt_of(path) else { continue };
        if known.contains(&(job, attempt)) {
            continue;
        }
        let attempts = patient.store.attempts(job)?;
        if !attempts.iter().any(|known| known.attempt == attempt) && is_there(path) {
            let what =
                format!("{} is the output of an attempt that does not exist", path.display());
            findings.push(Finding::repairable("stray output", what, Mending::Remove(path.clone())));
        }
    }
    Ok(findings)
}

/// Reads `12.1.log`.
fn attempt_of(path: &Path) -> Option<(JobId, u32)> {
    let (job, attempt) = path.file_name()?.to_str()?.strip_suffix(".log")?.split_once('.')?;
    Some((job.parse().ok()?, attempt.parse().ok()?))
}

/// Locks, journals, spool files and sockets of runners that were struck out
/// and whose supervisors are gone. Those of a runner that is still entered may
/// tell what became of its jobs.
fn traces_of_the_gone(
    patient: &mut Patient<'_>,
    listed: impl Iterator<Item = PathBuf>,
) -> Result<Vec<Finding>, Error> {
    let entered: HashSet<_> = patient.store.runners()?.iter().map(|runner| runner.id).collect();
    let mut findings = Vec::new();
    for path in listed {
        let Some(runner) = runner_of(&path) else { continue };
        if entered.contains(&runner) || is_alive(patient, runner) || !is_there(&path) {
            continue;
        }
        let what = format!("{} was left by a runner that is gone", path.display());
        findings.push(Finding::repairable("stray file", what, Mending::Remove(path)));
    }
    Ok(findings)
}

/// Locks and spool files of processes that ran hooks, and are gone. Those of a
/// hook that has not ended may tell what became of it.
fn traces_of_hooks(patient: &mut Patient<'_>, listed: &[PathBuf]) -> Result<Vec<Finding>, Error> {
    let open: HashSet<_> = patient.store.open_hooks()?.iter().map(|hook| hook.id).collect();
    let mut findings = Vec::new();
    for path in listed {
        let Some(hook) = hook_of(path) else { continue };
        let is_alive = is_locked(&patient.dir.hook_lock(hook)).unwrap_or(false);
        if !open.contains(&hook) && !is_alive && is_there(path) {
            let what = format!("{} was left by the process of a hook that ended", path.display());
            findings.push(Finding::repairable("stray file", what, Mending::Remove(path.clone())));
        }
    }
    Ok(findings)
}

/// Reads `hook-3` and `hook-3.spool`.
fn hook_of(path: &Path) -> Option<HookId> {
    let name = path.file_name()?.to_str()?;
    let number = name.trim_start_matches('.').strip_prefix("hook-")?.split('.').next()?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|_| is_number).map(HookId)
}

fn is_alive(patient: &Patient<'_>, runner: RunnerId) -> bool {
    let journals = patient.dir.journals(runner).unwrap_or_default();
    let own = std::iter::once(patient.dir.runner_lock(runner));
    own.chain(journals).any(|path| is_locked(&path).unwrap_or(false))
}

/// Reads `runner-3`, `runner-3.0`, `runner-3.0.spool`, and the socket `3`.
fn runner_of(path: &Path) -> Option<RunnerId> {
    let name = path.file_name()?.to_str()?;
    let name = name.trim_start_matches('.');
    let number = match name.strip_prefix("runner-") {
        Some(rest) => rest.split('.').next()?,
        None => name,
    };
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    number.parse().ok().map(RunnerId)
}
