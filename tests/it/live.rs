//! The live views on a real terminal, and that there is none of them elsewhere.

use std::os::unix::process::ExitStatusExt;

use nix::sys::signal::Signal;

use super::harness::terminal::Terminal;
use super::harness::{Desk, gate};

const USUAL: (u16, u16) = (24, 80);

/// A desk with a job that waits for `go` and one that follows it.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.add(&["-n", "日本語 🎉"], &gate("go"));
    desk.add(&["-n", "later", "--after", "1"], "true");
    desk
}

#[test]
fn a_runner_shows_what_runs_and_what_waits_and_leaves_the_lines_that_matter() {
    let desk = desk();
    let mut terminal = Terminal::open(&desk, USUAL, &["run", "--until-idle"]);
    terminal.wait_for("queue: 1 waiting for others");
    let text = terminal.text();
    assert!(text.starts_with("1 running, for "), "{text}");
    assert!(text.contains("\n 1  日本語 🎉  "), "{text}");
    desk.open("go");
    assert_eq!(terminal.end().code(), Some(0));
    let text = terminal.text();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.starts_with("job 1 日本語 🎉: success after "), "{text}");
    terminal.assert_restored();
}

#[test]
fn a_view_follows_the_size_of_its_terminal() {
    let desk = desk();
    let mut terminal = Terminal::open(&desk, (24, 160), &["run", "--until-idle"]);
    terminal.wait_for("SAYS");
    for (rows, columns) in [(24, 40), (50, 160), (3, 10), (1, 1), (24, 80)] {
        terminal.resize(rows, columns);
        let is_drawn = || !terminal.text().trim().is_empty();
        desk.wait_until("it is drawn", is_drawn);
    }
    terminal.wait_for("\nID  NAME");
    assert_eq!(terminal.text().matches("running, for").count(), 1, "{}", terminal.text());
    desk.open("go");
    assert_eq!(terminal.end().code(), Some(0));
    terminal.assert_restored();
}

#[test]
fn the_ladder_of_ctrl_c_leaves_the_terminal_as_it_was() {
    let desk = desk();
    let mut terminal = Terminal::open(&desk, USUAL, &["run"]);
    terminal.wait_for("SAYS");
    terminal.type_in("\x03");
    terminal.wait_for("ax: ");
    terminal.wait_for("1 running");
    terminal.type_in("\x03");
    assert_eq!(terminal.end().code(), Some(0));
    assert!(!terminal.text().contains("running, for"), "{}", terminal.text());
    terminal.assert_restored();
    assert_eq!(desk.job(1)["status"], "ready");
}

#[test]
fn whoever_stops_and_continues_a_runner_finds_its_view_again() {
    let desk = desk();
    let mut terminal = Terminal::open(&desk, USUAL, &["run", "--until-idle"]);
    terminal.wait_for("SAYS");
    terminal.type_in("\x1a");
    desk.wait_until("the view is taken away", || terminal.text().is_empty());
    terminal.signal(Signal::SIGCONT);
    terminal.wait_for("1 running");
    terminal.signal(Signal::SIGTERM);
    desk.open("go");
    assert!(terminal.end().code().is_some());
    terminal.assert_restored();
}

#[test]
fn escape_sequences_in_a_name_are_shown_and_not_obeyed() {
    let desk = Desk::new();
    desk.add(&["-n", "a\x1b[2J\x1b]0;owned\x07b"], &gate("go"));
    let mut terminal = Terminal::open(&desk, USUAL, &["run", "--until-idle"]);
    terminal.wait_for(r"a\x1b[2J\x1b]0;owned\x07b");
    desk.open("go");
    terminal.end();
    assert!(!terminal.bytes().contains("\x1b[2J"));
}

#[test]
fn lines_faster_than_the_screen_are_all_there_in_the_end() {
    let desk = Desk::new();
    let jobs = "{\"command\": \"exit 3\", \"max_retries\": 0}\n".repeat(300);
    assert_eq!(desk.typing(&["add", "--from", "-"], &jobs).exit, 0);
    let mut terminal = Terminal::open(&desk, USUAL, &["run", "--until-idle", "-w", "16"]);
    assert_eq!(terminal.end().code(), Some(1));
    assert_eq!(terminal.bytes().matches(", exit 3").count(), 300);
    terminal.assert_restored();
}

