//! A runner that was started at a desk.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::process::{children, is_alive, kill, time_at_work};
use super::{Desk, wait_until};

/// A process that serves, and is killed when it is dropped.
pub(crate) struct Runner {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Runner {
    /// Starts a command whose words go to files.
    pub(crate) fn start(desk: &Desk, command: &mut Command) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let out = desk.file(&format!("runner-{number}.out"));
        let err = desk.file(&format!("runner-{number}.err"));
        let file = |path| File::create(path).expect("a file can be made");
        let child = command.stdout(file(&out)).stderr(file(&err)).spawn();
        Self { child: child.expect("it can be started"), out, err }
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a process id fits")
    }

    /// Its supervisors.
    pub(crate) fn supervisors(&self) -> Vec<i32> {
        children(self.pid())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal);
    }

    /// Kills it; its supervisors go on.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// Kills it and its supervisors before they can record anything. What
    /// their jobs have started goes on.
    pub(crate) fn kill_with_supervisors(self) {
        let supervisors = self.supervisors();
        for pid in &supervisors {
            kill(*pid, Signal::SIGSTOP);
        }
        self.kill();
        for pid in supervisors {
            kill(pid, Signal::SIGKILL);
            wait_until("a supervisor is gone", String::new, || !is_alive(pid));
        }
    }

    /// Waits until it ends; gives its exit code.
    #[track_caller]
    pub(crate) fn exit(&mut self) -> i32 {
        let status = self.status();
        let code = status.code();
        code.unwrap_or_else(|| panic!("a signal ended the runner: {status:?}\n{}", self.err()))
    }

    /// Waits until it ends, by itself or by a signal.
    #[track_caller]
    pub(crate) fn status(&mut self) -> ExitStatus {
        let mut status: Option<ExitStatus> = None;
        let (out, err) = (self.out.clone(), self.err.clone());
        let story = || format!("{}{}", read(&out), read(&err));
        wait_until("the runner ends", story, || {
            status = self.child.try_wait().expect("it can be asked");
            status.is_some()
        });
        status.expect("it was waited for")
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("it can be asked").is_none()
    }

    /// Makes sure that it sleeps: that it does next to nothing for half a second.
    #[track_caller]
    pub(crate) fn assert_asleep(&self) {
        const SPAN: Duration = Duration::from_millis(500);
        let before = time_at_work(self.pid());
        thread::sleep(SPAN);
        let worked = time_at_work(self.pid()).saturating_sub(before);
        assert!(worked < SPAN / 5, "it was at work for {worked:?} of {SPAN:?}");
    }

    /// Tells whether it waits for somebody to write to a file: inotify(7).
    pub(crate) fn watches_a_file(&self) -> bool {
        let files = fs::read_dir(format!("/proc/{}/fdinfo", self.pid())).expect("it lives");
        let watches = |file: fs::DirEntry| {
            fs::read_to_string(file.path()).is_ok_and(|told| told.contains("inotify wd:"))
        };
        files.flatten().any(watches)
    }

    pub(crate) fn out(&self) -> String {
        read(&self.out)
    }

    pub(crate) fn err(&self) -> String {
        read(&self.err)
    }

    /// The events of `--json`.
    pub(crate) fn events(&self) -> Vec<Value> {
        let event = |line: &str| serde_json::from_str(line).expect("one object a line");
        self.out().lines().map(event).collect()
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(path: &PathBuf) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.end();
    }
}
