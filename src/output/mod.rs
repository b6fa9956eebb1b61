//! The one place that prints answers.
//!
//! A command returns a [`View`]. The table for people and the JSON for scripts
//! are made from the same value, so neither falls behind the other. Colours
//! are in text for people only, and only where they were asked for or stdout
//! is a terminal.

pub mod added;
pub mod bench;
pub mod cancelled;
pub mod cells;
pub mod config;
pub mod diff;
pub mod edited;
pub mod event;
#[cfg(test)]
pub(crate) mod example;
pub mod failed;
pub mod failures;
pub mod graph;
pub mod groups;
mod hooks;
pub mod json;
pub mod list;
pub mod live;
pub mod moved;
pub mod overdue;
pub mod paint;
pub mod progress;
pub mod pruned;
pub mod runners;
pub mod running;
pub mod schedule;
pub mod screen;
pub mod show;
pub mod status;
pub mod table;
pub mod text;
pub mod time;
pub mod top;
pub mod tree;
pub mod voice;
pub mod welcome;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;

use serde_json::Value;

use crate::cli::{ColorChoice, Format, Show};
use crate::job::phase::{Phase, Runners};
use crate::job::{Job, JobId, Timestamp};

/// How text for people is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether to use colours.
    pub color: bool,
    /// The width of the terminal; `None` in a pipe, where nothing is fitted.
    pub width: Option<usize>,
}

/// What the state of a job is looked at with: the time, and who could run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Now.
    pub now: Timestamp,
    /// Who could run it.
    pub runners: Runners,
}

impl Moment {
    /// Where a job stands at this moment.
    pub fn phase(&self, job: &Job) -> Phase {
        Phase::of(job, self.now, self.runners)
    }
}

/// The items of an answer, one by one.
pub type Items<'a> = Box<dyn Iterator<Item = Value> + 'a>;

/// An answer that can be shown in every format.
pub trait View {
    /// The items, as JSON objects: one for each row of the table.
    fn items(&self) -> Vec<Value>;

    /// The items one by one, where they may be too many to be held.
    fn stream(&self) -> Option<Items<'_>> {
        None
    }

    /// The names of the fields, where they are the same of all items and known
    /// without one.
    fn fields(&self) -> Vec<String> {
        Vec::new()
    }

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
    let mut out = BufWriter::new(out);
    match show.wanted() {
        None => out.write_all(view.text(style).as_bytes())?,
        Some(Format::Table) => out.write_all(view.table(style).as_bytes())?,
        Some(Format::Json) => match view.stream() {
            Some(items) => json::write_array(items, &mut out)?,
            None => json::write(&view.document(), &mut out)?,
        },
        Some(Format::Jsonl) => json::write_lines(items(view), &mut out)?,
        Some(Format::Csv) => json::write_csv(view.fields(), items(view), &mut out)?,
        Some(Format::Ids) => write_ids(&view.ids(), &mut out)?,
        Some(Format::Tree) => {
            let tree = view.tree(style).ok_or_else(|| lacks("tree"))?;
            out.write_all(tree.as_bytes())?;
        }
        Some(Format::Dot) => {
            let dot = view.dot().ok_or_else(|| lacks("dot"))?;
            out.write_all(dot.as_bytes())?;
        }
    }
    out.flush()
}

fn items(view: &dyn View) -> Items<'_> {
    view.stream().unwrap_or_else(|| Box::new(view.items().into_iter()))
}

fn write_ids(ids: &[JobId], out: &mut dyn Write) -> io::Result<()> {
    ids.iter().try_for_each(|id| writeln!(out, "{id}"))
}

fn lacks(format: &str) -> io::Error {
    let text = format!("this answer has no format `{format}`");
    io::Error::new(io::ErrorKind::Unsupported, text)
}

/// The style for stdout or stderr: colours as asked, the width of the terminal.
///
/// `auto` means a terminal that is not `dumb`, unless `NO_COLOR` is set to
/// anything (<https://no-color.org>).
pub fn style(choice: ColorChoice, stream: &(impl IsTerminal + AsFd)) -> Style {
    const UNKNOWN: usize = 80;
    let terminal = stream.is_terminal();
    let size = || terminal_size::terminal_size_of(stream);
    let width = terminal.then(|| size().map_or(UNKNOWN, |(width, _)| usize::from(width.0)));
    let color = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => terminal && wants_color(),
    };
    Style { color, width }
}

fn wants_color() -> bool {
    let asked_not = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !asked_not && !dumb
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    struct Two;

    impl View for Two {
        fn items(&self) -> Vec<Value> {
            vec![json!({"id": 1, "name": "a,b"}), json!({"id": 2, "name": null})]
        }

        fn fields(&self) -> Vec<String> {
            vec!["id".to_owned(), "name".to_owned()]
        }

        fn ids(&self) -> Vec<JobId> {
            vec![JobId(1), JobId(2)]
        }

        fn text(&self, _style: Style) -> String {
            "text\n".to_owned()
        }
    }

    fn printed(format: Format) -> io::Result<String> {
        let show = Show { format: Some(format), json: false };
        let mut out = Vec::new();
        print(&Two, show, Style { color: true, width: None }, &mut out)?;
        Ok(String::from_utf8(out).expect("everything printed here is UTF-8"))
    }

    #[test]
    fn an_array_has_one_item_a_line() {
        let want = "[\n{\"id\":1,\"name\":\"a,b\"},\n{\"id\":2,\"name\":null}\n]\n";
        assert_eq!(printed(Format::Json).expect("has JSON"), want);
    }

    #[test]
    fn json_lines_have_no_array_around_them() {
        let want = "{\"id\":1,\"name\":\"a,b\"}\n{\"id\":2,\"name\":null}\n";
        assert_eq!(printed(Format::Jsonl).expect("has JSON lines"), want);
    }

    #[test]
    fn csv_quotes_what_needs_it_and_leaves_null_empty() {
        assert_eq!(printed(Format::Csv).expect("has CSV"), "id,name\n1,\"a,b\"\n2,\n");
    }

    #[test]
    fn ids_stand_alone() {
        assert_eq!(printed(Format::Ids).expect("has ids"), "1\n2\n");
    }

    #[test]
    fn a_format_that_a_view_lacks_is_named() {
        let error = printed(Format::Dot).expect_err("has no graph");
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        assert!(error.to_string().contains("`dot`"));
    }
}
