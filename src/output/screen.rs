//! Drawing on a terminal: a view in place below lines that stay, or the whole
//! screen until it is left.
//!
//! A view in place leaves the terminal as it is: no mode is changed, and the
//! cursor rests where the view begins. So wherever a resize moves the lines,
//! the next frame begins at the right place, and whoever ends the program in
//! whatever way leaves nothing to be restored.

pub mod full;

use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crossterm::Command;
use crossterm::cursor::{MoveToColumn, MoveUp};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, DisableLineWrap, EnableLineWrap,
    EndSynchronizedUpdate,
};

/// How large a terminal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// In lines.
    pub rows: usize,
    /// In columns.
    pub columns: usize,
}

impl Size {
    /// The size of the terminal behind a stream, as it is now.
    pub fn of(stream: &impl AsFd) -> Self {
        match terminal_size::terminal_size_of(stream) {
            Some((columns, rows)) if columns.0 > 0 && rows.0 > 0 => {
                Self { rows: rows.0.into(), columns: columns.0.into() }
            }
            Some(_) | None => Self { rows: 24, columns: 80 },
        }
    }
}

/// Tells whether terminals of the kind of this one can draw.
pub fn can_draw() -> bool {
    std::env::var_os("TERM").is_some_and(|kind| !kind.is_empty() && kind != "dumb")
}

/// Tells whether whoever writes to this terminal has it for himself: not in the
/// background of a shell, where somebody types.
pub fn is_in_foreground(stream: &impl AsFd) -> bool {
    rustix::termios::tcgetpgrp(stream).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// What draws `view` in place of the one before, below lines that stay: `above`,
/// each ended by a newline. No line of the view may be wider than the terminal.
pub fn frame(above: &str, view: &[String]) -> String {
    let mut frame = String::new();
    push(&mut frame, BeginSynchronizedUpdate);
    frame.push_str(&wipe());
    frame.push_str(above);
    if let [_, others @ ..] = view {
        // A terminal that just became narrower cuts a line, and wraps none.
        push(&mut frame, DisableLineWrap);
        frame.push_str(&view.join("\r\n"));
        push(&mut frame, EnableLineWrap);
        if let Some(up) = u16::try_from(others.len()).ok().filter(|up| *up > 0) {
            push(&mut frame, MoveUp(up));
        }
        push(&mut frame, MoveToColumn(0));
    }
    push(&mut frame, EndSynchronizedUpdate);
    frame
}

/// What takes a view away. What is cleared from the first corner on some
/// terminals keep as history, so it begins a column later.
pub fn wipe() -> String {
    let mut wipe = String::new();
    push(&mut wipe, MoveToColumn(0));
    push(&mut wipe, Clear(ClearType::UntilNewLine));
    push(&mut wipe, MoveToColumn(1));
    push(&mut wipe, Clear(ClearType::FromCursorDown));
    push(&mut wipe, MoveToColumn(0));
    wipe
}

/// Writes to a terminal if that is possible at once; for somebody who cannot
/// wait, and cannot wait for another who writes.
pub fn write_at_once(stream: &impl AsFd, text: &str) {
    let mut ready = [PollFd::new(stream.as_fd(), PollFlags::POLLOUT)];
    if poll(&mut ready, PollTimeout::ZERO).is_ok_and(|count| count > 0) {
        let _ = nix::unistd::write(stream, text.as_bytes());
    }
}

fn push(text: &mut String, command: impl Command) {
    command.write_ansi(text).expect("a string can always be written to");
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;

    fn terminal(rows: u16, columns: u16) -> vt100::Parser {
        let length = |length| NonZero::new(length).expect("a length");
        vt100::Parser::new(length(rows), length(columns), 100)
    }

    /// What a terminal shows, without the empty lines at its end.
    fn shown(terminal: &vt100::Parser) -> String {
        terminal.screen().contents()
    }

    fn view(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    /// A terminal passes newlines on with a carriage return.
    fn write(terminal: &mut vt100::Parser, text: &str) {
        terminal.process(text.replace("\r\n", "\n").replace('\n', "\r\n").as_bytes());
    }

    #[test]
    fn a_view_stands_below_the_lines_that_stay_and_is_drawn_in_place() {
        let mut terminal = terminal(6, 20);
        write(&mut terminal, &frame("", &view(&["2 running", "a", "b"])));
        write(&mut terminal, &frame("one\ntwo\n", &view(&["1 running", "b"])));
        assert_eq!(shown(&terminal), "one\ntwo\n1 running\nb");
        assert_eq!(terminal.screen().cursor_position(), (2, 0));
        write(&mut terminal, &frame("three\n", &[]));
        assert_eq!(shown(&terminal), "one\ntwo\nthree");
        assert_eq!(terminal.screen().cursor_position(), (3, 0));
    }

    #[test]
    fn more_lines_than_the_screen_has_scroll_and_leave_the_view_below() {
        let mut terminal = terminal(5, 20);
        let many: String =
            (1..=50).flat_map(|n| ["line ".to_owned(), n.to_string(), "\n".to_owned()]).collect();
        write(&mut terminal, &frame("", &view(&["2 running", "a"])));
        write(&mut terminal, &frame(&many, &view(&["2 running", "b"])));
        assert_eq!(shown(&terminal), "line 48\nline 49\nline 50\n2 running\nb");
        write(&mut terminal, &frame("", &view(&["2 running", "c"])));
        assert_eq!(shown(&terminal), "line 48\nline 49\nline 50\n2 running\nc");
    }

    #[test]
    fn a_line_that_stays_may_wrap_and_one_of_the_view_does_not() {
        let mut terminal = terminal(5, 4);
        write(&mut terminal, &frame("abcdef\n", &view(&["view", "x"])));
        write(&mut terminal, &frame("", &view(&["view", "y"])));
        assert_eq!(shown(&terminal), "abcdef\nview\ny");
        let drawn = frame("", &view(&["too wide", "x"]));
        assert!(drawn.contains("\x1b[?7ltoo wide\r\nx\x1b[?7h"), "{drawn:?}");
    }

    #[test]
    fn a_frame_changes_no_mode_of_the_terminal() {
        let mut terminal = terminal(5, 20);
        let before = terminal.screen().input_mode_formatted();
        write(&mut terminal, &frame("one\n", &view(&["view", "y"])));
        assert_eq!(terminal.screen().input_mode_formatted(), before);
        assert!(!terminal.screen().hide_cursor() && !terminal.screen().alternate_screen());
    }
}
