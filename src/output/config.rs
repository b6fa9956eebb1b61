//! The configuration: each value, and where it comes from.

use serde_json::{Value, json};

use super::table::{Cell, Column, Table};
use super::{Style, View, json, paint};
use crate::config::{Entry, Source};
use crate::escape::escape;
use crate::job::JobId;

/// Every value that can be configured.
pub struct Configured {
    /// In the order in which they are shown.
    pub entries: Vec<Entry>,
}

const FIELDS: [&str; 6] = ["key", "value", "source", "place", "variable", "option"];

impl View for Configured {
    fn items(&self) -> Vec<Value> {
        self.entries.iter().map(item).collect()
    }

    fn fields(&self) -> Vec<String> {
        json::names(&FIELDS)
    }

    fn ids(&self) -> Vec<JobId> {
        Vec::new()
    }

    fn text(&self, style: Style) -> String {
        let mut table = Table::new(vec![
            Column::new("key"),
            Column::new("value").shrinking(),
            Column::new("from").shrinking(),
        ]);
        for entry in &self.entries {
            let from = match place(&entry.source) {
                Some(place) => escape(place.as_bytes()).into(),
                None => Cell::painted("default", paint::FAINT),
            };
            let value = escape(entry.value.as_bytes());
            table.row(vec![entry.key.name.to_owned().into(), value.into(), from]);
        }
        table.render(style)
    }
}

fn item(entry: &Entry) -> Value {
    let source = match entry.source {
        Source::Option(_) => "option",
        Source::Environment(_) => "environment",
        Source::File(..) => "file",
        Source::Default => "default",
    };
    json!({
        "key": entry.key.name,
        "value": entry.value,
        "source": source,
        "place": place(&entry.source),
        "variable": entry.key.variable,
        "option": entry.key.option,
    })
}

/// The option, the variable, or the line of the file.
fn place(source: &Source) -> Option<String> {
    match source {
        Source::Option(name) | Source::Environment(name) => Some((*name).to_owned()),
        Source::File(path, line) => Some(format!("{}:{line}", path.display())),
        Source::Default => None,
    }
}
