//! `ax list`: a line a job.

use serde_json::{Map, Value};

use super::table::{Cell, Column, Table};
use super::{Items, Moment, Style, View, cells, json, paint, time};
use crate::escape::escape;
use crate::job::{Job, JobId, Timestamp};

/// What is said on a terminal when a list is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// There is no job at all.
    NoJobs,
    /// No job is like that.
    NoMatch,
}

/// How many jobs are not in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct More {
    /// That are unfinished.
    pub unfinished: u64,
    /// That ended.
    pub ended: u64,
}

impl More {
    /// A line of what is not shown; nothing if all is.
    fn line(self) -> Option<String> {
        let Self { unfinished, ended } = self;
        let what = match (unfinished, ended) {
            (0, 0) => return None,
            (0, ended) => format!("{ended} more that ended"),
            (unfinished, 0) => format!("{unfinished} more that are unfinished"),
            (unfinished, ended) => {
                format!("{unfinished} more that are unfinished and {ended} that ended")
            }
        };
        Some(format!("and {what}; `ax list all` shows them"))
    }
}

/// A list of jobs.
pub struct JobList {
    /// The jobs, in the order in which they are shown.
    pub jobs: Vec<Job>,
    /// The fields that were asked for; the usual table if none were.
    pub columns: Vec<String>,
    /// What is not in the list.
    pub more: More,
    /// What it means that the list is empty.
    pub empty: Empty,
    /// When it was made.
    pub moment: Moment,
}

impl JobList {
    fn item(&self, job: &Job) -> Value {
        let all = json::job(job, self.moment);
        if self.columns.is_empty() {
            return all.into();
        }
        let wanted = self.columns.iter().map(|name| {
            let value = all.get(name).unwrap_or(&Value::Null);
            (name.clone(), value.clone())
        });
        wanted.collect::<Map<_, _>>().into()
    }

    fn rows(&self, style: Style) -> String {
        if self.columns.is_empty() {
            usual(&self.jobs, self.moment).render(style)
        } else {
            self.chosen().render(style)
        }
    }

    fn chosen(&self) -> Table {
        let mut table = Table::new(self.columns.iter().map(|name| chosen_column(name)).collect());
        for job in &self.jobs {
            let item = self.item(job);
            table.row(self.columns.iter().map(|name| chosen_cell(name, &item[name])).collect());
        }
        table
    }
}

/// Numbers and times are never cut.
fn chosen_column(name: &str) -> Column {
    const NUMBERS: [&str; 9] = [
        "id",
        "priority",
        "timeout_s",
        "max_retries",
        "retry_count",
        "retry_delay_s",
        "attempts",
        "exit_code",
        "signal",
    ];
    let column = Column::new(name);
    if NUMBERS.contains(&name) {
        column.right()
    } else if name.ends_with("_at") || ["status", "on_lost"].contains(&name) {
        column
    } else {
        column.shrinking()
    }
}

/// A field of the JSON as people read it: times are local.
fn chosen_cell(name: &str, value: &Value) -> Cell {
    let text = json::flat(value);
    if text.is_empty() {
        return Cell::painted(cells::NOTHING, paint::FAINT);
    }
    let parsed = chrono::DateTime::parse_from_rfc3339(&text).ok();
    match parsed.filter(|_| name.ends_with("_at")) {
        Some(at) => time::local(Timestamp::from_millis(at.timestamp_millis())).into(),
        None => escape(text.as_bytes()).into(),
    }
}

/// The usual table; priorities are shown only where they differ.
fn usual(jobs: &[Job], moment: Moment) -> Table {
    let priorities = jobs.windows(2).any(|pair| pair[0].priority != pair[1].priority);
    let mut columns = vec![Column::new("id").right(), Column::new("status")];
    if priorities {
        columns.push(Column::new("prio").right());
    }
    columns.extend([
        Column::new("name").shrinking(),
        Column::new("attempt").spared(2),
        Column::new("when"),
        Column::new("took").spared(1),
        Column::new("why").to_read(),
    ]);
    let mut table = Table::new(columns);
    for job in jobs {
        let mut row = vec![cells::id(job), cells::state(job.state)];
        if priorities {
            row.push(job.priority.to_string().into());
        }
        row.extend([
            cells::title(job),
            cells::attempt(job),
            cells::when(job, moment),
            cells::took(job, moment),
            cells::why(job, moment),
        ]);
        table.row(row);
    }
    table
}

impl View for JobList {
    fn items(&self) -> Vec<Value> {
        self.jobs.iter().map(|job| self.item(job)).collect()
    }

