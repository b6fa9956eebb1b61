//! A directory that is gone in the end, and the signals that end it early.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::mkdtemp;
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::{pipe, unregister};

use crate::failure::{Failure, reason};

/// A temporary directory. While it stands, signals end waiting instead of the
/// process, so that it is removed also then.
pub(super) struct Place {
    path: PathBuf,
    signals: UnixStream,
    handlers: Vec<SigId>,
}

impl Place {
    /// Makes a directory in `dir`, for this user alone.
    pub(super) fn make(dir: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::failed(format!("nothing can be made in {}: {}", dir.display(), reason(&error)))
                .hint("name another directory with --dir")
        };
        let (signals, sender) = UnixStream::pair().map_err(failed)?;
        let mut place = Self { path: PathBuf::new(), signals, handlers: Vec::new() };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let sender = sender.try_clone().map_err(failed)?;
            place.handlers.push(pipe::register(signal, sender).map_err(failed)?);
        }
        let made = mkdtemp(&dir.join("ax-bench-XXXXXX")).map_err(|errno| failed(errno.into()))?;
        place.path = made.canonicalize().map_err(failed)?;
        Ok(place)
    }

    /// The directory.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Waits until there is something to read; tells when that was, or `None`
    /// if there was nothing for so long.
    ///
    /// # Errors
    /// When a signal came.
    pub(super) fn wait_for(
        &self,
        source: BorrowedFd<'_>,
        patience: Duration,
    ) -> Result<Option<Instant>, Failure> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let [source, signal] = readable([source, self.signals.as_fd()], left)?;
            match (signal, source) {
                (true, _) => return Err(stopped()),
                (false, true) => return Ok(Some(Instant::now())),
                (false, false) if left.is_zero() => return Ok(None),
                (false, false) => (),
            }
        }
    }

    /// Ends what is measured if a signal came.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let [signal] = readable([self.signals.as_fd()], Duration::ZERO)?;
        if signal { Err(stopped()) } else { Ok(()) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = fs::remove_dir_all(&self.path);
        }
        for handler in self.handlers.drain(..) {
            unregister(handler);
        }
    }
}

fn stopped() -> Failure {
    Failure::failed("stopped by a signal; nothing was left behind")
}

/// Which of these can be read, after waiting for one of them at most so long.
pub(super) fn readable<const N: usize>(
    sources: [BorrowedFd<'_>; N],
    wait: Duration,
) -> Result<[bool; N], Failure> {
    let mut polled = sources.map(|source| PollFd::new(source, PollFlags::POLLIN));
    let wait = PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX);
    match poll(&mut polled, wait) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => (),
        Err(errno) => return Err(Failure::failed(format!("cannot wait: {}", errno.desc()))),
    }
    Ok(polled.map(|one| one.revents().is_some_and(|events| !events.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_gone_with_all_that_is_in_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let place = Place::make(dir.path()).expect("made");
        fs::write(place.file("ax.db"), "x").expect("written");
        drop(place);
        assert_eq!(fs::read_dir(dir.path()).expect("listed").count(), 0);
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let Err(failure) = Place::make(Path::new("/nowhere/at/all")) else { panic!("made") };
        let want = "nothing can be made in /nowhere/at/all: no such file or directory";
        assert_eq!(failure.message.to_lowercase(), want);
    }
}
