//! Plain data about jobs, and the pure rules over it.
//!
//! Nothing here reads a clock, a file or a process: times are arguments and
//! every decision is a value. The rules have a file each: [`state`] (the legal
//! moves), [`verdict`] (what an end means), [`dependency`] (when parents are
//! met), [`phase`] (what a person is told of a job that is not running),
//! [`settings`] (what a job gets where nothing was said), [`codes`] (sets of exit
//! codes), [`cause`] and [`shape`](mod@shape) (which failures are alike), [`limits`]
//! (what names may be), [`graph`] (who waits for whom in a batch), [`hook`] (what is
//! run once a job has ended), [`cron`] (what a cron expression is), [`timetable`]
//! (when it comes by the clock of a zone) and [`schedule`] (what becomes of a start
//! whose time has come).

mod bytes;
pub mod cause;
pub mod codes;
pub mod command;
pub mod cron;
pub mod dependency;
pub mod env;
pub mod graph;
pub mod hook;
pub mod limits;
pub mod phase;
pub mod schedule;
pub mod settings;
pub mod shape;
pub mod state;
pub mod timetable;
pub mod verdict;
pub mod zone;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use cause::{Cause, CauseId};
pub use codes::{Codes, NoRetryOn, RetryOn};
pub use command::Command;
pub use cron::Cron;
pub use dependency::{Edge, Kind};
pub use env::EnvBlock;
pub use hook::Hook;
pub use schedule::{CatchUp, Chain, ChainRetry, NewSchedule, Overlap, Recurrence, Schedule};
pub use settings::{Place, Settings, Timeout};
pub use state::{Event, State};
pub use timetable::Timetable;
pub use verdict::{Outcome, RetryPolicy, Verdict};
pub use zone::Zone;

/// The number of a job; never used twice.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct JobId(pub i64);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for JobId {
    type Err = String;

    /// Takes decimal digits only: no sign, no blanks, no other script's digits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("`{text}` is not a job id"));
        }
        match text.parse() {
            Ok(0) => Err("there is no job 0; ids start at 1".to_owned()),
            Ok(id) => Ok(Self(id)),
            Err(_) => Err(format!("`{text}` is larger than any job id")),
        }
    }
}

/// The number of one `ax run` process; never used twice in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunnerId(pub i64);

impl fmt::Display for RunnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of one run of a flow, or of one start of the job of a schedule;
/// never used twice in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FlowRunId(pub i64);

/// A point in time: milliseconds since 1970, UTC.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The latest time that can be meant: the end of the year 9999.
    pub const MAX: Self = Self(253_402_300_799_999);

    /// The time that lies `millis` milliseconds after 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// The time `wait` later, at most [`Timestamp::MAX`].
    #[must_use]
    pub fn plus(self, wait: Duration) -> Self {
        let millis = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis).min(Self::MAX.0))
    }

    /// How long after `earlier` this is; nothing if it is not after it.
    pub fn since(self, earlier: Self) -> Duration {
        let millis = self.0.saturating_sub(earlier.0);
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}

/// What to do with a job whose attempt ended in an unknown way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLost {
    /// Start it again, like after a failure.
    Requeue,
    /// Stop and let a person decide.
    Hold,
    /// Count it as failed for good.
    Fail,
}

impl OnLost {
    /// All policies, in the order of the help text.
    pub const ALL: [Self; 3] = [Self::Requeue, Self::Hold, Self::Fail];

    /// The name used in the database, in JSON and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requeue => "requeue",
            Self::Hold => "hold",
            Self::Fail => "fail",
        }
    }

    /// The policy of a job that names none: rather stop than run blindly twice.
    pub const fn default_for(max_retries: u32) -> Self {
        if max_retries > 0 { Self::Requeue } else { Self::Hold }
    }
}

impl FromStr for OnLost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|policy| policy.as_str() == text)
            .ok_or_else(|| format!("`{text}` is none of requeue, hold, fail"))
    }
}

/// The parent in a dependency of a job that is being added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParentRef {
    /// A stored job.
    Id(JobId),
    /// The job with this key: in the same batch, else an unfinished stored
    /// one, else the latest stored one.
    Key(String),
    /// The job that this member of the same batch (from 0) is or stands for,
    /// before or after the one that names it.
    InBatch(usize),
}

/// What `--if-exists` says about a key that an unfinished job has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum IfExists {
    /// The existing job stands; its id is the answer.
    #[default]
    Skip,
    /// The existing job is cancelled if it has not started, and the new one
    /// takes its place.
    Replace,
    /// Adding is refused.
    Error,
}

