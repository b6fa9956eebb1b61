//! Between rows and values.

use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Result, Row, RowIndex};

use crate::job::hook::{self, Hook, HookId};
use crate::job::{
    Attempt, Codes, Command, FlowRunId, Job, JobId, Kind, OnLost, RetryPolicy, RunnerId, State,
    Timestamp,
};

/// The columns that [`job`] and a claim both read, and their rows begin with.
macro_rules! shared_columns {
    () => {
        "command, shell, name, key, attempts, cwd, umask, timeout, kill_after, group_name, mutex,
    max_retries, retry_count, retry_delay, retry_backoff, retry_max_delay, on_lost, loss_count,
    retry_on, no_retry_on"
    };
}

/// The columns of a job that [`job`] reads.
pub(super) const JOB_COLUMNS: &str = concat!(
    shared_columns!(),
    ",
    id, status, reason, priority, scheduled_at, owner, exit_code, signal, last_error, runs_at,
    finished_at, created_at, updated_at, flow, progress, progress_text, on_end, on_end_timeout,
    (SELECT schedule FROM ax_flow_runs WHERE ax_flow_runs.id = flow_run) AS schedule"
);

/// The place of a column in a list of them: its number, found while the program
/// is compiled, as looking for a name in each row costs more than reading it.
///
/// # Panics
/// While compiling, when no column has the name.
pub(super) const fn place(columns: &str, name: &str) -> usize {
    let (columns, name) = (columns.as_bytes(), name.as_bytes());
    let (mut at, mut place) = (0, 0);
    while at < columns.len() {
        let mut end = at;
        while end < columns.len() && columns[end] != b',' {
            end += 1;
        }
        if ends_with_word(columns, at, end, name) {
            return place;
        }
        (at, place) = (end + 1, place + 1);
    }
    panic!("no column has the name")
}

/// Tells whether the last word of this part of a text is `word`.
const fn ends_with_word(text: &[u8], from: usize, to: usize, word: &[u8]) -> bool {
    if to - from < word.len() {
        return false;
    }
    let start = to - word.len();
    let mut at = 0;
    while at < word.len() {
        if text[start + at] != word[at] {
            return false;
        }
        at += 1;
    }
    start == from || text[start - 1].is_ascii_whitespace()
}

/// The place of a column that [`job`] reads.
macro_rules! at {
    ($name:literal) => {
        const { place(JOB_COLUMNS, $name) }
    };
}

/// The place of a column that rows of jobs and claims have.
macro_rules! shared {
    ($name:literal) => {
        const { place(shared_columns!(), $name) }
    };
}

/// Reads a job, without its dependencies.
pub(super) fn job(row: &Row<'_>) -> Result<Job> {
    Ok(Job {
        id: row.get(at!("id"))?,
        name: name(row)?,
        key: key(row)?,
        command: command(row)?.unwrap_or_else(Command::Shell),
        state: row.get(at!("status"))?,
        reason: text(row, at!("reason"))?,
        priority: row.get(at!("priority"))?,
        scheduled_at: row.get(at!("scheduled_at"))?,
        timeout: timeout(row)?,
        kill_after: kill_after(row)?,
        policy: policy(row)?,
        attempts: attempts(row)?,
        owner: row.get(at!("owner"))?,
        exit_code: row.get(at!("exit_code"))?,
        signal: row.get(at!("signal"))?,
        last_error: text(row, at!("last_error"))?,
        runs_at: row.get(at!("runs_at"))?,
        finished_at: row.get(at!("finished_at"))?,
        created_at: row.get(at!("created_at"))?,
        updated_at: row.get(at!("updated_at"))?,
        cwd: cwd(row)?,
        umask: umask(row)?,
        flow: text(row, at!("flow"))?,
        schedule: text(row, at!("schedule"))?,
        group: group(row)?,
        mutex: mutex(row)?,
        progress: row.get(at!("progress"))?,
        progress_text: text(row, at!("progress_text"))?,
        on_end: on_end(row)?,
        blocked: None,
        dependencies: Vec::new(),
    })
}

/// Reads the hook of a job.
fn on_end(row: &Row<'_>) -> Result<Option<Hook>> {
    let timeout: Option<Millis> = row.get(at!("on_end_timeout"))?;
    let timeout = timeout.map_or(hook::TIMEOUT, |millis| millis.0);
    let command: Option<Bytes> = row.get(at!("on_end"))?;
    Ok(command.map(|command| Hook { command: command.0, timeout }))
}

