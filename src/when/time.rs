//! Times: RFC 3339, `2026-12-01 02:00`, `02:00`, `tomorrow 02:00`, `fri 22:30`.
//!
//! A local time that the clock skips, or shows twice, is refused with the two
//! moments that may be meant, written so that they can be typed.

use chrono::{
    DateTime, Datelike, Days, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Offset,
    SecondsFormat, TimeDelta, TimeZone, Utc, Weekday,
};

use super::written::{Clock, Day, written};
use crate::job::Timestamp;

/// Reads a time as it is meant at `now` in `zone`; a day or time of day that
/// comes again and again means the next one.
pub fn time<Z: TimeZone>(text: &str, now: Timestamp, zone: &Z) -> Result<Timestamp, String> {
    read(text, &Reader { now: utc(now), zone, toward: Toward::Future })
}

/// Reads a time like [`time`], but the last one is meant, not the next.
pub fn last<Z: TimeZone>(text: &str, now: Timestamp, zone: &Z) -> Result<Timestamp, String> {
    read(text, &Reader { now: utc(now), zone, toward: Toward::Past })
}

fn read<Z: TimeZone>(text: &str, reader: &Reader<'_, Z>) -> Result<Timestamp, String> {
    let moment = written(text).and_then(|(day, clock)| reader.moment(day, clock));
    moment.and_then(stamp).map_err(|why| format!("`{text}`: {why}"))
}

fn stamp(moment: DateTime<FixedOffset>) -> Result<Timestamp, String> {
    let stamp = Timestamp::from_millis(moment.timestamp_millis());
    if stamp < Timestamp::from_millis(0) || stamp > Timestamp::MAX {
        return Err("only the years 1970 to 9999 can be meant".to_owned());
    }
    Ok(stamp)
}

fn utc(now: Timestamp) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(now.millis()).unwrap_or_default()
}

/// Which of the times that come again is meant.
#[derive(Clone, Copy, PartialEq)]
enum Toward {
    Future,
    Past,
}

struct Reader<'a, Z> {
    now: DateTime<Utc>,
    zone: &'a Z,
    toward: Toward,
}

type Moment = Result<DateTime<FixedOffset>, String>;

impl<Z: TimeZone> Reader<'_, Z> {
    fn moment(&self, day: Day, Clock { time, offset }: Clock) -> Moment {
        let today = self.now.with_timezone(self.zone).date_naive();
        match (day, offset) {
            (Day::On(date), Some(offset)) => {
                offset.from_local_datetime(&date.and_time(time)).single().ok_or_else(too_far)
            }
            (Day::On(date), None) => self.exactly(date.and_time(time)),
            (Day::From(days), None) => self.exactly(add(today, days)?.and_time(time)),
            (Day::Every(weekday), None) => self.nearest(today, Some(weekday), time),
            (Day::Any, None) => self.nearest(today, None, time),
            (Day::From(_) | Day::Every(_) | Day::Any, Some(_)) => {
                Err("an offset needs a date before it".to_owned())
            }
        }
    }

    /// The moment at which the clock shows `local`.
    fn exactly(&self, local: NaiveDateTime) -> Moment {
        match self.moments(local).as_slice() {
            [one] => Ok(*one),
            [first, second] => Err(twice(local, [*first, *second])),
            _ => Err(skipped(local, self.around(local))),
        }
    }

    /// The moments at which the clock shows `local`: one, two or none, the
    /// earlier first. Each is tried out, because chrono counts the edges of a
    /// clock change to it: 03:00 at its end would exist twice, 02:00 at the
    /// beginning of a skip once.
    fn moments(&self, local: NaiveDateTime) -> Vec<DateTime<FixedOffset>> {
        let mut readings = self.around(local).to_vec();
        readings.sort_unstable();
        readings.dedup();
        readings.retain(|moment| moment.naive_local() == local);
        readings
    }

    /// The next (or last) moment at which the clock shows `time`, on such a day.
    fn nearest(&self, today: NaiveDate, weekday: Option<Weekday>, time: NaiveTime) -> Moment {
        const FAR: i64 = 15;
        for days in 0..FAR {
            let day = add(today, if self.toward == Toward::Future { days } else { -days })?;
            if weekday.is_some_and(|weekday| weekday != day.weekday()) {
                continue;
            }
            if let Some(found) = self.ahead(day.and_time(time)).transpose() {
                return found;
            }
        }
        Err(too_far())
    }

    /// The moment at which the clock shows `local`, unless it lies on the wrong
    /// side of now. Refused only if two moments are possible.
    fn ahead(&self, local: NaiveDateTime) -> Result<Option<DateTime<FixedOffset>>, String> {
        let right = |moment: &DateTime<FixedOffset>| match self.toward {
            Toward::Future => *moment > self.now,
            Toward::Past => *moment <= self.now,
        };
        match self.moments(local).as_slice() {
            [] => {
                let readings = self.around(local);
                if readings.iter().any(right) {
                    return Err(skipped(local, readings));
                }
                Ok(None)
            }
            moments => {
                let possible: Vec<_> = moments.iter().copied().filter(right).collect();
                match possible.as_slice() {
                    [first, second] => Err(twice(local, [*first, *second])),
                    other => Ok(other.first().copied()),
                }
            }
        }
    }

    /// What a skipped local time is by the offsets before and after the skip,
    /// the earlier moment first.
    fn around(&self, local: NaiveDateTime) -> [DateTime<FixedOffset>; 2] {
        let reading = |days: i64| {
            let near = local + TimeDelta::days(days);
            let offset = self.zone.offset_from_utc_datetime(&near).fix();
            let moment = offset.from_local_datetime(&local).single().unwrap_or_default();
            moment.with_timezone(self.zone).fixed_offset()
        };
        [reading(1), reading(-1)]
    }
}

