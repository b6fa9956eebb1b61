//! One worker of a runner, its directory, and jobs for it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ax_scheduler::data_dir::DataDir;
use ax_scheduler::exec::{Ended, Executor, Report, Sign, Site, Stop, Stopper, Supervised, journal};
use ax_scheduler::job::{
    self, Claim, Claimed, EnvBlock, JobId, OnLost, Outcome, Process, RetryPolicy, RunnerId, Spec,
};

use crate::harness;
pub(super) use crate::harness::process::{is_alive, kill, pid_in};

pub(super) const RUNNER: i64 = 3;
pub(super) const KEEP: usize = 4;

/// Waits until something is so.
#[track_caller]
pub(super) fn wait_until(what: &str, is_so: impl FnMut() -> bool) {
    harness::wait_until(what, String::new, is_so);
}

/// The site of a runner whose supervisors are this test binary.
pub(super) fn site(db: &Path) -> Site {
    let words = ["exec::supervisor_part", "--exact", "--nocapture"].map(OsString::from);
    Site {
        program: "/proc/self/exe".into(),
        words: words.into(),
        ..Site::new(db, RunnerId(RUNNER), KEEP)
    }
}

/// A claimed job that runs a shell text in the directory of the database.
pub(super) fn claimed(db: &Path, number: i64, text: &str) -> Claimed {
    let extra = [
        format!("AX_JOB_ID={number}").into_bytes(),
        b"AX_ATTEMPT=1".to_vec(),
        [b"AX_DB=", db.as_os_str().as_bytes()].concat(),
    ];
    let path = std::env::var("PATH").expect("a PATH");
    Claimed {
        claim: Claim { job: JobId(number), attempt: 1, owner: RunnerId(RUNNER) },
        title: text.to_owned(),
        spec: Spec {
            command: job::Command::Shell(text.into()),
            cwd: db.parent().map(|dir| dir.as_os_str().as_bytes().to_vec()),
            umask: Some(0o022),
            env: Some(Arc::new(EnvBlock::from_entries([format!("PATH={path}").as_bytes()]))),
            extra_env: EnvBlock::from_entries(extra.iter().map(Vec::as_slice)),
            timeout: Some(Duration::from_mins(1)),
            kill_after: Duration::from_secs(10),
        },
        policy: RetryPolicy {
            max_retries: 3,
            retry_count: 0,
            delay: Duration::from_secs(5),
            backoff: 2.0,
            max_delay: Duration::from_hours(1),
            on_lost: OnLost::Requeue,
            losses: 0,
            retry_on: None,
            no_retry_on: None,
        },
    }
}

/// A directory with a database's directory in it, a runner's lock, and a worker.
pub(super) struct Bench {
    pub(super) temp: tempfile::TempDir,
    pub(super) dir: DataDir,
    pub(super) lock: Option<File>,
    pub(super) executor: Supervised,
    jobs: i64,
}

impl Bench {
    /// A bench whose runner is this process.
    pub(super) fn new() -> Self {
        let mut bench = Self::without_runner();
        let lock = journal::hold_lock(&bench.dir.runner_lock(RunnerId(RUNNER)));
        bench.lock = Some(lock.expect("locked"));
        bench
    }

    /// A bench whose runner is somebody else, or nobody.
    pub(super) fn without_runner() -> Self {
        let temp = tempfile::tempdir().expect("a directory");
        let site = Arc::new(site(&temp.path().join("ax.db")));
        site.dir.create().expect("made");
        let executor = Supervised::new(Arc::clone(&site));
        Self { temp, dir: site.dir.clone(), lock: None, executor, jobs: 0 }
    }

