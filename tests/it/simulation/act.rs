//! What can happen, and how it ends.

use ax_scheduler::job::{Captured, Job, Outcome, Settlement, State, Timestamp, Verdict};
use ax_scheduler::store::Turn;

use super::door::DEPTH;
use super::world::{Shared, World};
use super::{people, runner};

const HOUR: i64 = 3_600_000;

/// Lets one thing happen, whatever it is.
pub(crate) fn anything(world: &Shared, depth: u32) {
    let (what, place) = {
        let rng = &mut world.get().rng;
        (rng.u32(..108), rng.usize(..64))
    };
    match what {
        0..3 => world.get().add(),
        3..18 => runner_acts(world, place),
        18..36 => world.get().step_some_worker(place),
        36..68 => world.get().step_some_supervisor(place),
        68..75 => world.get().end_a_process(),
        75..80 => recover(world, place, depth),
        80..82 if depth < DEPTH => people::recover(world, depth),
        82..86 => world.get().control(),
        86..89 => world.get().step_clock(),
        89..92 => world.get().tell_late(),
        100.. => drop(world.get().step_some_hook()),
        _ => world.get().trouble(place),
    }
}

fn runner_acts(world: &Shared, place: usize) {
    let mut here = world.get();
    if here.runners.is_empty() {
        return;
    }
    let at = place % here.runners.len();
    if !here.can_act(at) {
        return;
    }
    if here.rng.bool() && here.deliver(at) {
        return;
    }
    drop(here);
    runner::turn(world, at);
}

fn recover(world: &Shared, place: usize, depth: u32) {
    let can = {
        let world = world.get();
        let at = place.checked_rem(world.runners.len());
        at.filter(|at| depth < DEPTH && world.can_act(*at))
    };
    if let Some(at) = can {
        runner::recover(world, at, depth);
    }
}

impl World {
    /// Lets one worker do something, if any can.
    fn step_some_worker(&mut self, place: usize) {
        let count = self.runners.len() * 2;
        let _ = (0..count).any(|at| {
            let at = (place + at) % count;
            self.step_worker(at / 2, at % 2)
        });
    }

    /// Lets one supervisor do something, if any can.
    fn step_some_supervisor(&mut self, place: usize) {
        let count = self.supervisors.len();
        let _ = (0..count).any(|at| self.step_supervisor((place + at) % count));
    }

    /// A job ends by itself, whoever watches.
    fn end_a_process(&mut self) {
        let running: Vec<_> =
            self.machine.runs.iter().filter(|run| run.end.is_none()).map(|run| run.claim).collect();
        if running.is_empty() {
            return;
        }
        let claim = self.one_of(&running);
        let how = match self.rng.u32(..10) {
            0..6 => Outcome::Exited(0),
            6..9 => Outcome::Exited(1),
            _ => Outcome::Signaled(11),
        };
        self.tell_trace(|| format!("{claim:?} ends: {how:?}"));
        self.machine.end(claim, how);
    }

    fn step_clock(&mut self) {
        match self.rng.u32(..10) {
            0 => self.machine.now -= 2 * HOUR,
            1 => self.machine.now += 2 * HOUR,
            2 => self.machine.now = 0,
            3 => self.machine.now = self.machine.right,
            _ => {
                let millis = self.rng.i64(0..40_000);
                self.machine.pass(millis);
            }
        }
        self.tell_trace(|| "is the time now".to_owned());
    }

    /// A result of an attempt that ended long ago comes again, changed or not.
    fn tell_late(&mut self) {
        let all: Vec<_> = self.machine.runs.iter().map(|run| run.claim).collect();
        let Some(claim) = (!all.is_empty()).then(|| self.one_of(&all)) else { return };
        let job = self.store(0).get(claim.job).expect("an answer").expect("it was added");
        if job.attempts == claim.attempt && job.state.is_owned() {
            return;
        }
        let now = self.machine.now();
        let code = self.rng.i32(0..2);
        let settlement = Settlement {
            claim,
            outcome: Outcome::Exited(code),
            verdict: if code == 0 { Verdict::Success } else { Verdict::Dead },
            process: None,
            ended_at: now,
            output: Captured::default(),
        };
        let turn = Turn {
            runner: claim.owner,
            now,
            started: &[],
            settled: &[settlement],
            handed: &[],
            serves: false,
            room: 0,
            scope: None,
        };
        self.store(1).turn(&turn).expect("a turn");
        let after = self.store(0).get(claim.job).expect("an answer").expect("it was added");
        let told = |job: &Job| (job.attempts, job.owner, job.policy.clone());
        assert_eq!(told(&after), told(&job), "{claim:?} came too late");
        assert!(after.state != State::Success || job.state == State::Success);
    }

