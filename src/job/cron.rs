//! Cron expressions: five fields, or `@daily` and its like.
//!
//! The rules are those of crontab(5): lists, ranges and steps, names of months
//! and days, Sunday as 0 and 7, and where both the day of the month and the day
//! of the week are restricted, a day that fits one of them. A field that begins
//! with `*` restricts nothing, also as `*/2`. What other programs added (`L`,
//! `W`, `#`, `?`, seconds, years) is refused, so that an expression means here
//! what it means to cron.

use std::fmt;
use std::str::FromStr;

use chrono::{NaiveDate, NaiveDateTime};
use croner::parser::{CronParser, Seconds, Year};

/// An expression that comes again and again.
#[derive(Clone, Debug)]
pub struct Cron {
    text: String,
    calendar: croner::Cron,
    follows_clock: bool,
}

impl Cron {
    /// The first local time after `local`, or at it if `inclusive`, that fits.
    pub(super) fn next(&self, local: NaiveDateTime, inclusive: bool) -> Option<NaiveDateTime> {
        self.calendar.find_next_occurrence(&local, inclusive).ok()
    }

    /// Tells whether it names no fixed time of day: its minute or hour begins
    /// with `*`, and so it follows the clock over a change, as the clock shows.
    pub(super) const fn follows_clock(&self) -> bool {
        self.follows_clock
    }
}

impl PartialEq for Cron {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Cron {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let fields = match words.as_slice() {
            [nickname] if nickname.starts_with('@') => expand(nickname)?,
            words => <[&str; 5]>::try_from(words).map_err(|_| not_five(words.len()))?,
        };
        for (field, of) in fields.iter().zip(&FIELDS) {
            of.check(field)?;
        }
        let [minute, hour, day, _, weekday] = fields;
        let calendar = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .dom_and_dow(day.starts_with('*') || weekday.starts_with('*'))
            .build()
            .parse(&fields.join(" "))
            .map_err(|error| error.to_string().to_lowercase())?;
        let follows_clock = minute.starts_with('*') || hour.starts_with('*');
        let cron = Self { text: words.join(" "), calendar, follows_clock };
        let beginning = NaiveDate::default().and_hms_opt(0, 0, 0).unwrap_or_default();
        match cron.next(beginning, true) {
            Some(_) => Ok(cron),
            None => Err("no such day ever comes".to_owned()),
        }
    }
}

/// The five fields that a nickname stands for.
fn expand(nickname: &str) -> Result<[&'static str; 5], String> {
    match nickname.to_ascii_lowercase().as_str() {
        "@yearly" | "@annually" => Ok(["0", "0", "1", "1", "*"]),
        "@monthly" => Ok(["0", "0", "1", "*", "*"]),
        "@weekly" => Ok(["0", "0", "*", "*", "0"]),
        "@daily" | "@midnight" => Ok(["0", "0", "*", "*", "*"]),
        "@hourly" => Ok(["0", "*", "*", "*", "*"]),
        "@reboot" => Err("a start of the machine is no time; let the boot do `ax add` \
                          (a systemd unit, or cron itself)"
            .to_owned()),
        _ => {
            Err("there are @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually"
                .into())
        }
    }
}

fn not_five(count: usize) -> String {
    let fields = if count == 1 { "field" } else { "fields" };
    format!(
        "{count} {fields} where five are needed: minute, hour, day of the month, month, day of \
         the week; or @daily and its like"
    )
}

/// What may stand in a field.
struct Field {
    name: &'static str,
    lowest: u8,
    highest: u8,
    /// Three letters each; the first is that of the lowest value.
    names: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field { name: "minute", lowest: 0, highest: 59, names: &[] },
    Field { name: "hour", lowest: 0, highest: 23, names: &[] },
    Field { name: "day of the month", lowest: 1, highest: 31, names: &[] },
    Field {
        name: "month",
        lowest: 1,
        highest: 12,
        names: &[
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ],
    },
    Field {
        name: "day of the week",
        lowest: 0,
        highest: 7,
        names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
    },
];

