//! `ax show`: everything about a job, and why it is not running.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::graph::Node;
use super::table::{Cell, Column, Table, labelled};
use super::text::shorten;
use super::{Moment, Style, View, cells, hooks, json, paint, time};
use crate::escape::{escape, escape_line};
use crate::job::cause::end;
use crate::job::hook::HookRecord;
use crate::job::{Attempt, Codes, EnvBlock, Job, JobId, Kind};
use crate::store::Child;

/// Neighbours that are listed; there may be 100,000 of them.
pub const NEIGHBOURS: usize = 20;

/// The longest line of output that is shown; `ax logs` shows all of it.
const LONGEST: usize = 400;

/// So many lines of what its last hook printed are shown.
const HOOK_LINES: usize = 10;

/// All there is to say about one job.
pub struct Shown {
    /// The job.
    pub job: Job,
    /// The environment, if it was asked for and is known.
    pub environment: Option<EnvBlock>,
    /// Its attempts, oldest first.
    pub history: Vec<Attempt>,
    /// The jobs that wait for it.
    pub children: Vec<Child>,
    /// The first [`NEIGHBOURS`] of its parents and of its children, as far as
    /// they exist.
    pub nodes: HashMap<JobId, Node>,
    /// The last lines that its last attempt printed.
    pub output: Vec<u8>,
    /// The hooks that were owed for it, oldest first.
    pub hooks: Vec<HookRecord>,
}

/// The answer of `ax show`.
pub struct ShownJobs {
    /// The jobs.
    pub shown: Vec<Shown>,
    /// Whether one job was asked for by its id, and the document is that job.
    pub one: bool,
    /// When they were looked at.
    pub moment: Moment,
}

impl Shown {
    fn item(&self, moment: Moment) -> Value {
        let mut object = json::job(&self.job, moment);
        let why = moment.phase(&self.job).sentence(json::utc);
        object.insert("why".to_owned(), why.into());
        object.insert("children".to_owned(), self.children_json());
        object.insert("attempts_history".to_owned(), self.history.iter().map(attempt).collect());
        object.insert("hooks".to_owned(), self.hooks.iter().map(hooks::item).collect());
        if let Some(environment) = &self.environment {
            object.insert("environment".to_owned(), variables(environment));
        }
        object.into()
    }

    fn children_json(&self) -> Value {
        let child =
            |child: &Child| json!({"id": child.job, "kind": child.kind, "status": child.state});
        self.children.iter().map(child).collect()
    }

    fn text(&self, moment: Moment, style: Style) -> String {
        let parents = self.job.dependencies.iter().map(|dependency| dependency.seen.edge);
        let parents: Vec<_> = parents.map(|edge| (edge.parent, edge.kind)).collect();
        let children: Vec<_> = self.children.iter().map(|child| (child.job, child.kind)).collect();
        let history = history(&self.history, moment).render(indented(style));
        let environment = self.environment.iter().flat_map(EnvBlock::entries);
        [
            labelled(&self.fields(moment, style), style),
            part("waits for", self.neighbours(&parents, style), style),
            part("waited for by", self.neighbours(&children, style), style),
            part("attempts", history.lines().map(str::to_owned).collect(), style),
            part("environment", environment.map(escape).collect(), style),
            part("last lines of output", lines(&self.output), style),
            part("hooks", self.hooks.iter().map(|hook| hooks::line(hook, moment)).collect(), style),
            part("last lines of the last hook", self.hook_lines(), style),
        ]
        .concat()
    }

    fn hook_lines(&self) -> Vec<String> {
        let mut all = self.hooks.last().map_or_else(Vec::new, |hook| lines(&hook.output));
        all.split_off(all.len().saturating_sub(HOOK_LINES))
    }

