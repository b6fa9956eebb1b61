//! What jobs print, as it is passed on: of one job the bytes as they are, of
//! several jobs whole lines with the name of the job before each.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Paint};

use super::paint::paint;
use super::text::{pad, shorten, width};
use crate::escape::{Escaping, escape};
use crate::job::{Job, JobId};

/// A line is kept until it has ended, but no more of it than this, in bytes.
const LONGEST: usize = 64 * 1024;

/// The widest that a name is before a line, in columns.
const WIDEST: usize = 24;

/// The colours of names, in turn. Red is left to what is wrong.
const COLORS: [AnsiColor; 5] =
    [AnsiColor::Cyan, AnsiColor::Yellow, AnsiColor::Green, AnsiColor::Magenta, AnsiColor::Blue];

/// The output of one job on its way to whoever reads it.
pub struct Voice {
    /// What stands before each line; `None` passes bytes on as they are.
    before: Option<String>,
    /// Whether lines with something before them are escaped.
    escaped: bool,
    /// The beginning of a line that has not ended.
    begun: Vec<u8>,
    /// Whether the last byte ended a line.
    is_at_start: bool,
}

impl Voice {
    /// The voice of a job that is heard alone.
    pub const fn alone() -> Self {
        Self { before: None, escaped: false, begun: Vec::new(), is_at_start: true }
    }

    /// The voices of several jobs: the id and the name before each line, below
    /// each other, in colours if asked; control characters are escaped if asked.
    pub fn among(jobs: &[Job], color: bool, escaped: bool) -> Vec<Self> {
        let ids: Vec<_> = jobs.iter().map(|job| job.id.to_string()).collect();
        let names: Vec<_> = jobs.iter().map(name).collect();
        let widest = |texts: &[String]| texts.iter().map(|text| width(text)).max().unwrap_or(0);
        let (id_width, name_width) = (widest(&ids), widest(&names));
        let labels = ids.iter().zip(&names).map(|(id, name)| {
            let blanks = " ".repeat(id_width.saturating_sub(width(id)));
            let gap = if name_width == 0 { "" } else { " " };
            format!("{blanks}{id}{gap}{} |", pad(name, name_width))
        });
        let painted = labels.enumerate().map(|(n, label)| {
            let color_of_it: Paint = COLORS[n % COLORS.len()].on_default();
            format!("{} ", paint(&label, color_of_it, color))
        });
        painted.map(|before| Self { before: Some(before), escaped, ..Self::alone() }).collect()
    }

    /// Passes on what the job printed; of several jobs what is a whole line.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn say(&mut self, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
        if self.before.is_none() {
            self.is_at_start = bytes.last().map_or(self.is_at_start, |last| *last == b'\n');
            return out.write_all(bytes);
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.begun.len() >= LONGEST {
                self.end_line(out)?;
            }
        }
        Ok(())
    }

    /// Passes on what is left of a line that nobody ends any more. What a job
    /// prints that is heard alone is not changed.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.begun.is_empty() { Ok(()) } else { self.end_line(out) }
    }

    /// Tells whether the job is heard alone.
    pub const fn is_alone(&self) -> bool {
        self.before.is_none()
    }

    /// Tells whether what comes next stands at the start of a line.
    pub const fn is_at_start(&self) -> bool {
        self.is_at_start
    }

    fn end_line(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = std::mem::take(&mut self.begun);
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        let mut whole = self.before.clone().unwrap_or_default().into_bytes();
        if self.escaped {
            let mut escaping = Escaping::new(&mut whole);
            escaping.write_all(&line)?;
            escaping.finish()?;
        } else {
            whole.extend(line);
        }
        out.write_all(&whole)
    }
}

/// The name of a job, if it has one: a command is no name to find a line by.
fn name(job: &Job) -> String {
    shorten(&escape(job.name.as_deref().unwrap_or_default().as_bytes()), WIDEST)
}

/// What people call a job in a line about it: `job 12 fetch`.
pub fn called(id: JobId, name: Option<&str>) -> String {
    let name = name.map(|name| format!(" {}", shorten(&escape(name.as_bytes()), WIDEST)));
    format!("job {id}{}", name.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::example;

    fn named(id: i64, name: Option<&str>) -> Job {
        Job { id: JobId(id), name: name.map(str::to_owned), ..example::job(id) }
    }

    fn two(color: bool, escaped: bool) -> Vec<Voice> {
        Voice::among(&[named(7, Some("日本")), named(12, None)], color, escaped)
    }

    /// What is heard of pieces that voices say in turn, and of their ends.
    fn heard(mut voices: Vec<Voice>, pieces: &[(usize, &[u8])]) -> String {
        let mut out = Vec::new();
        for (voice, piece) in pieces {
            voices[*voice].say(piece, &mut out).expect("a vector takes everything");
        }
        for voice in &mut voices {
            voice.end(&mut out).expect("a vector takes everything");
        }
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn names_stand_below_each_other_before_whole_lines() {
        let pieces: [(usize, &[u8]); 4] =
            [(0, b"one\nha"), (1, b"two\n"), (0, b"lf\n\n"), (1, b"end")];
        let want = " 7 日本 | one\n12      | two\n 7 日本 | half\n 7 日本 | \n12      | end\n";
        assert_eq!(heard(two(false, false), &pieces), want);
    }

    #[test]
    fn without_any_name_the_id_is_all_that_stands_before() {
        let voices = Voice::among(&[named(3, None), named(4, None)], false, false);
        assert_eq!(heard(voices, &[(1, b"x\n")]), "4 | x\n");
    }

    #[test]
    fn colours_and_escapes_are_for_terminals() {
        let pieces: [(usize, &[u8]); 1] = [(0, b"a\x1b[2J\tb\n")];
        assert_eq!(heard(two(false, false), &pieces), " 7 日本 | a\x1b[2J\tb\n");
        let shown = heard(two(true, true), &pieces);
        assert_eq!(shown, "\x1b[36m 7 日本 |\x1b[0m a\\x1b[2J\tb\n");
    }

    #[test]
    fn a_name_commands_no_terminal() {
        let voices = Voice::among(&[named(3, Some("a\x1b[2J\nb"))], false, false);
        assert_eq!(heard(voices, &[(0, b"x\n")]), "3 a\\x1b[2J\\nb | x\n");
    }

    #[test]
    fn a_line_without_an_end_is_broken_and_not_held() {
        let mut out = Vec::new();
        let mut voice = two(false, false).swap_remove(1);
        for _ in 0..9 {
            voice.say(&[b'x'; 8 * 1024], &mut out).expect("a vector takes everything");
        }
        assert_eq!(out.len(), "12      | \n".len() + LONGEST);
        assert_eq!(voice.begun.len(), 8 * 1024);
    }

    #[test]
    fn a_job_that_is_heard_alone_is_heard_byte_for_byte() {
        let pieces: [(usize, &[u8]); 2] = [(0, b"caf\xc3"), (0, b"\xa9\0\x1b")];
        assert_eq!(heard(vec![Voice::alone()], &pieces), "café\0\x1b");
    }
}