impl Field {
    /// Refuses what crontab(5) does not have; the parser takes more.
    fn check(&self, text: &str) -> Result<(), String> {
        text.split(',').try_for_each(|item| self.item(item))
    }

    fn item(&self, item: &str) -> Result<(), String> {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (item, None),
        };
        let is_range = match range.split_once('-') {
            _ if range == "*" => true,
            Some((from, to)) => self.range(range, from, to).map(|()| true)?,
            None => self.value(range).map(|_| false)?,
        };
        match step {
            None => Ok(()),
            Some(_) if !is_range => Err(format!(
                "a step needs a range: `{range}-{}/…` or `*/…` in the {}",
                self.highest, self.name
            )),
            Some(step) => self.step(step),
        }
    }

    fn range(&self, range: &str, from: &str, to: &str) -> Result<(), String> {
        let (low, mut high) = (self.value(from)?, self.value(to)?);
        // A week may end with its Sunday.
        if self.highest == 7 && to.eq_ignore_ascii_case("sun") {
            high = 7;
        }
        if low > high {
            return Err(format!(
                "the range {range} of the {} runs backwards; write two: `{from}-{},{}-{to}`",
                self.name, self.highest, self.lowest
            ));
        }
        Ok(())
    }

    fn step(&self, step: &str) -> Result<(), String> {
        match number(step) {
            Some(1..) => Ok(()),
            Some(0) | None => {
                Err(format!("`{step}` is no step of the {}; a number from 1 is", self.name))
            }
        }
    }

    fn value(&self, text: &str) -> Result<u8, String> {
        let name =
            self.names.iter().zip(self.lowest..).find(|(name, _)| text.eq_ignore_ascii_case(name));
        if let Some((_, value)) = name {
            return Ok(value);
        }
        let (lowest, highest) = (self.lowest, self.highest);
        number(text).filter(|value| (lowest..=highest).contains(value)).ok_or_else(|| {
            let names = match self.names {
                [first, .., last] => format!(" or a name from {first} to {last}"),
                _ => String::new(),
            };
            let shown = text.escape_debug();
            format!("`{shown}` is no {}; a number from {lowest} to {highest}{names} is", self.name)
        })
    }
}

