//! What one of them says: the environment, or the file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use toml::de::DeTable;

use super::keys::KEYS;
use crate::cli::{ColorChoice, OnStop};
use crate::document::{Reader, Value, entries, with_field};
use crate::exec::output;
use crate::failure::Failure;
use crate::fields::{self, positive_duration, text};
use crate::job::Settings;

/// The values that are said.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) db: Option<PathBuf>,
    pub(super) color: Option<String>,
    pub(super) output_limit: Option<String>,
    pub(super) settings: Settings,
    pub(super) run: Run,
    /// As they are written, with their lines.
    written: BTreeMap<&'static str, (String, usize)>,
}

/// How a runner works; `None` where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// How many jobs run at once.
    pub workers: Option<u16>,
    /// The longest sleep between two looks at the database.
    pub poll_interval: Option<Duration>,
    /// How many jobs are claimed ahead.
    pub queue_size: Option<u16>,
    /// How long running jobs may go on after the first signal.
    pub grace: Option<Duration>,
    /// What happens to running jobs then.
    pub on_stop: Option<OnStop>,
}

impl Run {
    /// These values, and those of `fallback` where nothing is said.
    #[must_use]
    pub fn or(self, fallback: &Self) -> Self {
        Self {
            workers: self.workers.or(fallback.workers),
            poll_interval: self.poll_interval.or(fallback.poll_interval),
            queue_size: self.queue_size.or(fallback.queue_size),
            grace: self.grace.or(fallback.grace),
            on_stop: self.on_stop.or(fallback.on_stop),
        }
    }
}

type Variable<'a> = &'a dyn Fn(&str) -> Option<OsString>;

impl Layer {
    /// How a value is written, and in which line.
    pub(super) fn written(&self, name: &str) -> Option<(&str, usize)> {
        self.written.get(name).map(|(text, line)| (text.as_str(), *line))
    }

    /// What the environment says; an empty variable says nothing, but for that
    /// of the database.
    pub(super) fn of_environment(variable: Variable<'_>) -> Result<Self, Failure> {
        let mut layer = Self::default();
        for key in &KEYS {
            let Some(value) = variable(key.variable) else { continue };
            match key.name {
                "db" if value.is_empty() => {
                    let what = format!("{} is empty", key.variable);
                    return Err(Failure::usage(what)
                        .hint("name a file in it, or unset it for the default database"));
                }
                // It need not be UTF-8, nor absolute.
                "db" => layer.db = Some(PathBuf::from(&value)),
                _ if value.is_empty() => continue,
                _ => (),
            }
            let shown = value.to_string_lossy().into_owned();
            if key.name != "db" {
                let wrong = |why| Failure::usage(format!("{}: {why}", key.variable));
                let text = value.to_str().ok_or_else(|| wrong("it is not UTF-8".to_owned()))?;
                layer.set(key.name, of_variable(key.name, text), variable).map_err(wrong)?;
            }
            layer.written.insert(key.name, (shown, 0));
        }
        Ok(layer)
    }

    /// What a file says.
    pub(super) fn of_document(
        reader: &mut Reader,
        root: &DeTable<'_>,
        whole: &str,
        variable: Variable<'_>,
    ) -> Self {
        let mut layer = Self::default();
        layer.take_table(reader, "", root, whole, variable);
        layer
    }

    fn take_table(
        &mut self,
        reader: &mut Reader,
        prefix: &str,
        table: &DeTable<'_>,
        whole: &str,
        variable: Variable<'_>,
    ) {
        for (key, span, value) in entries(table) {
            let name = format!("{prefix}{key}");
            let known = KEYS.iter().find(|known| known.name == name);
            let inner = format!("{name}.");
            match known {
                Some(known) => {
                    let line = 1 + whole[..span.start.min(whole.len())].matches('\n').count();
                    let set = |value: fields::Value<'_>| self.set(known.name, value, variable);
                    if reader.take(value, set).is_some() {
                        self.written.insert(known.name, (shown(value), line));
                    }
                }
                None if KEYS.iter().any(|key| key.name.starts_with(&inner)) => {
                    if let Some(table) = reader.table(value) {
                        self.take_table(reader, &inner, table, whole, variable);
                    }
                }
                None => reader.unknown(key, span, names(prefix)),
            }
        }
    }

