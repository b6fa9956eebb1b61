//! Stopping what a dead supervisor, or the killed process of a hook, has left
//! running.
//!
//! Nobody may start a job again while parts of its last attempt run. Whoever
//! finds a supervisor dead looks for what it had started, by two traces that
//! cannot belong to a stranger:
//!
//! - the session: the supervisor made it and the job is in it. The number of a
//!   session is that of its leader and may be used again once all are gone, so
//!   it counts only while the dead supervisor has not been waited for, or
//!   together with the process group of the job;
//! - the environment: `AX_JOB_ID`, `AX_ATTEMPT` and `AX_DB` as the job got them.
//!
//! What a hook had started is found by its environment alone: `AX_HOOK_ID` and
//! `AX_DB`, and `AX_JOB_ID`, since a job that the hook adds inherits the others.
//!
//! What descends from a process that was found is found with it. A process
//! that left the session, cleaned its environment and lost its parent is not.

use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::process::{self, Identity, Stat};
use crate::crash;
use crate::job::hook::OpenHook;
use crate::job::{Claim, EnvBlock, JobId, Process};

/// Between two rounds: killed processes need a moment to be gone.
const ROUND: Duration = Duration::from_millis(10);
/// So many are a moment.
const ROUNDS: u32 = 25;

/// By what the processes of an attempt, or of a hook, are known.
#[derive(Clone, Debug)]
pub struct Trace {
    supervisor: Identity,
    process: Option<Process>,
    marks: Vec<Vec<u8>>,
}

impl Trace {
    /// The trace of an attempt: its dead supervisor, its own process if it is
    /// known, and the `AX_DB` it saw; without that its environment is no proof.
    pub fn new(
        supervisor: Identity,
        claim: Claim,
        process: Option<Process>,
        db: Option<&[u8]>,
    ) -> Self {
        let attempt = format!("AX_ATTEMPT={}", claim.attempt);
        let marks = db.map_or_else(Vec::new, |db| marks(claim.job, attempt, db));
        Self { supervisor, process, marks }
    }

    /// The trace of a hook, with the `AX_DB` it saw.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn of_hook(hook: &OpenHook, db: &[u8]) -> io::Result<Self> {
        let marks = marks(hook.job, format!("AX_HOOK_ID={}", hook.id), db);
        Ok(Self { supervisor: nobody()?, process: None, marks })
    }

    /// Its processes that still run.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn survivors(&self) -> io::Result<Vec<Stat>> {
        if process::boot_id()? != self.supervisor.boot_id {
            return Ok(Vec::new());
        }
        let all = process::all()?;
        let session_is_its_own = self.supervisor.exists();
        let roots: Vec<_> =
            all.iter().filter(|stat| self.fits(stat, session_is_its_own)).copied().collect();
        let children = roots.iter().flat_map(|root| process::descendants(root.pid, &all));
        let mut found: Vec<_> = roots.iter().copied().chain(children).collect();
        let me = std::process::id();
        found.retain(|stat| !stat.has_ended() && u32::try_from(stat.pid) != Ok(me));
        found.sort_unstable_by_key(|stat| stat.pid);
        found.dedup();
        Ok(found)
    }

    fn fits(&self, stat: &Stat, session_is_its_own: bool) -> bool {
        if stat.pid == self.supervisor.pid || stat.start_time < self.supervisor.start_time {
            return false;
        }
        let in_group = self.process.is_some_and(|process| process.pid == stat.group);
        let in_session = stat.session == self.supervisor.pid;
        in_session && (session_is_its_own || in_group) || self.is_marked(stat.pid)
    }

    fn is_marked(&self, pid: i32) -> bool {
        if self.marks.is_empty() {
            return false;
        }
        let Ok(block) = fs::read(format!("/proc/{pid}/environ")) else { return false };
        let env = EnvBlock(block);
        self.marks.iter().all(|mark| env.entries().any(|entry| entry == mark))
    }

    /// Kills every survivor once; gives those that there were.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    fn strike(&self) -> io::Result<Vec<Stat>> {
        let found = self.survivors()?;
        for stat in found.iter().filter(|_| !crash::mutes("kill")) {
            // One that may not be signalled is counted and tried again.
            let _ = process::signal(stat, Signal::KILL);
        }
        Ok(found)
    }
}

