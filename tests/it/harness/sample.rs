//! A job as tests add it to a store of their own.

use std::sync::Arc;
use std::time::Duration;

use ax_scheduler::job::{
    Command, EnvBlock, IfExists, JobId, Kind, NewJob, OnLost, ParentRef, Timestamp,
};

/// A job without retries that is due at this time.
pub(crate) fn new_job(name: &str, due: Timestamp, parents: &[(i64, Kind)]) -> NewJob {
    NewJob {
        name: Some(name.to_owned()),
        key: None,
        if_exists: IfExists::Skip,
        command: Command::Shell(b"true".to_vec()),
        priority: 5,
        scheduled_at: due,
        timeout: Some(Duration::from_mins(1)),
        kill_after: Duration::from_secs(10),
        max_retries: 0,
        retry_delay: Duration::from_secs(5),
        retry_backoff: 2.0,
        retry_max_delay: Duration::from_hours(1),
        on_lost: OnLost::Hold,
        cwd: b"/".to_vec(),
        umask: 0o022,
        env: Arc::new(EnvBlock::from_entries([b"SECRET=hush".as_slice()])),
        extra_env: EnvBlock::default(),
        retry_on: None,
        no_retry_on: None,
        group: None,
        mutex: None,
        on_end: None,
        ends_run: false,
        hold: false,
        parents: parents.iter().map(|(id, kind)| (ParentRef::Id(JobId(*id)), *kind)).collect(),
        flow: None,
        run: None,
    }
}
