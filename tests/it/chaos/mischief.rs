//! Somebody who kills, stops and ends runners and supervisors, and keeps three
//! runners going.

use std::fs;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use ax_scheduler::exec::process::{self, Stat};
use fastrand::Rng;
use rustix::process::Signal;

use super::super::harness::process::all_of;
use super::{Length, RUNNERS, Runner, Scene};

/// Between two deeds, in milliseconds.
const PAUSE: std::ops::Range<u64> = 20..250;

/// How long somebody stays stopped, in milliseconds.
const STOPPED: std::ops::Range<u64> = 50..1500;

/// What is done to a process.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Kill,
    Stop,
    End,
}

pub(super) struct Mischief<'a> {
    scene: &'a Scene,
    rng: Rng,
    runners: Vec<Runner>,
    /// Who was stopped, and when he may go on.
    stopped: Vec<(Instant, Stat)>,
    /// How often each deed was done to a runner, and to a supervisor.
    count: [[u32; 2]; 3],
}

impl<'a> Mischief<'a> {
    pub(super) fn new(scene: &'a Scene, rng: Rng) -> Self {
        Self { scene, rng, runners: Vec::new(), stopped: Vec::new(), count: [[0; 2]; 3] }
    }

    /// Goes on until all is over; tells what was done.
    pub(super) fn go_on(mut self) -> String {
        while !self.scene.is_over() {
            self.keep_runners();
            if self.strike() {
                self.scene.rounds.fetch_add(1, Ordering::Relaxed);
            }
            thread::sleep(Duration::from_millis(self.rng.u64(PAUSE)));
            self.let_go_on(Instant::now());
        }
        self.make_peace();
        let [kills, stops, ends] = self.count.map(|[runners, supervisors]| {
            format!("{runners} runners and {supervisors} supervisors")
        });
        format!("killed {kills}, stopped {stops}, told to end {ends}")
    }

    /// Sees to it that there are three.
    fn keep_runners(&mut self) {
        for runner in &mut self.runners {
            if !runner.is_alive() {
                if let Some(exit) = runner.status().code() {
                    self.scene.note_exit(exit);
                }
                *runner = start(self.scene, &mut self.rng);
            }
        }
        while self.runners.len() < RUNNERS {
            self.runners.push(start(self.scene, &mut self.rng));
        }
    }

    /// Does something to somebody; tells whether there was somebody.
    fn strike(&mut self) -> bool {
        let at_supervisor = self.rng.bool();
        let candidates = if at_supervisor {
            supervisors(self.scene)
        } else {
            self.runners.iter().filter_map(|runner| process::stat(runner.pid())).collect()
        };
        let Some(victim) = self.rng.choice(candidates) else { return false };
        let deed = self.deed();
        self.count[deed as usize][usize::from(at_supervisor)] += 1;
        // Whoever has ended in the meantime is no victim.
        let struck = match deed {
            Deed::Kill => process::signal(&victim, Signal::KILL),
            Deed::End => process::signal(&victim, Signal::TERM),
            Deed::Stop => {
                let until = Duration::from_millis(self.rng.u64(STOPPED));
                self.stopped.push((Instant::now() + until, victim));
                process::signal(&victim, Signal::STOP)
            }
        };
        struck.is_ok()
    }

    fn deed(&mut self) -> Deed {
        match (self.scene.length, self.rng.u8(0..10)) {
            (Length::Rounds(_), _) | (Length::Time(_), 0..5) => Deed::Kill,
            (Length::Time(_), 5..8) => Deed::Stop,
            (Length::Time(_), _) => Deed::End,
        }
    }

    /// Lets those go on who were stopped long enough.
    fn let_go_on(&mut self, now: Instant) {
        self.stopped.retain(|(until, victim)| {
            let is_over = *until <= now;
            if is_over {
                let _ = process::signal(victim, Signal::CONT);
            }
            !is_over
        });
    }

    /// Lets everybody go on, and tells the runners to end.
    fn make_peace(&mut self) {
        for (_, victim) in self.stopped.drain(..) {
            let _ = process::signal(&victim, Signal::CONT);
        }
        for runner in &mut self.runners {
            if let Some(stat) = process::stat(runner.pid()) {
                let _ = process::signal(&stat, Signal::TERM);
            }
            if let Some(exit) = runner.status().code() {
                self.scene.note_exit(exit);
            }
        }
    }
}

fn start(scene: &Scene, rng: &mut Rng) -> Runner {
    let on_stop = rng.choice(["wait", "detach", "kill"]).expect("there are some");
    let words = ["--workers", "2", "--poll-interval", "100ms", "--grace", "300ms"];
    scene.desk.run(&[&words[..], &["--on-stop", on_stop]].concat())
}

/// The supervisors that run. A job that is being started looks like the one
/// that starts it for a moment, but for its session.
fn supervisors(scene: &Scene) -> Vec<Stat> {
    let mut all = all_of(scene.desk.db());
    all.retain(|stat| {
        let words = fs::read(format!("/proc/{}/cmdline", stat.pid)).unwrap_or_default();
        let supervises = words.split(|byte| *byte == 0).any(|word| word == b"__supervise");
        supervises && stat.session == stat.pid
    });
    all
}
