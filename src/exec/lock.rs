//! Locks that prove who is alive.
//!
//! A lock is a file that its owner holds with `flock` as long as it lives. The
//! kernel lets go of it when the owner dies, however it dies, so "not held"
//! means "dead"; a process id proves nothing.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use crate::crash;

/// Makes a lock and holds it until the file is dropped or the process ends.
///
/// The lock appears under its name only once it is held, so nobody can take
/// its owner for dead while it is being made.
///
/// # Errors
/// When it cannot be made, or a file of that name exists.
pub fn hold_lock(path: &Path) -> io::Result<File> {
    let hidden = hidden(path);
    let file =
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&hidden)?;
    crash::point("lock", "before-flock");
    let named = flock(&file, FlockOperation::LockExclusive)
        .map_err(io::Error::from)
        .and_then(|()| fs::hard_link(&hidden, path));
    crash::point("lock", "before-unlink");
    let removed = fs::remove_file(&hidden);
    named.and(removed).map(|()| file)
}

/// Tells whether somebody holds a lock.
///
/// # Errors
/// When it cannot be opened or asked; [`io::ErrorKind::NotFound`] if there is
/// none. A symbolic link is not followed.
pub fn is_locked(path: &Path) -> io::Result<bool> {
    is_file_locked(&open(path)?)
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// A lock that somebody else holds, kept open to ask for it often.
#[derive(Debug)]
pub struct Fence(Option<File>);

impl Fence {
    /// Opens the lock; one that is not there is not held.
    pub fn open(path: &Path) -> Self {
        Self(open(path).ok())
    }

    /// Tells whether its owner is alive.
    pub fn holds(&self) -> bool {
        self.0.as_ref().is_some_and(|file| is_file_locked(file).unwrap_or(false))
    }
}

/// Asks with a lock of its own, which is let go at once.
fn is_file_locked(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => flock(file, FlockOperation::Unlock).map(|()| false).map_err(io::Error::from),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn hidden(path: &Path) -> std::path::PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_lock_is_held_until_its_owner_drops_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("runner-1");
        let held = hold_lock(&path).expect("made");
        let fence = Fence::open(&path);
        assert!(is_locked(&path).expect("there") && fence.holds());
        drop(held);
        assert!(!is_locked(&path).expect("there") && !fence.holds());
    }

    #[test]
    fn asking_leaves_no_lock_behind() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("runner-1");
        drop(hold_lock(&path).expect("made"));
        let asked = File::open(&path).expect("there");
        assert!(!is_file_locked(&asked).expect("asked"));
        let other = File::open(&path).expect("there");
        assert_eq!(flock(&other, FlockOperation::NonBlockingLockExclusive), Ok(()));
    }

    #[test]
    fn a_lock_is_for_its_owner_alone_and_made_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("runner-1");
        let _held = hold_lock(&path).expect("made");
        assert_eq!(fs::metadata(&path).expect("there").mode() & 0o777, 0o600);
        assert_eq!(hold_lock(&path).expect_err("exists").kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_dir(dir.path()).expect("listed").count(), 1);
    }

    #[test]
    fn a_lock_that_is_not_there_is_not_held() {
        let path = Path::new("/nonexistent/lock");
        assert!(!Fence::open(path).holds());
        assert_eq!(is_locked(path).expect_err("missing").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_link_to_a_lock_that_is_held_is_no_lock() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("runner-1");
        let _held = hold_lock(&path).expect("made");
        let link = dir.path().join("runner-2");
        std::os::unix::fs::symlink("runner-1", &link).expect("made");
        assert!(is_locked(&link).is_err());
    }

    #[test]
    fn a_lock_that_cannot_be_asked_is_an_error() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("file");
        fs::write(&path, "").expect("written");
        assert!(is_locked(&path.join("runner-1")).is_err());
    }
}
