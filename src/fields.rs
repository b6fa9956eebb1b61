//! Settings of a job by their names, as files and the environment write them.
//!
//! Lines of `--from`, flow files and the configuration all come through [`set`],
//! so a name means the same and is refused for the same reasons everywhere.

use crate::job::hook::OnEnd;
use crate::job::settings::PRIORITIES;
use crate::job::{Settings, limits};
use crate::when;

/// A value as a file writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A text.
    Text(&'a str),
    /// A number, in the digits it is written with.
    Number(&'a str),
    /// True or false.
    Flag(bool),
    /// Something else, named: `a list`.
    Other(&'static str),
}

impl Value<'_> {
    fn kind(self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Number(_) => "a number",
            Self::Flag(_) => "true or false",
            Self::Other(kind) => kind,
        }
    }

    /// Says that something else is wanted here.
    pub fn is_not(self, wanted: &str) -> String {
        format!("{wanted} is needed here, not {}", self.kind())
    }
}

/// The names that [`set`] knows.
pub const NAMES: &[&str] = &[
    "priority",
    "timeout",
    "kill_after",
    "max_retries",
    "retry_delay",
    "retry_backoff",
    "retry_max_delay",
    "on_lost",
    "hold",
    "group",
    "mutex",
    "retry_on",
    "no_retry_on",
    "on_end",
    "on_end_timeout",
];

/// Writes one setting; tells whether there is one of this name.
///
/// # Errors
/// Says what is wrong with the value.
pub fn set(settings: &mut Settings, name: &str, value: Value<'_>) -> Result<bool, String> {
    match name {
        "priority" => settings.priority = Some(priority(value)?),
        "timeout" => settings.timeout = Some(when::timeout(duration_text(value)?)?),
        "kill_after" => settings.kill_after = Some(duration(value)?),
        "max_retries" => settings.max_retries = Some(retries(value)?),
        "retry_delay" => settings.retry_delay = Some(duration(value)?),
        "retry_backoff" => settings.retry_backoff = Some(when::factor(number(value)?)?),
        "retry_max_delay" => settings.retry_max_delay = Some(duration(value)?),
        "on_lost" => settings.on_lost = Some(text(value)?.parse()?),
        "hold" => settings.hold = Some(flag(value)?),
        "group" => settings.group = Some(label("group", value)?),
        "mutex" => settings.mutex = Some(label("mutex", value)?),
        "retry_on" => settings.retry_on = Some(codes(value)?.parse()?),
        "no_retry_on" => settings.no_retry_on = Some(codes(value)?.parse()?),
        "on_end" => settings.on_end = Some(on_end(value)?),
        "on_end_timeout" => settings.on_end_timeout = Some(positive_duration(value)?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Reads a text.
pub fn text(value: Value<'_>) -> Result<&str, String> {
    match value {
        Value::Text(text) => Ok(text),
        Value::Number(_) | Value::Flag(_) | Value::Other(_) => Err(value.is_not("a text")),
    }
}

/// Reads exit codes: a text, or one number.
fn codes(value: Value<'_>) -> Result<&str, String> {
    match value {
        Value::Text(text) | Value::Number(text) => Ok(text),
        Value::Flag(_) | Value::Other(_) => Err(value.is_not("a text such as \"1,2,75-80\"")),
    }
}

fn label(what: &str, value: Value<'_>) -> Result<String, String> {
    let label = text(value)?;
    limits::label(what, label)?;
    Ok(label.to_owned())
}

/// Reads a duration: a text, or a number of seconds.
pub fn duration(value: Value<'_>) -> Result<std::time::Duration, String> {
    when::duration(duration_text(value)?)
}

/// Reads a duration that is not 0.
pub fn positive_duration(value: Value<'_>) -> Result<std::time::Duration, String> {
    when::positive_duration(duration_text(value)?)
}

/// Reads the shell text of a hook; `false` is none.
pub fn on_end(value: Value<'_>) -> Result<OnEnd, String> {
    match value {
        Value::Text(text) => OnEnd::run(text.into()),
        Value::Flag(false) => Ok(OnEnd(None)),
        Value::Number(_) | Value::Flag(true) | Value::Other(_) => {
            Err(value.is_not("a text, or false for none,"))
        }
    }
}

fn duration_text(value: Value<'_>) -> Result<&str, String> {
    match value {
        Value::Text(text) | Value::Number(text) => Ok(text),
        Value::Flag(_) | Value::Other(_) => Err(value.is_not("a duration such as \"10m\"")),
    }
}

fn number(value: Value<'_>) -> Result<&str, String> {
    match value {
        Value::Number(digits) => Ok(digits),
        Value::Text(_) | Value::Flag(_) | Value::Other(_) => Err(value.is_not("a number")),
    }
}

fn flag(value: Value<'_>) -> Result<bool, String> {
    match value {
        Value::Flag(flag) => Ok(flag),
        Value::Text(_) | Value::Number(_) | Value::Other(_) => Err(value.is_not("true or false")),
    }
}

fn priority(value: Value<'_>) -> Result<i64, String> {
    let digits = number(value)?;
    let (low, high) = (PRIORITIES.start(), PRIORITIES.end());
    digits
        .parse()
        .ok()
        .filter(|priority| PRIORITIES.contains(priority))
        .ok_or_else(|| format!("`{digits}` is not a whole number from {low} to {high}"))
}

/// Reads a number of retries.
pub fn retries(value: Value<'_>) -> Result<u32, String> {
    let digits = number(value)?;
    let wrong = || format!("`{digits}` is not a whole number from 0 to {}", u32::MAX);
    digits.parse().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Timeout;
    use std::time::Duration;

    fn settings(name: &str, value: Value<'_>) -> Result<Settings, String> {
        let mut settings = Settings::default();
        assert_eq!(set(&mut settings, name, value)?, NAMES.contains(&name), "{name}");
        Ok(settings)
    }

    #[test]
    fn every_name_in_the_list_is_known_and_no_other() {
        for name in NAMES {
            let tries = [Value::Number("1"), Value::Text("hold"), Value::Flag(true)];
            assert!(tries.iter().any(|value| settings(name, *value).is_ok()), "{name}");
        }
        assert!(settings("colour", Value::Number("1")).is_ok());
    }

    #[test]
    fn a_duration_is_a_text_or_a_number_of_seconds() {
        let minute = Some(Timeout(Some(Duration::from_mins(1))));
        assert_eq!(settings("timeout", Value::Number("60")).expect("read").timeout, minute);
        assert_eq!(settings("timeout", Value::Text("1m")).expect("read").timeout, minute);
        let none = settings("timeout", Value::Text("none")).expect("read");
        assert_eq!(none.timeout, Some(Timeout(None)));
        for bad in [Value::Number("-1"), Value::Number("1e400"), Value::Flag(true)] {
            assert!(settings("timeout", bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn numbers_outside_their_range_are_refused() {
        for bad in ["1.5", "2147483648", "99999999999999999999"] {
            assert!(settings("priority", Value::Number(bad)).is_err(), "{bad}");
        }
        for bad in ["-1", "1.5", "4294967296"] {
            assert!(settings("max_retries", Value::Number(bad)).is_err(), "{bad}");
        }
        let text = settings("priority", Value::Text("5"));
        assert_eq!(text, Err("a number is needed here, not a text".to_owned()));
    }
}
