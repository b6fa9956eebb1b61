//! When a cron expression comes in a time zone, also where its clock changes.
//!
//! The rule is cron's own (Vixie's, and so Debian's and cronie's). A fixed time
//! of day comes once a day: one that the clock skips comes right after the
//! skip, and one that the clock shows twice comes the first time only. An
//! expression whose minute or hour begins with `*` follows the clock: it comes
//! whenever the clock shows a time that fits, and only then.

use chrono::{DateTime, NaiveDateTime, NaiveTime, TimeDelta, Timelike, Utc};

use super::{Cron, Timestamp, Zone};

/// A cron expression in a time zone.
#[derive(Clone, Debug, PartialEq)]
pub struct Timetable {
    /// When.
    pub cron: Cron,
    /// By which clock.
    pub zone: Zone,
}

/// What a clock does when it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockChange {
    /// What it would show then.
    pub from: NaiveTime,
    /// What it shows instead.
    pub to: NaiveTime,
}

/// No clock change is longer than a day, nor do two lie within one.
const DAY: TimeDelta = TimeDelta::days(1);

impl Timetable {
    /// Reads a table from an expression and the name of a zone.
    ///
    /// # Errors
    /// Says what is wrong with either.
    pub fn new(cron: &str, zone: &str) -> Result<Self, String> {
        Ok(Self { cron: cron.parse()?, zone: zone.parse()? })
    }

    /// The first time after `after`; `None` beyond the year 5000.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let after = utc(after)?;
        let next = if self.cron.follows_clock() { self.shown(after) } else { self.fixed(after) };
        next.map(|next| Timestamp::from_millis(next.timestamp_millis()))
    }

    /// The times after `after`, in order.
    pub fn after(&self, after: Timestamp) -> impl Iterator<Item = Timestamp> {
        std::iter::successors(self.next(after), |last| self.next(*last))
    }

    /// The last `most` of the times after `after` and not after `until`, in
    /// order. How long it takes depends on `most`, and next to nothing on how
    /// far the two lie apart.
    pub fn last_until(&self, after: Timestamp, until: Timestamp, most: usize) -> Vec<Timestamp> {
        let (after, until) = (within(after), within(until));
        let mut span = TimeDelta::minutes(i64::try_from(most).unwrap_or(1));
        loop {
            let back = Timestamp::from_millis(until.millis() - span.num_milliseconds());
            let from = back.max(after);
            let mut times: Vec<_> = self.after(from).take_while(|time| *time <= until).collect();
            if times.len() >= most || from == after {
                times.drain(..times.len().saturating_sub(most));
                return times;
            }
            span = span * 2;
        }
    }

    /// What the clock does on the day of `time`, if it changes then.
    pub fn clock_change(&self, time: Timestamp) -> Option<ClockChange> {
        let day = self.local(utc(time)?).date();
        // A change at midnight belongs to the day that it begins.
        let edge = |day: chrono::NaiveDate| {
            Some(self.first_reading(day.and_time(NaiveTime::MIN)) - TimeDelta::milliseconds(1))
        };
        let (begin, end) = (edge(day)?, edge(day.succ_opt()?)?);
        let change = self.change_in(begin, end)?;
        let before = self.offset(begin);
        Some(ClockChange {
            from: (change.naive_utc() + before).time(),
            to: self.local(change).time(),
        })
    }

    /// The next moment for a fixed time of day. Later local times never mean
    /// earlier moments, so the first that lies ahead is the next.
    fn fixed(&self, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let mut local = self.cron.next(minute(self.local(after)), true)?;
        loop {
            let moment = self.first_reading(local);
            if moment > after {
                return Some(moment);
            }
            local = self.cron.next(local, false)?;
        }
    }

    /// The next moment at which the clock shows a time that fits. Up to each
    /// change of the clock its times are those of one offset.
    fn shown(&self, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let (mut from, mut inclusive) = (after, false);
        loop {
            let local = self.cron.next(minute(self.local(from)), inclusive)?;
            let moment = (local - self.offset(from)).and_utc();
            match self.change_in(from, moment) {
                Some(change) => (from, inclusive) = (change, true),
                None => return Some(moment),
            }
        }
    }

    /// The moment at which the clock shows `local` first; right after the
    /// change if it skips it.
    fn first_reading(&self, local: NaiveDateTime) -> DateTime<Utc> {
        let before = self.offset((local - DAY).and_utc());
        let after = self.offset((local + DAY).and_utc());
        let (early, late) = (local - before.max(after), local - before.min(after));
        let shows = |moment: NaiveDateTime| self.local(moment.and_utc()) == local;
        if shows(early) {
            early.and_utc()
        } else if shows(late) {
            late.and_utc()
        } else {
            self.change_in(early.and_utc(), late.and_utc()).unwrap_or(late.and_utc())
        }
    }

    /// The first moment in (from, to] at which the clock is changed.
    fn change_in(&self, from: DateTime<Utc>, to: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let offset = self.offset(from);
        let mut same = from;
        while same < to {
            let next = (same + DAY).min(to);
            if self.offset(next) != offset {
                return Some(self.change_between(same, next));
            }
            same = next;
        }
        None
    }

    /// The moment in (same, other] from which the offset is no longer that at `same`.
    fn change_between(&self, same: DateTime<Utc>, other: DateTime<Utc>) -> DateTime<Utc> {
        let offset = self.offset(same);
        let (mut low, mut high) = (same.timestamp(), other.timestamp());
        while low + 1 < high {
            let middle = low.midpoint(high);
            let moment = DateTime::from_timestamp_secs(middle).unwrap_or(same);
            if self.offset(moment) == offset { low = middle } else { high = middle }
        }
        DateTime::from_timestamp_secs(high).unwrap_or(other)
    }

    fn offset(&self, moment: DateTime<Utc>) -> TimeDelta {
        TimeDelta::seconds(self.zone.offset_at(moment).local_minus_utc().into())
    }

    fn local(&self, moment: DateTime<Utc>) -> NaiveDateTime {
        moment.naive_utc() + self.offset(moment)
    }
}