/// What stands in the environment of what was started for a job.
fn marks(job: JobId, own: String, db: &[u8]) -> Vec<Vec<u8>> {
    vec![format!("AX_JOB_ID={job}").into_bytes(), own.into_bytes(), [b"AX_DB=", db].concat()]
}

/// Stands for a supervisor of which nothing is known.
fn nobody() -> io::Result<Identity> {
    Ok(Identity { pid: 0, start_time: 0, boot_id: process::boot_id()? })
}

/// Tells whether a process runs that has the environment of an attempt, for
/// when there is no journal that could tell.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn is_seen(claim: Claim, db: &[u8]) -> io::Result<bool> {
    Ok(!Trace::new(nobody()?, claim, None, Some(db)).survivors()?.is_empty())
}

/// Kills the survivors of an attempt, or of a hook, until none is left, but not longer than a
/// moment; gives those that are. One can be another user's, or wait for a
/// device that does not answer.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn sweep_survivors(trace: &Trace) -> io::Result<Vec<Stat>> {
    let mut left = trace.strike()?;
    for _ in 0..ROUNDS {
        if left.is_empty() {
            break;
        }
        thread::sleep(ROUND);
        left = trace.strike()?;
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{JobId, RunnerId, Timestamp};

    const CLAIM: Claim = Claim { job: JobId(12), attempt: 1, owner: RunnerId(3) };

    fn dead(pid: i32) -> Identity {
        Identity { pid, start_time: 100, boot_id: "boot".into() }
    }

    fn seen(session: i32, group: i32, start_time: u64) -> Stat {
        // Process 0 has no environment that could be read.
        Stat { pid: 0, state: b'S', threads: 1, parent: 1, group, session, start_time }
    }

    fn job(pid: i32) -> Process {
        Process { pid, start_time: 120, started_at: Timestamp::from_millis(0) }
    }

    #[test]
    fn the_session_of_a_supervisor_that_was_not_waited_for_is_its_own() {
        let trace = Trace::new(dead(50), CLAIM, None, None);
        assert!(trace.fits(&seen(50, 77, 110), true));
        assert!(!trace.fits(&seen(51, 77, 110), true));
    }

    #[test]
    fn a_session_number_that_may_have_been_used_again_needs_the_group_too() {
        let trace = Trace::new(dead(50), CLAIM, Some(job(60)), None);
        assert!(trace.fits(&seen(50, 60, 120), false));
        assert!(!trace.fits(&seen(50, 61, 120), false));
        assert!(!trace.fits(&seen(51, 60, 120), false));
    }

    #[test]
    fn what_is_older_than_the_supervisor_is_not_its_work() {
        let trace = Trace::new(dead(50), CLAIM, Some(job(60)), None);
        assert!(!trace.fits(&seen(50, 60, 99), true));
    }

    #[test]
    fn a_process_is_known_by_the_environment_of_its_attempt() {
        // No other run of this test may find the process.
        let db = format!("/{}.db", std::process::id());
        let db = db.as_str();
        let mut child = std::process::Command::new("sleep")
            .arg("300")
            .envs([("AX_JOB_ID", "12"), ("AX_ATTEMPT", "1"), ("AX_DB", db)])
            .spawn()
            .expect("started");
        let boot_id = process::boot_id().expect("known");
        let nobody = Identity { pid: i32::MAX, start_time: 0, boot_id };
        let trace = |claim, db: Option<&str>| {
            Trace::new(nobody.clone(), claim, None, db.map(str::as_bytes))
        };
        let found = |claim, db| {
            let found = trace(claim, db).survivors().expect("read");
            found.iter().map(|stat| u32::try_from(stat.pid).expect("positive")).collect::<Vec<_>>()
        };
        assert_eq!(found(CLAIM, Some(db)), [child.id()]);
        assert!(found(CLAIM, Some("/another.db")).is_empty());
        assert!(found(Claim { attempt: 2, ..CLAIM }, Some(db)).is_empty());
        assert!(found(CLAIM, None).is_empty());
        assert_eq!(sweep_survivors(&trace(CLAIM, Some(db))).expect("swept"), []);
        assert!(child.wait().expect("waited for").code().is_none());
    }

    #[test]
    fn another_boot_has_no_survivors() {
        let own = Identity::own().expect("shown");
        let trace = Trace::new(Identity { boot_id: "another".into(), ..own }, CLAIM, None, None);
        assert_eq!(trace.survivors().expect("read"), []);
    }
}
