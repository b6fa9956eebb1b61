//! `ax add` from the outside: what it answers, and what is stored.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use serde_json::Value;

use super::harness::{Desk, ended, said};

#[test]
fn a_script_reads_the_bare_id_and_no_talk() {
    let desk = Desk::new();
    let said = desk.ax(&["add", "echo hi"]);
    assert_eq!((said.exit, said.text(), said.err.as_str()), (0, "1\n", ""));
    let said = desk.ax(&["add", "--after", "1", "--", "echo", "", "-n"]);
    assert_eq!((said.exit, said.text()), (0, "2\n"));
    let jobs = desk.jobs();
    assert_eq!((&jobs[0]["command"], &jobs[0]["argv"]), (&"echo hi".into(), &Value::Null));
    assert_eq!(jobs[1]["argv"], serde_json::json!(["echo", "", "-n"]));
    assert_eq!(jobs[1]["dependencies"][0]["id"], 1);
}

#[test]
fn what_is_refused_stores_nothing_and_prints_nothing() {
    let desk = Desk::new();
    desk.ax(&["add", "true"]);
    let lines: &[(&[&str], i32)] = &[
        (&["add"], 2),
        (&["add", "--"], 2),
        (&["add", "--", ""], 2),
        (&["add", "--", "   "], 2),
        (&["add", "--frobnicate", "3", "--", "true"], 2),
        (&["add", "--after", "1,abc", "true"], 2),
        (&["add", "--after", "-1", "true"], 2),
        (&["add", "--after", "1,999", "true"], 3),
        (&["add", "--on-failure", "999", "true"], 3),
        (&["add", "--delay", "9223372036854775807s", "true"], 2),
        (&["add", "--at", "2027-02-01T25:00:00Z", "true"], 2),
        (&["add", "--timeout", "0", "true"], 2),
        (&["add", "-C", "gone", "true"], 2),
        (&["add", "--from", "gone.jsonl"], 2),
        (&["add", "--from", "gone.jsonl", "true"], 2),
    ];
    for (line, exit) in lines {
        let said = desk.ax(line);
        assert_eq!((said.exit, said.text()), (*exit, ""), "{line:?}: {}", said.err);
        assert!(!said.err.is_empty(), "{line:?}");
    }
    assert_eq!(desk.jobs().len(), 1);
}

#[test]
fn a_key_stands_for_one_unfinished_job() {
    let desk = Desk::new();
    let add = |more: &[&str]| desk.ax(&[&["add", "--key", "k"], more, &["true"]].concat());
    assert_eq!(add(&[]).text(), "1\n");
    let again = add(&[]);
    assert_eq!((again.exit, again.text(), again.err.as_str()), (0, "1\n", ""));
    assert_eq!(add(&["--if-exists", "error"]).exit, 4);
    assert_eq!(add(&["--if-exists", "replace"]).text(), "2\n");
    let job = add(&["--json"]).json();
    assert_eq!((&job["id"], &job["key"], &job["new"]), (&2.into(), &"k".into(), &false.into()));
}

#[test]
fn a_dash_reads_the_command_from_standard_input() {
    let desk = Desk::new();
    assert_eq!(desk.typing(&["add", "-"], "echo a\necho b\n").exit, 0);
    assert_eq!(desk.jobs()[0]["command"], "echo a\necho b");
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let desk = Desk::new();
    let word = OsString::from_vec(b"touch f\xff".to_vec());
    assert_eq!(said(desk.command(&["add"]).arg(word)).exit, 0);
    assert_eq!(desk.jobs()[0]["command_b64"], "dG91Y2ggZv8=");
}

#[test]
fn the_directory_is_kept_as_its_user_names_it() {
    let desk = Desk::new();
    fs::create_dir(desk.path().join("real")).expect("a directory");
    let link = desk.path().join("link");
    symlink("real", &link).expect("a link");
    said(desk.command(&["add", "true"]).current_dir(&link).env("PWD", &link));
    said(desk.command(&["add", "true"]).current_dir(&link).env("PWD", "/"));
    said(desk.command(&["add", "-C", "link", "true"]).env_remove("PWD"));
    let jobs = desk.jobs();
    let dirs: Vec<&str> = jobs.iter().filter_map(|job| job["cwd"].as_str()).collect();
    assert!(dirs[0].ends_with("/link"), "{dirs:?}");
    assert!(dirs[1].ends_with("/real"), "{dirs:?}");
    assert!(dirs[2].ends_with("/link"), "{dirs:?}");
}

#[test]
fn the_environment_sets_defaults_and_a_bad_one_names_its_variable() {
    let desk = Desk::new();
    let with = |value: &str| said(desk.command(&["add", "true"]).env("AX_DEFAULT_TIMEOUT", value));
    assert_eq!(with("2m").exit, 0);
    assert_eq!(with("").exit, 0);
    let bad = with("soon");
    assert_eq!(bad.exit, 2);
    assert!(bad.err.starts_with("ax: AX_DEFAULT_TIMEOUT: "), "{}", bad.err);
    let jobs = desk.jobs();
    assert_eq!(
        (jobs.len(), &jobs[0]["timeout_s"], &jobs[1]["timeout_s"]),
        (2, &120.into(), &60.into())
    );
}

#[test]
fn a_file_is_added_as_a_whole_in_any_order() {
    let desk = Desk::new();
    let text = concat!(
        r#"{"command": "b", "key": "b", "after": ["a"], "priority": 9}"#,
        "\r\n\n",
        r#"{"argv": ["a", "x y"], "key": "a"}"#,
    );
    let said = desk.typing(&["add", "--from", "-", "-p", "7"], text);
    assert_eq!((said.exit, said.text()), (0, "1\n2\n"));
    let jobs = desk.jobs();
    assert_eq!(jobs[0]["dependencies"][0]["id"], 2);
    assert_eq!((&jobs[0]["priority"], &jobs[1]["priority"]), (&9.into(), &7.into()));
}

#[test]
fn a_file_with_a_cycle_and_a_missing_parent_is_refused_with_both() {
    let desk = Desk::new();
    let text = concat!(
        r#"{"command": "a", "key": "a", "after": ["c"]}"#,
        "\n",
        r#"{"command": "b", "key": "b", "after": ["gone"]}"#,
        "\n",
        r#"{"command": "c", "key": "c", "after": ["a"]}"#,
    );
    fs::write(desk.path().join("jobs.jsonl"), text).expect("a file");
    let said = desk.ax(&["add", "--from", "jobs.jsonl"]);
    assert_eq!((said.exit, said.text()), (2, ""));
    assert_eq!(
        said.err,
        "ax: nothing was added: jobs.jsonl has 2 problems\n  \
         jobs.jsonl:1: jobs wait for each other: `a` (line 1) → `c` (line 3) → `a`\n  \
         jobs.jsonl:2: field `after`: no job has the key `gone`\n"
    );
    assert!(desk.jobs().is_empty());
}

#[test]
fn an_id_that_cannot_be_printed_belongs_to_a_job_all_the_same() {
    let desk = Desk::new();
    let full = fs::File::options().write(true).open("/dev/full").expect("Linux has one");
    let said = {
        let child = desk.command(&["add", "true"]).stdout(full).stderr(Stdio::piped()).spawn();
        ended(child.expect("ax can be started"))
    };
    assert_eq!(said.exit, 1, "{}", said.err);
    assert_eq!(desk.jobs().len(), 1);
}
