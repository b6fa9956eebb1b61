//! The far sides of the seams: workers that a test plays, and a store that
//! fails when it is told to.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use ax_scheduler::clock::{Clock, SystemClock};
use ax_scheduler::exec::hook::{Launcher, Leash};
use ax_scheduler::exec::{Ended, Executor, Sign, Stop, Stopper};
use ax_scheduler::job::hook::{HookEnd, HookId, HookRecord, HookTask, OpenHook};
use ax_scheduler::job::{
    Added, Attempt, Captured, Chain, Claim, Claimed, Dependency, Edge, EnvBlock, FlowRunId, Job,
    JobId, NewJob, NewSchedule, Outcome, Process, RunnerId, Schedule, State, Timestamp,
};
use ax_scheduler::store::{
    Cancel, Cancelling, Child, Counts, Edit, Enqueued, Error, Failed, Fault, Glance, Group, Handed,
    Hints, Moved, NewRunner, Outlook, Overdue, Prune, Pruned, Query, Resolution, Result, Revival,
    Runner, Said, Scheduled, Selector, Store, Token, Turn, Turned,
};
use crossbeam_channel::{Receiver, Sender, unbounded};

const PATIENCE: Duration = Duration::from_secs(20);

/// What a job does next.
#[derive(Debug)]
pub(super) enum Act {
    /// Its start is told of.
    Start,
    /// It ends.
    End(Outcome),
    /// Its worker panics.
    Panic,
}

/// Where jobs are played: a test sees which are begun and says what they do.
#[derive(Clone)]
pub(super) struct Hall {
    begin: Sender<Claim>,
    begins: Receiver<Claim>,
    acts: Arc<Mutex<HashMap<Claim, Sender<Act>>>>,
    stops: Arc<Mutex<Vec<(Claim, Stop)>>>,
    /// How many stops go by unheard.
    deaf: Arc<Mutex<usize>>,
    /// How many executors there are.
    executors: Arc<AtomicUsize>,
}

impl Hall {
    pub(super) fn new() -> Self {
        let (begin, begins) = unbounded();
        Self {
            begin,
            begins,
            acts: Arc::default(),
            stops: Arc::default(),
            deaf: Arc::default(),
            executors: Arc::default(),
        }
    }

    pub(super) fn executor(&self) -> Box<dyn Executor> {
        self.executors.fetch_add(1, Ordering::Relaxed);
        Box::new(Player(self.clone()))
    }

    /// Lets so many stops go by unheard.
    pub(super) fn be_deaf_to(&self, stops: usize) {
        *locked(&self.deaf) = stops;
    }

    /// The next job that is begun.
    #[track_caller]
    pub(super) fn begun(&self) -> Claim {
        self.begins.recv_timeout(PATIENCE).expect("a job is begun")
    }

    /// Makes sure that no job was begun that was not asked for.
    #[track_caller]
    pub(super) fn none_begun(&self) {
        assert_eq!(self.begins.try_recv().ok(), None);
    }

    pub(super) fn act(&self, claim: Claim, act: Act) {
        locked(&self.acts)[&claim].send(act).expect("it is being played");
    }

    pub(super) fn end(&self, claim: Claim, code: i32) {
        self.act(claim, Act::End(Outcome::Exited(code)));
    }

    /// The stops that came, heard or not.
    pub(super) fn stops(&self) -> Vec<Claim> {
        locked(&self.stops).iter().map(|(claim, _)| *claim).collect()
    }

