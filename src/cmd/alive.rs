//! Who is alive is proved by a lock that the kernel drops with its owner.

use crate::data_dir::DataDir;
use crate::failure::Failure;
use crate::job::Timestamp;
use crate::output::Moment;
use crate::output::runners::{Alive, working};
use crate::sched::recover::is_alive;
use crate::sched::scene::is_suspended;
use crate::store::{Runner, Store};

/// The runners that are alive. One that cannot be asked is not shown.
pub(super) fn runners(store: &mut dyn Store, dir: &DataDir) -> Result<Vec<Alive>, Failure> {
    let mut all = store.runners()?;
    all.retain(|runner| is_alive(dir, runner).unwrap_or(false));
    let alive = |runner: Runner| Alive { suspended: is_suspended(&runner), runner };
    Ok(all.into_iter().map(alive).collect())
}

/// What the state of a job is looked at with, now.
pub(super) fn moment(
    store: &mut dyn Store,
    dir: &DataDir,
    now: Timestamp,
) -> Result<Moment, Failure> {
    Ok(Moment { now, runners: working(&runners(store, dir)?) })
}
