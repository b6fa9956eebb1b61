//! The runner's side: an executor whose jobs are run by a supervising process.
//!
//! The process is started with the first job and used for the next ones. One
//! that retired or was killed is replaced. What a killed one had started is
//! found and stopped before its attempt is called lost, so that no second
//! attempt runs beside it.

use std::borrow::Cow;
use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::SigSet;
use rustix::process::{Pid, WaitOptions, waitpid};

use super::journal::{Journal, Step};
use super::process::{self, Identity, sweep_survivors};
use super::protocol::{Answer, Inbox, Order, send};
use super::spawn::{own_environment, reason};
use super::spool::salvage;
use super::sweep::Trace;
use super::{Ended, Executor, Report, Stop, Stopper};
use crate::clock::{Clock, SystemClock};
use crate::data_dir::DataDir;
use crate::job::{Captured, Claim, Claimed, Outcome, Process, RunnerId};

const INTR: rustix::io::Errno = rustix::io::Errno::INTR;

/// What all supervisors of one runner have in common.
#[derive(Debug)]
pub struct Site {
    /// The program that supervises.
    pub program: PathBuf,
    /// Its words before `__supervise JOURNAL RUNNER_LOCK KEEP`.
    pub words: Vec<OsString>,
    /// Where journals and output go.
    pub dir: DataDir,
    /// The runner, which holds its lock already.
    pub runner: RunnerId,
    /// How many results may be unsettled at once: more than the runner claims.
    pub keep: usize,
    /// How many supervisors were started.
    pub serials: AtomicU64,
}

impl Site {
    /// The site of a runner of the database at `db`; this program supervises.
    pub fn new(db: &Path, runner: RunnerId, keep: usize) -> Self {
        Self {
            program: "/proc/self/exe".into(),
            words: vec!["--db".into(), db.into()],
            dir: DataDir::of(db),
            runner,
            keep,
            serials: AtomicU64::new(0),
        }
    }
}

/// Runs jobs through a supervising process. One for each worker.
///
/// Dropping it says that everything it reported is settled: the process ends
/// and its journal goes. A runner that ends without that leaves the process to
/// finish and to record what is in doubt.
#[derive(Debug)]
pub struct Supervised {
    site: Arc<Site>,
    line: Arc<Mutex<Line>>,
    hosted: Option<Hosted>,
    /// Journals of former supervisors, with how many attempts ended since.
    past: Vec<(PathBuf, usize)>,
}

/// What a [`Stopper`] shares with its executor: the way to the supervisor.
#[derive(Debug, Default)]
struct Line {
    stream: Option<UnixStream>,
    claim: Option<Claim>,
    /// Whether the job was sent; a stop must not come before it.
    sent: bool,
    /// A stop that came before that.
    early: Option<Stop>,
}

impl Line {
    /// Forgets the job, which has ended.
    const fn hang_up(&mut self) {
        self.claim = None;
        self.sent = false;
        self.early = None;
    }
}

/// A supervisor that lives, as far as is known.
#[derive(Debug)]
struct Hosted {
    identity: Identity,
    stream: UnixStream,
    inbox: Inbox<Answer<'static>>,
    journal: PathBuf,
}

impl Supervised {
    /// An executor without a supervisor; the first job brings one.
    pub fn new(site: Arc<Site>) -> Self {
        Self { site, line: Arc::default(), hosted: None, past: Vec::new() }
    }

    /// The process that supervises, if there is one.
    pub fn supervisor(&self) -> Option<&Identity> {
        self.hosted.as_ref().map(|hosted| &hosted.identity)
    }

    fn run(&mut self, claimed: &Claimed, started: &mut dyn FnMut(Process)) -> Ended {
        if let Err(why) = self.send(claimed) {
            return self.bury(claimed, Some(why));
        }
        loop {
            let Some(hosted) = &mut self.hosted else {
                return ended(claimed.claim, Outcome::NotStarted("no supervisor".to_owned()));
            };
            match hosted.inbox.wait(&mut hosted.stream) {
                Ok(Some(Answer::Report { report, retires })) => match report.into_owned() {
                    Report::Started { process, .. } => started(process),
                    Report::Ended(ended) => {
                        if retires {
                            self.let_go();
                        }
                        return ended;
                    }
                },
                Ok(Some(Answer::Unable(why))) => return self.bury(claimed, Some(why)),
                Ok(None) | Err(_) => return self.bury(claimed, None),
            }
        }
    }