fn add(day: NaiveDate, days: i64) -> Result<NaiveDate, String> {
    let step = Days::new(days.unsigned_abs());
    let sum = if days < 0 { day.checked_sub_days(step) } else { day.checked_add_days(step) };
    sum.ok_or_else(too_far)
}

fn too_far() -> String {
    "lies too far away".to_owned()
}

fn skipped(local: NaiveDateTime, readings: [DateTime<FixedOffset>; 2]) -> String {
    format!("the clock skips {}; write {}", shown(local), either(readings))
}

fn twice(local: NaiveDateTime, readings: [DateTime<FixedOffset>; 2]) -> String {
    format!("the clock shows {} twice; write {}", shown(local), either(readings))
}

fn shown(local: NaiveDateTime) -> String {
    local.format("%Y-%m-%d %H:%M").to_string()
}

fn either(readings: [DateTime<FixedOffset>; 2]) -> String {
    let [a, b] = readings.map(|moment| moment.to_rfc3339_opts(SecondsFormat::Secs, true));
    format!("`{a}` or `{b}`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono_tz::Tz;
    use chrono_tz::{America::Santiago, Australia::Lord_Howe, Europe::Berlin};

    fn at(zone: Tz, now: &str, text: &str) -> Result<String, String> {
        let now = DateTime::parse_from_rfc3339(now).expect("a time in a test").timestamp_millis();
        let stamp = time(text, Timestamp::from_millis(now), &zone)?;
        let moment = DateTime::from_timestamp_millis(stamp.millis()).expect("in range");
        Ok(moment.with_timezone(&zone).to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }

    /// A Wednesday.
    const NOON: &str = "2026-12-02T12:00:00+01:00";

    fn berlin(text: &str) -> String {
        at(Berlin, NOON, text).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn a_date_and_a_time_of_day_are_local() {
        assert_eq!(berlin("2026-12-24 02:00"), "2026-12-24T02:00:00+01:00");
        assert_eq!(berlin("2026-12-24 02:00:30"), "2026-12-24T02:00:30+01:00");
        assert_eq!(berlin("2026-12-24T02:00"), "2026-12-24T02:00:00+01:00");
        assert_eq!(berlin("2027-07-01 02:00"), "2027-07-01T02:00:00+02:00");
        assert_eq!(berlin("  2026-12-24   9:05 "), "2026-12-24T09:05:00+01:00");
    }

    #[test]
    fn rfc_3339_means_what_it_says() {
        assert_eq!(berlin("2026-12-24T02:00:00Z"), "2026-12-24T03:00:00+01:00");
        assert_eq!(berlin("2026-12-24T02:00:00.25+05:30"), "2026-12-23T21:30:00.250+01:00");
        assert_eq!(berlin("2026-12-24 02:00:00-08:00"), "2026-12-24T11:00:00+01:00");
        assert_eq!(berlin("2026-12-24 02:00 +0100"), "2026-12-24T02:00:00+01:00");
    }

    #[test]
    fn a_time_in_the_past_is_taken_as_it_is() {
        assert_eq!(berlin("2026-12-01 02:00"), "2026-12-01T02:00:00+01:00");
        assert_eq!(berlin("today 02:00"), "2026-12-02T02:00:00+01:00");
    }

    #[test]
    fn a_time_of_day_alone_is_the_next_one() {
        assert_eq!(berlin("12:01"), "2026-12-02T12:01:00+01:00");
        assert_eq!(berlin("12:00"), "2026-12-03T12:00:00+01:00");
        assert_eq!(berlin("02:00"), "2026-12-03T02:00:00+01:00");
    }

    #[test]
    fn days_have_names() {
        assert_eq!(berlin("tomorrow 02:00"), "2026-12-03T02:00:00+01:00");
        assert_eq!(berlin("Tomorrow 02:00"), "2026-12-03T02:00:00+01:00");
        assert_eq!(berlin("fri 22:30"), "2026-12-04T22:30:00+01:00");
        assert_eq!(berlin("Friday 22:30"), "2026-12-04T22:30:00+01:00");
        assert_eq!(berlin("wed 13:00"), "2026-12-02T13:00:00+01:00");
        assert_eq!(berlin("WED 11:00"), "2026-12-09T11:00:00+01:00");
    }

    #[test]
    fn what_is_no_time_is_refused_with_what_would_be() {
        for bad in
            ["", "tomorrowish", "soon 02:00", "2 o'clock", "02:00pm", "12", "2026/12/01 02:00"]
        {
            let why = at(Berlin, NOON, bad).expect_err(bad);
            assert!(why.contains("tomorrow 02:00"), "{why}");
        }
        for bad in ["+12:00", "12:", ":12", "1:2:3:4", "12:00.5", "12:00Z", "2026-1-1 02:00"] {
            assert!(at(Berlin, NOON, bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn there_is_no_31_february_and_no_25_o_clock() {
        let february = at(Berlin, NOON, "2027-02-31T10:00:00Z");
        assert_eq!(february, Err("`2027-02-31T10:00:00Z`: there is no day 2027-02-31".into()));
        let hour = at(Berlin, NOON, "2027-02-01T25:00:00Z");
        assert_eq!(hour, Err("`2027-02-01T25:00:00Z`: there is no time 25:00:00".into()));
        assert!(at(Berlin, NOON, "24:00").is_err());
        assert!(at(Berlin, NOON, "12:00:60").is_err());
        assert!(at(Berlin, NOON, "2027-02-01T10:00:00+24:00").is_err());
    }

    #[test]
    fn a_day_without_a_time_asks_for_one() {
        let why = at(Berlin, NOON, "tomorrow").expect_err("no time of day");
        assert_eq!(why, "`tomorrow`: say when on that day: `tomorrow 02:00`");
    }

    #[test]
    fn a_local_time_that_does_not_exist_is_refused_with_both_readings() {
        let why = at(Berlin, NOON, "2027-03-28 02:30").expect_err("in the gap");
        assert_eq!(
            why,
            "`2027-03-28 02:30`: the clock skips 2027-03-28 02:30; write \
             `2027-03-28T01:30:00+01:00` or `2027-03-28T03:30:00+02:00`"
        );
        assert!(at(Santiago, NOON, "2027-09-05 00:00").is_err());
        let why = at(Lord_Howe, NOON, "2027-10-03 02:15").expect_err("in the half-hour gap");
        assert!(
            why.contains("`2027-10-03T01:45:00+10:30` or `2027-10-03T02:45:00+11:00`"),
            "{why}"
        );
    }

    #[test]
    fn a_local_time_that_exists_twice_is_refused_with_both_readings() {
        let why = at(Berlin, NOON, "2027-10-31 02:30").expect_err("twice");
        assert_eq!(
            why,
            "`2027-10-31 02:30`: the clock shows 2027-10-31 02:30 twice; write \
             `2027-10-31T02:30:00+02:00` or `2027-10-31T02:30:00+01:00`"
        );
        assert_eq!(berlin("2027-10-31T02:30:00+02:00"), "2027-10-31T02:30:00+02:00");
    }

    #[test]
    fn the_edges_of_a_clock_change_are_taken_for_what_they_are() {
        assert!(at(Berlin, NOON, "2027-03-28 02:00").is_err(), "the skip begins with it");
        assert_eq!(berlin("2027-03-28 03:00"), "2027-03-28T03:00:00+02:00");
        assert!(at(Berlin, NOON, "2027-10-31 02:00").is_err(), "the hour that comes twice begins");
        assert_eq!(berlin("2027-10-31 03:00"), "2027-10-31T03:00:00+01:00");
        assert_eq!(berlin("2027-10-31 01:59:59"), "2027-10-31T01:59:59+02:00");
    }

    #[test]
    fn the_next_time_of_day_is_refused_only_if_two_moments_are_possible() {
        assert!(at(Berlin, "2027-10-31T01:00:00+02:00", "02:30").is_err());
        assert!(at(Berlin, "2027-03-28T01:00:00+01:00", "02:30").is_err());
        let between = at(Berlin, "2027-10-31T02:45:00+02:00", "02:30");
        assert_eq!(between, Ok("2027-10-31T02:30:00+01:00".into()));
        let after = at(Berlin, "2027-10-31T02:45:00+01:00", "02:30");
        assert_eq!(after, Ok("2027-11-01T02:30:00+01:00".into()));
    }

    #[test]
    fn only_the_years_1970_to_9999_can_be_meant() {
        assert!(at(Berlin, NOON, "1969-12-31 02:00").is_err());
        assert!(at(Berlin, NOON, "9999-12-31T23:59:59-10:00").is_err());
        assert!(at(Berlin, NOON, "10000-01-01 02:00").is_err());
    }

    #[test]
    fn the_last_time_of_day_lies_behind() {
        let now = utc_of(NOON);
        let last = |text| last(text, now, &Berlin).expect("a time");
        assert_eq!(last("13:00"), utc_of("2026-12-01T13:00:00+01:00"));
        assert_eq!(last("12:00"), now);
        assert_eq!(last("wed 13:00"), utc_of("2026-11-25T13:00:00+01:00"));
        assert_eq!(last("yesterday 13:00"), utc_of("2026-12-01T13:00:00+01:00"));
    }

    fn utc_of(text: &str) -> Timestamp {
        let moment = DateTime::parse_from_rfc3339(text).expect("a time in a test");
        Timestamp::from_millis(moment.timestamp_millis())
    }
}