    /// How many executors there are.
    pub(super) fn executors(&self) -> usize {
        self.executors.load(Ordering::Relaxed)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics with it")
}

struct Player(Hall);

impl Drop for Player {
    fn drop(&mut self) {
        self.0.executors.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Executor for Player {
    fn execute(&mut self, claimed: &Claimed, tell: &mut dyn FnMut(Sign)) -> Ended {
        let claim = claimed.claim;
        let (sender, acts) = unbounded();
        locked(&self.0.acts).insert(claim, sender);
        self.0.begin.send(claim).expect("the hall listens");
        let outcome = loop {
            match acts.recv().expect("the hall keeps a sender") {
                Act::Start => {
                    let started_at = SystemClock.now();
                    tell(Sign::Started(Process { pid: 1, start_time: 1, started_at }));
                }
                Act::End(outcome) => break outcome,
                Act::Panic => panic!("told to"),
            }
        };
        ended(claim, outcome)
    }

    fn stopper(&self) -> Box<dyn Stopper> {
        Box::new(Prompter(self.0.clone()))
    }
}

struct Prompter(Hall);

impl Stopper for Prompter {
    fn stop(&self, claim: Claim, why: Stop) {
        let Hall { acts, stops, deaf, .. } = &self.0;
        locked(stops).push((claim, why));
        let mut deaf = locked(deaf);
        if *deaf > 0 {
            *deaf -= 1;
        } else if let Some(acts) = locked(acts).get(&claim) {
            // It may have ended by itself.
            let outcome = match why {
                Stop::Shutdown => Outcome::Interrupted,
                Stop::Cancel => Outcome::Cancelled,
            };
            let _ = acts.send(Act::End(outcome));
        }
    }
}

/// A process that runs a hook, as a test sees it.
pub(super) struct HookProcess {
    pub(super) hook: HookId,
    /// Ends it, however it is to have ended.
    pub(super) end: Box<dyn FnOnce() + Send>,
}

/// Starts processes that a test plays.
pub(super) struct Stagehand {
    pub(super) launched: Sender<HookProcess>,
    pub(super) stopped: Sender<HookId>,
}

struct Rope(HookId, Sender<HookId>);

impl Leash for Rope {
    fn stop(&self) {
        self.1.send(self.0).expect("the test listens");
    }
}

impl Launcher for Stagehand {
    fn launch(&self, hook: HookId, end: Box<dyn FnOnce() + Send>) -> io::Result<Box<dyn Leash>> {
        self.launched
            .send(HookProcess { hook, end })
            .map_err(|_| io::Error::other("no processes are left"))?;
        Ok(Box::new(Rope(hook, self.stopped.clone())))
    }
}

/// An end without a process.
pub(super) fn ended(claim: Claim, outcome: Outcome) -> Ended {
    let ended_at = SystemClock.now();
    Ended { claim, outcome, process: None, ended_at, output: Captured::default() }
}

/// What a turn of the store comes to instead of what it should.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mood {
    Busy,
    Full,
    ReadOnly,
    Unusable,
    Panic,
}

/// Moods that come one a turn.
#[derive(Clone, Default)]
pub(super) struct Moods(Arc<Mutex<VecDeque<Mood>>>);

impl Moods {
    pub(super) fn then(&self, mood: Mood) {
        locked(&self.0).push_back(mood);
    }

    pub(super) fn are_over(&self) -> bool {
        locked(&self.0).is_empty()
    }
}

/// How often a store was asked.
#[derive(Default)]
pub(super) struct Calls {
    pub(super) turns: AtomicUsize,
    pub(super) changes: AtomicUsize,
    /// Whether somebody writes all the time, and commits before every third look.
    pub(super) written: AtomicBool,
}

/// A store that fails when it is told to. What no runner asks, it does not answer.
pub(super) struct Moody {
    pub(super) inner: Box<dyn Store>,
    pub(super) moods: Moods,
    pub(super) calls: Arc<Calls>,
}

impl Store for Moody {
    fn turn(&mut self, turn: &Turn<'_>) -> Result<Turned> {
        self.calls.turns.fetch_add(1, Ordering::SeqCst);
        let mood = locked(&self.moods.0).pop_front();
        let path = PathBuf::from("ax.db");
        match mood {
            None => self.inner.turn(turn),
            Some(Mood::Busy) => Err(Error::Busy { path, seconds: 30 }),
            Some(Mood::Full) => Err(Error::Full(path)),
            Some(Mood::ReadOnly) => {
                let why = "lies on a disk that may only be read".to_owned();
                Err(Error::Unusable { path, why, hint: None })
            }
            Some(Mood::Unusable) => {
                Err(Error::Unusable { path, why: "is damaged".to_owned(), hint: None })
            }
            Some(Mood::Panic) => panic!("told to"),
        }
    }