    /// Hands the job to the supervisor, which is started if there is none.
    fn send(&mut self, claimed: &Claimed) -> Result<(), String> {
        if self.hosted.is_none() {
            let start = Hosted::start(&self.site).map_err(|error| reason(&error))?;
            let hosted = self.hosted.insert(start);
            let stream = hosted.stream.try_clone().map_err(|error| reason(&error))?;
            lock(&self.line).stream = Some(stream);
        }
        let line = &mut *lock(&self.line);
        let early = line.early.take();
        let Some(stream) = &mut line.stream else { return Err("no supervisor".to_owned()) };
        // One that cannot be written to is dead; reading tells the same.
        let _ = send(stream, &Order::Run(Box::new(Cow::Borrowed(claimed))));
        line.sent = true;
        if let Some(why) = early {
            let _ = send(stream, &Order::Stop { claim: claimed.claim, why });
        }
        Ok(())
    }

    /// Finds out what became of a job whose supervisor is dead, and stops what
    /// is left of it.
    fn bury(&mut self, claimed: &Claimed, why: Option<String>) -> Ended {
        let claim = claimed.claim;
        let not_started =
            |why: &str| ended(claim, Outcome::NotStarted(format!("no supervisor: {why}")));
        let Some(hosted) = &self.hosted else {
            return not_started(why.as_deref().unwrap_or("it could not be started"));
        };
        let known = Journal::read(&hosted.journal).unwrap_or_default();
        let salvaged = || {
            let dir = &self.site.dir;
            salvage(&dir.spool(&hosted.journal), &dir.output(claim.job, claim.attempt))
        };
        let buried = match known.of(claim).map(|entry| entry.step.clone()) {
            None => not_started(why.as_deref().unwrap_or("it was killed")),
            Some(Step::Ended { process, outcome, ended_at, written }) => {
                let output = Captured { written, ..salvaged() };
                Ended { claim, outcome, process, ended_at, output }
            }
            Some(Step::Started(process)) => hosted.lost(claimed, Some(process), salvaged),
            Some(Step::Intent) => hosted.lost(claimed, None, salvaged),
        };
        self.let_go();
        buried
    }

    /// Parts from a supervisor that ended. Its journal stays as long as a
    /// result in it may be unsettled.
    fn let_go(&mut self) {
        lock(&self.line).stream = None;
        if let Some(hosted) = self.hosted.take() {
            self.past.push((hosted.journal.clone(), 0));
            hosted.reap();
        }
    }

    /// Removes the journals of former supervisors in which all is settled: a
    /// runner has never more than `keep` results in doubt.
    fn clear_past(&mut self) {
        for (_, ended_since) in &mut self.past {
            *ended_since += 1;
        }
        let keep = self.site.keep;
        self.past.retain(|(journal, ended_since)| {
            let in_doubt = *ended_since <= keep;
            if !in_doubt {
                let _ = fs::remove_file(journal);
            }
            in_doubt
        });
    }
}

impl Executor for Supervised {
    fn execute(&mut self, claimed: &Claimed, started: &mut dyn FnMut(Process)) -> Ended {
        lock(&self.line).claim = Some(claimed.claim);
        let ended = self.run(claimed, started);
        lock(&self.line).hang_up();
        self.clear_past();
        ended
    }

    fn stopper(&self) -> Box<dyn Stopper> {
        Box::new(SupervisedStopper(Arc::clone(&self.line)))
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if lock(&self.line).claim.is_some() {
            return;
        }
        if let Some(stream) = &mut lock(&self.line).stream {
            let _ = send(stream, &Order::Done);
        }
        lock(&self.line).stream = None;
        if let Some(hosted) = self.hosted.take() {
            hosted.reap();
        }
        for (journal, _) in &self.past {
            let _ = fs::remove_file(journal);
        }
    }
}

struct SupervisedStopper(Arc<Mutex<Line>>);

