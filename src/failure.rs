//! Why a command did not do what was asked, and how a person is told.

use std::fmt;

use crate::exit;
use crate::store;

/// The word for a schedule whose name is taken.
pub const SCHEDULE_EXISTS: &str = "schedule_exists";

/// A failure: what scripts get (`exit`, `code`) and what people read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code, one of [`crate::exit`].
    pub exit: u8,
    /// A stable word for scripts, shown by `--json`.
    pub code: &'static str,
    /// The thing and the fact: lowercase, no full stop.
    pub message: String,
    /// What to type.
    pub hint: Option<String>,
}

impl Failure {
    /// The command line is wrong; nothing was done.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(exit::USAGE, "usage", message)
    }

    /// No such job, or nothing matched.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(exit::NOT_FOUND, "not_found", message)
    }

    /// Not allowed in the state things are in.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(exit::REFUSED, "refused", message)
    }

    /// The store, or a file beside it, cannot be used.
    pub fn store(message: impl Into<String>) -> Self {
        Self::new(exit::STORE, "store", message)
    }

    /// What was asked about failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(exit::FAILED, "failed", message)
    }

    /// Time is up.
    pub fn timed_out(message: impl Into<String>) -> Self {
        Self::new(exit::TIMED_OUT, "timed_out", message)
    }

    /// Adds what to type.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Nobody reads the answer any more; nothing is said.
    pub fn closed_pipe() -> Self {
        Self::new(exit::DONE, "closed_pipe", "")
    }

    fn new(exit: u8, code: &'static str, message: impl Into<String>) -> Self {
        Self { exit, code, message: message.into(), hint: None }
    }

    /// The failure as `--json` shows it.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "error": { "code": self.code, "message": self.message, "hint": self.hint }
        })
    }
}

impl fmt::Display for Failure {
    /// As people read it: the message, and the hint on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "ax: {}", self.message)?;
        self.hint.iter().try_for_each(|hint| writeln!(f, "hint: {hint}"))
    }
}

/// An error of the operating system without its number.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        use store::Error as E;
        let message = error.to_string();
        match error {
            E::NoSuchJob(_) | E::NoSuchKey(_) => {
                Self::not_found(message).hint("`ax list all` shows the jobs there are")
            }
            E::NoSuchSchedule(_) => {
                Self::not_found(message).hint("`ax schedule list` shows the schedules there are")
            }
            E::ScheduleExists(_) => Self { code: SCHEDULE_EXISTS, ..Self::refused(message) }
                .hint("`--replace` puts another in its place"),
            E::BrokenSchedule { .. } => {
                Self::refused(message).hint("make it anew: `ax schedule add --replace`")
            }
            E::WrongState { hint, .. } => Self { hint, ..Self::refused(message) },
            E::StillBroken { job, parent, .. } => {
                Self::refused(message).hint(format!("`ax retry {parent} {job}` brings both back"))
            }
            E::NotRunning { job, .. } => {
                Self::refused(message).hint(format!("`ax show {job}` tells what it does"))
            }
            E::KeyTaken { by, .. } => Self { code: "key_exists", ..Self::refused(message) }
                .hint(format!("`ax show {by}` shows the job that has it")),
            E::KeyExists { .. } => Self { code: "key_exists", ..Self::refused(message) },
            E::Cycle(_) | E::BatchCycle { .. } => Self { code: "cycle", ..Self::usage(message) },
            E::InBatch { source, .. } => Self::from(*source),
            E::Busy { .. } => Self { code: "busy", ..Self::store(message) }
                .hint("another program holds the database; try again when it is done"),
            E::Full(_) => Self { code: "full", ..Self::store(message) },
            E::Unusable { hint, .. } => Self { hint, ..Self::store(message) },
        }
    }
}
