//! A runner in this process, from its setting to its end.

use std::fs::File;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ax_scheduler::clock::{Clock, SystemClock};
use ax_scheduler::data_dir::DataDir;
use ax_scheduler::exec::lock::hold_lock;
use ax_scheduler::exec::process::Identity;
use ax_scheduler::job::hook::HookId;
use ax_scheduler::job::{Chain, FlowRunId, Job, JobId, RunnerId, State};
use ax_scheduler::sched::RunEvent;
use ax_scheduler::sched::alarm::Alarm;
use ax_scheduler::sched::drive::{Drive, End, OnStop, Settings, Until, Wakes};
use ax_scheduler::sched::hooks::Hooks;
use ax_scheduler::sched::pool::Pool;
use ax_scheduler::sched::wake::Heard;
use ax_scheduler::store::{self, NewRunner, Store};
use crossbeam_channel::{Receiver, Sender, unbounded};

use super::fakes::{Calls, Hall, HookProcess, Moods, Moody, Stagehand};
use crate::harness::sample::new_job;
use crate::harness::{Desk, wait_until};

/// A database with jobs, and how a runner of it is to work.
pub(super) struct Setting {
    pub(super) desk: Desk,
    pub(super) store: Box<dyn Store>,
    pub(super) runner: RunnerId,
    _lock: File,
    pub(super) moods: Moods,
    pub(super) calls: Arc<Calls>,
    pub(super) until: Until,
    pub(super) on_stop: OnStop,
    pub(super) workers: usize,
    pub(super) capacity: usize,
    pub(super) steady: bool,
    pub(super) poll_interval: Duration,
    pub(super) scope: Option<FlowRunId>,
    pub(super) has_alarm: bool,
}

impl Setting {
    /// So many jobs that are due; a runner of one worker that sleeps long and
    /// serves until it is stopped.
    pub(super) fn with_jobs(count: usize) -> Self {
        let desk = Desk::new();
        let mut store = store::open(desk.db()).expect("a new database");
        let dir = DataDir::of(desk.db());
        dir.create().expect("a directory");
        let Identity { pid, start_time, boot_id } = Identity::own().expect("shown");
        let runner = NewRunner { pid, start_time, boot_id, workers: 1 };
        let runner = store.enlist(&runner, SystemClock.now()).expect("entered");
        let lock = hold_lock(&dir.runner_lock(runner)).expect("nobody has it");
        let mut setting = Self {
            desk,
            store,
            runner,
            _lock: lock,
            moods: Moods::default(),
            calls: Arc::default(),
            until: Until::Stopped,
            on_stop: OnStop::Wait(None),
            workers: 1,
            capacity: 5,
            steady: true,
            poll_interval: Duration::from_hours(1),
            scope: None,
            has_alarm: false,
        };
        for _ in 0..count {
            setting.add(Duration::ZERO);
        }
        setting
    }

    pub(super) fn add(&mut self, delay: Duration) {
        let now = SystemClock.now();
        let job = new_job("job", now.plus(delay), &[]);
        self.store.add(&[job], now).expect("added");
    }

    /// Adds a job of a new run of a flow.
    pub(super) fn add_to_flow(&mut self) -> FlowRunId {
        let now = SystemClock.now();
        let chain = Chain { jobs: vec![new_job("of a flow", now, &[])], ..Chain::default() };
        self.store.enqueue(&chain, now).expect("added").run
    }

    pub(super) fn job(&mut self, id: i64) -> Job {
        self.store.get(JobId(id)).expect("read").expect("there")
    }

    pub(super) fn states(&mut self) -> Vec<State> {
        let jobs = self.store.list(&store::Query::default()).expect("read");
        jobs.iter().map(|job| job.state).collect()
    }

    /// Another handle on the database, with moods.
    pub(super) fn moody(&self) -> Moody {
        let inner = store::open(self.desk.db()).expect("opened");
        Moody { inner, moods: self.moods.clone(), calls: Arc::clone(&self.calls) }
    }

