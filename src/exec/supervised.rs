//! The runner's side: an executor whose jobs are run by a supervising process.
//!
//! The process is started with the first job and used for the next ones. One
//! that retired or was killed is replaced. What a killed one had started is
//! found and stopped before its attempt is called lost, so that no second
//! attempt runs beside it.

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::hosted::{Hosted, Site};
use super::journal::{Journal, Step};
use super::process::Identity;
use super::protocol::{Answer, Order, send, send_all};
use super::spawn::reason;
use super::spool::salvage;
use super::{Ended, Executor, Report, Sign, Stop, Stopper};
use crate::clock::{Clock, SystemClock};
use crate::crash;
use crate::job::{Captured, Claim, Claimed, EnvBlock, Outcome};

/// Between two looks at what a supervisor has begun.
const LOOK: Duration = Duration::from_millis(10);

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
    /// The environment that was sent last.
    env: Option<Arc<EnvBlock>>,
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

impl Supervised {
    /// An executor without a supervisor; the first job brings one.
    pub fn new(site: Arc<Site>) -> Self {
        Self { site, line: Arc::default(), hosted: None, past: Vec::new() }
    }

    /// The process that supervises, if there is one.
    pub fn supervisor(&self) -> Option<&Identity> {
        self.hosted.as_ref().map(|hosted| &hosted.identity)
    }

    fn run(&mut self, claimed: &Claimed, tell: &mut dyn FnMut(Sign)) -> Ended {
        if let Err(why) = self.send(claimed) {
            return self.bury(claimed, Some(why), tell);
        }
        loop {
            let Some(hosted) = &mut self.hosted else {
                return ended(claimed.claim, Outcome::NotStarted("no supervisor".to_owned()));
            };
            match hosted.inbox.wait(&mut hosted.stream) {
                Ok(Some(Answer::Report { report, retires })) => match report.into_owned() {
                    Report::Started { process, .. } => tell(Sign::Started(process)),
                    Report::Stuck { why, .. } => tell(Sign::Stuck(why)),
                    Report::Ended(ended) => {
                        if retires {
                            self.let_go();
                        }
                        return ended;
                    }
                },
                Ok(Some(Answer::Unable(why))) => return self.bury(claimed, Some(why), tell),
                Ok(None) | Err(_) => return self.bury(claimed, None, tell),
            }
        }
    }

    /// Hands the job to the supervisor, which is started if there is none.
    fn send(&mut self, claimed: &Claimed) -> Result<(), String> {
        if self.hosted.is_none() {
            let start = Hosted::start(&self.site).map_err(|error| reason(&error))?;
            let hosted = self.hosted.insert(start);
            let stream = hosted.stream.try_clone().map_err(|error| reason(&error))?;
            let line = &mut *lock(&self.line);
            (line.stream, line.env) = (Some(stream), None);
        }
        let line = &mut *lock(&self.line);
        let early = line.early.take();
        let Some(stream) = &mut line.stream else { return Err("no supervisor".to_owned()) };
        crash::point("order", "before-send");
        let env = &claimed.spec.env;
        let order = Order::Run(Box::new(Cow::Borrowed(claimed)));
        // One that cannot be written to is dead; reading tells the same.
        let _ = if line.env == *env {
            send(stream, &order)
        } else {
            line.env.clone_from(env);
            send_all(stream, &[Order::Env(env.as_deref().map(Cow::Borrowed)), order])
        };
        line.sent = true;
        if let Some(why) = early {
            let _ = send(stream, &Order::Stop { claim: claimed.claim, why });
        }
        Ok(())
    }

    /// Finds out what became of a job whose supervisor is dead, and stops what
    /// is left of it.
    fn bury(
        &mut self,
        claimed: &Claimed,
        why: Option<String>,
        tell: &mut dyn FnMut(Sign),
    ) -> Ended {
        crash::point("bury", "before-look");
        let claim = claimed.claim;
        let not_started =
            |why: &str| ended(claim, Outcome::NotStarted(format!("no supervisor: {why}")));
        let Some(hosted) = &self.hosted else {
            return not_started(why.as_deref().unwrap_or("it could not be started"));
        };
        let step = if why.is_some() { None } else { self.last_step(hosted, claim) };
        let salvaged = || {
            let dir = &self.site.dir;
            salvage(&dir.spool(&hosted.journal), &dir.output(claim.job, claim.attempt))
        };
        let buried = match step {
            None => not_started(why.as_deref().unwrap_or("it was killed")),
            Some(Step::Ended { process, outcome, ended_at, written }) => {
                let output = Captured { written, ..salvaged() };
                Ended { claim, outcome, process, ended_at, output }
            }
            Some(Step::Started(process)) => {
                let outcome = hosted.lose(claimed, Some(process), tell);
                Ended { process: Some(process), output: salvaged(), ..ended(claim, outcome) }
            }
            Some(Step::Intent) => {
                let outcome = hosted.lose(claimed, None, tell);
                Ended { output: salvaged(), ..ended(claim, outcome) }
            }
        };
        crash::point("bury", "before-reaping");
        self.let_go();
        buried
    }

