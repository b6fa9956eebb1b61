//! The supervising process: it starts the jobs of one worker, watches them,
//! stops them, and outlives its runner.
//!
//! | it has | and then | it does |
//! |---|---|---|
//! | no job | is told to run one | writes the intent, makes sure its runner lives, starts it |
//! | no job | is told that all is settled | ends and leaves nothing |
//! | a job | the job ends, all of it | reports the end, waits for the next |
//! | a job | the job ends and leaves processes behind | reports the end and retires |
//! | a job | its time is up, or it is to be stopped | climbs the stop ladder, then reports the end |
//! | anything | its runner is gone | starts nothing more, sees the job to its end or stops it if a person wants that, records all that its runner may not have stored, ends |
//!
//! One thread does all of it; only recording, which may have to wait for the
//! database, has another, so that timeouts hold meanwhile. Every signal is
//! blocked: nothing but KILL ends a supervisor before its time.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{close, setsid};
use rustix::process::{WaitOptions, wait};

use super::hand::Hand;
use super::journal::{Journal, Step};
use super::lock::Fence;
use super::output;
use super::process::{self, Identity};
use super::protocol::{Answer, Inbox, Order, send};
use super::reports::{Due, Reports};
use super::spawn::{Refusal, Spawner, reason};
use super::spool::Spool;
use super::{Ended, Report, Stop};
use crate::clock::{Clock, SystemClock};
use crate::crash;
use crate::data_dir::DataDir;
use crate::job::{Captured, Claim, Claimed, EnvBlock, Outcome, Process};

const ORPHANED: &str = "its runner ended";

/// Where a supervisor belongs.
#[derive(Clone, Debug)]
pub struct Post {
    /// Where output goes.
    pub dir: DataDir,
    /// The journal to write and to hold locked.
    pub journal: PathBuf,
    /// The lock of the runner.
    pub runner_lock: PathBuf,
    /// How many results may be unsettled at once.
    pub keep: usize,
}

/// Between two looks of a supervisor without a runner at whether its job is to
/// be stopped.
const LOOK: Duration = Duration::from_secs(1);

/// Who stands in for a runner that is gone.
pub trait Heir: Send {
    /// Stores a report, however long that takes. It may have been stored already.
    fn record(&mut self, claimed: &Claimed, report: &Report);

    /// Tells whether a person wants this attempt ended, as far as that is known.
    fn is_cancelled(&mut self, claim: Claim) -> bool;
}

/// Supervises jobs until the runner at the other end of standard input is done
/// or gone. What a runner that is gone may not have stored goes to `heir`.
///
/// Must be called before the process opens anything: every descriptor above 2
/// is closed, since what the runner itself inherited is no business of jobs.
///
/// # Errors
/// When the process cannot do its work; it has started no job then.
pub fn serve(post: &Post, heir: &mut dyn Heir) -> io::Result<()> {
    close_strays()?;
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    match Supervisor::new(post, &socket) {
        Ok(supervisor) => supervisor.live(heir),
        Err(error) => {
            let _ = send(&mut socket, &Answer::Unable(reason(&error)));
            Err(error)
        }
    }
}

struct Supervisor<'a> {
    post: &'a Post,
    socket: UnixStream,
    inbox: Inbox<Order<'static>>,
    children: SignalFd,
    journal: Journal,
    fence: Fence,
    spawner: Spawner,
    spool: Spool,
    reports: Reports,
    queue: VecDeque<Claimed>,
    /// What the jobs that come were added with.
    env: Option<Arc<EnvBlock>>,
    hand: Option<Hand>,
    settled: bool,
    /// Whether nobody is at the other end of the socket.
    is_deaf: bool,
    orphaned: bool,
    retired: bool,
}

