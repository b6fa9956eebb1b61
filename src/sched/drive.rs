//! The loop around the scheduler: it sleeps on a channel until a worker, a
//! command, a signal or the time wakes it, and does a turn.

use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, select, tick};

use super::hooks::{self, Hooks};
use super::pace::{self, Ahead, Pace};
use super::pool::{FromWorker, Pool};
use super::recover::Recovered;
use super::{RunEvent, Scheduler, Step, recover};
use crate::clock::Clock;
use crate::crash;
use crate::data_dir::DataDir;
use crate::exec::{Report, Stop, reason};
use crate::job::hook::HookId;
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

/// Between two orders to stop, since one may come before its job.
const REMIND: Duration = Duration::from_millis(250);

/// After trouble with the store or the system, nothing is tried for so long.
const REST: Duration = Duration::from_secs(1);

/// The loop and what it owns.
pub struct Drive<'a> {
    settings: Settings,
    scheduler: Scheduler,
    pool: Pool,
    hooks: Hooks,
    wakes: Wakes,
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
        Self {
            dir: DataDir::of(&settings.db),
            scheduler,
            settings,
            pool,
            hooks,
            wakes,
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
        let claiming =
            self.stage == Stage::Serving && self.rest_until.is_none_or(|until| until <= from);
        let capacity = self.capacity(from);
        self.scheduler.limit(capacity);
        let turned = self.scheduler.turn(self.store.as_mut(), self.clock.now(), claiming);
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

    /// Sleeps until something is to be done, and takes note of all that came.
    fn sleep(&mut self, step: Option<&Step>, polls: &Receiver<Instant>) {
        let resting = self.rest_until.is_some();
        let has_more = step.is_none_or(|step| step.more && !resting && self.scheduler.has_room());
        if has_more || self.scheduler.has_news() {
            self.take_in(polls);
            return;
        }
        loop {
            let wait = self.longest_sleep(step);
            select! {
                recv(self.wakes.workers) -> news => match news {
                    Ok(news) => self.heard(news),
                    Err(_) => unreachable!("the pool keeps a sender"),
                },
                recv(self.wakes.bell) -> _ => self.was_woken = true,
                recv(self.hooks.ended()) -> hook => self.hook_ended(hook.ok()),
                recv(self.wakes.signals) -> _ => self.signalled(),
                recv(polls) -> _ => {
                    if self.sleeps_on(step) {
                        continue;
                    }
                    self.recover();
                }
                default(wait) => {
                    if self.sleeps_on(step) {
                        continue;
                    }
                }
            }
            break;
        }
        self.take_in(polls);
    }

    /// Tells whether time alone woke a runner that has nothing to do: nothing
    /// is due, and nobody has written since it found that out.
    fn sleeps_on(&mut self, step: Option<&Step>) -> bool {
        let has_nothing = self.is_settled
            && self.stage == Stage::Serving
            && self.rest_until.is_none()
            && self.scheduler.in_hand() == 0
            && !self.hooks.are_running()
            && self.abandoned.is_empty()
            && self.broken.is_empty();
        has_nothing
            && step.is_some_and(|step| step.is_quiet(self.clock.now()))
            && self.store.has_changed().is_ok_and(|changed| !changed)
    }

    /// Until the next thing is due, at most the poll interval.
    fn longest_sleep(&self, step: Option<&Step>) -> Duration {
        let now = Instant::now();
        let until = |at: Option<Instant>| at.map(|at| at.saturating_duration_since(now));
        let due = step.and_then(|step| step.next_due).map(|due| due.since(self.clock.now()));
        let stopping =
            self.stage == Stage::Stopping || step.is_some_and(|step| !step.cancels.is_empty());
        let remind = stopping.then_some(REMIND);
        let waits = [due, until(self.deadline), until(self.rest_until), remind];
        waits.into_iter().flatten().fold(self.settings.poll_interval, Duration::min)
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
        while self.wakes.bell.try_recv().is_ok() {
            self.was_woken = true;
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

    /// The signal ladder: claim no more; stop the jobs; leave.
    fn signalled(&mut self) {
        match self.stage {
            Stage::Serving => {
                self.stage = Stage::Draining;
                (self.watch)(&RunEvent::Stopping("no more jobs are claimed; running ones may end"));
                let now = self.clock.now();
                for claimed in self.pool.take_back() {
                    self.scheduler.give_back(claimed.claim, "the runner stops", now);
                }
                match self.settings.on_stop {
                    OnStop::Wait(grace) => {
                        self.deadline = grace.and_then(|grace| Instant::now().checked_add(grace));
                    }
                    OnStop::Detach => (),
                    OnStop::Kill => self.stop_running(),
                }
            }
            Stage::Draining => self.stop_running(),
            Stage::Stopping | Stage::Leaving => self.stage = Stage::Leaving,
        }
    }

    fn stop_running(&mut self) {
        self.stage = Stage::Stopping;
        self.deadline = None;
        (self.watch)(&RunEvent::Stopping("running jobs are stopped and go back to the queue"));
    }

    /// Takes as many hooks as there is room for, and starts a process for each.
    fn start_hooks(&mut self, step: &Step) {
        let room = self.hooks.room();
        if !step.hooks_owed
            || room == 0
            || self.stage != Stage::Serving
            || self.rest_until.is_some()
        {
            return;
        }
        let (me, scope) = (self.settings.runner, self.settings.scope);
        // If the store has trouble now, the next turn says so.
        for hook in self.store.take_hooks(me, scope, room).unwrap_or_default() {
            crash::point("hooks", "after-take");
            if let Err(error) = self.hooks.start(hook) {
                self.rest(&format!("a hook cannot be run now: {}", reason(&error)));
                // What is not given back now is given back by the next poll.
                let _ = self.store.give_back_hook(hook, me);
                self.is_settled = false;
            }
        }
    }

    /// The process of a hook has ended, and has recorded how; if it did not, the
    /// hook is settled without it.
    fn hook_ended(&mut self, hook: Option<HookId>) {
        let Some(hook) = hook else { return };
        self.hooks.note_end(hook);
        self.settle_hooks();
    }

    fn settle_hooks(&mut self) {
        let (me, now) = (self.settings.runner, self.clock.now());
        let store = self.store.as_mut();
        let left = hooks::left(store, &self.dir, Some(me), |hook| self.hooks.have(hook));
        let settled = left.and_then(|left| {
            let unbegun = left.iter().any(|hook| hook.owner == me && !hook.begun);
            Ok((hooks::settle(store, &self.dir, &left, now)?, unbegun))
        });
        match settled {
            Ok((unknown, unbegun)) => {
                for hook in unknown {
                    let text =
                        format!("the hook of job {} was killed; its outcome is unknown", hook.job);
                    (self.watch)(&RunEvent::Trouble(text));
                }
                if unbegun {
                    self.rest("a hook could not be begun and is tried again");
                }
            }
            Err(error) => {
                let text = format!("hooks that were left behind cannot be looked at: {error}");
                (self.watch)(&RunEvent::Trouble(text));
            }
        }
    }

    /// Says why, once a rest, and claims nothing for a while.
    fn rest(&mut self, why: &str) {
        if self.rest_until.is_none() {
            (self.watch)(&RunEvent::Trouble(why.to_owned()));
        }
        self.rest_until = Some(Instant::now() + REST);
    }

    /// Tells every worker to stop. One that has only just taken its job may
    /// miss it, so this is said again until all are done.
    fn stop_all(&self) {
        for claim in self.scheduler.claims() {
            self.pool.stop(claim, Stop::Shutdown);
        }
        self.hooks.stop();
    }

    /// Stops what a person wants ended; what no worker has begins no more. This
    /// is done again until all are settled.
    fn stop_cancelled(&mut self, claims: &[Claim]) {
        if claims.is_empty() {
            return;
        }
        let now = self.clock.now();
        let withdrawn = self.pool.withdraw(claims);
        for job in &withdrawn {
            self.scheduler.give_back(job.claim, "it was cancelled", now);
        }
        let is_withdrawn = |claim: &Claim| withdrawn.iter().any(|job| job.claim == *claim);
        for claim in claims.iter().filter(|claim| !is_withdrawn(claim)) {
            self.pool.stop(*claim, Stop::Cancel);
        }
    }

    /// Gives back what was claimed and not started, and may not be started any
    /// more: its group was paused, or given a lower limit. If the store has
    /// trouble now, the next poll asks again.
    fn give_back_beyond_limits(&mut self) {
        if self.pool.queued() == 0 {
            return;
        }
        let claims = self.store.beyond_limits(self.settings.runner).unwrap_or_default();
        if claims.is_empty() {
            return;
        }
        let now = self.clock.now();
        for job in self.pool.withdraw(&claims) {
            self.scheduler.give_back(job.claim, "its group starts no more jobs now", now);
        }
    }

    /// Replaces workers that broke and settles what they and others left
    /// behind. Trouble is said; the next poll tries again.
    fn recover(&mut self) {
        self.was_woken = true;
        self.broken.retain(|worker| self.pool.replace(*worker).is_err());
        match self.settle_left() {
            Ok(recovered) => {
                for one in recovered {
                    (self.watch)(&one.event());
                }
            }
            Err(error) => {
                let text = format!("attempts that were left behind cannot be looked at: {error}");
                (self.watch)(&RunEvent::Trouble(text));
            }
        }
        self.settle_hooks();
        self.is_settled = self.leaves_nothing().unwrap_or(false);
        self.give_back_unserved();
    }

    fn leaves_nothing(&mut self) -> store::Result<bool> {
        let me = self.settings.runner;
        self.has_company = self.store.runners()?.iter().any(|runner| runner.id != me);
        Ok(!self.has_company && self.store.open_hooks()?.is_empty())
    }

    /// Gives what was claimed ahead to other runners, if no worker was free for
    /// a while.
    fn give_back_unserved(&mut self) {
        let now = Instant::now();
        let Some(ahead) = &mut self.ahead else { return };
        if self.has_company && ahead.allowed(now) == 0 {
            let now = self.clock.now();
            for job in self.pool.take_back() {
                self.scheduler.give_back(job.claim, "no worker was free for it", now);
            }
        }
    }

    fn settle_left(&mut self) -> Result<Vec<Recovered>, recover::Error> {
        let (me, now) = (self.settings.runner, self.clock.now());
        let store = self.store.as_mut();
        let mut recovered = recover::settle_all(store, &self.dir, Some(me), &[], now)?;
        // One that is in hand again was settled by its supervisor.
        self.abandoned.retain(|claim| !self.scheduler.has(*claim));
        if !self.abandoned.is_empty() {
            recovered.extend(recover::settle_own(store, &self.dir, me, &mut self.abandoned, now)?);
        }
        Ok(recovered)
    }

    /// Ends: strikes the runner out if it owns nothing.
    fn end(mut self) -> End {
        if self.scheduler.in_hand() > 0 {
            return End::Detached;
        }
        self.pool.finish();
        // If it cannot be struck out now, the next runner does.
        match self.store.discharge(self.settings.runner) {
            Ok(true) => End::Finished,
            Ok(false) | Err(_) => End::Detached,
        }
    }
}
