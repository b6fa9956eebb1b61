//! Between rows and values.

use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Result, Row};

use crate::job::{
    Attempt, Codes, Command, FlowRunId, Job, JobId, Kind, OnLost, RetryPolicy, RunnerId, State,
    Timestamp,
};

/// The columns of a job that [`job`] reads, in its order.
pub(super) const JOB_COLUMNS: &str = "
    id, name, key, command, shell, status, reason, priority, scheduled_at, timeout, kill_after,
    max_retries, retry_count, retry_delay, retry_backoff, retry_max_delay, on_lost, loss_count,
    attempts, owner, exit_code, signal, last_error, runs_at, finished_at, created_at, updated_at,
    cwd, umask, flow, group_name, mutex,
    retry_on, no_retry_on, progress, progress_text,

    (SELECT schedule FROM ax_flow_runs WHERE ax_flow_runs.id = flow_run) AS schedule";

/// Reads a job, without its dependencies.
pub(super) fn job(row: &Row<'_>) -> Result<Job> {
    Ok(Job {
        id: row.get("id")?,
        name: text(row, "name")?,
        key: text(row, "key")?,
        command: command(row)?.unwrap_or_else(Command::Shell),
        state: row.get("status")?,
        reason: text(row, "reason")?,
        priority: row.get("priority")?,
        scheduled_at: row.get("scheduled_at")?,
        timeout: row.get::<_, Option<Millis>>("timeout")?.map(|millis| millis.0),
        kill_after: row.get::<_, Millis>("kill_after")?.0,
        policy: policy(row)?,
        attempts: row.get("attempts")?,
        owner: row.get("owner")?,
        exit_code: row.get("exit_code")?,
        signal: row.get("signal")?,
        last_error: text(row, "last_error")?,
        runs_at: row.get("runs_at")?,
        finished_at: row.get("finished_at")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        cwd: row.get::<_, Option<Bytes>>("cwd")?.map(|bytes| bytes.0),
        umask: row.get("umask")?,
        flow: text(row, "flow")?,
        schedule: text(row, "schedule")?,
        group: text(row, "group_name")?,
        mutex: text(row, "mutex")?,
        progress: row.get("progress")?,
        progress_text: text(row, "progress_text")?,
        blocked: None,
        dependencies: Vec::new(),
    })
}

/// Reads a text; what is not UTF-8 in it (only a row written by hand has such)
/// appears as U+FFFD.
pub(super) fn text(row: &Row<'_>, column: &str) -> Result<Option<String>> {
    Ok(row.get::<_, Option<Text>>(column)?.map(|text| text.0))
}

/// Reads the command; the bytes come back as an error when their words cannot
/// be told apart (only a row written by hand has such).
pub(super) fn command(row: &Row<'_>) -> Result<std::result::Result<Command, Vec<u8>>> {
    let bytes = row.get::<_, Bytes>("command")?.0;
    Ok(Command::from_bytes(bytes.clone(), row.get("shell")?).ok_or(bytes))
}

/// Reads what the job said about being run again.
pub(super) fn policy(row: &Row<'_>) -> Result<RetryPolicy> {
    Ok(RetryPolicy {
        max_retries: row.get("max_retries")?,
        retry_count: row.get("retry_count")?,
        delay: row.get::<_, Millis>("retry_delay")?.0,
        backoff: row.get("retry_backoff")?,
        max_delay: row.get::<_, Millis>("retry_max_delay")?.0,
        on_lost: row.get("on_lost")?,
        losses: row.get("loss_count")?,
        retry_on: codes(row, "retry_on")?.unwrap_or_default(),
        no_retry_on: codes(row, "no_retry_on")?.unwrap_or_default(),
    })
}

/// Reads exit codes; what is wrong with them comes back as an error (only a row
/// written by hand has such).
pub(super) fn codes(
    row: &Row<'_>,
    column: &str,
) -> Result<std::result::Result<Option<Codes>, String>> {
    Ok(text(row, column)?.map(|text| text.parse()).transpose())
}

/// Reads an attempt.
pub(super) fn attempt(row: &Row<'_>) -> Result<Attempt> {
    Ok(Attempt {
        job: row.get("job_id")?,
        attempt: row.get("attempt")?,
        owner: row.get("owner")?,
        pid: row.get("pid")?,
        started_at: row.get("started_at")?,
        ended_at: row.get("ended_at")?,
        outcome: text(row, "outcome")?,
        exit_code: row.get("exit_code")?,
        signal: row.get("signal")?,
        reason: text(row, "reason")?,
        output_bytes: row.get("output_bytes")?,
        output_in_file: row.get("output_in_file")?,
    })
}

/// A duration as a whole number of milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Millis(pub(super) Duration);

impl FromSql for Millis {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        u64::column_result(value).map(|millis| Self(Duration::from_millis(millis)))
    }
}

impl ToSql for Millis {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        let millis = i64::try_from(self.0.as_millis()).unwrap_or(i64::MAX);
        Ok(ToSqlOutput::from(millis))
    }
}

/// A text, whatever its bytes.
struct Text(String);

impl FromSql for Text {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_bytes().map(|bytes| Self(String::from_utf8_lossy(bytes).into_owned()))
    }
}

/// Bytes that are kept as text when they are UTF-8, so that people can read
/// them with the `sqlite3` shell.
#[derive(Clone, Debug)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl FromSql for Bytes {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(Self(bytes.to_vec())),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => {
                Err(FromSqlError::InvalidType)
            }
        }
    }
}

/// The same for writing, without a copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct AsBytes<'a>(pub(super) &'a [u8]);

impl ToSql for AsBytes<'_> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match std::str::from_utf8(self.0) {
            Ok(_) if !self.0.contains(&0) => ValueRef::Text(self.0),
            Ok(_) | Err(_) => ValueRef::Blob(self.0),
        }))
    }
}

macro_rules! stored_as_integer {
    ($($kind:ident),*) => {$(
        impl FromSql for $kind {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
        impl ToSql for $kind {
            fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(self.0))
            }
        }
    )*};
}
stored_as_integer!(JobId, RunnerId, FlowRunId);

impl FromSql for Timestamp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self::from_millis)
    }
}

impl ToSql for Timestamp {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.millis()))
    }
}

macro_rules! stored_as_name {
    ($($kind:ident),*) => {$(
        impl FromSql for $kind {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                value.as_str()?.parse().map_err(|why: String| FromSqlError::Other(why.into()))
            }
        }
        impl ToSql for $kind {
            fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(self.as_str()))
            }
        }
    )*};
}
stored_as_name!(State, Kind, OnLost);
