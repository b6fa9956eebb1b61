//! Waiting for somebody else to write to the database.
//!
//! A commit appends to the write-ahead log, and the kernel tells whoever
//! watches that file (inotify). The log is written before the commit can be
//! seen, so after each news the pauses are short for a while and then grow; a
//! long one is only the safety net.

use std::os::fd::AsFd;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

use crate::data_dir;

/// The shortest pause between two looks.
const SHORT: Duration = Duration::from_millis(10);
/// The longest pause, while news are told of.
const LONG: Duration = Duration::from_secs(1);
/// After news, how long a commit may take to be seen.
const SETTLING: Duration = Duration::from_millis(300);
/// The longest pause, when nobody tells of news.
const UNTOLD: Duration = Duration::from_millis(200);

/// Watches a database that this process has open, so that its log stays.
pub(super) struct Watch {
    news: Option<Inotify>,
    pause: Duration,
    /// Until when a commit that was told of may come to be seen.
    unseen: Instant,
}

impl Watch {
    /// Watches the database at `db`.
    pub(super) fn of(db: &Path) -> Self {
        let log = data_dir::log_of(db);
        let news = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK).and_then(|news| {
            news.add_watch(&log, AddWatchFlags::IN_MODIFY)?;
            Ok(news)
        });
        Self { news: news.ok(), pause: SHORT, unseen: Instant::now() + LONG }
    }

    /// Tells, without waiting, whether something may have been written that
    /// was not seen yet; at least once a second it may.
    pub(super) fn has_news(&mut self) -> bool {
        let now = Instant::now();
        let is_late = now >= self.unseen + LONG;
        if self.news.is_none() || self.is_told(Duration::ZERO) || is_late {
            self.unseen = now + SETTLING;
        }
        now < self.unseen
    }

    /// Sleeps until something may have been written, at most until `deadline`.
    pub(super) fn sleep(&mut self, deadline: Option<Instant>) {
        let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        let longest = if self.news.is_some() { LONG } else { UNTOLD };
        let wait = left.map_or(self.pause, |left| left.min(self.pause));
        if self.is_told(wait) {
            thread::sleep(left.map_or(SHORT, |left| left.min(SHORT)));
            self.pause = SHORT;
        } else {
            self.pause = (self.pause * 2).min(longest);
        }
    }

    /// Waits so long for news; tells whether there were some.
    fn is_told(&self, wait: Duration) -> bool {
        let Some(news) = &self.news else {
            thread::sleep(wait);
            return false;
        };
        let timeout = PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX);
        let told = poll(&mut [PollFd::new(news.as_fd(), PollFlags::POLLIN)], timeout);
        let is_told = told.is_ok_and(|count| count > 0);
        if is_told {
            let _ = news.read_events();
        }
        is_told
    }
}