/// A job that is to be added. Its command, directory and policy are complete:
/// every default has been filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewJob {
    /// What people call it; need not be unique.
    pub name: Option<String>,
    /// The idempotency key: at most one unfinished job has it.
    pub key: Option<String>,
    /// What to do if the key exists.
    pub if_exists: IfExists,
    /// What to run.
    pub command: Command,
    /// Higher runs first.
    pub priority: i64,
    /// When it is due.
    pub scheduled_at: Timestamp,
    /// The longest an attempt may run; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Between TERM and KILL when an attempt is stopped.
    pub kill_after: Duration,
    /// Failures after which another attempt is made.
    pub max_retries: u32,
    /// The wait before the first retry.
    pub retry_delay: Duration,
    /// By what each further wait is longer.
    pub retry_backoff: f64,
    /// The longest wait.
    pub retry_max_delay: Duration,
    /// What to do when an outcome is unknown.
    pub on_lost: OnLost,
    /// The only exit codes after which another attempt is made; all if `None`.
    pub retry_on: Option<Codes>,
    /// Exit codes after which none is made.
    pub no_retry_on: Option<Codes>,
    /// The working directory (bytes of an absolute path).
    #[serde(with = "bytes")]
    pub cwd: Vec<u8>,
    /// The file mode creation mask.
    pub umask: u32,
    /// The environment the job was added with. Shared: a batch stores it once.
    pub env: Arc<EnvBlock>,
    /// What `-e` put on top of it.
    pub extra_env: EnvBlock,
    /// The group whose limit it is under.
    pub group: Option<String>,
    /// What no two jobs have at once.
    pub mutex: Option<String>,
    /// What is run when it has ended.
    pub on_end: Option<Hook>,
    /// Whether something is run when the run that it belongs to has ended.
    #[serde(default)]
    pub ends_run: bool,
    /// Wait for a person before the first start.
    pub hold: bool,
    /// The dependencies.
    pub parents: Vec<(ParentRef, Kind)>,
    /// The flow it belongs to.
    pub flow: Option<String>,
    /// The run of that flow, or the start of the schedule it belongs to.
    pub run: Option<FlowRunId>,
}

/// What `add` did with one [`NewJob`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// The id of the new job, or of the one that has its key.
    pub id: JobId,
    /// Whether a job was made.
    pub new: bool,
}

/// A dependency of a stored job, with where its parent stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The job that waits.
    pub child: JobId,
    /// What it waits for, and the parent's state.
    pub seen: dependency::Seen,
}

/// A stored job.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    /// What people call it.
    pub name: Option<String>,
    /// The idempotency key.
    pub key: Option<String>,
    /// What it runs.
    pub command: Command,
    /// Where it stands.
    pub state: State,
    /// Why it was skipped, held or cancelled.
    pub reason: Option<String>,
    /// Higher runs first.
    pub priority: i64,
    /// When it is (or was) due: its time, or that of its next attempt.
    pub scheduled_at: Timestamp,
    /// The longest an attempt may run; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Between TERM and KILL when an attempt is stopped.
    pub kill_after: Duration,
    /// What it said about being run again.
    pub policy: RetryPolicy,
    /// How many attempts were started.
    pub attempts: u32,
    /// The runner that owns it while it is dispatched or running.
    pub owner: Option<RunnerId>,
    /// Exit code of the last attempt that ended.
    pub exit_code: Option<i32>,
    /// Signal that ended the last attempt.
    pub signal: Option<i32>,
    /// What a person reads of the last failure.
    pub last_error: Option<String>,
    /// When the last attempt was started.
    pub runs_at: Option<Timestamp>,
    /// When the last attempt ended, or the job was skipped or cancelled.
    pub finished_at: Option<Timestamp>,
    /// When it was added.
    pub created_at: Timestamp,
    /// When its row was last written by `ax`.
    pub updated_at: Timestamp,
    /// The working directory; `None` (a row written by hand) means the runner's.
    pub cwd: Option<Vec<u8>>,
    /// The umask; `None` means the runner's.
    pub umask: Option<u32>,
    /// The name of the flow it belongs to.
    pub flow: Option<String>,
    /// The name of the schedule that started it, or will.
    pub schedule: Option<String>,
    /// The group whose limit it is under.
    pub group: Option<String>,
    /// What no two jobs have at once.
    pub mutex: Option<String>,
    /// How far its last attempt said it was, in percent.
    pub progress: Option<u8>,
    /// What that attempt said about it.
    pub progress_text: Option<String>,
    /// What is run when it has ended.
    pub on_end: Option<Hook>,
    /// What keeps it from being taken while it is ready.
    pub blocked: Option<phase::Blocked>,
    /// Its dependencies.
    pub dependencies: Vec<Dependency>,
}

