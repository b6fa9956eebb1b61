//! Groups, and how they are doing.

use serde_json::{Value, json};

use super::table::{Column, Table};
use super::{Style, View, json, paint};
use crate::escape::escape;
use crate::job::JobId;
use crate::output::table::Cell;
use crate::store::Group;

/// The groups that have a limit, are paused, or have unfinished jobs.
pub struct Groups {
    /// In the order of their names.
    pub groups: Vec<Group>,
}

impl View for Groups {
    fn items(&self) -> Vec<Value> {
        let item = |group: &Group| {
            json!({
                "name": group.name,
                "parallel": group.parallel,
                "paused": group.paused,
                "running": group.running,
                "ready": group.ready,
                "waiting": group.waiting,
            })
        };
        self.groups.iter().map(item).collect()
    }

    fn fields(&self) -> Vec<String> {
        json::names(&["name", "parallel", "paused", "running", "ready", "waiting"])
    }

    fn ids(&self) -> Vec<JobId> {
        Vec::new()
    }

    fn text(&self, style: Style) -> String {
        if self.groups.is_empty() {
            return String::new();
        }
        let number = |title| Column::new(title).right();
        let mut table = Table::new(vec![
            Column::new("group").shrinking(),
            number("parallel"),
            number("running"),
            number("ready"),
            number("waiting"),
            Column::new("state"),
        ]);
        for group in &self.groups {
            let parallel = group.parallel.map_or("none".to_owned(), |count| count.to_string());
            let state = if group.paused {
                Cell::painted("paused", paint::of(crate::job::State::Held))
            } else {
                "open".to_owned().into()
            };
            table.row(vec![
                escape(group.name.as_bytes()).into(),
                parallel.into(),
                group.running.to_string().into(),
                group.ready.to_string().into(),
                group.waiting.to_string().into(),
                state,
            ]);
        }
        table.render(style)
    }
}
