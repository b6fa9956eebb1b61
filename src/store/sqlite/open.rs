//! Opening the file: what is refused, what is made, and how the connection is set up.
//!
//! A database that others could have written to, or that is not ours, is
//! refused in words and not touched.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Once;
use std::time::Instant;

use rusqlite::config::DbConfig;
use rusqlite::ffi::{SQLITE_CONFIG_MEMSTATUS, sqlite3_config};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::busy;
use super::error::{has_no_room, translate};
use super::schema::{self, Found};
use crate::crash;
use crate::data_dir::{log_of, network_file_system};
use crate::store::{Error, Result};

/// The first SQLite whose write-ahead log does not lose commits of several
/// writing processes (WAL-reset race, mended in 3.51.3).
const SAFE_SQLITE: i32 = 3_051_003;

/// The smallest page, and so the smallest database that is not empty. The
/// engine takes a file of one byte for an empty one and writes over it.
const SMALLEST: u64 = 512;

const ANOTHER: &str = "name another file with --db or AX_DB";

/// How a database is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Beside others, with an index of the log that all share.
    Shared,
    /// Alone and for reading: the disk is full, and the index that all share
    /// finds no room there.
    Alone,
}

/// Opens the database, makes it if there is none and migrates it if it is old.
pub(super) fn open(path: &Path) -> Result<(Connection, Access)> {
    assert!(rusqlite::version_number() >= SAFE_SQLITE, "the bundled SQLite is recent enough");
    SPARE_STATISTICS.call_once(spare_statistics);
    prepare_file(path)?;
    let deadline = Instant::now() + busy::PATIENCE;
    let mut access = Access::Shared;
    loop {
        match connect(path, access) {
            // Switching to the write-ahead log does not ask the busy handler.
            Err(error) if is_busy(&error) && Instant::now() < deadline => busy::pause(),
            Err(error) if has_no_room(&error) && access == Access::Shared => {
                access = Access::Alone;
            }
            Err(error) => return Err(translate(path, &error)),
            Ok(Ok(connection)) => return Ok((connection, access)),
            Ok(Err(refusal)) => return Err(refusal),
        }
    }
}

static SPARE_STATISTICS: Once = Once::new();

/// Has the engine keep no account of its memory, which takes a lock at each
/// allocation. It refuses once it is in use, and then it goes on as it is.
fn spare_statistics() {
    // SAFETY: the option takes one int, and the engine is told before this
    // program uses it.
    let _ = unsafe { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) };
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

const NO_CHECKPOINT: DbConfig = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;

/// Connects; the inner result is a refusal that has its words already.
fn connect(path: &Path, access: Access) -> rusqlite::Result<Result<Connection>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(busy::wait))?;
    match access {
        Access::Shared => (),
        Access::Alone => connection.pragma_update(None, "locking_mode", "exclusive")?,
    }
    // Closing writes the log into the file; another program's stay as they are.
    connection.set_db_config(NO_CHECKPOINT, has_log(path))?;
    match schema::look(&connection)? {
        Found::Foreign => return Ok(Err(not_ours(path))),
        Found::Ours(version) if version > schema::VERSION => return Ok(Err(newer(path, version))),
        Found::Ours(_) | Found::Empty => (),
    }
    connection.set_db_config(NO_CHECKPOINT, false)?;
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != "wal" {
        connection.pragma_update(None, "journal_mode", "wal")?;
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    plan_by_text(&connection)?;
    connection.set_prepared_statement_cache_capacity(64);
    match schema::look(&connection)? {
        Found::Ours(schema::VERSION) => (),
        found => match schema::migrate(&mut connection) {
            // Its tables are not those that the migrations are about.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::Unknown) => {
                return Ok(Err(altered(path, found)));
            }
            migrated => migrated?,
        },
    }
    Ok(Ok(connection))
}

