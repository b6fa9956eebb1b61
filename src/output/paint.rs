//! Colours, all of them.

use anstyle::{AnsiColor, Effects, Style as Paint};

use super::Style;
use super::text::{shorten, width};
use crate::job::State;

/// No colour.
pub const PLAIN: Paint = Paint::new();
/// What stands beside the matter.
pub const FAINT: Paint = Paint::new().effects(Effects::DIMMED);
/// What deserves a second look.
pub const NOTABLE: Paint = AnsiColor::Yellow.on_default();
/// What heads a table or a part.
pub const HEAD: Paint = Paint::new().effects(Effects::BOLD);

/// The colour of a state.
pub const fn of(state: State) -> Paint {
    match state {
        State::Pending => PLAIN,
        State::Ready | State::Dispatched => AnsiColor::Cyan.on_default(),
        State::Running => AnsiColor::Blue.on_default().effects(Effects::BOLD),
        State::Success => AnsiColor::Green.on_default(),
        State::Failed => AnsiColor::Yellow.on_default(),
        State::Dead => AnsiColor::Red.on_default().effects(Effects::BOLD),
        State::Held => AnsiColor::Magenta.on_default(),
        State::Cancelled | State::Skipped => FAINT,
    }
}

/// The same pieces with commas between them.
pub fn listed(pieces: Vec<(String, Paint)>) -> Vec<(String, Paint)> {
    let comma = |n| (n > 0).then(|| (", ".to_owned(), PLAIN));
    pieces
        .into_iter()
        .enumerate()
        .flat_map(|(n, piece)| comma(n).into_iter().chain([piece]))
        .collect()
}

/// Pieces one after the other, in their colours if all of them fit into the
/// width, else cut.
pub fn line(pieces: &[(String, Paint)], style: Style) -> String {
    let plain: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
    match style.width {
        Some(columns) if width(&plain) > columns => shorten(&plain, columns),
        Some(_) | None => {
            pieces.iter().map(|(text, colors)| paint(text, *colors, style.color)).collect()
        }
    }
}

/// `text` in a colour, if there are to be any.
pub fn paint(text: &str, paint: Paint, color: bool) -> String {
    if color && paint != PLAIN && !text.is_empty() {
        format!("{paint}{text}{paint:#}")
    } else {
        text.to_owned()
    }
}
