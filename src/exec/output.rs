//! What of a job's output is shown to people, and how much of it is kept.

use std::fmt::Write as _;

/// Output of at most so many bytes is kept in the database; longer output
/// stays in a file of its own.
pub const SHORT: u64 = 8 * 1024;

/// How many bytes of an output are kept when nobody says otherwise.
pub const LIMIT: u64 = 64 * 1024 * 1024;

/// The smallest limit that can be kept, see [`crate::exec::spool`].
const LEAST_LIMIT: u64 = 256 * 1024;

/// The longest last line, in characters.
const LINE: usize = 200;

/// How many bytes of an output's end are looked at for its last line.
pub(super) const TAIL: u64 = 16 * 1024;

/// The variable that sets another limit: bytes, or `512K`, `1M`, `2G`.
pub const LIMIT_VARIABLE: &str = "AX_OUTPUT_LIMIT";

/// How many bytes of an output are kept, given what [`LIMIT_VARIABLE`] says.
/// What cannot be read, and what is less than can be kept, is not obeyed.
pub fn limit(text: Option<&str>) -> u64 {
    text.and_then(size).map_or(LIMIT, |limit| limit.max(LEAST_LIMIT))
}

fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let unit: u64 = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Bytes as text that does nothing to a terminal: control characters and
/// those that turn the direction of writing appear as escapes (`\n`, `\x1b`,
/// `\u{202e}`), a tab as a blank, and what is not UTF-8 as U+FFFD.
pub fn escape(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for char in String::from_utf8_lossy(bytes).chars() {
        match char {
            '\t' => shown.push(' '),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            _ if char.is_ascii_control() => {
                let _ = write!(shown, "\\x{:02x}", u32::from(char));
            }
            _ if char.is_control() || turns_writing(char) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(char));
            }
            _ => shown.push(char),
        }
    }
    shown
}

/// Marks, embeddings, overrides and isolates of bidirectional text (Unicode
/// UAX 9), and the separators of lines and paragraphs.
const fn turns_writing(char: char) -> bool {
    matches!(
        char,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// The last line that is not blank, escaped and at most 200 characters long.
/// Of a line that was overwritten by carriage returns the last state counts.
pub fn last_line(bytes: &[u8]) -> String {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let mut lines = bytes.rsplit(is_end).map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    // No character is longer than 4 bytes, and an escape is no shorter than
    // what it stands for.
    let shown = escape(&line[..line.len().min(4 * LINE + 4)]);
    match shown.char_indices().nth(LINE) {
        None => shown,
        Some(_) => shown.chars().take(LINE - 1).chain(['…']).collect(),
    }
}

/// The line that stands for what was left out of an output.
pub fn left_out(bytes: u64) -> String {
    format!("\n[ax: {bytes} bytes left out]\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_escaped_reaches_the_terminal() {
        assert_eq!(escape(b"\x1b[31mred\x1b[0m\x07"), "\\x1b[31mred\\x1b[0m\\x07");
        assert_eq!(escape("a\u{9b}b\u{7f}".as_bytes()), "a\\u{9b}b\\x7f");
        assert_eq!(escape("a\u{202e}b\u{2066}".as_bytes()), "a\\u{202e}b\\u{2066}");
        assert_eq!(escape(b"a\tb\nc\r\0"), "a b\\nc\\r\\x00");
        assert_eq!(escape(b"\xff\xfe"), "\u{fffd}\u{fffd}");
        assert_eq!(escape("Grüße 日本".as_bytes()), "Grüße 日本");
    }

    #[test]
    fn the_last_line_is_the_last_one_that_is_not_blank() {
        assert_eq!(last_line(b"one\ntwo\n\n  \n"), "two");
        assert_eq!(last_line(b"one"), "one");
        assert_eq!(last_line(b"\n \n"), "");
        assert_eq!(last_line(b""), "");
    }

    #[test]
    fn of_a_progress_line_the_last_state_counts() {
        assert_eq!(last_line(b"10%\r50%\r100%\r\n"), "100%");
        assert_eq!(last_line(b"10%\r50%"), "50%");
    }

    #[test]
    fn a_long_line_is_cut_to_200_characters() {
        for text in ["x".repeat(1_000_000), "ä".repeat(1000), "\x1b".repeat(500)] {
            let line = last_line(text.as_bytes());
            assert_eq!(line.chars().count(), 200);
            assert!(line.ends_with('…'));
        }
        assert_eq!(last_line("ä".repeat(200).as_bytes()), "ä".repeat(200));
    }

    #[test]
    fn a_limit_is_read_with_its_unit() {
        assert_eq!(limit(None), LIMIT);
        assert_eq!(limit(Some("1M")), 1 << 20);
        assert_eq!(limit(Some("2G")), 2 << 30);
        assert_eq!(limit(Some("300000")), 300_000);
        assert_eq!(limit(Some("1")), LEAST_LIMIT);
        for nonsense in ["", "M", "-1", "1T", "1MM", "99999999999999999999G"] {
            assert_eq!(limit(Some(nonsense)), LIMIT, "{nonsense:?}");
        }
    }
}
