//! Who is alive is proved by a lock that the kernel drops with its owner.

use crate::data_dir::DataDir;
use crate::failure::Failure;
use crate::job::Timestamp;
use crate::output::Moment;
use crate::sched::recover::is_alive;
use crate::store::{Runner, Store};

/// The runners that are alive. One that cannot be asked is not shown.
pub(super) fn runners(store: &mut dyn Store, dir: &DataDir) -> Result<Vec<Runner>, Failure> {
    let all = store.runners()?;
    Ok(all.into_iter().filter(|runner| is_alive(dir, runner).unwrap_or(false)).collect())
}

/// What the state of a job is looked at with, now.
pub(super) fn moment(
    store: &mut dyn Store,
    dir: &DataDir,
    now: Timestamp,
) -> Result<Moment, Failure> {
    let runner_alive = !runners(store, dir)?.is_empty();
    Ok(Moment { now, runner_alive })
}
