//! Schedules, from the outside.

use serde_json::{Value, json};

use super::harness::Desk;

/// Lets the next start of a schedule be due.
pub(crate) fn make_due(desk: &Desk, name: &str) {
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
        twice.err.contains("there is a schedule `tick` already\nhint: `--replace` puts another"),
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
fn schedules_that_are_made_at_once_find_a_name_each() {
    let desk = Desk::new();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| desk.add(&["--cron", "@daily"], "backup"));
        }
    });
    assert_eq!(schedules(&desk).len(), 6);
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
        (&["--tz", "UTC", "true"], "say when it comes with --cron"),
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

const CRONTAB: &str = r"# of somebody
MAILTO=ops@example.org
PATH = /opt/bin:/usr/bin:/bin
CRON_TZ=America/New_York
30 9 * * mon-fri ./trade.sh >> log 2>&1
@daily cat > out%first line%100\% sure
CRON_TZ=UTC
*/5 * * * * ./trade.sh --check
";

#[test]
fn a_crontab_is_imported_line_by_line() {
    let desk = Desk::new();
    let would = desk.typing(&["schedule", "import", "--dry-run", "-", "--json"], CRONTAB);
    assert_eq!((would.exit, would.err.as_str()), (0, ""));
    assert!(desk.jobs().is_empty() && schedules(&desk).is_empty(), "it was a dry run");
    let made = desk.typing(&["schedule", "import", "-", "--json"], CRONTAB).json();
    let told: Vec<_> = made
        .as_array()
        .expect("an array")
        .iter()
        .map(|schedule| {
            let text = |name: &str| schedule[name].as_str().expect("a text").to_owned();
            [text("name"), text("cron"), text("timezone"), text("command")]
        })
        .collect();
    let want = [
        [
            "cat",
            "@daily",
            "America/New_York",
            "printf '%s' 'first line\n100% sure\n' | /bin/sh -c 'cat > out'",
        ],
        ["trade", "30 9 * * mon-fri", "America/New_York", "./trade.sh >> log 2>&1"],
        ["trade-2", "*/5 * * * *", "UTC", "./trade.sh --check"],
    ];
    assert_eq!(told, want);
    let job = &desk.ax(&["show", "--env", "2", "--json"]).json();
    assert_eq!((&job["timeout_s"], &job["max_retries"]), (&Value::Null, &json!(0)));
    let env = &job["environment"];
    assert_eq!(env["PATH"], "/opt/bin:/usr/bin:/bin");
    assert_eq!(env["MAILTO"], "ops@example.org");
    assert_eq!(env["SHELL"], "/bin/sh");
    assert_eq!(env["AX_DB"], Value::Null, "the environment is a clean one");
    assert_eq!(job["cwd"], std::env::var("HOME").expect("there is one"));
}

#[test]
fn what_stands_behind_a_percent_sign_is_the_input_of_the_command() {
    let desk = Desk::new();
    let import = ["schedule", "import", "-C", desk.path().to_str().expect("UTF-8"), "-"];
    assert_eq!(desk.typing(&import, "@yearly cat > out%a%b\\%\n").exit, 0);
    make_due(&desk, "cat");
    assert_eq!(desk.ax(&["run", "--once"]).exit, 0);
    assert_eq!(std::fs::read_to_string(desk.file("out")).expect("it ran"), "a\nb%\n");
}

#[test]
fn of_a_crontab_with_a_line_that_cannot_be_meant_nothing_is_imported() {
    let desk = Desk::new();
    let said = desk.typing(&["schedule", "import", "-"], "@daily ok\n@reboot start-it\n");
    assert_eq!(said.exit, 2);
    let first = said.err.lines().next().expect("a line");
    assert!(first.starts_with("ax: stdin:2:1: a start of the machine is no time"), "{first}");
    assert!(said.err.contains("2 | @reboot start-it\n"), "{}", said.err);
    assert!(schedules(&desk).is_empty());
}

#[test]
fn a_crontab_that_was_imported_before_takes_its_own_place_if_that_was_said() {
    let desk = Desk::new();
    let import = ["schedule", "import", "-"];
    assert_eq!(desk.typing(&import, "# mine\n@daily ./a.sh\n").exit, 0);
    let again = desk.typing(&import, "# mine\n@daily ./a.sh\n");
    assert_eq!(again.exit, 4);
    let first = again.err.lines().next();
    assert_eq!(first, Some("ax: stdin:2: there is a schedule `a` already"));
    let replace = ["schedule", "import", "--replace", "-"];
    assert_eq!(desk.typing(&replace, "@hourly ./a.sh\n").exit, 0);
    assert_eq!(schedules(&desk)[0]["cron"], "@hourly");
    assert_eq!(desk.states(), ["cancelled", "pending"]);
}

