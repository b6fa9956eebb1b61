//! The whole screen, until it is left. However the program ends, the terminal
//! is as it was before.

use std::io::{self, Write};
use std::panic;
use std::sync::{Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, DisableLineWrap, EnableLineWrap,
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};

use super::{push, write_at_once};

/// What somebody wants who types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// To leave.
    Leave,
    /// To have the terminal back for a while.
    Suspend,
    /// To see what is above.
    Up,
    /// To see what is below.
    Down,
    /// The same by a page.
    PageUp,
    /// The same by a page.
    PageDown,
    /// To see the first.
    First,
    /// To see the last.
    Last,
    /// To see it in another order.
    Sort,
}

/// Whether the screen is taken. Whoever draws has it locked, so that nothing is
/// drawn on a terminal that was given back.
static TAKEN: Mutex<bool> = Mutex::new(false);

/// How long whoever draws is waited for before the screen is given back.
const PATIENCE: Duration = Duration::from_millis(100);

/// The whole screen is taken as long as this lives.
pub struct Full(());

impl Full {
    /// Takes the screen.
    ///
    /// # Errors
    /// When the terminal cannot be used so.
    pub fn enter() -> io::Result<Self> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            leave();
            before(what);
        }));
        take()?;
        Ok(Self(()))
    }

    /// Draws these lines, of which none is wider than the terminal.
    ///
    /// # Errors
    /// When nobody takes them.
    pub fn draw(&self, lines: &[String], out: &mut dyn Write) -> io::Result<()> {
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        if *taken {
            out.write_all(picture(lines).as_bytes())?;
        }
        out.flush()
    }

    /// Waits so long for a key; `None` if there was none, or the terminal has
    /// another size now.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub fn key(&self, longest: Duration) -> io::Result<Option<Key>> {
        if event::poll(longest)? { Ok(meant(&event::read()?)) } else { Ok(None) }
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        leave();
    }
}

/// Takes the screen, also again after [`leave`].
///
/// # Errors
/// When the terminal cannot be used so.
pub fn take() -> io::Result<()> {
    enable_raw_mode()?;
    let mut text = String::new();
    push(&mut text, EnterAlternateScreen);
    push(&mut text, Hide);
    write_at_once(&io::stdout(), &text);
    *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = true;
    Ok(())
}

/// Gives the screen back, if it is taken. Waits for nobody for long, so that a
/// signal can be obeyed whatever the others do.
pub fn leave() {
    let deadline = Instant::now() + PATIENCE;
    let taken = loop {
        match TAKEN.try_lock() {
            Ok(taken) => break Some(taken),
            Err(TryLockError::Poisoned(taken)) => break Some(taken.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => break None,
            Err(TryLockError::WouldBlock) => thread::sleep(PATIENCE / 20),
        }
    };
    match taken {
        Some(mut taken) if *taken => *taken = false,
        Some(_) => return,
        // Somebody draws, and the terminal takes nothing.
        None => (),
    }
    let mut text = String::new();
    push(&mut text, EndSynchronizedUpdate);
    push(&mut text, EnableLineWrap);
    push(&mut text, Show);
    push(&mut text, LeaveAlternateScreen);
    write_at_once(&io::stdout(), &text);
    // A terminal that is gone needs no modes.
    let _ = disable_raw_mode();
}

/// What draws lines from the top of the screen, and nothing below them.
fn picture(lines: &[String]) -> String {
    let mut text = String::new();
    push(&mut text, BeginSynchronizedUpdate);
    push(&mut text, DisableLineWrap);
    for (row, line) in (0..).zip(lines) {
        push(&mut text, MoveTo(0, row));
        // With the last one goes what stands below it.
        let is_last = usize::from(row) + 1 == lines.len();
        let rest = if is_last { ClearType::FromCursorDown } else { ClearType::UntilNewLine };
        push(&mut text, Clear(rest));
        text.push_str(line);
    }
    push(&mut text, EnableLineWrap);
    push(&mut text, EndSynchronizedUpdate);
    text
}

fn meant(event: &Event) -> Option<Key> {
    let Event::Key(key) = event else { return None };
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c' | 'd') => Some(Key::Leave),
            KeyCode::Char('z') => Some(Key::Suspend),
            _ => None,
        };
    }
    match key.code {
        KeyCode::Char('q' | 'Q') | KeyCode::Esc => Some(Key::Leave),
        KeyCode::Char('k') | KeyCode::Up => Some(Key::Up),
        KeyCode::Char('j') | KeyCode::Down => Some(Key::Down),
        KeyCode::Char('b') | KeyCode::PageUp => Some(Key::PageUp),
        KeyCode::Char(' ') | KeyCode::PageDown => Some(Key::PageDown),
        KeyCode::Char('g') | KeyCode::Home => Some(Key::First),
        KeyCode::Char('G') | KeyCode::End => Some(Key::Last),
        KeyCode::Char('s') => Some(Key::Sort),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyEvent;

    use super::*;

    #[test]
    fn keys_mean_what_they_mean_to_pagers() {
        let typed = |code, modifiers| meant(&Event::Key(KeyEvent::new(code, modifiers)));
        let none = KeyModifiers::NONE;
        assert_eq!(typed(KeyCode::Char('q'), none), Some(Key::Leave));
        assert_eq!(typed(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Leave));
        assert_eq!(typed(KeyCode::Char('c'), none), None);
        assert_eq!(typed(KeyCode::Down, none), Some(Key::Down));
        assert_eq!(typed(KeyCode::Char('G'), KeyModifiers::SHIFT), Some(Key::Last));
        assert_eq!(meant(&Event::Resize(80, 24)), None);
    }

    #[test]
    fn a_picture_covers_the_one_before() {
        let length = |length| std::num::NonZero::new(length).expect("a length");
        let mut terminal = vt100::Parser::new(length(4), length(10), 0);
        let view = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        terminal.process(picture(&view(&["a long one", "two", "three", "four"])).as_bytes());
        assert_eq!(terminal.screen().contents(), "a long one\ntwo\nthree\nfour");
        terminal.process(picture(&view(&["short", "", "3"])).as_bytes());
        assert_eq!(terminal.screen().contents(), "short\n\n3");
    }
}
