//! `ax run`, with real processes.

mod cancelling;
mod clocks;
mod flows;
mod handing;
mod hardship;
mod hooks;
mod limiting;
mod losing;
mod serving;
mod sharing;
mod speaking;
mod stopping;
mod waiting;

use super::harness::{Desk, Runner, gate};

/// Shell text of a job that writes its start and its end into the ledger and
/// waits between for a file `go`.
fn gated() -> String {
    super::harness::ledger::noted(&gate("go"))
}

/// A runner of one worker with a job that waits for `go` and two more claimed.
fn busy_runner(desk: &Desk, options: &[&str]) -> Runner {
    for _ in 0..3 {
        desk.add(&[], &gated());
    }
    let queue = if options.contains(&"--queue-size") { &[][..] } else { &["--queue-size", "4"] };
    let runner = desk.run(&[&["--workers", "1"], queue, options].concat());
    desk.wait_for_states(&["running", "dispatched", "dispatched"]);
    runner
}
