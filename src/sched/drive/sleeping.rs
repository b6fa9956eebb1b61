//! How a runner sleeps: until something comes or is due, and deeply when nothing
//! is.

use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, select};

use super::{Drive, Stage, Step};

/// Between two orders to stop, since one may come before its job.
const REMIND: Duration = Duration::from_millis(250);

/// A runner that has nothing to do for so long sets its alarm.
const DOZE: Duration = Duration::from_secs(1);

/// So many poll intervals it sleeps then.
const DEEP: u32 = 60;

impl Drive<'_> {
    /// Sleeps until something is to be done, and takes note of all that came.
    pub(super) fn sleep(&mut self, step: Option<&Step>, polls: &Receiver<Instant>) {
        let resting = self.rest_until.is_some();
        let has_more = step.is_none_or(|step| step.more && !resting && self.scheduler.has_room());
        if has_more || self.scheduler.has_news() {
            self.take_in(polls);
            return;
        }
        let unheard = crossbeam_channel::never();
        let mut deep = false;
        loop {
            let wait = self.longest_sleep(step, deep);
            select! {
                recv(self.wakes.workers) -> news => match news {
                    Ok(news) => self.heard(news),
                    Err(_) => unreachable!("the pool keeps a sender"),
                },
                recv(self.wakes.bell) -> came => self.called(came.ok()),
                recv(self.hooks.ended()) -> hook => self.hook_ended(hook.ok()),
                recv(self.wakes.signals) -> _ => self.signalled(),
                recv(if deep { &unheard } else { polls }) -> _ => {
                    if self.sleeps_on(step, &mut deep) {
                        continue;
                    }
                    self.recover();
                }
                default(wait) => {
                    if self.sleeps_on(step, &mut deep) {
                        continue;
                    }
                    self.intake.tidy(self.store.as_mut());
                }
            }
            break;
        }
        if deep {
            // The poll that it has slept through.
            let _ = polls.try_recv();
        }
        self.take_in(polls);
    }

    /// Tells whether time alone woke a runner that has nothing to do: nothing
    /// is due, and nobody has written since it found that out. It sleeps deeply
    /// then, if there is an alarm.
    fn sleeps_on(&mut self, step: Option<&Step>, deep: &mut bool) -> bool {
        *deep = false;
        if !self.is_idle() || !step.is_some_and(|step| step.is_quiet(self.clock.now())) {
            return false;
        }
        // Set first: what is written from here on sets it off.
        let is_set = self.wakes.alarm.as_ref().is_some_and(|alarm| alarm.set().is_ok());
        // What was written before and cannot be seen yet does not.
        let sees_all = is_set && self.store.is_being_written().is_ok_and(|writing| !writing);
        self.look_after_file();
        let sleeps = !self.is_stranded && self.store.has_changed().is_ok_and(|changed| !changed);
        *deep = sleeps && sees_all;
        sleeps
    }

    /// Tells whether there is nothing that it must look after.
    fn is_idle(&self) -> bool {
        self.is_settled
            && self.stage == Stage::Serving
            && self.rest_until.is_none()
            && self.scheduler.in_hand() == 0
            && !self.hooks.are_running()
            && self.abandoned.is_empty()
            && self.broken.is_empty()
            && self.intake.is_clear()
    }

    /// Until the next thing is due, at most the poll interval, or several if an
    /// alarm wakes it before. One that has nothing to do soon sets that.
    fn longest_sleep(&self, step: Option<&Step>, deep: bool) -> Duration {
        let poll_interval = self.settings.poll_interval;
        let dozes = self.wakes.alarm.is_some() && self.is_idle() || !self.intake.is_clear();
        let most = if deep {
            poll_interval.saturating_mul(DEEP)
        } else if dozes {
            poll_interval.min(DOZE)
        } else {
            poll_interval
        };
        let now = Instant::now();
        let until = |at: Option<Instant>| at.map(|at| at.saturating_duration_since(now));
        let due = step.and_then(|step| step.next_due).map(|due| due.since(self.clock.now()));
        let stopping =
            self.stage == Stage::Stopping || step.is_some_and(|step| !step.cancels.is_empty());
        let remind = stopping.then_some(REMIND);
        let waits = [due, until(self.deadline), until(self.rest_until), remind];
        waits.into_iter().flatten().fold(most, Duration::min)
    }
}
