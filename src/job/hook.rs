//! Hooks: what is run once a job, or a run of a flow, has ended.
//!
//! A hook is owed from the commit in which the end is written. It is begun at
//! most once, by whichever runner gets to it, and never changes what became of
//! the job.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Command, EnvBlock, JobId, Outcome, RunnerId, Spec, State, Timestamp, bytes};

/// The longest a hook may run if nothing is said.
pub const TIMEOUT: Duration = Duration::from_mins(1);
/// Between TERM and KILL when a hook is stopped.
pub const KILL_AFTER: Duration = Duration::from_secs(5);
/// So many lines of output a hook is told.
pub const LINES: usize = 20;
/// And so many bytes of them at most.
pub const BYTES: u64 = 8 * 1024;

/// What is run when a job has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hook {
    /// Shell text.
    #[serde(with = "bytes")]
    pub command: Vec<u8>,
    /// The longest it may run.
    pub timeout: Duration,
}

/// What is run when a run of a flow has ended, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHook {
    /// What.
    pub hook: Hook,
    /// The directory (bytes of an absolute path).
    #[serde(with = "bytes")]
    pub cwd: Vec<u8>,
}

/// What somebody said about the hook of a job: this shell text, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnEnd(pub Option<Vec<u8>>);

impl OnEnd {
    /// A hook that runs this shell text.
    ///
    /// # Errors
    /// Says what is wrong with it: [`Command::check`].
    pub fn run(text: Vec<u8>) -> Result<Self, String> {
        let command = Command::Shell(text);
        command.check()?;
        Ok(Self(Some(command.to_bytes())))
    }
}

/// The number of a hook that is or was owed; never used twice in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HookId(pub i64);

impl fmt::Display for HookId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The end that a hook is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The hook.
    pub hook: HookId,
    /// The job; of a run of a flow the one that decided how it ended.
    pub job: JobId,
    /// What people call the job.
    pub name: Option<String>,
    /// Its idempotency key.
    pub key: Option<String>,
    /// The flow it belongs to.
    pub flow: Option<String>,
    /// Where the job, or the run, has come to stand.
    pub state: State,
    /// The last attempt; 0 if there was none.
    pub attempt: u32,
    /// Failures after which another attempt was made.
    pub max_retries: u32,
    /// Exit code of the last attempt.
    pub exit_code: Option<i32>,
    /// Signal that ended the last attempt.
    pub signal: Option<i32>,
    /// What a person reads of it, if it did not end well.
    pub reason: Option<String>,
    /// How long the last attempt ran.
    pub took: Option<Duration>,
}

impl Ending {
    /// What the hook sees in its environment, with the last lines of `output`.
    /// What is not known is empty.
    pub fn variables(&self, db: &[u8], output: &[u8]) -> EnvBlock {
        fn number(number: Option<i32>) -> Vec<u8> {
            number.map_or_else(Vec::new, |number| number.to_string().into_bytes())
        }
        let text = |text: &Option<String>| text.clone().unwrap_or_default().into_bytes();
        let took = self.took.map(|took| format!("{:.3}", took.as_secs_f64()));
        let variables = [
            ("AX_HOOK_ID", self.hook.to_string().into_bytes()),
            ("AX_JOB_ID", self.job.to_string().into_bytes()),
            ("AX_JOB_NAME", text(&self.name)),
            ("AX_JOB_KEY", text(&self.key)),
            ("AX_FLOW", text(&self.flow)),
            ("AX_STATE", self.state.as_str().into()),
            ("AX_ATTEMPT", self.attempt.to_string().into_bytes()),
            ("AX_MAX_RETRIES", self.max_retries.to_string().into_bytes()),
            ("AX_EXIT_CODE", number(self.exit_code)),
            ("AX_SIGNAL", number(self.signal)),
            ("AX_REASON", text(&self.reason)),
            ("AX_DURATION", took.unwrap_or_default().into_bytes()),
            ("AX_OUTPUT", output.to_vec()),
            ("AX_DB", db.to_vec()),
        ];
        let entries = variables.map(|(name, mut value)| {
            value.retain(|byte| *byte != 0);
            [name.as_bytes(), b"=", &value].concat()
        });
        EnvBlock::from_entries(entries.iter().map(Vec::as_slice))
    }
}