    fn set(
        &mut self,
        name: &str,
        value: fields::Value<'_>,
        variable: Variable<'_>,
    ) -> Result<(), String> {
        match name {
            "db" => self.db = Some(database(text(value)?, variable)?),
            "color" => self.color = Some(one_of(text(value)?, ColorChoice::NAMES)?),
            "output_limit" => self.output_limit = Some(size(value)?),
            "run.workers" => self.run.workers = Some(count(value, 1..=1024)?),
            "run.poll_interval" => self.run.poll_interval = Some(positive_duration(value)?),
            "run.queue_size" => self.run.queue_size = Some(count(value, 1..=u16::MAX)?),
            "run.grace" => self.run.grace = Some(fields::duration(value)?),
            "run.on_stop" => self.run.on_stop = Some(OnStop::named(text(value)?)?),
            _ => {
                let setting = name.strip_prefix("defaults.").unwrap_or(name);
                fields::set(&mut self.settings, setting, value)?;
            }
        }
        Ok(())
    }
}

/// The keys right in a table, and the tables in it.
fn names(prefix: &str) -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter_map(move |key| key.name.strip_prefix(prefix)?.split('.').next())
}

/// A variable is a text; where a number is wanted, one of digits is that.
fn of_variable<'a>(name: &str, text: &'a str) -> fields::Value<'a> {
    let is_text = matches!(name, "defaults.group" | "defaults.on_end");
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte));
    if is_number && !is_text { fields::Value::Number(text) } else { fields::Value::Text(text) }
}

fn shown(value: &Value<'_>) -> String {
    with_field(value.get_ref(), |value| match value {
        fields::Value::Text(text) | fields::Value::Number(text) => text.to_owned(),
        fields::Value::Flag(false) => "none".to_owned(),
        fields::Value::Flag(true) => "true".to_owned(),
        fields::Value::Other(kind) => kind.to_owned(),
    })
}

/// Seen from nowhere: whoever types is in many places.
fn database(text: &str, variable: Variable<'_>) -> Result<PathBuf, String> {
    let path = match text.strip_prefix("~/") {
        Some(rest) => PathBuf::from(variable("HOME").unwrap_or_default()).join(rest),
        None => PathBuf::from(text),
    };
    if path.is_absolute() {
        return Ok(path);
    }
    let shown = text.escape_debug();
    Err(format!("`{shown}` is not an absolute path, nor one that begins with `~/`"))
}

fn one_of(text: &str, names: &[&str]) -> Result<String, String> {
    if names.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!("`{}` is none of {}", text.escape_debug(), names.join(", ")))
}

fn size(value: fields::Value<'_>) -> Result<String, String> {
    let (fields::Value::Text(text) | fields::Value::Number(text)) = value else {
        return Err(value.is_not("a size such as \"64M\""));
    };
    match output::size(text) {
        Some(size) if size >= output::LEAST_LIMIT => Ok(text.to_owned()),
        Some(_) => Err(format!(
            "`{text}` is less than can be kept of an output; the smallest limit is `{}K`",
            output::LEAST_LIMIT >> 10
        )),
        None => Err(format!(
            "`{}` is no size; these are: `65536`, `512K`, `64M`, `2G`",
            text.escape_debug()
        )),
    }
}

fn count(value: fields::Value<'_>, range: RangeInclusive<u16>) -> Result<u16, String> {
    let fields::Value::Number(digits) = value else { return Err(value.is_not("a number")) };
    let (low, high) = (range.start(), range.end());
    digits
        .parse()
        .ok()
        .filter(|count| range.contains(count))
        .ok_or_else(|| format!("`{digits}` is not a whole number from {low} to {high}"))
}
