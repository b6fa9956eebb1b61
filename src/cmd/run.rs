//! `ax run`: a runner, or a flow from its file.
//!
//! The main thread prints; the scheduler thread owns the store; signals and
//! the bell have a thread each that only passes on what came. So a terminal
//! that takes nothing more stops no job, and a third signal ends the process
//! whatever the others wait for.

mod show;

use std::fs::{self, File};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, unbounded};
use nix::sys::signal::SigSet;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use super::{Answer, Context, alive, apply};
use crate::cli::{self, RunArgs};
use crate::clock::SystemClock;
use crate::config::{self, POLL_INTERVAL};
use crate::crash;
use crate::data_dir::DataDir;
use crate::exec::hook::HookProcesses;
use crate::exec::lock;
use crate::exec::process::Identity;
use crate::exec::{Site, Supervised};
use crate::exit;
use crate::failure::{Failure, reason};
use crate::flow;
use crate::job::{FlowRunId, RunnerId, State};
use crate::output;
use crate::output::list::{Empty, JobList, More};
use crate::output::progress::Progress;
use crate::output::screen;
use crate::sched::alarm::Alarm;
use crate::sched::drive::{Drive, End, OnStop, Settings, Until, Wakes};
use crate::sched::hooks::Hooks;
use crate::sched::pool::{MakeExecutor, Pool};
use crate::sched::wake::{Bell, Heard, Listener};
use crate::sched::{AHEAD, RunEvent};
use crate::store::{self, NewRunner, Query, Store};

/// Events that wait to be printed at most; more are dropped, never waited for.
const UNPRINTED: usize = 10_000;

/// So many calls of commands wait to be heard; jobs that more of them hand over
/// are refused, and rings are as good as heard.
const CALLS: usize = 64;

/// How long a runner may take to leave after the third signal.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// Runs the command.
///
/// # Errors
/// When the flow is not valid, or the store or the files beside it cannot be used.
pub(super) fn run(args: RunArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let flow = args.flow.as_deref().map(flow::load).transpose()?;
    let mut store = context.store()?;
    let dir = context.data_dir();
    dir.create().map_err(|error| unusable(&dir, &error))?;
    take_ordinary_signals()?;
    let scope = match &flow {
        Some((flow, dir)) => {
            let chain = apply::chain(flow, dir, &context.config.defaults())?;
            Some(store.enqueue(&chain, context.now())?.run)
        }
        None => None,
    };
    let wishes = args.wishes().or(&context.config.run());
    let workers = wishes.workers.map_or_else(cores, usize::from);
    let (runner, lock) = enlist(store.as_mut(), &dir, workers, context)?;
    let settings = settings(wishes, args.until(), (runner, workers), scope, context);
    let failed = serve(store, settings, workers, args.json, &dir, lock, context)?;
    match scope {
        Some(run) => flow_answer(run, args.json, context),
        None => Ok(Answer::silent(if failed && args.until() != Until::Stopped {
            exit::FAILED
        } else {
            exit::DONE
        })),
    }
}

impl RunArgs {
    /// What the options say about how it works.
    const fn wishes(&self) -> config::Run {
        config::Run {
            workers: self.workers,
            poll_interval: self.poll_interval,
            queue_size: self.queue_size,
            grace: self.grace,
            on_stop: self.on_stop,
        }
    }

