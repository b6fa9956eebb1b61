//! What the engine says, in the words of this program.

use std::path::Path;

use nix::sys::statvfs::{FsFlags, statvfs};
use rusqlite::{ErrorCode, ffi};

use super::busy;
use crate::store::Error;

/// Tells whether the disk is full, in the two ways in which that shows: when
/// something is written, and when the index of the log is made for reading.
pub(super) fn has_no_room(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| {
        error.code == ErrorCode::DiskFull || error.extended_code == ffi::SQLITE_IOERR_SHMSIZE
    })
}

/// Translates an error of the engine; its own message reaches nobody, unless
/// there are no better words.
pub(super) fn translate(path: &Path, error: &rusqlite::Error) -> Error {
    let path = path.to_owned();
    let doctor = Some("`ax doctor` looks for the damage".to_owned());
    let (why, hint) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            return Error::Busy { path, seconds: busy::PATIENCE.as_secs() };
        }
        Some(_) if has_no_room(error) => return Error::Full(path),
        Some(ErrorCode::NotADatabase) => (
            "is not a database".to_owned(),
            Some("name another file with --db or AX_DB; `ax doctor` looks closer".to_owned()),
        ),
        Some(ErrorCode::DatabaseCorrupt) => ("is damaged".to_owned(), doctor),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) if is_on_read_only_disk(&path) => (
            "lies on a disk that may only be read".to_owned(),
            Some("`dmesg` tells if the system stopped writing after an error".to_owned()),
        ),
        Some(ErrorCode::CannotOpen) => (
            "cannot be opened".to_owned(),
            Some("check the permissions of the file and of its directory".to_owned()),
        ),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => (
            "can only be read".to_owned(),
            Some("check the permissions of the file and of its directory".to_owned()),
        ),
        Some(ErrorCode::SystemIoFailure) => (
            "cannot be read or written: the disk reports an error, or is full".to_owned(),
            Some("`df` shows the room that is left, `dmesg` what the disk says".to_owned()),
        ),
        Some(ErrorCode::ConstraintViolation) => {
            ("holds a row that breaks a rule of the schema".to_owned(), doctor)
        }
        Some(code) => {
            let said = said(error).map_or_else(|| format!("{code:?}"), str::to_owned);
            (format!("failed in an unexpected way: {said}"), doctor)
        }
        None => (format!("holds a value of the wrong form: {}", form(error)), doctor),
    };
    Error::Unusable { path, why, hint }
}

fn is_on_read_only_disk(path: &Path) -> bool {
    statvfs(path).is_ok_and(|found| found.flags().contains(FsFlags::ST_RDONLY))
}

fn said(error: &rusqlite::Error) -> Option<&str> {
    match error {
        rusqlite::Error::SqliteFailure(_, said) => said.as_deref(),
        rusqlite::Error::SqlInputError { msg, .. } => Some(msg),
        _ => None,
    }
}

/// What is known of a value that no column should hold.
fn form(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::InvalidColumnType(_, name, kind) => format!("{name} is {kind}"),
        rusqlite::Error::FromSqlConversionFailure(column, kind, why) => {
            format!("column {column} ({kind}): {why}")
        }
        rusqlite::Error::IntegralValueOutOfRange(column, value) => {
            format!("column {column} is {value}")
        }
        _ => "a row is not of the form it should have".to_owned(),
    }
}
