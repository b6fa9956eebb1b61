//! A desk: a directory with a database, and somebody who types `ax`.
//!
//! Whatever was started at a desk is gone when the desk is dropped, also after
//! a failure: its processes are known by the `AX_DB` in their environment.

pub(crate) mod clock;
pub(crate) mod disk;
pub(crate) mod ledger;
pub(crate) mod process;
pub(crate) mod runner;
pub(crate) mod sample;
pub(crate) mod terminal;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigHandler, Signal, signal};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) use disk::Disk;
pub(crate) use ledger::Ledger;
pub(crate) use runner::Runner;

/// How long something may take that should take a moment.
const PATIENCE: Duration = Duration::from_secs(30);

/// Between two looks at something that is waited for.
const LOOK: Duration = Duration::from_millis(5);

/// Waits until something is so; fails in the end with what `state` tells.
#[track_caller]
pub(crate) fn wait_until(
    what: &str,
    state: impl FnOnce() -> String,
    mut is_so: impl FnMut() -> bool,
) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain until {what}\n{}", state());
        thread::sleep(LOOK);
    }
}

/// A directory with a database, and somebody who types.
pub(crate) struct Desk {
    dir: TempDir,
    db: PathBuf,
}

/// Lets whoever is started be interrupted, also where the tests run in the
/// background of a script, which has such signals ignored.
fn heed_signals() {
    for heeded in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGHUP] {
        // SAFETY: the default action runs no code.
        unsafe { signal(heeded, SigHandler::SigDfl) }.expect("its action can be set");
    }
}

impl Desk {
    pub(crate) fn new() -> Self {
        static HEED_SIGNALS: Once = Once::new();
        HEED_SIGNALS.call_once(heed_signals);
        let dir = tempfile::tempdir().expect("a temporary directory can be made");
        let db = dir.path().canonicalize().expect("it is there").join("ax.db");
        Self { dir, db }
    }

    /// The same with the database in a directory inside.
    pub(crate) fn with_db_in(name: &str) -> Self {
        let mut desk = Self::new();
        desk.db = desk.db.with_file_name(name).join("ax.db");
        fs::create_dir_all(desk.file(name)).expect("a directory can be made");
        desk
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn db(&self) -> &Path {
        &self.db
    }

    /// A command of words, in the desk's directory, with the desk's database.
    /// Colours are asked for by every habit there is; a pipe gets none.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_ax"));
        command.args(words);
        command
    }

    /// Another program, in the same surroundings.
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("AX_") {
                command.env_remove(name);
            }
        }
        command.current_dir(self.path()).env("PWD", self.path()).env("AX_DB", &self.db);
        command.env("XDG_CONFIG_HOME", self.path().join("config"));
        command.env("CLICOLOR_FORCE", "1").env("FORCE_COLOR", "1").stdin(Stdio::null());
        command
    }

    /// Types a command and waits for its answer.
    pub(crate) fn ax(&self, words: &[&str]) -> Said {
        said(&mut self.command(words))
    }

    /// Types a command that goes well, and gives what it printed.
    #[track_caller]
    pub(crate) fn ok(&self, words: &[&str]) -> String {
        let said = self.ax(words);
        assert_eq!(said.exit, 0, "{words:?}: {}", said.err);
        said.text().to_owned()
    }

    /// Adds a job of a shell text, with options before it.
    #[track_caller]
    pub(crate) fn add(&self, options: &[&str], text: &str) -> i64 {
        let id = self.ok(&[&["add"], options, &[text]].concat());
        id.trim().parse().expect("the bare id is printed")
    }

    /// Types a command and text into it.
    pub(crate) fn typing(&self, words: &[&str], text: &str) -> Said {
        let mut command = self.command(words);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().expect("ax can be started");
        let mut stdin = child.stdin.take().expect("it was piped");
        stdin.write_all(text.as_bytes()).expect("ax reads all of it");
        drop(stdin);
        ended(child)
    }

    /// Starts `ax run` with options; it is killed when it is dropped.
    pub(crate) fn run(&self, options: &[&str]) -> Runner {
        Runner::start(self, &mut self.command(&[&["run"], options].concat()))
    }

    pub(crate) fn jobs(&self) -> Vec<Value> {
        serde_json::from_str(&self.ok(&["list", "all", "--json"])).expect("an array of jobs")
    }

    /// A job with its attempts, as scripts see it; null if there is none.
    pub(crate) fn job(&self, id: i64) -> Value {
        let said = self.ax(&["show", &id.to_string(), "--json"]);
        if said.exit == 0 { said.json() } else { Value::Null }
    }

    pub(crate) fn states(&self) -> Vec<String> {
        let state = |job: &Value| job["status"].as_str().expect("a text").to_owned();
        self.jobs().iter().map(state).collect()
    }

    /// Waits until something is so; fails with all there is to know.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, is_so: impl FnMut() -> bool) {
        wait_until(what, || self.story(), is_so);
    }

    /// Waits until the jobs, in the order of their ids, are in these states.
    #[track_caller]
    pub(crate) fn wait_for_states(&self, states: &[&str]) {
        self.wait_until(&format!("the jobs are {states:?}"), || self.states() == states);
    }

    /// Waits until a job has written its process id to a file.
    #[track_caller]
    pub(crate) fn pid_in(&self, name: &str) -> i32 {
        process::pid_in(&self.file(name))
    }

    /// Opens what [`gate`] waits for.
    pub(crate) fn open(&self, name: &str) {
        fs::write(self.file(name), "").expect("a file can be made");
    }

    pub(crate) fn ledger(&self) -> Ledger {
        Ledger::read(&self.file("ledger"))
    }

    /// Holds the write lock until it is dropped.
    pub(crate) fn lock(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(&self.db).expect("the database can be opened");
        connection.busy_timeout(PATIENCE).expect("a time");
        connection.execute_batch("BEGIN IMMEDIATE").expect("the lock is free in the end");
        connection
    }

    /// What lies in the directory beside the database.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let root = self.db.with_extension("db.d");
        let list = |name| fs::read_dir(root.join(name)).expect("the directory is there");
        let all = ["out", "locks", "wake"].into_iter().flat_map(list);
        all.map(|entry| entry.expect("listed").path()).collect()
    }

    /// All there is to know, for whoever reads a failure.
    fn story(&self) -> String {
        let jobs = self.ax(&["list", "all", "--columns", "id,status,name,attempts,last_error"]);
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let mut told = format!("{}{}", String::from_utf8_lossy(&jobs.out), jobs.err);
        let entries = fs::read_dir(self.path()).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name == "ledger" || name.starts_with("runner-") {
                told.extend(["--- ", &name, "\n", &read(&path)]);
            }
        }
        told
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        process::kill_all_of(&self.db);
    }
}

/// What a command answered.
pub(crate) struct Said {
    pub(crate) exit: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).expect("what people read is UTF-8")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.out).expect("one JSON document")
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let exit = output.status.code().expect("no signal ended it");
        let err = String::from_utf8(output.stderr).expect("messages are UTF-8");
        Self { exit, out: output.stdout, err }
    }
}

/// Runs a command to its end.
pub(crate) fn said(command: &mut Command) -> Said {
    command.output().expect("it can be started").into()
}

/// Waits for the end of a command that was started with pipes.
pub(crate) fn ended(child: Child) -> Said {
    child.wait_with_output().expect("it ends").into()
}

/// Shell text that goes on once there is a file of this name.
pub(crate) fn gate(name: &str) -> String {
    format!("until [ -e {name} ]; do sleep 0.02; done")
}
