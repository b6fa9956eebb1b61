//! The wall clock is set while jobs run.

use chrono::{DateTime, TimeDelta, Utc};

use super::gated;
use crate::harness::clock::Clock;
use crate::harness::{Desk, Runner};

const HOUR: i64 = 3600;

fn run(desk: &Desk, clock: &Clock, options: &[&str]) -> Runner {
    let mut command = desk.command(&[&["run"], options].concat());
    clock.rules(&mut command);
    Runner::start(desk, &mut command)
}

/// Lets the runner do something, so that it has seen the clock.
fn turn(desk: &Desk) {
    let id = desk.add(&[], "true");
    desk.wait_until("a turn is done", || desk.job(id)["status"] == "success");
}

#[test]
fn a_clock_that_is_set_ends_nothing_and_starts_nothing_twice() {
    let desk = Desk::new();
    let clock = Clock::new(&desk);
    let long = desk.add(&["--timeout", "1h"], &gated());
    let failing = desk.add(&["-r", "9", "--retry-delay", "30m"], "false");
    let runner = run(&desk, &clock, &["--workers", "3"]);
    desk.wait_for_states(&["running", "failed"]);
    let now = Utc::now().timestamp();
    for ahead in [2 * HOUR, -2 * HOUR, -now, 0, 2 * HOUR, 0] {
        clock.set_ahead(ahead);
        turn(&desk);
        assert_eq!(desk.job(long)["status"], "running", "{ahead} s ahead");
        desk.wait_until("the retry waits", || desk.job(failing)["status"] == "failed");
        let at = desk.job(failing)["scheduled_at"].as_str().expect("a time").to_owned();
        let at: DateTime<Utc> = at.parse().expect("as in RFC 3339");
        let latest = Utc::now() + TimeDelta::seconds(ahead) + TimeDelta::hours(1);
        assert!(at <= latest, "{ahead} s ahead the retry is due at {at}, after {latest}");
    }
    desk.wait_until("it was retried", || desk.job(failing)["attempts"].as_i64() >= Some(3));
    desk.open("go");
    desk.wait_until("it ends", || desk.job(long)["status"] == "success");
    assert_eq!(desk.job(long)["attempts"], 1);
    desk.ledger().check();
    drop(runner);
}

#[test]
fn a_runner_without_work_notices_that_the_clock_is_set_back() {
    let desk = Desk::new();
    let clock = Clock::new(&desk);
    let failing = desk.add(&["-r", "9", "--retry-delay", "30m"], "false");
    let runner = run(&desk, &clock, &["--poll-interval", "1ms"]);
    desk.wait_for_states(&["failed"]);
    for hours in 1..=5 {
        clock.set_ahead(-hours * HOUR);
        let latest = Utc::now() + TimeDelta::minutes(31) - TimeDelta::hours(hours);
        desk.wait_until("the retry is due half an hour from then", || {
            let job = desk.job(failing);
            let at = job["scheduled_at"].as_str().expect("a time").to_owned();
            at.parse::<DateTime<Utc>>().expect("as in RFC 3339") <= latest
        });
    }
    drop(runner);
}

#[test]
fn a_timeout_comes_though_the_clock_is_set_back() {
    let desk = Desk::new();
    let clock = Clock::new(&desk);
    let stuck = desk.add(&["-r", "0", "--timeout", "1s"], "echo $$ > pid; exec sleep 300");
    let runner = run(&desk, &clock, &[]);
    desk.pid_in("pid");
    clock.set_ahead(-2 * HOUR);
    desk.wait_until("its time is up", || desk.job(stuck)["status"] == "dead");
    let error = desk.job(stuck)["last_error"].as_str().map(str::to_owned);
    assert!(error.is_some_and(|error| error.starts_with("timed out after 1 s")));
    drop(runner);
}
