//! The one place that prints answers.
//!
//! A command returns a [`View`]. The table for people and the JSON for scripts
//! are made from the same value, so neither falls behind the other.

use std::io::{self, Write};

use serde_json::Value;

use crate::cli::{ColorChoice, Format, Show};
use crate::job::JobId;

/// How text for people is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether to use colours.
    pub color: bool,
    /// The width of the terminal; `None` in a pipe, where nothing is cut.
    pub width: Option<usize>,
}

/// An answer that can be shown in every format.
pub trait View {
    /// The items, as JSON objects: one for each row of the table.
    fn items(&self) -> Vec<Value>;

    /// The JSON document: an array of the items, unless the answer is about one thing.
    fn document(&self) -> Value {
        Value::Array(self.items())
    }

    /// The ids of the jobs it is about, in order.
    fn ids(&self) -> Vec<JobId>;

    /// The text for people; ends with a newline unless it is empty.
    fn text(&self, style: Style) -> String;

    /// What `--format table` shows, where it differs from [`View::text`].
    fn table(&self, style: Style) -> String {
        self.text(style)
    }

    /// A tree, where there is one.
    fn tree(&self, _style: Style) -> Option<String> {
        None
    }

    /// A graph for Graphviz, where there is one.
    fn dot(&self) -> Option<String> {
        None
    }
}

/// Prints a view the way it was asked for.
///
/// # Errors
/// When `out` cannot be written, or the view has no such format
/// ([`io::ErrorKind::Unsupported`]).
pub fn print(view: &dyn View, show: Show, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let format = if show.json { Some(Format::Json) } else { show.format };
    if format.is_none() {
        out.write_all(view.text(style).as_bytes())?
    }
    out.flush()
}

/// The style for stdout: colours as asked, the width of the terminal.
pub fn style(_choice: ColorChoice) -> Style {
    Style { color: false, width: None }
}
