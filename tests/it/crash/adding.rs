//! `ax add`, killed half-way.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use ax_scheduler::data_dir::DataDir;
use nix::sys::signal::Signal;

use super::super::harness::{Desk, Runner};
use super::super::proof::Proof;
use super::super::proof::shapes::{self, Shape};
use super::super::scheduling::make_due;
use super::{add_all, desk, doomed, run_to_the_end, settle};

const PLACES: [(&str, bool); 6] = [
    ("file/after-create", false),
    ("migrate/before-commit", false),
    ("migrate/after-commit", false),
    ("add/before-begin", false),
    ("add/before-commit", false),
    ("add/after-commit", true),
];

/// Adds jobs and is killed at a place; nobody hears an id.
#[track_caller]
fn add_and_die(desk: &Desk, words: &[&str], typed: &str, place: &str) {
    let mut command = desk.command(words);
    doomed(desk, &mut command, &format!("{place}=return"));
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().expect("ax can be started");
    // It may be dead before it has read a word.
    let _ = child.stdin.take().expect("it was piped").write_all(typed.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.signal(), output.stdout.len()), (Some(9), 0), "{place}");
}

#[test]
fn an_add_that_is_killed_adds_its_job_or_nothing() {
    for (place, is_added) in PLACES {
        let desk = desk();
        add_and_die(&desk, &["add", "sh", "job.sh", "0", "0", "1"], "", place);
        assert_eq!(desk.jobs().len(), usize::from(is_added), "{place}");
        go_on(&desk);
    }
}

#[test]
fn a_file_that_is_killed_as_it_is_added_is_added_as_a_whole_or_not_at_all() {
    let lines: Vec<_> =
        Shape::ALL.iter().flat_map(|shape| shape.lines(&format!("{shape:?}"), 0.0)).collect();
    for (place, is_added) in PLACES {
        let desk = desk();
        add_and_die(&desk, &["add", "--from", "-"], &shapes::text(&lines), place);
        assert_eq!(desk.jobs().len(), if is_added { lines.len() } else { 0 }, "{place}");
        go_on(&desk);
    }
}

/// A runner that waits, and is killed at these places.
fn waiting_runner(desk: &Desk, places: &str) -> Runner {
    let mut command = desk.command(&["run", "--workers", "1", "--poll-interval", "20ms"]);
    let runner = Runner::start(desk, doomed(desk, &mut command, places));
    desk.wait_until("it listens", || {
        let bells = std::fs::read_dir(DataDir::of(desk.db()).wake());
        bells.is_ok_and(|mut bells| bells.next().is_some())
    });
    runner
}

#[test]
fn a_job_whose_runner_dies_as_it_takes_it_is_added_once() {
    for place in [
        "add-handed/before-begin",
        "add-handed/before-commit",
        "add-handed/after-commit",
        "hand/before-answer",
    ] {
        let desk = desk();
        let mut runner = waiting_runner(&desk, &format!("{place}=return"));
        let id = desk.ok(&["add", "sh", "job.sh", "0", "0", "1"]);
        assert_eq!((id.as_str(), desk.jobs().len()), ("1\n", 1), "{place}");
        assert_eq!(runner.status().signal(), Some(9), "{place}: the job was not handed over");
        let exits = vec![desk.run(&["--until-idle"]).exit(), settle(&desk)];
        Proof::gather(&desk.file("ledger"), desk.db(), [1], exits).check();
    }
}

#[test]
fn a_command_that_is_killed_once_it_has_handed_its_job_over_has_added_it_or_nothing() {
    let desk = desk();
    let mut runner = waiting_runner(&desk, "");
    add_and_die(&desk, &["add", "sh", "job.sh", "0", "0", "1"], "", "hand/after-send");
    let heard = desk.ok(&["add", "sh", "job.sh", "0", "0", "1"]);
    desk.wait_until("both are answered, and it is forgotten", || {
        let shell = rusqlite::Connection::open(desk.db()).expect("opened");
        let known = "SELECT count(*) FROM ax_handed";
        shell.query_row(known, [], |row| row.get::<_, i64>(0)).expect("a number") == 0
    });
    let added = desk.jobs().len();
    assert!((1..=2).contains(&added), "{added} jobs for one add and a killed one");
    runner.signal(Signal::SIGTERM);
    let exits = vec![runner.exit(), desk.run(&["--until-idle"]).exit(), settle(&desk)];
    let id = heard.trim().parse().expect("an id");
    Proof::gather(&desk.file("ledger"), desk.db(), [id], exits).check();
}

/// Others add and run as if nothing had been.
#[track_caller]
fn go_on(desk: &Desk) {
    let ids = add_all(desk, &Shape::Chain.lines("later", 0.0));
    let mut exits = run_to_the_end(desk, "");
    exits.push(settle(desk));
    Proof::gather(&desk.file("ledger"), desk.db(), ids, exits).check();
}

#[test]
fn a_flow_that_is_killed_as_it_is_put_in_is_put_in_as_a_whole_or_not_at_all() {
    const FLOW: &str = "
        name = 'f'
        [defaults]
        max_retries = 1
        retry_delay = '20ms'
        [jobs.first]
        run = ['sh', 'job.sh', '0.05', '0', '1']
        [jobs.second]
        run = ['sh', 'job.sh', '0', '1', '2']
        after = 'first'
        [jobs.third]
        run = ['sh', 'job.sh', '0', '0', '1']
        after = ['first', 'second']
    ";
    for (place, count) in [
        ("enqueue/before-commit", 0),
        ("enqueue/after-commit", 3),
        ("turn/before-commit", 3),
        ("turn/after-commit", 3),
        ("start/after-journal=return; bury/before-look", 3),
    ] {
        let desk = desk();
        std::fs::write(desk.file("f.toml"), FLOW).expect("a file can be made");
        add_and_die(&desk, &["run", "f.toml", "--poll-interval", "20ms", "--json"], "", place);
        assert_eq!(desk.jobs().len(), count, "{place}");
        go_on(&desk);
    }
}

#[test]
fn a_start_of_a_schedule_is_put_in_once_whoever_dies_on_the_way() {
    for (place, is_there) in [("schedule/before-commit", false), ("schedule/after-commit", true)] {
        let desk = desk();
        let words = ["schedule", "add", "tick", "--cron", "@yearly", "sh", "job.sh", "0", "0", "1"];
        add_and_die(&desk, &words, "", place);
        assert_eq!(desk.jobs().len(), usize::from(is_there), "{place}");
        if !is_there {
            desk.ok(&words);
        }
        for place in ["turn/before-commit", "turn/after-commit"] {
            make_due(&desk, "tick");
            add_and_die(&desk, &["run", "--once", "--json"], "", place);
            assert_eq!(desk.ax(&["run", "--once"]).exit, 0, "{place}");
        }
        let states = desk.states();
        assert_eq!(states, ["success", "success", "pending"], "{place}");
        settle(&desk);
    }
}
