//! Tables for people: a header, one line a row, no lines drawn.
//!
//! On a terminal a row is as wide as the terminal at most: columns that can be
//! done without are left out where too little would be left of the others, and
//! those that may shrink are shortened, the widest first. In a pipe nothing is
//! fitted to a width, but no column that may shrink is wider than [`WIDEST`].

use anstyle::Style as Paint;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, Width, presets};

use super::Style;
use super::paint::{self, paint};
use super::text::{pad, shorten, width};

/// The widest that a column which may shrink is in a pipe.
const WIDEST: usize = 80;
/// The narrowest that a column which may shrink becomes.
const NARROWEST: u16 = 10;
/// What a column that may shrink is to have before another is left out for it.
const ENOUGH: usize = 16;
/// The same of a column that people look for first.
const ENOUGH_TO_READ: usize = 24;
/// The blanks between two columns.
const GAP: u16 = 2;
/// Text is cut at any letter: what would part words is in no cell.
const NOWHERE: char = '\n';

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    title: String,
    right: bool,
    shrinks: bool,
    enough: usize,
    spared: Option<u8>,
}

impl Column {
    /// A column of text that is never shortened.
    pub fn new(title: &str) -> Self {
        Self {
            title: title.to_uppercase(),
            right: false,
            shrinks: false,
            enough: usize::MAX,
            spared: None,
        }
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
        self.enough = ENOUGH;
        self
    }

    /// The same for what people look for first: others are left out for it.
    #[must_use]
    pub const fn to_read(mut self) -> Self {
        self.shrinks = true;
        self.enough = ENOUGH_TO_READ;
        self
    }

    /// The same, left out where there is no room: of several the lowest number first.
    #[must_use]
    pub const fn spared(mut self, turn: u8) -> Self {
        self.spared = Some(turn);
        self
    }

    /// How wide it may be, the gap behind it included, if its widest cell is
    /// this wide.
    fn constraint(&self, widest: u16, gap: u16) -> ColumnConstraint {
        if self.shrinks {
            ColumnConstraint::LowerBoundary(Width::Fixed(widest.min(NARROWEST) + gap))
        } else {
            ColumnConstraint::ContentWidth
        }
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
    pub fn render(mut self, style: Style) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        if let Some(room) = style.width {
            self.spare(room);
        }
        let mut drawn = comfy_table::Table::new();
        drawn.load_style(presets::NOTHING).set_delimiter(NOWHERE).force_no_tty();
        let titles = self.columns.iter().map(|column| Cell::painted(&column.title, paint::HEAD));
        drawn.set_header(self.line(&titles.collect::<Vec<_>>(), style));
        for row in std::mem::take(&mut self.rows) {
            drawn.add_row(self.line(&row, style));
        }
        self.arrange(&mut drawn, style.width);
        format!("{}\n", drawn.trim_fmt())
    }

    /// Leaves columns out until the others have enough.
    fn spare(&mut self, room: usize) {
        let mut wanted: Vec<_> = (0..self.columns.len()).map(|n| self.wanted(n)).collect();
        let gaps = |columns: usize| usize::from(GAP) * columns.saturating_sub(1);
        while wanted.iter().sum::<usize>() + gaps(wanted.len()) > room {
            let turns = self.columns.iter().enumerate();
            let first = turns.filter_map(|(n, column)| Some((column.spared?, n))).min();
            let Some((_, n)) = first else { return };
            wanted.remove(n);
            self.columns.remove(n);
            self.rows.iter_mut().for_each(|row| drop(row.remove(n)));
        }
    }

    /// The columns of the terminal that a column wants.
    fn wanted(&self, n: usize) -> usize {
        let column = &self.columns[n];
        let texts = self.rows.iter().map(|row| &row[n].text).chain([&column.title]);
        texts.map(|text| width(&shorten(text, column.enough))).max().unwrap_or(0)
    }

