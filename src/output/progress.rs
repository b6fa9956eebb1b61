//! What `ax run` shows while it runs: one line an event, JSON lines, or a live
//! view on a terminal.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::live::Live;
use super::screen::{self, Size};
use super::{Style, event};
use crate::job::Timestamp;
use crate::sched::RunEvent;

/// However little happens, a view is drawn again after this time: a terminal
/// that was suspended, or that somebody typed into, is put right.
const AGAIN: Duration = Duration::from_secs(1);

/// Shows the events of a runner.
pub enum Progress {
    /// A line an event on stderr.
    Lines {
        /// Whether to use colours.
        color: bool,
    },
    /// JSON lines on stdout.
    Json,
    /// A live view on stderr, below lines for what a person wants to read later.
    View(Box<Drawn>),
}

/// A live view, and what was drawn of it.
pub struct Drawn {
    /// What is shown.
    pub live: Live,
    color: bool,
    /// The lines that stay, and are not written yet.
    above: String,
    last: Option<(Size, Vec<String>, Instant)>,
}

impl Progress {
    /// JSON lines if asked; a live view if stderr, which `style` is of, is a
    /// terminal that can draw; else lines.
    pub fn new(json: bool, style: Style, now: Timestamp) -> Self {
        let color = style.color;
        match style.width {
            _ if json => Self::Json,
            Some(_) if screen::can_draw() => {
                let live = Live::new(now);
                Self::View(Box::new(Drawn { live, color, above: String::new(), last: None }))
            }
            Some(_) | None => Self::Lines { color },
        }
    }

    /// Tells whether a view is drawn.
    pub const fn is_view(&self) -> bool {
        match self {
            Self::View(_) => true,
            Self::Lines { .. } | Self::Json => false,
        }
    }

    /// Shows events; in a view once that is drawn. That nobody reads them any
    /// more stops nothing.
    pub fn show(
        &mut self,
        events: &[RunEvent],
        now: Timestamp,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) {
        match self {
            Self::Json => {
                write_lines(events.iter().map(|event| event.to_json().to_string()), out);
                let _ = out.flush();
            }
            Self::Lines { color } => {
                write_lines(events.iter().map(|event| event::line(event, *color)), err);
            }
            Self::View(drawn) => {
                for event in events {
                    if is_worth_a_line(event) {
                        drawn.above.push_str(&event::line(event, drawn.color));
                        drawn.above.push('\n');
                    }
                    drawn.live.note(event, now);
                }
            }
        }
    }
}

/// Writes lines in few pieces that end with lines. A pipe takes each as a whole
/// (`PIPE_BUF`, pipe(7)), so that lines of several runners do not mix.
fn write_lines(lines: impl Iterator<Item = String>, to: &mut dyn Write) {
    const PIECE: usize = 4096;
    let mut piece = String::new();
    for line in lines {
        if !piece.is_empty() && piece.len() + line.len() + 1 > PIECE {
            let _ = to.write_all(piece.as_bytes());
            piece.clear();
        }
        piece.push_str(&line);
        piece.push('\n');
    }
    let _ = to.write_all(piece.as_bytes());
}

impl Drawn {
    /// Draws what is known now, if it is not what was drawn before.
    pub fn draw(&mut self, now: Timestamp, err: &mut dyn Write) {
        let size = Size::of(&io::stderr());
        let view = if screen::is_in_foreground(&io::stderr()) {
            self.live.lines(now, size, self.color)
        } else {
            Vec::new()
        };
        let is_same = |(drawn, lines, at): &(Size, Vec<String>, Instant)| {
            *drawn == size && *lines == view && (at.elapsed() < AGAIN || view.is_empty())
        };
        if self.above.is_empty() && self.last.as_ref().is_some_and(is_same) {
            return;
        }
        let above = std::mem::take(&mut self.above);
        // In the background the line belongs to whoever types into it.
        let is_plain = view.is_empty() && self.last.as_ref().is_none_or(|last| last.1.is_empty());
        let text = if is_plain { above } else { screen::frame(&above, &view) };
        let _ = err.write_all(text.as_bytes());
        self.last = Some((size, view, Instant::now()));
    }

    /// Writes the lines that are left, and takes the view away.
    pub fn finish(&mut self, err: &mut dyn Write) {
        let is_drawn = self.last.as_ref().is_some_and(|last| !last.1.is_empty());
        let above = std::mem::take(&mut self.above);
        let text = if is_drawn { screen::frame(&above, &[]) } else { above };
        let _ = err.write_all(text.as_bytes());
        self.last = None;
    }
}

impl Drop for Drawn {
    /// Whatever goes wrong: nothing is left of the view.
    fn drop(&mut self) {
        if self.last.as_ref().is_some_and(|last| !last.1.is_empty()) {
            screen::write_at_once(&io::stderr(), &screen::wipe());
        }
    }
}

/// On a terminal the view says who runs; a line stays for what a person wants
/// to read later.
const fn is_worth_a_line(event: &RunEvent) -> bool {
    match event {
        RunEvent::Started { .. } => false,
        RunEvent::Ended { .. }
        | RunEvent::Moved(_)
        | RunEvent::Recovered { .. }
        | RunEvent::Trouble(_)
        | RunEvent::Stopping(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::tests::{ended, started};
    use super::*;
    use crate::job::{Outcome, Verdict};
    use crate::output::example::TWO;

    #[test]
    fn in_a_pipe_there_is_a_line_for_each_event_on_stderr_alone() {
        let mut progress = Progress::new(false, Style { color: false, width: None }, TWO);
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let end = ended(7, Outcome::Exited(0), Verdict::Success, "");
        progress.show(&[started(7, "x"), end], TWO, &mut out, &mut err);
        assert_eq!(String::from_utf8_lossy(&out), "");
        let want = "job 7 x: started, attempt 2\njob 7 backup: success after 4ms\n";
        assert_eq!(String::from_utf8_lossy(&err), want);
    }

    #[test]
    fn lines_are_written_in_pieces_that_a_pipe_takes_whole() {
        struct Pieces(Vec<Vec<u8>>);
        impl Write for Pieces {
            fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
                self.0.push(piece.to_vec());
                Ok(piece.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let lines = [1000, 3000, 94, 1, 5000, 7].map(|length| "x".repeat(length));
        let mut pieces = Pieces(Vec::new());
        write_lines(lines.iter().cloned(), &mut pieces);
        let lengths: Vec<_> = pieces.0.iter().map(Vec::len).collect();
        assert_eq!(lengths, [1001 + 3001, 95 + 2, 5001, 8]);
        assert_eq!(pieces.0.concat(), (lines.join("\n") + "\n").into_bytes());
    }

    #[test]
    fn scripts_read_json_lines_also_where_there_is_a_terminal() {
        let mut progress = Progress::new(true, Style { color: true, width: Some(80) }, TWO);
        let (mut out, mut err) = (Vec::new(), Vec::new());
        progress.show(&[started(7, "x")], TWO, &mut out, &mut err);
        assert!(err.is_empty());
        let event: serde_json::Value = serde_json::from_slice(&out).expect("one JSON document");
        assert_eq!(event["event"], "started");
    }
}