/// Nothing is due before 1970 or after the year 9999, whatever a row says.
fn within(time: Timestamp) -> Timestamp {
    time.clamp(Timestamp::default(), Timestamp::MAX)
}

fn utc(time: Timestamp) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(within(time).millis())
}

/// The minute in which a time lies.
fn minute(local: NaiveDateTime) -> NaiveDateTime {
    local.with_second(0).and_then(|local| local.with_nanosecond(0)).unwrap_or(local)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(cron: &str, zone: &str) -> Timetable {
        Timetable::new(cron, zone).unwrap_or_else(|why| panic!("{why}"))
    }

    fn at(text: &str) -> Timestamp {
        let time = DateTime::parse_from_rfc3339(text).expect("a time in a test");
        Timestamp::from_millis(time.timestamp_millis())
    }

    /// The next times as the clock of the zone shows them.
    fn next<const N: usize>(cron: &str, zone: &str, after: &str) -> [String; N] {
        let table = table(cron, zone);
        let mut times = table.after(at(after));
        std::array::from_fn(|_| {
            let time = times.next().expect("it comes again").millis();
            let utc = DateTime::from_timestamp_millis(time).expect("in range");
            utc.with_timezone(&table.zone.offset_at(utc)).format("%m-%d %H:%M %z").to_string()
        })
    }

    #[test]
    fn a_fixed_time_that_the_clock_skips_comes_right_after_the_skip() {
        let berlin = next("30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z");
        assert_eq!(berlin, ["03-28 03:00 +0200", "03-29 02:30 +0200"]);
        let lord_howe = next("15 2 * * *", "Australia/Lord_Howe", "2027-10-02T00:00:00Z");
        assert_eq!(lord_howe, ["10-03 02:30 +1100", "10-04 02:15 +1100"]);
        let santiago = next("@daily", "America/Santiago", "2027-09-04T12:00:00Z");
        assert_eq!(santiago, ["09-05 01:00 -0300", "09-06 00:00 -0300"]);
    }

    #[test]
    fn several_times_in_a_skip_are_one_start() {
        let times = next("0,15,45 2,3 * * *", "America/New_York", "2027-03-14T06:00:00Z");
        assert_eq!(times, ["03-14 03:00 -0400", "03-14 03:15 -0400", "03-14 03:45 -0400"]);
    }

    #[test]
    fn a_fixed_time_that_the_clock_shows_twice_comes_the_first_time_only() {
        let york = next("30 1 * * *", "America/New_York", "2027-11-06T12:00:00Z");
        assert_eq!(york, ["11-07 01:30 -0400", "11-08 01:30 -0500"]);
        let second = next("30 1 * * *", "America/New_York", "2027-11-07T06:00:00Z");
        assert_eq!(second, ["11-08 01:30 -0500"]);
        let lord_howe = next("45 1 * * *", "Australia/Lord_Howe", "2027-04-03T00:00:00Z");
        assert_eq!(lord_howe, ["04-04 01:45 +1100", "04-05 01:45 +1030"]);
        let santiago = next("30 23 * * *", "America/Santiago", "2027-04-03T12:00:00Z");
        assert_eq!(santiago, ["04-03 23:30 -0300", "04-04 23:30 -0400"]);
    }

    #[test]
    fn what_follows_the_clock_comes_whenever_the_clock_shows_it() {
        let skip = next("*/20 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z");
        assert_eq!(skip, ["03-29 02:00 +0200"]);
        let twice = next("*/30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z");
        let want =
            ["10-31 02:00 +0200", "10-31 02:30 +0200", "10-31 02:00 +0100", "10-31 02:30 +0100"];
        assert_eq!(twice, want);
        let half = next("0 * * * *", "Australia/Lord_Howe", "2027-10-02T14:30:00Z");
        assert_eq!(half, ["10-03 03:00 +1100", "10-03 04:00 +1100"]);
    }

    #[test]
    fn a_repeated_hour_is_found_also_when_its_day_comes_once_a_year() {
        let times = next("* 2 31 10 *", "Europe/Berlin", "2027-10-31T00:59:00Z");
        assert_eq!(times, ["10-31 02:00 +0100"]);
    }

    #[test]
    fn a_time_within_a_minute_is_after_its_beginning() {
        let table = table("* * * * *", "UTC");
        assert_eq!(table.next(at("2027-01-01T00:00:00.001Z")), Some(at("2027-01-01T00:01:00Z")));
        assert_eq!(table.next(at("2026-12-31T23:59:59.999Z")), Some(at("2027-01-01T00:00:00Z")));
    }

    #[test]
    fn the_last_times_of_a_long_span_are_found_without_the_others() {
        let minutes = table("* * * * *", "UTC");
        let times = minutes.last_until(at("1970-01-01T00:00:00Z"), at("2027-01-01T00:00:30Z"), 2);
        assert_eq!(times, [at("2026-12-31T23:59:00Z"), at("2027-01-01T00:00:00Z")]);
        let years = table("@yearly", "UTC");
        let times = years.last_until(at("2025-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z"), 100);
        assert_eq!(times, [at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z")]);
    }

    proptest! {
        #[test]
        fn times_come_in_order_and_by_the_clock_of_the_zone(
            cron in "(\\*|\\*/[1-9]|[0-5]?[0-9]) (\\*|\\*/[1-9]|1?[0-9]) \\* \\* (\\*|[0-7])",
            zone in proptest::sample::select(Zone::names().collect::<Vec<_>>()),
            after in 0i64..4_000_000_000_000,
        ) {
            let table = Timetable { cron: cron.parse().expect("valid"), zone: zone.parse().expect("valid") };
            let mut last = Timestamp::from_millis(after);
            for time in table.after(last).take(5) {
                prop_assert!(time > last, "{cron} {zone}");
                // What the clock shows fits, unless the clock was changed right then.
                let utc = DateTime::from_timestamp_millis(time.millis()).expect("in range");
                let local = table.local(utc);
                let before = table.offset(utc - TimeDelta::milliseconds(1));
                let fits = table.cron.next(local, true) == Some(local);
                prop_assert!(fits || before != table.offset(utc), "{cron} {zone} {local}");
                last = time;
            }
        }

        #[test]
        fn no_time_is_too_far_away_to_be_asked_about(
            far in any::<i64>(),
            until in 0i64..4_000_000_000_000,
        ) {
            let table = table("30 2 * * *", "America/New_York");
            let (far, until) = (Timestamp::from_millis(far), Timestamp::from_millis(until));
            let _ = (table.next(far), table.clock_change(far));
            prop_assert!(table.last_until(far, until, 3).len() <= 3);
        }
    }

    #[test]
    fn the_day_of_a_clock_change_is_known_and_no_other() {
        let change = |zone: &str, time: &str| {
            let change = table("@daily", zone).clock_change(at(time))?;
            Some(format!("{} {}", change.from.format("%H:%M"), change.to.format("%H:%M")))
        };
        assert_eq!(change("Europe/Berlin", "2027-03-28T12:00:00Z").as_deref(), Some("02:00 03:00"));
        assert_eq!(change("Europe/Berlin", "2027-03-27T22:59:00Z"), None);
        assert_eq!(change("Europe/Berlin", "2027-03-29T00:00:00Z"), None);
        let half = change("Australia/Lord_Howe", "2027-04-04T00:00:00Z");
        assert_eq!(half.as_deref(), Some("02:00 01:30"));
        let midnight = change("America/Santiago", "2027-09-05T04:00:00Z");
        assert_eq!(midnight.as_deref(), Some("00:00 01:00"));
        assert_eq!(change("America/Santiago", "2027-09-05T03:59:00Z"), None);
        let back = change("America/Santiago", "2027-04-03T12:00:00Z");
        assert_eq!(back.as_deref(), Some("00:00 23:00"));
        assert_eq!(change("UTC", "2027-03-28T12:00:00Z"), None);
    }
}