    pub(super) fn db(&self) -> PathBuf {
        self.path("ax.db")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// A new job.
    pub(super) fn job(&mut self, text: &str) -> Claimed {
        self.jobs += 1;
        claimed(&self.db(), self.jobs, text)
    }

    /// A new job of exact words.
    pub(super) fn words(&mut self, words: &[&str]) -> Claimed {
        let mut job = self.job("");
        job.spec.command = job::Command::Argv(words.iter().map(|word| (*word).into()).collect());
        job
    }

    /// Runs a job here; one that does not end in a minute ends the tests.
    pub(super) fn run(&mut self, job: &Claimed) -> Ended {
        let (done, is_done) = mpsc::channel::<()>();
        let title = job.title.clone();
        thread::spawn(move || {
            if is_done.recv_timeout(Duration::from_mins(1)) == Err(RecvTimeoutError::Timeout) {
                eprintln!("this job did not end: {title}");
                std::process::abort();
            }
        });
        let ended = self.executor.execute(job, &mut |_| ());
        drop(done);
        ended
    }

    pub(super) fn run_text(&mut self, text: &str) -> Ended {
        let job = self.job(text);
        self.run(&job)
    }

    /// What a job printed, which ended well.
    #[track_caller]
    pub(super) fn output_of(&mut self, job: &Claimed) -> String {
        let ended = self.run(job);
        assert_eq!(ended.outcome, Outcome::Exited(0), "{ended:?}");
        String::from_utf8(ended.output.bytes).expect("text")
    }

    /// Starts a job on another thread.
    pub(super) fn begin(mut self, job: Claimed) -> Begun {
        let stopper = self.executor.stopper();
        let (tell, started) = mpsc::channel();
        let claim = job.claim;
        let (temp, dir) = (self.temp.path().to_owned(), self.dir.clone());
        let thread = thread::spawn(move || {
            let ended = self.executor.execute(&job, &mut |sign| {
                if let Sign::Started(process) = sign {
                    tell.send(process).expect("somebody listens");
                }
            });
            (self, ended)
        });
        Begun { claim, stopper, started, temp, dir, thread }
    }

    pub(super) fn output_file(&self, claim: Claim) -> PathBuf {
        self.dir.output(claim.job, claim.attempt)
    }

    pub(super) fn supervisor(&self) -> i32 {
        self.executor.supervisor().expect("one lives").pid
    }

    /// Starts a runner that can be killed.
    pub(super) fn start_runner(&self, texts: &[&str]) -> Runner {
        self.start_runner_as("", Duration::from_mins(1), texts)
    }

    /// The same with a time limit; `shell` stands before its command line, in
    /// a shell.
    pub(super) fn start_runner_as(&self, shell: &str, limit: Duration, texts: &[&str]) -> Runner {
        let own = std::env::current_exe().expect("a program");
        // Of the shells it is bash that can ignore SIGCHLD.
        let child = Command::new("bash")
            .args(["-c", &format!("{shell} exec \"$@\""), "bash"])
            .arg(own)
            .args(["exec::runner_part", "--exact", "--nocapture", "__run"])
            .arg(self.db())
            .arg(limit.as_millis().to_string())
            .args(texts)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Runner(child.expect("started"))
    }

    /// What supervisors recorded after their runner was gone.
    pub(super) fn recorded(&self) -> Vec<(Claim, Report)> {
        let text = fs::read_to_string(self.dir.root().join("recorded")).unwrap_or_default();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        whole.map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// Waits until so many ends were recorded.
    #[track_caller]
    pub(super) fn recorded_ends(&self, count: usize) -> Vec<Ended> {
        let ends = || {
            let reports = self.recorded().into_iter().filter_map(|(_, report)| match report {
                Report::Ended(ended) => Some(ended),
                Report::Started { .. } | Report::Stuck { .. } => None,
            });
            reports.collect::<Vec<_>>()
        };
        wait_until("the ends are recorded", || ends().len() >= count);
        ends()
    }

    /// The supervisor of the first journal.
    pub(super) fn first_supervisor(&self) -> i32 {
        let path = self.dir.journal(RunnerId(RUNNER), 0);
        let read = || journal::Journal::read(&path).ok()?.supervisor;
        wait_until("the journal is there", || read().is_some());
        read().expect("there").pid
    }
}

/// A runner that is killed in the end, if not before.
pub(super) struct Runner(Child);

impl Runner {
    pub(super) fn kill(&mut self) {
        let _ = self.0.kill();
        self.0.wait().expect("gone");
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A job that runs on another thread.
pub(super) struct Begun {
    pub(super) claim: Claim,
    pub(super) stopper: Box<dyn Stopper>,
    pub(super) started: Receiver<Process>,
    pub(super) temp: PathBuf,
    pub(super) dir: DataDir,
    thread: JoinHandle<(Bench, Ended)>,
}

impl Begun {
    /// Waits for its start to be told of.
    #[track_caller]
    pub(super) fn start(&self) -> Process {
        self.started.recv_timeout(Duration::from_secs(20)).expect("started")
    }

    /// Waits for its end.
    #[track_caller]
    pub(super) fn end(self) -> (Bench, Ended) {
        wait_until("the job has ended", || self.thread.is_finished());
        self.thread.join().expect("no panic")
    }

    /// Waits for its end and stops it all the time.
    #[track_caller]
    pub(super) fn end_by(self, why: Stop) -> (Bench, Ended) {
        wait_until("the job has been stopped", || {
            self.stopper.stop(self.claim, why);
            self.thread.is_finished()
        });
        self.end()
    }

    pub(super) fn pid_in(&self, name: &str) -> i32 {
        pid_in(&self.temp.join(name))
    }
}
