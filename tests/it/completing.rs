//! Completion: what `ax __complete` answers, and what bash makes of it.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use super::harness::{Desk, said};

/// A desk with a few jobs of different kinds.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.add(&["-n", "nightly copy", "--key", "k1", "--group", "encode"], "true");
    desk.add(&["-n", "report", "--mutex", "disk"], "true");
    desk.ok(&["group", "set", "slow", "--parallel", "2"]);
    desk.ok(&["schedule", "add", "backup", "--cron", "@daily", "--", "true"]);
    fs::write(desk.file("nightly.toml"), "[jobs.fetch]\nrun = 'true'\n").expect("written");
    desk.ok(&["apply", "nightly.toml"]);
    desk
}

/// The values for the last of these words, without what is said of them.
fn values(desk: &Desk, words: &[&str]) -> Vec<String> {
    let index = (words.len() - 1).to_string();
    let said = desk.ax(&[&["__complete", &index, "--"], words].concat());
    assert_eq!((said.exit, said.err.as_str()), (0, ""));
    let value = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    said.text().lines().map(value).collect()
}

#[test]
fn commands_options_and_their_values_are_completed() {
    let desk = desk();
    assert_eq!(values(&desk, &["ax", "sch"]), ["schedule"]);
    assert_eq!(values(&desk, &["ax", "l"]), ["list", "ls", "logs", "log"]);
    assert_eq!(values(&desk, &["ax", "schedule", "re"]), ["resume", "remove"]);
    assert_eq!(values(&desk, &["ax", "add", "--on-end"]), ["--on-end", "--on-end-timeout"]);
    assert!(values(&desk, &["ax", "add", "--"]).contains(&"--db".to_owned()));
    assert_eq!(values(&desk, &["ax", "run", "--on-stop", ""]), ["wait", "detach", "kill"]);
    assert_eq!(values(&desk, &["ax", "run", "--on-stop=d"]), ["--on-stop=detach"]);
    assert_eq!(values(&desk, &["ax", "list", "--status", "dead,fa"]), ["dead,failed"]);
    assert_eq!(values(&desk, &["ax", "list", "-o", "c"]), ["csv"]);
    assert_eq!(values(&desk, &["ax", "help", "ex"]), ["exit-codes"]);
    assert_eq!(values(&desk, &["ax", "schedule", "add", "--tz", "Europe/Ber"]), ["Europe/Berlin"]);
    assert!(!values(&desk, &["ax", ""]).iter().any(|value| value.starts_with("__")));
    assert_eq!(values(&desk, &["ax", "frobnicate", ""]), Vec::<String>::new());
}

#[test]
fn jobs_and_what_they_are_in_are_completed_from_the_database() {
    let desk = desk();
    assert_eq!(values(&desk, &["ax", "show", ""])[..4], ["4", "3", "2", "1"]);
    assert!(values(&desk, &["ax", "show", ""]).contains(&"status:".to_owned()));
    assert_eq!(values(&desk, &["ax", "cancel", "1", "3,2"]), ["3,2"]);
    assert_eq!(values(&desk, &["ax", "add", "--after", "1,"]), ["1,4", "1,3", "1,2", "1,1"]);
    assert_eq!(values(&desk, &["ax", "edit", "2"]), ["2"]);
    assert_eq!(values(&desk, &["ax", "wait", "name:n"]), ["name:nightly copy"]);
    assert_eq!(values(&desk, &["ax", "wait", "key:"]), ["key:k1"]);
    assert_eq!(values(&desk, &["ax", "retry", "status:d"]), ["status:dispatched", "status:dead"]);
    assert_eq!(values(&desk, &["ax", "list", "flow:"]), ["flow:nightly"]);
    assert_eq!(values(&desk, &["ax", "hold", "group:"]), ["group:encode", "group:slow"]);
    assert_eq!(values(&desk, &["ax", "show", "schedule:b"]), ["schedule:backup"]);
    assert_eq!(values(&desk, &["ax", "schedule", "pause", ""]), ["backup"]);
    assert_eq!(values(&desk, &["ax", "schedule", "add", ""]), Vec::<String>::new());
    assert_eq!(values(&desk, &["ax", "group", "pause", "e"]), ["encode"]);
    assert_eq!(values(&desk, &["ax", "add", "-g", "s"]), ["slow"]);
    assert_eq!(values(&desk, &["ax", "add", "--mutex", ""]), ["disk"]);
    let told = desk.ok(&["__complete", "2", "--", "ax", "show", "2"]);
    assert_eq!(told, "2\tready report\n");
}

