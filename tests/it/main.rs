//! Tests of the whole program.

mod adding;
mod bench;
mod chaos;
mod cli;
mod completing;
mod configuring;
#[cfg(feature = "failpoints")]
mod crash;
mod crontabs;
mod exec;
mod following;
mod generated;
mod harness;
mod layering;
mod live;
mod model;
mod morning;
mod proof;
mod readme;
mod running;
mod sched;
mod scheduling;
mod showing;
mod simulation;
mod store;
mod stress;
