//! Running hooks: the process that runs one, and the runner's hold on it.
//!
//! A hook has a process of its own, `ax __hook`, which begins it, stops it when
//! its time is up and records how it ended. So it takes no worker, it cannot
//! hang a runner, and a runner that dies harms none. That process lives as long
//! as anything that the hook has started; whatever is left when the time is up
//! is stopped.

use std::ffi::{CString, OsString};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::spawn::{PosixSpawnFileActions, posix_spawn};
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::setsid;
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, pidfd_send_signal, wait, waitpid};

use super::hand::outcome;
use super::hosted::{attributes, c_strings};
use super::ladder::Ladder;
use super::output::LEAST_LIMIT;
use super::spawn::{Refusal, Spawner, own_environment, reason};
use super::spool::Spool;
use super::supervisor::close_strays;
use crate::job::hook::HookId;
use crate::job::{Captured, Outcome, RunnerId, Spec};

/// How often the length of the output is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Between two tries to start what could not be started for want of processes.
const REST: Duration = Duration::from_millis(500);

/// Starts the processes that run hooks; a test may put another in its place.
pub trait Launcher: Send {
    /// Starts a process that runs a hook. `ended` is called from another
    /// thread once it has ended, however it did.
    ///
    /// # Errors
    /// When no process can be started now; nothing was begun then.
    fn launch(&self, hook: HookId, ended: Box<dyn FnOnce() + Send>) -> io::Result<Box<dyn Leash>>;
}

/// The runner's hold on a process that runs a hook.
pub trait Leash: Send {
    /// Has it stop the hook, record that, and end.
    fn stop(&self);
}

/// The processes that run the hooks of one runner.
#[derive(Debug)]
pub struct HookProcesses {
    /// The program, and its words before `__hook HOOK RUNNER`.
    words: Vec<OsString>,
    runner: RunnerId,
}

impl HookProcesses {
    /// Those of a runner of the database at `db`; this program runs them.
    pub fn new(db: &Path, runner: RunnerId) -> Self {
        Self { words: vec![SELF.into(), "--db".into(), db.into(), "__hook".into()], runner }
    }
}

const SELF: &str = "/proc/self/exe";

impl Launcher for HookProcesses {
    fn launch(&self, hook: HookId, ended: Box<dyn FnOnce() + Send>) -> io::Result<Box<dyn Leash>> {
        let numbers = [hook.to_string().into(), self.runner.to_string().into()];
        let words = c_strings(&[self.words.as_slice(), &numbers].concat())?;
        let own = own_environment();
        let env: Vec<_> = own.entries().filter_map(|entry| CString::new(entry).ok()).collect();
        let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        let mut files = PosixSpawnFileActions::init()?;
        for number in 0..=2 {
            files.add_dup2(null.as_raw_fd(), number)?;
        }
        let pid = posix_spawn(Path::new(SELF), &files, &attributes()?, &words, &env)?;
        let pid = Pid::from_raw(pid.as_raw()).expect("a process has a number");
        // It was not waited for yet, so the number is its own.
        let leash = pidfd_open(pid, PidfdFlags::empty()).ok();
        let watch = move || {
            while waitpid(Some(pid), WaitOptions::empty())
                .is_err_and(|errno| errno == rustix::io::Errno::INTR)
            {}
            ended();
        };
        thread::Builder::new().name(format!("hook-{hook}")).spawn(watch)?;
        Ok(Box::new(Held(leash)))
    }
}

/// `None` where the kernel gave no handle: that process ends by its time alone.
struct Held(Option<OwnedFd>);

impl Leash for Held {
    fn stop(&self) {
        if let Some(process) = &self.0 {
            // One that has ended needs no signal.
            let _ = pidfd_send_signal(process, rustix::process::Signal::TERM);
        }
    }
}

/// The process that runs one hook, out of reach of terminals and of every
/// signal but KILL, and TERM by which its runner stops it.
pub struct Stage {
    signals: SignalFd,
    spawner: Spawner,
}

impl Stage {
    /// Makes this process one.
    ///
    /// Must be called before the process opens anything: every descriptor
    /// above 2 is closed.
    ///
    /// # Errors
    /// When the process cannot do its work.
    pub fn new() -> io::Result<Self> {
        close_strays()?;
        SigSet::all().thread_block()?;
        // Fails only for a process that leads its group: one typed by hand.
        let _ = setsid();
        set_child_subreaper(true)?;
        let mut heard = SigSet::empty();
        heard.add(Signal::SIGCHLD);
        heard.add(Signal::SIGTERM);
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        Ok(Self { signals: SignalFd::with_flags(&heard, flags)?, spawner: Spawner::new()? })
    }