/// Has the engine plan each statement by its text alone, once, as the tests of
/// plans see it. Else it plans anew with each value that is bound, where an
/// index for some rows might fit that value.
pub(super) fn plan_by_text(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

/// Tells whether there is a write-ahead log with something in it.
fn has_log(path: &Path) -> bool {
    fs::metadata(log_of(path)).is_ok_and(|log| log.len() > 0)
}

fn not_ours(path: &Path) -> Error {
    refuse(path, "is another program's database", Some(ANOTHER))
}

fn newer(path: &Path, version: i32) -> Error {
    let why = format!(
        "was made by a newer ax: its schema version is {version}, and this ax knows {}",
        schema::VERSION
    );
    refuse(path, why, Some("upgrade this ax, or name another file with --db or AX_DB"))
}

fn altered(path: &Path, found: Found) -> Error {
    let why = match found {
        Found::Ours(version) => format!(
            "says that its schema version is {version}, but no ax made its tables so; nothing was \
             changed in it"
        ),
        Found::Empty | Found::Foreign => "cannot be given its tables".to_owned(),
    };
    refuse(path, why, Some("restore a copy of it, or name another file with --db or AX_DB"))
}

fn refuse(path: &Path, why: impl Into<String>, hint: Option<&str>) -> Error {
    Error::Unusable { path: path.to_owned(), why: why.into(), hint: hint.map(str::to_owned) }
}

/// Sees to it that there is a file, and that it is safe to use.
fn prepare_file(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(found) => check_file(path, &found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create(path).map_err(|error| uncreatable(path, &error))
        }
        Err(error) => Err(refuse(path, format!("cannot be looked at: {}", reason(&error)), None)),
    }?;
    check_companions(path)?;
    check_file_system(path)
}

/// In a directory where others may write, such as `/tmp`, one of them could
/// have laid a log beside the database, which the engine would take for its own.
fn check_companions(path: &Path) -> Result<()> {
    let user = nix::unistd::geteuid().as_raw();
    for suffix in ["-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        if let Ok(found) = fs::symlink_metadata(&name)
            && (found.uid() != user || !found.is_file())
        {
            let text = Path::new(&name).display();
            let why = format!("cannot be used: {text} beside it is not a file of yours");
            return Err(refuse(path, why, Some("find out whose it is and remove it")));
        }
    }
    Ok(())
}

fn check_file(path: &Path, found: &fs::Metadata) -> Result<()> {
    let user = nix::unistd::geteuid().as_raw();
    if found.is_dir() {
        return Err(refuse(path, "is a directory", Some("name a file in it")));
    }
    if !found.is_file() {
        return Err(refuse(path, "is not a regular file", None));
    }
    if found.uid() != user {
        let why = format!("belongs to another user (uid {}, you are {user})", found.uid());
        return Err(refuse(path, why, None));
    }
    if found.nlink() > 1 {
        let hint = "SQLite would keep a log for each name; remove all names but one";
        return Err(refuse(path, "has more than one name (hard links)", Some(hint)));
    }
    if (1..SMALLEST).contains(&found.len()) {
        return Err(refuse(path, "is not a database", Some(ANOTHER)));
    }
    if found.mode() & 0o022 != 0 {
        let hint = format!("`chmod 600 {}` if you trust what is in it", path.display());
        return Err(refuse(path, "can be written by other users", Some(&hint)));
    }
    Ok(())
}

/// Makes an empty file that is its owner's alone from the first moment. Of the
/// directories above it only those of the default place are made.
fn create(path: &Path) -> io::Result<()> {
    if crate::data_dir::default_database().as_deref() == Some(path)
        && let Some(parent) = path.parent()
    {
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    crash::point("file", "after-create");
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    }
}

fn uncreatable(path: &Path, error: &io::Error) -> Error {
    let missing = error.kind() == io::ErrorKind::NotFound;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let hint = match parent {
        Some(parent) if missing => {
            Some(format!("`mkdir -p {}` makes its directory", parent.display()))
        }
        Some(_) | None => None,
    };
    let why = format!("cannot be made: {}", reason(error));
    Error::Unusable { path: path.to_owned(), why, hint }
}

/// What the system says, without the number that Rust adds.
fn reason(error: &io::Error) -> String {
    let text = match error.raw_os_error() {
        Some(number) => nix::errno::Errno::from_raw(number).desc().to_owned(),
        None => error.to_string(),
    };
    text.to_lowercase()
}

fn check_file_system(path: &Path) -> Result<()> {
    let Some(name) = network_file_system(path) else { return Ok(()) };
    let why = format!("lies on a network file system ({name}), whose locks cannot be relied on");
    Err(refuse(path, why, Some("put the database on a local disk")))
}
