//! What is said to whoever has no jobs yet.

use serde_json::Value;

use super::{Style, View};
use crate::job::JobId;

/// The first commands, in three lines.
pub struct Welcome;

impl View for Welcome {
    fn items(&self) -> Vec<Value> {
        Vec::new()
    }

    fn ids(&self) -> Vec<JobId> {
        Vec::new()
    }

    fn text(&self, _style: Style) -> String {
        "\
no jobs yet: `ax add 'COMMAND'` puts one in, `ax run` runs what is due
`ax list` shows what became of them, `ax logs ID` what one of them printed
`ax --help` shows all commands, `ax COMMAND --help` all about one of them
"
        .to_owned()
    }
}
