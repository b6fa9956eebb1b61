//! The hooks that a runner has taken.
//!
//! A runner only takes a hook and starts the process that runs it; all else is
//! that process's. What it was taken for and never begun goes back; what was
//! begun and has nobody any more is stopped, if something of it is left, told as
//! unknown, and never begun again.

use std::collections::HashMap;
use std::io;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::recover::Error;
use super::scene::Scene;
use crate::exec::hook::{Launcher, Leash};
use crate::job::hook::{HookEnd, HookId, OpenHook};
use crate::job::{RunnerId, Timestamp};
use crate::store::Store;

const NOBODY: &str = "the process that ran it was killed";

/// The processes of a runner that run hooks.
pub struct Hooks {
    launcher: Box<dyn Launcher>,
    most: usize,
    running: HashMap<HookId, Box<dyn Leash>>,
    ended: Receiver<HookId>,
    tell: Sender<HookId>,
}

impl Hooks {
    /// None yet, and `most` at once.
    pub fn new(launcher: Box<dyn Launcher>, most: usize) -> Self {
        let (tell, ended) = unbounded();
        Self { launcher, most, running: HashMap::new(), ended, tell }
    }

    /// How many more can be started.
    pub fn room(&self) -> usize {
        self.most.saturating_sub(self.running.len())
    }

    /// Whether a process runs.
    pub fn are_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// Where the end of each process is told.
    pub const fn ended(&self) -> &Receiver<HookId> {
        &self.ended
    }

    /// Takes note of the end of a process.
    pub fn note_end(&mut self, hook: HookId) {
        self.running.remove(&hook);
    }

    /// Starts a process that runs a hook.
    ///
    /// # Errors
    /// When none can be started now.
    pub fn start(&mut self, hook: HookId) -> io::Result<()> {
        let tell = self.tell.clone();
        // If nobody listens any more, nobody needs to know.
        let ended = Box::new(move || {
            let _ = tell.send(hook);
        });
        self.running.insert(hook, self.launcher.launch(hook, ended)?);
        Ok(())
    }

    /// Has all of them stop what they run.
    pub fn stop(&self) {
        self.running.values().for_each(|leash| leash.stop());
    }

    /// Tells whether a process of this runner has a hook in hand.
    pub fn have(&self, hook: HookId) -> bool {
        self.running.contains_key(&hook)
    }
}

/// The hooks that were taken and that nobody has in hand: of runners that are
/// gone, and those of runner `me` that `mine` denies.
///
/// # Errors
/// What could not be read.
pub fn left(
    store: &mut dyn Store,
    scene: &dyn Scene,
    me: Option<RunnerId>,
    mine: impl Fn(HookId) -> bool,
) -> Result<Vec<OpenHook>, Error> {
    let open = store.open_hooks()?;
    if open.is_empty() {
        return Ok(open);
    }
    let mut alive = Vec::new();
    for runner in store.runners()? {
        if Some(runner.id) != me && scene.is_alive(&runner)? {
            alive.push(runner.id);
        }
    }
    let mut left = Vec::new();
    for hook in open {
        let is_kept = alive.contains(&hook.owner)
            || Some(hook.owner) == me && mine(hook.id)
            || hook.begun && scene.is_hook_alive(hook.id)?;
        if !is_kept {
            left.push(hook);
        }
    }
    Ok(left)
}

/// Gives back what of these was not begun; stops what is left of the rest, and
/// tells them as unknown. A process that comes late begins nothing, and one that
/// has recorded its end meanwhile is believed: of it nothing is left.
///
/// # Errors
/// What could not be written or looked at.
pub fn settle(
    store: &mut dyn Store,
    scene: &dyn Scene,
    left: &[OpenHook],
    now: Timestamp,
) -> Result<Vec<OpenHook>, Error> {
    let mut unknown = Vec::new();
    for hook in left {
        if hook.begun {
            let why = match scene.stop_hook(hook)? {
                Some(left) => format!("{NOBODY}; {left}"),
                None => NOBODY.to_owned(),
            };
            if store.end_hook(hook.id, &HookEnd::unknown(&why, now))? {
                unknown.push(*hook);
            }
        } else {
            store.give_back_hook(hook.id, hook.owner)?;
        }
        scene.clear_hook_away(hook.id);
    }
    Ok(unknown)
}
