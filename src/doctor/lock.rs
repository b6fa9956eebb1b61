//! Who holds a lock is alive.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::{Flock, FlockArg};

/// Tells whether somebody holds a lock; one that is not there is not held.
pub(super) fn is_held(path: &Path) -> bool {
    let file = OpenOptions::new().read(true).custom_flags(nix::libc::O_NOFOLLOW).open(path);
    file.is_ok_and(|file| Flock::lock(file, FlockArg::LockSharedNonblock).is_err())
}
