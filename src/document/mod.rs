//! Documents that people write, in TOML: read with the place of each value, so
//! that everything that is wrong is told at once, each with a look at it.

mod error;
mod values;

use toml::de::DeTable;

use crate::failure::Failure;

pub use error::{DocumentError, Problem};
pub use values::{Entry, Reader, Value, entries, with_field};

/// Reads a document with `read`; `file` is what it is called in errors.
///
/// # Errors
/// Names everything that is wrong, with its place.
pub fn read<T>(
    file: &str,
    text: &str,
    read: impl FnOnce(&mut Reader, &DeTable<'_>) -> Option<T>,
) -> Result<T, DocumentError> {
    let (root, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader::new(errors.iter().map(syntax).collect());
    if !reader.problems.is_empty() {
        return Err(DocumentError::new(file, text, reader.problems));
    }
    match read(&mut reader, root.get_ref()) {
        Some(value) if reader.problems.is_empty() => Ok(value),
        Some(_) | None => Err(DocumentError::new(file, text, reader.problems)),
    }
}

fn syntax(error: &toml::de::Error) -> Problem {
    let what = error.message().lines().collect::<Vec<_>>().join("; ");
    Problem { span: error.span().unwrap_or_default(), what }
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        Self::usage(error.to_string())
    }
}
