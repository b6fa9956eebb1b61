//! What the showing commands say of a real database.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Stdio;

use ax_scheduler::data_dir::DataDir;
use ax_scheduler::job::{
    Captured, Claim, JobId, Kind, NewJob, Outcome, ParentRef, Process as JobProcess, RunnerId,
    Settlement, Timestamp, Verdict,
};
use ax_scheduler::store::{self, NewRunner, Started, Store, Turn};
use serde_json::Value;

use super::harness::sample::new_job;
use super::harness::{Desk, Said, said};

const NOW: Timestamp = Timestamp::from_millis(1_796_090_400_000);

/// A desk, and a store of its own to put into it what is to be shown.
struct Scene {
    desk: Desk,
    store: Box<dyn Store>,
    runner: RunnerId,
}

impl Scene {
    fn new() -> Self {
        let desk = Desk::new();
        let mut store = store::open(desk.db()).expect("a new database");
        let runner = NewRunner { pid: 1, start_time: 1, boot_id: "boot".to_owned(), workers: 1 };
        let runner = store.enlist(&runner, NOW).expect("a runner can be entered");
        Self { desk, store, runner }
    }

    fn add(&mut self, name: &str, parents: &[(i64, Kind)]) -> JobId {
        self.store.add(&[new_job(name, NOW, parents)], NOW).expect("the job can be added")[0].id
    }

    /// Claims the next job and starts it.
    fn start(&mut self) -> Claim {
        let turn = Turn {
            runner: self.runner,
            now: NOW,
            started: &[],
            settled: &[],
            handed: &[],
            serves: true,
            room: 1,
            scope: None,
        };
        let turned = self.store.turn(&turn).expect("the turn is made");
        let claim = turned.claimed[0].claim;
        let process = JobProcess { pid: 4711, start_time: 1, started_at: NOW };
        let started = [Started { claim, process }];
        let turn = Turn { started: &started, room: 0, ..turn };
        self.store.turn(&turn).expect("the start is written");
        claim
    }

    fn end(&mut self, claim: Claim, code: i32, output: &[u8]) {
        let settled = [Settlement {
            claim,
            outcome: Outcome::Exited(code),
            verdict: if code == 0 { Verdict::Success } else { Verdict::Dead },
            process: None,
            ended_at: NOW,
            output: Captured {
                bytes: output.to_vec(),
                written: output.len() as u64,
                in_file: false,
                last_line: "last".to_owned(),
            },
        }];
        let turn = Turn {
            runner: self.runner,
            now: NOW,
            started: &[],
            settled: &settled,
            handed: &[],
            serves: true,
            room: 0,
            scope: None,
        };
        self.store.turn(&turn).expect("the end is written");
    }

    fn run(&mut self, code: i32, output: &[u8]) {
        let claim = self.start();
        self.end(claim, code, output);
    }

    fn ax(&self, args: &[&str]) -> Said {
        self.desk.ax(args)
    }
}

#[test]
fn of_very_many_that_wait_a_list_shows_those_that_come_next() {
    let desk = Desk::new();
    let later = "{\"command\":\"true\",\"delay\":\"2h\"}\n".repeat(501);
    let said = desk.typing(&["add", "--from", "-"], &(later + "{\"command\":\"true\"}\n"));
    assert_eq!(said.exit, 0, "{}", said.err);
    let text = desk.ok(&["list"]);
    assert_eq!(text.lines().count(), 1 + 500 + 1);
    assert!(text.contains("502  ready"), "{text}");
    let want = "and 2 more that are unfinished; `ax list all` shows them\n";
    assert!(text.ends_with(want), "{text}");
    assert_eq!(desk.jobs().len(), 502);
}

#[test]
fn a_list_shows_what_is_open_and_the_last_twenty_that_ended() {
    let mut scene = Scene::new();
    for number in 0..23 {
        scene.add(&format!("ended {number}"), &[]);
        scene.run(0, b"");
    }
    scene.add("open", &[]);
    let said = scene.ax(&["list"]);
    assert_eq!(said.text().lines().count(), 1 + 20 + 1 + 1, "{}", said.text());
    assert!(said.text().contains(" 4  success  ended 3 "), "{}", said.text());
    assert!(said.text().ends_with("and 3 more that ended; `ax list all` shows them\n"));
    assert_eq!(scene.ax(&["list", "all"]).text().lines().count(), 1 + 24);
    assert_eq!(scene.ax(&["list", "--json"]).json().as_array().map(Vec::len), Some(24));
    assert_eq!(scene.ax(&["list", "-q"]).text().lines().count(), 24);
}

