//! The supervising process: it starts the jobs of one worker, watches them,
//! stops them, and outlives its runner.
//!
//! | it has | and then | it does |
//! |---|---|---|
//! | no job | is told to run one | writes the intent, makes sure its runner lives, starts it |
//! | no job | is told that all is settled | ends and leaves nothing |
//! | a job | the job ends, all of it | reports the end, waits for the next |
//! | a job | the job ends and leaves processes behind | reports the end and retires |
//! | a job | its time is up, or it is to be stopped | climbs the [`Ladder`], then reports the end |
//! | anything | its runner is gone | starts nothing more, sees the job to its end, records all that its runner may not have stored, ends |
//!
//! One thread does all of it; only recording, which may have to wait for the
//! database, has another, so that timeouts hold meanwhile. Every signal is
//! blocked: nothing but KILL ends a supervisor before its time.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

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
use super::spawn::{Refusal, Spawner, reason};
use super::spool::Spool;
use super::{Ended, Report, Stop};
use crate::clock::{Clock, SystemClock};
use crate::data_dir::DataDir;
use crate::job::{Captured, Claim, Claimed, Outcome, Process};

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

/// Stores a report, however long that takes. It may have been stored already.
pub type Record<'a> = dyn FnMut(&Claimed, &Report) + Send + 'a;

/// Supervises jobs until the runner at the other end of standard input is done
/// or gone. What a runner that is gone may not have stored goes to `record`.
///
/// Must be called before the process opens anything: every descriptor above 2
/// is closed, since what the runner itself inherited is no business of jobs.
///
/// # Errors
/// When the process cannot do its work; it has started no job then.
pub fn serve(post: &Post, record: &mut Record<'_>) -> io::Result<()> {
    close_strays()?;
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    match Supervisor::new(post, &socket) {
        Ok(supervisor) => supervisor.live(record),
        Err(error) => {
            let _ = send(&mut socket, &Answer::Unable(reason(&error)));
            Err(error)
        }
    }
}

fn in_file(path: &Path, error: &io::Error) -> io::Error {
    io::Error::other(format!("{}: {}", path.display(), reason(error)))
}

fn close_strays() -> io::Result<()> {
    let numbers: Vec<i32> = std::fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // The listing itself is among them, and closed already.
        let _ = close(number);
    }
    Ok(())
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
    queue: VecDeque<Claimed>,
    hand: Option<Hand>,
    /// The last ends; the runner may not have stored them.
    ended: VecDeque<(Claimed, Report)>,
    /// Where reports go once the runner is gone.
    records: Option<Sender<(Claimed, Report)>>,
    settled: bool,
    orphaned: bool,
    retired: bool,
}

impl<'a> Supervisor<'a> {
    fn new(post: &'a Post, socket: &UnixStream) -> io::Result<Self> {
        SigSet::all().thread_block()?;
        // Fails only for a process that leads its group: one typed by hand.
        let _ = setsid();
        set_child_subreaper(true)?;
        let mut chld = SigSet::empty();
        chld.add(Signal::SIGCHLD);
        let children = SignalFd::with_flags(&chld, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        let limit = output::limit(std::env::var(output::LIMIT_VARIABLE).ok().as_deref());
        Ok(Self {
            post,
            socket: socket.try_clone()?,
            inbox: Inbox::new(),
            children,
            fence: Fence::open(&post.runner_lock),
            journal: Journal::create(&post.journal, &Identity::own()?, post.keep)
                .map_err(|error| in_file(&post.journal, &error))?,
            spool: Spool::new(post.dir.spool(&post.journal), limit)?,
            spawner: Spawner::new()?,
            queue: VecDeque::new(),
            hand: None,
            ended: VecDeque::new(),
            records: None,
            settled: false,
            orphaned: false,
            retired: false,
        })
    }

    fn live(mut self, record: &mut Record<'_>) -> io::Result<()> {
        while !self.orphaned && !self.is_over() {
            self.turn()?;
        }
        if self.orphaned {
            self.live_as_orphan(record)?;
        }
        self.refuse_queue();
        self.spool.remove();
        // The ends in the journal of one that retired may not be stored yet.
        if self.orphaned || self.settled {
            self.journal.remove();
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.retired || self.settled && self.hand.is_none()
    }

    fn live_as_orphan(&mut self, record: &mut Record<'_>) -> io::Result<()> {
        thread::scope(|scope| {
            let (records, due) = mpsc::channel();
            scope.spawn(move || {
                for (claimed, report) in due {
                    record(&claimed, &report);
                }
            });
            for pair in self.ended.drain(..) {
                let _ = records.send(pair);
            }
            self.records = Some(records);
            self.refuse_queue();
            self.tell_start_again();
            while self.hand.is_some() {
                self.turn()?;
            }
            self.records = None;
            Ok(())
        })
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
        let is_free = self.hand.is_none() && !self.retired && !self.orphaned;
        if is_free && let Some(claimed) = self.queue.pop_front() {
            self.start(claimed);
        }
        Ok(())
    }

    fn wait(&self) -> io::Result<Woken> {
        let mut fds = vec![PollFd::new(self.children.as_fd(), PollFlags::POLLIN)];
        if !self.orphaned {
            fds.push(PollFd::new(self.socket.as_fd(), PollFlags::POLLIN));
        }
        match poll(&mut fds, self.patience()) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => (),
            Err(error) => return Err(error.into()),
        }
        let is_ready = |fd: &PollFd<'_>| fd.any().unwrap_or(false);
        Ok(Woken { by_child: is_ready(&fds[0]), by_runner: fds.get(1).is_some_and(is_ready) })
    }

    /// How long there is nothing to do.
    fn patience(&self) -> PollTimeout {
        if self.hand.is_none() && !self.queue.is_empty() {
            return PollTimeout::ZERO;
        }
        let Some(hand) = &self.hand else { return PollTimeout::NONE };
        let wait = hand.next().saturating_duration_since(Instant::now());
        // A wait that is cut down to whole milliseconds would end too early.
        let wait = wait.min(Duration::from_hours(1)) + Duration::from_micros(999);
        PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX)
    }

