//! Sets of exit codes, as people type them: `1,2,75-80`, and what is made of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Some exit codes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Codes(Vec<(u8, u8)>);

impl Codes {
    /// Tells whether a code is one of them.
    pub fn contains(&self, code: i32) -> bool {
        self.0.iter().any(|(first, last)| (i32::from(*first)..=i32::from(*last)).contains(&code))
    }
}

impl FromStr for Codes {
    type Err = String;

    /// Reads codes and ranges of them with commas between. 0 is none: it is no failure.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = |part: &str| {
            format!("`{}` is neither an exit code from 1 to 255 nor a range", part.escape_debug())
        };
        let code = |digits: &str| match digits.parse() {
            Ok(code) if code > 0 && digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(code),
            Ok(_) | Err(_) => None,
        };
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u8, u8) = code(first).zip(code(last)).ok_or_else(|| wrong(part))?;
            if first > last {
                return Err(format!("the range {part} runs backwards"));
            }
            Ok((first, last))
        };
        text.split(',').map(range).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Codes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (first, last)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

/// After which exit codes another attempt is made: after these only, or after
/// each (`all`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryOn(pub Option<Codes>);

impl FromStr for RetryOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        codes_or("all", text).map(Self)
    }
}

/// After which exit codes none is made: after these, or after each one may be
/// (`none`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRetryOn(pub Option<Codes>);

impl FromStr for NoRetryOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        codes_or("none", text).map(Self)
    }
}

/// Reads codes, or the word for no limit.
fn codes_or(word: &str, text: &str) -> Result<Option<Codes>, String> {
    if text == word {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|why| format!("{why}; `{word}` works too"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_takes_codes_back() {
        let codes = || "1,7".parse::<Codes>().ok();
        assert_eq!("all".parse(), Ok(RetryOn(None)));
        assert_eq!("none".parse(), Ok(NoRetryOn(None)));
        assert_eq!("1,7".parse(), Ok(RetryOn(codes())));
        assert_eq!("1,7".parse(), Ok(NoRetryOn(codes())));
        for bad in ["none", "All", ""] {
            assert!(bad.parse::<RetryOn>().expect_err(bad).ends_with("; `all` works too"), "{bad}");
        }
        assert!("all".parse::<NoRetryOn>().expect_err("a word").ends_with("; `none` works too"));
    }

    #[test]
    fn codes_and_ranges_are_read_and_written_as_they_are_typed() {
        let codes: Codes = "1,3-5,255".parse().expect("codes");
        let are_in: Vec<_> =
            (0..7).chain([255, 256, -1]).filter(|code| codes.contains(*code)).collect();
        assert_eq!(are_in, [1, 3, 4, 5, 255]);
        assert_eq!(codes.to_string(), "1,3-5,255");
    }

    #[test]
    fn what_is_no_exit_code_of_a_failure_is_refused() {
        for bad in ["", "0", "0-3", "256", "-1", "+1", "1,", ",1", "1;2", "5-3", "x", "1-2-3", " 1"]
        {
            assert!(bad.parse::<Codes>().is_err(), "{bad:?}");
        }
    }
}
