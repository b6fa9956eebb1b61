//! Who is alive is proved by a lock that the kernel drops with its owner.

use std::fs::File;
use std::path::Path;

use nix::fcntl::{Flock, FlockArg};

use crate::data_dir::DataDir;
use crate::failure::Failure;
use crate::job::Timestamp;
use crate::output::Moment;
use crate::store::{Runner, Store};

/// Tells whether somebody holds the lock at `path`. A lock that does not
/// exist, or that cannot be opened, is held by nobody.
pub(super) fn is_held(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    Flock::lock(file, FlockArg::LockSharedNonblock).is_err()
}

/// Tells whether a runner is alive.
pub(super) fn alive(runner: &Runner, dir: &DataDir) -> bool {
    is_held(&dir.runner_lock(runner.id))
}

/// The runners that are alive.
pub(super) fn runners(store: &mut dyn Store, dir: &DataDir) -> Result<Vec<Runner>, Failure> {
    let all = store.runners()?;
    Ok(all.into_iter().filter(|runner| alive(runner, dir)).collect())
}

/// What the state of a job is looked at with, now.
pub(super) fn moment(
    store: &mut dyn Store,
    dir: &DataDir,
    now: Timestamp,
) -> Result<Moment, Failure> {
    let runner_alive = !runners(store, dir)?.is_empty();
    Ok(Moment { now, runner_alive })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_as_long_as_its_owner_keeps_it() {
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let path = dir.path().join("runner-1");
        assert!(!is_held(&path));
        let file = File::create(&path).expect("a file can be made there");
        assert!(!is_held(&path));
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).expect("nobody holds it");
        assert!(is_held(&path));
        drop(lock);
        assert!(!is_held(&path));
    }
}
