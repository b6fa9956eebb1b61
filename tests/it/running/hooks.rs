//! Hooks, run by the real binary.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::super::harness::process::{all_of, is_alive};
use super::super::harness::{Desk, gate};

impl Desk {
    /// The hooks of a job, as scripts see them.
    fn hooks(&self, id: i64) -> Vec<serde_json::Value> {
        self.job(id)["hooks"].as_array().cloned().expect("a list")
    }

    #[track_caller]
    fn run_until_idle(&self) {
        self.run(&["--until-idle", "--poll-interval", "50ms"]).exit();
    }
}

const TELL: &str = "env | grep ^AX_ | grep -v ^AX_DB > told-$AX_JOB_ID; echo hook ran";

#[test]
fn a_hook_is_told_how_its_job_ended_and_its_output_is_shown() {
    let desk = Desk::new();
    let options = ["-n", "copy", "--key", "k", "-r", "0", "-e", "MINE=1", "--on-end", TELL];
    desk.add(&options, "echo one; echo two; exit 3");
    desk.run_until_idle();
    let told = std::fs::read_to_string(desk.file("told-1")).expect("it ran");
    let told: Vec<_> = told.lines().collect();
    for line in [
        "AX_HOOK_ID=1",
        "AX_JOB_ID=1",
        "AX_JOB_NAME=copy",
        "AX_JOB_KEY=k",
        "AX_STATE=dead",
        "AX_EXIT_CODE=3",
        "AX_SIGNAL=",
        "AX_ATTEMPT=1",
        "AX_REASON=two",
        "AX_OUTPUT=one",
    ] {
        assert!(told.contains(&line), "{line} in {told:?}");
    }
    let took = told.iter().find_map(|line| line.strip_prefix("AX_DURATION=")).expect("said");
    assert!(took.parse::<f64>().is_ok(), "{took}");
    let hook = &desk.hooks(1)[0];
    assert_eq!((&hook["outcome"], &hook["error"]), (&"exited".into(), &().into()));
    assert_eq!(hook["output"], "hook ran\n");
    let shown = desk.ok(&["show", "1"]);
    assert!(shown.contains("\non end:"), "{shown}");
    assert!(shown.contains("ended well, "), "{shown}");
    assert!(shown.contains("\nlast lines of the last hook:\n  hook ran\n"), "{shown}");
}

