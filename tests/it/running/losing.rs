//! Runners and supervisors that are killed.

use std::path::PathBuf;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::super::harness::process::{is_alive, is_suspended, kill};
use super::super::harness::{Desk, gate};
use super::{busy_runner, gated};

#[test]
fn a_killed_runner_costs_nothing() {
    let desk = Desk::new();
    let runner = busy_runner(&desk, &[]);
    runner.kill();
    desk.open("go");
    desk.wait_until("the end is recorded", || desk.job(1)["status"] == "success");
    assert_eq!(desk.run(&["--until-idle", "--workers", "1"]).exit(), 0);
    let attempts: Vec<_> = desk.jobs().iter().map(|job| job["attempts"].clone()).collect();
    assert_eq!(attempts, [1, 1, 1]);
    assert_eq!(desk.ledger().ends(), [1, 2, 3]);
    desk.ledger().check();
    desk.wait_until("the dead runner is cleared away", || {
        desk.run(&["--once"]).exit() == 0 && desk.leftovers() == [""; 0].map(PathBuf::from)
    });
    desk.ok(&["doctor"]);
}

#[test]
fn a_timeout_holds_after_the_runner_was_killed() {
    let desk = Desk::new();
    desk.add(&["--timeout", "500ms", "-r", "0"], "echo $$ > main; sleep 300");
    let runner = desk.run(&[]);
    let main = desk.pid_in("main");
    runner.kill();
    desk.wait_for_states(&["dead"]);
    assert!(!is_alive(main));
}

/// Three jobs that were lost with their runner and its supervisors, one for
/// each policy; what they started is still there.
fn lose_three(desk: &Desk) {
    for policy in ["requeue", "hold", "fail"] {
        let text = format!("echo $$ > {policy}; {}", gated());
        desk.add(&["--on-lost", policy, "--retry-delay", "1h"], &text);
    }
    let runner = desk.run(&["--workers", "3"]);
    desk.wait_for_states(&["running"; 3]);
    runner.kill_with_supervisors();
}

fn rows(text: &str) -> Vec<(i64, String)> {
    let rows: Vec<Value> = serde_json::from_str(text).expect("an array");
    let row = |row: &Value| {
        (row["id"].as_i64().expect("an id"), row["what"].as_str().expect("a text").to_owned())
    };
    rows.iter().map(row).collect()
}

#[test]
fn what_is_lost_goes_by_its_policy() {
    let desk = Desk::new();
    lose_three(&desk);
    let pids = ["requeue", "hold", "fail"].map(|name| desk.pid_in(name));
    let preview = rows(&desk.ok(&["recover", "--dry-run", "--json"]));
    assert_eq!(desk.states(), ["running"; 3], "a preview changes nothing");
    assert_eq!(pids.map(is_alive), [true; 3]);
    let settled = rows(&desk.ok(&["recover", "--json"]));
    assert_eq!(preview, settled);
    for (row, end) in
        settled.iter().zip(["tried again", "a person decides", "dead, no retries are left"])
    {
        assert!(
            row.1.starts_with("outcome unknown: its runner and its supervisor were killed; "),
            "{row:?}"
        );
        assert!(row.1.ends_with(end), "{row:?}");
    }
    assert_eq!(pids.map(is_alive), [false; 3], "what was left of them is stopped");
    assert_eq!(desk.states(), ["failed", "held", "dead"]);
    assert_eq!(desk.job(2)["attempts_history"][0]["outcome"], "lost");
}

#[test]
fn what_left_the_session_of_a_lost_job_is_found_when_its_runner_is_dead_too() {
    let desk = Desk::new();
    let leave = "(setsid sh -c 'echo $$ > left; exec sleep 300' &)";
    desk.add(&["--on-lost", "hold"], &format!("{leave}; {}", gated()));
    let runner = desk.run(&[]);
    let left = desk.pid_in("left");
    desk.wait_for_states(&["running"]);
    runner.kill_with_supervisors();
    desk.ok(&["recover"]);
    assert_eq!(desk.states(), ["held"]);
    assert!(!is_alive(left));
}

#[test]
fn a_person_says_what_became_of_a_lost_job() {
    let desk = Desk::new();
    lose_three(&desk);
    desk.add(&["--after", "1"], "true");
    desk.add(&["--after", "2"], "true");
    let preview = desk.ok(&["recover", "1", "--as", "success", "--dry-run"]);
    assert_eq!(
        preview.trim_end(),
        format!("job 1 ({}): running now, would become success", title(&desk))
    );
    assert_eq!(desk.states()[0], "running");
    desk.ok(&["recover", "1", "--as", "success"]);
    assert_eq!(desk.states()[..3], ["success", "held", "dead"]);
    let listed = desk.ok(&["recover"]);
    assert!(listed.contains("ax recover 2 --as success|failed|retry"), "{listed}");
    for dry in [&["--dry-run"][..], &[]] {
        let refused = desk.ax(&[&["recover", "3", "--as", "retry"], dry].concat());
        assert_eq!(
            (refused.exit, refused.err.lines().next()),
            (4, Some("ax: job 3 is dead, not held"))
        );
    }
    desk.ok(&["recover", "2", "--as", "retry"]);
    desk.open("go");
    assert_eq!(desk.run(&["--once"]).exit(), 0);
    assert_eq!(desk.states(), ["success", "success", "dead", "success", "success"]);
    assert_eq!(desk.job(2)["attempts"], 2);
    assert_eq!(desk.ok(&["recover"]), "nothing to recover\n");
}

