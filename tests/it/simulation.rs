//! Runners, supervisors, people and crashes on one store, in any order.
//!
//! A history is what follows from a seed: a few hundred actions of several
//! runners, their workers and supervisors, the jobs they start, people, and
//! trouble (kills, stops, restarts of the machine, clocks that step, a store
//! that is busy or full), one after the other on a clock that stands still
//! between them. Whatever takes several steps is cut between any two. Then the
//! trouble ends, everything runs to its end, and the promises are held against
//! what really happened.
//!
//! Real: the store, the scheduler, recovery, policies. Simulated, with the
//! promises of the real ones: processes, journals, locks and the clock.
//!
//! `AX_SIMULATION_SEED=…` lives one history again and tells each of its
//! actions; `AX_SIMULATION_HISTORIES=…` lives more or fewer of them.

mod act;
mod door;
mod hooks;
mod machine;
mod people;
mod proof;
mod runner;
mod supervising;
mod supervisor;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::Instant;

use ax_scheduler::store::Store;

use door::{Door, Who};
use world::Shared;

const HISTORIES: u64 = 20_000;

/// A number that somebody set for this run.
fn set(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn every_promise_holds_in_every_history() {
    if let Some(seed) = set("AX_SIMULATION_SEED") {
        return live(&Shared::new(true), seed);
    }
    let count = set("AX_SIMULATION_HISTORIES").unwrap_or(HISTORIES);
    let first = fastrand::u64(..u64::MAX / 2);
    let begun = Instant::now();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for part in 0..threads {
            scope.spawn(move || {
                let world = Shared::new(false);
                for seed in (first..first + count).skip(part).step_by(threads) {
                    live_or_tell(&world, seed);
                }
            });
        }
    });
    println!("{count} histories from seed {first} on took {:.1?}", begun.elapsed());
}

/// A history that breaks a promise names its seed.
fn live_or_tell(world: &Shared, seed: u64) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| live(world, seed))) {
        eprintln!("a history broke a promise; AX_SIMULATION_SEED={seed} lives it again");
        resume_unwind(panic);
    }
}

#[test]
fn nobody_who_looked_before_the_machine_restarted_goes_on_after_it() {
    let world = Shared::new(false);
    world.get().begin(1);
    world.get().is_storm = false;
    let mut doors = [Who::Runner(0), Who::Person].map(|who| Door::plain(&world, who));
    assert!(doors.iter_mut().all(|door| door.runners().is_ok()));
    world.get().restart();
    assert!(doors.iter_mut().all(|door| door.runners().is_err()));
    assert!(Door::plain(&world, Who::Person).runners().is_ok(), "but whoever comes later");
}

fn live(world: &Shared, seed: u64) {
    world.get().begin(seed);
    let steps = world.get().rng.u32(8..60);
    for _ in 0..steps {
        act::anything(world, 0);
        world.get().check_step();
    }
    act::run_to_the_end(world);
    world.get().check_end();
    world.get().check_hooks();
}
