//! The real program, called as people call it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::place::{Place, readable};
use crate::failure::{Failure, reason};

/// How long a job may take to start that starts in a moment on every machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long the longest drain may take.
const FOR_EVER: Duration = Duration::from_hours(24 * 365);

/// How long a runner that is told to stop may take.
const GRACE: Duration = Duration::from_secs(10);

/// A database, and whoever types commands for it.
pub(super) struct Desk<'a> {
    place: &'a Place,
    db: PathBuf,
}

impl<'a> Desk<'a> {
    /// A new database of this name.
    pub(super) fn new(place: &'a Place, name: &str) -> Self {
        Self { place, db: place.file(&format!("{name}.db")) }
    }

    pub(super) fn db(&self) -> &Path {
        &self.db
    }

    /// Starts `ax` with these words, in the directory of the place. Settings
    /// of this user change nothing.
    pub(super) fn start(&self, words: &[&str]) -> Result<Running<'a>, Failure> {
        let mut command = Command::new("/proc/self/exe");
        command.arg0("ax").arg("--db").arg(&self.db).args(words);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("AX_") {
                command.env_remove(name);
            }
        }
        command.current_dir(self.place.path()).env("PWD", self.place.path());
        command.env("AX_CONFIG", "/dev/null");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Running::start(&mut command, words, self.place)
            .map_err(|error| Failure::failed(format!("ax cannot be started: {}", reason(&error))))
    }

    /// Runs `ax` to its end; tells how long it took.
    pub(super) fn time(&self, words: &[&str]) -> Result<Duration, Failure> {
        let begin = Instant::now();
        self.start(words)?.end()?;
        Ok(begin.elapsed())
    }
}

/// A command that runs. It is stopped when it is dropped.
pub(super) struct Running<'a> {
    child: Child,
    ending: OwnedFd,
    words: String,
    place: &'a Place,
}

impl<'a> Running<'a> {
    fn start(command: &mut Command, words: &[&str], place: &'a Place) -> io::Result<Self> {
        let child = command.spawn()?;
        let ending = pidfd_open(pid(&child), PidfdFlags::empty())?;
        Ok(Self { child, ending, words: words.join(" "), place })
    }

    /// Waits until it has ended well.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        self.place.wait_for(self.ending.as_fd(), FOR_EVER)?;
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Failure::failed(format!("`ax {}` ended with {status}", self.words))),
            Err(error) => Err(Failure::failed(format!("cannot wait: {}", reason(&error)))),
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        let _ = kill_process(pid(&self.child), Signal::TERM);
        if !readable([self.ending.as_fd()], GRACE).is_ok_and(|[ended]| ended) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// A pipe with a name into which jobs write `1` and a newline when they start.
pub(super) struct Beat<'a> {
    place: &'a Place,
    pipe: File,
}

/// What a job runs that tells of its start.
pub(super) const BEAT: &str = "echo 1 >beat";

impl<'a> Beat<'a> {
    pub(super) fn new(place: &'a Place) -> Result<Self, Failure> {
        let path = place.file("beat");
        let failed = |error: io::Error| {
            Failure::failed(format!("cannot make {}: {}", path.display(), reason(&error)))
        };
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR)
            .map_err(|errno| failed(errno.into()))?;
        // Also open for writing: so nobody waits for a reader, or finds an end.
        let pipe = File::options().read(true).write(true).open(&path).map_err(failed)?;
        Ok(Self { place, pipe })
    }

    /// Waits for the next start; tells when it was heard.
    pub(super) fn next(&mut self) -> Result<Instant, Failure> {
        let heard = self.place.wait_for(self.pipe.as_fd(), PATIENCE)?;
        let at = heard.ok_or_else(|| Failure::failed("no job was started for a minute"))?;
        let mut line = [0; 2];
        self.pipe.read_exact(&mut line).map_err(|error| {
            Failure::failed(format!("cannot read what jobs say: {}", reason(&error)))
        })?;
        Ok(at)
    }

    /// The same text for a job that somebody else starts, who is in any directory.
    pub(super) fn bare(&self) -> String {
        format!("cd '{}' && {BEAT}", self.place.path().display().to_string().replace('\'', r"'\''"))
    }
}