/// A hook that may be run now, by whoever was given this, once.
#[derive(Clone, Debug, PartialEq)]
pub struct HookTask {
    /// The end it is about.
    pub ending: Ending,
    /// How to run it; what [`Ending::variables`] says comes on top.
    pub spec: Spec,
}

/// How a hook ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEnd {
    /// How.
    pub outcome: Outcome,
    /// What it printed, its middle left out if that was much.
    pub output: Vec<u8>,
    /// When.
    pub at: Timestamp,
}

impl HookEnd {
    /// The end of a hook that was begun and of which nobody can tell more.
    pub fn unknown(why: &str, at: Timestamp) -> Self {
        Self { outcome: Outcome::Lost(why.to_owned()), output: Vec::new(), at }
    }

    /// What a person reads of an end that was not a success.
    pub fn error(&self) -> Option<String> {
        self.outcome.error("").map(|error| error.replace("--timeout", "--on-end-timeout"))
    }
}

/// A hook that a runner has taken and that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenHook {
    /// Which.
    pub id: HookId,
    /// The job it is about.
    pub job: JobId,
    /// The runner that has taken it.
    pub owner: RunnerId,
    /// Whether it was begun.
    pub begun: bool,
}

/// A hook of a job, as the history keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRecord {
    /// Its number.
    pub id: HookId,
    /// Whether it is that of the run that the job belongs to.
    pub of_run: bool,
    /// The end it is about.
    pub state: State,
    /// The attempt it is about.
    pub attempt: u32,
    /// Shell text.
    pub command: Vec<u8>,
    /// Since when it is owed.
    pub owed_at: Timestamp,
    /// When it was begun.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How it ended, in one word ([`Outcome::as_str`]).
    pub outcome: Option<String>,
    /// What a person reads of an end that was not a success.
    pub error: Option<String>,
    /// What it printed.
    pub output: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending() -> Ending {
        Ending {
            hook: HookId(7),
            job: JobId(12),
            name: Some("nightly\0".to_owned()),
            key: None,
            flow: None,
            state: State::Dead,
            attempt: 4,
            max_retries: 3,
            exit_code: Some(7),
            signal: None,
            reason: Some("no space".to_owned()),
            took: Some(Duration::from_millis(1500)),
        }
    }

    #[test]
    fn a_hook_is_told_how_the_job_ended() {
        let env = ending().variables(b"/ax.db", b"copying\nno space\n");
        let get = |name| env.get(name).map(|value| String::from_utf8_lossy(value).into_owned());
        let told = [
            ("AX_HOOK_ID", "7"),
            ("AX_JOB_ID", "12"),
            ("AX_JOB_NAME", "nightly"),
            ("AX_JOB_KEY", ""),
            ("AX_FLOW", ""),
            ("AX_STATE", "dead"),
            ("AX_ATTEMPT", "4"),
            ("AX_MAX_RETRIES", "3"),
            ("AX_EXIT_CODE", "7"),
            ("AX_SIGNAL", ""),
            ("AX_REASON", "no space"),
            ("AX_DURATION", "1.500"),
            ("AX_OUTPUT", "copying\nno space\n"),
            ("AX_DB", "/ax.db"),
        ];
        for (name, value) in told {
            assert_eq!(get(name).as_deref(), Some(value), "{name}");
        }
        assert_eq!(env.entries().count(), told.len());
    }

    #[test]
    fn output_with_nul_bytes_breaks_no_environment() {
        let env = ending().variables(b"/ax.db", b"a\0b\xff\n");
        assert_eq!(env.get("AX_OUTPUT"), Some(b"ab\xff\n".as_slice()));
        assert_eq!(env.c_entries().count(), env.entries().count());
    }

    #[test]
    fn the_end_of_a_hook_names_its_own_option() {
        let late = HookEnd {
            outcome: Outcome::TimedOut(TIMEOUT),
            output: Vec::new(),
            at: Timestamp::default(),
        };
        let error = late.error().expect("no success");
        assert_eq!(error, "timed out after 60 s; raise it with --on-end-timeout");
        let unknown = HookEnd::unknown("killed", Timestamp::default());
        assert_eq!(unknown.error().as_deref(), Some("outcome unknown: killed"));
    }
}
