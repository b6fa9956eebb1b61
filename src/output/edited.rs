//! What `ax edit` answers: the job as it is now.

use serde_json::Value;

use super::text::shorten;
use super::{Moment, Style, View, json};
use crate::escape::escape;
use crate::job::{Job, JobId};

/// A job that was changed.
pub struct EditedJob {
    /// The job.
    pub job: Job,
    /// When it was looked at.
    pub moment: Moment,
}

impl View for EditedJob {
    fn items(&self) -> Vec<Value> {
        vec![json::job(&self.job, self.moment).into()]
    }

    fn document(&self) -> Value {
        json::job(&self.job, self.moment).into()
    }

    fn ids(&self) -> Vec<JobId> {
        vec![self.job.id]
    }

    fn text(&self, _style: Style) -> String {
        const LONGEST: usize = 60;
        let title = shorten(&escape(self.job.title().as_bytes()), LONGEST);
        format!("{} {title}: changed\n", self.job.id)
    }
}
