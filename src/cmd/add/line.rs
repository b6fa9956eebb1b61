//! One line of `--from`: a JSON object that describes a job.

use std::fmt;

use chrono::Local;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::draft::Draft;
use super::lines::Places;
use crate::fields;
use crate::job::{Command, EnvBlock, JobId, Kind, NewJob, ParentRef, Settings, Timestamp, limits};
use crate::suggest::did_you_mean;
use crate::when;

/// What a line says; the rest comes from the options.
#[derive(Debug, Default)]
pub(super) struct Line {
    command: Option<Command>,
    name: Option<String>,
    key: Option<String>,
    due: Option<Timestamp>,
    settings: Settings,
    cwd: Option<String>,
    env: EnvBlock,
    parents: Vec<(ParentRef, Kind)>,
}

impl Line {
    /// Reads a line. A field that is null says nothing.
    ///
    /// # Errors
    /// Names the field and says what is wrong with it.
    pub(super) fn read(text: &[u8], now: Timestamp) -> Result<Self, String> {
        let Fields(fields) = serde_json::from_slice(text).map_err(|error| syntax(&error))?;
        let mut line = Self::default();
        for (index, (name, value)) in fields.iter().enumerate() {
            if fields[..index].iter().any(|(earlier, _)| earlier == name) {
                return Err(format!("field `{}` stands there twice", name.escape_debug()));
            }
            if value.is_null() && is_known(name) {
                continue;
            }
            line.set(name, value, now)?;
        }
        Ok(line)
    }

    fn set(&mut self, name: &str, value: &Value, now: Timestamp) -> Result<(), String> {
        let in_field = |why: String| format!("field `{name}`: {why}");
        match name {
            "command" => self.run(text(value).map(|text| Command::Shell(text.into()))),
            "argv" => self.run(words(value)),
            "name" => label("name", value).map(|name| self.name = Some(name)),
            "key" => label("key", value).map(|key| self.key = Some(key)),
            "delay" => self.due(delay(value, now)),
            "at" => self.due(text(value).and_then(|text| when::time(text, now, &Local))),
            "cwd" => text(value).map(|dir| self.cwd = Some(dir.to_owned())),
            "env" => variables(value).map(|env| self.env = env),
            _ => match name.parse() {
                Ok(kind) => self.wait(kind, value),
                Err(_) => return self.setting(name, value),
            },
        }
        .map_err(in_field)
    }

    fn run(&mut self, command: Result<Command, String>) -> Result<(), String> {
        let command = command?;
        command.check()?;
        match self.command.replace(command) {
            None => Ok(()),
            Some(_) => Err("either `command` or `argv` says what to run, not both".to_owned()),
        }
    }

    fn due(&mut self, due: Result<Timestamp, String>) -> Result<(), String> {
        match self.due.replace(due?) {
            None => Ok(()),
            Some(_) => Err("either `delay` or `at` says when, not both".to_owned()),
        }
    }

    fn wait(&mut self, kind: Kind, value: &Value) -> Result<(), String> {
        let parents = match value {
            Value::Array(parents) => parents.as_slice(),
            one => std::slice::from_ref(one),
        };
        for parent in parents {
            self.parents.push((parent_ref(parent)?, kind));
        }
        Ok(())
    }

    fn setting(&mut self, name: &str, value: &Value) -> Result<(), String> {
        match with_field(value, |value| fields::set(&mut self.settings, name, value)) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let near = did_you_mean(name, known());
                Err(format!("unknown field `{}`{near}", name.escape_debug()))
            }
            Err(why) => Err(format!("field `{name}`: {why}")),
        }
    }

    /// The job: what the line says, laid over the options. Dependencies and
    /// variables add up; of two variables of one name the line's counts.
    pub(super) fn job(self, draft: &Draft, places: &mut Places<'_>) -> Result<NewJob, String> {
        let command = self.command.ok_or("neither `command` nor `argv` says what to run")?;
        let place = match self.cwd {
            Some(dir) => &places.at(dir).map_err(|why| format!("field `cwd`: {why}"))?,
            None => &draft.place,
        };
        let due = self.due.unwrap_or(draft.due);
        Ok(NewJob {
            name: self.name.or_else(|| draft.name.clone()),
            key: self.key,
            if_exists: draft.if_exists,
            extra_env: draft.extra_env.overlaid(&self.env),
            parents: [draft.parents.as_slice(), &self.parents].concat(),
            ..self.settings.or(&draft.settings).job(command, place, due)
        })
    }
}

/// The names of all fields.
fn known() -> impl Iterator<Item = &'static str> {
    const OWN: &[&str] = &["command", "argv", "name", "key", "delay", "at", "cwd", "env"];
    let kinds = Kind::ALL.iter().map(|kind| kind.as_str());
    OWN.iter().chain(fields::NAMES).copied().chain(kinds)
}

fn is_known(name: &str) -> bool {
    known().any(|known| known == name)
}

/// Shows a value of JSON as one of a file of any kind.
fn with_field<T>(value: &Value, read: impl FnOnce(fields::Value<'_>) -> T) -> T {
    match value {
        Value::Null => read(fields::Value::Other("null")),
        Value::Bool(flag) => read(fields::Value::Flag(*flag)),
        Value::Number(number) => read(fields::Value::Number(&number.to_string())),
        Value::String(text) => read(fields::Value::Text(text)),
        Value::Array(_) => read(fields::Value::Other("a list")),
        Value::Object(_) => read(fields::Value::Other("an object")),
    }
}

fn text(value: &Value) -> Result<&str, String> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(with_field(other, |value| value.is_not("a text"))),
    }
}

fn label(what: &str, value: &Value) -> Result<String, String> {
    let label = text(value)?;
    limits::label(what, label)?;
    Ok(label.to_owned())
}

fn delay(value: &Value, now: Timestamp) -> Result<Timestamp, String> {
    with_field(value, fields::duration).map(|delay| now.plus(delay))
}

fn words(value: &Value) -> Result<Command, String> {
    let Value::Array(words) = value else {
        return Err(with_field(value, |value| value.is_not("a list of words")));
    };
    let words: Result<_, _> = words.iter().map(|word| text(word).map(Vec::from)).collect();
    words.map(Command::Argv)
}

fn variables(value: &Value) -> Result<EnvBlock, String> {
    let Value::Object(variables) = value else {
        return Err(with_field(value, |value| value.is_not("an object of texts")));
    };
    let mut entries = Vec::with_capacity(variables.len());
    for (name, value) in variables {
        let value = text(value).map_err(|why| format!("`{}`: {why}", name.escape_debug()))?;
        entries.push(limits::variable(name.as_bytes(), value.as_bytes())?);
    }
    Ok(EnvBlock::from_entries(entries.iter().map(Vec::as_slice)))
}

fn parent_ref(value: &Value) -> Result<ParentRef, String> {
    match value {
        Value::String(key) => {
            limits::label("key", key)?;
            Ok(ParentRef::Key(key.clone()))
        }
        Value::Number(number) => number.to_string().parse::<JobId>().map(ParentRef::Id),
        other => Err(with_field(other, |value| value.is_not("an id or a key"))),
    }
}

/// What the parser of JSON says, with the column alone: the line is always 1.
fn syntax(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = &text[..text.rfind(" at line ").unwrap_or(text.len())];
    match error.column() {
        0 => what.to_owned(),
        column => format!("column {column}: {what}"),
    }
}

/// The fields of an object in the order they are written.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadFields).map(Self)
    }
}

struct ReadFields;

impl<'de> Visitor<'de> for ReadFields {
    type Value = Vec<(String, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object such as {\"command\": \"true\"}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(fields)
    }
}