#[test]
fn the_last_so_many_are_the_newest_in_every_order_of_time() {
    let mut scene = Scene::new();
    for name in ["a", "b", "c"] {
        scene.add(name, &[]);
    }
    scene.run(0, b"");
    for sort in ["id", "finished", "started"] {
        let last = if sort == "id" { "3\n" } else { "1\n" };
        assert_eq!(scene.ax(&["list", "--sort", sort, "-n", "1", "-q"]).text(), last, "{sort}");
    }
}

#[test]
fn a_property_that_no_job_has_is_an_answer_and_an_id_that_does_not_exist_is_not() {
    let mut scene = Scene::new();
    scene.add("a", &[]);
    for args in [&["list", "--status", "dead"][..], &["list", "name:zz"], &["list", "--failed"]] {
        let said = scene.ax(args);
        assert_eq!((said.exit, said.text(), said.err.as_str()), (0, "", ""), "{args:?}");
    }
    let said = scene.ax(&["list", "1,99"]);
    assert_eq!((said.exit, said.text()), (3, ""));
    assert!(said.err.starts_with("ax: no such job: 99\n"));
}

#[test]
fn a_script_reads_failures_as_json() {
    let said = Scene::new().ax(&["show", "7", "--json"]);
    let error: Value = serde_json::from_str(&said.err).expect("one JSON document");
    assert_eq!((said.exit, said.text()), (3, ""));
    assert_eq!(error["error"]["code"], "not_found");
    assert_eq!(error["error"]["message"], "no such job: 7");
}

#[test]
fn output_comes_back_byte_for_byte() {
    let mut scene = Scene::new();
    scene.add("odd", &[]);
    scene.run(0, b"caf\xe9 \x1b[31m\0\nend");
    assert_eq!(scene.ax(&["logs", "1"]).out, b"caf\xe9 \x1b[31m\0\nend");
    assert_eq!(scene.ax(&["logs", "last", "-n", "1"]).out, b"end");
    assert_eq!(scene.ax(&["logs", "1", "--attempt", "2"]).exit, 3);
}

#[test]
fn a_job_that_was_not_started_has_no_output() {
    let mut scene = Scene::new();
    scene.add("waits", &[]);
    let said = scene.ax(&["logs", "1"]);
    assert_eq!(said.exit, 3);
    assert!(said.err.starts_with("ax: job 1 has not been started\n"), "{}", said.err);
}

fn append(file: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(file).expect("the output is there");
    file.write_all(text.as_bytes()).expect("the output can be written");
}

#[test]
fn of_an_output_over_its_limit_both_ends_are_shown_and_what_is_missing_is_said() {
    let mut scene = Scene::new();
    scene.add("says a lot", &[]);
    scene.start();
    let dir = DataDir::of(scene.desk.db());
    dir.create().expect("the directory can be made");
    let path = dir.output(JobId(1), 1);
    std::fs::write(&path, "first\n").expect("the output can be written");
    let file = OpenOptions::new().write(true).open(&path).expect("the output is there");
    file.write_all_at(b"last but one\nlast\n", 4 << 20).expect("the output can be written");
    let said = scene.ax(&["logs", "1"]);
    let missing = said.text().lines().find(|line| line.contains("bytes left out"));
    assert!(missing.is_some_and(|line| line.starts_with("[ax: ")), "{} bytes", said.out.len());
    assert!(said.text().starts_with("first\n"));
    assert_eq!(scene.ax(&["logs", "1", "-n", "1"]).text(), "last\n");
    assert!(scene.ax(&["show", "1"]).text().contains("\n  last but one\n  last\n"));
}