/// A number of one or two digits.
fn number(text: &str) -> Option<u8> {
    let plain = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> NaiveDateTime {
        NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").expect("a time in a test")
    }

    fn next(expression: &str, after: &str) -> String {
        let cron: Cron = expression.parse().unwrap_or_else(|why| panic!("{why}"));
        let next = cron.next(at(after), false).expect("it comes again");
        next.format("%Y-%m-%d %H:%M").to_string()
    }

    fn refusal(expression: &str) -> String {
        expression.parse::<Cron>().expect_err(expression)
    }

    #[test]
    fn a_day_fits_either_of_two_restricted_day_fields() {
        assert_eq!(next("0 0 13 * 5", "2027-02-27 00:00"), "2027-03-05 00:00");
        assert_eq!(next("0 0 13 * 5", "2027-03-12 00:00"), "2027-03-13 00:00");
        assert_eq!(next("30 4 1,15 * 5", "2027-02-26 23:58"), "2027-03-01 04:30");
    }

    #[test]
    fn a_day_field_that_begins_with_a_star_restricts_the_other_no_less() {
        // The first odd day that is a Monday.
        assert_eq!(next("0 0 */2 * 1", "2027-02-28 12:00"), "2027-03-01 00:00");
        assert_eq!(next("0 0 */2 * 1", "2027-03-01 12:00"), "2027-03-15 00:00");
        assert_eq!(next("0 0 13 * *", "2027-02-26 23:58"), "2027-03-13 00:00");
    }

    #[test]
    fn sunday_is_0_and_7_and_ends_a_week_by_name() {
        assert_eq!(next("59 1 * * 7", "2027-02-26 23:58"), "2027-02-28 01:59");
        assert_eq!(next("59 1 * * 0", "2027-02-26 23:58"), "2027-02-28 01:59");
        assert_eq!(next("0 0 * * sat-SUN", "2027-02-27 12:00"), "2027-02-28 00:00");
        assert_eq!(next("0 0 * * 1-7", "2027-02-27 12:00"), "2027-02-28 00:00");
    }

    #[test]
    fn nicknames_stand_for_five_fields() {
        assert_eq!(next("@hourly", "2027-02-26 23:58"), "2027-02-27 00:00");
        assert_eq!(next("@midnight", "2027-02-26 23:58"), "2027-02-27 00:00");
        assert_eq!(next("@Weekly", "2027-02-26 23:58"), "2027-02-28 00:00");
        assert_eq!(next("@monthly", "2027-02-26 23:58"), "2027-03-01 00:00");
        assert_eq!(next("@annually", "2027-02-26 23:58"), "2028-01-01 00:00");
    }

    #[test]
    fn blanks_between_fields_do_not_matter() {
        let cron: Cron = "  0 8  *   * \t *".parse().expect("five fields");
        assert_eq!(cron.to_string(), "0 8 * * *");
    }

    #[test]
    fn what_crontab_does_not_have_is_refused_with_what_it_has() {
        assert!(refusal("@reboot").contains("a start of the machine is no time"));
        assert!(refusal("@every 5m").contains("2 fields where five are needed"));
        assert!(refusal("@fortnightly").contains("@hourly, @daily"));
        assert!(refusal("* * * * * * *").contains("7 fields where five are needed"));
        assert!(refusal("oops").contains("1 field where five are needed"));
        assert!(refusal("0 60 * * *").contains("`60` is no hour; a number from 0 to 23 is"));
        assert!(refusal("0 0 * * XYZ").contains("or a name from sun to sat"));
        assert!(refusal("5/15 * * * *").contains("a step needs a range: `5-59/…`"));
        assert!(refusal("0 19-7 * * 1-5").contains("write two: `19-23,0-7`"));
        for bad in [
            "",
            "* * * *R *",
            "0 0 * * 5#3",
            "0 0 * * 5L",
            "H H * * *",
            "0 0 L * *",
            "0 0 1W * *",
            "0 0 ? * *",
            "0 0 * * +1",
            "1,,2 * * * *",
            "*/0 * * * *",
            "*/ * * * *",
            "-5 * * * *",
            "jan * * * *",
            "0 0 * january *",
            "0 0 * jan1 *",
            "100 * * * *",
            "1.5 * * * *",
            "0 0 0 * *",
            "0 0 * 13 *",
            "0 0 * * 8",
            "** * * * *",
            "1-2-3 * * * *",
            "９ * * * *",
        ] {
            refusal(bad);
        }
    }

    #[test]
    fn what_never_comes_is_refused_and_a_near_miss_is_not() {
        for never in ["0 0 30 2 *", "0 0 31 4 *", "0 0 31 2,4,6 *", "59 23 31 11 *"] {
            assert!(refusal(never).ends_with("no such day ever comes"), "{never}");
        }
        assert_eq!(next("0 0 31 2,4,5 *", "2027-02-26 23:58"), "2027-05-31 00:00");
        assert_eq!(next("0 0 29 2 *", "2097-01-01 00:00"), "2104-02-29 00:00");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC*|[0-9*/,a-z@# -]{0,30}", one in "[0-9*/,-]{1,5}") {
            let _ = text.parse::<Cron>();
            for fields in [format!("{one} * * * *"), format!("* {one} * * *"), format!("0 0 {one} * 1"), format!("0 0 * * {one}")] {
                let _ = fields.parse::<Cron>();
            }
        }
    }

    #[test]
    fn a_time_of_day_is_fixed_unless_its_minute_or_hour_begins_with_a_star() {
        let follows = |text: &str| text.parse::<Cron>().expect("valid").follows_clock();
        assert!(follows("* 2 * * *") && follows("*/20 2 * * *") && follows("0 * * * *"));
        assert!(!follows("30 2 * * *") && !follows("5 1-3 * * *") && !follows("@daily"));
    }
}
