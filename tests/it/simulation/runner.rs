//! A runner: the real scheduler between a simulated loop and simulated workers,
//! which do what `sched::drive`, `sched::pool` and `exec::supervised` do.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use ax_scheduler::exec::journal::Step;
use ax_scheduler::exec::process::Identity;
use ax_scheduler::exec::{Ended, Report, Stop};
use ax_scheduler::job::{Captured, Claim, Claimed, Outcome, RunnerId};
use ax_scheduler::sched::{Scheduler, recover};
use ax_scheduler::store::NewRunner;

use super::door::{Door, Who};
use super::hooks;
use super::supervisor::{Journal, Order, Supervisor};
use super::world::{Shared, World};

/// Jobs that a runner has in hand at most: two workers, two ahead.
const CAPACITY: usize = 4;
const WORKERS: usize = 2;

/// A worker: what it runs, and by which supervisor.
#[derive(Debug, Default)]
struct Worker {
    job: Option<Claimed>,
    supervisor: Option<usize>,
    sent: bool,
    /// Former supervisors, with how many attempts ended since.
    past: Vec<(usize, usize)>,
}

/// A runner.
pub(crate) struct Runner {
    pub(crate) id: RunnerId,
    pub(crate) alive: bool,
    pub(crate) stopped: bool,
    /// Its thread is in the middle of something.
    pub(crate) busy: bool,
    pub(crate) lock_exists: bool,
    boot: u32,
    draining: bool,
    scheduler: Option<Scheduler>,
    queue: VecDeque<Claimed>,
    reports: VecDeque<Report>,
    workers: [Worker; WORKERS],
    serial: usize,
}

impl World {
    pub(crate) fn start_runner(&mut self) {
        let boot_id = self.machine.boot_id();
        let pid = self.machine.pid();
        let new = NewRunner { pid, start_time: 1, boot_id, workers: WORKERS };
        let now = self.machine.now();
        let id = self.store(0).enlist(&new, now).expect("a runner is entered");
        self.tell_trace(|| format!("runner {id} starts"));
        let scheduler = Scheduler::new(id, None, CAPACITY, Path::new("/ax.db"));
        self.runners.push(Runner {
            id,
            alive: true,
            stopped: false,
            busy: false,
            lock_exists: true,
            boot: self.machine.boot,
            draining: false,
            scheduler: Some(scheduler),
            queue: VecDeque::new(),
            reports: VecDeque::new(),
            workers: Default::default(),
            serial: 0,
        });
    }

    pub(crate) fn kill_runner(&mut self, at: usize) {
        let runner = &mut self.runners[at];
        runner.alive = false;
        runner.scheduler = None;
        (runner.queue, runner.reports) = Default::default();
    }

    /// Tells whether a runner's lock is held.
    pub(crate) fn holds_lock(&self, at: usize) -> bool {
        self.runners[at].alive
    }

    /// Tells whether what no journal of a runner tells of was not started.
    pub(crate) fn has_all_journals(&self, at: usize) -> bool {
        self.runners[at].boot == self.machine.boot && self.runners[at].lock_exists
    }

    /// Tells whether a runner's own thread can do something.
    pub(crate) fn can_act(&self, at: usize) -> bool {
        let runner = &self.runners[at];
        runner.alive && !runner.stopped && !runner.busy
    }

    /// Tells whether a runner serves.
    pub(crate) fn serves(&self, at: usize) -> bool {
        self.can_act(at) && !self.runners[at].draining
    }

    /// Takes note of a report of a worker.
    pub(crate) fn deliver(&mut self, at: usize) -> bool {
        let runner = &mut self.runners[at];
        let Some(report) = runner.reports.pop_front() else { return false };
        runner.scheduler.as_mut().expect("it lives").note(report);
        true
    }

    /// Tells a runner to stop: it claims no more, and stops its jobs if `kill`.
    pub(crate) fn drain(&mut self, at: usize, kill: bool) {
        let now = self.machine.now();
        let runner = &mut self.runners[at];
        runner.draining = true;
        let scheduler = runner.scheduler.as_mut().expect("it lives");
        for claimed in runner.queue.drain(..) {
            scheduler.give_back(claimed.claim, "the runner stops", now);
        }
        for worker in runner.workers.iter().filter(|worker| kill && worker.sent) {
            if let (Some(job), Some(supervisor)) = (&worker.job, worker.supervisor) {
                let order = Order::Stop(job.claim, Stop::Shutdown);
                self.supervisors[supervisor].orders.push_back(order);
            }
        }
    }