#[test]
fn files_directories_and_commands_are_left_to_the_shell() {
    let desk = desk();
    assert_eq!(values(&desk, &["ax", "run", ""]), [":files"]);
    assert_eq!(values(&desk, &["ax", "add", "--cwd", ""]), [":dirs"]);
    assert_eq!(values(&desk, &["ax", "add", "--name", "x", "ma"]), [":commands"]);
    assert_eq!(values(&desk, &["ax", "add", "make", "-"]), [":commands"], "they are its words");
    assert_eq!(values(&desk, &["ax", "add", "--", "-"]), [":commands"]);
}

#[test]
fn nothing_is_made_and_nobody_is_disturbed() {
    let desk = Desk::new();
    assert_eq!(values(&desk, &["ax", "show", "1"]), Vec::<String>::new());
    assert!(!desk.db().exists());
    fs::write(desk.db(), "no database, but long enough to be looked at. ".repeat(20))
        .expect("made");
    assert_eq!(values(&desk, &["ax", "show", "1"]), Vec::<String>::new());
    fs::create_dir_all(desk.file("config/ax")).expect("made");
    fs::write(desk.file("config/ax/config.toml"), "nonsense").expect("written");
    assert_eq!(values(&desk, &["ax", "sho"]), ["show"]);
    let other = desk.file("other.db");
    let other = other.to_str().expect("a plain path");
    desk.ok(&["help", "config"]);
    fs::remove_file(desk.file("config/ax/config.toml")).expect("removed");
    desk.ok(&["--db", other, "add", "true"]);
    assert_eq!(values(&desk, &["ax", "--db", other, "show", "1"]), ["1"]);
    assert_eq!(values(&desk, &["ax", &format!("--db={other}"), "show", "1"]), ["1"]);
}

#[test]
fn many_jobs_are_completed_as_quickly_as_few() {
    const MANY: &str = "
        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 200000)
        INSERT INTO ax_jobs (command, name, status) SELECT 'true', 'job ' || n, 'success' FROM n";
    let desk = desk();
    let shell = rusqlite::Connection::open(desk.db()).expect("it opens");
    shell.execute_batch(MANY).expect("many jobs");
    let begun = Instant::now();
    let found = values(&desk, &["ax", "show", "20000"]);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(found, ["200004", "200003", "200002", "200001", "200000"]);
}

/// What bash would put in the place of the last word.
fn bash(desk: &Desk, line: &str) -> Vec<String> {
    const ASK: &str = r#"
        source <("$AX" completions bash)
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        compopt() { :; }
        _ax "$AX" "${COMP_WORDS[COMP_CWORD]}" ""
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut command = desk.program("bash");
    command.args(["--norc", "-c", ASK, "bash"]).env("AX", env!("CARGO_BIN_EXE_ax"));
    // As bash has it: `:` and `=` are words.
    let spaced = line.replace(':', " : ").replace('=', " = ");
    let mut words: Vec<_> = spaced.split(' ').filter(|word| !word.is_empty()).collect();
    if line.ends_with(' ') {
        words.push("");
    }
    let said = said(command.args(words));
    assert_eq!(said.err, "", "{line}");
    said.text().lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_what_it_is_told() {
    if Command::new("bash").arg("--version").output().is_err() {
        return;
    }
    let desk = desk();
    assert_eq!(bash(&desk, "ax sch"), ["schedule"]);
    assert_eq!(bash(&desk, "ax show 2"), ["2"]);
    assert_eq!(bash(&desk, "ax show stat"), ["status:"]);
    assert_eq!(bash(&desk, "ax show status:de"), ["dead"], "what stands before is a word");
    assert_eq!(bash(&desk, "ax wait name:n"), ["nightly\\ copy"]);
    assert_eq!(bash(&desk, "ax run --on-stop=d"), ["detach"]);
    assert_eq!(
        bash(&desk, "ax run "),
        ["nightly.toml", "ax.db.d", "ax.db"]
            .iter()
            .filter(|name| desk.file(name).exists())
            .map(|name| (*name).to_owned())
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    );
    assert_eq!(bash(&desk, "ax group pause s"), ["slow"]);
}
