//! JSON and CSV: how a job looks to scripts, and how documents are written.
//!
//! The fields of a job are a promise: they keep their names and their order,
//! and are only ever added to.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};

use super::{Items, Moment, time};
use crate::job::phase::Phase;
use crate::job::{Codes, Command, Dependency, Job, Timestamp};

/// The fields of a job, in order.
pub const FIELDS: [&str; 34] = [
    "id",
    "name",
    "key",
    "command",
    "argv",
    "status",
    "reason",
    "priority",
    "scheduled_at",
    "timeout_s",
    "max_retries",
    "retry_count",
    "retry_delay_s",
    "on_lost",
    "attempts",
    "exit_code",
    "signal",
    "last_error",
    "runs_at",
    "finished_at",
    "created_at",
    "updated_at",
    "cwd",
    "flow",
    "dependencies",
    "schedule",
    "group",
    "mutex",
    "retry_on",
    "no_retry_on",
    "progress",
    "progress_text",
    "on_end",
    "on_end_timeout_s",
];

/// Names of fields as a view has them.
pub fn names(fields: &[&str]) -> Vec<String> {
    fields.iter().map(|name| (*name).to_owned()).collect()
}

/// A job as an object with [`FIELDS`], and `command_b64` behind them if its
/// command is not UTF-8.
pub fn job(job: &Job, moment: Moment) -> Map<String, Value> {
    let policy = &job.policy;
    let object = json!({
        "id": job.id,
        "name": job.name,
        "key": job.key,
        "command": job.command.text(),
        "argv": argv(&job.command),
        "status": job.state,
        "reason": reason(job, moment, &utc),
        "priority": job.priority,
        "scheduled_at": at(Some(job.scheduled_at)),
        "timeout_s": job.timeout.map(seconds),
        "max_retries": policy.max_retries,
        "retry_count": policy.retry_count,
        "retry_delay_s": seconds(policy.delay),
        "on_lost": policy.on_lost.as_str(),
        "attempts": job.attempts,
        "exit_code": job.exit_code,
        "signal": job.signal,
        "last_error": job.last_error,
        "runs_at": at(job.runs_at),
        "finished_at": at(job.finished_at),
        "created_at": at(Some(job.created_at)),
        "updated_at": at(Some(job.updated_at)),
        "cwd": job.cwd.as_deref().map(String::from_utf8_lossy),
        "flow": job.flow,
        "dependencies": job.dependencies.iter().map(dependency).collect::<Value>(),
        "schedule": job.schedule,
        "group": job.group,
        "mutex": job.mutex,
        "retry_on": policy.retry_on.as_ref().map(Codes::to_string),
        "no_retry_on": policy.no_retry_on.as_ref().map(Codes::to_string),
        "progress": job.progress,
        "progress_text": job.progress_text,
        "on_end": job.on_end.as_ref().map(|hook| String::from_utf8_lossy(&hook.command)),
        "on_end_timeout_s": job.on_end.as_ref().map(|hook| seconds(hook.timeout)),
    });
    let Value::Object(mut object) = object else { return Map::new() };
    let command = job.command.to_bytes();
    if std::str::from_utf8(&command).is_err() {
        object.insert("command_b64".to_owned(), BASE64.encode(command).into());
    }
    object
}

fn argv(command: &Command) -> Value {
    match command {
        Command::Shell(_) => Value::Null,
        Command::Argv(words) => words.iter().map(|word| String::from_utf8_lossy(word)).collect(),
    }
}

fn dependency(dependency: &Dependency) -> Value {
    let seen = &dependency.seen;
    json!({
        "id": seen.edge.parent,
        "kind": seen.edge.kind,
        "status": seen.parent,
        "met": seen.is_met(),
    })
}

/// Why a job waits, or was held, skipped or cancelled; with times written by
/// `show`. `None` for a job that runs or ended by itself.
pub fn reason(job: &Job, moment: Moment, show: &dyn Fn(Timestamp) -> String) -> Option<String> {
    let phase = moment.phase(job);
    match &phase {
        Phase::Running => None,
        Phase::Stuck(why) | Phase::Held(Some(why)) => Some(why.clone()),
        Phase::Ended(_, why) => why.clone(),
        _ => {
            let sentence = phase.sentence(show);
            Some(sentence.strip_prefix("it ").unwrap_or(&sentence).to_owned())
        }
    }
}

/// A time in a sentence for scripts.
pub fn utc(time: Timestamp) -> String {
    time::rfc3339(time).unwrap_or_else(|| time::local(time))
}

/// A time; null if there is none, or none that RFC 3339 can write.
pub fn at(time: Option<Timestamp>) -> Value {
    time.and_then(time::rfc3339).into()
}

/// A duration in seconds: an integer when it is whole.
pub fn seconds(length: Duration) -> Value {
    if length.subsec_nanos() == 0 { length.as_secs().into() } else { length.as_secs_f64().into() }
}

/// A value on one line of a table or CSV file: what is nested is told by its
/// ids, with `;` between them.
pub fn flat(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => "".into(),
        Value::String(text) => text.into(),
        Value::Bool(_) | Value::Number(_) => value.to_string().into(),
        Value::Array(values) => {
            let texts: Vec<_> = values.iter().map(flat).collect();
            texts.join(";").into()
        }
        Value::Object(object) => match object.get("id") {
            Some(id) => flat(id),
            None => value.to_string().into(),
        },
    }
}

/// Writes an array with one item a line.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_array(items: Items<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut before = "[\n";
    for item in items {
        write!(out, "{before}{item}")?;
        before = ",\n";
    }
    let after = if before == "[\n" { "[]\n" } else { "\n]\n" };
    out.write_all(after.as_bytes())
}

