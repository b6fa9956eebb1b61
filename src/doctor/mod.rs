//! What is wrong, and how to cure it.
//!
//! Each file is a set of checks: [`store`] for what the database says of
//! itself, [`runners`] for attempts that nobody watches, [`files`] for what
//! lies in the directory beside it, [`permissions`] for who may read all this.
//! A check only looks and returns [`Finding`]s; whoever is healthy is not
//! named. Only [`treat`] changes anything, and only what has one right repair.

mod files;
mod permissions;
mod runners;
mod store;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::data_dir::DataDir;
use crate::failure::Failure;
use crate::job::{JobId, Timestamp};
use crate::sched::recover;
use crate::store::{Error, Fault, Repair, Store};

/// What is examined.
pub struct Patient<'a> {
    /// The store.
    pub store: &'a mut dyn Store,
    /// Its file.
    pub db: &'a Path,
    /// The directory beside it.
    pub dir: &'a DataDir,
    /// The time.
    pub now: Timestamp,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name of the check.
    pub check: &'static str,
    /// The job it is about, if it is about one.
    pub job: Option<JobId>,
    /// What is wrong: a sentence that names the thing.
    pub what: String,
    /// What to do, or what the repair does.
    pub cure: String,
    /// The repair, if there is one that is right whatever was meant.
    pub repair: Option<Mending>,
    /// Whether it was repaired.
    pub fixed: bool,
}

/// How a finding is repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mending {
    /// The store mends it.
    Store(Fault, Repair),
    /// This file is removed.
    Remove(PathBuf),
    /// This file gets these permissions.
    Permit(PathBuf, u32),
}

impl Finding {
    /// A finding that a person must cure.
    fn new(check: &'static str, what: impl Into<String>, cure: impl Into<String>) -> Self {
        let (what, cure) = (what.into(), cure.into());
        Self { check, job: None, what, cure, repair: None, fixed: false }
    }

    /// A finding that can be repaired.
    fn repairable(check: &'static str, what: impl Into<String>, repair: Mending) -> Self {
        let cure = repair.sentence();
        Self { repair: Some(repair), ..Self::new(check, what, cure) }
    }

    /// The same about a job.
    fn of(self, job: Option<JobId>) -> Self {
        Self { job, ..self }
    }
}

impl Mending {
    /// What it does, in words that fit before and after.
    fn sentence(&self) -> String {
        match self {
            Self::Store(_, repair) => repair.sentence().to_owned(),
            Self::Remove(_) => "the file is removed".to_owned(),
            Self::Permit(_, mode) => format!("its permissions are set to {mode:04o}"),
        }
    }
}

/// Looks for everything that is wrong.
///
/// # Errors
/// When the store cannot be read, for another reason than that it is damaged.
pub fn examine(patient: &mut Patient<'_>) -> Result<Vec<Finding>, Failure> {
    let faults = patient.store.check(patient.now)?;
    let is_whole = !faults.iter().any(store::hides_rows);
    let mut findings = permissions::check(patient);
    for check in [runners::check, runners::check_hooks, files::check] {
        match check(patient) {
            Ok(found) => findings.extend(found),
            // What cannot be read has been found already, and is told of.
            Err(recover::Error::Store(Error::Unusable { .. })) if !is_whole => (),
            Err(error) => return Err(failure(error)),
        }
    }
    let alive = runners::any_alive(patient).unwrap_or(false);
    findings.extend(store::findings(faults, alive));
    Ok(findings)
}

fn failure(error: recover::Error) -> Failure {
    match error {
        recover::Error::Store(error) => error.into(),
        recover::Error::Io(error) => {
            Failure::store(format!("cannot look beside the database: {error}"))
        }
    }
}

/// Repairs what has one right repair, and marks what was.
///
/// # Errors
/// When the store is busy or full.
pub fn treat(patient: &mut Patient<'_>, findings: &mut [Finding]) -> Result<(), Failure> {
    for finding in findings {
        let Some(repair) = &finding.repair else { continue };
        finding.fixed = match repair {
            Mending::Store(fault, _) => match patient.store.mend(fault, patient.now) {
                Ok(done) => done.is_some(),
                // Something else is wrong with the row and stands in the way.
                Err(Error::Unusable { .. }) => false,
                Err(error) => return Err(error.into()),
            },
            Mending::Remove(path) => fs::remove_file(path).is_ok(),
            Mending::Permit(path, mode) => {
                fs::set_permissions(path, fs::Permissions::from_mode(*mode)).is_ok()
            }
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests;