    fn trouble(&mut self, place: usize) {
        let runner = place.checked_rem(self.runners.len());
        let supervisor = place.checked_rem(self.supervisors.len());
        match (self.rng.u32(..14), runner, supervisor) {
            (0..2, Some(at), _) => {
                self.tell_trace(|| format!("runner at {at} is killed"));
                self.kill_runner(at);
                if self.rng.bool() {
                    self.kill_supervisors_of(at);
                }
            }
            (2..5, _, Some(at)) if self.supervisors[at].alive => {
                self.tell_trace(|| format!("supervisor {at} is killed"));
                self.kill_supervisor(at);
            }
            (5, Some(at), _) => self.runners[at].stopped = !self.runners[at].stopped,
            (6..8, _, Some(at)) => {
                self.supervisors[at].stopped = !self.supervisors[at].stopped;
            }
            (8, Some(at), _) if self.serves(at) => {
                let kill = self.rng.bool();
                self.tell_trace(|| format!("runner at {at} is told to stop"));
                self.drain(at, kill);
            }
            (12..14, ..) => self.kill_some_hook(),
            (9, ..) if self.rng.u32(..4) == 0 => {
                self.tell_trace(|| "the machine restarts".to_owned());
                self.restart();
            }
            (10..12, ..) if self.runners.iter().filter(|runner| runner.alive).count() < 4 => {
                self.start_runner();
            }
            _ => (),
        }
    }
}

/// Ends all trouble and lets everything run to its end.
pub(crate) fn run_to_the_end(world: &Shared) {
    world.get().calm();
    for _ in 0..400 {
        let is_news = everybody_acts(world);
        let mut world = world.get();
        if is_news {
            continue;
        }
        if world.is_quiet() {
            return;
        }
        let due = world.next_due.map_or(world.machine.now + 1_000, Timestamp::millis);
        let wait = due - world.machine.now;
        world.machine.pass(wait.max(1));
    }
    let world = world.get();
    panic!("it does not come to an end: {:?}", world.machine.runs);
}

/// Lets everybody do what there is to do; tells whether there was something.
fn everybody_acts(world: &Shared) -> bool {
    let mut is_news = false;
    let (runners, supervisors) = {
        let world = world.get();
        (world.runners.len(), world.supervisors.len())
    };
    for at in 0..supervisors {
        is_news |= world.get().runs_on(at);
    }
    while world.get().step_some_hook() {
        is_news = true;
    }
    for at in 0..runners {
        for number in 0..2 {
            while world.get().step_worker(at, number) {
                is_news = true;
            }
        }
        if !world.get().can_act(at) {
            continue;
        }
        while world.get().deliver(at) {
            is_news = true;
        }
        is_news |= runner::turn(world, at);
    }
    if !is_news {
        let first = (0..runners).find(|at| world.get().can_act(*at)).expect("one serves");
        is_news = runner::recover(world, first, 0);
    }
    is_news
}

impl World {
    /// Ends all trouble; one runner stays.
    fn calm(&mut self) {
        self.tell_trace(|| "the trouble ends".to_owned());
        self.is_storm = false;
        self.machine.now = self.machine.right;
        for runner in &mut self.runners {
            runner.stopped = false;
        }
        for supervisor in &mut self.supervisors {
            supervisor.stopped = false;
        }
        let serving: Vec<_> = (0..self.runners.len()).filter(|at| self.serves(*at)).collect();
        match &serving[..] {
            [] => self.start_runner(),
            [_, others @ ..] => others.iter().for_each(|at| self.drain(*at, false)),
        }
    }

    /// Lets a supervisor do all it has to do, and its job end.
    fn runs_on(&mut self, at: usize) -> bool {
        let mut is_news = false;
        loop {
            if self.step_supervisor(at) {
                is_news = true;
                continue;
            }
            let supervisor = &self.supervisors[at];
            let Some(claim) = supervisor.phase.in_doubt().filter(|_| supervisor.alive) else {
                break;
            };
            let code = i32::from(self.rng.u32(..8) == 0);
            self.machine.end(claim, Outcome::Exited(code));
        }
        is_news
    }

    fn is_quiet(&mut self) -> bool {
        let is_idle = self.store(0).outlook(None).expect("an answer").is_idle();
        is_idle && (0..self.runners.len()).all(|at| self.is_free(at))
    }
}