    fn stream(&self) -> Option<Items<'_>> {
        Some(Box::new(self.jobs.iter().map(|job| self.item(job))))
    }

    fn fields(&self) -> Vec<String> {
        if self.columns.is_empty() { json::names(&json::FIELDS) } else { self.columns.clone() }
    }

    fn ids(&self) -> Vec<JobId> {
        self.jobs.iter().map(|job| job.id).collect()
    }

    fn text(&self, style: Style) -> String {
        let mut text = self.rows(style);
        if let Some(more) = self.more.line() {
            text.push_str(&paint::paint(&more, paint::FAINT, style.color));
            text.push('\n');
        }
        if text.is_empty() && style.width.is_some() {
            text.push_str(match self.empty {
                Empty::NoJobs => "no jobs; `ax add 'COMMAND'` puts one in\n",
                Empty::NoMatch => "no such jobs\n",
            });
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::State;
    use crate::output::example::{self, MOMENT, after};

    const PIPE: Style = Style { color: false, width: None };
    const TERMINAL: Style = Style { color: false, width: Some(80) };

    fn list(jobs: Vec<Job>) -> JobList {
        JobList {
            jobs,
            columns: Vec::new(),
            more: More::default(),
            empty: Empty::NoJobs,
            moment: MOMENT,
        }
    }

    fn some() -> Vec<Job> {
        let waits = Job { scheduled_at: after(300), ..example::job(9) };
        let runs = Job {
            state: State::Running,
            attempts: 1,
            runs_at: Some(after(-3)),
            name: None,
            ..example::job(10)
        };
        let dead = Job {
            state: State::Dead,
            attempts: 4,
            runs_at: Some(after(-80)),
            finished_at: Some(after(-60)),
            last_error: Some("no space left on device".to_owned()),
            ..example::job(8)
        };
        vec![dead, waits, runs]
    }

    #[test]
    fn a_list_has_a_line_for_each_job() {
        let want = "
ID  STATUS   NAME   ATTEMPT  WHEN       TOOK  WHY
 8  dead     job 8  4/4      1m00s ago  20s   no space left on device
 9  pending  job 9  -        in 5m00s   -
10  running  true   1/4      3s ago     3.0s
";
        assert_eq!(list(some()).text(PIPE), want[1..]);
    }

    #[test]
    fn priorities_are_shown_where_they_differ() {
        let mut jobs = some();
        jobs[1].priority = 9;
        assert!(list(jobs).text(PIPE).starts_with("ID  STATUS   PRIO  NAME"));
    }

    #[test]
    fn a_long_command_leaves_one_line_a_job_on_a_terminal() {
        let mut jobs = some();
        jobs[0].name = Some("x".repeat(3_000));
        jobs[1].name = Some("two\nlines \u{1b}[31m".to_owned());
        let text = list(jobs).text(TERMINAL);
        assert_eq!(text.lines().count(), 4);
        assert!(text.lines().all(|line| crate::output::text::width(line) <= 80), "{text}");
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn what_is_not_shown_is_counted() {
        let line = |unfinished, ended| {
            let list = JobList { more: More { unfinished, ended }, ..list(some()) };
            list.text(PIPE).lines().last().map(str::to_owned).expect("a line")
        };
        assert_eq!(line(0, 123), "and 123 more that ended; `ax list all` shows them");
        assert_eq!(line(7, 0), "and 7 more that are unfinished; `ax list all` shows them");
        let both = "and 7 more that are unfinished and 123 that ended; `ax list all` shows them";
        assert_eq!(line(7, 123), both);
    }

    #[test]
    fn an_empty_list_talks_on_a_terminal_only() {
        assert_eq!(list(Vec::new()).text(PIPE), "");
        assert!(list(Vec::new()).text(TERMINAL).starts_with("no jobs"));
    }

    #[test]
    fn a_list_without_jobs_has_its_fields_all_the_same() {
        assert_eq!(list(Vec::new()).fields(), json::FIELDS);
        let columns = ["status", "id"].map(str::to_owned).to_vec();
        assert_eq!(JobList { columns, ..list(Vec::new()) }.fields(), ["status", "id"]);
    }

    #[test]
    fn chosen_columns_are_in_every_format() {
        let columns = ["status", "id", "name"].map(str::to_owned).to_vec();
        let list = JobList { columns, ..list(some()) };
        let want = "\
STATUS   ID  NAME
dead      8  job 8
pending   9  job 9
running  10  -
";
        assert_eq!(list.text(PIPE), want);
        let object = serde_json::json!({"status": "dead", "id": 8, "name": "job 8"});
        assert_eq!(list.items()[0].to_string(), object.to_string());
    }

    #[test]
    fn a_column_that_was_chosen_twice_is_there_twice() {
        let list = JobList { columns: ["id", "id"].map(str::to_owned).to_vec(), ..list(some()) };
        assert_eq!(list.text(PIPE), "ID  ID\n 8   8\n 9   9\n10  10\n");
    }

    #[test]
    fn a_chosen_time_is_never_cut() {
        let columns = ["command", "created_at", "updated_at"].map(str::to_owned).to_vec();
        let list = JobList { columns, ..list(some()) };
        let text = list.text(Style { color: false, width: Some(20) });
        let local = time::local(MOMENT.now);
        assert!(
            text.lines().skip(1).all(|line| line.ends_with(&format!("{local}  {local}"))),
            "{text}"
        );
    }

    #[test]
    fn a_row_with_nonsense_times_is_a_row_like_any_other() {
        let far = Timestamp::from_millis(i64::MAX);
        let job = Job {
            state: State::Dead,
            attempts: u32::MAX,
            scheduled_at: far,
            runs_at: Some(Timestamp::from_millis(i64::MIN)),
            finished_at: Some(far),
            ..example::job(7)
        };
        let list = list(vec![job]);
        assert!(list.text(PIPE).contains("after the year 9999"), "{}", list.text(PIPE));
        assert!(list.items()[0]["finished_at"].is_null());
    }
}
