//! Hooks, with whoever takes or runs them killed half-way.

use std::collections::BTreeMap;
use std::fs;

use super::{desk, run_to_the_end, settle};

const JOBS: i64 = 4;

/// Lets processes die at a place; the hooks of a few jobs are run all the same,
/// none of them twice, and one that may have been run is told as unknown.
#[track_caller]
fn die_at(place: &str, laters: &[&str]) {
    for later in laters {
        let desk = desk();
        for _ in 0..JOBS {
            desk.add(&["--on-end", "echo $AX_JOB_ID >> ran"], "true");
        }
        run_to_the_end(&desk, &format!("{place}={later}return"));
        settle(&desk);
        run_to_the_end(&desk, "");
        let deaths = fs::read_dir(desk.file("crashed")).expect("a directory").count();
        assert!(deaths > 0, "nobody ever comes to {place}");
        let text = fs::read_to_string(desk.file("ran")).unwrap_or_default();
        let mut ran = BTreeMap::new();
        for line in text.lines() {
            *ran.entry(line.parse::<i64>().expect("an id")).or_insert(0) += 1;
        }
        for job in 1..=JOBS {
            let hooks = desk.job(job)["hooks"].clone();
            assert_eq!(hooks.as_array().map(Vec::len), Some(1), "{place}: {hooks}");
            let (outcome, times) = (&hooks[0]["outcome"], ran.get(&job).copied().unwrap_or(0));
            match outcome.as_str() {
                Some("exited") => assert_eq!(times, 1, "{place}: {hooks}"),
                Some("lost") => assert!(times <= 1, "{place}: {hooks}"),
                _ => panic!("{place}: {hooks}"),
            }
        }
    }
}

#[test]
fn a_runner_that_is_killed_while_it_takes_hooks_loses_none_and_doubles_none() {
    for place in [
        "take-hooks/before-begin",
        "take-hooks/before-commit",
        "take-hooks/after-commit",
        "hooks/after-take",
    ] {
        die_at(place, &["", "1*off->"]);
    }
}

#[test]
fn a_process_that_is_killed_while_it_runs_a_hook_loses_none_and_doubles_none() {
    for place in [
        "hook/before-begin",
        "begin-hook/before-commit",
        "begin-hook/after-commit",
        "hook/after-begin",
        "hook/before-record",
        "end-hook/before-commit",
        "end-hook/after-commit",
        "hook/after-record",
    ] {
        // Each has a process of its own, which comes there once.
        die_at(place, &[""]);
    }
}
