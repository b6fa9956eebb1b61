//! Reading the output of an attempt, also while it grows.
//!
//! An output that grew over its limit has a hole where its middle was (see
//! [`super::spool`]). A reader gets the beginning, one line that says how much
//! was left out, and the end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::{Whence, lseek};

use super::output;

/// How much is read at once.
const BLOCK: u64 = 64 * 1024;

/// A kept output. At its end reading gives 0 bytes, and more once there is more.
#[derive(Debug)]
pub struct Kept {
    file: File,
    at: u64,
    marker: Vec<u8>,
}

impl Kept {
    /// Opens the output in this file.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let nofollow = OFlag::O_NOFOLLOW.bits();
        Ok(Self::of(OpenOptions::new().read(true).custom_flags(nofollow).open(path)?))
    }

    /// The output in an open file, from its beginning.
    pub const fn of(file: File) -> Self {
        Self { file, at: 0, marker: Vec::new() }
    }

    /// Goes on where only the last `count` lines, as they are now, are left.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn skip_to_last_lines(&mut self, count: usize) -> io::Result<()> {
        let pieces = self.pieces()?;
        self.at = pieces.last().map_or(0, |piece| piece.end);
        if count == 0 {
            return Ok(());
        }
        let end = self.at;
        let mut ends = 0;
        for piece in pieces.iter().rev() {
            for block in blocks_backwards(piece) {
                let bytes = self.load(&block)?;
                for (place, _) in bytes.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n')
                {
                    let after = block.start + place as u64 + 1;
                    // The newline at the very end ends the last line.
                    ends += usize::from(after != end);
                    if ends == count {
                        self.at = after;
                        return Ok(());
                    }
                }
            }
        }
        self.at = 0;
        Ok(())
    }

    /// Goes on where at most the last `most` bytes, as they are now, are left.
    ///
    /// # Errors
    /// When nobody knows how long the file is.
    pub fn skip_to_last_bytes(&mut self, most: u64) -> io::Result<()> {
        let start = self.file.metadata()?.len().saturating_sub(most);
        self.at = self.at.max(start);
        Ok(())
    }

    fn load(&self, range: &Range<u64>) -> io::Result<Vec<u8>> {
        let length = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, range.start)?;
        Ok(bytes)
    }

    /// The pieces that are not holes, from the beginning.
    fn pieces(&self) -> io::Result<Vec<Range<u64>>> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(start) = self.next(at, Whence::SeekData)? {
            let Some(end) = self.next(start, Whence::SeekHole)? else { break };
            pieces.push(start..end);
            at = end;
        }
        Ok(pieces)
    }

    /// Where data or a hole begins at or after `at`; `None` at the end.
    fn next(&self, at: u64, what: Whence) -> io::Result<Option<u64>> {
        let offset = i64::try_from(at).map_err(io::Error::other)?;
        match lseek(&self.file, offset, what) {
            Ok(found) => Ok(u64::try_from(found).ok()),
            Err(Errno::ENXIO) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Read for Kept {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.marker.is_empty() {
            let Some(data) = self.next(self.at, Whence::SeekData)? else { return Ok(0) };
            if data > self.at {
                self.marker = output::left_out(data - self.at).into_bytes();
                self.at = data;
            }
        }
        if !self.marker.is_empty() {
            let count = into.len().min(self.marker.len());
            into[..count].copy_from_slice(&self.marker[..count]);
            self.marker.drain(..count);
            return Ok(count);
        }
        let Some(end) = self.next(self.at, Whence::SeekHole)? else { return Ok(0) };
        let room = usize::try_from(end - self.at).unwrap_or(usize::MAX).min(into.len());
        let count = self.file.read_at(&mut into[..room], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

fn blocks_backwards(piece: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let Range { start, end } = *piece;
    let count = (end - start).div_ceil(BLOCK);
    (0..count).rev().map(move |n| start + n * BLOCK..end.min(start + (n + 1) * BLOCK))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn kept(text: &[u8]) -> (File, Kept) {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(text).expect("written");
        let again = file.try_clone().expect("the same");
        (file, Kept::of(again))
    }

    fn rest(kept: &mut Kept) -> String {
        let mut bytes = Vec::new();
        kept.read_to_end(&mut bytes).expect("read");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn the_last_lines_are_found_with_and_without_a_newline_at_the_end() {
        for (text, count, want) in [
            ("a\nb\nc\n", 2, "b\nc\n"),
            ("a\nb\nc", 2, "b\nc"),
            ("a\nb\nc\n", 3, "a\nb\nc\n"),
            ("a\nb\nc\n", 9, "a\nb\nc\n"),
            ("a\nb\n\n", 1, "\n"),
            ("a\n", 0, ""),
            ("", 5, ""),
        ] {
            let (_file, mut kept) = kept(text.as_bytes());
            kept.skip_to_last_lines(count).expect("read");
            assert_eq!(rest(&mut kept), want, "{count} of {text:?}");
        }
    }

    #[test]
    fn last_lines_longer_than_a_block_are_found() {
        let line = "x".repeat(100_000);
        let (_file, mut kept) = kept(format!("{line}\n{line}\n{line}\n").as_bytes());
        kept.skip_to_last_lines(2).expect("read");
        assert_eq!(rest(&mut kept), format!("{line}\n{line}\n"));
    }

    #[test]
    fn the_last_bytes_are_no_more_than_what_is_left() {
        for (lines, most, want) in
            [(9, 3, "bc\n"), (1, 3, "bc\n"), (1, 99, "bc\n"), (9, 99, "a\nbc\n")]
        {
            let (_file, mut kept) = kept(b"a\nbc\n");
            kept.skip_to_last_lines(lines).expect("read");
            kept.skip_to_last_bytes(most).expect("read");
            assert_eq!(rest(&mut kept), want, "{lines} lines, {most} bytes");
        }
    }

    #[test]
    fn what_is_written_later_is_read_later() {
        let (mut file, mut kept) = kept(b"one\n");
        assert_eq!(rest(&mut kept), "one\n");
        file.write_all(b"two\n").expect("written");
        assert_eq!(rest(&mut kept), "two\n");
    }
}