#[test]
fn there_is_no_view_in_a_pipe_nor_for_json_nor_on_a_dumb_terminal() {
    let desk = Desk::new();
    desk.add(&[], "true");
    let plain = desk.ax(&["run", "--once"]);
    assert!(plain.err.contains("job 1 true: success after "), "{}", plain.err);
    assert!(!plain.err.contains('\x1b') && plain.out.is_empty(), "{}", plain.err);
    for (term, words, want) in [
        ("xterm", &["run", "--once", "--json"][..], "{\"event\":\"ended\",\"id\":2,"),
        ("dumb", &["run", "--once"], "job 3 true: success after "),
    ] {
        desk.add(&[], "true");
        let mut terminal = Terminal::of_kind(term, &desk, USUAL, words);
        assert_eq!(terminal.end().code(), Some(0));
        let bytes = terminal.bytes();
        assert!(bytes.contains(want), "{bytes}");
        assert!(!bytes.contains("\x1b[J") && !bytes.contains("running"), "{bytes}");
    }
}

#[test]
fn a_third_interrupt_leaves_at_once_and_no_view_behind() {
    let desk = Desk::new();
    desk.add(&[], &format!("trap '' TERM INT; echo $$ > main; {}", gate("go")));
    let mut terminal = Terminal::open(&desk, USUAL, &["run"]);
    desk.pid_in("main");
    terminal.wait_for("SAYS");
    for stage in 1..=2 {
        terminal.type_in("\x03");
        let told = || terminal.text().lines().filter(|line| line.starts_with("ax: ")).count();
        desk.wait_until("it is told", || told() == stage);
    }
    terminal.type_in("\x03");
    assert!(terminal.end().code().is_some());
    assert!(!terminal.text().contains("running, for"), "{}", terminal.text());
    terminal.assert_restored();
    desk.open("go");
}

#[test]
fn a_terminal_that_goes_away_stops_nothing() {
    let desk = desk();
    let mut terminal = Terminal::open(&desk, USUAL, &["run", "--until-idle"]);
    terminal.wait_for("SAYS");
    terminal.hang_up();
    desk.open("go");
    assert_eq!(terminal.end().code(), Some(0));
    assert_eq!(desk.states(), ["success", "success"]);
}

#[test]
fn a_job_is_shown_with_the_time_that_it_usually_takes_and_how_far_it_is() {
    let desk = Desk::new();
    desk.add(&["-n", "copy"], "sleep 0.3");
    assert_eq!(desk.ax(&["run", "--once"]).exit, 0);
    let ax = env!("CARGO_BIN_EXE_ax");
    desk.add(&["-n", "copy"], &format!("{ax} progress 40 copied 4 of 10; {}", gate("go")));
    let mut terminal = Terminal::open(&desk, USUAL, &["run", "--until-idle"]);
    terminal.wait_for("  40% copied 4 of 10");
    let usual = || {
        let text = terminal.text();
        let row = text.lines().find(|line| line.contains(" copy ")).unwrap_or_default();
        row.split_whitespace().nth(3).is_some_and(|usual| usual.starts_with('3'))
    };
    desk.wait_until("its usual time is shown", usual);
    desk.open("go");
    assert_eq!(terminal.end().code(), Some(0));
}

/// What somebody who watches sees of the runner of [`desk`].
fn watched(desk: &Desk, options: &[&str]) -> Terminal {
    desk.wait_for_states(&["running", "pending"]);
    let terminal = Terminal::open(desk, USUAL, &[&["top"], options].concat());
    terminal.wait_for("q leaves");
    terminal
}

#[test]
fn a_screen_shows_what_a_runner_elsewhere_does_until_somebody_leaves() {
    let desk = Desk::new();
    desk.add(&["-n", "日本語 🎉"], &format!("echo step one; {}; exit 3", gate("go")));
    desk.add(&["-n", "later", "--after", "1"], "true");
    let _runner = desk.run(&[]);
    for leave in ["q", "\x03", "\x1b"] {
        let mut terminal = watched(&desk, &["--interval", "100ms"]);
        assert!(terminal.is_alternate());
        terminal.wait_for("\nqueue: 1 waiting for others\n");
        terminal.wait_for("  step one");
        assert!(terminal.text().contains("1 runner, "), "{}", terminal.text());
        terminal.type_in(leave);
        assert_eq!(terminal.end().code(), Some(0), "{leave:?}");
        assert_eq!(terminal.text(), "", "the screen is as it was");
        terminal.assert_restored();
    }
    let terminal = watched(&desk, &["--interval", "100ms"]);
    desk.open("go");
    terminal.wait_for("failed  ");
    terminal.wait_for("  step one");
    terminal.wait_for("\nnothing runs");
}

