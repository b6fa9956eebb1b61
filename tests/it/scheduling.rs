//! Schedules, from the outside.

use serde_json::{Value, json};

use super::harness::Desk;

/// Lets the next start of a schedule be due.
fn make_due(desk: &Desk, name: &str) {
    let by_hand = rusqlite::Connection::open(desk.db()).expect("the database opens");
    let sql = "
        UPDATE ax_jobs SET scheduled_at = created_at
        WHERE flow_run = (SELECT next_run FROM ax_schedules WHERE name = :name)";
    by_hand.execute(sql, [name]).expect("written");
    for sql in [
        "UPDATE ax_flow_runs SET due_at = created_at
         WHERE id = (SELECT next_run FROM ax_schedules WHERE name = :name)",
        "UPDATE ax_schedules SET next_at = created_at WHERE name = :name",
    ] {
        by_hand.execute(sql, [name]).expect("written");
    }
}

fn schedules(desk: &Desk) -> Vec<Value> {
    let list = desk.ax(&["schedule", "list", "--json"]).json();
    list.as_array().expect("an array").clone()
}

#[test]
fn what_is_added_with_cron_is_a_job_that_comes_again_and_again() {
    let desk = Desk::new();
    let id = desk.add(&["--cron", "@yearly", "--tz", "Asia/Kathmandu", "-r", "0"], "echo x >> out");
    let job = desk.job(id);
    assert_eq!(job["status"], "pending");
    assert_eq!(job["schedule"], "echo");
    assert!(job["scheduled_at"].as_str().expect("a time").ends_with("-12-31T18:15:00.000Z"));
    let why = job["why"].as_str().expect("a sentence");
    assert!(why.ends_with(", as a start of the schedule `echo`"), "{why}");
    assert_eq!(desk.ax(&["run", "--until-idle"]).exit, 0, "nobody waits for a year");
    make_due(&desk, "echo");
    assert_eq!(desk.ax(&["run", "--once"]).exit, 0);
    assert_eq!(std::fs::read_to_string(desk.file("out")).expect("it ran"), "x\n");
    assert_eq!(desk.states(), ["success", "pending"]);
    assert_eq!(schedules(&desk)[0]["next_jobs"], json!([id + 1]));
}

#[test]
fn a_schedule_is_listed_with_its_next_start_and_all_that_it_says() {
    let desk = Desk::new();
    let words = ["schedule", "add", "nightly", "--cron", "30  2 * * *", "--tz", "Europe/Berlin"];
    let more = ["--overlap", "queue", "--catch-up", "all", "--", "rsync", "-a", "my disk", "x"];
    let id: i64 = desk.ok(&[&words[..], &more].concat()).trim().parse().expect("a bare id");
    let listed = &schedules(&desk)[0];
    let at = desk.job(id)["scheduled_at"].clone();
    let want = json!({
        "name": "nightly", "cron": "30 2 * * *", "timezone": "Europe/Berlin", "catch_up": "all",
        "overlap": "queue", "paused": false, "next_at": at, "next_jobs": [id], "flow": null,
        "command": "rsync -a 'my disk' x",
    });
    assert_eq!(listed, &want);
    assert_eq!(desk.ok(&["schedule", "list", "-o", "ids"]), format!("{id}\n"));
    let next = desk.ax(&["schedule", "next", "nightly", "-n", "2", "--json"]).json();
    assert_eq!(next[0]["due_at"], at);
    assert_eq!(next.as_array().expect("an array").len(), 2);
}