    /// The table as lines without their newlines, none wider than the terminal:
    /// one that is too narrow for all columns cuts them, without colours.
    pub fn lines(self, style: Style) -> Vec<String> {
        let room = style.width.unwrap_or(usize::MAX);
        let plain = self.clone().render(Style { color: false, ..style });
        if plain.lines().any(|line| width(line) > room) {
            return plain.lines().map(|line| shorten(line, room)).collect();
        }
        self.render(style).lines().map(str::to_owned).collect()
    }

    /// A row of one line. Text is cut before, too: there may be megabytes of it.
    fn line(&self, cells: &[Cell], style: Style) -> Row {
        let longest = style.width.unwrap_or(WIDEST);
        let shown = cells.iter().zip(&self.columns).map(|(cell, column)| {
            let cut = column.shrinks.then(|| shorten(&cell.text, longest));
            paint(cut.as_ref().unwrap_or(&cell.text), cell.paint, style.color)
        });
        let mut row = Row::from(shown);
        row.max_height(1);
        row
    }

    fn arrange(&self, drawn: &mut comfy_table::Table, room: Option<usize>) {
        if let Some(room) = room {
            drawn.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns(room));
        }
        let widths = drawn.column_max_content_widths();
        let last = self.columns.len().saturating_sub(1);
        let each = drawn.column_iter_mut().zip(&self.columns).zip(widths);
        for (n, ((drawn, column), widest)) in each.enumerate() {
            let gap = if n == last { 0 } else { GAP };
            drawn.set_padding((0, gap)).set_constraint(column.constraint(widest, gap));
            if column.right {
                drawn.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
}

/// A width as the drawing library takes it.
fn columns(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
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
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::escape::escape;

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
    fn a_column_that_can_be_done_without_is_left_out_where_there_is_no_room() {
        let columns = vec![
            Column::new("id").right(),
            Column::new("took").spared(1),
            Column::new("when").spared(2),
            Column::new("error").shrinking(),
        ];
        let mut table = Table::new(columns);
        let error = "a rather long error, which is what people look for";
        table.row(vec!["7".into(), "3.2s".into(), "5m00s ago".into(), error.into()]);
        let heads = |room| {
            let text = table.clone().render(Style { color: false, width: room });
            text.split_whitespace()
                .take_while(|word| *word != "7")
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(heads(None), ["ID", "TOOK", "WHEN", "ERROR"]);
        assert_eq!(heads(Some(37)), ["ID", "TOOK", "WHEN", "ERROR"]);
        assert_eq!(heads(Some(36)), ["ID", "WHEN", "ERROR"]);
        assert_eq!(heads(Some(25)), ["ID", "ERROR"]);
        assert_eq!(heads(Some(5)), ["ID", "ERROR"]);
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
        let plain = table().render(Style { color: false, width: Some(24) });
        assert_eq!(without_colors(&table().render(Style { color: true, width: Some(24) })), plain);
    }

    fn without_colors(text: &str) -> String {
        text.replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "")
    }

    proptest! {
        #[test]
        fn whatever_is_in_the_cells_a_row_is_one_line_that_fits(
            rows in vec([".{0,30}", ".{0,90}", ".{0,200}"], 1..9),
            room in prop::option::of(40..200_usize),
            color: bool,
        ) {
            let columns = vec![
                Column::new("id").right().shrinking(),
                Column::new("name").shrinking(),
                Column::new("error").shrinking(),
            ];
            let mut table = Table::new(columns);
            for row in &rows {
                let cells = row.iter().map(|text| Cell::painted(escape(text.as_bytes()), paint::FAINT));
                table.row(cells.collect());
            }
            let text = without_colors(&table.render(Style { color, width: room }));
            prop_assert_eq!(text.lines().count(), 1 + rows.len());
            let widest = room.unwrap_or(3 * WIDEST + 4);
            prop_assert!(text.lines().all(|line| width(line) <= widest), "{}", text);
            prop_assert!(color || text.lines().all(|line| line.trim_end() == line), "{}", text);
        }
    }
}
