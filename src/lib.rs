//! `ax`: a job scheduler in one binary, on one SQLite file.
//!
//! This page is the architecture: who is there, who may use whom, and what
//! always holds. `ax --help` and the README tell how to use the program.
//!
//! # The way of a job
//!
//! ```text
//!  ax add ──────► store ◄──────────────── ax list, show, deps, retry, recover, doctor …
//!    └─ hands its job to a runner, if one lives (sched::handover)
//!                  ▲  │ one commit a turn: settle, judge, release, claim
//!  ax run          │  ▼
//!    scheduler thread (sched::drive around sched::Scheduler)
//!        │ bounded channel of claimed jobs      ▲ reports
//!        ▼                                      │
//!    worker threads 1..N (sched::pool), each with an exec::Executor
//!        │ socket pair                          ▲
//!        ▼                                      │
//!    supervisor process, one for each worker (ax __supervise, exec::supervisor)
//!        │ clone, execve                        ▲ end, output in a spool file
//!        ▼                                      │
//!    the job, in a process group of its own
//! ```
//!
//! # Where things are
//!
//! | module | concern |
//! |---|---|
//! | [`job`] | plain data and pure rules: the table of legal states, verdicts, dependencies, why a job is not running, which failures are alike |
//! | [`store`] | how jobs are kept; [`store::Store`] is the seam, `store::sqlite` the one backend |
//! | [`exec`] | how a job is run: supervisors, stop ladder, output; [`exec::Executor`] is the seam |
//! | [`sched`] | how a runner works: turns, worker threads, wake-ups, jobs that commands hand over, attempts that others left behind |
//! | [`flow`] | flow files and crontabs |
//! | [`config`] | the configuration: what the environment, a file and the defaults say |
//! | [`document`] | files that people write, with the place of what is wrong |
//! | [`cmd`] | one file a subcommand: arguments → calls → view |
//! | [`output`] | the one place that prints: table, JSON, tree, progress |
//! | [`mod@bench`] | the stress test: each figure beside its limit, taken in turn, from outside |
//! | [`doctor`] | the checks of `ax doctor`, each with its cure |
//! | [`cli`], `usage` | what may be typed; what is said of a line that cannot be read |
//! | [`when`], [`fields`] | durations and times; settings of a job by their names, from files and the environment |
//! | [`suggest`] | did you mean … |
//! | [`clock`] | the only reader of the wall clock |
//! | [`data_dir`] | the directory beside the database |
//! | [`escape`] | makes bytes that a stranger chose harmless to a terminal |
//! | [`crash`] | named places at which tests kill the program; nothing in an ordinary build |
//! | [`exit`], [`failure`] | exit codes; how a person is told of a failure |
//!
//! Who may use whom is tested: `job` uses nothing, `store` and `exec` use
//! `job` and do not know each other, `sched` joins them, `cmd` uses all.
//!
//! # What always holds
//!
//! - **Decide purely, write guarded.** What becomes of a job is computed from
//!   values. The store writes it only if (job, attempt, owner, state) are
//!   still what was believed; a late result goes to the history.
//! - **One turn, one transaction.** The end of a job, the release of its
//!   children and the claim of the next are one commit, synced to the disk.
//! - **One judge.** Whatever touches a dependency (also an edit by hand, by
//!   trigger) enters the job in one table; draining it, in the transaction of
//!   the turn, is the only way in which a job starts or stops waiting.
//! - **A start is a row.** The next start of a schedule stands among the jobs;
//!   the turn in which it is due puts the one after it in, and whoever cancels
//!   it before does so at once. A unique index has one start for each time that
//!   is due.
//! - **Who lives is proved.** Runners and supervisors hold a lock as long as
//!   they live; the kernel lets go of it. No time-out decides that somebody is dead.
//! - **A job that is handed over is added once.** `ax add` lets a living runner
//!   put its job in, which has the database open; without an answer it does so
//!   itself, under the same number, and the store adds a job once for each.
//! - **A start leaves a trace first.** A supervisor writes its intent into its
//!   journal, then looks whether its runner lives, then starts the process. So
//!   whoever finds the runner dead knows from the journals what was started,
//!   and nothing can be started behind its back. Where a journal may be missing
//!   (the machine was restarted, files were taken away), what none tells of may
//!   have been started: its number is used.
//! - **Nobody starves.** Ready jobs are taken in the order of `since − priority
//!   × 1 h`, where `since` is when a job began to wait for its turn: its time,
//!   its birth, or when a person brought it back, whatever is latest. So higher
//!   priority comes first, and each point of it is worth an hour of waiting: a
//!   job waits at most for those of higher priority that come within as many
//!   hours after it as they have points more. The number never changes while a
//!   job waits; an index is kept in its order, and no row is written for it.
//! - **One gate.** What touches a group or a mutex enters it in one table, by
//!   trigger; draining it, in the transaction of the turn, lets the next job of
//!   each through. What waits behind a limit is in no index that a turn reads,
//!   and a job is taken only if its limits are seen to be open at that moment.
//! - **A wish is a row.** What a person wants of a job that somebody has in hand
//!   is written beside it and read by whoever has it: its runner each turn, a
//!   supervisor without a runner each second. It is decided where the attempt
//!   ends, in the same transaction, so one of the two wins.
//! - **A hook is owed with the end.** A trigger writes it, in the commit in which
//!   the job (or the last of a run) ends; no other job pays for it. A runner
//!   takes it and starts a process, which begins it by one guarded write: so it
//!   is begun at most once, and by somebody as long as a runner lives.
//! - **Nobody waits for the end of a pipe.** Output goes straight into a file.

pub mod bench;
pub mod cli;
pub mod clock;
pub mod cmd;
pub mod config;
pub mod crash;
pub mod data_dir;
pub mod doctor;
pub mod document;
pub mod escape;
pub mod exec;
pub mod exit;
pub mod failure;
pub mod fields;
pub mod flow;
pub mod job;
pub mod output;
pub mod sched;
pub mod store;
pub mod suggest;
mod usage;
pub mod when;

use std::ffi::OsString;
use std::io::Write;

use failure::Failure;

/// Runs the program and returns its exit code.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match cli::Cli::read(&args) {
        Ok(cli) => cli,
        Err(error) => return usage::answer(&error, usage::wants_json(&args), out, err),
    };
    let json = cli.command.as_ref().is_some_and(cli::Command::wants_json);
    match cmd::run(cli, out, err) {
        Ok(exit) => exit,
        Err(failure) => report(&failure, json, err),
    }
}

/// Tells a person or a script of a failure, and returns its exit code. If
/// nobody can be told, the exit code remains.
fn report(failure: &Failure, json: bool, err: &mut dyn Write) -> u8 {
    if !failure.message.is_empty() {
        let text = if json { format!("{}\n", failure.to_json()) } else { failure.to_string() };
        let _ = err.write_all(text.as_bytes());
    }
    failure.exit
}
