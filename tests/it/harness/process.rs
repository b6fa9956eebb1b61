//! Processes that tests look at, signal and clean away.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use ax_scheduler::exec::process::{self, Stat};
use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

use super::wait_until;

pub(crate) fn is_alive(pid: i32) -> bool {
    process::stat(pid).is_some_and(|stat| !stat.has_ended())
}

pub(crate) fn is_suspended(pid: i32) -> bool {
    process::stat(pid).is_some_and(|stat| stat.is_suspended())
}

pub(crate) fn kill(pid: i32, signal: Signal) {
    signal::kill(Pid::from_raw(pid), signal).expect("it can be signalled");
}

/// Waits for a file with a process id in it.
#[track_caller]
pub(crate) fn pid_in(path: &Path) -> i32 {
    let read = || fs::read_to_string(path).ok()?.strip_suffix('\n')?.parse().ok();
    let what = format!("{} has a process id", path.display());
    wait_until(&what, String::new, || read().is_some());
    read().expect("there")
}

/// The children of a process.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    let all = process::all().expect("/proc can be read");
    all.iter().filter(|stat| stat.parent == pid).map(|stat| stat.pid).collect()
}

/// How long a process has been at work on a processor.
pub(crate) fn time_at_work(pid: i32) -> Duration {
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let after_name = stat.rsplit(')').next().expect("there is a name");
    let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
    let ticks = |place: usize| fields[place].parse::<u32>().expect("a number");
    TICK * (ticks(11) + ticks(12))
}

/// The processes that run and have this database in their environment.
pub(crate) fn all_of(db: &Path) -> Vec<Stat> {
    let mark = [b"AX_DB=", db.as_os_str().as_bytes()].concat();
    let is_marked = |stat: &Stat| {
        let block = fs::read(format!("/proc/{}/environ", stat.pid)).unwrap_or_default();
        !stat.has_ended() && block.split(|byte| *byte == 0).any(|entry| entry == mark)
    };
    let all = process::all().unwrap_or_default();
    all.into_iter().filter(is_marked).collect()
}

/// Kills every process that has this database in its environment, until there
/// are none.
pub(super) fn kill_all_of(db: &Path) {
    loop {
        let found = all_of(db);
        if found.is_empty() {
            return;
        }
        for stat in found {
            let _ = signal::kill(Pid::from_raw(stat.pid), Signal::SIGKILL);
        }
        thread::sleep(Duration::from_millis(5));
    }
}
