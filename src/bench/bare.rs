//! The limits: the same work without a scheduler.

use std::ffi::CString;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, posix_spawn};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use crate::failure::{Failure, reason};

/// A page of the database, in bytes.
const PAGE: usize = 4_096;

/// Starts a shell text and waits for no end.
pub(super) fn start(text: &str) -> Result<Pid, Failure> {
    spawn("/bin/sh", &["sh", "-c", text])
}

/// Starts `/bin/true`; tells how long it took to its end.
pub(super) fn time_true() -> Result<Duration, Failure> {
    let begin = Instant::now();
    end_of(Some(spawn("/bin/true", &["true"])?))?;
    Ok(begin.elapsed())
}

/// Waits for the end of a process, or of any.
pub(super) fn end_of(process: Option<Pid>) -> Result<(), Failure> {
    waitpid(process, None).map_err(|errno| refused("wait for a process", errno))?;
    Ok(())
}

/// Starts a shell text so many times, so many at once; tells how long all took.
/// Nothing else may have children meanwhile.
pub(super) fn start_many(text: &str, count: usize, parallel: usize) -> Result<Duration, Failure> {
    let begin = Instant::now();
    for started in 0..count {
        if started >= parallel {
            end_of(None)?;
        }
        start(text)?;
    }
    (0..count.min(parallel)).try_for_each(|_| end_of(None))?;
    Ok(begin.elapsed())
}

fn spawn(program: &str, words: &[&str]) -> Result<Pid, Failure> {
    let c_string = |text: &str| CString::new(text).expect("no NUL is in it");
    let words: Vec<_> = words.iter().map(|word| c_string(word)).collect();
    let env: Vec<_> = nix_environment();
    let started = PosixSpawnFileActions::init().and_then(|files| {
        let attributes = PosixSpawnAttr::init()?;
        posix_spawn(c_string(program).as_c_str(), &files, &attributes, &words, &env)
    });
    started.map_err(|errno| refused(&format!("start {program}"), errno))
}

/// The environment of this process, which the jobs get too.
fn nix_environment() -> Vec<CString> {
    use std::os::unix::ffi::OsStringExt;
    let entry = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        CString::new([&name.into_vec(), b"=".as_slice(), &value.into_vec()].concat()).ok()
    };
    std::env::vars_os().filter_map(entry).collect()
}

fn refused(what: &str, errno: Errno) -> Failure {
    Failure::failed(format!("cannot {what}: {}", errno.desc().to_lowercase()))
}

/// Writes a page so many times and waits each time until the disk has it.
pub(super) fn sync(path: &Path, count: usize) -> Result<Vec<Duration>, Failure> {
    let timed = || -> std::io::Result<Vec<Duration>> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let page = [0x61; PAGE];
        let times = (0..count as u64).map(|n| {
            let begin = Instant::now();
            file.write_all_at(&page, n * PAGE as u64)?;
            file.sync_data()?;
            Ok(begin.elapsed())
        });
        times.collect()
    };
    timed().map_err(|error| {
        Failure::failed(format!("cannot write {}: {}", path.display(), reason(&error)))
    })
}