#[test]
fn a_hook_that_hangs_fails_or_writes_a_megabyte_disturbs_nothing() {
    let desk = Desk::new();
    let hang = "trap '' TERM; sleep 300 & echo $$ > pid; wait; wait";
    desk.add(&["--on-end", hang, "--on-end-timeout", "1"], "true");
    desk.add(&["--on-end", "echo broken >&2; exit 5"], "true");
    desk.add(&["--on-end", "head -c 1000000 /dev/zero | tr '\\0' x"], "true");
    desk.add(&["--on-end", "./no-such-program; true"], "true");
    let begun = Instant::now();
    let mut runner = desk.run(&["--until-idle", "--workers", "1", "--poll-interval", "50ms"]);
    let pid = desk.pid_in("pid");
    desk.wait_for_states(&["success"; 4]);
    assert!(is_alive(pid), "the jobs did not wait for it");
    assert_eq!(runner.exit(), 0);
    assert!(begun.elapsed() < Duration::from_secs(30) && !is_alive(pid));
    let ends: Vec<_> = (1..=4).map(|id| desk.hooks(id)[0]["error"].clone()).collect();
    assert_eq!(ends[0], "timed out after 1 s; raise it with --on-end-timeout");
    assert_eq!((&ends[1], &ends[2], &ends[3]), (&"exit 5".into(), &().into(), &().into()));
    let output = desk.hooks(3)[0]["output"].as_str().expect("a text").to_owned();
    assert!(output.len() < 10_000 && output.contains("bytes left out]"), "{}", output.len());
    assert_eq!(desk.states(), ["success"; 4]);
    assert!(all_of(desk.db()).is_empty());
    assert_eq!(desk.leftovers(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_hook_lives_on_without_its_runner_and_is_not_run_again() {
    let desk = Desk::new();
    let text = format!("echo $$ > pid; echo once >> ran; {}; echo done", gate("go"));
    desk.add(&["--on-end", &text], "true");
    let runner = desk.run(&[]);
    let pid = desk.pid_in("pid");
    runner.kill();
    assert!(is_alive(pid));
    let _other = desk.run(&["--poll-interval", "20ms"]);
    desk.open("go");
    desk.wait_until("it is recorded", || desk.hooks(1)[0]["outcome"] == "exited");
    assert_eq!(desk.hooks(1)[0]["output"], "done\n");
    assert_eq!(std::fs::read_to_string(desk.file("ran")).expect("it ran"), "once\n");
}

#[test]
fn a_hook_whose_process_is_killed_is_unknown_and_not_run_again() {
    let desk = Desk::new();
    desk.add(&["--on-end", "echo $PPID > pid; echo once >> ran; sleep 300"], "true");
    let mut runner = desk.run(&["--until-idle", "--poll-interval", "20ms"]);
    let pid = desk.pid_in("pid");
    super::super::harness::process::kill(pid, Signal::SIGKILL);
    assert_eq!(runner.exit(), 0);
    assert!(runner.err().contains("the hook of job 1 was killed; its outcome is unknown"));
    assert_eq!(desk.hooks(1)[0]["outcome"], "lost");
    desk.run_until_idle();
    assert_eq!(std::fs::read_to_string(desk.file("ran")).expect("it ran"), "once\n");
    assert_eq!(desk.leftovers(), Vec::<std::path::PathBuf>::new());
}

/// Beside it run a job that the hook has added, and so inherits its environment,
/// and another hook.
#[test]
fn what_is_left_of_a_hook_whose_process_and_runner_were_killed_is_stopped_and_nothing_else() {
    let desk = Desk::new();
    let program = env!("CARGO_BIN_EXE_ax");
    let text = format!(
        "echo $PPID > process; setsid sleep 300 & echo $! > left; \
         {program} add 'echo $$ > added; exec sleep 300'; echo $$ > first; exec sleep 300"
    );
    desk.add(&["--on-end", &text], "true");
    let runner = desk.run(&["--workers", "4"]);
    let names = ["process", "left", "first", "added"];
    let [process, left, first, added] = names.map(|name| desk.pid_in(name));
    desk.add(&["--on-end", "echo $$ > other; exec sleep 300"], "true");
    let other = desk.pid_in("other");
    runner.kill();
    super::super::harness::process::kill(process, Signal::SIGKILL);
    assert!([left, first, added, other].into_iter().all(is_alive));
    let mut next = desk.run(&["--poll-interval", "20ms"]);
    desk.wait_until("it is unknown", || desk.hooks(1)[0]["outcome"] == "lost");
    assert!(!is_alive(left) && !is_alive(first));
    assert!(is_alive(added), "a job is none of its own");
    assert!(is_alive(other), "nor is another hook");
    desk.ok(&["cancel", "2"]);
    super::super::harness::process::kill(other, Signal::SIGKILL);
    desk.wait_until("it is told", || desk.hooks(3)[0]["outcome"] == "signaled");
    next.signal(Signal::SIGTERM);
    next.exit();
    assert!(all_of(desk.db()).is_empty());
    assert_eq!(desk.leftovers(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_hook_that_is_owed_is_run_by_the_next_runner() {
    let desk = Desk::new();
    desk.add(&["--on-end", TELL, "--hold"], "true");
    desk.ok(&["cancel", "1", "--reason", "no need"]);
    assert_eq!(desk.hooks(1)[0]["started_at"], serde_json::Value::Null);
    assert!(desk.ok(&["show", "1"]).contains("waits for a runner"));
    desk.run_until_idle();
    let told = std::fs::read_to_string(desk.file("told-1")).expect("it ran");
    assert!(told.contains("AX_STATE=cancelled\n") && told.contains("AX_REASON=no need\n"));
}

#[test]
fn wait_does_not_wait_for_hooks_and_until_idle_does() {
    let desk = Desk::new();
    desk.add(&["--on-end", &gate("go")], "true");
    let mut runner = desk.run(&["--until-idle", "--poll-interval", "20ms"]);
    assert_eq!(desk.ax(&["wait", "1"]).exit, 0);
    assert!(runner.is_alive());
    desk.open("go");
    assert_eq!(runner.exit(), 0);
}

#[test]
fn a_second_signal_stops_what_hooks_run() {
    let desk = Desk::new();
    desk.add(&["--on-end", "echo $$ > pid; sleep 300"], "true");
    let mut runner = desk.run(&["--poll-interval", "20ms"]);
    let pid = desk.pid_in("pid");
    runner.signal(Signal::SIGINT);
    desk.wait_until("it drains", || runner.err().contains("no more jobs are claimed"));
    assert!(is_alive(pid));
    runner.signal(Signal::SIGINT);
    runner.exit();
    assert!(!is_alive(pid));
    assert_eq!(desk.hooks(1)[0]["error"], "stopped by a shutdown of the runner");
}

#[test]
fn what_a_hook_leaves_behind_is_stopped_when_its_time_is_up() {
    let desk = Desk::new();
    let text = "setsid sleep 300 & echo $! > pid; exit 4";
    desk.add(&["--on-end", text, "--on-end-timeout", "500ms"], "true");
    desk.run_until_idle();
    assert!(!is_alive(desk.pid_in("pid")));
    assert_eq!(desk.hooks(1)[0]["error"], "exit 4", "and how it ended stays so");
}

#[test]
fn a_flow_has_a_hook_of_its_own_and_one_for_each_of_its_jobs() {
    let desk = Desk::new();
    let flow = "
        on_end = 'echo $AX_FLOW $AX_STATE $AX_JOB_NAME $AX_EXIT_CODE in ${PWD##*/} >> flow'
        on_end_timeout = '5s'
        [defaults]
        max_retries = 0
        on_end = 'echo $AX_JOB_NAME $AX_STATE >> jobs'
        [jobs.fetch]
        run = 'exit 6'
        [jobs.clean]
        run = 'true'
        after = 'fetch'
        [jobs.alert]
        run = 'true'
        on_failure = 'fetch'
        on_end = false
        [jobs.deep]
        run = 'true'
        cwd = 'deep'
    ";
    std::fs::create_dir(desk.file("deep")).expect("made");
    std::fs::write(desk.file("nightly.toml"), flow).expect("written");
    assert_eq!(desk.ax(&["run", "nightly.toml", "--poll-interval", "50ms"]).exit, 1);
    let here = desk.path().file_name().expect("a name").to_string_lossy().into_owned();
    let read = |name| std::fs::read_to_string(desk.file(name)).expect("it ran");
    assert_eq!(read("flow"), format!("nightly dead fetch 6 in {here}\n"));
    let mut jobs: Vec<_> = read("jobs").lines().map(str::to_owned).collect();
    jobs.sort();
    assert_eq!(jobs, ["clean skipped", "fetch dead"]);
    assert_eq!(read("deep/jobs"), "deep success\n");
}

#[test]
fn an_edit_gives_a_hook_and_takes_it_away() {
    let desk = Desk::new();
    desk.add(&["--hold", "--on-end", "echo old > hook"], "true");
    desk.ok(&["edit", "1", "--on-end", "echo new > hook", "--on-end-timeout", "5s"]);
    let job = desk.job(1);
    assert_eq!((&job["on_end"], &job["on_end_timeout_s"]), (&"echo new > hook".into(), &5.into()));
    desk.ok(&["edit", "1", "--no-on-end"]);
    assert_eq!(desk.job(1)["on_end"], serde_json::Value::Null);
    let line = r#"{"command": "true", "on_end": "echo line > hook"}"#;
    assert_eq!(desk.typing(&["add", "--from", "-"], line).exit, 0);
    assert_eq!(desk.job(2)["on_end"], "echo line > hook");
    for words in [
        &["add", "--on-end", "", "true"][..],
        &["add", "--on-end-timeout", "0", "true"],
        &["edit", "1", "--on-end", "x", "--no-on-end"],
    ] {
        assert_eq!(desk.ax(words).exit, 2, "{words:?}");
    }
    let bad = desk.typing(&["add", "--from", "-"], r#"{"command": "true", "on_end": 3}"#);
    assert!(
        bad.err.contains("field `on_end`: a text, or false for none, is needed"),
        "{}",
        bad.err
    );
}
