//! Durations and times as people type them.

use std::time::Duration;

use crate::cli::Timeout;
use crate::job::Timestamp;

/// A point in the past: a duration back from now, or a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Past {
    /// So long ago.
    Ago(Duration),
    /// At that time.
    At(Timestamp),
}

/// Reads a duration.
pub fn duration(_text: &str) -> Result<Duration, String> {
    Err("to come".to_owned())
}

/// Reads a duration that is longer than nothing.
pub fn positive_duration(text: &str) -> Result<Duration, String> {
    duration(text)
}

/// Reads a time limit: a duration longer than nothing, or `none`.
pub fn timeout(text: &str) -> Result<Timeout, String> {
    positive_duration(text).map(|limit| Timeout(Some(limit)))
}

/// Reads a back-off factor: a number of 1 or more.
pub fn factor(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "to come".to_owned())
}

/// Reads a point in the past.
pub fn past(text: &str) -> Result<Past, String> {
    duration(text).map(Past::Ago)
}
