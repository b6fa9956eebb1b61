//! What others can reach, and what stands in the place of our files.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::{Path, PathBuf};

use super::super::harness::{Desk, Runner, gate};

/// Everything at and under a path.
fn tree(at: &Path) -> Vec<PathBuf> {
    let mut found = vec![at.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        let entries = fs::read_dir(path).into_iter().flatten();
        found.extend(entries.map(|entry| entry.expect("listed").path()));
    }
    found
}

#[test]
fn whatever_the_umask_nobody_else_can_reach_what_is_ours() {
    let desk = Desk::with_db_in("own");
    let shell = |text: &str| {
        let mut command = desk.program("/bin/sh");
        command.args(["-c", text, env!("CARGO_BIN_EXE_ax")]);
        command
    };
    let text = format!("umask 000; \"$0\" add -- sh -c 'echo early; {}'", gate("go"));
    assert!(shell(&text).status().expect("a shell").success());
    let mut runner = Runner::start(&desk, &mut shell("umask 000; exec \"$0\" run --once"));
    desk.wait_until("it is told of", || desk.file("own/ax.db.d/out/1.1.log").exists());
    let mut seen = 0;
    for path in tree(&desk.file("own")).into_iter().skip(1) {
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        let wanted = if found.is_dir() { 0o700 } else { 0o600 };
        let is_socket = !found.is_file() && !found.is_dir();
        assert!(
            is_socket || found.mode() & 0o777 == wanted,
            "{}: {:o}",
            path.display(),
            found.mode()
        );
        seen += 1;
    }
    assert!(seen > 8, "the database, its log, its directories, locks and output");
    desk.open("go");
    assert_eq!(runner.exit(), 0);
}

#[test]
fn a_link_in_place_of_our_directory_is_not_followed() {
    let desk = Desk::new();
    desk.add(&[], "true");
    let elsewhere = desk.file("elsewhere");
    fs::create_dir(&elsewhere).expect("made");
    symlink(&elsewhere, desk.file("ax.db.d")).expect("a link");
    let said = desk.ax(&["run", "--once"]);
    assert_eq!(said.exit, 5);
    assert!(said.err.contains("ax.db.d is not a directory"), "{}", said.err);
    assert_eq!(fs::read_dir(&elsewhere).expect("listed").count(), 0);
    assert_eq!(desk.states(), ["ready"]);
}

#[test]
fn links_in_place_of_output_are_neither_written_to_nor_read() {
    let desk = Desk::new();
    desk.add(&["-r", "0"], &format!("echo mine; {}", gate("go")));
    desk.add(&["-r", "0"], "yes mine | head -c 300000");
    fs::write(desk.file("secret"), "secret\n").expect("written");
    let mut runner = desk.run(&["--workers", "1", "--until-idle"]);
    desk.wait_until("it is told of", || desk.file("ax.db.d/out/1.1.log").exists());
    for name in ["1.1.log", "2.1.log", "runner-1.0.spool", "runner-1.1.spool"] {
        let path = desk.file("ax.db.d/out").join(name);
        let _ = fs::remove_file(&path);
        symlink(desk.file("secret"), path).expect("a link");
    }
    let logs = desk.ax(&["logs", "1"]);
    assert!(!String::from_utf8_lossy(&logs.out).contains("secret"), "{}", logs.err);
    desk.open("go");
    assert_eq!(runner.exit(), 0);
    for id in ["1", "2"] {
        assert!(!desk.ok(&["logs", id]).contains("secret"));
    }
    assert_eq!(fs::read_to_string(desk.file("secret")).expect("there"), "secret\n");
}

#[test]
fn what_a_lost_job_is_said_to_have_printed_is_not_read_through_a_link() {
    let desk = Desk::new();
    desk.add(&["--on-lost", "hold"], &format!("echo $$ > main; {}", gate("go")));
    let runner = desk.run(&[]);
    desk.pid_in("main");
    desk.wait_for_states(&["running"]);
    fs::write(desk.file("secret"), "secret\n").expect("written");
    let output = desk.file("ax.db.d/out/1.1.log");
    let _ = fs::remove_file(&output);
    symlink(desk.file("secret"), output).expect("a link");
    runner.kill_with_supervisors();
    desk.ok(&["recover"]);
    assert_eq!(desk.states(), ["held"]);
    let logs = desk.ax(&["logs", "1"]);
    assert!(!String::from_utf8_lossy(&logs.out).contains("secret"));
    assert!(!desk.ok(&["show", "1"]).contains("secret"));
}

/// In `/tmp`, somebody else may lay down what the engine takes for a log of ours.
#[test]
fn a_log_of_another_user_is_refused() {
    for suffix in ["-wal", "-shm", "-journal"] {
        let desk = Desk::new();
        let path = desk.file(&format!("ax.db{suffix}"));
        fs::write(&path, "").expect("written");
        if chown(&path, Some(1), None).is_err() {
            eprintln!("skipped: only root can give a file away");
            return;
        }
        let said = desk.ax(&["add", "true"]);
        assert_eq!(said.exit, 5, "{suffix}");
        assert!(said.err.contains("beside it is not a file of yours"), "{}", said.err);
        assert_eq!(fs::metadata(&path).expect("there").len(), 0, "it is left as it was");
    }
}