    const fn until(&self) -> Until {
        if self.once {
            Until::NothingDue
        } else if self.until_idle || self.flow.is_some() {
            Until::Idle
        } else {
            Until::Stopped
        }
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn settings(
    wishes: config::Run,
    until: Until,
    (runner, workers): (RunnerId, usize),
    scope: Option<FlowRunId>,
    context: &Context<'_>,
) -> Settings {
    let queue = wishes.queue_size.map_or(AHEAD * workers, usize::from);
    Settings {
        runner,
        db: context.db.clone(),
        capacity: workers + queue,
        steady: wishes.queue_size.is_some(),
        poll_interval: wishes.poll_interval.unwrap_or(POLL_INTERVAL),
        until,
        on_stop: match wishes.on_stop.unwrap_or(cli::OnStop::Wait) {
            cli::OnStop::Wait => OnStop::Wait(wishes.grace),
            cli::OnStop::Detach => OnStop::Detach,
            cli::OnStop::Kill => OnStop::Kill,
        },
        scope,
    }
}

/// Starts from a known disposition of signals, whatever was inherited: none
/// blocked, children can be waited for, and a terminal that goes away stops nothing.
fn take_ordinary_signals() -> Result<(), Failure> {
    let unused = Arc::new(AtomicBool::new(false));
    for signal in [SIGCHLD, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&unused)).map_err(no_signals)?;
    }
    SigSet::empty().thread_set_mask().map_err(|error| no_signals(error.into()))
}

fn no_signals(error: io::Error) -> Failure {
    Failure::failed(format!("signals cannot be handled: {error}"))
}

fn unusable(dir: &DataDir, error: &io::Error) -> Failure {
    Failure::store(format!("{} cannot be used: {}", dir.root().display(), reason(error)))
}

/// Enters the runner and takes its lock. A number whose files are there already
/// (of a database that was removed) is left alone.
fn enlist(
    store: &mut dyn Store,
    dir: &DataDir,
    workers: usize,
    context: &Context<'_>,
) -> Result<(RunnerId, File), Failure> {
    let failed = |error| unusable(dir, &error);
    let own = Identity::own().map_err(failed)?;
    let runner =
        NewRunner { pid: own.pid, start_time: own.start_time, boot_id: own.boot_id, workers };
    loop {
        let id = store.enlist(&runner, context.now())?;
        let path = dir.runner_lock(id);
        if !path.exists() && dir.journals(id).map_err(failed)?.is_empty() {
            return Ok((id, lock::hold_lock(&path).map_err(failed)?));
        }
        store.discharge(id)?;
    }
}

/// Runs the scheduler to its end; tells whether a runner that ends by itself
/// has failed: [`RunEvent::is_failure`].
fn serve(
    store: Box<dyn Store>,
    settings: Settings,
    workers: usize,
    json: bool,
    dir: &DataDir,
    lock: File,
    context: &mut Context<'_>,
) -> Result<bool, Failure> {
    let runner = settings.runner;
    let (worker_news, from_workers) = unbounded();
    let (told, events) = bounded(UNPRINTED);
    // Without one it looks more often.
    let alarm = Alarm::new(&settings.db).ok().map(Arc::new);
    let (bell, ringing) = hang_bell(dir, runner, alarm.clone(), &told);
    let style = output::style(context.color, &io::stderr());
    let progress = Progress::new(json, style, context.now());
    let (signals, signalled) = listen_to_signals(progress.is_view())?;
    if progress.is_view() {
        show::clear_when_suspended().map_err(no_signals)?;
    }
    let limit = context.config.output_limit().map(str::to_owned);
    let pool =
        Pool::start(workers, settings.capacity, worker_news, make_executor(&settings, limit))
            .map_err(|error| {
                Failure::failed(format!("{workers} workers cannot be started: {error}"))
            })?;
    let launcher = HookProcesses::new(&settings.db, settings.runner);
    let hooks = Hooks::new(Box::new(launcher), workers);
    let wakes = Wakes { workers: from_workers, bell: ringing, alarm, signals: signalled };
    let scheduler = thread::Builder::new()
        .name("scheduler".to_owned())
        .spawn(move || {
            let mut failed = false;
            let mut watch = |event: &RunEvent| {
                failed |= event.is_failure();
                let _ = told.try_send(event.clone());
            };
            let end =
                Drive::new(settings, pool, hooks, wakes, store, &SystemClock, &mut watch).run();
            end.map(|end| (end, failed))
        })
        .map_err(|error| Failure::failed(format!("the scheduler cannot be started: {error}")))?;
    show::show(&events, progress, runner, context);
    signals.close();
    drop(bell);
    let Ok(end) = scheduler.join() else {
        let text = "the scheduler broke; running jobs go on under their supervisors";
        return Err(Failure::failed(text).hint("`ax run` again takes over"));
    };
    let (end, failed) = end?;
    match end {
        End::Finished => {
            drop(lock);
            crash::point("leave", "before-lock");
            let _ = fs::remove_file(dir.runner_lock(runner));
        }
        End::Detached => (),
    }
    Ok(failed)
}