#[test]
fn a_schedule_can_be_paused_resumed_replaced_and_removed() {
    let desk = Desk::new();
    let add = ["schedule", "add", "tick", "--cron", "@daily", "--tz", "UTC"];
    assert_eq!(desk.ok(&[&add[..], &["true"]].concat()), "1\n");
    assert_eq!(
        desk.ok(&["schedule", "pause", "tick"]),
        "1 tick: cancelled (the schedule `tick` was paused)\n"
    );
    let paused = desk.ax(&["schedule", "next", "tick"]);
    assert_eq!(
        (paused.exit, paused.err.lines().next()),
        (4, Some("ax: the schedule `tick` is paused"))
    );
    assert!(desk.ok(&["schedule", "list"]).contains("paused"));
    assert_eq!(desk.ok(&["schedule", "resume", "tick"]), "2\n");
    let twice = desk.ax(&[&add[..], &["false"]].concat());
    assert_eq!(twice.exit, 4);
    assert!(
        twice.err.contains("there is a schedule `tick` already\nhint: --replace"),
        "{}",
        twice.err
    );
    assert_eq!(desk.ok(&[&add[..], &["--replace", "false"]].concat()), "3\n");
    assert_eq!(desk.ok(&[&add[..], &["--replace", "false"]].concat()), "3\n", "nothing changed");
    assert!(desk.ok(&["schedule", "rm", "tick"]).starts_with("3 tick: cancelled"));
    let gone = desk.ax(&["schedule", "remove", "tick"]);
    assert_eq!((gone.exit, gone.err.lines().next()), (3, Some("ax: no such schedule: `tick`")));
    assert_eq!(desk.states(), ["cancelled"; 3]);
    assert_eq!(desk.ok(&["schedule", "list"]), "no schedules; `ax schedule add` makes one\n");
}

#[test]
fn schedules_without_a_name_are_named_by_what_they_run() {
    let desk = Desk::new();
    for _ in 0..2 {
        desk.add(&["--cron", "@daily"], "cd / && ./backup.sh --all");
    }
    desk.add(&["--cron", "@daily", "-n", "my own"], "true");
    let names: Vec<_> = schedules(&desk).iter().map(|schedule| schedule["name"].clone()).collect();
    assert_eq!(names, ["backup", "backup-2", "my own"]);
}

#[test]
fn what_cannot_be_scheduled_is_refused_and_nothing_is_stored() {
    let desk = Desk::new();
    for (words, why) in [
        (&["--cron", "0 0 30 2 *", "true"][..], "no such day ever comes"),
        (&["--cron", "@reboot", "true"], "a start of the machine is no time"),
        (&["--cron", "@daily", "--tz", "Berlin", "true"], "`Berlin` is no time zone"),
        (&["--cron", "@daily", "--at", "02:00", "true"], "cannot be used with"),
        (&["--cron", "@daily", "--key", "k", "true"], "cannot be used with"),
        (&["--cron", "@daily", "--after", "1", "true"], "cannot be used with"),
        (&["--tz", "UTC", "true"], "--cron <EXPR>"),
        (&["--cron", "@daily"], "no command was given"),
        (&["--cron", "@daily", "-n", "", "true"], "the name is empty"),
    ] {
        let said = desk.ax(&[&["add"], words].concat());
        assert_eq!(said.exit, 2, "{words:?}");
        assert!(said.err.contains(why), "{words:?}: {}", said.err);
    }
    let mut odd_zone = desk.command(&["add", "--cron", "@daily", "true"]);
    let said: crate::harness::Said = crate::harness::said(odd_zone.env("TZ", "CET-1CEST"));
    assert_eq!(said.exit, 2);
    assert!(said.err.contains("TZ: `CET-1CEST` is no time zone"), "{}", said.err);
    assert!(desk.jobs().is_empty() && schedules(&desk).is_empty());
}

#[test]
fn the_time_zone_is_that_of_whoever_types() {
    let desk = Desk::new();
    for (number, tz) in ["America/New_York", ":Europe/Berlin", ""].into_iter().enumerate() {
        let name = number.to_string();
        let mut add = desk.command(&["schedule", "add", &name, "--cron", "@daily", "true"]);
        assert_eq!(crate::harness::said(add.env("TZ", tz)).exit, 0, "{tz}");
    }
    let zones: Vec<_> =
        schedules(&desk).iter().map(|schedule| schedule["timezone"].clone()).collect();
    assert_eq!(zones, ["America/New_York", "Europe/Berlin", "UTC"]);
}
