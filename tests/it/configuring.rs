//! The configuration file, `ax config`, and `ax service`.

use std::fs;

use serde_json::Value;

use super::harness::{Desk, said};

impl Desk {
    fn configure(&self, text: &str) {
        fs::create_dir_all(self.file("config/ax")).expect("made");
        fs::write(self.file("config/ax/config.toml"), text).expect("written");
    }
}

/// A value of `ax config --json`.
fn value<'a>(all: &'a Value, key: &str) -> &'a Value {
    let all = all.as_array().expect("a list");
    all.iter().find(|entry| entry["key"] == key).expect("a key")
}

#[test]
fn an_option_goes_before_the_environment_and_that_before_the_file() {
    let desk = Desk::new();
    desk.configure("[defaults]\ntimeout = '5m'\nmax_retries = 7\npriority = 1\n");
    let add = ["add", "--timeout", "2m", "true"];
    assert_eq!(said(desk.command(&add).env("AX_DEFAULT_MAX_RETRIES", "9")).exit, 0);
    let job = desk.job(1);
    assert_eq!(
        (&job["timeout_s"], &job["max_retries"], &job["priority"]),
        (&120.into(), &9.into(), &1.into())
    );
    desk.configure("db = '/nonexistent/ax.db'\n");
    assert_eq!(desk.job(1)["id"], 1, "AX_DB names another");
    let elsewhere = said(desk.command(&["list"]).env_remove("AX_DB"));
    assert_eq!(elsewhere.exit, 5);
    assert!(
        elsewhere.err.starts_with("ax: /nonexistent/ax.db cannot be made"),
        "{}",
        elsewhere.err
    );
}

#[test]
fn it_shows_each_value_and_where_it_comes_from() {
    let desk = Desk::new();
    desk.configure("color = 'never'\n\n[run]\nworkers = 3\n");
    let mut command = desk.command(&["config", "--json"]);
    let all = said(command.env("AX_DEFAULT_PRIORITY", "-2")).json();
    let place = desk.file("config/ax/config.toml");
    let told = |key| {
        let entry = value(&all, key);
        [&entry["value"], &entry["source"], &entry["place"]].map(Clone::clone)
    };
    let line = |number| Value::from(format!("{}:{number}", place.display()));
    assert_eq!(told("color"), ["never".into(), "file".into(), line(1)]);
    assert_eq!(told("run.workers"), ["3".into(), "file".into(), line(4)]);
    let priority: [Value; 3] = ["-2".into(), "environment".into(), "AX_DEFAULT_PRIORITY".into()];
    assert_eq!(told("defaults.priority"), priority);
    assert_eq!(told("defaults.timeout"), ["60s".into(), "default".into(), Value::Null]);
    assert_eq!(value(&all, "db")["source"], "environment");
    let given = desk.ax(&["--color", "always", "config", "--json"]).json();
    assert_eq!(value(&given, "color")["source"], "option");
    let text = desk.ok(&["config"]);
    assert!(text.starts_with("KEY "), "{text}");
    assert!(text.lines().any(|line| line.starts_with("run.workers") && line.ends_with(":4")));
    for format in ["csv", "jsonl", "ids"] {
        desk.ok(&["config", "--format", format]);
    }
    assert_eq!(desk.ok(&["config", "--path"]).trim_end(), place.to_str().expect("a path"));
    assert!(!desk.db().exists(), "no database is made");
}

#[test]
fn a_file_that_makes_no_sense_is_refused_with_the_line_and_helps_itself() {
    let desk = Desk::new();
    desk.configure("[defaults]\ntimeuot = '5m'\n");
    let said = desk.ax(&["list"]);
    assert_eq!(said.exit, 2);
    let place = desk.file("config/ax/config.toml");
    assert_eq!(
        said.err,
        format!(
            "ax: {}:2:1: unknown key `timeuot`; did you mean `timeout`?\n  |\n\
             2 | timeuot = '5m'\n  | ^^^^^^^\n\
             hint: `ax help config` shows what may stand there\n",
            place.display()
        )
    );
    for words in [&["config", "--path"][..], &["help", "config"], &["completions", "bash"]] {
        desk.ok(words);
    }
}

