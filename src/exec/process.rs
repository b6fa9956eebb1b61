//! Processes, as `/proc` shows them.
//!
//! A process id alone names nobody for long: it is used again. A process is
//! named by boot, id and start time, and a signal goes to exactly the process
//! that was meant or to none.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::iter;
use std::os::unix::ffi::OsStringExt;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

pub use super::sweep::sweep_survivors;

/// A process that can be told from every other one, also after a restart of
/// the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its process id.
    pub pid: i32,
    /// Start time in clock ticks since boot.
    pub start_time: u64,
    /// The kernel's name of the boot.
    pub boot_id: String,
}

impl Identity {
    /// This process.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn own() -> io::Result<Self> {
        let pid = i32::try_from(std::process::id()).expect("a process id fits");
        let stat = stat(pid).ok_or_else(|| io::Error::other("/proc does not show this process"))?;
        Ok(Self { pid, start_time: stat.start_time, boot_id: boot_id()? })
    }

    /// Tells whether the process runs, or has ended and was not waited for yet.
    pub fn exists(&self) -> bool {
        boot_id().is_ok_and(|boot| boot == self.boot_id)
            && stat(self.pid).is_some_and(|stat| stat.start_time == self.start_time)
    }

    /// Tells whether the process runs and was suspended, by a signal or a debugger.
    pub fn is_suspended(&self) -> bool {
        self.exists() && stat(self.pid).is_some_and(|stat| stat.is_suspended())
    }
}

/// The kernel's name of this boot.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// What `/proc/PID/stat` says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Process id.
    pub pid: i32,
    /// The state of its first thread as a letter; `Z` for one that has ended.
    pub state: u8,
    /// How many threads it has.
    pub threads: u32,
    /// The parent's process id.
    pub parent: i32,
    /// Process group.
    pub group: i32,
    /// Session.
    pub session: i32,
    /// Start time in clock ticks since boot.
    pub start_time: u64,
}

impl Stat {
    /// Tells whether the process has ended and only waits to be waited for.
    pub const fn has_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x') && self.threads <= 1
    }

    /// Tells whether the process was suspended, by a signal or a debugger.
    pub const fn is_suspended(&self) -> bool {
        matches!(self.state, b'T' | b't')
    }
}

/// Reads about one process; `None` if there is none.
pub fn stat(pid: i32) -> Option<Stat> {
    let mut text = [0; 1024];
    let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut text).ok()?;
    parse(&text[..length])
}

/// Start time of a process in clock ticks since boot; `None` if there is none.
pub fn start_time(pid: i32) -> Option<u64> {
    stat(pid).map(|stat| stat.start_time)
}

/// The command line of a process; no words if it has ended, `None` if there is none.
pub fn words(pid: i32) -> Option<Vec<OsString>> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = line.strip_suffix(b"\0").map(|line| line.split(|byte| *byte == 0));
    Some(words.into_iter().flatten().map(|word| OsString::from_vec(word.to_vec())).collect())
}

/// The name of the program may hold blanks and parentheses, so the fields are
/// counted from the last `)`.
fn parse(text: &[u8]) -> Option<Stat> {
    let open = text.iter().position(|byte| *byte == b'(')?;
    let close = text.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(&text[..open]).ok()?.trim().parse().ok()?;
    let fields: Vec<_> =
        std::str::from_utf8(text.get(close + 1..)?).ok()?.split_ascii_whitespace().collect();
    Some(Stat {
        pid,
        state: *fields.first()?.as_bytes().first()?,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        threads: fields.get(17)?.parse().ok()?,
        start_time: fields.get(19)?.parse().ok()?,
    })
}

/// Names processes that were killed and have not ended, at most three.
pub fn undying(left: &[Stat]) -> String {
    const SHOWN: usize = 3;
    let name = |stat: &Stat| {
        let name = fs::read(format!("/proc/{}/comm", stat.pid)).unwrap_or_default();
        let name = String::from_utf8_lossy(&name);
        format!("process {} ({}, state {})", stat.pid, name.trim_end(), char::from(stat.state))
    };
    let mut names: Vec<_> = left.iter().take(SHOWN).map(name).collect();
    if left.len() > SHOWN {
        names.push(format!("{} more", left.len() - SHOWN));
    }
    format!("killed and not ended: {}", names.join(", "))
}

/// All processes.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn all() -> io::Result<Vec<Stat>> {
    let names =
        fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter_map(|name| stat(name.parse().ok()?)).collect())
}

/// Of `all`, those whose line of parents leads to `ancestor`.
pub fn descendants(ancestor: i32, all: &[Stat]) -> Vec<Stat> {
    let parents: HashMap<i32, i32> = all.iter().map(|stat| (stat.pid, stat.parent)).collect();
    let descends = |stat: &&Stat| {
        iter::successors(Some(stat.parent), |pid| parents.get(pid).copied())
            .take(parents.len())
            .any(|pid| pid == ancestor)
    };
    all.iter().filter(descends).copied().collect()
}

/// Sends a signal to exactly this process; one that has gone needs none.
///
/// # Errors
/// When the process may not be signalled.
pub fn signal(target: &Stat, signal: Signal) -> io::Result<()> {
    let Some(pid) = Pid::from_raw(target.pid) else { return Ok(()) };
    // What is opened first and compared then cannot become another process.
    let opened = pidfd_open(pid, PidfdFlags::empty());
    if start_time(target.pid) != Some(target.start_time) {
        return Ok(());
    }
    let sent = match opened {
        Ok(process) => pidfd_send_signal(process, signal),
        Err(Errno::SRCH) => return Ok(()),
        Err(_) => kill_process(pid, signal),
    };
    match sent {
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Stat {
        Stat { pid, state: b'S', threads: 1, parent, group: pid, session: 1, start_time: 0 }
    }

    #[test]
    fn a_program_may_be_named_like_the_end_of_its_name() {
        let text = b"42 (a) S 1 (b) c) R 7 8 9 0 -1 4 0 0 0 0 0 0 0 0 20 0 4 0 12345 0 0\n";
        let want = Stat {
            pid: 42,
            state: b'R',
            threads: 4,
            parent: 7,
            group: 8,
            session: 9,
            start_time: 12345,
        };
        assert_eq!(parse(text), Some(want));
    }

    #[test]
    fn half_a_line_is_no_process() {
        assert_eq!(parse(b"42 (sh"), None);
        assert_eq!(parse(b"42 (sh)"), None);
        assert_eq!(parse(b"42 (sh) R 7 8"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn this_process_exists_and_its_number_at_another_time_does_not() {
        let own = Identity::own().expect("shown");
        assert!(own.exists());
        assert!(!Identity { start_time: own.start_time + 1, ..own.clone() }.exists());
        assert!(!Identity { boot_id: "another".into(), ..own }.exists());
    }

    #[test]
    fn descendants_are_found_whatever_their_depth() {
        let all = [process(1, 0), process(5, 1), process(6, 5), process(7, 6), process(8, 1)];
        let pids: Vec<_> = descendants(5, &all).iter().map(|stat| stat.pid).collect();
        assert_eq!(pids, [6, 7]);
    }

    #[test]
    fn a_number_that_belongs_to_a_stranger_is_not_signalled() {
        let own = stat(Identity::own().expect("shown").pid).expect("shown");
        let stranger = Stat { start_time: own.start_time + 1, ..own };
        // This test would not live to see the end of the next line.
        assert!(signal(&stranger, Signal::KILL).is_ok());
    }
}
