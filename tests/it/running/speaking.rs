//! What jobs say to the scheduler, with real processes.

use super::super::harness::{Desk, gate};

const AX: &str = env!("CARGO_BIN_EXE_ax");

#[test]
fn a_job_that_snoozes_comes_again_then_and_uses_no_retry() {
    let desk = Desk::new();
    let text = format!("[ $AX_ATTEMPT = 3 ] || {{ {AX} snooze 1s; exit 75; }}");
    desk.add(&["-r", "0"], &text);
    desk.add(&["--after", "1"], "true");
    let mut runner = desk.run(&["--until-idle", "--poll-interval", "1h"]);
    assert_eq!(runner.exit(), 0);
    assert_eq!(desk.states(), ["success", "success"]);
    let job = desk.job(1);
    assert_eq!((&job["attempts"], &job["retry_count"]), (&3.into(), &0.into()));
    assert!(runner.err().contains("comes again later"), "{}", runner.err());
}

#[test]
fn a_snooze_lasts_as_long_as_it_says() {
    let desk = Desk::new();
    desk.add(&[], &format!("{AX} snooze 1h"));
    assert_eq!(desk.run(&["--once"]).exit(), 0);
    let job = desk.job(1);
    assert_eq!((&job["status"], &job["attempts"]), (&"pending".into(), &1.into()));
    assert_eq!(desk.run(&["--once"]).exit(), 0);
    assert_eq!(desk.job(1)["attempts"], 1);
}

#[test]
fn an_orphan_that_snoozes_is_recorded_as_one() {
    let desk = Desk::new();
    desk.add(&[], &format!("echo $$ > main; {}; {AX} snooze 1h", gate("go")));
    let runner = desk.run(&[]);
    desk.pid_in("main");
    desk.wait_for_states(&["running"]);
    runner.kill();
    desk.open("go");
    desk.wait_for_states(&["pending"]);
}

#[test]
fn codes_decide_whether_a_job_is_tried_again() {
    let desk = Desk::new();
    desk.add(&["--no-retry-on", "3,64-70", "--retry-delay", "0"], "exit 65");
    desk.add(&["--retry-on", "1", "--retry-delay", "0"], "exit $AX_ATTEMPT");
    assert_eq!(desk.run(&["--until-idle"]).exit(), 1);
    assert_eq!(desk.states(), ["dead", "dead"]);
    assert_eq!((&desk.job(1)["attempts"], &desk.job(2)["attempts"]), (&1.into(), &2.into()));
}

#[test]
fn progress_is_shown_in_the_list_and_everywhere_else() {
    let desk = Desk::new();
    desk.add(&["-n", "copy"], &format!("{AX} progress 40 copied 4 of 10; {}", gate("go")));
    let _runner = desk.run(&[]);
    desk.wait_until("it has said how far it is", || desk.job(1)["progress"] == 40);
    assert_eq!(desk.job(1)["progress_text"], "copied 4 of 10");
    desk.wait_for_states(&["running"]);
    assert!(desk.ok(&["list"]).contains("40% copied 4 of 10"));
    assert!(desk.ok(&["show", "1"]).contains("40% copied 4 of 10"));
    desk.open("go");
}
