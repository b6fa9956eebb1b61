//! `ax list --failed`: what went wrong, how often, and what happens next.

use serde_json::Value;

use super::table::{Cell, Column, Table};
use super::{Items, Moment, Style, View, cells, json, paint};
use crate::escape::escape;
use crate::job::cause::end;
use crate::job::{Attempt, Job, JobId, State};

/// A job that failed, and how its last attempt ended.
pub struct Failure {
    /// The job.
    pub job: Job,
    /// Its last attempt, where the job itself does not tell how that ended.
    pub last: Option<Attempt>,
}

/// Jobs that are failed, dead or held.
pub struct FailedList {
    /// The jobs, in the order in which they are shown.
    pub failures: Vec<Failure>,
    /// When the list was made.
    pub moment: Moment,
}

impl Failure {
    fn row(&self, moment: Moment, tries: bool) -> Vec<Cell> {
        let job = &self.job;
        let mut row = vec![
            cells::id(job),
            cells::title(job),
            cells::state(job.state),
            self.end(),
            cells::attempt(job),
            cells::last_seen(job, moment),
            cells::took(job, moment),
        ];
        if tries {
            row.push(cells::next_try(job, moment));
        }
        row.push(cells::error(job));
        row
    }

    fn end(&self) -> Cell {
        let (code, signal) = (self.job.exit_code, self.job.signal);
        let outcome = self.last.as_ref().and_then(|last| last.outcome.as_deref());
        match end(code, signal, outcome) {
            Some(end) => escape(end.as_bytes()).into(),
            None => Cell::painted(cells::NOTHING, paint::FAINT),
        }
    }
}

impl View for FailedList {
    fn items(&self) -> Vec<Value> {
        self.stream().into_iter().flatten().collect()
    }

    fn stream(&self) -> Option<Items<'_>> {
        let item = |failure: &Failure| json::job(&failure.job, self.moment).into();
        Some(Box::new(self.failures.iter().map(item)))
    }

    fn fields(&self) -> Vec<String> {
        json::names(&json::FIELDS)
    }

    fn ids(&self) -> Vec<JobId> {
        self.failures.iter().map(|failure| failure.job.id).collect()
    }

    /// When the next attempt is due is shown where there is one to come.
    fn text(&self, style: Style) -> String {
        let tries = self.failures.iter().any(|failure| failure.job.state == State::Failed);
        let mut columns = vec![
            Column::new("id").right(),
            Column::new("name").shrinking(),
            Column::new("status").spared(4),
            Column::new("end"),
            Column::new("attempt").spared(2),
            Column::new("when"),
            Column::new("took").spared(1),
        ];
        if tries {
            columns.push(Column::new("next try").spared(3));
        }
        columns.push(Column::new("error").to_read());
        let mut table = Table::new(columns);
        for failure in &self.failures {
            table.row(failure.row(self.moment, tries));
        }
        if self.failures.is_empty() && style.width.is_some() {
            return "nothing is failed, dead or held\n".to_owned();
        }
        table.render(style)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Outcome, RunnerId};
    use crate::output::example::{self, MOMENT, after};

    fn failure(state: State, outcome: Outcome, retry_count: u32) -> Failure {
        let mut job = Job {
            state,
            attempts: 2,
            scheduled_at: after(8),
            runs_at: Some(after(-20)),
            finished_at: Some(after(-2)),
            exit_code: outcome.exit_code(),
            signal: outcome.signal(),
            last_error: outcome.error("first\nlast"),
            ..example::job(7)
        };
        job.policy.retry_count = retry_count;
        let last = Attempt {
            job: job.id,
            attempt: 2,
            owner: RunnerId(1),
            pid: Some(4711),
            started_at: job.runs_at,
            ended_at: job.finished_at,
            outcome: Some(outcome.as_str().to_owned()),
            exit_code: outcome.exit_code(),
            signal: outcome.signal(),
            reason: job.last_error.clone(),
            output_bytes: 10,
            output_in_file: false,
        };
        Failure { job, last: Some(last) }
    }

    #[test]
    fn a_failure_has_its_end_its_attempt_its_times_and_its_error() {
        let limit = std::time::Duration::from_secs(18);
        let held = Failure { job: Job { state: State::Held, ..example::job(8) }, last: None };
        let failures = vec![
            failure(State::Failed, Outcome::Exited(3), 2),
            failure(State::Dead, Outcome::Signaled(9), 3),
            failure(State::Dead, Outcome::TimedOut(limit), 3),
            held,
        ];
        let want = "
ID  NAME   STATUS  END        ATTEMPT  WHEN    TOOK  NEXT TRY  ERROR
 7  job 7  failed  exit 3     2/4      2s ago  18s   in 8s     last
 7  job 7  dead    signal 9   2/4      2s ago  18s   -         last
 7  job 7  dead    timed out  2/4      2s ago  18s   -         timed out after 18 s; raise it with --timeout
 8  job 8  held    -          -        -       -     -
";
        let list = FailedList { failures, moment: MOMENT };
        assert_eq!(list.text(Style { color: false, width: None }), want[1..]);
        assert_eq!(list.ids().len(), list.items().len());
    }

    #[test]
    fn on_every_terminal_the_error_can_be_read() {
        let mut long = failure(State::Failed, Outcome::Exited(127), 2);
        long.job.name = Some("日本語 a very long name of a job ".repeat(9));
        long.job.finished_at = Some(after(-900_000));
        long.job.last_error = Some("first\nno space left on device 日本語 ".repeat(9));
        long.job.id = JobId(1_234_567);
        let list = FailedList { failures: vec![long], moment: MOMENT };
        let shown = |width| list.text(Style { color: false, width: Some(width) });
        for width in [80, 100, 120, 160, 300] {
            let text = shown(width);
            assert!(text.lines().all(|line| crate::output::text::width(line) <= width), "{text}");
            assert_eq!(text.lines().count(), 2, "{text}");
            assert!(text.contains("no space left"), "{text}");
        }
        let heads = |width| shown(width).lines().next().map(str::to_owned).unwrap_or_default();
        assert!(["END", "WHEN", "ERROR"].iter().all(|head| heads(80).contains(head)));
        let all = ["STATUS", "END", "ATTEMPT", "WHEN", "TOOK", "NEXT TRY", "ERROR"];
        assert!(all.iter().all(|head| heads(160).contains(head)));
    }

    #[test]
    fn without_an_attempt_to_come_there_is_no_column_for_it() {
        let failures = vec![failure(State::Dead, Outcome::Exited(3), 3)];
        let text =
            FailedList { failures, moment: MOMENT }.text(Style { color: false, width: None });
        assert!(
            text.starts_with("ID  NAME   STATUS  END     ATTEMPT  WHEN    TOOK  ERROR\n"),
            "{text}"
        );
    }
}