fn title(desk: &Desk) -> String {
    let said = rows_title(&desk.ok(&["recover", "--dry-run", "--json"]));
    said.replace('\n', "\\n")
}

fn rows_title(text: &str) -> String {
    let rows: Vec<Value> = serde_json::from_str(text).expect("an array");
    rows[0]["title"].as_str().expect("a text").to_owned()
}

#[test]
fn a_runner_settles_what_others_lost_and_says_so_in_its_exit_code() {
    let desk = Desk::new();
    lose_three(&desk);
    let mut runner = desk.run(&["--once"]);
    assert_eq!(runner.exit(), 1);
    assert!(runner.err().contains("outcome unknown: its runner and its supervisor were killed"));
    assert_eq!(desk.states(), ["failed", "held", "dead"]);
    assert_eq!(desk.leftovers(), [""; 0].map(PathBuf::from), "they had printed nothing");
    desk.ok(&["doctor"]);
}

#[test]
fn a_job_that_kills_its_supervisor_each_time_is_held_in_the_end() {
    let desk = Desk::new();
    let text = "echo $$ > main.$AX_ATTEMPT; kill -9 $PPID; sleep 300";
    desk.add(&["--on-lost", "requeue", "-r", "9", "--retry-delay", "10ms"], text);
    desk.add(&["--after", "1"], "true");
    assert_eq!(desk.run(&["--until-idle"]).exit(), 1);
    assert_eq!(desk.states(), ["held", "pending"]);
    let job = desk.job(1);
    assert_eq!(
        (&job["attempts"], &job["reason"]),
        (&3.into(), &"outcome unknown: its supervisor was killed".into())
    );
    assert!(desk.ok(&["list", "--failed"]).contains("outcome unknown"));
}

#[test]
fn what_a_killed_supervisor_leaves_is_gone_before_the_next_attempt() {
    let desk = Desk::new();
    let leave =
        "setsid sh -c 'echo $$ > left; exec sleep 300' & until [ -s left ]; do sleep 0.01; done";
    let text = format!(
        "if [ $AX_ATTEMPT = 1 ]; then {leave}; kill -9 $PPID; sleep 300; \
         else case $(cut -d' ' -f3 /proc/$(cat left)/stat) in [ZX]|'') ;; *) false;; esac; fi"
    );
    desk.add(&["--on-lost", "requeue", "-r", "1", "--retry-delay", "0"], &text);
    assert_eq!(desk.run(&["--until-idle"]).exit(), 0);
    assert_eq!(desk.job(1)["attempts"], 2);
}

#[test]
fn files_of_a_database_that_was_removed_are_in_nobodys_way() {
    let desk = Desk::new();
    desk.add(&[], &gate("never"));
    let runner = desk.run(&[]);
    desk.wait_for_states(&["running"]);
    runner.kill_with_supervisors();
    for name in ["ax.db", "ax.db-wal", "ax.db-shm"] {
        let _ = std::fs::remove_file(desk.file(name));
    }
    desk.add(&[], "true");
    assert_eq!(desk.run(&["--once"]).exit(), 0);
    assert_eq!(desk.states(), ["success"]);
}

#[test]
fn what_runs_is_not_started_again_when_its_journal_was_removed() {
    let desk = Desk::new();
    let job = desk.add(&["-r", "3"], &gated());
    let first = desk.run(&["--workers", "1"]);
    desk.wait_until("it runs", || desk.job(job)["status"] == "running");
    std::fs::remove_dir_all(desk.db().with_extension("db.d")).expect("removed");
    first.kill();
    let next = desk.run(&["--workers", "1", "--poll-interval", "20ms"]);
    let other = desk.add(&[], "true");
    desk.wait_until("others run", || desk.job(other)["status"] == "success");
    assert_eq!(desk.job(job)["status"], "running");
    desk.open("go");
    desk.wait_until("it ends", || desk.job(job)["status"] == "success");
    assert_eq!(desk.job(job)["attempts"], 1);
    desk.ledger().check();
    drop(next);
}

#[test]
fn a_success_whose_journal_was_removed_is_waited_for_until_its_supervisor_tells_of_it() {
    let desk = Desk::new();
    let job = desk.add(&["-r", "3"], &format!("echo $$ > main; {}", gated()));
    let first = desk.run(&["--workers", "1"]);
    let main = desk.pid_in("main");
    desk.wait_until("it runs", || desk.job(job)["status"] == "running");
    let supervisor = first.supervisors()[0];
    std::fs::remove_dir_all(desk.db().with_extension("db.d")).expect("removed");
    // Before it is alone and has the database in hand.
    kill(supervisor, Signal::SIGSTOP);
    desk.wait_until("it is suspended", || is_suspended(supervisor));
    first.kill();
    desk.open("go");
    desk.wait_until("the job has ended", || !is_alive(main));
    desk.add(&[], "true");
    assert_eq!(desk.run(&["--once", "--workers", "1"]).exit(), 0);
    assert_eq!(desk.states(), ["running", "success"]);
    kill(supervisor, Signal::SIGCONT);
    desk.wait_for_states(&["success", "success"]);
    assert_eq!(desk.job(job)["attempts"], 1);
    desk.ledger().check();
}
