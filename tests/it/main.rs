//! Tests of the whole program.

mod adding;
mod cli;
mod exec;
mod generated;
mod harness;
mod layering;
mod model;
mod running;
mod sched;
mod showing;
mod store;
