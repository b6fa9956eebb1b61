//! Everything that is simulated, and the store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use ax_scheduler::job::{Claim, JobId, OnLost, RunnerId, Timestamp};
use ax_scheduler::store::{self, Store};
use fastrand::Rng;
use rusqlite::Connection;
use tempfile::TempDir;

use super::hooks::Processes;
use super::machine::Machine;
use super::runner::Runner;
use super::supervisor::Supervisor;

/// So many handles are opened on the store; processes share them by their place.
const HANDLES: usize = 3;

/// What was asked of a job that was added.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) max_retries: u32,
    pub(crate) on_lost: OnLost,
    /// The numbers of attempts that had been made when a person let it go on.
    pub(crate) words: Vec<u32>,
    /// Whether a person said that it had ended well.
    pub(crate) was_called_success: bool,
    /// The last attempt that may be made, since a person ended it.
    pub(crate) last_attempt: Option<u32>,
}

/// A world that one after the other may touch, also in the middle of what
/// another does.
pub(crate) struct Shared(Mutex<World>);

impl Shared {
    pub(crate) fn new(traces: bool) -> Self {
        Self(Mutex::new(World::new(traces)))
    }

    pub(crate) fn get(&self) -> MutexGuard<'_, World> {
        self.0.try_lock().expect("nobody else has it")
    }
}

/// A machine with a store, and all who live on it.
pub(crate) struct World {
    pub(crate) rng: Rng,
    pub(crate) machine: Machine,
    pub(crate) runners: Vec<Runner>,
    pub(crate) supervisors: Vec<Supervisor>,
    pub(crate) hooks: Processes,
    /// The jobs whose id somebody was told.
    pub(crate) jobs: BTreeMap<JobId, Asked>,
    /// Whether there is trouble.
    pub(crate) is_storm: bool,
    /// The next time something is due, as a runner was told last.
    pub(crate) next_due: Option<Timestamp>,
    /// Whether this history is one whose every step is looked at.
    pub(crate) is_watched: bool,
    pub(crate) shell: Connection,
    stores: Vec<Box<dyn Store>>,
    traces: bool,
    _place: TempDir,
}

impl World {
    fn new(traces: bool) -> Self {
        let place = fast_place();
        let path = place.path().join("ax.db");
        let stores = (0..HANDLES).map(|_| store::open(&path).expect("a store opens")).collect();
        let shell = Connection::open(&path).expect("it opens");
        shell.pragma_update(None, "foreign_keys", false).expect("a setting");
        Self {
            rng: Rng::with_seed(0),
            machine: Machine::new(),
            runners: Vec::new(),
            supervisors: Vec::new(),
            hooks: Processes::default(),
            jobs: BTreeMap::new(),
            is_storm: true,
            next_due: None,
            is_watched: traces,
            shell,
            stores,
            traces,
            _place: place,
        }
    }

    /// Forgets the last history and begins the one of this seed.
    pub(crate) fn begin(&mut self, seed: u64) {
        self.clear();
        self.rng = Rng::with_seed(seed);
        self.machine = Machine::new();
        self.runners.clear();
        self.supervisors.clear();
        self.hooks = Processes::default();
        self.jobs.clear();
        self.is_storm = true;
        self.next_due = None;
        self.is_watched = self.rng.u32(..64) == 0 || self.traces;
        for _ in 0..self.rng.u32(1..3) {
            self.start_runner();
        }
        self.add();
    }

    fn clear(&self) {
        const TABLES: [&str; 9] = [
            "ax_hooks",
            "ax_outputs",
            "ax_attempts",
            "ax_deps",
            "ax_jobs",
            "ax_judge",
            "ax_gates",
            "ax_runners",
            "sqlite_sequence WHERE name IN ('ax_jobs', 'ax_runners', 'ax_hooks')",
        ];
        let tx = self.shell.unchecked_transaction().expect("nobody writes");
        for table in TABLES {
            let delete = self.shell.prepare_cached(&format!("DELETE FROM {table}"));
            delete.and_then(|mut delete| delete.execute([])).expect("it is emptied");
        }
        tx.commit().expect("a clean store");
    }

    /// The store, as the process at this place sees it.
    pub(crate) fn store(&mut self, place: usize) -> &mut dyn Store {
        self.stores[place % HANDLES].as_mut()
    }

    /// Tells whether the store does not answer at this moment.
    pub(crate) fn is_trouble(&mut self) -> bool {
        self.is_storm && self.rng.u32(..20) == 0
    }

    /// The place of a runner.
    pub(crate) fn runner(&self, id: RunnerId) -> Option<usize> {
        self.runners.iter().position(|runner| runner.id == id)
    }

    /// The places of a runner's supervisors that have a journal.
    pub(crate) fn supervisors_of(&self, id: RunnerId) -> Vec<usize> {
        let is_its = |at: &usize| {
            let supervisor = &self.supervisors[*at];
            self.runners[supervisor.runner].id == id && supervisor.journal.exists
        };
        (0..self.supervisors.len()).filter(is_its).collect()
    }

    /// Kills a supervisor; what it has started goes on.
    pub(crate) fn kill_supervisor(&mut self, at: usize) {
        let supervisor = &mut self.supervisors[at];
        supervisor.alive = false;
        if let Some(claim) = supervisor.phase.in_doubt() {
            self.machine.doom(claim);
        }
    }

    /// Kills a runner's supervisors with it.
    pub(crate) fn kill_supervisors_of(&mut self, runner: usize) {
        for at in 0..self.supervisors.len() {
            if self.supervisors[at].runner == runner && self.supervisors[at].alive {
                self.kill_supervisor(at);
            }
        }
    }

    /// Restarts the machine: every process is gone, and of the journals, which
    /// nobody had written to the disk, there is what there is.
    pub(crate) fn restart(&mut self) {
        for at in 0..self.runners.len() {
            self.kill_runner(at);
            self.runners[at].lock_exists &= self.rng.bool();
        }
        self.hooks.kill_all();
        for at in 0..self.supervisors.len() {
            if self.supervisors[at].alive {
                self.kill_supervisor(at);
            }
            let journal = &mut self.supervisors[at].journal;
            match self.rng.u32(..4) {
                0 => journal.exists = false,
                1 => journal.told.entries.clear(),
                2 => drop(journal.told.entries.pop()),
                _ => (),
            }
        }
        self.machine.restart(&claims(&self.shell));
    }

    /// Tells an action, if somebody wants to read it.
    pub(crate) fn tell_trace(&self, what: impl FnOnce() -> String) {
        if self.traces {
            eprintln!("{:>14} {}", self.machine.now, what());
        }
    }
}

/// The claims that have not ended.
fn claims(shell: &Connection) -> Vec<Claim> {
    const OWNED: &str = "SELECT id, attempts, owner FROM ax_jobs WHERE owner IS NOT NULL";
    let mut query = shell.prepare_cached(OWNED).expect("a query");
    let rows = query.query_map([], |row| {
        Ok(Claim { job: JobId(row.get(0)?), attempt: row.get(1)?, owner: RunnerId(row.get(2)?) })
    });
    rows.expect("rows").map(|row| row.expect("a row")).collect()
}

/// A place where writing to the disk costs nothing, if there is one.
fn fast_place() -> TempDir {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let other = |_| tempfile::tempdir();
    tempfile::tempdir_in::<PathBuf>(place).or_else(other).expect("a place for the database")
}
