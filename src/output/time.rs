//! Times and durations as they are shown.
//!
//! A row may hold any number where a time is meant: nothing here fails on one.

use std::time::Duration;

use chrono::{DateTime, Datelike, Local, Offset, SecondsFormat, TimeZone, Utc};

use crate::job::{Timestamp, Zone};

/// RFC 3339 in UTC with milliseconds; `None` outside of the years 0 to 9999,
/// which RFC 3339 cannot write.
pub fn rfc3339(time: Timestamp) -> Option<String> {
    utc(time).map(|time| time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

fn utc(time: Timestamp) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(time.millis()).filter(|time| (0..=9999).contains(&time.year()))
}

/// The local time to the second, for people.
pub fn local(time: Timestamp) -> String {
    written(time, &Local, "%Y-%m-%d %H:%M:%S")
}

/// How far away a time is if that is less than a day, else the local time to
/// the minute: `in 5m`, `3s ago`, `2026-12-01 02:00`.
pub fn short(time: Timestamp, now: Timestamp) -> String {
    const DAY: Duration = Duration::from_hours(24);
    let (ahead, behind) = (time.since(now), now.since(time));
    if ahead.max(behind) >= DAY {
        written(time, &Local, "%Y-%m-%d %H:%M")
    } else if ahead > Duration::ZERO {
        format!("in {}", whole(ahead))
    } else {
        format!("{} ago", whole(behind))
    }
}

/// The time by the clock of a zone, to the minute, with the day of the week
/// and the offset: `Sun 2027-03-28 03:00 +02:00`.
pub fn in_zone(time: Timestamp, zone: &Zone) -> String {
    let offset = utc(time).map_or_else(|| Utc.fix(), |utc| zone.offset_at(utc));
    written(time, &offset, "%a %Y-%m-%d %H:%M %:z")
}

/// RFC 3339 by the clock of a zone.
pub fn rfc3339_in(time: Timestamp, zone: &Zone) -> Option<String> {
    let utc = utc(time)?;
    Some(utc.with_timezone(&zone.offset_at(utc)).to_rfc3339_opts(SecondsFormat::Secs, false))
}

fn written<Z: TimeZone>(time: Timestamp, zone: &Z, format: &str) -> String
where
    Z::Offset: std::fmt::Display,
{
    match utc(time) {
        Some(utc) => utc.with_timezone(zone).format(format).to_string(),
        None if time > Timestamp::MAX => "after the year 9999".to_owned(),
        None => "before the year 0".to_owned(),
    }
}

/// The local midnight that begins the day of `now`; a midnight that a clock
/// change skips or repeats gives the first time of that day.
pub fn midnight(now: Timestamp) -> Timestamp {
    let begun = utc(now).and_then(|utc| {
        let day = utc.with_timezone(&Local).date_naive();
        let mut hours = (0..24).filter_map(|hour| day.and_hms_opt(hour, 0, 0));
        hours.find_map(|time| Local.from_local_datetime(&time).earliest())
    });
    begun.map_or(now, |time| Timestamp::from_millis(time.timestamp_millis()))
}

/// How long something took: `40ms`, `3.2s`, `12s`, `4m05s`, `1h30m`, `2d04h`.
pub fn took(length: Duration) -> String {
    match length.as_millis() {
        0..1_000 => format!("{}ms", length.as_millis()),
        1_000..10_000 => format!("{}.{}s", length.as_secs(), length.subsec_millis() / 100),
        _ => whole(length),
    }
}

/// The same in whole seconds.
pub fn whole(length: Duration) -> String {
    let seconds = length.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{minutes}m{:02}s", seconds % 60),
        3_600..86_400 => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{days}d{:02}h", hours % 24),
    }
}

/// A limit or a delay as it is typed: `1m30s`, `200ms`, `none`.
pub fn limit(length: Option<Duration>) -> String {
    match length {
        None => "none".to_owned(),
        Some(length) => humantime::format_duration(length).to_string().replace(' ', ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_796_126_400_000);

    #[test]
    fn json_has_utc_with_milliseconds() {
        assert_eq!(rfc3339(NOON).as_deref(), Some("2026-12-01T12:00:00.000Z"));
        assert_eq!(rfc3339(Timestamp::MAX).as_deref(), Some("9999-12-31T23:59:59.999Z"));
    }

    #[test]
    fn nonsense_is_no_time_and_no_panic() {
        for millis in [i64::MIN, i64::MAX, Timestamp::MAX.millis() + 1, -70_000_000_000_000] {
            let time = Timestamp::from_millis(millis);
            assert_eq!(rfc3339(time), None);
            assert!(local(time).contains("the year"), "{millis}");
            assert!(!short(time, NOON).is_empty());
            assert_eq!(midnight(time), time);
        }
    }

    #[test]
    fn a_near_time_is_told_by_its_distance() {
        let at = |seconds: i64| Timestamp::from_millis(NOON.millis() + seconds * 1_000);
        assert_eq!(short(at(300), NOON), "in 5m00s");
        assert_eq!(short(at(-3), NOON), "3s ago");
        assert_eq!(short(NOON, NOON), "0s ago");
        assert!(short(at(100_000), NOON).starts_with("2026-12-0"));
    }

    #[test]
    fn a_duration_has_two_units_at_most() {
        let texts = [40, 3_210, 12_900, 245_000, 5_400_000, 187_200_000]
            .map(|millis| took(Duration::from_millis(millis)));
        assert_eq!(texts, ["40ms", "3.2s", "12s", "4m05s", "1h30m", "2d04h"]);
    }

    #[test]
    fn a_limit_can_be_typed_back() {
        for (text, millis) in
            [("1m30s", 90_000), ("200ms", 200), ("1h", 3_600_000), ("2days", 172_800_000)]
        {
            let length = Duration::from_millis(millis);
            assert_eq!(limit(Some(length)), text);
            assert_eq!(crate::when::duration(text), Ok(length));
        }
        assert_eq!(limit(None), "none");
    }

    #[test]
    fn a_day_begins_before_its_noon() {
        let begun = midnight(NOON);
        assert!(begun <= NOON && NOON.since(begun) < Duration::from_hours(25));
    }
}
