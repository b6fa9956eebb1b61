//! Jobs run by real supervisors.
//!
//! This test binary plays the other parts itself: called again with
//! `__supervise` it is the supervisor (and records into a file what the product
//! would store in a database), with `__run` it is a runner that can be killed.

mod bench;
mod loss;
mod outputs;
mod start;
mod stop;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ax_scheduler::data_dir::DataDir;
use ax_scheduler::exec::supervisor::{Heir, Post, serve};
use ax_scheduler::exec::{Executor, Report, Supervised, journal};
use ax_scheduler::job::{Claim, Claimed, RunnerId};
use nix::sys::signal::SigSet;

use bench::{KEEP, RUNNER, claimed, site, wait_until};

/// The words after `mark`, if this process was called with it.
fn words_after(mark: &str) -> Option<Vec<String>> {
    let mut words = std::env::args().skip_while(|word| word != mark);
    words.next().map(|_| words.collect())
}

/// Supervises, if it was asked to; passes otherwise.
#[test]
fn supervisor_part() {
    let Some(words) = words_after("__supervise") else { return };
    let [journal, runner_lock, keep] = &words[..] else { panic!("wrong words: {words:?}") };
    let journal = PathBuf::from(journal);
    let root = journal.parent().and_then(Path::parent).expect("in a directory").to_owned();
    let dir = DataDir::of(&root.with_extension(""));
    let post = Post {
        dir,
        journal,
        runner_lock: runner_lock.into(),
        keep: keep.parse().expect("a number"),
    };
    serve(&post, &mut Notes { root }).expect("served");
}

/// What the product would store in a database, in files.
struct Notes {
    root: PathBuf,
}

impl Heir for Notes {
    /// Writes a report down, as soon as nothing is in the way.
    fn record(&mut self, claimed: &Claimed, report: &Report) {
        wait_until("the store is not busy", || !self.root.join("busy").exists());
        let path = self.root.join("recorded");
        let mut file = OpenOptions::new().create(true).append(true).open(path).expect("open");
        let line = serde_json::to_string(&(claimed.claim, report)).expect("JSON");
        writeln!(file, "{line}").expect("written");
    }

    fn is_cancelled(&mut self, _: Claim) -> bool {
        self.root.join("cancelled").exists()
    }
}

/// Runs shell texts, each for so many milliseconds at most, as jobs 1, 2, … and then idles, if it was asked to; passes
/// otherwise. All signals are blocked in it.
#[test]
fn runner_part() {
    let Some(words) = words_after("__run") else { return };
    let [db, millis, texts @ ..] = &words[..] else { panic!("wrong words: {words:?}") };
    let limit = Duration::from_millis(millis.parse().expect("a number"));
    SigSet::all().thread_block().expect("blocked");
    let site = Arc::new(site(Path::new(db)));
    let _lock = journal::hold_lock(&site.dir.runner_lock(RunnerId(RUNNER))).expect("locked");
    let mut executor = Supervised::new(Arc::clone(&site));
    for (number, text) in (1..).zip(texts) {
        let mut job = claimed(Path::new(db), number, text);
        job.spec.timeout = Some(limit);
        executor.execute(&job, &mut |_| ());
    }
    assert!(texts.len() <= KEEP);
    fs::write(site.dir.root().join("idle"), "").expect("written");
    loop {
        std::thread::park();
    }
}
