//! A supervising process, seen from the runner that started it.

use std::ffi::{CString, OsStr, OsString};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::SigSet;
use rustix::process::{Pid, WaitOptions, waitpid};

use super::Sign;
use super::output;
use super::process::{self, Identity, sweep_survivors};
use super::protocol::{Answer, Inbox};
use super::spawn::own_environment;
use super::sweep::Trace;
use crate::crash;
use crate::data_dir::DataDir;
use crate::job::{Claimed, EnvBlock, Outcome, Process, RunnerId};

const INTR: rustix::io::Errno = rustix::io::Errno::INTR;

/// The subcommand that supervises.
const SUPERVISE: &str = "__supervise";

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
    /// How much of an output is kept, if somebody says so: [`output::LIMIT_VARIABLE`].
    pub output_limit: Option<String>,
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
            output_limit: None,
            serials: AtomicU64::new(0),
        }
    }
}

/// A supervisor that lives, as far as is known.
#[derive(Debug)]
pub(super) struct Hosted {
    pub(super) identity: Identity,
    pub(super) stream: UnixStream,
    pub(super) inbox: Inbox<Answer<'static>>,
    pub(super) journal: PathBuf,
}

impl Hosted {
    /// A supervisor that is spoken to over this stream.
    #[cfg(test)]
    pub(super) fn of(identity: Identity, stream: UnixStream) -> Self {
        Self { identity, stream, inbox: Inbox::new(), journal: PathBuf::new() }
    }

    /// Starts one that will write the next journal of the site.
    pub(super) fn start(site: &Site) -> io::Result<Self> {
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
        let own = own_environment().overlaid(&site.limits());
        let env: Vec<_> = own.entries().filter_map(|entry| CString::new(entry).ok()).collect();
        crash::point("supervisor", "before-spawn");
        let pid =
            posix_spawn(site.program.as_path(), &files, &attributes()?, &words, &env)?.as_raw();
        crash::point("supervisor", "after-spawn");
        let start_time = process::start_time(pid).unwrap_or(0);
        let identity = Identity { pid, start_time, boot_id };
        Ok(Self { identity, stream, inbox: Inbox::new(), journal })
    }

    /// Stops what is left of a job, which is lost.
    pub(super) fn lose(
        &self,
        claimed: &Claimed,
        process: Option<Process>,
        tell: &mut dyn FnMut(Sign),
    ) -> Outcome {
        let db = claimed.spec.extra_env.get("AX_DB");
        // The supervisor is waited for afterwards, so that its number, and
        // with it the session, can be nobody else's yet.
        let trace = Trace::new(self.identity.clone(), claimed.claim, process, db);
        let killed = "its supervisor was killed";
        Outcome::Lost(match sweep(&trace, tell) {
            Ok(()) => killed.to_owned(),
            Err(error) => format!("{killed}, and what it left was not found: {error}"),
        })
    }

    /// The same after the runner has hung up.
    pub(super) fn parted(self) -> Parted {
        Parted { pid: Pid::from_raw(self.identity.pid), journal: self.journal }
    }

    /// Waits for the end of a process that has nothing more to do.
    pub(super) fn reap(self) {
        drop(self.stream);
        if let Some(pid) = Pid::from_raw(self.identity.pid) {
            while waitpid(Some(pid), WaitOptions::empty()).is_err_and(|errno| errno == INTR) {}
        }
    }
}

/// Kills what is left of an attempt until nothing is, however long it takes,
/// and tells of what does not go.
fn sweep(trace: &Trace, tell: &mut dyn FnMut(Sign)) -> io::Result<()> {
    const PAUSE: Duration = Duration::from_millis(500);
    let mut is_told = false;
    loop {
        let left = sweep_survivors(trace)?;
        if left.is_empty() {
            return Ok(());
        }
        if !is_told {
            tell(Sign::Stuck(process::undying(&left)));
            is_told = true;
        }
        thread::sleep(PAUSE);
    }
}

/// A supervisor that the runner has hung up on.
#[derive(Debug)]
pub(super) struct Parted {
    pid: Option<Pid>,
    pub(super) journal: PathBuf,
}

impl Parted {
    /// Tells whether the process has ended.
    pub(super) fn is_gone(&self) -> bool {
        !matches!(waitpid(self.pid, WaitOptions::NOHANG), Ok(None) | Err(INTR))
    }
}

impl Site {
    fn limits(&self) -> EnvBlock {
        let limit = self.output_limit.as_ref();
        let entry = limit.map(|limit| format!("{}={limit}", output::LIMIT_VARIABLE));
        EnvBlock::from_entries(entry.as_deref().map(str::as_bytes))
    }

    fn command_line(&self, journal: &Path) -> Vec<OsString> {
        let lock = self.dir.runner_lock(self.runner);
        let keep = self.keep.to_string();
        let last: [&OsStr; 4] =
            [SUPERVISE.as_ref(), journal.as_ref(), lock.as_ref(), keep.as_ref()];
        let program = self.program.clone().into_os_string();
        let first = std::iter::once(program).chain(self.words.iter().cloned());
        first.chain(last.map(OsStr::to_owned)).collect()
    }
}

/// The journals of those supervisors of a runner that live, whether or not the
/// journals are there: read from their [command lines](Site::command_line).
///
/// # Errors
/// When `/proc` cannot be read.
pub fn living_journals(runner_lock: &Path) -> io::Result<Vec<PathBuf>> {
    let lines = process::all()?.into_iter().filter_map(|stat| process::words(stat.pid));
    Ok(lines.filter_map(|words| journal_of(&words, runner_lock)).collect())
}

/// The journal in the command line of a supervisor of this runner.
fn journal_of(words: &[OsString], runner_lock: &Path) -> Option<PathBuf> {
    match words {
        [.., subcommand, journal, lock, _] if subcommand == SUPERVISE && lock == runner_lock => {
            Some(journal.into())
        }
        _ => None,
    }
}

pub(super) fn c_strings(words: &[OsString]) -> io::Result<Vec<CString>> {
    let c_string = |word: &OsString| CString::new(word.clone().into_vec());
    words.iter().map(c_string).collect::<Result<_, _>>().map_err(io::Error::other)
}

/// The way supervisors start: whatever this process ignores or blocks, they
/// ignore nothing, and every signal is blocked from the first moment. Ctrl-C
/// in the terminal of the runner doesn't end one that is not yet out of reach.
pub(super) fn attributes() -> Result<PosixSpawnAttr, Errno> {
    let mut attributes = PosixSpawnAttr::init()?;
    let flags = PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK;
    attributes.set_flags(flags)?;
    attributes.set_sigdefault(&SigSet::all())?;
    attributes.set_sigmask(&SigSet::all())?;
    Ok(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_of_a_supervisor_names_its_journal_to_whoever_knows_its_runner() {
        let site = Site::new(Path::new("/data/ax.db"), RunnerId(3), 8);
        let journal = site.dir.journal(RunnerId(3), 1);
        let words = site.command_line(&journal);
        let lock = |runner| site.dir.runner_lock(RunnerId(runner));
        assert_eq!(journal_of(&words, &lock(3)), Some(journal));
        assert_eq!(journal_of(&words, &lock(4)), None);
        assert_eq!(journal_of(&words[..words.len() - 1], &lock(3)), None);
    }
}
