//! The values of a document, and what is wrong with them.

use std::ops::Range;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Problem;
use crate::fields;
use crate::suggest::did_you_mean;

/// A value and its place.
pub type Value<'a> = Spanned<DeValue<'a>>;
/// A key, its place, and its value.
pub type Entry<'t, 'a> = (&'t str, Range<usize>, &'t Value<'a>);

/// Reads values; collects what is wrong on the way, and goes on.
pub struct Reader {
    /// What is wrong so far.
    pub problems: Vec<Problem>,
}

impl Reader {
    /// A reader that has found these problems.
    pub fn new(problems: Vec<Problem>) -> Self {
        Self { problems }
    }

    /// Reads a text or a list of texts; tells each that is none.
    pub fn texts(&mut self, value: &Value<'_>) -> Option<Vec<(String, Range<usize>)>> {
        let items = match value.get_ref() {
            DeValue::Array(items) => items.iter().collect(),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Table(_) => vec![value],
        };
        let before = self.problems.len();
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            let text = self.take(item, |value| fields::text(value).map(str::to_owned));
            texts.extend(text.map(|text| (text, item.span())));
        }
        (self.problems.len() == before).then_some(texts)
    }

    /// Reads a text that means something.
    pub fn parsed<T: FromStr<Err = String>>(&mut self, value: &Value<'_>) -> Option<T> {
        self.take(value, |value| fields::text(value)?.parse())
    }

    /// Reads a table.
    pub fn table<'t, 'a>(&mut self, value: &'t Value<'a>) -> Option<&'t DeTable<'a>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(table),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_) => self.take(value, |value| Err(value.is_not("a table"))),
        }
    }

    /// Reads a value; if it is wrong, that is told at its place.
    pub fn take<T>(
        &mut self,
        value: &Value<'_>,
        read: impl FnOnce(fields::Value<'_>) -> Result<T, String>,
    ) -> Option<T> {
        with_field(value.get_ref(), read).map_err(|why| self.wrong(value.span(), why)).ok()
    }

    /// Tells of a key that nobody knows.
    pub fn unknown<'n>(
        &mut self,
        key: &str,
        span: Range<usize>,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        let near = did_you_mean(key, known);
        self.wrong(span, format!("unknown key `{}`{near}", key.escape_debug()));
    }

    /// Tells what is wrong at a place.
    pub fn wrong(&mut self, span: Range<usize>, what: impl Into<String>) {
        self.problems.push(Problem { span, what: what.into() });
    }
}

/// The entries of a table in the order of the file.
pub fn entries<'t, 'a>(table: &'t DeTable<'a>) -> Vec<Entry<'t, 'a>> {
    let mut entries: Vec<Entry<'t, 'a>> =
        table.iter().map(|(key, value)| (key.get_ref().as_ref(), key.span(), value)).collect();
    entries.sort_by_key(|(_, span, _)| span.start);
    entries
}

/// Shows a value of TOML as one of a file of any kind.
pub fn with_field<T>(value: &DeValue<'_>, read: impl FnOnce(fields::Value<'_>) -> T) -> T {
    match value {
        DeValue::String(text) => read(fields::Value::Text(text)),
        DeValue::Integer(number) => {
            let plain = i128::from_str_radix(number.as_str(), number.radix());
            read(fields::Value::Number(
                &plain.map_or(number.to_string(), |plain| plain.to_string()),
            ))
        }
        DeValue::Float(number) => read(fields::Value::Number(number.as_str())),
        DeValue::Boolean(flag) => read(fields::Value::Flag(*flag)),
        DeValue::Datetime(_) => read(fields::Value::Other("a date")),
        DeValue::Array(_) => read(fields::Value::Other("a list")),
        DeValue::Table(_) => read(fields::Value::Other("a table")),
    }
}
