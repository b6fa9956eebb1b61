//! The worker threads: each has one executor and takes the next job from a
//! bounded channel.

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::mem::ManuallyDrop;
use std::panic::{self, AssertUnwindSafe};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::pace;
use crate::exec::{Executor, Report, Sign, Stop, Stopper};
use crate::job::{Claim, Claimed, Outcome};

/// How long a worker leaves the queue alone that could not start a job.
const REFUSED: Duration = Duration::from_millis(200);

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
///
/// Dropping it leaves the workers where they are, asleep or at work: an
/// executor that ends says that all it reported is settled, and only whoever
/// calls [`Pool::finish`] knows that. When the process ends without, their
/// supervisors record what is in doubt.
pub struct Pool {
    tasks: ManuallyDrop<Sender<Claimed>>,
    queued: Receiver<Claimed>,
    workers: Vec<Worker>,
    reports: Sender<FromWorker>,
    low: Low,
    make: MakeExecutor,
}

/// How the workers tell that the queue is low.
struct Low {
    mark: usize,
    tell: Sender<()>,
    told: Receiver<()>,
}

struct Worker {
    thread: JoinHandle<()>,
    stopper: Box<dyn Stopper>,
}

impl Pool {
    /// Starts `workers` threads that report to `reports`. The channel takes
    /// `capacity` jobs: as many as the scheduler has in hand, so that it never
    /// waits for a worker.
    ///
    /// # Errors
    /// When there is no room for so many threads.
    pub fn start(
        workers: usize,
        capacity: usize,
        reports: Sender<FromWorker>,
        make: MakeExecutor,
    ) -> io::Result<Self> {
        let (tasks, queued) = bounded(capacity);
        let tasks = ManuallyDrop::new(tasks);
        let (tell, told) = bounded(1);
        let low = Low { mark: pace::low_water(workers), tell, told };
        let mut pool = Self { tasks, queued, workers: Vec::new(), reports, low, make };
        for number in 0..workers {
            let worker = pool.worker(number)?;
            pool.workers.push(worker);
        }
        Ok(pool)
    }

    fn worker(&self, number: usize) -> io::Result<Worker> {
        let executor = (self.make)();
        let stopper = executor.stopper();
        let (tasks, reports) = (self.queued.clone(), self.reports.clone());
        let (mark, tell) = (self.low.mark, self.low.tell.clone());
        let took = move |left| {
            if left <= mark {
                // One word is enough, however many say it.
                let _ = tell.try_send(());
            }
        };
        let thread = thread::Builder::new()
            .name(format!("worker-{number}"))
            .spawn(move || live(number, executor, &tasks, &took, &reports))?;
        Ok(Worker { thread, stopper })
    }

    /// Puts a job into the channel. The scheduler claims no more than fit.
    pub fn submit(&self, claimed: Claimed) {
        self.tasks.send(claimed).expect("the pool keeps a receiver of its own");
    }

    /// How many jobs wait for a worker.
    pub fn queued(&self) -> usize {
        self.queued.len()
    }

    /// Waits until the queue is low, at most for `longest`.
    pub fn wait_for_low(&self, longest: Duration) {
        // A word from before may be out of date.
        let _ = self.low.told.try_recv();
        if self.queued.len() > self.low.mark {
            let _ = self.low.told.recv_timeout(longest);
        }
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.workers.len()
    }

    /// Takes back the jobs that no worker has taken yet.
    pub fn take_back(&self) -> Vec<Claimed> {
        self.queued.try_iter().collect()
    }

    /// Takes those of these jobs back that no worker has taken yet; the others
    /// keep their order.
    pub fn withdraw(&self, claims: &[Claim]) -> Vec<Claimed> {
        let (withdrawn, kept): (Vec<_>, Vec<_>) =
            self.take_back().into_iter().partition(|job| claims.contains(&job.claim));
        for job in kept {
            self.submit(job);
        }
        withdrawn
    }

    /// Stops an attempt, whichever worker has it.
    pub fn stop(&self, claim: Claim, why: Stop) {
        for worker in &self.workers {
            worker.stopper.stop(claim, why);
        }
    }

    /// Puts a new worker in the place of one that broke.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn replace(&mut self, number: usize) -> io::Result<()> {
        self.workers[number] = self.worker(number)?;
        Ok(())
    }

    /// Lets the workers end: they are idle, and all they reported is settled.
    pub fn finish(self) {
        let Self { tasks, queued, workers, .. } = self;
        drop((ManuallyDrop::into_inner(tasks), queued));
        for worker in workers {
            // A worker that broke has said so already.
            let _ = worker.thread.join();
        }
    }
}

/// The life of a worker: it ends when the channel is closed, or by a panic,
/// which it reports. `took` hears how many jobs are left in the channel.
fn live(
    number: usize,
    mut executor: Box<dyn Executor>,
    tasks: &Receiver<Claimed>,
    took: &dyn Fn(usize),
    reports: &Sender<FromWorker>,
) {
    let in_hand = Cell::new(None);
    // A send fails only when the scheduler is gone, and then nobody listens.
    let work = AssertUnwindSafe(|| {
        for claimed in tasks {
            took(tasks.len());
            let claim = claimed.claim;
            in_hand.set(Some(claim));
            let ended = executor.execute(&claimed, &mut |sign| {
                let report = match sign {
                    Sign::Started(process) => Report::Started { claim, process },
                    Sign::Stuck(why) => Report::Stuck { claim, why },
                };
                let _ = reports.send(FromWorker::Report(report));
            });
            in_hand.set(None);
            let refused = matches!(ended.outcome, Outcome::NotStarted(_));
            let _ = reports.send(FromWorker::Report(Report::Ended(ended)));
            if refused {
                // The next job is left to a worker that can start it.
                thread::sleep(REFUSED);
            }
        }
    });
    if let Err(panic) = panic::catch_unwind(work) {
        let (claim, why) = (in_hand.get(), said(panic.as_ref()));
        // Once the executor is gone it is known whether the job was begun.
        let _ = panic::catch_unwind(AssertUnwindSafe(|| drop(executor)));
        let _ = reports.send(FromWorker::Broke { worker: number, claim, why });
    }
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
