//! What a runner looks after beside its turns: what workers, other runners and
//! hooks left behind, and what it claimed and cannot start.

use std::time::Instant;

use super::{Drive, Stage};
use crate::crash;
use crate::exec::reason;
use crate::job::hook::HookId;
use crate::sched::recover::{self, Recovered};
use crate::sched::wake::Heard;
use crate::sched::{RunEvent, Step, hooks};
use crate::store;

impl Drive<'_> {
    /// Replaces workers that broke and settles what they and others left
    /// behind. Trouble is said; the next poll tries again.
    pub(super) fn recover(&mut self) {
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
        self.intake.tidy(self.store.as_mut());
        self.is_settled = self.leaves_nothing().unwrap_or(false);
        self.give_back_unserved();
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

    fn leaves_nothing(&mut self) -> store::Result<bool> {
        let me = self.settings.runner;
        self.has_company = self.store.runners()?.iter().any(|runner| runner.id != me);
        Ok(!self.has_company
            && self.store.open_hooks()?.is_empty()
            && self.store.left_handed()?.is_empty())
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

    /// Takes note of what a command wants. Nothing more comes once nobody listens
    /// for it.
    pub(super) fn called(&mut self, came: Option<Heard>) {
        match came {
            Some(Heard::Handed(request)) => self.intake.note(*request),
            Some(Heard::Ring) => self.was_woken = true,
            None => self.wakes.bell = crossbeam_channel::never(),
        }
    }

    /// Gives back what was claimed and not started, and may not be started any
    /// more: its group was paused, or given a lower limit. If the store has
    /// trouble now, the next poll asks again.
    pub(super) fn give_back_beyond_limits(&mut self) {
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

    /// Takes as many hooks as there is room for, and starts a process for each.
    pub(super) fn start_hooks(&mut self, step: &Step) {
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
    pub(super) fn hook_ended(&mut self, hook: Option<HookId>) {
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
}
