//! `ax bench`: what it says, and that it leaves nothing behind.

use std::fs;
use std::process::Stdio;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::harness::{Desk, ended, process};

const SMALL: [&str; 7] = ["bench", "--jobs", "6", "--workers", "2", "--rounds", "1"];

fn left(desk: &Desk) -> usize {
    fs::read_dir(desk.path()).expect("listed").count()
}

#[test]
fn every_figure_stands_beside_its_limit_and_nothing_is_left() {
    let desk = Desk::new();
    let said = desk.ax(&[&SMALL[..], &["--json"]].concat());
    assert_eq!(said.exit, 0, "{}", said.err);
    let report = said.json();
    let figures = report["figures"].as_array().expect("an array");
    let names: Vec<_> = figures.iter().map(|figure| figure["name"].as_str()).collect();
    let want = ["drain", "add", "add_from", "hand", "start", "child", "chain"];
    assert_eq!(names, want.map(Some));
    for figure in figures {
        for field in ["p50_ms", "p99_ms", "bare_p50_ms", "bare_p99_ms", "ratio", "per_s"] {
            assert!(figure[field].as_f64().is_some_and(|value| value > 0.0), "{field}: {figure}");
        }
        let (p50, p99) = (figure["p50_ms"].as_f64(), figure["p99_ms"].as_f64());
        assert!(p50 <= p99, "{figure}");
    }
    assert_eq!((&report["jobs"], &report["workers"]), (&6.into(), &2.into()));
    assert_eq!(report["tried"].as_array().map(Vec::len), Some(3));
    assert!(report["suggested"]["workers"].is_u64());
    assert!(report["fsync_p50_ms"].is_f64());
    for what in ["drain", "add"] {
        assert!(["spawn", "fsync"].map(Value::from).contains(&report["bound"][what]));
    }
    assert_eq!(left(&desk), 0);
}

#[test]
fn a_person_reads_a_table_and_what_it_means() {
    let desk = Desk::new();
    fs::create_dir(desk.file("disk")).expect("made");
    let text = desk.ok(&[&SMALL[..], &["--dir", "disk"]].concat());
    assert!(text.starts_with("FIGURE"), "{text}");
    for label in ["measured:", "a sync:", "drain bound by:", "add bound by:", "suggested:"] {
        assert!(text.contains(label), "{text}");
    }
    assert_eq!((left(&desk), fs::read_dir(desk.file("disk")).expect("listed").count()), (1, 0));
}

#[test]
fn a_directory_that_is_not_there_is_named_before_anything_is_done() {
    let desk = Desk::new();
    let said = desk.ax(&["bench", "--dir", "nowhere"]);
    assert_eq!(said.exit, 1);
    let want = "ax: nothing can be made in nowhere: no such file or directory\n\
                hint: name another directory with --dir\n";
    assert_eq!(said.err, want);
}

/// Stops a long bench with a signal, once it has come to a stage.
#[track_caller]
fn stopped_at(file: &str, signal: Signal) {
    let desk = Desk::new();
    let mut command = desk.command(&["bench", "--jobs", "2000", "--workers", "2"]);
    let bench = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let is_there = || {
        let dirs = fs::read_dir(desk.path()).expect("listed").flatten();
        dirs.map(|dir| dir.path().join(file)).any(|path| path.exists())
    };
    desk.wait_until("it has come so far", is_there);
    process::kill(bench.id().cast_signed(), signal);
    let said = ended(bench);
    assert_eq!((said.exit, said.text()), (1, ""));
    assert_eq!(said.err, "ax: stopped by a signal; nothing was left behind\n");
    assert_eq!(left(&desk), 0);
    assert_eq!(process::all_of(desk.db()), []);
}

#[test]
fn one_that_is_interrupted_while_jobs_are_drained_leaves_nothing() {
    stopped_at("drain-0.db.d", Signal::SIGINT);
}

#[test]
fn one_that_is_told_to_end_while_jobs_are_added_leaves_nothing() {
    stopped_at("lines.jsonl", Signal::SIGTERM);
}