#[test]
fn a_crontab_of_the_system_is_for_the_user_that_it_names() {
    let desk = Desk::new();
    let text = "@daily nobody-of-that-name run-parts x\n";
    let said = desk.typing(&["schedule", "import", "--system", "-"], text);
    assert_eq!(said.exit, 2);
    let want = "ax: stdin:1: the job is to run as `nobody-of-that-name`, who is somebody else\n";
    assert!(said.err.starts_with(want), "{}", said.err);
    let user = desk.typing(&["schedule", "import", "-"], "@daily root run-parts x\n");
    assert!(user.err.contains("--system reads those"), "{}", user.err);
}

/// Writes a flow file; `more` stands before its jobs.
fn flow(desk: &Desk, more: &str) {
    let text = format!(
        "name = 'nightly'\n{more}\n[defaults]\nmax_retries = 0\n\
         [jobs.fetch]\nrun = 'echo fetch >> ledger; test -e there'\n\
         [jobs.clean]\nrun = 'echo clean >> ledger'\nafter = 'fetch'\n\
         [jobs.alert]\nrun = 'echo alert >> ledger'\non_failure = ['fetch', 'clean']\n"
    );
    std::fs::write(desk.file("nightly.toml"), text).expect("a file");
}

fn ledger(desk: &Desk) -> String {
    std::fs::read_to_string(desk.file("ledger")).expect("something ran").replace('\n', " ")
}

#[test]
fn a_flow_without_a_schedule_is_applied_as_one_run() {
    let desk = Desk::new();
    flow(&desk, "");
    desk.open("there");
    assert_eq!(desk.ok(&["apply", "nightly.toml"]), "1\n2\n3\n");
    assert_eq!(desk.ok(&["apply", "nightly.toml"]), "4\n5\n6\n");
    assert!(schedules(&desk).is_empty());
    assert_eq!(desk.ax(&["run", "--until-idle"]).exit, 0);
    assert_eq!(desk.states(), ["success", "success", "skipped", "success", "success", "skipped"]);
}

#[test]
fn a_flow_with_a_schedule_is_registered_and_starts_as_a_whole() {
    let desk = Desk::new();
    flow(&desk, "schedule = '@yearly'\ntimezone = 'UTC'\noverlap = 'queue'");
    desk.open("there");
    assert_eq!(desk.ok(&["apply", "nightly.toml"]), "1\n2\n3\n");
    assert_eq!(desk.ok(&["apply", "nightly.toml"]), "1\n2\n3\n", "nothing changed");
    let listed = &schedules(&desk)[0];
    assert_eq!((&listed["flow"], &listed["overlap"]), (&json!("nightly"), &json!("queue")));
    assert_eq!(desk.ax(&["run", "--until-idle"]).exit, 0);
    assert_eq!(desk.states(), ["pending"; 3]);
    make_due(&desk, "nightly");
    assert_eq!(desk.ax(&["run", "--until-idle"]).exit, 0);
    assert_eq!(ledger(&desk), "fetch clean ");
    assert_eq!(desk.states()[..3], ["success", "success", "skipped"]);
    assert_eq!(desk.states()[3..], ["pending"; 3]);
    flow(&desk, "schedule = '@monthly'\ntimezone = 'UTC'");
    assert_eq!(desk.ok(&["apply", "nightly.toml"]), "7\n8\n9\n");
    assert_eq!(desk.states()[3..6], ["cancelled"; 3]);
    assert_eq!(desk.ok(&["run", "nightly.toml"]).lines().count(), 4, "it can be run now, too");
}

#[test]
fn a_flow_takes_no_schedule_of_another_kind_away() {
    let desk = Desk::new();
    flow(&desk, "schedule = '@yearly'");
    desk.ok(&["schedule", "add", "nightly", "--cron", "@daily", "true"]);
    let said = desk.ax(&["apply", "nightly.toml"]);
    assert_eq!(said.exit, 4);
    assert!(said.err.contains("hint: `ax schedule remove` it"), "{}", said.err);
    assert_eq!(desk.states(), ["pending"]);
}

#[test]
fn a_flow_file_with_a_mistake_changes_nothing() {
    let desk = Desk::new();
    flow(&desk, "schedule = '@yearly'");
    desk.ok(&["apply", "nightly.toml"]);
    flow(&desk, "schedule = '0 60 * * *'");
    let said = desk.ax(&["apply", "nightly.toml"]);
    assert_eq!(said.exit, 2);
    assert!(said.err.starts_with("ax: nightly.toml:2:12: `60` is no hour"), "{}", said.err);
    assert_eq!(schedules(&desk)[0]["cron"], "@yearly");
}

#[test]
fn a_flow_starts_again_from_its_first_job_and_alerts_when_no_tries_are_left() {
    let desk = Desk::new();
    flow(&desk, "[retry]\nmax = 2\ndelay = '10ms'");
    let said = desk.ax(&["run", "nightly.toml"]);
    assert_eq!(said.exit, 1);
    assert_eq!(ledger(&desk), "fetch fetch fetch alert ");
    assert!(
        said.err.contains("pending: the whole chain starts again, retry 2 of 2"),
        "{}",
        said.err
    );
    assert_eq!(desk.states(), ["dead", "skipped", "success"]);
    assert_eq!(desk.job(1)["attempts"], 3);
}