#[test]
fn a_runner_works_as_it_is_configured() {
    let desk = Desk::new();
    desk.configure("output_limit = '256K'\n[run]\nworkers = 1\npoll_interval = '20ms'\n");
    desk.add(&[], "yes | head -c 3000000; sleep 0.5");
    let mut runner = desk.run(&["--until-idle"]);
    desk.wait_until("it runs", || desk.states() == ["running"]);
    let runners = desk.ax(&["status", "--json"]).json();
    assert_eq!(runners["runners"][0]["workers"], 1, "{runners}");
    assert_eq!(runner.exit(), 0);
    let log = desk.ax(&["logs", "1"]);
    let marked = "[ax: 3000000 bytes left out]".len() + 2;
    assert!(log.out.len() <= 256 * 1024 + marked, "{}", log.out.len());
    assert_eq!(desk.job(1)["attempts_history"][0]["output_bytes"], 3_000_000);
}

#[test]
fn a_limit_of_output_that_would_not_be_kept_is_refused() {
    let desk = Desk::new();
    let refused = said(desk.command(&["run", "--until-idle"]).env("AX_OUTPUT_LIMIT", "1K"));
    let want = "ax: AX_OUTPUT_LIMIT: `1K` is less than can be kept of an output; the smallest \
                limit is `256K`\n";
    assert!(refused.err.starts_with(want), "{}", refused.err);
    assert_eq!(refused.exit, 2);
}

#[test]
fn a_runner_that_runs_is_not_disturbed_by_a_file_that_breaks() {
    let desk = Desk::new();
    desk.configure("[defaults]\non_end = 'echo ran >> hook'\n");
    let mut runner = desk.run(&["--poll-interval", "20ms"]);
    desk.add(&[], "true");
    desk.wait_for_states(&["success"]);
    desk.configure("nonsense");
    desk.wait_until("the hook has run", || desk.file("hook").exists());
    assert!(runner.is_alive());
}

#[test]
fn the_unit_of_a_service_means_this_program_and_database_to_systemd() {
    let desk = Desk::with_db_in("100% $HOME \"quoted\"");
    for (words, lines) in [
        (
            &["service", "--grace", "5m"][..],
            ["KillMode=mixed", "TimeoutStopSec=330s", "WantedBy=default.target"],
        ),
        (
            &["service", "--system", "--detach", "--", "--workers", "2"],
            ["KillMode=process", "TimeoutStopSec=30s", "WantedBy=multi-user.target"],
        ),
    ] {
        let unit = desk.ok(words);
        for line in lines {
            assert!(unit.lines().any(|found| found == line), "{line} in {unit}");
        }
        let start = unit.lines().find(|line| line.starts_with("ExecStart=")).expect("a command");
        assert!(start.contains("/100%% $$HOME \\\"quoted\\\"/ax.db\" \"run\""), "{start}");
        let options = start.ends_with("\"--workers\" \"2\"");
        assert_eq!(options, words.contains(&"--workers"), "{start}");
        verify(&desk, &unit);
    }
    assert_eq!(desk.ax(&["service", "--detach", "--grace", "1s"]).exit, 2);
    assert!(desk.ok(&["service", "crontab"]).starts_with("@reboot "));
    assert!(!desk.db().exists(), "no database is made");
}

/// Asks systemd itself, where it is there.
fn verify(desk: &Desk, unit: &str) {
    let path = desk.file("ax.service");
    fs::write(&path, unit).expect("written");
    let mut verify = std::process::Command::new("systemd-analyze");
    verify.args(["verify", "--man=no"]).arg(&path);
    let Ok(verified) = verify.output() else { return };
    let told = String::from_utf8_lossy(&verified.stderr).into_owned();
    let own: Vec<_> = told.lines().filter(|line| line.contains("ax.service")).collect();
    assert_eq!(own, Vec::<&str>::new(), "{unit}");
}
