//! Many who write, one who does not let go, and readers who take their time.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::super::harness::ledger::noted;
use super::super::harness::{Desk, Said, ended, gate};

fn begin(desk: &Desk, words: &[&str]) -> Child {
    let mut command = desk.command(words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ax can be started")
}

fn add_many(desk: &Desk, count: usize, text: &str) {
    let line = serde_json::json!({ "command": text, "max_retries": 0 });
    let said = desk.typing(&["add", "--from", "-"], &format!("{line}\n").repeat(count));
    assert_eq!(said.exit, 0, "{}", said.err);
}

/// This one waits for as long as people would.
#[test]
fn who_cannot_write_for_thirty_seconds_says_so_and_who_reads_does_not_wait() {
    let desk = Desk::new();
    desk.add(&["-r", "0"], &noted(&gate("go")));
    desk.add(&["--hold"], "true");
    let runner = desk.run(&[]);
    desk.wait_until("1 runs", || desk.job(1)["status"] == "running");
    let lock = desk.lock();
    desk.open("go");
    let begun = Instant::now();
    let writers = [
        &["add", "true"][..],
        &["release", "2"],
        &["retry", "2"],
        &["deps", "add", "2", "--after", "1"],
    ];
    let writers = writers.map(|words| begin(&desk, words));
    for words in [&["list"][..], &["show", "1"], &["status"], &["deps"], &["doctor"]] {
        assert_eq!(desk.ax(words).exit, 0, "{words:?}");
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "readers waited");
    for writer in writers {
        let Said { exit, out, err } = ended(writer);
        assert_eq!((exit, out.len()), (5, 0), "{err}");
        assert!(err.contains("ax.db has been busy for 30 s\n"), "{err}");
    }
    assert!(begun.elapsed() >= Duration::from_secs(30), "they gave up too early");
    desk.wait_until("the runner says so", || runner.err().contains("busy for 30 s"));
    drop(lock);
    desk.wait_until("1 has ended", || desk.job(1)["status"] == "success");
    assert_eq!(desk.ledger().starts(), [1]);
    assert_eq!(desk.states(), ["success", "held"], "what was refused was not done");
}

#[test]
fn fifty_who_add_at_once_beside_a_busy_runner_all_succeed() {
    let desk = Desk::new();
    add_many(&desk, 1_500, "true");
    let mut runner = desk.run(&["--workers", "4", "--until-idle"]);
    desk.wait_until("it is at work", || {
        desk.ok(&["list", "status:success", "-n", "1"]).contains("success")
    });
    let adders: Vec<_> = (0..50).map(|_| begin(&desk, &["add", "true"])).collect();
    let mut ids: Vec<i64> = adders
        .into_iter()
        .map(|adder| {
            let said = ended(adder);
            assert_eq!(said.exit, 0, "{}", said.err);
            said.text().trim().parse().expect("an id")
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (1_501..=1_550).collect::<Vec<_>>());
    assert_eq!(runner.exit(), 0);
    assert!(desk.states().iter().all(|state| state == "success"));
}

/// What `ax list | less` is when its reader has gone for lunch.
#[test]
fn a_list_that_nobody_reads_on_keeps_no_log_from_being_emptied() {
    let desk = Desk::new();
    add_many(&desk, 2_000, "true this line is long enough to fill the pipe");
    let long = [
        &["list", "all"][..],
        &["list", "all", "-o", "jsonl"],
        &["list", "all", "-o", "csv"],
        &["show", "all"],
    ];
    for words in long {
        let mut list = begin(&desk, words);
        desk.add(&["--hold"], "true");
        let shell = Connection::open(desk.db()).expect("it opens");
        desk.wait_until("the log can be emptied", || {
            let busy = shell.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
            busy == Ok(0)
        });
        let _ = list.kill();
        let _ = list.wait();
    }
}