impl<'a> Supervisor<'a> {
    fn new(post: &'a Post, socket: &UnixStream) -> io::Result<Self> {
        let children = withdraw()?;
        let limit = output::limit(std::env::var(output::LIMIT_VARIABLE).ok().as_deref());
        Ok(Self {
            post,
            socket: socket.try_clone()?,
            inbox: Inbox::new(),
            children,
            journal: Journal::create(&post.journal, &Identity::own()?, post.keep)
                .map_err(|error| in_file(&post.journal, &error))?,
            fence: Fence::open(&post.runner_lock),
            spawner: Spawner::new()?,
            spool: Spool::new(post.dir.spool(&post.journal), limit)?,
            reports: Reports::new(socket.try_clone()?, post.keep),
            queue: VecDeque::new(),
            env: None,
            hand: None,
            settled: false,
            is_deaf: false,
            orphaned: false,
            retired: false,
        })
    }

    fn live(mut self, heir: &mut dyn Heir) -> io::Result<()> {
        while !self.is_orphaned() && !self.is_over() {
            self.turn()?;
        }
        let orphaned = self.is_orphaned();
        if orphaned {
            self.live_as_orphan(heir)?;
        }
        crash::point("leave", "before-spool");
        self.spool.remove();
        crash::point("leave", "before-journal");
        // The ends in the journal of one that retired may not be stored yet.
        if orphaned || self.settled {
            self.journal.remove();
        }
        Ok(())
    }

    const fn is_over(&self) -> bool {
        self.retired || self.settled && self.hand.is_none()
    }

    const fn is_orphaned(&self) -> bool {
        self.orphaned || self.reports.are_unheard()
    }

    fn live_as_orphan(&mut self, heir: &mut dyn Heir) -> io::Result<()> {
        thread::scope(|scope| {
            let (records, due) = mpsc::channel();
            let in_hand = self.hand.as_ref().map(Hand::claim);
            let line = in_hand.zip(self.listen_to_heir());
            scope.spawn(move || inherit(heir, &due, line));
            crash::point("orphan", "before-redirect");
            self.reports.redirect(records);
            while let Some(claimed) = self.queue.pop_front() {
                self.refuse(claimed, not_started(ORPHANED));
            }
            self.tell_start();
            while self.hand.is_some() {
                self.turn()?;
            }
            self.reports.close();
            Ok(())
        })
    }

    /// Listens to another end than the runner's. Without one, for want of
    /// files, the job goes on and is not to be stopped.
    fn listen_to_heir(&mut self) -> Option<UnixStream> {
        let (ours, theirs) = UnixStream::pair().ok()?;
        (self.socket, self.inbox, self.is_deaf) = (ours, Inbox::new(), false);
        Some(theirs)
    }

    fn turn(&mut self) -> io::Result<()> {
        let woken = self.wait()?;
        if woken.by_child {
            self.reap();
        }
        if woken.by_runner {
            self.hear();
        }
        self.tend(Instant::now());
        let is_free = self.hand.is_none() && !self.retired && !self.is_orphaned();
        if is_free && let Some(claimed) = self.queue.pop_front() {
            self.start(claimed);
        }
        Ok(())
    }

    fn wait(&self) -> io::Result<Woken> {
        let of = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut fds = [of(self.children.as_fd()), of(self.socket.as_fd())];
        let heard = if self.is_deaf { 1 } else { 2 };
        match poll(&mut fds[..heard], self.patience()) {
            Ok(_) | Err(Errno::EINTR) => (),
            Err(error) => return Err(error.into()),
        }
        let [by_child, by_runner] = fds.map(|fd| fd.any().unwrap_or(false));
        Ok(Woken { by_child, by_runner })
    }