    /// Takes note of every child that ended, also of adopted ones.
    fn reap(&mut self) {
        while let Ok(Some(_)) = self.children.read_signal() {}
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
        let Some(hand) = self.hand.take() else { return };
        if hand.has_ended(some_are_left) {
            self.finish(hand, some_are_left);
        } else {
            self.hand = Some(hand);
        }
    }

    fn finish(&mut self, hand: Hand, some_are_left: bool) {
        let name = self.output_of(hand.claim());
        let output = self.spool.capture(&name, some_are_left);
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
                Ok(Some(Order::Run(claimed))) => self.queue.push_back(claimed.into_owned()),
                Ok(Some(Order::Stop { claim, why })) => self.stop(claim, why),
                Ok(Some(Order::Done)) => self.settled = true,
                Ok(None) => break,
                Err(_) => return self.orphaned = true,
            }
        }
        self.orphaned |= heard.is_err() || heard.is_ok_and(|count| count == 0) && !self.settled;
    }

    fn stop(&mut self, claim: Claim, why: Stop) {
        let outcome = match why {
            Stop::Shutdown => Outcome::Interrupted,
            Stop::Cancel => Outcome::Cancelled,
        };
        if let Some(hand) = self.hand.as_mut().filter(|hand| hand.claim() == claim) {
            hand.stop(outcome, Instant::now());
        } else if let Some(place) = self.queue.iter().position(|queued| queued.claim == claim) {
            let Some(claimed) = self.queue.remove(place) else { return };
            let outcome = match why {
                Stop::Shutdown => Outcome::NotStarted("the runner shuts down".to_owned()),
                Stop::Cancel => outcome,
            };
            self.refuse(claimed, outcome);
        }
    }

    fn refuse_queue(&mut self) {
        while let Some(claimed) = self.queue.pop_front() {
            self.refuse(claimed, Outcome::NotStarted("its runner ended".to_owned()));
        }
    }

    /// Ends an attempt that was not begun.
    fn refuse(&mut self, claimed: Claimed, outcome: Outcome) {
        let _ = self.journal.begin(claimed.claim);
        self.conclude(claimed, outcome, None, Captured::default());
    }

    /// Does what is due by time.
    fn tend(&mut self, now: Instant) {
        let Some(hand) = &mut self.hand else { return };
        if hand.is_look_due(now) {
            self.spool.bound();
        }
        if hand.climb(now) {
            self.tell_start();
        }
    }

    fn start(&mut self, claimed: Claimed) {
        match self.try_start(&claimed) {
            Ok(process) => {
                let step = Step::Started(process);
                // The attempt runs, whatever becomes of the line about it.
                let _ = self.journal.note(claimed.claim, &step);
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
    /// the two sees the other.
    fn try_start(&mut self, claimed: &Claimed) -> Result<Process, Refusal> {
        self.journal
            .begin(claimed.claim)
            .map_err(|error| Refusal::NotNow(in_file(&self.post.journal, &error).to_string()))?;
        if !self.fence.holds() {
            return Err(Refusal::NotNow("its runner ended".to_owned()));
        }
        self.spool.renew();
        let started_at = SystemClock.now();
        let pid = self.spawner.spawn(&claimed.spec, self.spool.sink())?;
        let start_time = process::start_time(pid).unwrap_or(0);
        Ok(Process { pid, start_time, started_at })
    }

    fn conclude(
        &mut self,
        claimed: Claimed,
        outcome: Outcome,
        process: Option<Process>,
        output: Captured,
    ) {
        let ended_at = SystemClock.now();
        let written = output.written;
        let step = Step::Ended { process, outcome: outcome.clone(), ended_at, written };
        let _ = self.journal.note(claimed.claim, &step);
        let ended = Ended { claim: claimed.claim, outcome, process, ended_at, output };
        self.tell(claimed, Report::Ended(ended));
    }

    /// Tells of a start that lasted: the runner, and whoever looks for the output.
    fn tell_start(&mut self) {
        let Some(hand) = &mut self.hand else { return };
        hand.is_told();
        let (claim, process) = (hand.claim(), hand.process());
        self.spool.name(&self.post.dir.output(claim.job, claim.attempt));
        let report = Report::Started { claim, process };
        let answer = Answer::Report { report: Cow::Borrowed(&report), retires: false };
        self.orphaned |= send(&mut self.socket, &answer).is_err();
    }

    fn tell_start_again(&mut self) {
        let Some(hand) = &mut self.hand else { return };
        hand.is_told();
        let (claim, process) = (hand.claim(), hand.process());
        let claimed = hand.claimed().clone();
        self.spool.name(&self.post.dir.output(claim.job, claim.attempt));
        self.tell(claimed, Report::Started { claim, process });
    }

    fn tell(&mut self, claimed: Claimed, report: Report) {
        if let Some(records) = &self.records {
            // The recorder lives as long as this sender.
            let _ = records.send((claimed, report));
            return;
        }
        let answer = Answer::Report { report: Cow::Borrowed(&report), retires: self.retired };
        self.orphaned |= send(&mut self.socket, &answer).is_err();
        self.ended.push_back((claimed, report));
        if self.ended.len() > self.post.keep.max(1) {
            self.ended.pop_front();
        }
    }

    fn output_of(&self, claim: Claim) -> PathBuf {
        self.post.dir.output(claim.job, claim.attempt)
    }
}

struct Woken {
    by_child: bool,
    by_runner: bool,
}
