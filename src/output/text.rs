//! Text that has to fit: its width in columns, and how it is shortened.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many columns of a terminal `text` takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// How many there are of something: `1 job`, `2 jobs`.
pub fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// `text` in at most `columns` columns; what was cut ends with `…`.
pub fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut room = columns.saturating_sub(1);
    let fits = |char: &char| {
        let needed = char.width().unwrap_or(0);
        let fits = needed <= room;
        room = room.saturating_sub(needed);
        fits
    };
    let mut short: String = text.chars().take_while(fits).collect();
    short.push('…');
    short
}

/// `text` with blanks behind it, up to `columns` columns.
pub fn pad(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(blanks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_as_it_is() {
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("日本", 4), "日本");
    }

    #[test]
    fn what_is_cut_says_so_and_is_not_wider() {
        assert_eq!(shorten("abcd", 3), "ab…");
        assert_eq!(shorten("日本語", 5), "日本…");
        assert_eq!(shorten("日本語", 4), "日…");
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "job")), ["0 jobs", "1 job", "2 jobs"]);
    }

    #[test]
    fn wide_letters_are_padded_by_their_width() {
        assert_eq!(pad("日本", 6), "日本  ");
    }
}
