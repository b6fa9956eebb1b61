//! Durations and times as people type and write them.
//!
//! What is not understood is refused with what would be; nothing is guessed,
//! rounded to nothing or wrapped around.

pub mod duration;
pub mod time;
mod written;

use std::time::Duration;

use chrono::{Local, TimeZone};

use crate::clock::{Clock, SystemClock};
use crate::job::{Timeout, Timestamp};

pub use duration::duration;
pub use time::time;

/// A point in the past: a duration back from now, or a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Past {
    /// So long ago.
    Ago(Duration),
    /// At that time.
    At(Timestamp),
}

/// Reads a duration that is longer than nothing.
pub fn positive_duration(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("must be longer than nothing".to_owned()),
        longer => Ok(longer),
    }
}

/// Reads a time limit: a duration longer than nothing, or `none`.
pub fn timeout(text: &str) -> Result<Timeout, String> {
    if text == "none" {
        return Ok(Timeout(None));
    }
    match duration(text)? {
        Duration::ZERO => Err("must be longer than nothing; `none` is no limit".to_owned()),
        limit => Ok(Timeout(Some(limit))),
    }
}

/// The largest back-off factor.
const MAX_FACTOR: f64 = 1000.0;

/// Reads a back-off factor: a number from 1 to 1000.
pub fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if (1.0..=MAX_FACTOR).contains(&factor) => Ok(factor),
        Ok(_) | Err(_) => Err(format!("`{text}` is not a number from 1 to {MAX_FACTOR}")),
    }
}

/// Reads a point in the past, in local time.
pub fn past(text: &str) -> Result<Past, String> {
    past_at(text, SystemClock.now(), &Local)
}

/// Reads a point in the past as it is meant at `now` in `zone`.
pub fn past_at<Z: TimeZone>(text: &str, now: Timestamp, zone: &Z) -> Result<Past, String> {
    let not_a_duration = match duration(text) {
        Ok(ago) => return Ok(Past::Ago(ago)),
        Err(why) => why,
    };
    match time::last(text, now, zone) {
        Ok(then) if then > now => Err(format!("`{text}` lies ahead; a time in the past is meant")),
        Ok(then) => Ok(Past::At(then)),
        Err(why) if text.contains([':', '-']) => Err(why),
        Err(_) => Err(format!("{not_a_duration}; a time works too: {}", written::EXAMPLES)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::Utc;
    use proptest::prelude::*;

    #[test]
    fn no_limit_is_typed_none_and_a_limit_of_nothing_is_refused() {
        assert_eq!(timeout("none"), Ok(Timeout(None)));
        assert_eq!(timeout("2m"), Ok(Timeout(Some(Duration::from_mins(2)))));
        for bad in ["0", "0s", "-1", "None", "nan", "inf", "1e400", "99999999999d"] {
            assert!(timeout(bad).is_err(), "{bad}");
        }
        assert!(positive_duration("0ms").is_err());
    }

    #[test]
    fn a_factor_is_a_number_from_one_to_a_thousand() {
        assert_eq!(factor("1"), Ok(1.0));
        assert_eq!(factor("1.5"), Ok(1.5));
        for bad in ["", "0", "0.99", "-2", "nan", "inf", "1e400", "1001", "two"] {
            assert!(factor(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_past_is_a_duration_or_the_last_such_time() {
        let noon = Timestamp::from_millis(12 * 3_600_000);
        assert_eq!(past_at("2h", noon, &Utc), Ok(Past::Ago(Duration::from_hours(2))));
        let two = Past::At(Timestamp::from_millis(2 * 3_600_000));
        assert_eq!(past_at("02:00", noon, &Utc), Ok(two));
        assert!(past_at("soon", noon, &Utc).is_err());
        let ahead = past_at("1970-01-02 00:00", noon, &Utc).expect_err("a time to come");
        assert_eq!(ahead, "`1970-01-02 00:00` lies ahead; a time in the past is meant");
        assert_eq!(past_at("1970-01-01 12:00", noon, &Utc), Ok(Past::At(noon)));
    }

    proptest! {
        #[test]
        fn no_text_makes_a_reader_panic(text in "\\PC*|[0-9a-zT:+. -]{0,24}", now in any::<i32>()) {
            let now = Timestamp::from_millis(i64::from(now) * 1000);
            let _ = (duration(&text), timeout(&text), factor(&text));
            let _ = past_at(&text, now, &chrono_tz::Europe::Berlin);
            let _ = time(&text, now, &chrono_tz::Australia::Lord_Howe);
        }
    }
}
