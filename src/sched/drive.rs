//! The loop around the scheduler: it sleeps on a channel until a worker, a
//! command, a signal or the time wakes it, and does a turn. How it sleeps is in
//! [`sleeping`], how it ends jobs and itself in [`stopping`], what it looks after
//! beside its turns in [`tending`].

mod sleeping;
mod stopping;
mod tending;

use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, tick};

use super::handover::{FileId, Intake};
use super::hooks::Hooks;
use super::pace::{self, Ahead, Pace};
use super::pool::{FromWorker, Pool};
use super::{RunEvent, Scheduler, Step};
use crate::clock::Clock;
use crate::crash;
use crate::data_dir::DataDir;
use crate::exec::{Report, reason};
use crate::job::{Claim, Outcome};
use crate::store::{self, Error, Said, Store};

pub use super::settings::{End, OnStop, Settings, Until, Wakes};

/// How far a runner is on its way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Serving,
    Draining,
    Stopping,
    Leaving,
}

const STRANDED: &str = "was removed or replaced while this runner had it open";

/// After trouble with the store or the system, nothing is tried for so long.
const REST: Duration = Duration::from_secs(1);

/// The loop and what it owns.
pub struct Drive<'a> {
    settings: Settings,
    scheduler: Scheduler,
    pool: Pool,
    hooks: Hooks,
    wakes: Wakes,
    intake: Intake,
    store: Box<dyn Store>,
    clock: &'a dyn Clock,
    watch: &'a mut dyn FnMut(&RunEvent),
    dir: DataDir,
    pace: Pace,
    /// How much is claimed ahead; `None` is as much as there may be.
    ahead: Option<Ahead>,
    stage: Stage,
    /// When running jobs are stopped, if they are not done by then.
    deadline: Option<Instant>,
    /// Until when nothing is claimed, after the system refused a process.
    rest_until: Option<Instant>,
    /// Jobs whose worker broke, as long as they may be unsettled.
    abandoned: Vec<Claim>,
    /// Workers that broke and are not replaced yet.
    broken: Vec<usize>,
    /// What is wrong with the store at the moment; said once.
    trouble: Option<String>,
    /// Whether it was said that output cannot be kept.
    is_mute: bool,
    /// Whether its database was removed or replaced.
    is_stranded: bool,
    /// Whether somebody may have changed what jobs may be started.
    was_woken: bool,
    /// Whether there was another runner at the last poll.
    has_company: bool,
    /// Whether the last poll found nothing that must be looked at again: no
    /// other runner, and no hook that was taken.
    is_settled: bool,
}

impl<'a> Drive<'a> {
    /// A runner that is ready to start.
    pub fn new(
        settings: Settings,
        pool: Pool,
        hooks: Hooks,
        wakes: Wakes,
        store: Box<dyn Store>,
        clock: &'a dyn Clock,
        watch: &'a mut dyn FnMut(&RunEvent),
    ) -> Self {
        let most = settings.capacity.saturating_sub(pool.workers());
        let ahead = (!settings.steady).then(|| Ahead::new(most, Instant::now()));
        let scheduler =
            Scheduler::new(settings.runner, settings.scope, settings.capacity, &settings.db);
        let intake = Intake::new(FileId::of(&settings.db).ok());
        Self {
            dir: DataDir::of(&settings.db),
            scheduler,
            settings,
            pool,
            hooks,
            wakes,
            intake,
            store,
            clock,
            watch,
            pace: Pace::new(Instant::now()),
            ahead,
            stage: Stage::Serving,
            deadline: None,
            rest_until: None,
            abandoned: Vec::new(),
            broken: Vec::new(),
            trouble: None,
            is_mute: false,
            is_stranded: false,
            was_woken: false,
            has_company: false,
            is_settled: false,
        }
    }

    /// Works until it is done.
    ///
    /// # Errors
    /// When the store cannot be used any more and nothing is in hand.
    pub fn run(mut self) -> store::Result<End> {
        match self.work() {
            Ok(()) => Ok(self.end()),
            Err(error) => {
                self.pool.finish();
                Err(error)
            }
        }
    }