    /// How long there is nothing to do.
    fn patience(&self) -> PollTimeout {
        let Some(hand) = &self.hand else {
            return if self.queue.is_empty() { PollTimeout::NONE } else { PollTimeout::ZERO };
        };
        let wait = hand.next().saturating_duration_since(Instant::now());
        // A wait that is cut down to whole milliseconds would end too early.
        let wait = wait.min(Duration::from_hours(1)) + Duration::from_micros(999);
        PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX)
    }

    /// Takes note of every child that ended, also of adopted ones.
    fn reap(&mut self) {
        // Of a signal that waits there is one, however many children have ended.
        let _ = self.children.read_signal();
        let some_are_left = loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if let Some(hand) = &mut self.hand {
                        hand.note_end(pid.as_raw_nonzero().get(), status);
                    }
                }
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        if let Some(hand) = self.hand.take_if(|hand| hand.has_ended(some_are_left)) {
            self.finish(hand, some_are_left);
        }
    }

    fn finish(&mut self, hand: Hand, some_are_left: bool) {
        let Claim { job, attempt, .. } = hand.claim();
        crash::point("end", "before-capture");
        let output = self.spool.capture(&self.post.dir.output(job, attempt), some_are_left);
        let process = Some(hand.process());
        let (claimed, outcome) = hand.into_end();
        self.retired = some_are_left;
        self.conclude(claimed, outcome, process, output);
    }

    /// Hears what the runner says.
    fn hear(&mut self) {
        let heard = self.inbox.fill(&mut self.socket);
        loop {
            match self.inbox.next() {
                Ok(Some(Order::Env(env))) => self.env = env.map(|env| Arc::new(env.into_owned())),
                Ok(Some(Order::Run(claimed))) => {
                    let mut claimed = claimed.into_owned();
                    claimed.spec.env.clone_from(&self.env);
                    self.queue.push_back(claimed);
                }
                Ok(Some(Order::Stop { claim, why })) => self.stop(claim, why),
                Ok(Some(Order::Done)) => self.settled = true,
                Ok(None) => break,
                Err(_) => return (self.is_deaf, self.orphaned) = (true, true),
            }
        }
        let is_end = heard.is_err() || heard.is_ok_and(|count| count == 0);
        self.is_deaf |= is_end;
        self.orphaned |= is_end && !self.settled;
    }

    fn stop(&mut self, claim: Claim, why: Stop) {
        if let Some(hand) = self.hand.as_mut().filter(|hand| hand.claim() == claim) {
            let outcome = match why {
                Stop::Shutdown => Outcome::Interrupted,
                Stop::Cancel => Outcome::Cancelled,
            };
            hand.stop(outcome, Instant::now());
            return;
        }
        let place = self.queue.iter().position(|queued| queued.claim == claim);
        if let Some(claimed) = place.and_then(|place| self.queue.remove(place)) {
            let outcome = match why {
                Stop::Shutdown => not_started("the runner shuts down"),
                Stop::Cancel => Outcome::Cancelled,
            };
            self.refuse(claimed, outcome);
        }
    }

    /// Does what is due by time.
    fn tend(&mut self, now: Instant) {
        let Some(hand) = &mut self.hand else { return };
        if hand.is_look_due(now) {
            hand.looked(now, self.spool.bound());
        }
        if let Some(why) = hand.climb(now) {
            self.reports.stuck(hand.claimed(), why);
        }
        if hand.is_tell_due(now) {
            self.tell_start();
        }
    }

    /// Tells of a start that lasted: the runner, and whoever looks for the output.
    fn tell_start(&mut self) {
        let Some(hand) = &mut self.hand else { return };
        hand.is_told(process::start_time(hand.process().pid).unwrap_or(0));
        let _ = self.journal.note(hand.claim(), &Step::Started(hand.process()));
        let Claim { job, attempt, .. } = hand.claim();
        self.spool.name(&self.post.dir.output(job, attempt));
        crash::point("start", "before-report");
        self.reports.start(hand.claimed(), hand.process());
    }

    fn start(&mut self, claimed: Claimed) {
        match self.try_start(&claimed) {
            Ok(process) => {
                // The attempt runs, whatever becomes of the line about it.
                let _ = self.journal.note(claimed.claim, &Step::Started(process));
                crash::point("start", "after-journal");
                self.hand = Some(Hand::new(claimed, process, Instant::now()));
            }
            Err(refusal) => {
                let outcome = match refusal {
                    Refusal::Never(why) => Outcome::Unstartable(why),
                    Refusal::NotNow(why) => Outcome::NotStarted(why),
                };
                self.conclude(claimed, outcome, None, Captured::default());
            }
        }
    }

    /// The intent is written before the fence is looked at: a recovering
    /// runner looks at the fence first and at the intent second, so one of
    /// the two sees the other. The spool is emptied before both, so that what
    /// is in it belongs to the last intent.
    fn try_start(&mut self, claimed: &Claimed) -> Result<Process, Refusal> {
        self.spool.renew();
        crash::point("start", "before-intent");
        self.journal
            .begin(claimed.claim)
            .map_err(|error| Refusal::NotNow(in_file(&self.post.journal, &error).to_string()))?;
        crash::point("start", "before-fence");
        if !self.fence.holds() {
            return Err(Refusal::NotNow(ORPHANED.to_owned()));
        }
        crash::point("start", "before-spawn");
        let started_at = SystemClock.now();
        let pid = self.spawner.spawn(&claimed.spec, self.spool.sink())?;
        crash::point("start", "after-spawn");
        Ok(Process { pid, start_time: 0, started_at })
    }

    /// Ends an attempt that was begun.
    fn conclude(
        &mut self,
        claimed: Claimed,
        outcome: Outcome,
        process: Option<Process>,
        output: Captured,
    ) {
        crash::point("end", "before-journal");
        let Captured { written, .. } = output;
        let ended =
            Ended { claim: claimed.claim, outcome, process, ended_at: SystemClock.now(), output };
        let step = Step::Ended {
            process,
            outcome: ended.outcome.clone(),
            ended_at: ended.ended_at,
            written,
        };
        let _ = self.journal.note(ended.claim, &step);
        crash::point("end", "before-report");
        self.reports.end(claimed, ended, self.retired);
        crash::point("end", "after-report");
    }

    /// Ends an attempt that was not begun; the journal need not know it.
    fn refuse(&mut self, claimed: Claimed, outcome: Outcome) {
        let ended_at = SystemClock.now();
        let output = Captured::default();
        let ended = Ended { claim: claimed.claim, outcome, process: None, ended_at, output };
        self.reports.end(claimed, ended, self.retired);
    }
}

