//! How a job runs, as far as somebody said it, and what it gets elsewhere.
//!
//! The defaults stand here and nowhere else. What a line, a flow, the command
//! line and the environment say is laid over them with [`Settings::or`].

use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::hook::{self, OnEnd};
use super::{Command, EnvBlock, Hook, IfExists, NewJob, NoRetryOn, OnLost, RetryOn, Timestamp};

/// The priority of a job that names none.
pub const PRIORITY: i64 = 5;
/// The priorities there are.
pub const PRIORITIES: RangeInclusive<i64> = -2_147_483_648..=2_147_483_647;
/// What each point of priority is worth: a job goes before those that are so
/// many points higher once it has waited so many times as long for its turn.
/// So no stream of jobs of higher priority holds it up for ever.
pub const POINT: Duration = Duration::from_hours(1);
/// The longest an attempt may run if nothing is said.
pub const TIMEOUT: Duration = Duration::from_mins(1);
/// Between TERM and KILL if nothing is said.
pub const KILL_AFTER: Duration = Duration::from_secs(10);
/// Retries if nothing is said.
pub const MAX_RETRIES: u32 = 3;
/// The wait before the first retry if nothing is said.
pub const RETRY_DELAY: Duration = Duration::from_secs(5);
/// By what each further wait is longer if nothing is said.
pub const RETRY_BACKOFF: f64 = 2.0;
/// The longest wait between attempts if nothing is said.
pub const RETRY_MAX_DELAY: Duration = Duration::from_hours(1);

/// A time limit that may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout(pub Option<Duration>);

/// What somebody said about how a job runs; `None` where nothing was said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Higher runs first.
    pub priority: Option<i64>,
    /// The longest an attempt may run.
    pub timeout: Option<Timeout>,
    /// Between TERM and KILL when an attempt is stopped.
    pub kill_after: Option<Duration>,
    /// Failures after which another attempt is made.
    pub max_retries: Option<u32>,
    /// The wait before the first retry.
    pub retry_delay: Option<Duration>,
    /// By what each further wait is longer.
    pub retry_backoff: Option<f64>,
    /// The longest wait.
    pub retry_max_delay: Option<Duration>,
    /// What to do when an outcome is unknown.
    pub on_lost: Option<OnLost>,
    /// Wait for a person before the first start.
    pub hold: Option<bool>,
    /// The group whose limit it is under.
    pub group: Option<String>,
    /// What no two jobs have at once.
    pub mutex: Option<String>,
    /// The only exit codes after which another attempt is made.
    pub retry_on: Option<RetryOn>,
    /// Exit codes after which none is made.
    pub no_retry_on: Option<NoRetryOn>,
    /// What is run when it has ended.
    pub on_end: Option<OnEnd>,
    /// The longest that may run.
    pub on_end_timeout: Option<Duration>,
}

impl Settings {
    /// These settings, and those of `fallback` where nothing was said.
    #[must_use]
    pub fn or(&self, fallback: &Self) -> Self {
        Self {
            priority: self.priority.or(fallback.priority),
            timeout: self.timeout.or(fallback.timeout),
            kill_after: self.kill_after.or(fallback.kill_after),
            max_retries: self.max_retries.or(fallback.max_retries),
            retry_delay: self.retry_delay.or(fallback.retry_delay),
            retry_backoff: self.retry_backoff.or(fallback.retry_backoff),
            retry_max_delay: self.retry_max_delay.or(fallback.retry_max_delay),
            on_lost: self.on_lost.or(fallback.on_lost),
            hold: self.hold.or(fallback.hold),
            group: self.group.clone().or_else(|| fallback.group.clone()),
            mutex: self.mutex.clone().or_else(|| fallback.mutex.clone()),
            retry_on: self.retry_on.clone().or_else(|| fallback.retry_on.clone()),
            no_retry_on: self.no_retry_on.clone().or_else(|| fallback.no_retry_on.clone()),
            on_end: self.on_end.clone().or_else(|| fallback.on_end.clone()),
            on_end_timeout: self.on_end_timeout.or(fallback.on_end_timeout),
        }
    }

    /// What is run when what has these settings has ended.
    pub fn hook(&self) -> Option<Hook> {
        let OnEnd(command) = self.on_end.clone()?;
        let timeout = self.on_end_timeout.unwrap_or(hook::TIMEOUT);
        command.map(|command| Hook { command, timeout })
    }