    fn work(&mut self) -> store::Result<()> {
        let polls = tick(self.settings.poll_interval);
        self.recover();
        loop {
            if std::mem::take(&mut self.was_woken) {
                self.give_back_beyond_limits();
                self.look_after_file();
            }
            let step = self.turn()?;
            if let Some(step) = &step {
                self.stop_cancelled(&step.cancels);
                self.start_hooks(step);
            }
            if self.is_done(step.as_ref())? {
                return Ok(());
            }
            self.sleep(step.as_ref(), &polls);
            if self.stage == Stage::Stopping {
                self.stop_all();
            }
        }
    }

    /// One turn; `None` when the store had trouble.
    fn turn(&mut self) -> store::Result<Option<Step>> {
        let from = Instant::now();
        if self.is_stranded && self.scheduler.in_hand() == 0 {
            let (path, why) = (self.settings.db.clone(), STRANDED.to_owned());
            let hint = "`ax run` again serves the file that is there now".to_owned();
            return Err(Error::Unusable { path, why, hint: Some(hint) });
        }
        let claiming = self.stage == Stage::Serving
            && !self.is_stranded
            && self.rest_until.is_none_or(|until| until <= from);
        let capacity = self.capacity(from);
        self.scheduler.limit(capacity);
        let takes_jobs = self.stage == Stage::Serving && self.trouble.is_none();
        self.scheduler.take_in(self.intake.take(takes_jobs));
        let turned = self.scheduler.turn(self.store.as_mut(), self.clock.now(), claiming);
        self.intake.answer(turned.as_ref().ok().map(|step| step.added.as_slice()));
        let mut step = match turned {
            Ok(step) => step,
            Err(error) => return self.put_up_with(error).map(|()| None),
        };
        self.trouble = None;
        let pause = self.pace.held(from, Instant::now());
        crash::point("step", "before-submit");
        for task in step.tasks.drain(..) {
            self.pool.submit(task);
        }
        crash::point("step", "before-removal");
        for claim in step.output_stored.drain(..) {
            // It is in the database; a file that stays is found by the doctor.
            let _ = std::fs::remove_file(self.dir.output(claim.job, claim.attempt));
        }
        for event in &step.events {
            (self.watch)(event);
        }
        if !step.events.is_empty() {
            self.look_after_output();
        }
        if pause.is_zero() {
            self.gather();
        } else {
            thread::sleep(pause);
        }
        Ok(Some(step))
    }

    /// How many jobs are to be in hand now.
    fn capacity(&mut self, now: Instant) -> usize {
        let most = self.settings.capacity;
        let workers = self.pool.workers();
        self.ahead.as_mut().map_or(most, |ahead| workers + ahead.allowed(now))
    }

    /// Looks whether its database was taken away. The jobs in hand end then, and
    /// are stored where nobody else can see it; at last it ends, too.
    fn look_after_file(&mut self) {
        if self.is_stranded || self.intake.is_of(&self.settings.db) {
            return;
        }
        self.is_stranded = true;
        // With nothing in hand the end says so.
        if self.scheduler.in_hand() > 0 {
            (self.watch)(&RunEvent::Trouble(format!("{} {STRANDED}", self.settings.db.display())));
        }
    }

    /// Says once that there is no place for output; jobs run without it.
    fn look_after_output(&mut self) {
        let Err(error) = self.dir.check_out() else { return self.is_mute = false };
        if !std::mem::replace(&mut self.is_mute, true) {
            let (out, why) = (self.dir.out(), reason(&error));
            (self.watch)(&RunEvent::Trouble(format!(
                "{}: {why}; jobs run all the same, and what they print may be lost",
                out.display()
            )));
        }
    }

    /// Lets more results come in, as long as the workers have enough to do.
    fn gather(&self) {
        if self.stage == Stage::Serving && pace::may_gather(self.pool.queued(), self.pool.workers())
        {
            self.pool.wait_for_low(pace::GATHER);
        }
    }

    /// Says once what is wrong, and rests. What was heard is kept.
    fn put_up_with(&mut self, error: Error) -> store::Result<()> {
        let hopeless = matches!(error, Error::Unusable { .. });
        if hopeless && self.scheduler.in_hand() == 0 {
            return Err(error);
        }
        let text = error.to_string();
        if self.trouble.as_ref() != Some(&text) {
            (self.watch)(&RunEvent::Trouble(format!("{text}; results are kept and tried again")));
            self.trouble = Some(text);
        }
        thread::sleep(REST);
        Ok(())
    }