impl Job {
    /// What people call the job: its name, else its command.
    pub fn title(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.command.text())
    }
}

/// Which attempt of which job, and whose it is: the guard of every write about
/// an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Claim {
    /// The job.
    pub job: JobId,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The runner that made the claim.
    pub owner: RunnerId,
}

/// How to run a job: all that its process needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// What to run.
    pub command: Command,
    /// The working directory; `None` means the runner's.
    pub cwd: Option<Vec<u8>>,
    /// The umask; `None` means the runner's.
    pub umask: Option<u32>,
    /// The environment it was added with; `None` means the runner's. Many jobs
    /// share one, so it is not written with each.
    #[serde(skip)]
    pub env: Option<Arc<EnvBlock>>,
    /// On top of that: what `-e` and `ax` itself put there.
    pub extra_env: EnvBlock,
    /// The longest it may run; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Between TERM and KILL when it is stopped.
    pub kill_after: Duration,
}

/// A job that was claimed: the claim, how to run it and how to judge its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claimed {
    /// The guard.
    pub claim: Claim,
    /// What people call it.
    pub title: String,
    /// How to run it.
    pub spec: Spec,
    /// How to judge its end.
    pub policy: RetryPolicy,
}

/// The output of an attempt, as far as it is kept in the database.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Captured {
    /// The bytes, when they are few; a longer output is in a file.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
    /// How many bytes the job wrote.
    pub written: u64,
    /// Whether the output is in a file of its own.
    pub in_file: bool,
    /// The last line that is not blank, escaped and shortened.
    pub last_line: String,
}

/// The end of an attempt and what becomes of its job.
#[derive(Clone, Debug, PartialEq)]
pub struct Settlement {
    /// The guard.
    pub claim: Claim,
    /// How it ended.
    pub outcome: Outcome,
    /// What becomes of the job.
    pub verdict: Verdict,
    /// The process, if one was started.
    pub process: Option<Process>,
    /// When it ended.
    pub ended_at: Timestamp,
    /// What it printed.
    pub output: Captured,
}

/// A started process, the first of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Process id; also the id of its process group.
    pub pid: i32,
    /// Start time in clock ticks since boot, field 22 of `/proc/PID/stat`: with
    /// it the process is not mistaken for another one. 0 if it ended so soon
    /// that nobody was told of it.
    pub start_time: u64,
    /// When it was started, by the wall clock.
    pub started_at: Timestamp,
}

/// One execution of a job, as the history keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The job.
    pub job: JobId,
    /// Its number, from 1.
    pub attempt: u32,
    /// The runner that made it.
    pub owner: RunnerId,
    /// Process id, once started.
    pub pid: Option<i32>,
    /// When the process was started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How it ended, in one word ([`Outcome::as_str`]).
    pub outcome: Option<String>,
    /// Exit code.
    pub exit_code: Option<i32>,
    /// Signal.
    pub signal: Option<i32>,
    /// What a person reads of a failure.
    pub reason: Option<String>,
    /// How many bytes it wrote.
    pub output_bytes: u64,
    /// Whether the output is in a file of its own.
    pub output_in_file: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_digits_are_an_id() {
        for bad in ["", "0", "-1", "+1", " 1", "1 ", "1x", "1e9", "0x1", "９", "1 2"] {
            assert!(bad.parse::<JobId>().is_err(), "{bad:?}");
        }
        assert!("99999999999999999999".parse::<JobId>().is_err());
        assert_eq!("12".parse(), Ok(JobId(12)));
    }

    #[test]
    fn a_far_wait_ends_with_the_year_9999() {
        let now = Timestamp::from_millis(0);
        assert_eq!(now.plus(Duration::MAX), Timestamp::MAX);
        assert_eq!(now.since(Timestamp::MAX), Duration::ZERO);
    }

    #[test]
    fn a_job_without_retries_is_held_when_lost() {
        assert_eq!(OnLost::default_for(0), OnLost::Hold);
        assert_eq!(OnLost::default_for(1), OnLost::Requeue);
    }
}
