//! `ax add` while a runner lives: it hands the job over.

use std::path::Path;
use std::process::Stdio;

use ax_scheduler::data_dir::DataDir;
use nix::sys::signal::Signal;
use rusqlite::Connection;

use super::super::harness::process::{is_suspended, kill};
use super::super::harness::{Desk, Runner, ended};

/// A runner that does nothing unless it is woken, and has forgotten the job that
/// it was handed.
fn runner(desk: &Desk) -> Runner {
    let runner = desk.run(&["--workers", "1", "--poll-interval", "1h"]);
    desk.add(&[], "true");
    desk.wait_for_states(&["success"]);
    desk.wait_until("it is forgotten", || handed(desk.db()) == 0);
    runner
}

/// How many jobs are known to have been handed to a runner.
fn handed(db: &Path) -> i64 {
    let shell = Connection::open(db).expect("opened");
    shell.query_row("SELECT count(*) FROM ax_handed", [], |row| row.get(0)).expect("a number")
}

#[test]
fn a_living_runner_adds_the_job_and_runs_it() {
    let desk = Desk::new();
    let _runner = runner(&desk);
    assert_eq!(desk.ok(&["add", "--", "echo", "a b", "$HOME"]), "2\n");
    desk.wait_for_states(&["success", "success"]);
    assert_eq!(desk.ok(&["logs", "2"]), "a b $HOME\n");
}

#[test]
fn what_is_known_of_a_handed_job_keeps_no_runner_from_sleeping() {
    let desk = Desk::new();
    let runner = runner(&desk);
    for _ in 0..3 {
        desk.add(&["--hold"], "true");
    }
    desk.wait_until("it is forgotten", || handed(desk.db()) == 0);
    desk.wait_until("it sleeps soundly", || runner.watches_a_file());
}

#[test]
fn it_says_the_same_with_a_runner_and_without() {
    let lines: [&[&str]; 6] = [
        &["add", "--after", "77", "true"],
        &["add", "--key", "k", "--hold", "true"],
        &["add", "--key", "k", "--hold", "true"],
        &["add", "--key", "k", "--if-exists", "error", "true"],
        &["add", "--hold", "-n", "a", "--delay", "1h", "-e", "A=1", "--", "x", "y z"],
        &["add", "--hold", "--json", "true"],
    ];
    let (beside, alone) = (Desk::new(), Desk::new());
    let _runner = runner(&beside);
    alone.add(&[], "true");
    for line in lines {
        let [with, without] = [&beside, &alone].map(|desk| desk.ax(line));
        assert_eq!((with.exit, &with.err), (without.exit, &without.err), "{line:?}");
        if line.contains(&"--json") {
            assert_eq!(with.json()["id"], without.json()["id"]);
        } else {
            assert_eq!(with.text(), without.text(), "{line:?}");
        }
    }
    let kept = |desk: &Desk| {
        let fields = ["id", "name", "key", "command", "status", "priority", "max_retries"];
        let of = |job: &serde_json::Value| fields.map(|field| job[field].clone());
        desk.jobs().iter().skip(1).map(of).collect::<Vec<_>>()
    };
    assert_eq!(kept(&beside), kept(&alone));
}

#[test]
fn a_command_that_waits_for_its_job_hears_of_its_end() {
    let desk = Desk::new();
    let _runner = runner(&desk);
    assert_eq!(desk.ax(&["add", "--wait", "-r", "0", "--", "sh", "-c", "exit 3"]).exit, 3);
    assert_eq!(desk.ok(&["add", "--follow", "--", "echo", "hello"]), "hello\n");
}

#[test]
fn a_suspended_runner_keeps_nobody_waiting_and_adds_nothing_twice() {
    let desk = Desk::new();
    let runner = runner(&desk);
    runner.signal(Signal::SIGSTOP);
    desk.wait_until("it is suspended", || is_suspended(runner.pid()));
    for id in 2..=4 {
        assert_eq!(desk.add(&[], "true"), id);
    }
    assert_eq!(handed(desk.db()), 3, "each is known to the runner that has it, too");
    runner.signal(Signal::SIGCONT);
    desk.wait_for_states(&["success"; 4]);
    assert_eq!(desk.add(&[], "true"), 5);
    desk.wait_for_states(&["success"; 5]);
}

#[test]
fn a_job_that_a_runner_added_before_it_ended_is_not_added_again_by_a_late_command() {
    let desk = Desk::new();
    let mut runner = runner(&desk);
    let lock = desk.lock();
    let command = desk.command(&["add", "true"]).stdout(Stdio::piped()).spawn().expect("started");
    let pid = i32::try_from(command.id()).expect("a process id fits");
    let has_opened = |db: &Path| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| std::fs::read_link(file.path()).ok()).any(|file| file == db)
    };
    let db = desk.db().canonicalize().expect("it is there");
    desk.wait_until("it waits no longer for the runner", || has_opened(&db));
    kill(pid, Signal::SIGSTOP);
    desk.wait_until("it is suspended", || is_suspended(pid));
    drop(lock);
    desk.wait_for_states(&["success", "success"]);
    runner.signal(Signal::SIGTERM);
    assert_eq!(runner.exit(), 0);
    let next = desk.run(&["--once"]).exit();
    kill(pid, Signal::SIGCONT);
    assert_eq!((ended(command).text(), next), ("2\n", 0));
    assert_eq!(desk.states(), ["success", "success"]);
    assert_eq!(desk.run(&["--once"]).exit(), 0);
    assert_eq!(handed(desk.db()), 0);
}

#[test]
fn a_job_for_a_new_database_does_not_go_to_the_runner_of_the_old_one() {
    let desk = Desk::new();
    let mut runner = runner(&desk);
    runner.signal(Signal::SIGSTOP);
    desk.wait_until("it is suspended", || is_suspended(runner.pid()));
    for name in ["ax.db", "ax.db-wal", "ax.db-shm"] {
        let _ = std::fs::remove_file(desk.file(name));
    }
    assert_eq!(desk.add(&[], "true"), 1);
    assert_eq!(desk.states(), ["ready"]);
    runner.signal(Signal::SIGCONT);
    assert_eq!(runner.exit(), 5);
    assert_eq!(desk.states(), ["ready"]);
}

#[test]
fn a_job_that_is_too_long_to_be_handed_over_is_added_all_the_same() {
    let desk = Desk::new();
    let _runner = runner(&desk);
    let long = "x".repeat(100_000);
    assert_eq!(desk.ok(&["add", "--", "echo", &long, &long, &long]), "2\n");
    assert_eq!(handed(desk.db()), 0);
    desk.wait_for_states(&["success", "success"]);
}

#[test]
fn another_runner_that_has_a_worker_to_spare_gets_the_job() {
    let desk = Desk::new();
    let runners = [(); 2].map(|()| desk.run(&["--workers", "1", "--poll-interval", "1h"]));
    let wake = DataDir::of(desk.db()).wake();
    desk.wait_until("both listen", || {
        std::fs::read_dir(&wake).is_ok_and(|bells| bells.count() == 2)
    });
    // To the one that is asked first, as the next two.
    let busy = desk.add(&[], &super::super::harness::gate("go"));
    desk.wait_until("it runs", || desk.job(busy)["status"] == "running");
    let quick = [desk.add(&[], "true"), desk.add(&[], "true")];
    for job in quick {
        desk.wait_until("it is done", || desk.job(job)["status"] == "success");
    }
    desk.open("go");
    drop(runners);
}