    fn is_done(&mut self, step: Option<&Step>) -> store::Result<bool> {
        if self.stage == Stage::Leaving {
            return Ok(true);
        }
        let Some(step) = step else { return Ok(false) };
        if self.scheduler.in_hand() > 0 || self.scheduler.has_news() || self.hooks.are_running() {
            return Ok(self.stage >= Stage::Draining && self.settings.on_stop == OnStop::Detach);
        }
        if self.stage >= Stage::Draining {
            return Ok(true);
        }
        match self.settings.until {
            Until::Stopped => Ok(false),
            Until::NothingDue => Ok(!step.more && !step.hooks_owed && self.rest_until.is_none()),
            Until::Idle if step.more => Ok(false),
            Until::Idle => match self.store.outlook(self.settings.scope) {
                Ok(outlook) => Ok(outlook.is_idle()),
                Err(error) => self.put_up_with(error).map(|()| false),
            },
        }
    }

    /// Takes note of everything that has come in by now.
    fn take_in(&mut self, polls: &Receiver<Instant>) {
        if polls.try_recv().is_ok() {
            self.recover();
        }
        while let Ok(news) = self.wakes.workers.try_recv() {
            self.heard(news);
        }
        while let Ok(hook) = self.hooks.ended().try_recv() {
            self.hook_ended(Some(hook));
        }
        while let Ok(came) = self.wakes.bell.try_recv() {
            self.called(Some(came));
        }
        while self.wakes.signals.try_recv().is_ok() {
            self.signalled();
        }
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| deadline <= now) && self.stage == Stage::Draining {
            self.stop_running();
        }
        if self.rest_until.is_some_and(|until| until <= now) {
            self.rest_until = None;
        }
    }

    fn heard(&mut self, news: FromWorker) {
        match news {
            FromWorker::Report(report) => {
                if let (Report::Ended(_), Some(ahead)) = (&report, &mut self.ahead) {
                    ahead.note_end(Instant::now());
                }
                if let Report::Ended(ended) = &report
                    && let Outcome::NotStarted(why) = &ended.outcome
                    && self.stage == Stage::Serving
                {
                    let job = ended.claim.job;
                    self.rest(&format!("job {job} goes back to the queue: {why}"));
                }
                if let Report::Stuck { claim, why } = &report {
                    self.tell_stuck(*claim, why);
                }
                self.scheduler.note(report);
            }
            FromWorker::Broke { worker, claim, why } => {
                (self.watch)(&RunEvent::Trouble(format!(
                    "worker {worker} broke and is replaced: {why}"
                )));
                if let Some(claim) = claim {
                    self.scheduler.forget(claim);
                    self.abandoned.push(claim);
                }
                self.broken.push(worker);
                self.recover();
            }
        }
    }

    /// Tells of processes that do not go; their worker waits for them.
    fn tell_stuck(&mut self, claim: Claim, why: &str) {
        let Claim { job, attempt, .. } = claim;
        // Who looks at the job is told, too, if that can be written.
        let _ = self.store.say(job, attempt, &Said::Stuck(why.to_owned()), self.clock.now());
        (self.watch)(&RunEvent::Trouble(format!(
            "job {job}, attempt {attempt}: {why}; no other job gets its worker until then"
        )));
    }

    /// Says why, once a rest, and claims nothing for a while.
    fn rest(&mut self, why: &str) {
        if self.rest_until.is_none() {
            (self.watch)(&RunEvent::Trouble(why.to_owned()));
        }
        self.rest_until = Some(Instant::now() + REST);
    }

    /// Ends: strikes the runner out if it owns nothing.
    fn end(mut self) -> End {
        if self.scheduler.in_hand() > 0 {
            return End::Detached;
        }
        self.pool.finish();
        self.intake.tidy(self.store.as_mut());
        // If it cannot be struck out now, the next runner does.
        match self.store.discharge(self.settings.runner) {
            Ok(true) => End::Finished,
            Ok(false) | Err(_) => End::Detached,
        }
    }
}
