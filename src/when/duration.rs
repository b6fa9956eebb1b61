//! Durations: `90` (seconds), `10m`, `1h30m`, `2d`, `1.5h`, `200ms`.
//!
//! Months and years are no units: their length varies, and an `M` for minutes
//! would wait for ten months. Everything is whole numbers, so no value is
//! rounded up, wrapped, or not a number.

use std::time::Duration;

/// The longest duration that can be meant: a hundred years.
pub const MAX: Duration = Duration::from_hours(876_600);

/// What a reader of a refusal can copy.
const EXAMPLES: &str = "`90` (seconds), `10m`, `1h30m`, `2d`, `200ms`";

/// Names of a unit and its length in milliseconds.
const UNITS: &[(&[&str], u64)] = &[
    (&["ms", "msec", "millis"], 1),
    (&["s", "sec", "secs", "second", "seconds"], 1000),
    (&["m", "min", "mins", "minute", "minutes"], 60 * 1000),
    (&["h", "hr", "hrs", "hour", "hours"], 3600 * 1000),
    (&["d", "day", "days"], 24 * 3600 * 1000),
    (&["w", "week", "weeks"], 7 * 24 * 3600 * 1000),
];

/// Reads a duration, exact to the millisecond and at most [`MAX`].
pub fn duration(text: &str) -> Result<Duration, String> {
    let bare = text.trim();
    if bare.is_empty() {
        return Err(format!("a duration is missing, such as {EXAMPLES}"));
    }
    if bare.starts_with('-') {
        return Err("a duration cannot be negative".to_owned());
    }
    let (millis, exact) = sum(bare).map_err(|why| why.describe(text))?;
    if millis == 0 && !exact {
        return Err(format!("`{text}` is less than a millisecond"));
    }
    Ok(Duration::from_millis(millis))
}

/// Why a text is no duration.
enum Refusal {
    Shape,
    Unit(String),
    NoUnit(String),
    TooLong,
}

impl Refusal {
    fn describe(self, text: &str) -> String {
        match self {
            Self::Shape => format!("`{text}` is not a duration; these are: {EXAMPLES}"),
            Self::Unit(unit) => {
                format!("`{unit}` is not a unit of time; use ms, s, m, h, d or w")
            }
            Self::NoUnit(number) => format!("`{number}` in `{text}` has no unit, such as m or s"),
            Self::TooLong => format!("`{text}` is longer than 100 years"),
        }
    }
}

/// The sum of all parts in milliseconds, and whether nothing was cut off.
fn sum(text: &str) -> Result<(u64, bool), Refusal> {
    let mut rest = text;
    let (mut total, mut exact) = (0_u64, true);
    while !rest.is_empty() {
        let number = leading(rest, |c| c.is_ascii_digit() || c == '.');
        let after = rest[number.len()..].trim_start();
        let unit = leading(after, char::is_alphabetic);
        let scale =
            if unit.is_empty() && number.len() == text.len() { 1000 } else { scale(number, unit)? };
        let (millis, whole) = multiply(number, scale)?;
        total = total.saturating_add(millis);
        if Duration::from_millis(total) > MAX {
            return Err(Refusal::TooLong);
        }
        exact &= whole;
        rest = after[unit.len()..].trim_start();
    }
    Ok((total, exact))
}

fn leading(text: &str, keep: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|c| !keep(c)).unwrap_or(text.len())]
}

fn scale(number: &str, unit: &str) -> Result<u64, Refusal> {
    if number.is_empty() {
        return Err(Refusal::Shape);
    }
    if unit.is_empty() {
        return Err(Refusal::NoUnit(number.to_owned()));
    }
    UNITS
        .iter()
        .find_map(|(names, scale)| names.contains(&unit).then_some(*scale))
        .ok_or_else(|| Refusal::Unit(unit.to_owned()))
}

/// Digits of a fraction that can make a difference of a millisecond.
const FRACTION: usize = 9;

/// `number × scale` in whole milliseconds, and whether nothing was cut off.
fn multiply(number: &str, scale: u64) -> Result<(u64, bool), Refusal> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return Err(Refusal::Shape);
    }
    let whole: u64 = whole.parse().map_err(|_| Refusal::TooLong)?;
    let kept = &fraction[..fraction.len().min(FRACTION)];
    let fraction_is_cut = fraction[kept.len()..].bytes().any(|byte| byte != b'0');
    let numerator: u64 = kept.parse().expect("at most nine digits");
    let denominator = (0..kept.len()).fold(1, |power: u64, _| power * 10);
    let product = numerator * scale;
    let millis = whole.checked_mul(scale).and_then(|m| m.checked_add(product / denominator));
    let exact = product.is_multiple_of(denominator) && !fraction_is_cut;
    Ok((millis.ok_or(Refusal::TooLong)?, exact))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn millis(text: &str) -> u128 {
        duration(text).unwrap_or_else(|why| panic!("{text}: {why}")).as_millis()
    }

    #[test]
    fn a_bare_number_means_seconds() {
        assert_eq!(millis("90"), 90_000);
        assert_eq!(millis("0"), 0);
        assert_eq!(millis("1.5"), 1500);
    }

    #[test]
    fn units_add_up() {
        assert_eq!(millis("10m"), 600_000);
        assert_eq!(millis("1h30m"), 5_400_000);
        assert_eq!(millis("1h 30m"), 5_400_000);
        assert_eq!(millis("1.5h"), 5_400_000);
        assert_eq!(millis("2d"), 172_800_000);
        assert_eq!(millis("1w"), 604_800_000);
        assert_eq!(millis("200ms"), 200);
        assert_eq!(millis("2 minutes 1 second"), 121_000);
        assert_eq!(millis("0.333333333333h"), 1_199_999);
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        let bad = [
            "", " ", "m", "10x", "10mm", "ten", "1h-30m", "-5m", "-1", "+5", "nan", "inf", "1e400",
            "1e3", "5 m m", "1h30", "30 1h", "10M", "1y", "1..5s", "1.s", ".5s", "0x10", "９",
            "1,5h", "10m;", "1 2",
        ];
        for text in bad {
            assert!(duration(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_is_too_long_or_too_short_is_refused() {
        for text in [
            "99999999999d",
            "9223372036854775807s",
            "18446744073709551616",
            "99999999999999999999s",
            "36526d",
            "100000000000000000000000000000000000000000ms",
        ] {
            assert_eq!(duration(text), Err(format!("`{text}` is longer than 100 years")));
        }
        assert_eq!(duration("36525d"), Ok(MAX));
        assert_eq!(duration("0.1ms"), Err("`0.1ms` is less than a millisecond".to_owned()));
        assert!(duration("0.00000000001s").is_err());
    }

    proptest! {
        #[test]
        fn whole_milliseconds_come_back(ms in 0..=3_155_760_000_000_u64) {
            prop_assert_eq!(duration(&format!("{ms}ms")), Ok(Duration::from_millis(ms)));
            let seconds = format!("{}.{:03}", ms / 1000, ms % 1000);
            prop_assert_eq!(duration(&seconds), Ok(Duration::from_millis(ms)));
        }
    }
}