#[test]
fn who_follows_sees_what_is_printed_until_the_attempt_ends() {
    let mut scene = Scene::new();
    scene.add("runs", &[]);
    let claim = scene.start();
    let dir = DataDir::of(scene.desk.db());
    dir.create().expect("the directory can be made");
    let file = dir.output(JobId(1), 1);
    std::fs::write(&file, "early\n").expect("the output can be written");
    assert_eq!(scene.ax(&["logs", "1"]).text(), "early\n");
    let mut command = scene.desk.command(&["logs", "-f", "1"]);
    let mut follower = command.stdout(Stdio::piped()).spawn().expect("the program can be started");
    let mut out = follower.stdout.take().expect("it is a pipe");
    let mut early = [0; 6];
    out.read_exact(&mut early).expect("what is there is shown at once");
    append(&file, "late\n");
    scene.end(claim, 0, b"early\nlate\n");
    std::fs::remove_file(&file).expect("the output is in the database");
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("the rest is shown");
    assert_eq!((&early, rest.as_str()), (b"early\n", "late\n"));
    assert!(follower.wait().expect("it ends").success());
}

#[test]
fn everything_about_a_job_is_shown_and_secrets_only_when_asked_for() {
    let mut scene = Scene::new();
    scene.add("parent", &[]);
    scene.run(3, b"one\nlast\n");
    scene.add("child", &[(1, Kind::OnFailure)]);
    let said = scene.ax(&["show", "1"]);
    for part in ["last error: last", "2 ready child (on_failure)", "exit 3", "  one\n  last\n"] {
        assert!(said.text().contains(part), "{part}\n{}", said.text());
    }
    assert!(!said.text().contains("hush"));
    assert!(scene.ax(&["show", "1", "--env"]).text().contains("SECRET=hush"));
    let json = scene.ax(&["show", "1", "--json"]).json();
    assert_eq!(json["attempts_history"][0]["exit_code"], 3);
    assert_eq!(json["children"][0]["id"], 2);
    assert!(json.get("environment").is_none());
    assert!(scene.ax(&["show", "1-2", "--json"]).json().is_array());
}

#[test]
fn failures_tell_how_they_ended() {
    let mut scene = Scene::new();
    scene.add("backup", &[]);
    scene.run(3, b"");
    let text = scene.ax(&["list", "--failed"]).text().to_owned();
    assert!(text.contains("backup  dead    exit 3  1/1 "), "{text}");
    assert!(text.ends_with("  last\n"), "{text}");
}

#[test]
fn who_names_jobs_by_a_property_means_those_that_can_be_moved() {
    let mut scene = Scene::new();
    scene.add("ended", &[]);
    scene.run(0, b"");
    scene.add("open", &[]);
    assert_eq!(scene.ax(&["hold", "all"]).text(), "2 open: held\n");
    scene.add("open, too", &[]);
    assert_eq!(scene.ax(&["hold", "1-3"]).exit, 4, "who types numbers means them");
    assert_eq!(scene.ax(&["hold", "name:ended"]).exit, 4);
    assert_eq!(scene.ax(&["release", "all", "-o", "ids"]).text(), "2\n");
    assert_eq!(scene.ax(&["release", "99"]).exit, 3);
}

#[test]
fn a_retry_says_what_came_back() {
    let mut scene = Scene::new();
    scene.add("parent", &[]);
    scene.add("child", &[(1, Kind::After)]);
    scene.run(1, b"");
    let dry = scene.ax(&["retry", "1", "--dry-run"]);
    assert!(dry.text().contains("1 parent: would be retried\n"), "{}", dry.text());
    let said = scene.ax(&["retry", "--failed"]);
    assert!(said.text().contains("1 parent: retried\n"), "{}", said.text());
    let said = scene.ax(&["retry", "--failed"]);
    assert_eq!((said.exit, said.err.as_str()), (3, "ax: no job has failed\n"));
}

#[test]
fn dependencies_are_added_shown_and_removed() {
    let mut scene = Scene::new();
    for name in ["a", "b", "c"] {
        scene.add(name, &[]);
    }
    assert_eq!(scene.ax(&["deps", "add", "3", "--after", "1,2"]).exit, 0);
    let want = "\
3 pending c
waits for:
├─ 1 ready a
└─ 2 ready b
";
    assert_eq!(scene.ax(&["deps", "3"]).text(), want);
    assert_eq!(scene.ax(&["deps", "--json"]).json().as_array().map(Vec::len), Some(2));
    assert_eq!(scene.ax(&["deps", "remove", "3", "1"]).exit, 0);
    assert_eq!(scene.ax(&["deps", "remove", "3", "1"]).exit, 3);
    assert_eq!(scene.ax(&["deps", "-o", "ids"]).text(), "2\n3\n");
    assert_eq!(scene.ax(&["deps", "add", "3"]).exit, 2);
    for (id, exit) in [("99", 3), ("last", 0), ("name:nobody", 3), ("1-2", 2), ("", 2)] {
        assert_eq!(scene.ax(&["deps", id]).exit, exit, "{id:?}");
    }
}

