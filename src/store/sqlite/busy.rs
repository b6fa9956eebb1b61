//! How long a busy database is waited for.
//!
//! SQLite's own handler backs off to 100 ms, and its lock is not fair: a
//! process that sleeps that long between tries starves beside one that commits
//! without pause. This one tries about every millisecond, jittered.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

/// How long a command waits for the write lock before it gives up.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

thread_local! {
    static SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The busy handler: `true` means try again.
pub(super) fn wait(tries: i32) -> bool {
    let now = Instant::now();
    let since = match SINCE.get() {
        Some(since) if tries > 0 => since,
        Some(_) | None => {
            SINCE.set(Some(now));
            now
        }
    };
    pause();
    now.duration_since(since) < PATIENCE
}

/// About a millisecond.
pub(super) fn pause() {
    thread::sleep(Duration::from_micros(fastrand::u64(500..1500)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_try_of_each_wait_starts_a_new_count() {
        SINCE.set(Instant::now().checked_sub(PATIENCE * 2));
        assert!(!wait(7), "patience is over in the middle of a wait");
        assert!(wait(0), "a new wait starts");
        assert!(wait(1), "and goes on");
    }
}
