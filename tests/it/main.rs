//! Tests of the whole program.

mod adding;
mod exec;
mod generated;
mod layering;
mod model;
mod showing;
mod store;