/// A supervisor keeps one result more than can be unsettled.
fn make_executor(settings: &Settings, output_limit: Option<String>) -> MakeExecutor {
    let site = Site::new(&settings.db, settings.runner, settings.capacity + 1);
    let site = Arc::new(Site { output_limit, ..site });
    Box::new(move || Box::new(Supervised::new(Arc::clone(&site))))
}

/// Signals that tell the runner to stop, and the handle that ends listening.
fn listen_to_signals(is_view: bool) -> Result<(Handle, Receiver<()>), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(no_signals)?;
    let handle = signals.handle();
    let (sender, receiver) = unbounded();
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || pass_on(signals.forever(), &sender, is_view))
        .map_err(no_signals)?;
    Ok((handle, receiver))
}

/// Passes signals on. The third is the last: should the scheduler wait for the
/// store then, or the printer for its terminal, the process ends without them.
/// What runs goes on under its supervisors, and no view stays on the terminal.
fn pass_on<T>(news: impl Iterator<Item = T>, sender: &Sender<()>, is_view: bool) {
    for (before, _) in news.enumerate() {
        let _ = sender.send(());
        if before >= 2 {
            thread::sleep(LAST_MOMENT);
            if is_view {
                screen::write_at_once(&io::stderr(), &screen::wipe());
            }
            std::process::exit(exit::FAILED.into());
        }
    }
}

/// The bell that commands ring, and the channel it is heard on. Without one
/// the poll interval is all that wakes the runner, and it says so.
fn hang_bell(
    dir: &DataDir,
    runner: RunnerId,
    alarm: Option<Arc<Alarm>>,
    told: &Sender<RunEvent>,
) -> (Option<Bell>, Receiver<Heard>) {
    let (sender, receiver) = bounded(CALLS);
    let hung = Bell::hang(dir, runner).and_then(|bell| {
        let listener = bell.listener(alarm)?;
        thread::Builder::new().name("bell".to_owned()).spawn(move || listen(listener, &sender))?;
        Ok(bell)
    });
    match hung {
        Ok(bell) => (Some(bell), receiver),
        Err(error) => {
            let text =
                format!("commands cannot wake this runner, it looks once a poll interval: {error}");
            let _ = told.try_send(RunEvent::Trouble(text));
            (None, crossbeam_channel::never())
        }
    }
}

/// Passes on what comes to the bell. One that is not heard out yet need not be
/// rung again, and what is handed over then is refused.
fn listen(calls: Listener, sender: &Sender<Heard>) {
    for call in calls {
        if let Err(TrySendError::Full(Heard::Handed(request))) = sender.try_send(call) {
            request.refuse();
        }
    }
}

/// What became of a run of a flow: its jobs, and exit 1 unless all went well,
/// to the end.
fn flow_answer(run: FlowRunId, json: bool, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let mut store = store::open_existing(&context.db)?;
    let jobs = store.list(&Query { flow_run: Some(run), ..Query::default() })?;
    let is_well = jobs.iter().all(|job| matches!(job.state, State::Success | State::Skipped));
    let exit = if is_well { exit::DONE } else { exit::FAILED };
    if json {
        return Ok(Answer::silent(exit));
    }
    let moment = alive::moment(store.as_mut(), &context.data_dir(), context.now())?;
    let list =
        JobList { jobs, columns: Vec::new(), more: More::default(), empty: Empty::NoJobs, moment };
    Ok(Answer::new(list, cli::Show::default()).exit(exit))
}
