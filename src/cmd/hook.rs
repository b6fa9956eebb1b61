//! `ax __hook`: the process that runs one hook, and records how it ended.

use std::fs;
use std::io::{self, Read};
use std::thread;
use std::time::Duration;

use super::printed::{self, Unopened};
use super::{Answer, Context};
use crate::cli::HookArgs;
use crate::clock::{Clock, SystemClock};
use crate::crash;
use crate::data_dir::DataDir;
use crate::exec::hook::Stage;
use crate::exec::{lock, reason};
use crate::exit;
use crate::failure::Failure;
use crate::job::hook::{self, Ending, HookEnd, HookId, HookTask};
use crate::job::{RunnerId, Spec};
use crate::store::{self, Store};

/// Between two tries to store how it ended.
const REST: Duration = Duration::from_secs(1);

/// Runs the command.
///
/// # Errors
/// When it cannot begin; nothing was begun then.
pub(super) fn run(args: HookArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let failed = |error: io::Error| Failure::failed(format!("the hook: {}", reason(&error)));
    let (hook, runner) = (HookId(args.hook), RunnerId(args.runner));
    let mut stage = Stage::new().map_err(failed)?;
    let dir = context.data_dir();
    let path = dir.hook_lock(hook);
    forget_the_dead(&dir, hook);
    // Whoever finds it begun and this not held knows that nobody runs it.
    let lock = lock::hold_lock(&path).map_err(failed)?;
    let mut store = store::open_existing(&context.db)?;
    crash::point("hook", "before-begin");
    let Some(task) = store.begin_hook(hook, runner, context.now())? else {
        let _ = fs::remove_file(&path);
        return Ok(Answer::silent(exit::DONE));
    };
    crash::point("hook", "after-begin");
    let spec = spec(task, store.as_mut(), context);
    drop(store);
    let (outcome, output) = stage.play(&spec, dir.spool(&path));
    crash::point("hook", "before-record");
    record(hook, &HookEnd { outcome, output: output.bytes, at: SystemClock.now() }, context);
    crash::point("hook", "after-record");
    let _ = fs::remove_file(&path);
    drop(lock);
    context.wake_runners();
    Ok(Answer::silent(exit::DONE))
}

/// Clears away what a process left that was killed before it began this hook.
fn forget_the_dead(dir: &DataDir, hook: HookId) {
    let path = dir.hook_lock(hook);
    if lock::is_locked(&path).is_ok_and(|is_locked| !is_locked) {
        let _ = fs::remove_file(path);
    }
}

/// How to run it, with what it is told of the end it is about.
fn spec(task: HookTask, store: &mut dyn Store, context: &Context<'_>) -> Spec {
    use std::os::unix::ffi::OsStrExt;
    let HookTask { ending, spec } = task;
    let output = last_lines(&ending, store, context).unwrap_or_default();
    let told = ending.variables(context.db.as_os_str().as_bytes(), &output);
    Spec { extra_env: spec.extra_env.overlaid(&told), ..spec }
}

/// The last lines that the attempt printed. A hook goes without those that
/// cannot be read.
fn last_lines(
    ending: &Ending,
    store: &mut dyn Store,
    context: &Context<'_>,
) -> Result<Vec<u8>, Unopened> {
    let mut bytes = Vec::new();
    let dir = context.data_dir();
    if let Some(mut output) = printed::read_output(store, &dir, ending.job, ending.attempt)? {
        let _ = output
            .skip_to_last_lines(hook::LINES)
            .and_then(|()| output.skip_to_last_bytes(hook::BYTES))
            .and_then(|()| output.take(hook::BYTES).read_to_end(&mut bytes));
    }
    Ok(bytes)
}

/// Stores how the hook ended, however long that takes.
fn record(hook: HookId, end: &HookEnd, context: &Context<'_>) {
    let write = || store::open_existing(&context.db)?.end_hook(hook, end);
    while let Err(error) = write() {
        if matches!(error, store::Error::Unusable { .. }) && !context.db.exists() {
            // The database was removed; nobody is left to tell.
            return;
        }
        thread::sleep(REST);
    }
}
