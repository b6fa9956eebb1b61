//! What people read: stdout, stderr and exit code of whole commands.
//!
//! Times, durations and the directory are put in brackets; all else is as it
//! is printed into a pipe.

use std::fmt::Write as _;

use super::harness::{Desk, said};

/// Types the commands one after the other; what is said, as a terminal would
/// show it, with the exit code where it is not 0.
fn transcript(desk: &Desk, commands: &[&[&str]]) -> String {
    let mut text = String::new();
    for words in commands {
        let said = desk.ax(words);
        let _ = writeln!(text, "$ ax {}", shlex::try_join(words.iter().copied()).expect("no NUL"));
        text.push_str(said.text());
        text.push_str(&said.err);
        if said.exit != 0 {
            let _ = writeln!(text, "[exit {}]", said.exit);
        }
    }
    bracketed(&text, &desk.path().canonicalize().expect("it is there").display().to_string())
}

/// What differs from run to run, in brackets. Columns are as wide as that, so
/// of several blanks two stay; how columns stand is tested with the views.
fn bracketed(text: &str, dir: &str) -> String {
    let text = text.replace(dir, "[DIR]");
    let filters = [
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "[TIME]"),
        (r"\b\d+m?s ago\b", "[AGO]"),
        (r"\b(\d+ms|\d+\.\d+s)\b", "[TOOK]"),
        (r"  +", "  "),
        (r"(?m) +$", ""),
    ];
    filters.iter().fold(text, |text, (pattern, with)| {
        let pattern = regex::Regex::new(pattern).expect("a constant that is valid");
        pattern.replace_all(&text, *with).into_owned()
    })
}

fn desk_after(commands: &[&[&str]]) -> Desk {
    let desk = Desk::new();
    for words in commands {
        desk.ax(words);
    }
    desk
}