    /// Lets a worker do one thing; tells whether there was one.
    pub(crate) fn step_worker(&mut self, at: usize, number: usize) -> bool {
        let number = number % WORKERS;
        let runner = &mut self.runners[at];
        if !runner.alive || runner.stopped {
            return false;
        }
        let worker = &mut runner.workers[number];
        let Some(claimed) = &worker.job else {
            worker.job = runner.queue.pop_front();
            return worker.job.is_some();
        };
        let claimed = claimed.clone();
        let Some(supervisor) = worker.supervisor else {
            self.start_supervisor(at, number);
            return true;
        };
        if !worker.sent {
            worker.sent = true;
            self.supervisors[supervisor].orders.push_back(Order::Run(Box::new(claimed)));
            return true;
        }
        let supervisor = &mut self.supervisors[supervisor];
        match supervisor.answers.pop_front() {
            Some((report, retires)) => self.hear_answer(at, number, report, retires),
            None if supervisor.alive => return false,
            None => self.bury(at, number, &claimed),
        }
        true
    }

    fn start_supervisor(&mut self, at: usize, number: usize) {
        let pid = self.machine.pid();
        let identity = Identity { pid, start_time: 1, boot_id: self.machine.boot_id() };
        let runner = &mut self.runners[at];
        let path = PathBuf::from(format!("runner-{}.{}", runner.id, runner.serial));
        runner.serial += 1;
        let journal = Journal::new(identity, CAPACITY + 1);
        runner.workers[number].supervisor = Some(self.supervisors.len());
        self.supervisors.push(Supervisor::new(at, path, journal));
    }

    fn hear_answer(&mut self, at: usize, number: usize, report: Report, retires: bool) {
        let is_end = matches!(report, Report::Ended(_));
        if is_end {
            if retires {
                self.let_go(at, number);
            }
            self.finish_job(at, number);
        }
        self.runners[at].reports.push_back(report);
    }

    fn finish_job(&mut self, at: usize, number: usize) {
        let worker = &mut self.runners[at].workers[number];
        (worker.job, worker.sent) = (None, false);
        for (_, ended_since) in &mut worker.past {
            *ended_since += 1;
        }
        let supervisors = &mut self.supervisors;
        worker.past.retain(|(supervisor, ended_since)| {
            let in_doubt = *ended_since <= CAPACITY + 1;
            supervisors[*supervisor].journal.exists &= in_doubt;
            in_doubt
        });
    }

    fn let_go(&mut self, at: usize, number: usize) {
        let worker = &mut self.runners[at].workers[number];
        if let Some(supervisor) = worker.supervisor.take() {
            worker.past.push((supervisor, 0));
        }
    }

    /// Finds out what became of a job whose supervisor is dead.
    fn bury(&mut self, at: usize, number: usize, claimed: &Claimed) {
        let claim = claimed.claim;
        let supervisor = self.runners[at].workers[number].supervisor.expect("it was asked");
        let known = &self.supervisors[supervisor].journal.told;
        let step = known.of(claim).map(|entry| entry.step.clone());
        let (outcome, process, ended_at) = match step {
            None => (Outcome::NotStarted("it was killed".to_owned()), None, self.machine.now()),
            Some(Step::Ended { process, outcome, ended_at, .. }) => (outcome, process, ended_at),
            Some(Step::Started(process)) => (self.lose(claim), Some(process), self.machine.now()),
            Some(Step::Intent) => (self.lose(claim), None, self.machine.now()),
        };
        let ended = Ended { claim, outcome, process, ended_at, output: Captured::default() };
        self.let_go(at, number);
        self.finish_job(at, number);
        self.runners[at].reports.push_back(Report::Ended(ended));
    }

    fn lose(&mut self, claim: Claim) -> Outcome {
        self.machine.end(claim, Outcome::Signaled(9));
        Outcome::Lost("its supervisor was killed".to_owned())
    }
}

