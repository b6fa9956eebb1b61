//! Tests of the whole program.

mod showing;