#[test]
fn a_screen_follows_the_size_of_its_terminal_and_the_keys() {
    let desk = Desk::new();
    for n in 1..=30 {
        desk.add(&["-n", &format!("job {n}")], &gate("go"));
    }
    let _runner = desk.run(&["--workers", "30"]);
    desk.wait_until("all run", || desk.states().iter().all(|state| state == "running"));
    let mut terminal = Terminal::open(&desk, USUAL, &["top", "--interval", "100ms"]);
    terminal.wait_for("and 12 more");
    terminal.type_in("ss");
    terminal.wait_for("s sorts by id");
    terminal.type_in("G");
    terminal.wait_for("\n30  job 30");
    // Each size has a sign of its own, so that keys meet a screen of that size.
    terminal.resize(40, 160);
    terminal.wait_for("\n 1  job 1 ");
    terminal.resize(20, 40);
    terminal.wait_for("and 16 more");
    for (rows, columns) in [(3, 10), (1, 1), (24, 80)] {
        terminal.resize(rows, columns);
    }
    terminal.wait_for("and 12 more");
    terminal.type_in("G");
    terminal.wait_for("\n30  job 30");
    terminal.type_in("g");
    terminal.wait_for("\n 1  job 1 ");
    terminal.type_in("q");
    terminal.end();
    terminal.assert_restored();
}

#[test]
fn a_signal_ends_the_screen_and_restores_the_terminal() {
    let desk = desk();
    let _runner = desk.run(&[]);
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut terminal = watched(&desk, &[]);
        terminal.signal(signal);
        assert_eq!(terminal.end().signal(), Some(signal as i32));
        terminal.assert_restored();
    }
}

#[test]
fn a_screen_that_is_suspended_gives_the_terminal_back_and_takes_it_again() {
    let desk = desk();
    let _runner = desk.run(&[]);
    let mut terminal = watched(&desk, &["--interval", "100ms"]);
    terminal.type_in("\x1a");
    desk.wait_until("the screen is given back", || !terminal.is_alternate());
    terminal.signal(Signal::SIGCONT);
    desk.wait_until("it is taken again", || terminal.is_alternate());
    terminal.wait_for("q leaves");
    terminal.type_in("q");
    assert_eq!(terminal.end().code(), Some(0));
    terminal.assert_restored();
}

#[test]
fn where_there_is_no_screen_what_is_so_is_printed_once() {
    let desk = desk();
    let _runner = desk.run(&[]);
    desk.wait_for_states(&["running", "pending"]);
    let text = desk.ok(&["top"]);
    assert!(text.starts_with("ax top ") && text.contains("\n 1  日本語 🎉  "), "{text}");
    assert!(!text.contains('\x1b') && !text.contains("leaves"), "{text}");
    assert_eq!(desk.ok(&["top", "-o", "ids"]), "1\n");
    assert_eq!(desk.ax(&["top", "--json"]).json()["queue"]["waiting"], 1);
    for (kind, words) in [("dumb", &["top"][..]), ("xterm", &["top", "--once"])] {
        let mut terminal = Terminal::of_kind(kind, &desk, USUAL, words);
        assert_eq!(terminal.end().code(), Some(0));
        assert!(terminal.text().contains("1 waiting for others"), "{}", terminal.text());
        assert!(!terminal.bytes().contains("\x1b[?1049h"));
    }
    assert_eq!(desk.ax(&["top", "--interval", "0"]).exit, 2);
}

#[test]
fn followed_jobs_have_colours_and_escapes_on_a_terminal() {
    let desk = Desk::new();
    desk.add(&["-n", "one"], "printf 'a\\033[2Jb\\n'");
    desk.add(&["-n", "two"], "echo c");
    desk.ax(&["run", "--until-idle"]);
    let mut terminal = Terminal::open(&desk, USUAL, &["logs", "-f", "1-2"]);
    assert_eq!(terminal.end().code(), Some(0));
    assert_eq!(terminal.text(), "1 one | a\\x1b[2Jb\n2 two | c");
    assert!(terminal.bytes().contains("\x1b[36m1 one |\x1b[0m "), "{}", terminal.bytes());
    let mut terminal = Terminal::open(&desk, USUAL, &["logs", "-f", "1"]);
    assert_eq!(terminal.end().code(), Some(0));
    assert_eq!(terminal.text(), "a\\x1b[2Jb");
    terminal.assert_restored();
}

#[test]
fn an_attempt_that_did_not_end_its_line_is_told_of_on_one_of_its_own() {
    let desk = Desk::new();
    desk.add(&["-n", "flaky", "--retry-delay", "1h"], "printf try; test -e go");
    let _runner = desk.run(&[]);
    desk.wait_for_states(&["failed"]);
    let mut terminal = Terminal::open(&desk, USUAL, &["logs", "-f", "1"]);
    terminal.wait_for("try\nax: job 1 flaky, attempt 1: try; its last attempt failed; ");
    terminal.type_in("\x03");
    assert_eq!(terminal.end().signal(), Some(Signal::SIGINT as i32));
    terminal.assert_restored_modes();
}
