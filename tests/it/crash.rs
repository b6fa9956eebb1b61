//! The real binary, killed at named places around every commit, start of a
//! process and write to a file; then others take over, and every promise is
//! held against what they leave.
//!
//! Needs the feature `failpoints`: `cargo test --features failpoints --test it crash`.
//! What stands after a place is a piece of the language of `fail`; `{later}`
//! becomes nothing, or lets some pass first.

mod adding;
mod cancelling;
mod hooks;
mod places;
mod sleepers;
mod undying;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use ax_scheduler::data_dir::DataDir;
use ax_scheduler::exec::journal::Journal;
use nix::sys::prctl::set_child_subreaper;
use rustix::process::{Pid, WaitOptions, waitpid};
use serde_json::Value;

use super::harness::{Desk, Runner, process};
use super::proof::Proof;
use super::proof::shapes::{self, Shape};

/// No list of places ends more processes than this.
const MOST_DEATHS: usize = 12;

/// What each job takes, in seconds: some are told of by their end alone, some
/// live long enough to be told of by their start.
const SECONDS: [f64; 2] = [0.0, 0.05];

/// Lets processes die at these places, with each shape of jobs alone and with
/// all of them together; fails if nothing was ever killed.
#[track_caller]
fn die_at(places: &str) {
    let mut deaths = 0;
    for (shape, seconds) in Shape::ALL.into_iter().zip(SECONDS.into_iter().cycle()) {
        deaths += live_through(&places.replace("{later}", ""), &[shape], seconds);
    }
    for (later, seconds) in ["", "1*off->", "4*off->"].into_iter().zip(SECONDS.into_iter().cycle())
    {
        deaths += live_through(&places.replace("{later}", later), &Shape::ALL, seconds);
    }
    assert!(deaths > 0, "nobody ever comes to {places}");
}

/// Adds the jobs, lets runners run them until one is done, and checks every
/// promise; tells how many places have killed.
#[track_caller]
fn live_through(places: &str, shapes: &[Shape], seconds: f64) -> usize {
    println!("{places} with {shapes:?} of {seconds} s");
    let desk = desk();
    let lines: Vec<_> =
        shapes.iter().flat_map(|shape| shape.lines(&format!("{shape:?}"), seconds)).collect();
    let ids = add_all(&desk, &lines);
    let mut exits = run_to_the_end(&desk, places);
    exits.push(settle(&desk));
    Proof::gather(&desk.file("ledger"), desk.db(), ids, exits).check();
    fs::read_dir(desk.file("crashed")).expect("a directory").count()
}

/// A desk where places leave their marks.
fn desk() -> Desk {
    set_child_subreaper(true).expect("it can be asked for");
    let desk = Desk::new();
    shapes::lay_out(desk.path());
    fs::create_dir(desk.file("crashed")).expect("a directory can be made");
    desk
}

fn add_all(desk: &Desk, lines: &[Value]) -> Vec<i64> {
    let said = desk.typing(&["add", "--from", "-", "--kill-after", "100ms"], &shapes::text(lines));
    assert_eq!(said.exit, 0, "{}", said.err);
    said.text().lines().map(|id| id.parse().expect("an id")).collect()
}

/// Starts runners until one ends by itself; gives the exit codes.
#[track_caller]
fn run_to_the_end(desk: &Desk, places: &str) -> Vec<i32> {
    let words = ["run", "--until-idle", "--workers", "2", "--poll-interval", "20ms"];
    for _ in 0..MOST_DEATHS {
        let mut command = desk.command(&words);
        let status = Runner::start(desk, doomed(desk, &mut command, places)).status();
        match status.code() {
            Some(code) => return vec![code],
            None => assert_eq!(status.signal(), Some(9)),
        }
        bury_the_dead(desk);
    }
    panic!("runners die for ever at {places}");
}

/// Waits for supervisors that were killed, as the first process of a machine
/// does: after that nothing of them is left but their files.
fn bury_the_dead(desk: &Desk) {
    let locks = fs::read_dir(DataDir::of(desk.db()).locks()).into_iter().flatten();
    for path in locks.map(|entry| entry.expect("listed").path()) {
        let supervisor = Journal::read(&path).ok().and_then(|journal| journal.supervisor);
        if let Some(pid) = supervisor.and_then(|supervisor| Pid::from_raw(supervisor.pid)) {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

/// Lets a command die at these places, once at each.
fn doomed<'a>(desk: &Desk, command: &'a mut Command, places: &str) -> &'a mut Command {
    command.env("FAILPOINTS", places).env("AX_CRASHED", desk.file("crashed"))
}

/// Waits until every supervisor has left, and sees to what nobody has seen to.
#[track_caller]
fn settle(desk: &Desk) -> i32 {
    desk.wait_until("all supervisors have left", || process::all_of(desk.db()).is_empty());
    let settled = desk.ax(&["recover"]).exit;
    desk.ok(&["doctor", "--fix"]);
    desk.ok(&["doctor"]);
    settled
}