/// Reads a text; what is not UTF-8 in it (only a row written by hand has such)
/// appears as U+FFFD.
pub(super) fn text(row: &Row<'_>, column: impl RowIndex) -> Result<Option<String>> {
    Ok(row.get::<_, Option<Text>>(column)?.map(|text| text.0))
}

/// Reads the command; the bytes come back as an error when their words cannot
/// be told apart (only a row written by hand has such).
pub(super) fn command(row: &Row<'_>) -> Result<std::result::Result<Command, Vec<u8>>> {
    let bytes = row.get::<_, Bytes>(shared!("command"))?.0;
    Ok(Command::from_bytes(bytes.clone(), row.get(shared!("shell"))?).ok_or(bytes))
}

/// Reads what people call the job, if they do.
pub(super) fn name(row: &Row<'_>) -> Result<Option<String>> {
    text(row, shared!("name"))
}

/// Reads the key.
pub(super) fn key(row: &Row<'_>) -> Result<Option<String>> {
    text(row, shared!("key"))
}

/// Reads the group.
pub(super) fn group(row: &Row<'_>) -> Result<Option<String>> {
    text(row, shared!("group_name"))
}

/// Reads the mutex.
pub(super) fn mutex(row: &Row<'_>) -> Result<Option<String>> {
    text(row, shared!("mutex"))
}

/// Reads the number of the last attempt.
pub(super) fn attempts(row: &Row<'_>) -> Result<u32> {
    row.get(shared!("attempts"))
}

/// Reads the directory.
pub(super) fn cwd(row: &Row<'_>) -> Result<Option<Vec<u8>>> {
    Ok(row.get::<_, Option<Bytes>>(shared!("cwd"))?.map(|bytes| bytes.0))
}

/// Reads the umask.
pub(super) fn umask(row: &Row<'_>) -> Result<Option<u32>> {
    row.get(shared!("umask"))
}

/// Reads the longest time of an attempt.
pub(super) fn timeout(row: &Row<'_>) -> Result<Option<Duration>> {
    Ok(row.get::<_, Option<Millis>>(shared!("timeout"))?.map(|millis| millis.0))
}

/// Reads the time between TERM and KILL.
pub(super) fn kill_after(row: &Row<'_>) -> Result<Duration> {
    Ok(row.get::<_, Millis>(shared!("kill_after"))?.0)
}

/// Reads what the job said about being run again.
pub(super) fn policy(row: &Row<'_>) -> Result<RetryPolicy> {
    let (retry_on, no_retry_on) = codes(row)?.unwrap_or_default();
    Ok(RetryPolicy {
        max_retries: row.get(shared!("max_retries"))?,
        retry_count: row.get(shared!("retry_count"))?,
        delay: row.get::<_, Millis>(shared!("retry_delay"))?.0,
        backoff: row.get(shared!("retry_backoff"))?,
        max_delay: row.get::<_, Millis>(shared!("retry_max_delay"))?.0,
        on_lost: row.get(shared!("on_lost"))?,
        losses: row.get(shared!("loss_count"))?,
        retry_on,
        no_retry_on,
    })
}

/// The exit codes after which a job is tried again, and after which not.
type RetryCodes = (Option<Codes>, Option<Codes>);

/// Reads both; what is wrong with them comes back as an error (only a row
/// written by hand has such).
pub(super) fn codes(row: &Row<'_>) -> Result<std::result::Result<RetryCodes, String>> {
    let read = |column| Ok::<_, rusqlite::Error>(text(row, column)?.map(|text| text.parse()));
    let retry_on = read(shared!("retry_on"))?.transpose();
    let no_retry_on = read(shared!("no_retry_on"))?.transpose();
    Ok(retry_on.and_then(|retry_on| Ok((retry_on, no_retry_on?))))
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
stored_as_integer!(JobId, RunnerId, FlowRunId, HookId);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_place_of_its_last_word() {
        let list = "id, group_name,\n name, (SELECT name FROM t) AS first_name";
        let names = ["id", "group_name", "name", "first_name"];
        assert_eq!(names.map(|name| place(list, name)), [0, 1, 2, 3]);
    }

    #[test]
    #[should_panic(expected = "no column has the name")]
    fn a_name_that_no_column_has_does_not_compile() {
        let _ = place("group_name, id", "name");
    }
}
