//! What `ax prune` deleted: `removed 12 jobs (11 success, 1 dead)`.

use serde_json::{Value, json};

use super::text::counted;
use super::{Items, Style, View};
use crate::job::{JobId, State};

/// The jobs that were deleted, or would be.
pub struct PrunedJobs {
    /// Each with the state in which it had ended.
    pub removed: Vec<(JobId, State)>,
    /// Whether nothing was done.
    pub dry_run: bool,
}

impl PrunedJobs {
    fn item(&self, (job, state): &(JobId, State)) -> Value {
        json!({ "id": job, "done": "removed", "status": state, "dry_run": self.dry_run })
    }
}

impl View for PrunedJobs {
    fn items(&self) -> Vec<Value> {
        self.removed.iter().map(|one| self.item(one)).collect()
    }

    fn stream(&self) -> Option<Items<'_>> {
        Some(Box::new(self.removed.iter().map(|one| self.item(one))))
    }

    fn ids(&self) -> Vec<JobId> {
        self.removed.iter().map(|(job, _)| *job).collect()
    }

    fn text(&self, _style: Style) -> String {
        let count =
            |wanted: &State| self.removed.iter().filter(|(_, state)| state == wanted).count();
        let parts: Vec<_> = State::ALL
            .iter()
            .map(|state| (count(state), state))
            .filter(|(count, _)| *count > 0)
            .map(|(count, state)| format!("{count} {state}"))
            .collect();
        let jobs = counted(self.removed.len(), "job");
        let of = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        let done = if self.dry_run { "would be removed" } else { "removed" };
        format!("{jobs} {done}{of}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_counted_by_how_they_had_ended() {
        let removed = [(1, State::Success), (2, State::Dead), (5, State::Success)];
        let removed = removed.map(|(id, state)| (JobId(id), state)).to_vec();
        let view = PrunedJobs { removed, dry_run: false };
        let pipe = Style { color: false, width: None };
        assert_eq!(view.text(pipe), "3 jobs removed (2 success, 1 dead)\n");
        let none = PrunedJobs { removed: Vec::new(), dry_run: true };
        assert_eq!(none.text(pipe), "0 jobs would be removed\n");
    }
}
