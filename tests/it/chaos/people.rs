//! People who add jobs, and people who look on.

use std::fs;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use rusqlite::Connection;

use super::super::harness::Desk;
use super::super::proof::shapes::{self, Shape};
use super::{Runner, Scene};

/// Between two looks at whether it is time.
const LOOK: Duration = Duration::from_millis(20);

/// Adds jobs of every shape until all is over; each add must go well.
pub(super) fn add(scene: &Scene, number: u64, mut rng: Rng) {
    let mut count = 0;
    while !scene.is_over() {
        if !scene.wants_jobs() {
            thread::sleep(LOOK);
            continue;
        }
        if rng.bool() {
            add_one(scene, rng.f64() * longest(scene));
        }
        let shape = rng.choice(Shape::ALL).expect("there are some");
        let lines = shape.lines(&format!("{number}-{count}"), rng.f64() * longest(scene));
        scene.added.fetch_add(lines.len(), Ordering::Relaxed);
        count += 1;
        let file = format!("jobs-{number}");
        fs::write(scene.desk.file(&file), shapes::text(&lines)).expect("a file can be made");
        let said = ask(scene, &["add", "--from", &file, "--kill-after", "100ms"]);
        let ids = said.lines().map(|id| id.parse::<i64>().expect("an id"));
        scene.acknowledged.lock().expect("nobody panics with it").extend(ids);
    }
}

/// Adds one job, which a runner may be handed.
fn add_one(scene: &Scene, seconds: f64) {
    scene.added.fetch_add(1, Ordering::Relaxed);
    let seconds = seconds.to_string();
    let said = ask(scene, &["add", "--kill-after", "100ms", "sh", "job.sh", &seconds, "0", "1"]);
    let id = said.trim().parse().expect("an id");
    scene.acknowledged.lock().expect("nobody panics with it").push(id);
}

/// The longest that a job takes, in seconds: rounds want work that lasts.
const fn longest(scene: &Scene) -> f64 {
    match scene.length {
        super::Length::Time(_) => 0.3,
        super::Length::Rounds(_) => 0.8,
    }
}

/// Asks this and that until all is over. Somebody recovers, too.
pub(super) fn look(scene: &Scene, mut rng: Rng) {
    let questions: [&[&str]; 7] = [
        &["list"],
        &["list", "all", "--json"],
        &["list", "--failed"],
        &["status"],
        &["deps"],
        &["recover"],
        &["recover", "--dry-run"],
    ];
    while !scene.is_over() {
        ask(scene, rng.choice(questions).expect("there are some"));
    }
}

/// Types a command that must go well, and in time.
#[track_caller]
fn ask(scene: &Scene, words: &[&str]) -> String {
    let mut command = Runner::start(&scene.desk, &mut scene.desk.command(words));
    let exit = command.exit();
    scene.note_exit(exit);
    assert_eq!(exit, 0, "{words:?}: {}", command.err());
    command.out()
}

/// How many jobs have not ended.
pub(super) fn unfinished(desk: &Desk) -> usize {
    const UNFINISHED: &str = "
        SELECT count(*) FROM ax_jobs
        WHERE status NOT IN ('success', 'dead', 'cancelled', 'skipped')";
    let connection = Connection::open(desk.db()).expect("the database can be opened");
    connection.query_row(UNFINISHED, [], |row| row.get(0)).expect("it can be counted")
}