    /// Runs a hook until nothing of it is left, and tells how it ended and what
    /// it printed. `spool` is where its output goes meanwhile.
    pub fn play(&mut self, spec: &Spec, spool: PathBuf) -> (Outcome, Captured) {
        let begun = Instant::now();
        let mut spool = match Spool::new(spool, LEAST_LIMIT) {
            Ok(spool) => spool,
            Err(error) => return (Outcome::NotStarted(reason(&error)), Captured::default()),
        };
        let outcome = match self.start(spec, &spool, begun) {
            Ok(pid) => self.watch(Act::new(pid, spec, begun), &mut spool),
            Err(outcome) => outcome,
        };
        let output = spool.take();
        spool.remove();
        (outcome, output)
    }

    /// Starts it, and tries again as long as it has time if only processes are short.
    fn start(&mut self, spec: &Spec, spool: &Spool, begun: Instant) -> Result<i32, Outcome> {
        loop {
            match self.spawner.spawn(spec, spool.sink()) {
                Ok(pid) => return Ok(pid),
                Err(Refusal::Never(why)) => return Err(Outcome::Unstartable(why)),
                Err(Refusal::NotNow(why)) => {
                    let has_time = spec.timeout.is_none_or(|limit| begun.elapsed() + REST < limit);
                    if !has_time || self.is_to_stop() {
                        return Err(Outcome::NotStarted(why));
                    }
                    thread::sleep(REST);
                }
            }
        }
    }

    fn watch(&self, mut act: Act, spool: &mut Spool) -> Outcome {
        loop {
            self.wait(act.next());
            if self.is_to_stop() {
                act.stop(Outcome::Interrupted, Instant::now());
            }
            if !act.reap() {
                return act.into_outcome();
            }
            act.tend(Instant::now());
            spool.bound();
        }
    }

    /// Waits for a signal, at most until `next` or the next look.
    fn wait(&self, next: Option<Instant>) {
        let until = next.map_or(LOOK, |at| at.saturating_duration_since(Instant::now()));
        // A wait that is cut down to whole milliseconds would end too early.
        let wait = until.min(LOOK) + Duration::from_micros(999);
        let mut fds = [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX)) {
            Ok(_) | Err(Errno::EINTR) => (),
            Err(_) => thread::sleep(wait),
        }
    }

    /// Takes all signals that came; tells whether one was TERM.
    fn is_to_stop(&self) -> bool {
        let mut stop = false;
        while let Ok(Some(signal)) = self.signals.read_signal() {
            stop |= signal.ssi_signo == Signal::SIGTERM as u32;
        }
        stop
    }
}

/// A hook that runs.
struct Act {
    pid: i32,
    limit: Duration,
    kill_after: Duration,
    time_up_at: Option<Instant>,
    ladder: Option<Ladder>,
    /// How its first process ended.
    end: Option<Outcome>,
}

impl Act {
    fn new(pid: i32, spec: &Spec, begun: Instant) -> Self {
        let limit = spec.timeout.unwrap_or(Duration::MAX);
        let time_up_at = begun.checked_add(limit);
        Self { pid, limit, kill_after: spec.kill_after, time_up_at, ladder: None, end: None }
    }

    fn next(&self) -> Option<Instant> {
        self.ladder.as_ref().map_or(self.time_up_at, |ladder| Some(ladder.next()))
    }

    /// Takes note of every process that ended; tells whether some are left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == self.pid => {
                    if self.ladder.is_none() {
                        self.end = Some(outcome(status));
                    }
                }
                Ok(Some(_)) => (),
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    fn tend(&mut self, now: Instant) {
        if self.time_up_at.is_some_and(|at| at <= now) {
            self.stop(Outcome::TimedOut(self.limit), now);
        }
        if let Some(ladder) = &mut self.ladder {
            ladder.climb(now);
        }
    }

    fn stop(&mut self, outcome: Outcome, now: Instant) {
        if self.ladder.is_none() {
            self.ladder = Some(Ladder::begin(self.pid, outcome, self.kill_after, now));
        }
    }

    /// What it left behind changes nothing about how it ended.
    fn into_outcome(self) -> Outcome {
        let unseen = || Outcome::Lost("its exit status was not seen".to_owned());
        self.end.or(self.ladder.map(Ladder::into_outcome)).unwrap_or_else(unseen)
    }
}