    fn fields(&self, moment: Moment, style: Style) -> Vec<(&'static str, String)> {
        let job = &self.job;
        let state = paint::paint(job.state.as_str(), paint::of(job.state), style.color);
        let why = moment.phase(job).sentence(|at| time::short(at, moment.now));
        let text = |text: &Option<String>| text.as_ref().map(|text| escape(text.as_bytes()));
        let at = |at| Some(format!("{} ({})", time::local(at), time::short(at, moment.now)));
        let fields = [
            ("id", Some(job.id.to_string())),
            ("name", text(&job.name)),
            ("key", text(&job.key)),
            ("flow", text(&job.flow)),
            ("schedule", text(&job.schedule)),
            ("group", text(&job.group)),
            ("mutex", text(&job.mutex)),
            ("command", Some(escape(&job.command.to_bytes()))),
            ("directory", job.cwd.as_deref().map(escape)),
            ("status", Some(state)),
            ("why", Some(escape(why.as_bytes()))),
            ("progress", text(&cells::progress(job))),
            ("priority", Some(job.priority.to_string())),
            ("attempts", Some(job.attempts.to_string())),
            ("retries", Some(retries(job))),
            ("retry on", job.policy.retry_on.as_ref().map(Codes::to_string)),
            ("never on", job.policy.no_retry_on.as_ref().map(Codes::to_string)),
            ("timeout", Some(limits(job))),
            ("on lost", Some(job.policy.on_lost.as_str().to_owned())),
            ("on end", job.on_end.as_ref().map(hooks::wish)),
            ("end", end(job.exit_code, job.signal, None)),
            ("last error", text(&job.last_error)),
            ("added", at(job.created_at)),
            ("due", at(job.scheduled_at)),
            ("started", job.runs_at.and_then(at)),
            ("ended", job.finished_at.and_then(at)),
            ("changed", at(job.updated_at)),
        ];
        fields.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
    }

    fn neighbours(&self, jobs: &[(JobId, Kind)], style: Style) -> Vec<String> {
        let listed = jobs.iter().take(NEIGHBOURS);
        let mut lines: Vec<_> = listed.map(|pair| self.neighbour(*pair, style)).collect();
        if jobs.len() > NEIGHBOURS {
            let (more, id) = (jobs.len() - NEIGHBOURS, self.job.id);
            lines.push(format!("and {more} more; `ax deps {id}` shows them"));
        }
        lines
    }

    fn neighbour(&self, (id, kind): (JobId, Kind), style: Style) -> String {
        const LONGEST: usize = 60;
        let Some(node) = self.nodes.get(&id) else { return format!("{id} (missing, {kind})") };
        let state = paint::paint(node.state.as_str(), paint::of(node.state), style.color);
        let title = shorten(&escape(node.title.as_bytes()), LONGEST);
        format!("{id} {state} {title} ({kind})")
    }
}

/// The lines of an output, each cut to a length.
fn lines(output: &[u8]) -> Vec<String> {
    let lines = output.split_inclusive(|byte| *byte == b'\n');
    let shown = |line: &[u8]| escape_line(line.strip_suffix(b"\n").unwrap_or(line));
    lines.map(|line| shorten(&shown(line), LONGEST)).collect()
}

/// What stands below a title has two columns less.
fn indented(style: Style) -> Style {
    Style { width: style.width.map(|width| width.saturating_sub(2)), ..style }
}

/// Lines below a title, after a blank one; nothing if there are none.
fn part(title: &str, lines: Vec<String>, style: Style) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let title = paint::paint(&format!("{title}:"), paint::HEAD, style.color);
    format!("\n{title}\n  {}\n", lines.join("\n  "))
}

/// `1 of 3 used, the first after 5s, each × 2, at most 1h`.
fn retries(job: &Job) -> String {
    let policy = &job.policy;
    if policy.max_retries == 0 {
        return "none".to_owned();
    }
    let (delay, longest) = (time::limit(Some(policy.delay)), time::limit(Some(policy.max_delay)));
    let (used, all, factor) = (policy.retry_count, policy.max_retries, policy.backoff);
    format!("{used} of {all} used, the first after {delay}, each × {factor}, at most {longest}")
}

fn limits(job: &Job) -> String {
    let kill = time::limit(Some(job.kill_after));
    format!("{}, killed {kill} later", time::limit(job.timeout))
}

