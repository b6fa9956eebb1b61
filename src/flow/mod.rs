//! Flow files: jobs that are declared together, in TOML; and [`crontab`]s.
//!
//! A file is checked as a whole before anything comes of it, and everything
//! that is wrong with it is told at once, each with its place. A flow that was
//! read can be added: its names are distinct, its parents exist, and no jobs
//! wait for each other.
//!
//! The keys `schedule`, `timezone`, `catch_up` and `overlap` have no effect on a
//! flow that is run now.

pub mod crontab;
mod edges;
mod read;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::job::Zone;
use crate::job::hook::RunHook;
use crate::job::{
    CatchUp, Chain, ChainRetry, Command, Cron, EnvBlock, Hook, Kind, NewJob, Overlap, ParentRef,
    Place, Settings, Timestamp,
};

pub use read::parse;

/// Jobs that were declared together.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// What people call it.
    pub name: String,
    /// Its jobs, in the order of the file.
    pub jobs: Vec<FlowJob>,
    /// How often the whole chain is started again when a job is dead.
    pub retry: ChainRetry,
    /// What is run when a run of it has ended.
    pub on_end: Option<Hook>,
    /// When it is started again and again, if it is.
    pub schedule: Option<FlowSchedule>,
}

/// When a flow is started again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSchedule {
    /// When.
    pub cron: Cron,
    /// By whose clock, if the file says so.
    pub zone: Option<Zone>,
    /// About missed starts.
    pub catch_up: CatchUp,
    /// About starts that would overlap.
    pub overlap: Overlap,
}

/// A job of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowJob {
    /// Its name, which no other job of the flow has.
    pub name: String,
    /// What it runs.
    pub command: Command,
    /// What it and the flow's `[defaults]` say about how it runs.
    pub settings: Settings,
    /// Its directory, seen from that of the file.
    pub cwd: Option<PathBuf>,
    /// The variables that are set for it.
    pub env: EnvBlock,
    /// The jobs of the flow that it waits for, by their place in it.
    pub parents: Vec<(usize, Kind)>,
}

impl Flow {
    /// The chain of this flow.
    ///
    /// `place` is the directory of the file with the environment and umask of
    /// the caller; `defaults` holds where neither job nor file says anything.
    pub fn chain(&self, place: &Place, defaults: &Settings) -> Chain {
        Chain {
            flow: Some(self.name.clone()),
            jobs: self.jobs.iter().map(|job| job.to_job(place, defaults)).collect(),
            retry: self.retry,
            on_end: self.on_end.clone().map(|hook| RunHook { hook, cwd: place.cwd.clone() }),
        }
    }
}

impl FlowJob {
    fn to_job(&self, place: &Place, defaults: &Settings) -> NewJob {
        let place = match &self.cwd {
            Some(dir) => &place.moved_to(&Path::new(OsStr::from_bytes(&place.cwd)).join(dir)),
            None => place,
        };
        let parents = self.parents.iter().map(|(index, kind)| (ParentRef::InBatch(*index), *kind));
        NewJob {
            name: Some(self.name.clone()),
            extra_env: self.env.clone(),
            parents: parents.collect(),
            ..self.settings.or(defaults).job(self.command.clone(), place, Timestamp::default())
        }
    }
}

/// Reads the flow in a file, and tells the directory that the file is in.
///
/// # Errors
/// When it cannot be read, or is no flow.
pub fn load(path: &Path) -> Result<(Flow, PathBuf), Failure> {
    let file = path.display().to_string();
    let unreadable = |why: String| Failure::usage(format!("{file} cannot be read: {why}"));
    let bytes = fs::read(path).map_err(|error| unreadable(crate::failure::reason(&error)))?;
    let flow = parse(&file, &utf8(&file, bytes)?)?;
    let path = std::path::absolute(path).map_err(|error| unreadable(error.to_string()))?;
    let dir = path.parent().unwrap_or(Path::new("/")).to_owned();
    Ok((flow, dir))
}

