//! Tables for people: a header, one line a row, no lines drawn.
//!
//! On a terminal a row is as wide as the terminal at most: the columns that
//! may shrink are shortened, the widest first. In a pipe nothing is fitted to
//! a width, but no column that may shrink is wider than [`WIDEST`].

use anstyle::Style as Paint;

use super::Style;
use super::paint::{self, paint};
use super::text::{pad, shorten, width};

/// The widest that a column which may shrink is in a pipe.
const WIDEST: usize = 80;
/// The narrowest that a column which may shrink becomes.
const NARROWEST: usize = 10;
/// Between two columns.
const GAP: &str = "  ";

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    title: String,
    right: bool,
    shrinks: bool,
}

impl Column {
    /// A column of text that is never shortened.
    pub fn new(title: &str) -> Self {
        Self { title: title.to_uppercase(), right: false, shrinks: false }
    }

    /// The same, for numbers.
    #[must_use]
    pub const fn right(mut self) -> Self {
        self.right = true;
        self
    }

    /// The same, shortened where there is no room.
    #[must_use]
    pub const fn shrinking(mut self) -> Self {
        self.shrinks = true;
        self
    }
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    /// Text in a colour.
    pub fn painted(text: impl Into<String>, paint: Paint) -> Self {
        Self { text: text.into(), paint }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::painted(text, paint::PLAIN)
    }
}

/// A table that is being filled.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub const fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row, which has a cell for each column.
    pub fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells);
    }

    /// The table as text; nothing at all without rows.
    pub fn render(&self, style: Style) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let widths = self.widths(style.width);
        let head: Vec<Cell> =
            self.columns.iter().map(|column| Cell::painted(&column.title, paint::HEAD)).collect();
        let mut text = self.line(&head, &widths, style.color);
        for row in &self.rows {
            text.push_str(&self.line(row, &widths, style.color));
        }
        text
    }

    fn widths(&self, room: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|c| width(&c.title)).collect();
        for row in &self.rows {
            for (wide, cell) in widths.iter_mut().zip(row) {
                *wide = width(&cell.text).max(*wide);
            }
        }
        for (wide, column) in widths.iter_mut().zip(&self.columns) {
            if column.shrinks {
                *wide = (*wide).min(room.unwrap_or(WIDEST));
            }
        }
        if let Some(room) = room {
            self.shrink(&mut widths, room);
        }
        widths
    }

    /// Takes from the widest column that may shrink until all fit.
    fn shrink(&self, widths: &mut [usize], room: usize) {
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > room {
            let shrinking = widths.iter_mut().zip(&self.columns).filter(|(_, c)| c.shrinks);
            match shrinking.map(|(wide, _)| wide).max() {
                Some(widest) if *widest > NARROWEST => *widest -= 1,
                Some(_) | None => break,
            }
        }
    }

    fn line(&self, cells: &[Cell], widths: &[usize], color: bool) -> String {
        let fitted = |((cell, column), wide): ((&Cell, &Column), &usize)| {
            let text = if column.shrinks { shorten(&cell.text, *wide) } else { cell.text.clone() };
            let blanks = " ".repeat(wide.saturating_sub(width(&text)));
            let shown = paint(&text, cell.paint, color);
            if column.right { blanks + &shown } else { shown + &blanks }
        };
        let cells: Vec<_> = cells.iter().zip(&self.columns).zip(widths).map(fitted).collect();
        let line = cells.join(GAP);
        format!("{}\n", line.trim_end())
    }
}

/// Lines of `label: value` with the values below each other.
pub fn labelled(pairs: &[(&str, String)], style: Style) -> String {
    let wide = pairs.iter().map(|(label, _)| width(label)).max().unwrap_or(0) + 1;
    let line = |(label, value): &(&str, String)| {
        let label = pad(&format!("{label}:"), wide);
        [&paint(&label, paint::FAINT, style.color), " ", value, "\n"].concat()
    };
    pairs.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPE: Style = Style { color: false, width: None };

    fn table() -> Table {
        let columns =
            vec![Column::new("id").right(), Column::new("name").shrinking(), Column::new("end")];
        let mut table = Table::new(columns);
        table.row(vec!["7".into(), "日本".into(), "exit 3".into()]);
        table.row(vec!["12".into(), "a rather long name of a job".into(), "".into()]);
        table
    }

    #[test]
    fn columns_stand_below_each_other_and_lines_end_without_blanks() {
        let want = "
ID  NAME                         END
 7  日本                         exit 3
12  a rather long name of a job
";
        assert_eq!(table().render(PIPE), want[1..]);
    }

    #[test]
    fn a_narrow_terminal_shortens_what_may_shrink() {
        let want = "
ID  NAME          END
 7  日本          exit 3
12  a rather lo…
";
        assert_eq!(table().render(Style { color: false, width: Some(24) }), want[1..]);
    }

    #[test]
    fn a_terminal_of_five_columns_breaks_nothing() {
        assert!(table().render(Style { color: false, width: Some(5) }).contains("exit 3"));
    }

    #[test]
    fn a_pipe_caps_a_column_of_any_length() {
        let mut table = Table::new(vec![Column::new("command").shrinking()]);
        table.row(vec!["x".repeat(100_000).into()]);
        assert!(table.render(PIPE).lines().all(|line| width(line) <= WIDEST));
    }

    #[test]
    fn a_table_without_rows_is_nothing() {
        assert_eq!(Table::new(vec![Column::new("id")]).render(PIPE), "");
    }

    #[test]
    fn colours_take_no_room() {
        let colored = table().render(Style { color: true, width: Some(24) });
        let plain = table().render(Style { color: false, width: Some(24) });
        assert_eq!(colored.replace("\x1b[1m", "").replace("\x1b[0m", ""), plain);
    }
}
