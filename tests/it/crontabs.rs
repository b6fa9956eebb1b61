//! Lines of public crontabs and zones whose clock changes, with the times that
//! a second reader of crontab(5) found for them.

use std::fs;
use std::path::Path;

use ax_scheduler::job::{Timestamp, Timetable};
use chrono::{DateTime, NaiveDateTime};
use serde_json::Value;

fn facts(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crontabs").join(name);
    let text = fs::read_to_string(path).expect("a file of facts");
    text.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

fn text<'a>(fact: &'a Value, name: &str) -> &'a str {
    fact[name].as_str().expect("a text")
}

fn at(text: &str) -> Timestamp {
    let time = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%MZ").expect("a time");
    Timestamp::from_millis(time.and_utc().timestamp_millis())
}

fn written(time: Timestamp, format: &str) -> String {
    let utc = DateTime::from_timestamp_millis(time.millis()).expect("in range");
    utc.format(format).to_string()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|item| item.as_str().expect("a text")).collect()
}

#[test]
fn lines_of_public_crontabs_come_when_cron_starts_them() {
    let after = at("2027-02-26T23:58Z");
    for line in facts("lines.jsonl") {
        let (schedule, kind) = (text(&line, "schedule"), text(&line, "kind"));
        let table = Timetable::new(schedule, "UTC");
        match kind {
            "plain" | "or-rule" | "rare" | "dst" => {
                let table = table.unwrap_or_else(|why| panic!("{why}"));
                let times = table.after(after).take(6);
                let times: Vec<_> = times.map(|time| written(time, "%Y-%m-%dT%H:%MZ")).collect();
                assert_eq!(times, texts(&line["next_utc"]), "{line}");
            }
            "refuse" | "never" | "dialect" => assert!(table.is_err(), "{line}"),
            other => panic!("no such kind: {other}"),
        }
    }
}

#[test]
fn a_fixed_time_comes_once_a_day_over_every_kind_of_clock_change() {
    for fact in facts("clock-changes.jsonl") {
        let table = Timetable::new(text(&fact, "expr"), text(&fact, "zone"));
        let until = at(text(&fact, "until"));
        let table = table.expect("valid");
        let times = table.after(at(text(&fact, "after")));
        let times: Vec<_> = times.take_while(|time| *time <= until).collect();
        assert_eq!(times.len() as u64, fact["count_once_rule"], "{fact}");
        if let Some(wanted) = fact.get("once_rule") {
            let times: Vec<_> = times.iter().map(|time| written(*time, "%m-%dT%H:%MZ")).collect();
            assert_eq!(times, texts(wanted), "{fact}");
        }
    }
}