fn attempt(attempt: &Attempt) -> Value {
    json!({
        "attempt": attempt.attempt,
        "started_at": json::at(attempt.started_at),
        "ended_at": json::at(attempt.ended_at),
        "outcome": attempt.outcome,
        "exit_code": attempt.exit_code,
        "signal": attempt.signal,
        "reason": attempt.reason,
        "runner": attempt.owner,
        "pid": attempt.pid,
        "output_bytes": attempt.output_bytes,
        "output_in_file": attempt.output_in_file,
    })
}

/// The environment as an object.
fn variables(environment: &EnvBlock) -> Value {
    let entries = environment.entries().map(|entry| {
        let text = String::from_utf8_lossy(entry).into_owned();
        match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), Value::from(value)),
            None => (text, Value::Null),
        }
    });
    entries.collect::<Map<_, _>>().into()
}

fn history(attempts: &[Attempt], moment: Moment) -> Table {
    let mut table = Table::new(vec![
        Column::new("attempt").right(),
        Column::new("started"),
        Column::new("took"),
        Column::new("end"),
        Column::new("bytes").right(),
        Column::new("error").shrinking(),
    ]);
    let nothing = || Cell::painted(cells::NOTHING, paint::FAINT);
    for attempt in attempts {
        let end_or_now = attempt.ended_at.unwrap_or(moment.now);
        let took = attempt.started_at.map(|start| time::took(end_or_now.since(start)).into());
        table.row(vec![
            attempt.attempt.to_string().into(),
            attempt.started_at.map_or_else(nothing, |at| time::local(at).into()),
            took.unwrap_or_else(nothing),
            end(attempt.exit_code, attempt.signal, attempt.outcome.as_deref())
                .map_or_else(nothing, |end| escape(end.as_bytes()).into()),
            attempt.output_bytes.to_string().into(),
            escape(attempt.reason.as_deref().unwrap_or("").as_bytes()).into(),
        ]);
    }
    table
}

impl View for ShownJobs {
    fn items(&self) -> Vec<Value> {
        self.shown.iter().map(|shown| shown.item(self.moment)).collect()
    }

    fn document(&self) -> Value {
        match self.shown.as_slice() {
            [shown] if self.one => shown.item(self.moment),
            _ => Value::Array(self.items()),
        }
    }

    fn ids(&self) -> Vec<JobId> {
        self.shown.iter().map(|shown| shown.job.id).collect()
    }

