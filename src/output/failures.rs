//! `ax failures`: what failed, one row a cause.

use serde_json::{Value, json};

use super::table::{Cell, Column, Table};
use super::text::counted;
use super::{Style, View, cells, json, paint, time};
use crate::escape::escape;
use crate::job::{Cause, JobId, Timestamp};
use crate::store::Failed;

/// The fields of a cause, in order.
const FIELDS: [&str; 9] = [
    "cause",
    "jobs",
    "end",
    "error",
    "first_at",
    "last_at",
    "example",
    "example_name",
    "example_error",
];

/// Failures of one cause.
#[derive(Clone, Debug)]
pub struct Alike {
    /// The cause.
    pub cause: Cause,
    /// The jobs, in the order in which they were told of.
    pub jobs: Vec<JobId>,
    /// When the first of them failed; `None` if nobody wrote that down.
    pub first: Option<Timestamp>,
    /// When the last of them failed.
    pub last: Option<Timestamp>,
    /// What people call the example.
    pub title: String,
    example: JobId,
    /// The error of the example.
    error: String,
    /// Whether all of them have that very error.
    same: bool,
}

impl Alike {
    /// A first failure of a cause.
    pub fn new(cause: Cause, failed: &Failed) -> Self {
        Self {
            cause,
            jobs: vec![failed.job],
            first: failed.at,
            last: failed.at,
            title: String::new(),
            example: failed.job,
            error: failed.error.clone().unwrap_or_default(),
            same: true,
        }
    }

    /// One more failure of it.
    pub fn add(&mut self, failed: &Failed) {
        let error = failed.error.as_deref().unwrap_or_default();
        self.same &= error == self.error;
        self.jobs.push(failed.job);
        self.first = self.first.into_iter().chain(failed.at).min();
        if failed.at >= self.last {
            self.last = failed.at;
            self.example = failed.job;
            error.clone_into(&mut self.error);
        }
    }

    /// The job that failed last of it.
    pub const fn example(&self) -> JobId {
        self.example
    }

    /// The error where all have the same, else its shape.
    fn shown_error(&self) -> &str {
        if self.same { &self.error } else { &self.cause.error }
    }

    fn row(&self, now: Timestamp) -> Vec<Cell> {
        let nothing = || Cell::painted(cells::NOTHING, paint::FAINT);
        let at = |time: Option<Timestamp>| {
            time.map_or_else(nothing, |time| time::short(time, now).into())
        };
        vec![
            self.cause.id().as_str().into(),
            self.jobs.len().to_string().into(),
            self.cause.end.as_ref().map_or_else(nothing, |end| escape(end.as_bytes()).into()),
            at(self.first),
            at(self.last),
            self.example.to_string().into(),
            escape(self.title.as_bytes()).into(),
            escape(self.shown_error().as_bytes()).into(),
        ]
    }

    fn item(&self) -> Value {
        json!({
            "cause": self.cause.id().as_str(),
            "jobs": self.jobs.len(),
            "end": self.cause.end,
            "error": self.cause.error,
            "first_at": json::at(self.first),
            "last_at": json::at(self.last),
            "example": self.example,
            "example_name": self.title,
            "example_error": self.error,
        })
    }
}

/// What failed, by its causes.
pub struct Failures {
    /// The causes, in the order in which they are shown.
    pub causes: Vec<Alike>,
    /// How many causes are not shown.
    pub more: usize,
    /// When this was so.
    pub now: Timestamp,
}

impl View for Failures {
    fn items(&self) -> Vec<Value> {
        self.causes.iter().map(Alike::item).collect()
    }

    fn fields(&self) -> Vec<String> {
        json::names(&FIELDS)
    }

    /// The jobs that failed, those of one cause after those of another.
    fn ids(&self) -> Vec<JobId> {
        self.causes.iter().flat_map(|alike| alike.jobs.iter().copied()).collect()
    }

    fn text(&self, style: Style) -> String {
        let mut table = Table::new(vec![
            Column::new("cause"),
            Column::new("jobs").right(),
            Column::new("end"),
            Column::new("first"),
            Column::new("last").spared(2),
            Column::new("example").right(),
            Column::new("name").shrinking().spared(1),
            Column::new("error").to_read(),
        ]);
        for alike in &self.causes {
            table.row(alike.row(self.now));
        }
        let mut text = table.render(style);
        let talks = style.width.is_some();
        let note = match self.more {
            0 if !talks => return text,
            0 if self.causes.is_empty() => "nothing is failed or dead".to_owned(),
            0 => "`ax retry --cause CAUSE` brings those of one back".to_owned(),
            more => format!("and {}", counted(more, "more cause")),
        };
        text.push_str(&paint::paint(&note, paint::FAINT, style.color));
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::example::{TWO, after};

    fn alike(errors: &[&str], end: &str) -> Alike {
        let failed = |n: usize, error: &str| Failed {
            job: JobId(100 + i64::try_from(n).expect("few")),
            end: Some(end.to_owned()),
            error: Some(error.to_owned()),
            at: Some(after(-7_200 + 60 * i64::try_from(n).expect("few"))),
        };
        let cause = Cause::of(Some(end.to_owned()), errors[0]);
        let mut alike = Alike::new(cause, &failed(0, errors[0]));
        for (n, error) in errors.iter().enumerate().skip(1) {
            alike.add(&failed(n, error));
        }
        alike.title = "copy a rather long list of files".to_owned();
        alike
    }

    fn some() -> Failures {
        let full = [
            "cp: error writing '/a/1': No space left on device",
            "cp: error writing '/b': No space left on device",
        ];
        let causes = vec![
            alike(&full, "exit 1"),
            alike(&["no such table: 日本語日本語日本語日本語"], "exit 12"),
        ];
        Failures { causes, more: 0, now: TWO }
    }

    #[test]
    fn a_cause_has_its_shape_where_errors_differ_and_the_error_where_they_do_not() {
        let want = "
CAUSE     JOBS  END      FIRST      LAST       EXAMPLE  NAME                              ERROR
kdngstks     2  exit 1   2h00m ago  1h59m ago      101  copy a rather long list of files  cp: error writing '<path>': No space left on device
xcmmcxrq     1  exit 12  2h00m ago  2h00m ago      100  copy a rather long list of files  no such table: 日本語日本語日本語日本語
";
        assert_eq!(some().text(Style { color: false, width: None }), want[1..]);
    }

    #[test]
    fn causes_fit_on_a_terminal() {
        for width in [80, 160] {
            let text = some().text(Style { color: false, width: Some(width) });
            assert!(text.lines().all(|line| crate::output::text::width(line) <= width), "{text}");
            assert!(text.ends_with("`ax retry --cause CAUSE` brings those of one back\n"));
        }
    }

    #[test]
    fn what_is_not_shown_is_counted() {
        let text = Failures { more: 3, ..some() }.text(Style { color: false, width: None });
        assert!(text.ends_with("\nand 3 more causes\n"), "{text}");
    }

    #[test]
    fn the_ids_are_those_of_all_jobs_that_failed() {
        assert_eq!(some().ids(), [100, 101, 100].map(JobId));
        assert_eq!(some().items()[0]["example"], 101, "the last one");
    }

    #[test]
    fn a_cause_has_the_fields_that_are_promised() {
        let items = some().items();
        assert!(items[0].as_object().expect("an object").keys().eq(FIELDS));
    }
}