    /// A job with these settings, due at `due`: without a name, a key and
    /// parents, and with the defaults where nothing was said.
    pub fn job(&self, command: Command, place: &Place, due: Timestamp) -> NewJob {
        let max_retries = self.max_retries.unwrap_or(MAX_RETRIES);
        NewJob {
            name: None,
            key: None,
            if_exists: IfExists::default(),
            command,
            priority: self.priority.unwrap_or(PRIORITY),
            scheduled_at: due,
            timeout: self.timeout.unwrap_or(Timeout(Some(TIMEOUT))).0,
            kill_after: self.kill_after.unwrap_or(KILL_AFTER),
            max_retries,
            retry_delay: self.retry_delay.unwrap_or(RETRY_DELAY),
            retry_backoff: self.retry_backoff.unwrap_or(RETRY_BACKOFF),
            retry_max_delay: self.retry_max_delay.unwrap_or(RETRY_MAX_DELAY),
            on_lost: self.on_lost.unwrap_or(OnLost::default_for(max_retries)),
            retry_on: self.retry_on.clone().and_then(|only| only.0),
            no_retry_on: self.no_retry_on.clone().and_then(|not| not.0),
            cwd: place.cwd.clone(),
            umask: place.umask,
            env: Arc::clone(&place.env),
            extra_env: EnvBlock::default(),
            group: self.group.clone(),
            mutex: self.mutex.clone(),
            on_end: self.hook(),
            ends_run: false,
            hold: self.hold.unwrap_or(false),
            parents: Vec::new(),
            flow: None,
            run: None,
        }
    }
}

/// Where a job runs: its directory, environment and umask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The working directory (bytes of an absolute path).
    pub cwd: Vec<u8>,
    /// The file mode creation mask.
    pub umask: u32,
    /// The environment, in which `PWD` names the directory.
    pub env: Arc<EnvBlock>,
}

impl Place {
    /// A place at the absolute path `dir`; `PWD` is made to name it.
    pub fn new(dir: &Path, umask: u32, env: &EnvBlock) -> Self {
        let cwd = dir.as_os_str().as_bytes().to_vec();
        let pwd = [b"PWD=", cwd.as_slice()].concat();
        let mut entries: Vec<&[u8]> =
            env.entries().filter(|entry| !entry.starts_with(b"PWD=")).collect();
        let place = entries.partition_point(|entry| *entry < pwd.as_slice());
        entries.insert(place, &pwd);
        let env = Arc::new(EnvBlock::from_entries(entries));
        Self { cwd, umask, env }
    }

    /// The same environment and umask in another directory.
    #[must_use]
    pub fn moved_to(&self, dir: &Path) -> Self {
        Self::new(dir, self.umask, &self.env)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(settings: &Settings) -> NewJob {
        let env = EnvBlock::from_entries([b"A=1".as_slice(), b"PWD=/old", b"Z=1"]);
        let place = Place::new(Path::new("/tmp"), 0o022, &env);
        settings.job(Command::Shell(b"true".into()), &place, Timestamp::from_millis(7))
    }

    #[test]
    fn a_job_that_says_nothing_gets_the_defaults() {
        let job = job(&Settings::default());
        assert_eq!(job.priority, 5);
        assert_eq!(job.timeout, Some(Duration::from_mins(1)));
        assert_eq!(job.max_retries, 3);
        assert_eq!(job.retry_delay, Duration::from_secs(5));
        assert_eq!(job.on_lost, OnLost::Requeue);
    }

    #[test]
    fn no_timeout_is_not_the_same_as_nothing_said() {
        let none = Settings { timeout: Some(Timeout(None)), ..Settings::default() };
        assert_eq!(job(&none).timeout, None);
        let minute = Settings {
            timeout: Some(Timeout(Some(Duration::from_mins(1)))),
            ..Settings::default()
        };
        assert_eq!(none.or(&minute).timeout, Some(Timeout(None)));
    }

    #[test]
    fn a_job_without_retries_is_held_when_lost_unless_it_says_otherwise() {
        let none = Settings { max_retries: Some(0), ..Settings::default() };
        assert_eq!(job(&none).on_lost, OnLost::Hold);
        let said = Settings { on_lost: Some(OnLost::Fail), ..none };
        assert_eq!(job(&said).on_lost, OnLost::Fail);
    }

    #[test]
    fn the_variable_pwd_names_the_directory() {
        let job = job(&Settings::default());
        assert_eq!(job.cwd, b"/tmp");
        let entries: Vec<&[u8]> = job.env.entries().collect();
        assert_eq!(entries, [b"A=1".as_slice(), b"PWD=/tmp", b"Z=1"]);
    }
}
