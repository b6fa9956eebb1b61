//! Makes bytes that a stranger chose harmless to a terminal.
//!
//! Names, commands and output may contain anything. What reaches a person has
//! no control character, no change of writing direction and no invalid UTF-8.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Text on one line: control characters and bidirectional overrides are
/// written as escapes (`\n`, `\x1b`, `\u{202e}`), invalid UTF-8 as U+FFFD.
pub fn escape(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        push(&mut escaped, char);
    }
    escaped
}

/// The same for a line that a job printed: its tabs are blanks.
pub fn escape_line(line: &[u8]) -> String {
    let blank = |byte: &u8| if *byte == b'\t' { b' ' } else { *byte };
    escape(&line.iter().map(blank).collect::<Vec<_>>())
}

/// The last line that is not blank, escaped and at most 200 characters long.
/// Of a line that was overwritten by carriage returns the last state counts.
pub fn last_line(output: &[u8]) -> String {
    const LONGEST: usize = 200;
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let mut lines = output.rsplit(is_end).map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    // No character is longer than 4 bytes, and an escape is no shorter than
    // what it stands for.
    let shown = escape_line(&line[..line.len().min(4 * LONGEST + 4)]);
    match shown.char_indices().nth(LONGEST) {
        None => shown,
        Some(_) => shown.chars().take(LONGEST - 1).chain(['…']).collect(),
    }
}

fn push(escaped: &mut String, char: char) {
    let written = match char {
        '\n' => escaped.write_str("\\n"),
        '\r' => escaped.write_str("\\r"),
        '\t' => escaped.write_str("\\t"),
        '\0'..='\x1f' | '\x7f' => write!(escaped, "\\x{:02x}", u32::from(char)),
        _ if is_treacherous(char) => write!(escaped, "\\u{{{:x}}}", u32::from(char)),
        _ => escaped.write_char(char),
    };
    written.expect("a string can always be written to");
}

/// Characters that command a terminal, break a line or turn the direction of
/// the text, see Unicode Standard Annex #9.
const fn is_treacherous(char: char) -> bool {
    matches!(char,
        '\u{80}'..='\u{9f}'
        | '\u{61c}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}')
}

/// Escapes what is written through it, but keeps newlines and tabs.
///
/// A character may arrive in several writes; [`Escaping::finish`] writes what
/// is left of one that was never completed.
pub struct Escaping<W: Write> {
    out: W,
    begun: Vec<u8>,
}

impl<W: Write> Escaping<W> {
    /// Writes to `out`.
    pub const fn new(out: W) -> Self {
        Self { out, begun: Vec::new() }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// When the writer below cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.begun);
        self.out.write_all(escape(&rest).as_bytes())
    }
}

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let rest = self.begun.split_off(complete(&self.begun));
        let text = std::mem::replace(&mut self.begun, rest);
        let mut escaped = String::with_capacity(text.len());
        for char in String::from_utf8_lossy(&text).chars() {
            match char {
                '\n' | '\t' => escaped.push(char),
                _ => push(&mut escaped, char),
            }
        }
        self.out.write_all(escaped.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// How many bytes there are before a last character that may still be completed.
fn complete(bytes: &[u8]) -> usize {
    let longest = bytes.len().min(3);
    let begun = (1..=longest).rev().find(|&length| {
        let end = &bytes[bytes.len() - length..];
        matches!(std::str::from_utf8(end), Err(error) if error.error_len().is_none()
            && error.valid_up_to() == 0)
    });
    bytes.len() - begun.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(writes: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut escaping = Escaping::new(&mut out);
        for bytes in writes {
            escaping.write_all(bytes).expect("a vector takes everything");
        }
        escaping.finish().expect("a vector takes everything");
        String::from_utf8(out).expect("what is escaped is UTF-8")
    }

    #[test]
    fn what_commands_a_terminal_is_shown_as_an_escape() {
        assert_eq!(escape(b"a\x1b[31m\x07\x7f"), r"a\x1b[31m\x07\x7f");
        assert_eq!(
            escape("x\u{9b}31m\u{202e}y\u{2066}".as_bytes()),
            r"x\u{9b}31m\u{202e}y\u{2066}"
        );
        assert_eq!(escape(b"one\ntwo\tthree\r\0"), r"one\ntwo\tthree\r\x00");
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
    fn the_tabs_of_a_printed_line_are_blanks() {
        assert_eq!(escape_line(b"a\tb\x1b\n"), r"a b\x1b\n");
        assert_eq!(last_line(b"a\tb\n"), "a b");
    }

    #[test]
    fn letters_of_all_scripts_and_backslashes_stay() {
        for text in ["ünï — 日本語 🎉", r"a\b", "👩\u{200d}🚀"] {
            assert_eq!(escape(text.as_bytes()), text);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_marked() {
        assert_eq!(escape(b"caf\xe9"), "caf\u{fffd}");
    }

    #[test]
    fn lines_and_tabs_of_output_stay() {
        assert_eq!(through(&[b"a\tb\nc\x1b[0m\n"]), "a\tb\nc\\x1b[0m\n");
    }

    #[test]
    fn a_letter_that_comes_in_two_halves_is_one() {
        assert_eq!(through(&[b"\xc3", b"\xa9t\xc3", b"\xa9"]), "été");
        assert_eq!(through(&[b"\xf0\x9f", b"\x8e", b"\x89!"]), "🎉!");
    }

    #[test]
    fn half_a_letter_at_the_end_is_marked() {
        assert_eq!(through(&[b"a\xc3"]), "a\u{fffd}");
        assert_eq!(through(&[b"\xe9 \x80"]), "\u{fffd} \u{fffd}");
    }
}
