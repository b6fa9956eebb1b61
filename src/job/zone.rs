//! A time zone of the tz database.
//!
//! Its rules are those of the machine's own database, which is kept up to date
//! there, or of a copy in this program where the machine has none.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, FixedOffset, Offset, Utc};
use jiff::tz::{TimeZone, db};

/// Files beside the zones of a machine that are none themselves: its own choice,
/// and the rules of another one.
const NO_ZONES: [&str; 2] = ["localtime", "posixrules"];

/// A time zone with a name, such as `Europe/Berlin`.
#[derive(Clone, PartialEq)]
pub struct Zone(TimeZone);

impl Zone {
    /// The one without an offset.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// The names of all there are.
    pub fn names() -> impl Iterator<Item = String> {
        db().available().map(|name| name.to_string()).filter(|name| !is_none(name))
    }

    /// Its name in the database.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// By how much its clock differs from UTC at a moment.
    pub fn offset_at(&self, moment: DateTime<Utc>) -> FixedOffset {
        let moment = jiff::Timestamp::from_second(moment.timestamp()).unwrap_or_default();
        let seconds = self.0.to_offset(moment).seconds();
        FixedOffset::east_opt(seconds).unwrap_or_else(|| Utc.fix())
    }
}

impl FromStr for Zone {
    type Err = String;

    /// Reads the name of a time zone; says what names look like if it is none.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match TimeZone::get(name) {
            Ok(zone) if zone.iana_name().is_some_and(|name| !is_none(name)) => Ok(Self(zone)),
            Ok(_) | Err(_) => {
                let shown = name.escape_debug();
                Err(format!(
                    "`{shown}` is no time zone; these are: Europe/Berlin, America/New_York, UTC"
                ))
            }
        }
    }
}

fn is_none(name: &str) -> bool {
    NO_ZONES.contains(&name)
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> Zone {
        name.parse().unwrap_or_else(|why| panic!("{why}"))
    }

    #[test]
    fn a_zone_keeps_the_name_of_the_database() {
        assert_eq!(zone("Europe/Berlin").name(), "Europe/Berlin");
        assert_eq!(zone("america/new_york").name(), "America/New_York");
        for utc in ["UTC", "utc"] {
            assert_eq!(zone(utc), Zone::UTC, "{utc}");
        }
        assert_eq!(Zone::UTC.name(), "UTC");
    }

    #[test]
    fn what_is_no_zone_of_the_database_is_refused() {
        for bad in [
            "",
            "Berlin",
            "CET-1CEST",
            "+02:00",
            "../zoneinfo/UTC",
            "Europe/Nowhere",
            "Etc/Unknown",
            "a\nb",
            "localtime",
            "posixrules",
            "LocalTime",
        ] {
            let why = bad.parse::<Zone>().expect_err(bad);
            assert!(why.contains("is no time zone"), "{why}");
        }
    }

    #[test]
    fn an_offset_is_that_of_the_moment() {
        let berlin = zone("Europe/Berlin");
        let at =
            |second| berlin.offset_at(DateTime::from_timestamp_secs(second).expect("in range"));
        assert_eq!(at(1_806_195_599).local_minus_utc(), 3_600);
        assert_eq!(at(1_806_195_600).local_minus_utc(), 7_200);
        let end = DateTime::<Utc>::MAX_UTC;
        assert!(berlin.offset_at(end).local_minus_utc() >= 3_600);
    }

    #[test]
    fn there_are_names_of_all_zones() {
        let names: Vec<_> = Zone::names().collect();
        for name in ["America/Santiago", "Australia/Lord_Howe", "Europe/Berlin", "UTC"] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
        assert!(names.iter().all(|name| name.parse::<Zone>().is_ok()), "each can be typed");
    }
}
