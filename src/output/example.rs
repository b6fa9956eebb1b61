//! Jobs made by hand, for the tests of the views.

use crate::job::phase::Runners;
use std::time::Duration;

use super::Moment;
use crate::job::{Command, Job, JobId, OnLost, RetryPolicy, State, Timestamp};

/// Two in the morning of 1 December 2026, UTC.
pub(crate) const TWO: Timestamp = Timestamp::from_millis(1_796_090_400_000);

/// That time, with a runner alive.
pub(crate) const MOMENT: Moment = Moment { now: TWO, runners: Runners::Working };

/// `seconds` after [`TWO`].
pub(crate) fn after(seconds: i64) -> Timestamp {
    Timestamp::from_millis(TWO.millis() + seconds * 1_000)
}

/// A pending job with every default, added at [`TWO`].
pub(crate) fn job(id: i64) -> Job {
    Job {
        id: JobId(id),
        name: Some(format!("job {id}")),
        key: None,
        command: Command::Shell(b"true".to_vec()),
        state: State::Pending,
        reason: None,
        priority: 5,
        scheduled_at: TWO,
        timeout: Some(Duration::from_mins(1)),
        kill_after: Duration::from_secs(10),
        policy: RetryPolicy {
            max_retries: 3,
            retry_count: 0,
            delay: Duration::from_secs(5),
            backoff: 2.0,
            max_delay: Duration::from_hours(1),
            on_lost: OnLost::Requeue,
            losses: 0,
            retry_on: None,
            no_retry_on: None,
        },
        attempts: 0,
        owner: None,
        exit_code: None,
        signal: None,
        last_error: None,
        runs_at: None,
        finished_at: None,
        created_at: TWO,
        updated_at: TWO,
        cwd: Some(b"/tmp".to_vec()),
        umask: Some(0o022),
        flow: None,
        schedule: None,
        group: None,
        mutex: None,
        progress: None,
        progress_text: None,
        on_end: None,
        blocked: None,
        dependencies: Vec::new(),
    }
}