impl Stopper for SupervisedStopper {
    fn stop(&self, claim: Claim, why: Stop) {
        let mut line = lock(&self.0);
        if line.claim != Some(claim) {
            return;
        }
        if !line.sent {
            line.early = Some(why);
        } else if let Some(stream) = &mut line.stream {
            // A supervisor that cannot be written to is dead, and its job is
            // stopped for that.
            let _ = send(stream, &Order::Stop { claim, why });
        }
    }
}

fn lock(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    // A line is whole at every moment, also when a thread that had it panicked.
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ended(claim: Claim, outcome: Outcome) -> Ended {
    let ended_at = SystemClock.now();
    Ended { claim, outcome, process: None, ended_at, output: Captured::default() }
}

impl Hosted {
    fn start(site: &Site) -> io::Result<Self> {
        let serial = site.serials.fetch_add(1, Ordering::Relaxed);
        let journal = site.dir.journal(site.runner, serial);
        let (stream, theirs) = UnixStream::pair()?;
        let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        let mut files = PosixSpawnFileActions::init()?;
        files.add_dup2(theirs.as_raw_fd(), 0)?;
        files.add_dup2(null.as_raw_fd(), 1)?;
        files.add_dup2(null.as_raw_fd(), 2)?;
        let words = c_strings(&site.command_line(&journal))?;
        let boot_id = process::boot_id()?;
        let own = own_environment();
        let env: Vec<_> = own.entries().filter_map(|entry| CString::new(entry).ok()).collect();
        let pid =
            posix_spawn(site.program.as_path(), &files, &attributes()?, &words, &env)?.as_raw();
        let start_time = process::start_time(pid).unwrap_or(0);
        let identity = Identity { pid, start_time, boot_id };
        Ok(Self { identity, stream, inbox: Inbox::new(), journal })
    }

    /// Stops what is left of a job before it is called lost.
    fn lost(
        &self,
        claimed: &Claimed,
        process: Option<Process>,
        salvaged: impl FnOnce() -> Captured,
    ) -> Ended {
        let db = claimed.spec.extra_env.get("AX_DB");
        // The supervisor is waited for afterwards, so that its number, and
        // with it the session, can be nobody else's yet.
        let trace = Trace::new(self.identity.clone(), claimed.claim, process, db);
        let mut why = "its supervisor was killed".to_owned();
        if let Err(error) = sweep_survivors(&trace) {
            why = format!("{why}, and what it left was not found: {error}");
        }
        Ended { process, output: salvaged(), ..ended(claimed.claim, Outcome::Lost(why)) }
    }

    /// Waits for the end of a process that has nothing more to do.
    fn reap(self) {
        drop(self.stream);
        if let Some(pid) = Pid::from_raw(self.identity.pid) {
            while waitpid(Some(pid), WaitOptions::empty()).is_err_and(|errno| errno == INTR) {}
        }
    }
}

impl Site {
    fn command_line(&self, journal: &Path) -> Vec<OsString> {
        let lock = self.dir.runner_lock(self.runner);
        let keep = self.keep.to_string();
        let last: [&OsStr; 4] =
            ["__supervise".as_ref(), journal.as_ref(), lock.as_ref(), keep.as_ref()];
        let program = self.program.clone().into_os_string();
        let first = std::iter::once(program).chain(self.words.iter().cloned());
        first.chain(last.map(OsStr::to_owned)).collect()
    }
}

fn c_strings(words: &[OsString]) -> io::Result<Vec<CString>> {
    let c_string = |word: &OsString| CString::new(word.clone().into_vec());
    words.iter().map(c_string).collect::<Result<_, _>>().map_err(io::Error::other)
}

/// The way supervisors start: whatever this process ignores or blocks, they
/// ignore nothing, and every signal is blocked from the first moment. Ctrl-C
/// in the terminal of the runner doesn't end one that is not yet out of reach.
fn attributes() -> Result<PosixSpawnAttr, Errno> {
    let mut attributes = PosixSpawnAttr::init()?;
    let flags = PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK;
    attributes.set_flags(flags)?;
    attributes.set_sigdefault(&SigSet::all())?;
    attributes.set_sigmask(&SigSet::all())?;
    Ok(attributes)
}
