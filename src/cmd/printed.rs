//! What an attempt printed, wherever it is kept: in the database if it is
//! short and has ended, else in a file.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use crate::data_dir::DataDir;
use crate::failure::Failure;
use crate::job::JobId;
use crate::store::Store;

/// Bytes that can be read from any place.
pub(super) trait Printed: Read + Seek {}

impl<T: Read + Seek> Printed for T {}

/// Opens the output of an attempt; `None` if it has printed nothing (yet).
///
/// # Errors
/// When the store or the file cannot be read.
pub(super) fn read_output(
    store: &mut dyn Store,
    dir: &DataDir,
    job: JobId,
    attempt: u32,
) -> Result<Option<Box<dyn Printed>>, Failure> {
    if let Some(bytes) = store.output(job, attempt)? {
        return Ok(Some(Box::new(Cursor::new(bytes))));
    }
    let path = dir.output(job, attempt);
    match File::open(&path) {
        Ok(file) => Ok(Some(Box::new(file))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::store(format!("cannot read {}: {error}", path.display()))),
    }
}

/// Goes to where the last `lines` lines begin, and tells where that is. A last
/// line without a newline is a line, too.
///
/// # Errors
/// When it cannot be read.
pub(super) fn seek_to_last(printed: &mut dyn Printed, lines: usize) -> io::Result<u64> {
    const CHUNK: u64 = 64 * 1024;
    let end = printed.seek(SeekFrom::End(0))?;
    let mut chunk = Vec::new();
    let (mut from, mut missing) = (end, lines);
    while from > 0 && missing > 0 {
        let until = from;
        from = until.saturating_sub(CHUNK);
        printed.seek(SeekFrom::Start(from))?;
        chunk.clear();
        printed.take(until - from).read_to_end(&mut chunk)?;
        for (place, _) in chunk.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n') {
            let after = from + place as u64 + 1;
            if after == end {
                continue;
            }
            missing -= 1;
            if missing == 0 {
                return printed.seek(SeekFrom::Start(after));
            }
        }
    }
    printed.seek(SeekFrom::Start(if lines == 0 { end } else { 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(text: &[u8], lines: usize) -> Vec<u8> {
        let mut printed = Cursor::new(text.to_vec());
        seek_to_last(&mut printed, lines).expect("a vector can be read");
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
        assert_eq!(last(b"", 9), b"");
        assert_eq!(last(b"a\nb\n", 0), b"");
    }

    #[test]
    fn lines_longer_than_a_chunk_are_found() {
        let mut text = vec![b'x'; 200_000];
        text.push(b'\n');
        let line = text.clone();
        text.extend_from_slice(&line);
        assert_eq!(last(&text, 1), line);
        assert_eq!(last(&text, 2), text);
    }
}
