//! Opening a file: what is made, what is refused, and that what is refused is
//! left as it was.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use ax_scheduler::job::JobId;
use ax_scheduler::store::{self, Error, Query};
use tempfile::TempDir;

use super::bench::{START, job};

fn place() -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().expect("a place for the database");
    let path = place.path().join("ax.db");
    (place, path)
}

/// A database of ours with a few jobs in it, closed.
fn ours() -> (TempDir, PathBuf) {
    let (place, path) = place();
    let mut store = store::open(&path).expect("a new store");
    store.add(&vec![job(); 200], START).expect("jobs");
    (place, path)
}

/// All files of a directory with what is in them.
fn files(place: &TempDir) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(place.path()).expect("a directory");
    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), fs::read(path).expect("a file")))
        .collect()
}

/// Opens a file that is to be refused, and tells in which words.
fn refused(place: &TempDir, path: &Path) -> (String, Option<String>) {
    let before = files(place);
    let error = store::open(path).err().expect("it is refused");
    assert!(files(place) == before, "what is refused is left as it was");
    let text = error.to_string();
    let Error::Unusable { path: named, hint, .. } = error else { panic!("{text}") };
    assert_eq!(named, path);
    let why = text.strip_prefix(&format!("{} ", path.display())).expect("it names the file");
    (why.to_owned(), hint)
}

fn shell(path: &Path, sql: &str) {
    let shell = rusqlite::Connection::open(path).expect("it opens");
    shell.execute_batch(sql).expect("an edit");
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("its owner may");
}

fn write_private(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("a file");
    chmod(path, 0o600);
}

#[test]
fn what_is_not_a_database_is_refused() {
    for bytes in [b"x".to_vec(), b"#!/bin/sh\nexit 1\n".repeat(50), vec![0xff; 8192]] {
        let (place, path) = place();
        write_private(&path, &bytes);
        let (why, hint) = refused(&place, &path);
        assert_eq!(why, "is not a database");
        assert!(hint.is_some());
    }
}

#[test]
fn another_programs_database_is_refused() {
    for sql in [
        "CREATE TABLE t (a)",
        "CREATE TABLE ax_jobs (id)",
        "PRAGMA user_version = 7",
        "PRAGMA application_id = 42; CREATE TABLE t (a)",
        "PRAGMA journal_mode = wal; CREATE TABLE t (a)",
    ] {
        let (place, path) = place();
        write_private(&path, b"");
        shell(&path, sql);
        let (why, hint) = refused(&place, &path);
        assert_eq!(why, "is another program's database", "{sql}");
        assert!(hint.is_some());
    }
}

/// Somebody may have its database open, or it was never closed: its log is not ours to write.
#[test]
fn another_programs_log_is_left_alone() {
    let (place, path) = place();
    write_private(&path, b"");
    let other = rusqlite::Connection::open(&path).expect("it opens");
    other
        .execute_batch("PRAGMA journal_mode = wal; CREATE TABLE t (a); INSERT INTO t VALUES (1);")
        .expect("a table");
    let before = fs::read(&path).expect("a file");
    let (crash, copy) = self::place();
    for suffix in ["", "-wal"] {
        let from = place.path().join(format!("ax.db{suffix}"));
        fs::copy(from, crash.path().join(format!("ax.db{suffix}"))).expect("a copy");
    }
    for path in [&path, &copy] {
        let error = store::open(path).err().expect("it is refused").to_string();
        assert!(error.ends_with("is another program's database"), "{error}");
        assert!(fs::read(path).expect("a file") == before, "its log was written into it");
    }
    let count: i64 =
        other.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).expect("a number");
    assert_eq!(count, 1);
}

#[test]
fn a_newer_schema_is_refused_and_both_versions_named() {
    let (place, path) = ours();
    shell(&path, "PRAGMA user_version = 9999");
    let (why, hint) = refused(&place, &path);
    assert!(why.starts_with("was made by a newer ax: its schema version is 9999"), "{why}");
    assert!(hint.is_some_and(|hint| hint.contains("upgrade")));
}

#[test]
fn a_directory_is_refused() {
    let (place, _) = place();
    let (why, hint) = refused(&place, place.path());
    assert_eq!(why, "is a directory");
    assert!(hint.is_some());
}

