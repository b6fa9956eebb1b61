//! Tests of the whole program.

mod adding;
mod showing;
