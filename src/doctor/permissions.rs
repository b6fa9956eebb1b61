//! Who may read and write the database and what lies beside it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Finding, Mending, Patient};
use crate::data_dir::network_file_system;

pub(super) fn check(patient: &mut Patient<'_>) -> Vec<Finding> {
    let dir = patient.dir;
    let beside = |ending: &str| {
        let mut name = patient.db.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let files = [patient.db.to_owned(), beside("-wal"), beside("-shm")];
    let dirs = [dir.root().to_owned(), dir.out(), dir.locks(), dir.wake()];
    let mut findings = Vec::new();
    for path in &files {
        findings.extend(fs::metadata(path).ok().and_then(|found| private(path, &found)));
    }
    for path in &dirs {
        findings.extend(fs::symlink_metadata(path).ok().and_then(|found| directory(path, &found)));
        findings.extend(network(path));
    }
    findings
}

fn directory(path: &Path, found: &fs::Metadata) -> Option<Finding> {
    if found.is_dir() {
        return private(path, found);
    }
    let what = format!("{} is not a directory", path.display());
    let cure = format!("move it out of the way: `mv {0} {0}.old`", path.display());
    Some(Finding::new("permissions", what, cure))
}

fn private(path: &Path, found: &fs::Metadata) -> Option<Finding> {
    const OTHERS: u32 = 0o077;
    let name = path.display();
    if found.uid() != nix::unistd::geteuid().as_raw() {
        let what = format!("{name} belongs to another user");
        return Some(Finding::new("permissions", what, format!("`chown $(id -u) {name}` as root")));
    }
    if found.mode() & OTHERS == 0 {
        return None;
    }
    let what = format!("{name} is open to other users");
    let mending = Mending::Permit(path.to_owned(), found.mode() & 0o700);
    Some(Finding::repairable("permissions", what, mending))
}

/// A database on one is refused when it is opened.
fn network(path: &Path) -> Option<Finding> {
    let system = network_file_system(path)?;
    let what = format!(
        "{} lies on a network file system ({system}), whose locks cannot be relied on",
        path.display()
    );
    Some(Finding::new("network file system", what, "put it on a local disk"))
}
