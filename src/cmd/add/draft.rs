//! What the options of `ax add` say about the jobs to come.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use chrono::Local;

use crate::cli::{self, AddArgs};
use crate::cmd::job_options::{JobOptions, check_label};
use crate::failure::Failure;
use crate::job::{
    Command, EnvBlock, IfExists, JobId, Kind, NewJob, ParentRef, Place, Settings, Timestamp,
};
use crate::when;

/// A job that lacks its command.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) now: Timestamp,
    pub(super) name: Option<String>,
    pub(super) if_exists: IfExists,
    pub(super) settings: Settings,
    pub(super) due: Timestamp,
    pub(super) place: Place,
    pub(super) extra_env: EnvBlock,
    pub(super) parents: Vec<(ParentRef, Kind)>,
}

impl Draft {
    /// Reads the options; what they do not say is as `defaults` have it.
    pub(super) fn read(
        args: &AddArgs,
        defaults: &Settings,
        now: Timestamp,
    ) -> Result<Self, Failure> {
        check_labels(args)?;
        let JobOptions { settings, place, extra_env } = JobOptions::read(&args.job, defaults)?;
        Ok(Self {
            now,
            name: args.name.clone(),
            if_exists: if_exists(args.if_exists),
            settings: Settings { hold: args.hold.then_some(true), ..settings },
            due: due(args.delay, args.at.as_deref(), now)?.unwrap_or(now),
            place,
            extra_env,
            parents: parents(args)?,
        })
    }

    /// The job that runs this.
    pub(super) fn job(&self, command: Command) -> NewJob {
        NewJob {
            name: self.name.clone(),
            if_exists: self.if_exists,
            extra_env: self.extra_env.clone(),
            parents: self.parents.clone(),
            ..self.settings.job(command, &self.place, self.due)
        }
    }

    /// The directory of the job.
    pub(super) fn dir(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.place.cwd))
    }
}

fn check_labels(args: &AddArgs) -> Result<(), Failure> {
    if args.from.is_some() && args.key.is_some() {
        return Err(Failure::usage("one key cannot be that of every line")
            .hint("give each line of the file its own: {\"key\": …}"));
    }
    check_label("name", args.name.as_deref())?;
    check_label("key", args.key.as_deref())
}

const fn if_exists(choice: cli::IfExists) -> IfExists {
    match choice {
        cli::IfExists::Skip => IfExists::Skip,
        cli::IfExists::Replace => IfExists::Replace,
        cli::IfExists::Error => IfExists::Error,
    }
}

/// When `--delay` or `--at` says that it is due; `None` if neither does.
pub(in crate::cmd) fn due(
    delay: Option<Duration>,
    at: Option<&str>,
    now: Timestamp,
) -> Result<Option<Timestamp>, Failure> {
    match (delay, at) {
        (Some(delay), _) => Ok(Some(now.plus(delay))),
        (None, Some(text)) => when::time(text, now, &Local)
            .map(Some)
            .map_err(|why| Failure::usage(format!("--at {why}"))),
        (None, None) => Ok(None),
    }
}

fn parents(args: &AddArgs) -> Result<Vec<(ParentRef, Kind)>, Failure> {
    let lists = [
        ("--after", &args.after, Kind::After),
        ("--on-failure", &args.on_failure, Kind::OnFailure),
        ("--after-any", &args.after_any, Kind::AfterAny),
    ];
    let mut parents = Vec::new();
    for (option, list, kind) in lists {
        for id in ids(list).map_err(|why| Failure::usage(format!("{option}: {why}")))? {
            parents.push((ParentRef::Id(id), kind));
        }
    }
    Ok(parents)
}

