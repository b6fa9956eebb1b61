//! What wakes a runner that has nothing to do and is told of nothing: somebody
//! writes to the database (inotify(7) on its log, to which every commit
//! appends), removes or moves it, or sets the clock (timerfd_create(2); a machine
//! that was suspended does so, too). With it the runner need not look for any.
//!
//! The log is written before the commit can be seen, so who is woken looks
//! again a moment later, and sets it again only once nobody is writing.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::data_dir;

/// A time that never comes, as the kernel counts: in the year 2255.
const NEVER: TimeSpec = TimeSpec::new(9_000_000_000, 0);

/// Goes off once for each time it is set.
#[derive(Debug)]
pub struct Alarm {
    db: PathBuf,
    log: PathBuf,
    writes: Inotify,
    clock: TimerFd,
}

impl Alarm {
    /// An alarm for the database at `db`, which this process has open, so that
    /// its log stays. It is not set.
    ///
    /// # Errors
    /// When the kernel has no more of them for this user.
    pub fn new(db: &Path) -> io::Result<Self> {
        let writes = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK)?;
        let flags = TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK;
        let clock = TimerFd::new(ClockId::CLOCK_REALTIME, flags)?;
        Ok(Self { db: db.to_owned(), log: data_dir::log_of(db), writes, clock })
    }

    /// Sets it. What is written, or set, before this may go unseen.
    ///
    /// # Errors
    /// When it cannot be set: then it does not go off.
    pub fn set(&self) -> io::Result<()> {
        let once = AddWatchFlags::IN_MODIFY | AddWatchFlags::IN_ONESHOT;
        self.writes.add_watch(&self.log, once)?;
        let gone = AddWatchFlags::IN_ATTRIB | AddWatchFlags::IN_MOVE_SELF;
        self.writes.add_watch(&self.db, gone | AddWatchFlags::IN_ONESHOT)?;
        let flags =
            TimerSetTimeFlags::TFD_TIMER_ABSTIME | TimerSetTimeFlags::TFD_TIMER_CANCEL_ON_SET;
        match self.clock.set(Expiration::OneShot(NEVER), flags) {
            // It was set before, and the clock since; it is set all the same.
            Ok(()) | Err(Errno::ECANCELED) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// What becomes readable when it goes off.
    pub(super) fn handles(&self) -> [BorrowedFd<'_>; 2] {
        [self.writes.as_fd(), self.clock.as_fd()]
    }

    /// Takes note that it went off.
    pub(super) fn hush(&self) {
        let _ = self.writes.read_events();
        let _ = self.clock.wait();
    }
}