/// Writes a document: an array with one item a line, anything else indented.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(document: &Value, out: &mut dyn Write) -> io::Result<()> {
    match document {
        Value::Array(items) => write_array(Box::new(items.iter().cloned()), out),
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            writeln!(out, "{document:#}")
        }
    }
}

/// Writes one item a line.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_lines(mut items: Items<'_>, out: &mut dyn Write) -> io::Result<()> {
    items.try_for_each(|item| writeln!(out, "{item}"))
}

/// Writes a header, of these fields or else of those of the first item, and a
/// record for each item.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_csv(fields: Vec<String>, items: Items<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let mut names = fields;
    if !names.is_empty() {
        csv.write_record(&names).map_err(unwritten)?;
    }
    for item in items {
        let Value::Object(object) = &item else { continue };
        if names.is_empty() {
            names = object.keys().filter(|name| *name != "command_b64").cloned().collect();
            csv.write_record(&names).map_err(unwritten)?;
        }
        let fields = names.iter().map(|name| object.get(name).map_or("".into(), flat));
        csv.write_record(fields.map(Cow::into_owned).collect::<Vec<_>>()).map_err(unwritten)?;
    }
    csv.flush()
}

/// The error below, so that a closed pipe is still known as one.
fn unwritten(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Edge, JobId, Kind, State, dependency::Seen};
    use crate::output::example;

    #[test]
    fn a_job_has_the_promised_fields_in_the_promised_order() {
        let object = job(&example::job(7), example::MOMENT);
        let names: Vec<_> = object.keys().map(String::as_str).collect();
        assert_eq!(names, FIELDS);
    }

    #[test]
    fn a_job_looks_like_this() {
        let mut child = example::job(12);
        child.dependencies = vec![Dependency {
            child: JobId(12),
            seen: Seen {
                edge: Edge { parent: JobId(7), kind: Kind::OnFailure },
                parent: Some(State::Running),
            },
        }];
        child.policy.delay = Duration::from_millis(200);
        let want = r#"{"id":12,"name":"job 12","key":null,"command":"true","argv":null,"status":"pending","#
            .to_owned()
            + r#""reason":"waits for a failure of job 7 (running)","priority":5,"#
            + r#""scheduled_at":"2026-12-01T02:00:00.000Z","timeout_s":60,"max_retries":3,"#
            + r#""retry_count":0,"retry_delay_s":0.2,"on_lost":"requeue","attempts":0,"#
            + r#""exit_code":null,"signal":null,"last_error":null,"runs_at":null,"#
            + r#""finished_at":null,"created_at":"2026-12-01T02:00:00.000Z","#
            + r#""updated_at":"2026-12-01T02:00:00.000Z","cwd":"/tmp","flow":null,"#
            + r#""dependencies":[{"id":7,"kind":"on_failure","status":"running","met":false}],"#
            + r#""schedule":null,"group":null,"mutex":null,"retry_on":null,"no_retry_on":null,"#
            + r#""progress":null,"progress_text":null,"on_end":null,"on_end_timeout_s":null}"#;
        assert_eq!(Value::from(job(&child, example::MOMENT)).to_string(), want);
    }

    #[test]
    fn a_command_that_is_not_text_is_there_twice() {
        let mut odd = example::job(7);
        odd.command = Command::Argv(vec![b"touch".to_vec(), b"f\xff".to_vec()]);
        let object = job(&odd, example::MOMENT);
        assert_eq!(object["argv"], json!(["touch", "f\u{fffd}"]));
        let bytes = object["command_b64"].as_str().map(|text| BASE64.decode(text));
        assert_eq!(bytes, Some(Ok(odd.command.to_bytes())));
    }

    #[test]
    fn a_reason_is_there_while_a_job_waits_and_after_it_was_stopped() {
        let of = |state, why: Option<&str>| {
            let job = Job { state, reason: why.map(str::to_owned), ..example::job(7) };
            reason(&job, example::MOMENT, &utc)
        };
        assert_eq!(of(State::Running, None), None);
        assert_eq!(of(State::Success, None), None);
        assert_eq!(of(State::Dead, None), None);
        assert_eq!(of(State::Skipped, Some("needs job 3")).as_deref(), Some("needs job 3"));
        assert_eq!(of(State::Held, Some("outcome unknown")).as_deref(), Some("outcome unknown"));
        let due = "its last attempt failed; the next one is due 2026-12-01T02:00:00.000Z";
        assert_eq!(of(State::Failed, None).as_deref(), Some(due));
    }

    #[test]
    fn a_time_beyond_all_calendars_is_null() {
        let far = Job { scheduled_at: Timestamp::from_millis(i64::MAX), ..example::job(7) };
        assert_eq!(job(&far, example::MOMENT)["scheduled_at"], Value::Null);
    }

    #[test]
    fn what_is_nested_is_told_by_its_ids() {
        assert_eq!(flat(&json!([{"id": 1}, {"id": 2}])), "1;2");
        assert_eq!(flat(&json!(["a", "b"])), "a;b");
        assert_eq!(flat(&Value::Null), "");
    }

    #[test]
    fn an_empty_list_is_an_empty_array() {
        let mut out = Vec::new();
        write_array(Box::new(std::iter::empty()), &mut out).expect("a vector takes everything");
        assert_eq!(out, b"[]\n");
    }

    #[test]
    fn a_pipe_that_closes_under_csv_is_known_as_one() {
        let broken = io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(unwritten(broken.into()).kind(), io::ErrorKind::BrokenPipe);
    }
}