/// Reads `1,2` and `3`.
fn ids(lists: &[std::ffi::OsString]) -> Result<Vec<JobId>, String> {
    let mut ids = Vec::new();
    for list in lists {
        for id in list.to_string_lossy().split(',') {
            ids.push(id.parse()?);
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use crate::exit;
    use crate::job::OnLost;
    use clap::Parser;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn args(line: &[&str]) -> AddArgs {
        let cli = Cli::try_parse_from(["ax", "add"].iter().chain(line)).expect("a command line");
        match cli.command {
            Some(cli::Command::Add(args)) => *args,
            other => panic!("not `ax add`: {other:?}"),
        }
    }

    fn draft(line: &[&str]) -> Result<Draft, Failure> {
        Draft::read(&args(line), &Settings::default(), NOW)
    }

    #[test]
    fn dependencies_are_lists_of_ids_and_may_be_given_again_and_again() {
        let draft = draft(&["--after", "1,2", "--after", "3", "--on-failure", "4", "x"]);
        let parents = draft.expect("read").parents;
        let id = |id, kind| (ParentRef::Id(JobId(id)), kind);
        let after = [1, 2, 3].map(|parent| id(parent, Kind::After));
        assert_eq!(parents, [&after[..], &[id(4, Kind::OnFailure)]].concat());
    }

    #[test]
    fn what_is_no_id_is_a_usage_error() {
        for bad in ["", "abc", " 1", "1 2", "９", "1,", ",1", "1,,2", "0", "1x", "last"] {
            let failure = draft(&["--after", bad, "x"]).expect_err(bad);
            assert_eq!(failure.exit, exit::USAGE, "{bad:?}");
            assert!(failure.message.starts_with("--after: "), "{}", failure.message);
        }
    }

    #[test]
    fn a_delay_counts_from_now_and_a_past_time_is_taken() {
        assert_eq!(draft(&["x"]).expect("read").due, NOW);
        assert_eq!(draft(&["-d", "10m", "x"]).expect("read").due.millis(), 1_600_000);
        let past = draft(&["--at", "1970-01-01T00:00:01Z", "x"]).expect("read");
        assert_eq!(past.due.millis(), 1000);
        assert_eq!(draft(&["--at", "tomorrowish", "x"]).expect_err("no time").exit, exit::USAGE);
    }

    #[test]
    fn a_variable_is_set_as_the_last_e_says() {
        let draft = draft(&["-e", "A=1", "-e", "B=", "-e", "A=2", "x"]).expect("read");
        assert_eq!(draft.extra_env.get("A"), Some(b"2".as_slice()));
        assert_eq!(draft.extra_env.get("B"), Some(b"".as_slice()));
        assert_eq!(draft.extra_env.entries().count(), 2);
    }

    #[test]
    fn a_variable_without_equals_sign_or_name_is_a_usage_error() {
        for bad in ["A", "=x"] {
            assert_eq!(draft(&["-e", bad, "x"]).expect_err(bad).exit, exit::USAGE);
        }
    }

    #[test]
    fn the_directory_must_exist_and_pwd_names_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().to_str().expect("UTF-8");
        let draft = draft(&["-C", path, "x"]).expect("read");
        assert_eq!(draft.place.cwd, path.as_bytes());
        assert_eq!(draft.place.env.get("PWD"), Some(path.as_bytes()));
        let gone = super::Draft::read(
            &args(&["-C", &format!("{path}/gone"), "x"]),
            &Settings::default(),
            NOW,
        );
        assert_eq!(gone.expect_err("gone").exit, exit::USAGE);
    }

    #[test]
    fn names_and_keys_have_limits() {
        for line in [["-n", ""], ["--key", ""], ["-n", &"x".repeat(1001)]] {
            let failure = draft(&[line[0], line[1], "x"]).expect_err("not a label");
            assert_eq!(failure.exit, exit::USAGE, "{line:?}");
        }
    }

    #[test]
    fn options_become_settings() {
        let line = ["-p", "-5", "-t", "none", "--retries", "0", "--hold", "x"];
        let job = draft(&line).expect("read").job(Command::Shell(b"x".into()));
        assert_eq!((job.priority, job.timeout, job.max_retries), (-5, None, 0));
        assert!(job.hold);
        assert_eq!(job.on_lost, OnLost::Hold);
    }
}
