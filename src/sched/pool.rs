//! The worker threads: each has one executor and takes the next job from a
//! bounded channel.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::exec::{Executor, Report, Stop, Stopper};
use crate::job::{Claim, Claimed};

/// What a worker tells the scheduler.
#[derive(Debug)]
pub enum FromWorker {
    /// A start or an end.
    Report(Report),
    /// A worker broke.
    Broke {
        /// The number of the worker.
        worker: usize,
        /// What it had in hand; its supervisor goes on with it and records the end.
        claim: Option<Claim>,
        /// What it said.
        why: String,
    },
}

/// Makes the executor of a worker.
pub type MakeExecutor = Box<dyn Fn() -> Box<dyn Executor> + Send>;

/// The workers of a runner.
pub struct Pool {
    tasks: Sender<Claimed>,
    queued: Receiver<Claimed>,
    workers: Vec<Worker>,
    reports: Sender<FromWorker>,
    make: MakeExecutor,
}

struct Worker {
    thread: JoinHandle<()>,
    stopper: Box<dyn Stopper>,
}

impl Pool {
    /// Starts `workers` threads that report to `reports`. The channel takes
    /// `capacity` jobs: as many as the scheduler has in hand, so that it never
    /// waits for a worker.
    pub fn start(
        workers: usize,
        capacity: usize,
        reports: Sender<FromWorker>,
        make: MakeExecutor,
    ) -> Self {
        let (tasks, queued) = bounded(capacity);
        let mut pool = Self { tasks, queued, workers: Vec::new(), reports, make };
        for number in 0..workers {
            let worker = pool.worker(number);
            pool.workers.push(worker);
        }
        pool
    }

    fn worker(&self, number: usize) -> Worker {
        let executor = (self.make)();
        let stopper = executor.stopper();
        let (tasks, reports) = (self.queued.clone(), self.reports.clone());
        let thread = thread::Builder::new()
            .name(format!("worker-{number}"))
            .spawn(move || live(number, executor, &tasks, &reports))
            .expect("a runner that cannot start its threads cannot run");
        Worker { thread, stopper }
    }

    /// Puts a job into the channel. The scheduler claims no more than fit.
    pub fn submit(&self, claimed: Claimed) {
        self.tasks.send(claimed).expect("the pool keeps a receiver of its own");
    }

    /// Takes back the jobs that no worker has taken yet.
    pub fn take_back(&self) -> Vec<Claimed> {
        self.queued.try_iter().collect()
    }

    /// Stops an attempt, whichever worker has it.
    pub fn stop(&self, claim: Claim, why: Stop) {
        for worker in &self.workers {
            worker.stopper.stop(claim, why);
        }
    }

    /// Puts a new worker in the place of one that broke.
    pub fn replace(&mut self, number: usize) {
        let worker = self.worker(number);
        self.workers[number] = worker;
    }

    /// Lets the workers end; they are idle.
    pub fn finish(self) {
        let Self { tasks, queued, workers, .. } = self;
        drop((tasks, queued));
        for worker in workers {
            // A worker that broke has said so already.
            let _ = worker.thread.join();
        }
    }
}

/// The life of a worker: it ends when the channel is closed, or by a panic,
/// which it reports.
fn live(
    number: usize,
    mut executor: Box<dyn Executor>,
    tasks: &Receiver<Claimed>,
    reports: &Sender<FromWorker>,
) {
    let in_hand = Cell::new(None);
    // A send fails only when the scheduler is gone, and then nobody listens.
    let work = AssertUnwindSafe(|| {
        for claimed in tasks {
            let claim = claimed.claim;
            in_hand.set(Some(claim));
            let ended = executor.execute(&claimed, &mut |process| {
                let _ = reports.send(FromWorker::Report(Report::Started { claim, process }));
            });
            in_hand.set(None);
            let _ = reports.send(FromWorker::Report(Report::Ended(ended)));
        }
    });
    if let Err(panic) = panic::catch_unwind(work) {
        let (claim, why) = (in_hand.get(), said(panic.as_ref()));
        let _ = reports.send(FromWorker::Broke { worker: number, claim, why });
    }
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