#[test]
fn a_chain_of_ten_thousand_is_shown_from_its_middle() {
    let mut scene = Scene::new();
    let link = |number: i32| {
        let before = (ParentRef::Key((number - 1).to_string()), Kind::After);
        let parents = if number == 1 { Vec::new() } else { vec![before] };
        NewJob { key: Some(number.to_string()), parents, ..new_job("link", NOW, &[]) }
    };
    let chain: Vec<_> = (1..=10_000).map(link).collect();
    scene.store.add(&chain, NOW).expect("the chain can be added");
    let said = scene.ax(&["deps", "5000"]);
    assert_eq!(said.text().lines().count(), 10_000 + 2);
    assert_eq!(scene.ax(&["deps"]).text().lines().count(), 10_000);
}

#[test]
fn an_answer_that_cannot_be_shown_so_is_refused_before_anything_is_done() {
    let mut scene = Scene::new();
    scene.add("a", &[]);
    for words in [&["list"][..], &["add", "true"], &["hold", "1"], &["doctor", "--fix"]] {
        let said = scene.ax(&[&words[..1], &["-o", "dot"], &words[1..]].concat());
        assert_eq!((said.exit, said.text()), (2, ""), "{words:?}");
        assert!(said.err.contains("'dot'"), "{}", said.err);
    }
    assert_eq!(scene.ax(&["list", "--columns", "id,status"]).text(), "ID  STATUS\n 1  ready\n");
}

#[test]
fn one_job_whose_key_is_taken_does_not_keep_the_others_from_coming_back() {
    let desk = Desk::new();
    desk.add(&["--max-retries", "0"], "exit 1");
    desk.add(&["--max-retries", "0", "--key", "k"], "exit 1");
    desk.ax(&["run", "--once"]);
    desk.add(&["--key", "k", "--delay", "1h"], "true");
    let said = desk.ax(&["retry", "--failed", "-o", "ids"]);
    assert_eq!((said.exit, said.text()), (0, "1\n"));
    assert_eq!(said.err, "ax: job 2 cannot come back: job 3 has its key `k`\n");
    assert_eq!(desk.ax(&["retry", "2"]).exit, 4, "who names it is told");
}

#[test]
fn a_csv_file_without_records_has_its_header_all_the_same() {
    let desk = Desk::new();
    for (words, first) in [
        (&["list", "-o", "csv"][..], "id,name,key,"),
        (&["list", "--failed", "-o", "csv"], "id,name,key,"),
        (&["list", "--columns", "status,id", "-o", "csv"], "status,id\n"),
        (&["failures", "-o", "csv"], "cause,jobs,"),
        (&["group", "list", "-o", "csv"], "name,parallel,"),
        (&["schedule", "list", "-o", "csv"], "name,cron,"),
    ] {
        let header = desk.ok(words);
        assert!(header.starts_with(first) && header.lines().count() == 1, "{words:?}: {header}");
    }
    desk.ok(&["schedule", "add", "s", "--cron", "@daily", "--", "true"]);
    desk.ok(&["add", "--group", "g", "true"]);
    for words in [["schedule", "list"], ["group", "list"]] {
        let [header, record] =
            ["csv", "jsonl"].map(|format| desk.ok(&[&words[..], &["-o", format]].concat()));
        let record: serde_json::Map<String, Value> = serde_json::from_str(&record).expect("one");
        assert!(header.lines().next().expect("a line").split(',').eq(record.keys()), "{header}");
    }
}

#[test]
fn the_status_counts_and_ranks() {
    let scene = Scene::new();
    let json = scene.ax(&["status", "--json"]).json();
    assert_eq!(json["counts"]["pending"], 0);
    assert_eq!(json["runners"].as_array().map(Vec::len), Some(0), "nobody holds its lock");
    assert!(scene.ax(&["status"]).text().contains("none is alive"));
}