#[test]
fn a_missing_directory_is_not_made() {
    let (place, _) = place();
    let path = place.path().join("no/such/ax.db");
    let (why, hint) = refused(&place, &path);
    assert_eq!(why, "cannot be made: no such file or directory");
    assert!(hint.is_some_and(|hint| hint.starts_with("`mkdir -p ")));
    assert!(!place.path().join("no").exists());
}

#[test]
fn a_file_in_place_of_a_directory_is_refused() {
    let (place, path) = place();
    write_private(&path, b"x");
    let (why, _) = refused(&place, &path.join("ax.db"));
    assert_eq!(why, "cannot be looked at: not a directory");
}

#[test]
fn a_link_to_nowhere_is_refused() {
    let (place, path) = place();
    symlink(place.path().join("nowhere"), &path).expect("a link");
    refused(&place, &path);
    assert!(!place.path().join("nowhere").exists());
}

#[test]
fn a_file_that_others_can_write_is_refused() {
    for mode in [0o602, 0o620, 0o666] {
        let (place, path) = ours();
        chmod(&path, mode);
        let (why, hint) = refused(&place, &path);
        assert_eq!(why, "can be written by other users");
        assert!(hint.is_some_and(|hint| hint.starts_with("`chmod 600 ")));
    }
}

#[test]
fn a_file_of_another_user_is_refused() {
    let (place, path) = ours();
    // Only root can give a file away.
    let Ok(()) = chown(&path, Some(1), None) else { return };
    let (why, _) = refused(&place, &path);
    assert!(why.starts_with("belongs to another user (uid 1, you are "), "{why}");
}

#[test]
fn a_pipe_is_refused() {
    let (place, path) = place();
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    assert_eq!(refused(&place, &path).0, "is not a regular file");
}

#[test]
fn a_truncated_file_is_refused() {
    let (_place, path) = ours();
    let length = fs::metadata(&path).expect("a file").len();
    for length in [10, 100, 1_000, 4_096, length / 2 + 7, length - 4_096] {
        let (place, path) = ours();
        let file = OpenOptions::new().write(true).open(&path).expect("a file");
        file.set_len(length).expect("it is cut");
        drop(file);
        let (why, hint) = refused(&place, &path);
        assert!(why == "is damaged" || why == "is not a database", "{length}: {why}");
        assert!(hint.is_some());
    }
}

#[test]
fn a_new_file_is_its_owners_alone_whatever_the_umask() {
    const CHILD: &str = "AX_TEST_OPENS_WITH_UMASK_000";
    if std::env::var_os(CHILD).is_some() {
        return all_files_are_private();
    }
    // The umask belongs to the whole process; other tests run in this one.
    let name = "store::opening::a_new_file_is_its_owners_alone_whatever_the_umask";
    let child = Command::new("/bin/sh")
        .args(["-c", "umask 000; exec \"$0\" --exact \"$1\""])
        .arg(std::env::current_exe().expect("this program"))
        .arg(name)
        .env(CHILD, "1")
        .output()
        .expect("a shell");
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
}

fn all_files_are_private() {
    let (place, path) = place();
    let mut store = store::open(&path).expect("a new store");
    store.add(&[job()], START).expect("a job");
    let modes: Vec<_> = files(&place)
        .keys()
        .map(|path| fs::metadata(path).expect("a file").permissions().mode() & 0o777)
        .collect();
    assert_eq!(modes, [0o600; 3], "the database, its log and its index");
}

#[test]
fn twenty_first_opens_at_once_make_one_database() {
    let (_place, path) = place();
    let ids: Vec<JobId> = thread::scope(|scope| {
        let opens: Vec<_> = (0..20)
            .map(|_| {
                scope.spawn(|| {
                    let mut store = store::open(&path).expect("it opens");
                    store.add(&[job()], START).expect("a job")[0].id
                })
            })
            .collect();
        opens.into_iter().map(|open| open.join().expect("no panic")).collect()
    });
    let mut sorted: Vec<_> = ids.iter().map(|id| id.0).collect();
    sorted.sort_unstable();
    assert_eq!(sorted, (1..=20).collect::<Vec<_>>());
}

#[test]
fn what_was_added_is_there_after_closing() {
    let (_place, path) = ours();
    let mut store = store::open(&path).expect("it opens again");
    assert_eq!(store.count(&Query::default()).expect("an answer"), 200);
}
