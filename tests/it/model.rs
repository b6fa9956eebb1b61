//! Random lives of a store: whatever people, runners and editors by hand do in
//! whatever order, the promises of SPEC §1 to §3 and §5 hold after each step.
//!
//! A case is a list of [`Op`]s. After each one the rows are read beside the
//! store and held against the invariants of [`snapshot`] and [`world`]; in the
//! end everything is run to its end, so that nothing waits for ever.

mod op;
pub(crate) mod snapshot;
mod world;

use proptest::prelude::*;
use proptest::test_runner::Config;

use op::{Op, ops};
use world::World;

proptest! {
    #![proptest_config(Config { cases: 256, failure_persistence: None, ..Config::default() })]

    #[test]
    fn every_promise_holds_after_every_step(ops in ops()) {
        live(&ops);
    }
}

fn live(ops: &[Op]) {
    let mut world = World::new();
    for op in ops {
        world.step(op);
    }
    world.run_to_the_end();
}