#[test]
fn the_status_tells_of_schedules_and_paused_groups() {
    let desk = Desk::new();
    desk.ok(&["schedule", "add", "nightly", "--cron", "@yearly", "--", "true"]);
    desk.ok(&["schedule", "add", "old", "--cron", "@daily", "--", "true"]);
    desk.ok(&["schedule", "pause", "old"]);
    desk.add(&["--group", "encode"], "true");
    desk.ok(&["group", "pause", "encode"]);
    let text = desk.ok(&["status"]);
    assert!(text.contains("\nschedules:     nightly "), "{text}");
    assert!(text.contains("; paused: old\n"), "{text}");
    assert!(text.contains("\npaused groups: encode; "), "{text}");
}

#[test]
fn ax_alone_shows_the_short_status_or_how_to_begin_and_makes_nothing() {
    let desk = Desk::new();
    let welcome = desk.ok(&[]);
    assert_eq!(welcome.lines().count(), 3);
    assert!(welcome.starts_with("no jobs yet: `ax add 'COMMAND'` puts one in, "), "{welcome}");
    assert!(!desk.db().exists() && !desk.file("ax.db.d").exists());
    std::fs::write(desk.db(), "").expect("an empty file");
    assert_eq!(desk.ok(&[]), welcome);
    assert_eq!(std::fs::metadata(desk.db()).expect("there").len(), 0);
    desk.ok(&["list"]);
    assert_eq!(desk.ok(&[]), welcome, "a database without jobs");
    for n in 0..5 {
        desk.add(&["-n", &format!("job {n}"), "-r", "0"], "echo no luck; exit 1");
    }
    desk.ax(&["run", "--until-idle"]);
    let short = desk.ok(&[]);
    assert!(short.starts_with("jobs:    5 dead\n"), "{short}");
    assert!(short.ends_with("\nand 2 more; `ax failures` tells of how many causes\n"), "{short}");
}

#[test]
fn help_and_version_are_answers() {
    let scene = Scene::new();
    for flag in ["--help", "-h", "--version"] {
        let said = scene.ax(&[flag]);
        assert_eq!((said.exit, said.err.as_str()), (0, ""), "{flag}");
        assert!(!said.text().is_empty(), "{flag}");
    }
}

#[test]
fn no_colour_is_forced_into_a_pipe() {
    let mut scene = Scene::new();
    scene.add("a", &[]);
    for args in [&["list"][..], &["list", "--json"], &["status"], &["show", "1"], &["--help"]] {
        assert!(!scene.ax(args).text().contains('\x1b'), "{args:?}");
    }
    assert!(scene.ax(&["list", "--color", "always"]).text().contains('\x1b'));
    assert!(!scene.ax(&["list", "--color", "always", "--json"]).text().contains('\x1b'));
}

#[test]
fn the_events_of_a_runner_have_colours_where_they_are_asked_for() {
    let mut scene = Scene::new();
    scene.add("a", &[]);
    let said = scene.ax(&["run", "--once", "--color", "always"]);
    assert!(said.err.contains("job 1 a: \x1b[32msuccess\x1b[0m after "), "{}", said.err);
    scene.add("b", &[]);
    let said = scene.ax(&["run", "--once"]);
    assert!(said.err.contains("job 2 b: success after "), "{}", said.err);
}

#[test]
fn an_empty_database_name_is_a_usage_error() {
    let said = said(Desk::new().command(&["list", "--json"]).env("AX_DB", ""));
    let error: Value = serde_json::from_str(&said.err).expect("one JSON document");
    assert_eq!((said.exit, said.text()), (2, ""));
    assert_eq!(error["error"]["code"], "usage");
}

#[test]
fn a_retry_of_all_that_failed_leaves_alone_what_a_person_holds() {
    let desk = Desk::new();
    let kept = desk.add(&["--hold"], "true");
    let failed = desk.add(&["-r", "0"], "false");
    assert_eq!(desk.run(&["--until-idle"]).exit(), 1);
    let back = desk.ok(&["retry", "--failed", "-o", "ids"]);
    assert_eq!(back, format!("{failed}\n"));
    assert_eq!(desk.job(kept)["status"], "held");
}
