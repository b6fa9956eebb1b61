//! The only reader of the wall clock.

use std::time::SystemTime;

use crate::job::Timestamp;

/// Where the time comes from; a test may hand in its own.
pub trait Clock: Send {
    /// The wall clock now, UTC.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let millis = match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
        };
        Timestamp::from_millis(millis).min(Timestamp::MAX)
    }
}