#[test]
fn what_cannot_be_added_is_told_in_words_and_nothing_is_stored() {
    let desk = desk_after(&[]);
    let commands: &[&[&str]] = &[
        &["add"],
        &["add", ""],
        &["add", "--after", "99", "true"],
        &["add", "--after", "abc", "true"],
        &["add", "--at", "tomorrowish", "true"],
        &["add", "--at", "2027-02-31T10:00:00Z", "true"],
        &["add", "--delay", "99999999999d", "true"],
        &["add", "--timeout", "0", "true"],
        &["add", "--env", "X", "true"],
        &["add", "--frobnicate", "3", "--", "true"],
        &["list", "all", "--json"],
    ];
    insta::assert_snapshot!(transcript(&desk, commands), @r#"
$ ax add
ax: no command was given
hint: `ax add 'SHELL TEXT'` or `ax add -- PROGRAM ARG…`
[exit 2]
$ ax add ''
ax: the command is empty
[exit 2]
$ ax add --after 99 true
ax: no such job: 99
hint: `ax list all` shows the jobs there are
[exit 3]
$ ax add --after abc true
ax: --after: `abc` is not a job id
[exit 2]
$ ax add --at tomorrowish true
ax: --at `tomorrowish`: not a time; these are: `2026-12-01 02:00`, `02:00`, `tomorrow 02:00`, `fri 22:30`, `2026-12-01T02:00:00Z`
[exit 2]
$ ax add --at 2027-02-31T10:00:00Z true
ax: --at `2027-02-31T10:00:00Z`: there is no day 2027-02-31
[exit 2]
$ ax add --delay 99999999999d true
ax: invalid value '99999999999d' for '--delay <DURATION>': `99999999999d` is longer than 100 years
hint: `--help` shows what may be typed
[exit 2]
$ ax add --timeout 0 true
ax: invalid value '0' for '--timeout <DURATION>': must be longer than nothing; `none` is no limit
hint: `--help` shows what may be typed
[exit 2]
$ ax add --env X true
ax: --env `X` is not NAME=VALUE
[exit 2]
$ ax add --frobnicate 3 -- true
ax: unexpected argument '--frobnicate' found
hint: a similar argument exists: '--format'; to pass '--frobnicate' as a value, use '-- --frobnicate'
[exit 2]
$ ax list all --json
[]
"#);
}

#[test]
fn jobs_are_cancelled_with_what_waits_for_them_and_what_has_ended_is_not() {
    let desk = desk_after(&[
        &["add", "-n", "fetch", "true"],
        &["add", "-n", "clean", "--after", "1", "true"],
        &["add", "-n", "report", "--after", "2", "true"],
        &["add", "--hold", "true"],
    ]);
    let commands: &[&[&str]] = &[
        &["cancel"],
        &["cancel", "9"],
        &["cancel", "2", "--downstream", "--dry-run"],
        &["cancel", "2", "--reason", "wrong day"],
        &["cancel", "2"],
        &["cancel", "3"],
        &["cancel", "status:held", "--json"],
        &["list", "all", "--columns", "id,status,reason", "--format", "csv"],
    ];
    insta::assert_snapshot!(transcript(&desk, commands), @r#"
$ ax cancel
ax: the following required arguments were not provided: <SELECTOR>...
hint: `--help` shows what may be typed
[exit 2]
$ ax cancel 9
ax: no such job: 9
hint: `ax list all` shows the jobs there are
[exit 3]
$ ax cancel 2 --downstream --dry-run
2 clean: would be cancelled
3 report: would be cancelled
$ ax cancel 2 --reason 'wrong day'
2 clean: cancelled
3 report: skipped (needs job 2, which is cancelled)
$ ax cancel 2
$ ax cancel 3
ax: job 3 is skipped, and only a job that has not ended can be cancelled
[exit 4]
$ ax cancel status:held --json
[
{"id":4,"title":"true","done":"cancelled","status":"cancelled","reason":"cancelled by a person","dry_run":false}
]
$ ax list all --columns 'id,status,reason' --format csv
id,status,reason
1,ready,no runner is alive; start one with `ax run`
2,cancelled,wrong day
3,skipped,"needs job 2, which is cancelled"
4,cancelled,cancelled by a person
"#);
}

#[test]
fn what_ended_long_ago_is_removed_and_its_number_is_not_given_again() {
    let desk = desk_after(&[
        &["add", "head -c 10000 /dev/zero"],
        &["add", "-r", "0", "exit 3"],
        &["add", "--delay", "1h", "--after-any", "2", "true"],
        &["run", "--once"],
    ]);
    assert!(desk.file("ax.db.d/out/1.1.log").exists());
    let commands: &[&[&str]] = &[
        &["prune"],
        &["prune", "--older-than", "-1"],
        &["prune", "--older-than", "1h"],
        &["prune", "--older-than", "0", "--dry-run"],
        &["prune", "--older-than", "0", "--json"],
        &["logs", "1"],
        &["deps", "1"],
        &["add", "--after", "1", "true"],
        &["cancel", "3"],
        &["prune", "--older-than", "0"],
        &["list", "all"],
        &["add", "true"],
        &["doctor"],
    ];
    insta::assert_snapshot!(transcript(&desk, commands), @r#"
$ ax prune
ax: the following required arguments were not provided: --older-than <DURATION>
hint: `--help` shows what may be typed
[exit 2]
$ ax prune --older-than -1
ax: invalid value '-1' for '--older-than <DURATION>': a duration cannot be negative
hint: `--help` shows what may be typed
[exit 2]
$ ax prune --older-than 1h
0 jobs removed
$ ax prune --older-than 0 --dry-run
1 job would be removed (1 success)
$ ax prune --older-than 0 --json
[
{"id":1,"done":"removed","status":"success","dry_run":false}
]
$ ax logs 1
ax: no such job: 1
hint: `ax list all` shows the jobs there are
[exit 3]
$ ax deps 1
ax: no such job: 1
hint: `ax list all` shows the jobs there are
[exit 3]
$ ax add --after 1 true
ax: no such job: 1
hint: `ax list all` shows the jobs there are
[exit 3]
$ ax cancel 3
3 true: cancelled
$ ax prune --older-than 0
2 jobs removed (1 dead, 1 cancelled)
$ ax list all
$ ax add true
4
$ ax doctor
no findings
"#);
    assert!(!desk.file("ax.db.d/out/1.1.log").exists());
}

#[test]
fn a_job_that_waits_is_edited_and_others_are_refused_in_words() {
    let desk = desk_after(&[
        &["add", "-n", "report", "--delay", "1h", "true"],
        &["add", "true"],
        &["run", "--once"],
    ]);
    let commands: &[&[&str]] = &[
        &["edit"],
        &["edit", "1"],
        &["edit", "1", "--priority", "x"],
        &["edit", "1", "-p", "9", "--timeout", "none", "-r", "0", "-n", "sum", "wc -l *"],
        &["edit", "1", "--delay", "0", "--", "echo", "a b"],
        &["list", "1", "--columns", "id,name,command,priority,timeout_s,max_retries,status"],
        &["edit", "2", "-p", "1"],
        &["edit", "1,2", "-p", "1"],
        &["edit", "9", "-p", "1"],
    ];
    insta::assert_snapshot!(transcript(&desk, commands), @r#"
$ ax edit
ax: the following required arguments were not provided: <ID>
hint: `--help` shows what may be typed
[exit 2]
$ ax edit 1
ax: nothing was said that is to change
hint: `ax edit --help` shows what can be changed
[exit 2]
$ ax edit 1 --priority x
ax: invalid value 'x' for '--priority <PRIORITY>': invalid digit found in string
hint: `--help` shows what may be typed
[exit 2]
$ ax edit 1 -p 9 --timeout none -r 0 -n sum 'wc -l *'
1 sum: changed
$ ax edit 1 --delay 0 -- echo 'a b'
1 sum: changed
$ ax list 1 --columns 'id,name,command,priority,timeout_s,max_retries,status'
ID  NAME  COMMAND  PRIORITY  TIMEOUT_S  MAX_RETRIES  STATUS
 1  sum  echo 'a b'  9  -  0  pending
$ ax edit 2 -p 1
ax: job 2 is success, and only a job that waits can be edited
hint: `ax add` puts another one in
[exit 4]
$ ax edit '1,2' -p 1
ax: `1,2` names 2 jobs, and only one can be meant
[exit 2]
$ ax edit 9 -p 1
ax: no such job: 9
hint: `ax list all` shows the jobs there are
[exit 3]
"#);
}

#[test]
fn groups_are_set_shown_paused_and_resumed() {
    let desk = desk_after(&[
        &["add", "-g", "encode", "-n", "one", "true"],
        &["add", "-g", "encode", "--mutex", "gpu", "-n", "two", "true"],
    ]);
    let commands: &[&[&str]] = &[
        &["group", "list"],
        &["group", "set", "encode", "--parallel", "2"],
        &["group", "set", "encode", "--parallel", "0"],
        &["group", "set", "encode", "--parallel", "many"],
        &["group", "pause", "encod"],
        &["group", "pause", "encode"],
        &["list", "group:encode"],
        &["group", "resume", "encode", "--json"],
        &["group", "list", "--format", "csv"],
        &["list", "group:none"],
        &["hold", "group:none"],
        &["add", "--mutex", "", "true"],
    ];
    insta::assert_snapshot!(transcript(&desk, commands), @r#"
$ ax group list
GROUP  PARALLEL  RUNNING  READY  WAITING  STATE
encode  none  0  2  0  open
$ ax group set encode --parallel 2
GROUP  PARALLEL  RUNNING  READY  WAITING  STATE
encode  2  0  2  0  open
$ ax group set encode --parallel 0
ax: invalid value '0' for '--parallel <N>': must be 1 or more; `ax group pause` starts none
hint: `--help` shows what may be typed
[exit 2]
$ ax group set encode --parallel many
ax: invalid value 'many' for '--parallel <N>': is neither a whole number from 1 on nor `none`
hint: `--help` shows what may be typed
[exit 2]
$ ax group pause encod
ax: there is no group `encod` with unfinished jobs or a limit
hint: `ax group list` shows those there are; `ax group set` makes one
[exit 3]
$ ax group pause encode
GROUP  PARALLEL  RUNNING  READY  WAITING  STATE
encode  2  0  2  0  paused
$ ax list group:encode
ID  STATUS  NAME  ATTEMPT  WHEN  TOOK  WHY
 1  ready  one  -  -  -  waits for group encode, which is paused; `ax group resume` lets it go on
 2  ready  two  -  -  -  waits for group encode, which is paused; `ax group resume` lets it go on
$ ax group resume encode --json
[
{"name":"encode","parallel":2,"paused":false,"running":0,"ready":2,"waiting":0}
]
$ ax group list --format csv
name,parallel,paused,running,ready,waiting
encode,2,false,0,2,0
$ ax list group:none
$ ax hold group:none
ax: no job belongs to a group `none`
[exit 3]
$ ax add --mutex '' true
ax: the mutex is empty
[exit 2]
"#);
    let job = desk.job(2);
    assert_eq!((&job["group"], &job["mutex"]), (&"encode".into(), &"gpu".into()));
}

#[test]
fn only_a_job_that_runs_snoozes_and_tells_how_far_it_is() {
    let desk = desk_after(&[&["add", "--retry-on", "1,5-7", "true"]]);
    let commands: &[&[&str]] = &[
        &["snooze", "30m"],
        &["progress", "40", "text"],
        &["progress", "101"],
        &["snooze", "soon"],
        &["add", "--retry-on", "0", "true"],
        &["add", "--no-retry-on", "7-5", "true"],
        &["list", "1", "--columns", "id,retry_on,no_retry_on"],
    ];
    insta::assert_snapshot!(transcript(&desk, commands), @r#"
$ ax snooze 30m
ax: `ax snooze` is for a job that runs, and AX_JOB_ID names none
hint: call it in the command of a job
[exit 2]
$ ax progress 40 text
ax: `ax progress` is for a job that runs, and AX_JOB_ID names none
hint: call it in the command of a job
[exit 2]
$ ax progress 101
ax: invalid value '101' for '<PERCENT>': is not a whole number from 0 to 100
hint: `--help` shows what may be typed
[exit 2]
$ ax snooze soon
ax: invalid value 'soon' for '<DURATION>': `soon` is not a duration; these are: `90` (seconds), `10m`, `1h30m`, `2d`, `[TOOK]`
hint: `--help` shows what may be typed
[exit 2]
$ ax add --retry-on 0 true
ax: invalid value '0' for '--retry-on <CODES>': `0` is neither an exit code from 1 to 255 nor a range; `all` works too
hint: `--help` shows what may be typed
[exit 2]
$ ax add --no-retry-on 7-5 true
ax: invalid value '7-5' for '--no-retry-on <CODES>': the range 7-5 runs backwards; `none` works too
hint: `--help` shows what may be typed
[exit 2]
$ ax list 1 --columns 'id,retry_on,no_retry_on'
ID  RETRY_ON  NO_RETRY_ON
 1  1,5-7  -
"#);
    let late = said(desk.command(&["progress", "4"]).env("AX_JOB_ID", "1").env("AX_ATTEMPT", "1"));
    assert_eq!(late.exit, 4);
    assert_eq!(
        late.err,
        "ax: attempt 1 of job 1 does not run\nhint: `ax show 1` tells what it does\n"
    );
}

#[test]
fn jobs_that_would_wait_for_each_other_are_refused_with_the_circle() {
    let desk = desk_after(&[&["add", "true"], &["add", "--after", "1", "true"]]);
    let commands: &[&[&str]] = &[
        &["deps", "add", "1", "--after", "2"],
        &["deps", "add", "1", "--after", "1"],
        &["deps", "add", "1", "--after", "7"],
        &["deps", "2"],
        &["deps", "2", "--format", "dot"],
    ];
    insta::assert_snapshot!(transcript(&desk, commands), @r#"
$ ax deps add 1 --after 2
ax: the jobs would wait for each other: 1 → 2 → 1
[exit 2]
$ ax deps add 1 --after 1
ax: the jobs would wait for each other: 1 → 1
[exit 2]
$ ax deps add 1 --after 7
ax: no such job: 7
hint: `ax list all` shows the jobs there are
[exit 3]
$ ax deps 2
2 pending true
waits for:
└─ 1 ready true
$ ax deps 2 --format dot
digraph ax {
  rankdir = LR;
  node [shape = box];
  1 [label = "1 ready true"];
  2 [label = "2 pending true"];
  1 -> 2 [label = "after"];
}
"#);
}

#[test]
fn a_list_tells_what_failed_and_why() {
    let desk = desk_after(&[
        &["add", "--name", "fetch", "--max-retries", "0", "echo no such host >&2; exit 7"],
        &["add", "--name", "report", "--after", "1", "true"],
        &["add", "--name", "alert", "--on-failure", "1", "echo mail sent"],
        &["run", "--until-idle"],
    ]);
    let commands: &[&[&str]] = &[
        &["list"],
        &["list", "--failed"],
        &["list", "--status", "skipped", "--format", "csv", "--columns", "id,name,status,reason"],
        &["list", "--failed", "-q"],
        &["logs", "1"],
        &["show", "2"],
    ];
    insta::assert_snapshot!(transcript(&desk, commands), @r#"
$ ax list
ID  STATUS  NAME  ATTEMPT  WHEN  TOOK  WHY
 1  dead  fetch  1/1  [AGO]  [TOOK]  no such host
 2  skipped  report  -  [AGO]  -  needs job 1, which is dead
 3  success  alert  1/4  [AGO]  [TOOK]
$ ax list --failed
ID  NAME  STATUS  END  ATTEMPT  WHEN  TOOK  ERROR
 1  fetch  dead  exit 7  1/1  [AGO]  [TOOK]  no such host
$ ax list --status skipped --format csv --columns 'id,name,status,reason'
id,name,status,reason
2,report,skipped,"needs job 1, which is dead"
$ ax list --failed -q
1
$ ax logs 1
no such host
$ ax show 2
id:  2
name:  report
command:  true
directory: [DIR]
status:  skipped
why:  it has ended: skipped, needs job 1, which is dead
priority:  5
attempts:  0
retries:  0 of 3 used, the first after 5s, each × 2, at most 1h
timeout:  1m, killed 10s later
on lost:  requeue
added:  [TIME] ([AGO])
due:  [TIME] ([AGO])
ended:  [TIME] ([AGO])
changed:  [TIME] ([AGO])

waits for:
  1 dead fetch (after)
"#);
}

#[test]
fn a_retry_brings_back_what_was_skipped_and_says_so() {
    let desk = desk_after(&[
        &["add", "--name", "fetch", "--max-retries", "0", "test -e mended"],
        &["add", "--name", "report", "--after", "1", "true"],
        &["run", "--until-idle"],
    ]);
    let commands: &[&[&str]] = &[
        &["retry", "2"],
        &["retry", "--dry-run", "1"],
        &["retry", "1"],
        &["retry", "1"],
        &["list", "--format", "ids"],
    ];
    insta::assert_snapshot!(transcript(&desk, commands), @r#"
$ ax retry 2
ax: job 2 needs job 1, which is dead
hint: `ax retry 1 2` brings both back
[exit 4]
$ ax retry --dry-run 1
1 fetch: would be retried
2 report: would be retried
$ ax retry 1
1 fetch: retried
2 report: retried
$ ax retry 1
ax: job 1 is pending, and will run without a retry
hint: `ax show 1` says what it waits for
[exit 4]
$ ax list --format ids
1
2
"#);
}

#[test]
fn a_retry_that_needs_another_names_the_command_that_brings_both_back() {
    let desk = desk_after(&[
        &["add", "--name", "fetch", "true"],
        &["add", "--name", "report", "--after", "1", "true"],
        &["cancel", "2"],
        &["cancel", "1"],
    ]);
    let commands: &[&[&str]] =
        &[&["retry", "2"], &["retry", "--dry-run", "1"], &["retry", "1", "2"]];
    insta::assert_snapshot!(transcript(&desk, commands), @r#"
$ ax retry 2
ax: job 2 needs job 1, which is cancelled
hint: `ax retry 1 2` brings both back
[exit 4]
$ ax retry --dry-run 1
1 fetch: would be retried
$ ax retry 1 2
1 fetch: retried
2 report: retried
"#);
}

#[test]
fn what_is_not_there_or_not_allowed_has_its_exit_code() {
    let desk = desk_after(&[&["add", "--hold", "true"]]);
    let commands: &[&[&str]] = &[
        &["show", "9"],
        &["logs", "1"],
        &["retry", "1-x"],
        &["retry", "9"],
        &["release", "1"],
        &["release", "1"],
        &["list", "--format", "dot"],
        &["list", "--json", "9"],
        &["recover"],
        &["doctor"],
    ];
    insta::assert_snapshot!(transcript(&desk, commands), @r#"
$ ax show 9
ax: no such job: 9
hint: `ax list all` shows the jobs there are
[exit 3]
$ ax logs 1
ax: job 1 has not been started
hint: `ax show 1` says why
[exit 3]
$ ax retry 1-x
ax: `x` is not a job id
[exit 2]
$ ax retry 9
ax: no such job: 9
hint: `ax list all` shows the jobs there are
[exit 3]
$ ax release 1
1 true: released
$ ax release 1
ax: job 1 is pending, not held
[exit 4]
$ ax list --format dot
ax: invalid value 'dot' for '--format <FORMAT>' [possible values: table, json, jsonl, csv, ids]
hint: `--help` shows what may be typed
[exit 2]
$ ax list --json 9
{"error":{"code":"not_found","message":"no such job: 9","hint":"`ax list all` shows the jobs there are"}}
[exit 3]
$ ax recover
nothing to recover
$ ax doctor
no findings
"#);
}

#[test]
fn help_is_that_of_ax_of_a_command_or_of_a_topic() {
    let desk = Desk::new();
    let all = desk.ok(&["help"]);
    assert!(all.contains("Usage: ax") && all.contains("\n  exit-codes"), "{all}");
    assert_eq!(desk.ok(&["help", "schedule", "add"]), desk.ok(&["schedule", "add", "--help"]));
    assert!(desk.ok(&["help", "ls"]).contains("Usage: ax list"));
    assert!(desk.ok(&["help", "exit-codes"]).contains("\n  124  "));
    let said = desk.ax(&["help", "exit-code"]);
    assert_eq!(said.exit, 2);
    assert_eq!(
        said.err,
        "ax: there is no command and no topic `exit-code`; did you mean `exit-codes`?\n\
         hint: `ax help` shows what there is\n"
    );
}