    pub(super) fn start(self) -> Play {
        let hall = Hall::new();
        let (news, workers) = unbounded();
        let (ring, bell) = unbounded();
        let (signal, signals) = unbounded();
        let (tell, told) = unbounded();
        let players = hall.clone();
        let make = Box::new(move || players.executor());
        let pool = Pool::start(self.workers, self.capacity, news, make).expect("started");
        let settings = Settings {
            runner: self.runner,
            db: self.desk.db().to_owned(),
            capacity: self.capacity,
            steady: self.steady,
            poll_interval: self.poll_interval,
            until: self.until,
            on_stop: self.on_stop,
            scope: self.scope,
        };
        let store = Box::new(self.moody());
        let alarm = self.has_alarm.then(|| Arc::new(Alarm::new(self.desk.db()).expect("made")));
        let (launched, hooks) = unbounded();
        let (stopped, hook_stops) = unbounded();
        let stagehand = Box::new(Stagehand { launched, stopped });
        let thread = thread::spawn(move || {
            let mut watch = |event: &RunEvent| tell.send(event.clone()).expect("somebody listens");
            let wakes = Wakes { workers, bell, alarm, signals };
            let hooks = Hooks::new(stagehand, 2);
            Drive::new(settings, pool, hooks, wakes, store, &SystemClock, &mut watch).run()
        });
        Play {
            setting: self,
            hall,
            told,
            events: Vec::new(),
            ring,
            signal,
            hooks,
            hook_stops,
            thread,
        }
    }
}

/// A runner that runs.
pub(super) struct Play {
    pub(super) setting: Setting,
    pub(super) hall: Hall,
    told: Receiver<RunEvent>,
    events: Vec<RunEvent>,
    ring: Sender<Heard>,
    signal: Sender<()>,
    /// The processes of hooks that are launched.
    pub(super) hooks: Receiver<HookProcess>,
    /// Those that are told to stop.
    pub(super) hook_stops: Receiver<HookId>,
    thread: JoinHandle<store::Result<End>>,
}

impl Play {
    pub(super) fn ring(&self) {
        self.ring.send(Heard::Ring).expect("it listens");
    }

    pub(super) fn signal(&self) {
        self.signal.send(()).expect("it listens");
    }

    /// `ax cancel`, without its waiting.
    pub(super) fn cancel(&mut self, ids: &[i64]) {
        let ids: Vec<_> = ids.iter().copied().map(JobId).collect();
        let how = store::Cancel::default();
        self.setting.store.cancel(&ids, &how, SystemClock.now()).expect("a word");
    }

    #[track_caller]
    pub(super) fn wait_for_states(&mut self, states: &[State]) {
        let mut seen = Vec::new();
        wait_until(&format!("{states:?}"), String::new, || {
            seen = self.setting.states();
            seen == states
        });
    }

    /// Waits until it tells of something, as JSON.
    #[track_caller]
    pub(super) fn wait_for_event(&mut self, part: &str) {
        wait_until(&format!("it tells of {part}"), String::new, || {
            self.events.extend(self.told.try_iter());
            self.told_of(part) > 0
        });
    }

    /// How many events so far had this in them.
    pub(super) fn told_of(&mut self, part: &str) -> usize {
        self.events.extend(self.told.try_iter());
        self.events.iter().filter(|event| event.to_json().to_string().contains(part)).count()
    }

    /// Waits until its thread ends; the outer error is a panic.
    #[track_caller]
    pub(super) fn end(self) -> (Setting, Hall, thread::Result<store::Result<End>>) {
        wait_until("the runner ends", String::new, || self.thread.is_finished());
        (self.setting, self.hall, self.thread.join())
    }

    /// The same for one that ends well.
    #[track_caller]
    pub(super) fn end_well(self) -> (Setting, Hall, End) {
        let (setting, hall, end) = self.end();
        (setting, hall, end.expect("no panic").expect("no trouble"))
    }
}
