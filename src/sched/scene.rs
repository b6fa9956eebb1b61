//! What dead runners and supervisors left behind on the machine.
//!
//! [`Scene`] is the seam between what recovery decides and where it looks: the
//! real one is the [`DataDir`], with the locks, journals and output in it and
//! the processes in `/proc`; a test may put another in its place.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::data_dir::DataDir;
use crate::exec::journal::{self, Entries};
use crate::exec::process::{Identity, sweep_survivors, undying};
use crate::exec::spool;
use crate::exec::sweep::{Trace, is_seen};
use crate::exec::{living_journals, lock, process};
use crate::job::hook::{HookId, OpenHook};
use crate::job::{Captured, Claim, Process, RunnerId};
use crate::store::Runner;

/// Where recovery looks, and what it does there.
pub trait Scene {
    /// Tells whether a runner lives.
    ///
    /// # Errors
    /// When that cannot be found out.
    fn is_alive(&self, runner: &Runner) -> io::Result<bool>;

    /// Tells whether the journals of a dead runner are all there: whether an
    /// attempt that none tells of was not started.
    ///
    /// # Errors
    /// When that cannot be found out.
    fn is_complete(&self, runner: &Runner) -> io::Result<bool>;

    /// What the journals of a runner's supervisors tell.
    ///
    /// # Errors
    /// When one cannot be read.
    fn witnesses(&self, runner: RunnerId) -> io::Result<Vec<Witness>>;

    /// Stops what is left of a lost attempt of a dead supervisor; tells in words
    /// what does not go.
    ///
    /// # Errors
    /// When it cannot be found out whether something is left.
    fn stop_survivors(
        &self,
        witness: &Witness,
        claim: Claim,
        process: Option<Process>,
    ) -> io::Result<Option<String>>;

    /// Tells whether something of an attempt runs of which none of these
    /// journals tells: a process of its own, or a supervisor of its runner that
    /// wrote none of them and may have it.
    ///
    /// # Errors
    /// When that cannot be found out.
    fn is_seen(&self, claim: Claim, journals: &[Witness]) -> io::Result<bool>;

    /// The output of an attempt that a dead supervisor left.
    fn salvage(&self, witness: &Witness, claim: Claim) -> Captured;

    /// Tells whether a process runs this hook, that was begun.
    ///
    /// # Errors
    /// When that cannot be found out.
    fn is_hook_alive(&self, hook: HookId) -> io::Result<bool>;

    /// Stops what is left of a hook whose process was killed; tells in words what
    /// does not go.
    ///
    /// # Errors
    /// When it cannot be found out whether something is left.
    fn stop_hook(&self, hook: &OpenHook) -> io::Result<Option<String>>;

    /// Removes what the process left that ran this hook, and was killed.
    fn clear_hook_away(&self, hook: HookId);

    /// Removes what belongs to a runner that owns nothing any more. What cannot
    /// be removed harms nothing and is found by the doctor.
    fn clear_away(&self, runner: RunnerId, witnesses: &[Witness]);
}

/// A supervisor, and what its journal tells.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The journal.
    pub path: PathBuf,
    /// Whether it lives.
    pub alive: bool,
    /// What is in the journal.
    pub journal: Entries,
}

impl Scene for DataDir {
    /// It lives as long as its lock is held. Where there is no lock (it is not
    /// made yet, or somebody removed it), as long as its process is there.
    fn is_alive(&self, runner: &Runner) -> io::Result<bool> {
        match lock::is_locked(&self.runner_lock(runner.id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(runner_process(runner).exists())
            }
            other => other,
        }
    }

    /// After a restart of the machine, or when files are gone, a journal that
    /// tells nothing proves nothing.
    fn is_complete(&self, runner: &Runner) -> io::Result<bool> {
        let same_boot = process::boot_id()? == runner.boot_id;
        Ok(same_boot && self.runner_lock(runner.id).exists())
    }

    fn witnesses(&self, runner: RunnerId) -> io::Result<Vec<Witness>> {
        let mut all = Vec::new();
        for path in self.journals(runner)? {
            match witness(&path) {
                // A supervisor that is done takes its journal away.
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                other => {
                    let (alive, journal) = other?;
                    all.push(Witness { path, alive, journal });
                }
            }
        }
        Ok(all)
    }

    fn stop_survivors(
        &self,
        witness: &Witness,
        claim: Claim,
        process: Option<Process>,
    ) -> io::Result<Option<String>> {
        let Some(supervisor) = witness.journal.supervisor.clone() else { return Ok(None) };
        // What the runner told its jobs: Scheduler::new.
        let db = self.database();
        let db = Some(db.as_os_str().as_bytes());
        sweep(&Trace::new(supervisor, claim, process, db))
    }

    /// The supervisor is looked for first: it outlives the job, and has
    /// recorded the end when it ends itself.
    fn is_seen(&self, claim: Claim, journals: &[Witness]) -> io::Result<bool> {
        let tells = |journal: &PathBuf| journals.iter().any(|witness| witness.path == *journal);
        let living = living_journals(&self.runner_lock(claim.owner))?;
        Ok(!living.iter().all(tells) || is_seen(claim, self.database().as_os_str().as_bytes())?)
    }

    /// It is in a file of its own, or in the spool if it was the last that the
    /// supervisor had.
    fn salvage(&self, witness: &Witness, claim: Claim) -> Captured {
        let named = self.output(claim.job, claim.attempt);
        let is_last = witness.journal.entries.last().is_some_and(|entry| entry.claim == claim);
        if named.exists() || (is_last && !witness.alive) {
            spool::salvage(&self.spool(&witness.path), &named)
        } else {
            Captured::default()
        }
    }

    /// It held its lock before it began.
    fn is_hook_alive(&self, hook: HookId) -> io::Result<bool> {
        match lock::is_locked(&self.hook_lock(hook)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            other => other,
        }
    }

    fn stop_hook(&self, hook: &OpenHook) -> io::Result<Option<String>> {
        sweep(&Trace::of_hook(hook, self.database().as_os_str().as_bytes())?)
    }

    /// One that came late holds its lock as long as it looks.
    fn clear_hook_away(&self, hook: HookId) {
        let path = self.hook_lock(hook);
        if lock::is_locked(&path).is_ok_and(|is_locked| !is_locked) {
            let _ = fs::remove_file(self.spool(&path));
            let _ = fs::remove_file(path);
        }
    }

    fn clear_away(&self, runner: RunnerId, witnesses: &[Witness]) {
        for witness in witnesses {
            let _ = fs::remove_file(self.spool(&witness.path));
            let _ = fs::remove_file(&witness.path);
        }
        let _ = fs::remove_file(self.wake().join(runner.to_string()));
        let _ = fs::remove_file(self.runner_lock(runner));
    }
}

/// Stops what a trace leads to; tells in words what does not go.
fn sweep(trace: &Trace) -> io::Result<Option<String>> {
    let left = sweep_survivors(trace)?;
    Ok((!left.is_empty()).then(|| undying(&left)))
}

/// Tells whether the process of a runner was suspended.
pub fn is_suspended(runner: &Runner) -> bool {
    runner_process(runner).is_suspended()
}

fn runner_process(runner: &Runner) -> Identity {
    let Runner { pid, start_time, ref boot_id, .. } = *runner;
    Identity { pid, start_time, boot_id: boot_id.clone() }
}

/// Alive is asked first: what a dead one has written is complete.
fn witness(path: &Path) -> io::Result<(bool, Entries)> {
    Ok((lock::is_locked(path)?, journal::Journal::read(path)?))
}
