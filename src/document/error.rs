//! What is wrong with a document, with the place and a look at it.

use std::fmt;
use std::ops::Range;

use unicode_width::UnicodeWidthStr;

/// Something wrong, and the bytes of the file it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub span: Range<usize>,
    /// What, for a person.
    pub what: String,
}

/// All that is wrong with a file, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentError {
    told: Vec<String>,
}

/// How many problems are told one by one.
const SHOWN: usize = 20;

impl DocumentError {
    /// These problems of a text; `file` is what it is called.
    pub fn new(file: &str, text: &str, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.span.start);
        problems.dedup();
        Self { told: problems.iter().map(|problem| tell(file, text, problem)).collect() }
    }
}

impl fmt::Display for DocumentError {
    /// `nightly.toml:12:10: …` and the line with a caret below it, for each problem.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<&str> = self.told.iter().take(SHOWN).map(String::as_str).collect();
        f.write_str(&shown.join("\n"))?;
        match self.told.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            1 => f.write_str("\nand 1 more problem"),
            rest => write!(f, "\nand {rest} more problems"),
        }
    }
}

impl std::error::Error for DocumentError {}

fn tell(file: &str, text: &str, Problem { span, what }: &Problem) -> String {
    let start = boundary(text, span.start);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
    let end = boundary(text, span.end).clamp(start, line_end);
    let number = 1 + text[..start].matches('\n').count();
    let column = 1 + text[line_start..start].chars().count();
    let before = ending(&visible(&text[line_start..start]));
    let marked = beginning(&visible(&text[start..end]));
    let after = beginning(&visible(text[end..line_end].trim_end()));
    let margin = " ".repeat(number.to_string().len());
    let indent = " ".repeat(before.width());
    let caret = "^".repeat(marked.width().max(1));
    format!(
        "{file}:{number}:{column}: {what}\n\
         {margin} |\n\
         {number} | {before}{marked}{after}\n\
         {margin} | {indent}{caret}"
    )
}

/// The nearest start of a character at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The text as a terminal may show it.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => shown.push_str("    "),
            c if c.is_control() => shown.push('\u{fffd}'),
            c => shown.push(c),
        }
    }
    shown
}

/// How many characters of each part of a long line are shown.
const PART: usize = 60;

fn beginning(text: &str) -> String {
    match text.char_indices().nth(PART) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

fn ending(text: &str) -> String {
    match text.char_indices().rev().nth(PART) {
        Some((cut, _)) => format!("…{}", &text[cut..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(text: &str, span: Range<usize>) -> String {
        DocumentError::new("f", text, vec![Problem { span, what: "bad".to_owned() }]).to_string()
    }

    #[test]
    fn the_caret_stands_under_the_place() {
        let text = "name = 'n'\nafter = ['x', 'yy']\n";
        let expected = "f:2:15: bad\n  |\n2 | after = ['x', 'yy']\n  |               ^^^^";
        assert_eq!(told(text, 25..29), expected);
    }

    #[test]
    fn wide_letters_and_tabs_do_not_move_the_caret() {
        let expected = "f:1:4: bad\n  |\n1 |     日本x\n  |         ^";
        assert_eq!(told("\t日本x", 7..8), expected);
    }

    #[test]
    fn control_characters_are_not_shown() {
        assert!(!told("a\u{1b}[31m", 0..1).contains('\u{1b}'));
    }

    #[test]
    fn the_end_of_the_file_is_a_place() {
        assert!(told("a\n", 2..2).starts_with("f:2:1: bad\n"));
        assert!(told("", 0..0).starts_with("f:1:1: bad\n"));
    }

    proptest! {
        #[test]
        fn no_text_and_place_make_it_panic(text in "(\\PC|[\t\r\n])*", a in 0_usize..99, b in 0_usize..99) {
            let _ = told(&text, a..b);
        }
    }
}