/// The text of a file.
///
/// # Errors
/// Names the first line that is not UTF-8.
pub fn utf8(file: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = String::from_utf8_lossy(valid).split('\n').count();
        Failure::usage(format!("{file}:{line}: the text is not UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn jobs(text: &str) -> Vec<NewJob> {
        let env = EnvBlock::from_entries([b"A=caller".as_slice()]);
        let place = Place::new(Path::new("/flows"), 0o027, &env);
        let defaults = Settings { max_retries: Some(1), priority: Some(2), ..Settings::default() };
        let flow = parse("f.toml", text).unwrap_or_else(|error| panic!("{error}"));
        let chain = flow.chain(&place, &defaults);
        assert_eq!(chain.flow.as_deref(), Some(flow.name.as_str()));
        chain.jobs
    }

    #[test]
    fn a_run_has_a_job_for_each_table_in_the_order_of_the_file() {
        let jobs =
            jobs("name = 'n'\n[jobs.z]\nrun = 'a'\nafter = 'b'\n[jobs.b]\nrun = ['echo', '']\n");
        let names: Vec<_> = jobs.iter().map(|job| job.name.as_deref()).collect();
        assert_eq!(names, [Some("z"), Some("b")]);
        assert_eq!(jobs[0].parents, [(ParentRef::InBatch(1), Kind::After)]);
        assert_eq!(jobs[1].command, Command::Argv(vec![b"echo".to_vec(), Vec::new()]));
    }

    #[test]
    fn a_job_comes_before_the_file_and_the_file_before_the_environment() {
        let job = &jobs(concat!(
            "[defaults]\ntimeout = '10m'\nretry_delay = 1\npriority = 3\n",
            "[jobs.a]\nrun = 'a'\ntimeout = 'none'\n",
        ))[0];
        assert_eq!((job.timeout, job.priority, job.max_retries), (None, 3, 1));
        assert_eq!(job.retry_delay, Duration::from_secs(1));
        assert_eq!(job.kill_after, Duration::from_secs(10));
    }

    #[test]
    fn a_directory_is_seen_from_that_of_the_file() {
        let text =
            "[defaults]\ncwd = 'sub'\n[jobs.a]\nrun = 'a'\n[jobs.b]\nrun = 'b'\ncwd = '/x'\n";
        let jobs = jobs(text);
        assert_eq!(jobs[0].cwd, b"/flows/sub");
        assert_eq!(jobs[0].env.get("PWD"), Some(b"/flows/sub".as_slice()));
        assert_eq!(jobs[1].cwd, b"/x");
        assert_eq!(jobs[1].umask, 0o027);
    }

    #[test]
    fn variables_of_the_job_come_before_those_of_the_file() {
        let job = &jobs(concat!(
            "[defaults.env]\nA = 'file'\nB = 'file'\n",
            "[jobs.a]\nrun = 'a'\nenv = { B = 'job' }\n",
        ))[0];
        assert_eq!(job.extra_env.get("A"), Some(b"file".as_slice()));
        assert_eq!(job.extra_env.get("B"), Some(b"job".as_slice()));
        assert_eq!(job.env.get("A"), Some(b"caller".as_slice()));
    }

    #[test]
    fn the_flow_that_is_shown_to_people_is_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/flows/nightly.toml");
        let (flow, dir) = load(Path::new(path)).unwrap_or_else(|failure| panic!("{failure:?}"));
        let names: Vec<&str> = flow.jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["fetch", "clean", "report", "alert"]);
        assert_eq!(flow.jobs[3].parents, [0, 1, 2].map(|place| (place, Kind::OnFailure)));
        assert!(dir.ends_with("tests/flows"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told_in_words() {
        let dir = tempfile::tempdir().expect("a directory");
        let gone = load(&dir.path().join("gone.toml")).expect_err("no such file");
        let words = "gone.toml cannot be read: no such file or directory";
        assert!(gone.message.ends_with(words), "{}", gone.message);
        let latin = dir.path().join("latin.toml");
        fs::write(&latin, b"name = 'n'\n# caf\xe9\n").expect("a file");
        let message = load(&latin).expect_err("not UTF-8").message;
        assert!(message.ends_with("latin.toml:2: the text is not UTF-8"), "{message}");
    }
}
