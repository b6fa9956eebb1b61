//! Tests of the whole program.

mod adding;
mod exec;
mod generated;
mod showing;
mod store;
