//! What `ax add` answers: ids for people and shells, jobs for scripts.

use serde_json::{Value, json};

use super::json::job;
use super::{Moment, Style, View};
use crate::job::{Added, Job, JobId};

/// The jobs that were added, or that stand for those that were to be.
pub struct AddedJobs {
    /// Their ids, in the order in which they were given.
    pub added: Vec<Added>,
    /// The jobs themselves, in the same order, and when they were looked up,
    /// if a script asked for them.
    pub jobs: Option<(Vec<Job>, Moment)>,
    /// Whether one job was to be added, and not those of a file.
    pub one: bool,
}

impl View for AddedJobs {
    /// The fields of each job, and `new`: whether it was made just now.
    fn items(&self) -> Vec<Value> {
        let Some((jobs, moment)) = &self.jobs else { return Vec::new() };
        let item = |(stored, added): (&Job, &Added)| {
            let mut item = job(stored, *moment);
            item.insert("new".to_owned(), json!(added.new));
            Value::Object(item)
        };
        jobs.iter().zip(&self.added).map(item).collect()
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
    use crate::output::example;

    fn added(one: bool) -> AddedJobs {
        let jobs = Some((vec![example::job(3)], example::MOMENT));
        AddedJobs { added: vec![Added { id: JobId(3), new: false }], jobs, one }
    }

    #[test]
    fn people_and_shells_read_bare_ids_one_a_line() {
        let two = [Added { id: JobId(3), new: true }, Added { id: JobId(4), new: false }];
        let view = AddedJobs { added: two.to_vec(), ..added(false) };
        assert_eq!(view.text(Style { color: false, width: None }), "3\n4\n");
    }

    #[test]
    fn scripts_read_the_job_and_whether_it_is_new() {
        let document = added(true).document();
        assert_eq!((&document["id"], &document["new"]), (&json!(3), &json!(false)));
        assert_eq!(document["status"], "pending");
    }

    #[test]
    fn the_jobs_of_a_file_are_an_array() {
        assert_eq!(added(false).document().as_array().map(Vec::len), Some(1));
    }
}