/// Lets a runner do a turn; tells whether something came of it.
pub(crate) fn turn(shared: &Shared, at: usize) -> bool {
    let world = shared;
    let mut scheduler = {
        let runner = &mut world.get().runners[at];
        runner.scheduler.take().expect("it lives")
    };
    let (now, claiming, had_news) = {
        let world = world.get();
        (world.machine.now(), !world.runners[at].draining, scheduler.has_news())
    };
    let mut door = Door::plain(world, Who::Runner(at));
    let step = scheduler.turn(&mut door, now, claiming);
    let mut world = world.get();
    let Ok(step) = step else {
        world.runners[at].scheduler = Some(scheduler);
        return true;
    };
    if world.is_watched {
        world.check_waits();
    }
    for claimed in &step.tasks {
        world.check_claim(claimed);
    }
    world.stop_cancelled(at, &mut scheduler, &step.cancels);
    world.next_due = step.next_due;
    let mut is_news = had_news || step.more || !step.tasks.is_empty() || !step.cancels.is_empty();
    let is_done = !claiming && scheduler.in_hand() == 0 && !scheduler.has_news();
    let runner = &mut world.runners[at];
    runner.queue.extend(step.tasks);
    runner.scheduler = Some(scheduler);
    if is_done {
        world.finish(at);
    } else if claiming && step.hooks_owed {
        drop(world);
        is_news |= hooks::take(shared, at);
    }
    is_news
}

impl World {
    /// Stops what a person wants ended.
    fn stop_cancelled(&mut self, at: usize, scheduler: &mut Scheduler, claims: &[Claim]) {
        let now = self.machine.now();
        let runner = &mut self.runners[at];
        let (withdrawn, kept): (Vec<_>, Vec<_>) =
            runner.queue.drain(..).partition(|job| claims.contains(&job.claim));
        runner.queue.extend(kept);
        for job in withdrawn {
            scheduler.give_back(job.claim, "it was cancelled", now);
        }
        for worker in runner.workers.iter().filter(|worker| worker.sent) {
            if let (Some(job), Some(supervisor)) = (&worker.job, worker.supervisor)
                && claims.contains(&job.claim)
            {
                let order = Order::Stop(job.claim, Stop::Cancel);
                self.supervisors[supervisor].orders.push_back(order);
            }
        }
    }

    /// Tells whether a runner has nothing in hand.
    pub(crate) fn is_free(&self, at: usize) -> bool {
        let runner = &self.runners[at];
        let scheduler = runner.scheduler.as_ref();
        scheduler.is_none_or(|scheduler| scheduler.in_hand() == 0 && !scheduler.has_news())
    }

    /// Ends a runner that is done: its supervisors end, it is struck out.
    fn finish(&mut self, at: usize) {
        let id = self.runners[at].id;
        self.tell_trace(|| format!("runner {id} is done"));
        let workers = std::mem::take(&mut self.runners[at].workers);
        for worker in workers {
            if let Some(supervisor) = worker.supervisor {
                let supervisor = &mut self.supervisors[supervisor];
                (supervisor.alive, supervisor.journal.exists) = (false, false);
            }
            for (supervisor, _) in worker.past {
                self.supervisors[supervisor].journal.exists = false;
            }
        }
        self.kill_runner(at);
        self.store(at).discharge(id).expect("an answer");
        self.runners[at].lock_exists = false;
    }
}

/// Lets a runner settle what others left behind; tells whether there was something.
/// It does nothing else until it has, whatever others do meanwhile.
pub(crate) fn recover(shared: &Shared, at: usize, depth: u32) -> bool {
    let world = shared;
    let (me, now) = {
        let mut world = world.get();
        world.runners[at].busy = true;
        (world.runners[at].id, world.machine.now())
    };
    let scene = Door::open(world, Who::Runner(at), depth);
    let mut store = Door::open(world, Who::Runner(at), depth);
    let recovered = recover::settle_all(&mut store, &scene, Some(me), &[], now);
    world.get().tell_trace(|| format!("runner {me} recovers: {recovered:?}"));
    let is_news = recovered.is_ok_and(|recovered| !recovered.is_empty());
    let lives = world.get().runners[at].alive;
    let has_hooks = lives && hooks::recover(shared, at, depth);
    world.get().runners[at].busy = false;
    has_hooks || is_news
}
