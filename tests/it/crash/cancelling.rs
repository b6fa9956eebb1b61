//! `ax cancel`, and whoever grants the wish, killed half-way.

use std::os::unix::process::ExitStatusExt;

use super::super::harness::process::is_alive;
use super::super::harness::{Desk, Runner};
use super::{desk, doomed};

/// A runner that may be doomed, with a job that runs.
fn busy(desk: &Desk, places: &str) -> (Runner, [i32; 2]) {
    desk.add(&["--on-lost", "hold"], "sleep 300 & echo $! > child; echo $$ > main; wait");
    let mut command = desk.command(&["run", "--poll-interval", "50ms"]);
    let runner = Runner::start(desk, doomed(desk, &mut command, places));
    let pids = ["main", "child"].map(|name| desk.pid_in(name));
    desk.wait_for_states(&["running"]);
    (runner, pids)
}

#[test]
fn a_cancel_that_is_killed_ends_its_job_or_leaves_it_alone() {
    for (place, is_heard) in
        [("before-begin", false), ("before-commit", false), ("after-commit", true)]
    {
        let desk = desk();
        let (_runner, pids) = busy(&desk, "");
        let mut cancel = desk.command(&["cancel", "1"]);
        let status = doomed(&desk, &mut cancel, &format!("cancel/{place}=return")).status();
        assert_eq!(status.expect("it can be started").signal(), Some(9), "{place}");
        if !is_heard {
            assert_eq!((desk.states(), pids.map(is_alive)), (vec!["running".into()], [true; 2]));
            desk.ok(&["cancel", "1"]);
        }
        desk.wait_for_states(&["cancelled"]);
        assert_eq!(pids.map(is_alive), [false; 2], "{place}");
    }
}

#[test]
fn a_wish_outlives_whoever_dies_while_it_is_granted() {
    for places in [
        "end/before-capture=return",
        "end/before-journal=return",
        "end/before-report=return",
        "end/after-report=return",
        "bury/before-look=return; end/before-journal=return",
        "bury/before-look=return; end/before-report=return",
    ] {
        let desk = desk();
        let (_runner, pids) = busy(&desk, places);
        desk.ok(&["cancel", "1"]);
        assert_eq!((desk.states(), pids.map(is_alive)), (vec!["cancelled".into()], [false; 2]));
        let deaths = std::fs::read_dir(desk.file("crashed")).expect("a directory").count();
        assert!(deaths > 0, "nobody ever comes to {places}");
    }
}