/// Records what is due until nothing more will be, and passes on the wish to
/// stop the attempt in hand.
fn inherit(heir: &mut dyn Heir, due: &mpsc::Receiver<Due>, mut line: Option<(Claim, UnixStream)>) {
    loop {
        match due.recv_timeout(LOOK) {
            Ok((claimed, report)) => heir.record(&claimed, &report),
            Err(RecvTimeoutError::Timeout) => {
                if let Some((claim, line)) = &mut line
                    && heir.is_cancelled(*claim)
                {
                    // One that has ended meanwhile cannot be stopped.
                    let _ = send(line, &Order::Stop { claim: *claim, why: Stop::Cancel });
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

struct Woken {
    by_child: bool,
    by_runner: bool,
}

fn not_started(why: &str) -> Outcome {
    Outcome::NotStarted(why.to_owned())
}

fn in_file(path: &Path, error: &io::Error) -> io::Error {
    io::Error::other(format!("{}: {}", path.display(), reason(error)))
}

/// Closes every descriptor above 2, whoever left it open.
pub(super) fn close_strays() -> io::Result<()> {
    let numbers: Vec<i32> = std::fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // The listing itself is among them, and closed already.
        let _ = close(number);
    }
    Ok(())
}

/// Puts this process out of reach of terminals and signals, and makes it the
/// parent of whatever loses its own. Ends of children come out of the result.
fn withdraw() -> io::Result<SignalFd> {
    SigSet::all().thread_block()?;
    // Fails only for a process that leads its group: one typed by hand.
    let _ = setsid();
    set_child_subreaper(true)?;
    let mut ends = SigSet::empty();
    ends.add(Signal::SIGCHLD);
    Ok(SignalFd::with_flags(&ends, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?)
}
