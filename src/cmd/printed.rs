//! What an attempt printed, wherever it is kept: in the database if it is
//! short and has ended, else in a file, whose middle may have been left out.

use std::io::{self, Cursor, Read};
use std::path::PathBuf;

use crate::data_dir::DataDir;
use crate::exec::kept::Kept;
use crate::failure::{Failure, reason};
use crate::job::JobId;
use crate::store::{self, Store};

/// The output of an attempt, read from its beginning.
pub(super) enum Printed {
    /// All of it, from the database.
    Short(Cursor<Vec<u8>>),
    /// A file. It may grow: at its end there may be more later.
    Long(Kept),
}

/// Why an output cannot be opened.
pub(super) enum Unopened {
    /// The store said so.
    Store(store::Error),
    /// Its file cannot be opened.
    File(PathBuf, io::Error),
}

impl From<store::Error> for Unopened {
    fn from(error: store::Error) -> Self {
        Self::Store(error)
    }
}

impl From<Unopened> for Failure {
    fn from(error: Unopened) -> Self {
        match error {
            Unopened::Store(error) => error.into(),
            Unopened::File(path, error) => {
                Self::store(format!("cannot read {}: {}", path.display(), reason(&error)))
            }
        }
    }
}

/// Opens the output of an attempt; `None` if it has printed nothing (yet).
///
/// # Errors
/// When the store or the file cannot be read.
pub(super) fn read_output(
    store: &mut dyn Store,
    dir: &DataDir,
    job: JobId,
    attempt: u32,
) -> Result<Option<Printed>, Unopened> {
    if let Some(bytes) = store.output(job, attempt)? {
        return Ok(Some(Printed::short(bytes)));
    }
    let path = dir.output(job, attempt);
    match Kept::open(&path) {
        Ok(file) => Ok(Some(Printed::Long(file))),
        // It may have gone into the database since that was asked.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(store.output(job, attempt)?.map(Printed::short))
        }
        Err(error) => Err(Unopened::File(path, error)),
    }
}

impl Printed {
    const fn short(bytes: Vec<u8>) -> Self {
        Self::Short(Cursor::new(bytes))
    }

    /// Goes on where only the last `count` lines, as they are now, are left. A
    /// last line without a newline is a line, too.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn skip_to_last_lines(&mut self, count: usize) -> io::Result<()> {
        match self {
            Self::Short(bytes) => {
                let start = start_of_last_lines(bytes.get_ref(), count);
                bytes.set_position(start as u64);
                Ok(())
            }
            Self::Long(file) => file.skip_to_last_lines(count),
        }
    }

    /// Goes on where at most the last `most` bytes, as they are now, are left.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn skip_to_last_bytes(&mut self, most: u64) -> io::Result<()> {
        match self {
            Self::Short(bytes) => {
                let start = (bytes.get_ref().len() as u64).saturating_sub(most);
                bytes.set_position(start.max(bytes.position()));
                Ok(())
            }
            Self::Long(file) => file.skip_to_last_bytes(most),
        }
    }
}

fn start_of_last_lines(text: &[u8], count: usize) -> usize {
    if count == 0 {
        return text.len();
    }
    let inner = text.strip_suffix(b"\n").unwrap_or(text);
    let ends = inner.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    ends.map(|(place, _)| place + 1).nth(count - 1).unwrap_or(0)
}

impl Read for Printed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Short(bytes) => bytes.read(into),
            Self::Long(file) => file.read(into),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(text: &[u8], lines: usize) -> Vec<u8> {
        let mut printed = Printed::short(text.to_vec());
        printed.skip_to_last_lines(lines).expect("a vector can be read");
        let mut rest = Vec::new();
        printed.read_to_end(&mut rest).expect("a vector can be read");
        rest
    }

    #[test]
    fn the_last_lines_are_found_from_the_end() {
        assert_eq!(last(b"a\nb\nc\n", 2), b"b\nc\n");
        assert_eq!(last(b"a\nb\nc", 2), b"b\nc");
        assert_eq!(last(b"a\n\n\n", 2), b"\n\n");
    }

    #[test]
    fn fewer_lines_than_asked_for_are_all_of_them() {
        assert_eq!(last(b"a\nb\n", 9), b"a\nb\n");
        assert_eq!(last(b"a\nb\n", 2), b"a\nb\n");
        assert_eq!(last(b"", 9), b"");
        assert_eq!(last(b"a\nb\n", 0), b"");
    }

    #[test]
    fn of_a_line_without_an_end_the_last_bytes_are_left() {
        let mut printed = Printed::short(b"a\nbcdef".to_vec());
        printed.skip_to_last_lines(1).expect("a vector can be read");
        printed.skip_to_last_bytes(6).expect("a vector can be read");
        printed.skip_to_last_bytes(3).expect("a vector can be read");
        let mut rest = String::new();
        printed.read_to_string(&mut rest).expect("a vector can be read");
        assert_eq!(rest, "def");
    }
}
