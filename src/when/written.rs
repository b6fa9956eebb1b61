//! A time as it is written: the day it names, and the time of day.

use chrono::{FixedOffset, NaiveDate, NaiveTime, Offset, Utc, Weekday};

/// What a reader of a refusal can copy.
pub(super) const EXAMPLES: &str =
    "`2026-12-01 02:00`, `02:00`, `tomorrow 02:00`, `fri 22:30`, `2026-12-01T02:00:00Z`";

/// A day as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Day {
    /// This one.
    On(NaiveDate),
    /// So many days from today.
    From(i64),
    /// The nearest one.
    Every(Weekday),
    /// None: the nearest such time of day.
    Any,
}

/// A time of day as it is written, with its offset if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// What the clock shows.
    pub time: NaiveTime,
    /// East of Greenwich.
    pub offset: Option<FixedOffset>,
}

/// Splits a text into the day and the time of day.
pub(super) fn written(text: &str) -> Result<(Day, Clock), String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [one] => single(one),
        [date, time] => Ok((day(date)?, clock(time)?)),
        [date, time, offset] if offset.starts_with(['+', '-']) => {
            Ok((day(date)?, clock(&format!("{time}{offset}"))?))
        }
        _ => Err(nonsense()),
    }
}

fn single(word: &str) -> Result<(Day, Clock), String> {
    match word.split_once(['T', 't']) {
        Some((before, time)) if before.starts_with(|c: char| c.is_ascii_digit()) => {
            Ok((date(before)?, clock(time)?))
        }
        Some(_) | None if word.contains(':') => Ok((Day::Any, clock(word)?)),
        Some(_) | None => {
            day(word)?;
            Err(format!("say when on that day: `{word} 02:00`"))
        }
    }
}

fn day(word: &str) -> Result<Day, String> {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return date(word);
    }
    match word.to_ascii_lowercase().as_str() {
        "today" => Ok(Day::From(0)),
        "tomorrow" => Ok(Day::From(1)),
        "yesterday" => Ok(Day::From(-1)),
        name => name.parse().map(Day::Every).map_err(|_| nonsense()),
    }
}

fn date(word: &str) -> Result<Day, String> {
    let parts: Vec<&str> = word.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let ([4, 2, 2], Some([year, month, day])) = (lengths.as_slice(), numbers(&parts)) else {
        return Err(nonsense());
    };
    NaiveDate::from_ymd_opt(year.cast_signed(), month, day)
        .map(Day::On)
        .ok_or_else(|| format!("there is no day {word}"))
}

/// Reads `HH:MM[:SS[.fff]]` and the offset behind it.
fn clock(word: &str) -> Result<Clock, String> {
    let end = word.find(|c: char| !(c.is_ascii_digit() || ":.".contains(c)));
    let (shown, rest) = word.split_at(end.unwrap_or(word.len()));
    let offset = match rest {
        "" => None,
        "Z" | "z" => Some(Utc.fix()),
        text => Some(offset(text).ok_or_else(nonsense)?),
    };
    let (whole, fraction) = shown.split_once('.').unwrap_or((shown, "0"));
    let parts: Vec<&str> = whole.split(':').collect();
    let parts = match parts.as_slice() {
        [hour, minute] if whole == shown => numbers(&[hour, minute, "0"]),
        [_, _, _] if digits(fraction) => numbers(&parts),
        _ => None,
    };
    let [hour, minute, second] = parts.ok_or_else(nonsense)?;
    NaiveTime::from_hms_milli_opt(hour, minute, second, millis(fraction))
        .map(|time| Clock { time, offset })
        .ok_or_else(|| format!("there is no time {shown}"))
}

/// Reads `+02:00`, `-0330` and `+02`.
fn offset(text: &str) -> Option<FixedOffset> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let rest = &text[1..];
    let (hours, minutes) = match rest.len() {
        2 => (rest, "0"),
        4 if rest.is_ascii() => rest.split_at(2),
        _ => rest.split_once(':')?,
    };
    let [hours, minutes, _] = numbers(&[hours, minutes, "0"])?;
    let seconds = (hours * 3600 + minutes * 60).cast_signed();
    FixedOffset::east_opt(sign * seconds).filter(|_| hours < 24 && minutes < 60)
}

/// Reads three numbers of one to four digits.
fn numbers(parts: &[&str]) -> Option<[u32; 3]> {
    if !parts.iter().all(|part| part.len() <= 4 && digits(part)) {
        return None;
    }
    let numbers: Vec<u32> = parts.iter().filter_map(|part| part.parse().ok()).collect();
    numbers.try_into().ok()
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The milliseconds of a fraction of a second.
fn millis(fraction: &str) -> u32 {
    let digits = fraction.bytes().chain(*b"00").take(3);
    digits.fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'))
}

fn nonsense() -> String {
    format!("not a time; these are: {EXAMPLES}")
}