    fn has_changed(&mut self) -> Result<bool> {
        let asked = self.calls.changes.fetch_add(1, Ordering::SeqCst);
        let is_published = self.calls.written.load(Ordering::SeqCst) && asked.is_multiple_of(3);
        Ok(self.inner.has_changed()? || is_published)
    }

    fn is_being_written(&mut self) -> Result<bool> {
        Ok(self.calls.written.load(Ordering::SeqCst) || self.inner.is_being_written()?)
    }

    fn discharge(&mut self, runner: RunnerId) -> Result<bool> {
        self.inner.discharge(runner)
    }

    fn runners(&mut self) -> Result<Vec<Runner>> {
        self.inner.runners()
    }

    fn claims(&mut self, owner: RunnerId) -> Result<Vec<(Claimed, State)>> {
        self.inner.claims(owner)
    }

    fn beyond_limits(&mut self, owner: RunnerId) -> Result<Vec<Claim>> {
        self.inner.beyond_limits(owner)
    }

    fn cancels(&mut self, _: RunnerId) -> Result<Vec<Claim>> {
        unasked()
    }

    fn outlook(&mut self, scope: Option<FlowRunId>) -> Result<Outlook> {
        self.inner.outlook(scope)
    }

    fn take_hooks(
        &mut self,
        runner: RunnerId,
        scope: Option<FlowRunId>,
        room: usize,
    ) -> Result<Vec<HookId>> {
        self.inner.take_hooks(runner, scope, room)
    }

    fn give_back_hook(&mut self, hook: HookId, runner: RunnerId) -> Result<()> {
        self.inner.give_back_hook(hook, runner)
    }

    fn begin_hook(&mut self, _: HookId, _: RunnerId, _: Timestamp) -> Result<Option<HookTask>> {
        unasked()
    }

    fn end_hook(&mut self, hook: HookId, end: &HookEnd) -> Result<bool> {
        self.inner.end_hook(hook, end)
    }

    fn open_hooks(&mut self) -> Result<Vec<OpenHook>> {
        self.inner.open_hooks()
    }

    fn hooks(&mut self, _: JobId) -> Result<Vec<HookRecord>> {
        unasked()
    }

    fn add(&mut self, _: &[NewJob], _: Timestamp) -> Result<Vec<Added>> {
        unasked()
    }

    fn add_handed(&mut self, handed: &[Handed], answered: &[Token]) -> Result<Vec<Result<Added>>> {
        self.inner.add_handed(handed, answered)
    }

    fn left_handed(&mut self) -> Result<Vec<(Token, i32)>> {
        self.inner.left_handed()
    }

    fn enqueue(&mut self, _: &Chain, _: Timestamp) -> Result<Enqueued> {
        unasked()
    }

    fn schedule(&mut self, _: &[NewSchedule], _: bool, _: Timestamp) -> Result<Vec<Scheduled>> {
        unasked()
    }

    fn schedules(&mut self) -> Result<Vec<Schedule>> {
        unasked()
    }

    fn pause(&mut self, _: &[String], _: Timestamp) -> Result<Vec<Moved>> {
        unasked()
    }

    fn resume(&mut self, _: &[String], _: Timestamp) -> Result<Vec<Scheduled>> {
        unasked()
    }

    fn unschedule(&mut self, _: &[String], _: Timestamp) -> Result<Vec<Moved>> {
        unasked()
    }

    fn link(&mut self, _: JobId, _: &[Edge], _: Timestamp) -> Result<()> {
        unasked()
    }

