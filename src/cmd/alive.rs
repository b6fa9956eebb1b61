//! Who is alive is proved by a lock that the kernel drops with its owner.

use crate::data_dir::DataDir;
use crate::exec::process::Identity;
use crate::failure::Failure;
use crate::job::{Claim, Timestamp};
use crate::output::Moment;
use crate::output::runners::{Alive, working};
use crate::sched::recover::is_alive;
use crate::sched::scene::{Scene, is_suspended};
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

/// A process that has an attempt in hand and was suspended, so that it hears
/// no wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deaf {
    /// What it is.
    pub(super) part: &'static str,
    /// Its process id.
    pub(super) pid: i32,
}

/// Those of the runner and the supervisors of an attempt that were suspended.
pub(super) fn deaf(
    store: &mut dyn Store,
    dir: &DataDir,
    claim: Claim,
) -> Result<Vec<Deaf>, Failure> {
    let alive = runners(store, dir)?.into_iter();
    let owners = alive.filter(|alive| alive.suspended && alive.runner.id == claim.owner);
    let runner = |alive: Alive| Deaf { part: "the runner", pid: alive.runner.pid };
    let mut deaf: Vec<_> = owners.map(runner).collect();
    // Where journals cannot be read, nobody is named.
    let witnesses = dir.witnesses(claim.owner).unwrap_or_default().into_iter();
    let has_it = witnesses.filter(|one| one.alive && one.journal.of(claim).is_some());
    let supervisors = has_it.filter_map(|one| one.journal.supervisor);
    let suspended = supervisors.filter(Identity::is_suspended);
    deaf.extend(suspended.map(|one| Deaf { part: "a supervisor", pid: one.pid }));
    Ok(deaf)
}