    /// How far a dead supervisor came with a job, `None` if it has not begun it.
    /// One that left no journal had not come so far, as long as nobody took the
    /// files away; where nothing can be read it may have begun.
    fn last_step(&self, hosted: &Hosted, claim: Claim) -> Option<Step> {
        let Site { dir, runner, .. } = &*self.site;
        match Journal::read(&hosted.journal) {
            Ok(known) => known.of(claim).map(|entry| entry.step.clone()),
            Err(error)
                if error.kind() == ErrorKind::NotFound && dir.runner_lock(*runner).exists() =>
            {
                None
            }
            Err(_) => Some(Step::Intent),
        }
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

    /// Parts from a supervisor in the middle of a job, once it is known whether
    /// it has begun the job: it goes on with it then, and else never begins.
    fn abandon(&mut self, claim: Claim) {
        lock(&self.line).stream = None;
        let Some(hosted) = self.hosted.take() else { return };
        let hosted = hosted.parted();
        let is_begun =
            || Journal::read(&hosted.journal).is_ok_and(|known| known.of(claim).is_some());
        while !hosted.is_gone() && !is_begun() {
            thread::sleep(LOOK);
        }
    }

    /// Removes the journals of former supervisors in which all is settled: a
    /// runner has never more than `keep` results in doubt.
    fn clear_past(&mut self) {
        for (_, ended_since) in &mut self.past {
            *ended_since += 1;
        }
        let site = &self.site;
        self.past.retain(|(journal, ended_since)| {
            let in_doubt = *ended_since <= site.keep;
            if !in_doubt {
                site.clear(journal);
            }
            in_doubt
        });
    }
}

impl Executor for Supervised {
    fn execute(&mut self, claimed: &Claimed, tell: &mut dyn FnMut(Sign)) -> Ended {
        lock(&self.line).claim = Some(claimed.claim);
        let ended = self.run(claimed, tell);
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
        let claim = lock(&self.line).claim;
        if let Some(claim) = claim {
            return self.abandon(claim);
        }
        if let Some(stream) = &mut lock(&self.line).stream {
            let _ = send(stream, &Order::Done);
        }
        self.let_go();
        for (journal, _) in &self.past {
            self.site.clear(journal);
        }
    }
}

impl Site {
    /// Removes what a dead supervisor left, in whose journal all is settled.
    fn clear(&self, journal: &Path) {
        let _ = fs::remove_file(self.dir.spool(journal));
        let _ = fs::remove_file(journal);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::protocol::Inbox;
    use crate::job::{Command, JobId, OnLost, RetryPolicy, RunnerId, Spec};
    use std::path::Path;
    use std::time::Duration;

    fn claimed() -> Claimed {
        Claimed {
            claim: Claim { job: JobId(12), attempt: 1, owner: RunnerId(3) },
            title: String::new(),
            spec: Spec {
                command: Command::Shell(b"true".to_vec()),
                cwd: None,
                umask: None,
                env: None,
                extra_env: EnvBlock::default(),
                timeout: None,
                kill_after: Duration::ZERO,
            },
            policy: RetryPolicy {
                max_retries: 0,
                retry_count: 0,
                delay: Duration::ZERO,
                backoff: 1.0,
                max_delay: Duration::ZERO,
                on_lost: OnLost::Hold,
                losses: 0,
                retry_on: None,
                no_retry_on: None,
            },
        }
    }

    #[test]
    fn a_stop_that_comes_before_the_job_was_sent_follows_it() {
        let mut executor =
            Supervised::new(Arc::new(Site::new(Path::new("/none.db"), RunnerId(3), 1)));
        let (ours, mut theirs) = UnixStream::pair().expect("made");
        theirs.set_read_timeout(Some(Duration::from_secs(10))).expect("set");
        lock(&executor.line).stream = Some(ours.try_clone().expect("the same"));
        executor.hosted = Some(Hosted::of(Identity::own().expect("shown"), ours));

        let job = claimed();
        lock(&executor.line).claim = Some(job.claim);
        executor.stopper().stop(Claim { attempt: 2, ..job.claim }, Stop::Shutdown);
        executor.stopper().stop(job.claim, Stop::Cancel);
        executor.send(&job).expect("sent");

        let mut inbox = Inbox::<Order<'static>>::new();
        let mut next = || inbox.wait(&mut theirs).expect("read");
        assert!(matches!(next(), Some(Order::Run(sent)) if *sent == Cow::Owned(job.clone())));
        assert!(matches!(next(), Some(Order::Stop { why: Stop::Cancel, .. })));
    }
}