    fn text(&self, style: Style) -> String {
        let texts: Vec<_> = self.shown.iter().map(|shown| shown.text(self.moment, style)).collect();
        texts.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::dependency::Seen;
    use crate::job::{Dependency, Edge, RunnerId, State};
    use crate::output::example::{self, MOMENT, after};

    const PIPE: Style = Style { color: false, width: None };

    fn child(id: i64) -> Child {
        Child { job: JobId(id), kind: Kind::OnFailure, state: State::Pending }
    }

    fn failed() -> ShownJobs {
        let mut job = Job {
            state: State::Failed,
            attempts: 1,
            exit_code: Some(3),
            last_error: Some("no\x1b space".to_owned()),
            scheduled_at: after(5),
            ..example::job(7)
        };
        job.dependencies = vec![Dependency {
            child: job.id,
            seen: Seen {
                edge: Edge { parent: JobId(3), kind: Kind::After },
                parent: Some(State::Success),
            },
        }];
        let attempt = Attempt {
            job: job.id,
            attempt: 1,
            owner: RunnerId(1),
            pid: Some(4711),
            started_at: Some(after(-3)),
            ended_at: Some(after(-1)),
            outcome: Some("exited".to_owned()),
            exit_code: Some(3),
            signal: None,
            reason: job.last_error.clone(),
            output_bytes: 12,
            output_in_file: false,
        };
        let parent = Node { title: "fetch".to_owned(), state: State::Success };
        let shown = Shown {
            job,
            environment: None,
            history: vec![attempt],
            children: vec![child(9)],
            nodes: HashMap::from([(JobId(3), parent)]),
            output: b"starts\nno\x1b space\n".to_vec(),
            hooks: Vec::new(),
        };
        ShownJobs { shown: vec![shown], one: true, moment: MOMENT }
    }

    #[test]
    fn a_person_reads_why_it_does_not_run_and_what_it_printed() {
        let text = failed().text(PIPE);
        for line in [
            "id:         7\n",
            "why:        its last attempt failed; the next one is due in 5s\n",
            "retries:    0 of 3 used, the first after 5s, each × 2, at most 1h\n",
            "last error: no\\x1b space\n",
            "\nwaits for:\n  3 success fetch (after)\n",
            "\nwaited for by:\n  9 (missing, on_failure)\n",
            "\nlast lines of output:\n  starts\n  no\\x1b space\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
        assert!(!text.contains('\x1b'));
    }

    #[test]
    fn the_history_has_a_line_for_each_attempt() {
        let text = history(&failed().shown[0].history, MOMENT).render(PIPE);
        assert!(
            text.contains("ATTEMPT  STARTED              TOOK  END     BYTES  ERROR"),
            "{text}"
        );
        assert!(text.contains("2.0s  exit 3     12  no\\x1b space"), "{text}");
    }

    #[test]
    fn the_history_fits_a_terminal_with_its_indent() {
        let mut shown = failed();
        shown.shown[0].history[0].reason = Some("why ".repeat(99));
        let text = shown.text(Style { color: false, width: Some(80) });
        let row = text.lines().find(|line| line.ends_with('…')).expect("the reason is cut");
        assert_eq!(crate::output::text::width(row), 80);
    }

    #[test]
    fn an_endless_line_of_output_is_cut() {
        let mut shown = failed();
        shown.shown[0].output = vec![b'x'; 16_000];
        assert!(shown.text(PIPE).ends_with("xxx…\n"));
        assert!(shown.text(PIPE).lines().all(|line| line.len() < 500));
    }

    #[test]
    fn the_end_of_an_attempt_is_told_by_its_code_or_its_signal() {
        let mut shown = failed();
        assert!(shown.text(PIPE).contains("\nend:        exit 3\n"));
        (shown.shown[0].job.exit_code, shown.shown[0].job.signal) = (None, Some(9));
        assert!(shown.text(PIPE).contains("\nend:        signal 9\n"));
    }

    #[test]
    fn the_exit_codes_that_are_tried_again_are_shown_if_it_names_some() {
        let mut shown = failed();
        assert!(!shown.text(PIPE).contains("retry on"));
        shown.shown[0].job.policy.retry_on = "1,5-9".parse().ok();
        shown.shown[0].job.policy.no_retry_on = "7".parse().ok();
        assert!(shown.text(PIPE).contains("\nretry on:   1,5-9\nnever on:   7\n"));
    }

    #[test]
    fn one_job_is_an_object_with_its_history() {
        let document = failed().document();
        assert_eq!(document["id"], 7);
        assert_eq!(document["attempts_history"][0]["exit_code"], 3);
        assert_eq!(
            document["children"][0],
            json!({"id": 9, "kind": "on_failure", "status": "pending"})
        );
        assert!(document.get("environment").is_none());
        assert!(ShownJobs { one: false, ..failed() }.document().is_array());
    }

    #[test]
    fn the_environment_is_shown_when_it_was_asked_for() {
        let mut shown = failed();
        let block = EnvBlock::from_entries([b"A=1=2".as_slice(), b"T=\xff"]);
        shown.shown[0].environment = Some(block);
        assert_eq!(shown.document()["environment"], json!({"A": "1=2", "T": "\u{fffd}"}));
        assert!(shown.text(PIPE).contains("\nenvironment:\n  A=1=2\n  T=\u{fffd}\n"));
    }

    #[test]
    fn of_many_children_some_are_listed() {
        let mut shown = failed();
        shown.shown[0].children = (100..200).map(child).collect();
        assert!(shown.text(PIPE).contains("  and 80 more; `ax deps 7` shows them\n"));
    }
}
