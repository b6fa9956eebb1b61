//! What `ax add` answers: the ids.

use serde_json::{Value, json};

use crate::job::{Added, JobId};
use crate::output::{Style, View};

/// The jobs that were added, or stand for those that were to be.
pub(super) struct Ids {
    added: Vec<Added>,
    one: bool,
}

impl Ids {
    /// The answer about one job.
    pub(super) fn one(added: &[Added]) -> Self {
        Self { added: added.to_vec(), one: true }
    }

    /// The answer about the jobs of a file.
    pub(super) fn many(added: &[Added]) -> Self {
        Self { added: added.to_vec(), one: false }
    }
}

impl View for Ids {
    fn items(&self) -> Vec<Value> {
        self.added.iter().map(|Added { id, new }| json!({ "id": id, "new": new })).collect()
    }

    fn document(&self) -> Value {
        let mut items = self.items();
        if self.one { items.pop().unwrap_or_default() } else { Value::Array(items) }
    }

    fn ids(&self) -> Vec<JobId> {
        self.added.iter().map(|added| added.id).collect()
    }

    fn text(&self, _style: Style) -> String {
        let mut text = String::with_capacity(8 * self.added.len());
        for added in &self.added {
            text.push_str(&added.id.to_string());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { color: false, width: None };

    #[test]
    fn a_person_and_a_script_read_bare_ids_one_a_line() {
        let added = [Added { id: JobId(3), new: true }, Added { id: JobId(4), new: false }];
        assert_eq!(Ids::many(&added).text(PLAIN), "3\n4\n");
    }

    #[test]
    fn the_document_about_one_job_is_an_object() {
        let added = [Added { id: JobId(3), new: false }];
        assert_eq!(Ids::one(&added).document(), json!({ "id": 3, "new": false }));
        assert_eq!(Ids::many(&added).document(), json!([{ "id": 3, "new": false }]));
    }
}