    fn unlink(&mut self, _: JobId, _: &[JobId], _: Timestamp) -> Result<usize> {
        unasked()
    }

    fn enlist(&mut self, _: &NewRunner, _: Timestamp) -> Result<RunnerId> {
        unasked()
    }

    fn select(&mut self, _: &Selector) -> Result<Vec<JobId>> {
        unasked()
    }

    fn list(&mut self, _: &Query) -> Result<Vec<Job>> {
        unasked()
    }

    fn unfinished(&mut self, _: usize) -> Result<Vec<Job>> {
        unasked()
    }

    fn count(&mut self, _: &Query) -> Result<u64> {
        unasked()
    }

    fn failures(&mut self, _: &Query) -> Result<Vec<Failed>> {
        unasked()
    }

    fn overdue(&mut self, _: Timestamp) -> Result<Vec<Overdue>> {
        unasked()
    }

    fn get(&mut self, _: JobId) -> Result<Option<Job>> {
        unasked()
    }

    fn environment(&mut self, _: JobId) -> Result<Option<EnvBlock>> {
        unasked()
    }

    fn attempts(&mut self, _: JobId) -> Result<Vec<Attempt>> {
        unasked()
    }

    fn output(&mut self, _: JobId, _: u32) -> Result<Option<Vec<u8>>> {
        unasked()
    }

    fn output_files(&mut self) -> Result<Vec<(JobId, u32)>> {
        unasked()
    }

    fn children(&mut self, _: JobId) -> Result<Vec<Child>> {
        unasked()
    }

    fn graph(&mut self, _: &[JobId]) -> Result<Vec<Dependency>> {
        unasked()
    }

    fn counts(&mut self) -> Result<Counts> {
        unasked()
    }

    fn glance(&mut self, _: Option<RunnerId>, _: Timestamp) -> Result<Glance> {
        unasked()
    }

    fn usual(&mut self, _: JobId) -> Result<Option<Duration>> {
        unasked()
    }

    fn revive(&mut self, _: &[JobId], _: Revival, _: Timestamp) -> Result<Vec<Moved>> {
        unasked()
    }

    fn resolve(&mut self, _: &[JobId], _: Resolution, _: Timestamp) -> Result<Vec<Moved>> {
        unasked()
    }

    fn hold(&mut self, _: &[JobId], _: Timestamp) -> Result<Vec<Moved>> {
        unasked()
    }

    fn release(&mut self, _: &[JobId], _: Timestamp) -> Result<Vec<Moved>> {
        unasked()
    }

    fn cancel(&mut self, _: &[JobId], _: &Cancel, _: Timestamp) -> Result<Cancelling> {
        unasked()
    }

    fn edit(&mut self, _: JobId, _: &Edit, _: Timestamp) -> Result<()> {
        unasked()
    }

    fn hints(&mut self) -> Result<Hints> {
        unasked()
    }

    fn set_group(&mut self, _: &str, _: Option<u32>) -> Result<()> {
        unasked()
    }

    fn pause_group(&mut self, _: &str, _: bool) -> Result<()> {
        unasked()
    }

    fn groups(&mut self) -> Result<Vec<Group>> {
        unasked()
    }

    fn group(&mut self, _: &str) -> Result<Option<Group>> {
        unasked()
    }

    fn has_group(&mut self, _: &str) -> Result<bool> {
        unasked()
    }

    fn paused_groups(&mut self) -> Result<Vec<String>> {
        unasked()
    }

    fn say(&mut self, _: JobId, _: u32, _: &Said, _: Timestamp) -> Result<()> {
        unasked()
    }

    fn prune(&mut self, _: &Prune) -> Result<Pruned> {
        unasked()
    }

    fn check(&mut self, _: Timestamp) -> Result<Vec<Fault>> {
        unasked()
    }

    fn mend(&mut self, _: &Fault, _: Timestamp) -> Result<Option<String>> {
        unasked()
    }
}

fn unasked<T>() -> Result<T> {
    unreachable!("a runner does not ask this")
}
