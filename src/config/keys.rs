//! Every value that can be configured.

use crate::data_dir::default_database;
use crate::job::{hook, settings};
use std::time::Duration;

/// A value that can be configured.
#[derive(Debug)]
pub struct Key {
    /// Its name, with that of its table in the file.
    pub name: &'static str,
    /// The variable.
    pub variable: &'static str,
    /// The option that goes before it.
    pub option: &'static str,
    /// What it is where nobody says anything.
    pub default: fn() -> String,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Key {}

macro_rules! keys {
    ($($name:literal $variable:literal $option:literal $default:expr;)*) => {
        [$(Key { name: $name, variable: $variable, option: $option, default: || $default },)*]
    };
}

/// All of them, in the order in which they are shown.
pub const KEYS: [Key; 21] = keys! {
    "db" "AX_DB" "--db" default_database().map_or(none(), |path| path.display().to_string());
    "color" "AX_COLOR" "--color" "auto".to_owned();
    "output_limit" "AX_OUTPUT_LIMIT" "-" "64M".to_owned();
    "defaults.priority" "AX_DEFAULT_PRIORITY" "--priority" settings::PRIORITY.to_string();
    "defaults.timeout" "AX_DEFAULT_TIMEOUT" "--timeout" seconds(settings::TIMEOUT);
    "defaults.kill_after" "AX_DEFAULT_KILL_AFTER" "--kill-after" seconds(settings::KILL_AFTER);
    "defaults.max_retries" "AX_DEFAULT_MAX_RETRIES" "--max-retries" settings::MAX_RETRIES.to_string();
    "defaults.retry_delay" "AX_DEFAULT_RETRY_DELAY" "--retry-delay" seconds(settings::RETRY_DELAY);
    "defaults.retry_backoff" "AX_DEFAULT_RETRY_BACKOFF" "--retry-backoff" settings::RETRY_BACKOFF.to_string();
    "defaults.retry_max_delay" "AX_DEFAULT_RETRY_MAX_DELAY" "--retry-max-delay" seconds(settings::RETRY_MAX_DELAY);
    "defaults.retry_on" "AX_DEFAULT_RETRY_ON" "--retry-on" "all".to_owned();
    "defaults.no_retry_on" "AX_DEFAULT_NO_RETRY_ON" "--no-retry-on" none();
    "defaults.on_lost" "AX_DEFAULT_ON_LOST" "--on-lost" "requeue, or hold without retries".to_owned();
    "defaults.group" "AX_DEFAULT_GROUP" "--group" none();
    "defaults.on_end" "AX_DEFAULT_ON_END" "--on-end" none();
    "defaults.on_end_timeout" "AX_DEFAULT_ON_END_TIMEOUT" "--on-end-timeout" seconds(hook::TIMEOUT);
    "run.workers" "AX_RUN_WORKERS" "--workers" "the cores".to_owned();
    "run.poll_interval" "AX_RUN_POLL_INTERVAL" "--poll-interval" seconds(POLL_INTERVAL);
    "run.queue_size" "AX_RUN_QUEUE_SIZE" "--queue-size" "up to 4 × workers".to_owned();
    "run.grace" "AX_RUN_GRACE" "--grace" "without limit".to_owned();
    "run.on_stop" "AX_RUN_ON_STOP" "--on-stop" "wait".to_owned();
};

/// The longest sleep of a runner between two looks at the database.
pub const POLL_INTERVAL: Duration = Duration::from_secs(1);

fn none() -> String {
    "none".to_owned()
}

fn seconds(wait: Duration) -> String {
    format!("{}s", wait.as_secs())
}
