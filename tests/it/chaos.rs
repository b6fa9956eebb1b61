//! Chaos with the real binary: three runners, twenty people who add jobs,
//! others who look on, and somebody who kills, stops and ends whomever he can.
//! Then all is let come to rest, and every promise is held against what is left.
//!
//! `AX_CHAOS_SECONDS` says for how long (10). `AX_CHAOS_ROUNDS` asks instead for
//! so many rounds of `kill -9` while 500 jobs run, and `AX_CHAOS_SEED` for what
//! was tried before; processes never take turns the same way twice, though.

mod mischief;
mod people;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use rustix::process::setpriority_process;

use super::harness::{Desk, Runner, process};
use super::proof::{Proof, shapes};
use mischief::Mischief;

const ADDERS: u64 = 20;
const RUNNERS: usize = 3;

/// How many jobs there are at once.
const FIRST_JOBS: u128 = 20;

/// How long it goes on.
#[derive(Clone, Copy, Debug)]
enum Length {
    /// By the clock.
    Time(Duration),
    /// By how often somebody was killed.
    Rounds(usize),
}

impl Length {
    fn from_environment() -> Self {
        match (number("AX_CHAOS_ROUNDS"), number("AX_CHAOS_SECONDS")) {
            (Some(rounds), _) => Self::Rounds(usize::try_from(rounds).expect("a count")),
            (None, seconds) => Self::Time(Duration::from_secs(seconds.unwrap_or(10))),
        }
    }

    /// How many jobs are added on the whole, or a few more.
    fn jobs(self) -> usize {
        match self {
            Self::Time(time) => 20 * usize::try_from(time.as_secs()).expect("a count"),
            Self::Rounds(_) => 500,
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

/// What everybody knows.
struct Scene {
    desk: Desk,
    length: Length,
    begun: Instant,
    rounds: AtomicUsize,
    added: AtomicUsize,
    acknowledged: Mutex<Vec<i64>>,
    exits: Mutex<Vec<i32>>,
}

impl Scene {
    fn new(length: Length) -> Self {
        let desk = Desk::new();
        shapes::lay_out(desk.path());
        desk.ok(&["status"]);
        Self {
            desk,
            length,
            begun: Instant::now(),
            rounds: AtomicUsize::new(0),
            added: AtomicUsize::new(0),
            acknowledged: Mutex::default(),
            exits: Mutex::default(),
        }
    }

    fn is_over(&self) -> bool {
        match self.length {
            Length::Time(time) => self.begun.elapsed() >= time,
            Length::Rounds(rounds) => self.rounds.load(Ordering::Relaxed) >= rounds,
        }
    }

    /// Whether it is time for more jobs: they come in step with all the rest.
    fn wants_jobs(&self) -> bool {
        let (done, all) = match self.length {
            Length::Time(time) => (self.begun.elapsed().as_millis(), time.as_millis()),
            Length::Rounds(rounds) => (self.rounds.load(Ordering::Relaxed) as u128, rounds as u128),
        };
        let due = self.length.jobs() as u128 * done / all.max(1);
        (self.added.load(Ordering::Relaxed) as u128) < due + FIRST_JOBS
    }

    fn note_exit(&self, exit: i32) {
        self.exits.lock().expect("nobody panics with it").push(exit);
    }
}

#[test]
fn nothing_is_lost_and_nothing_done_twice_whoever_is_killed_or_stopped() {
    let length = Length::from_environment();
    let seed = number("AX_CHAOS_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("AX_CHAOS_SEED={seed}, {length:?}");
    // This thread, and all that it starts, stand back behind other tests.
    setpriority_process(None, 19).expect("anybody may stand back");
    let scene = Scene::new(length);
    let rng = |person: u64| Rng::with_seed(seed.wrapping_add(person));
    let all = &scene;
    let told = thread::scope(|scope| {
        for number in 0..ADDERS {
            scope.spawn(move || people::add(all, number, rng(number)));
        }
        scope.spawn(move || people::look(all, rng(ADDERS)));
        Mischief::new(all, rng(ADDERS + 1)).go_on()
    });
    come_to_rest(&scene);
    let Scene { desk, acknowledged, exits, .. } = scene;
    let acknowledged = acknowledged.into_inner().expect("nobody panicked");
    let exits = exits.into_inner().expect("nobody panicked");
    println!("{told}; {} commands", exits.len());
    let told: BTreeSet<i64> = acknowledged.iter().copied().collect();
    let stored: BTreeSet<i64> =
        desk.jobs().iter().map(|job| job["id"].as_i64().expect("an id")).collect();
    assert_eq!(acknowledged.len(), told.len(), "one job was told to two who added");
    assert_eq!(told, stored, "a job was added twice, or lost");
    let proof = Proof::gather(&desk.file("ledger"), desk.db(), acknowledged, exits);
    println!("{}", proof.figures());
    proof.check();
}

/// Lets one runner finish, and every supervisor leave.
fn come_to_rest(scene: &Scene) {
    let desk = &scene.desk;
    let words = ["--until-idle", "--workers", "6", "--poll-interval", "100ms"];
    let mut last = desk.run(&words);
    let mut left = usize::MAX;
    while last.is_alive() {
        // Slow is no failure as long as it goes on.
        desk.wait_until("jobs come to an end", || {
            let now = people::unfinished(desk);
            std::mem::replace(&mut left, now) > now || !last.is_alive()
        });
    }
    scene.note_exit(last.exit());
    desk.wait_until("all supervisors have left", || process::all_of(desk.db()).is_empty());
    for words in [&["recover"][..], &["doctor", "--fix"], &["doctor"]] {
        scene.note_exit(desk.ax(words).exit);
    }
    desk.ok(&["doctor"]);
}
