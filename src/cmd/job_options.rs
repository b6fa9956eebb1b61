//! What the options about a job say, for every command that makes jobs.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::surroundings::{self, directory};
use crate::cli::{self, JobArgs, SettingArgs};
use crate::failure::Failure;
use crate::job::hook::OnEnd;
use crate::job::{Command, EnvBlock, NewJob, OnLost, Place, Settings, Timestamp, limits};

/// How a job runs and where.
#[derive(Clone, Debug)]
pub(super) struct JobOptions {
    pub(super) settings: Settings,
    pub(super) place: Place,
    pub(super) extra_env: EnvBlock,
}

impl JobOptions {
    /// Reads the options; what they do not say is as `defaults` have it.
    pub(super) fn read(args: &JobArgs, defaults: &Settings) -> Result<Self, Failure> {
        Ok(Self {
            settings: settings(&args.settings)?.or(defaults),
            place: place(args)?,
            extra_env: extra_env(args)?,
        })
    }

    /// The job of this name that runs this, whenever it is started.
    pub(super) fn job(&self, name: &str, command: Command) -> NewJob {
        NewJob {
            name: Some(name.to_owned()),
            extra_env: self.extra_env.clone(),
            ..self.settings.job(command, &self.place, Timestamp::default())
        }
    }
}

/// What the options say about how a job runs.
///
/// # Errors
/// Names what cannot be kept, or shown without harm.
pub(super) fn settings(args: &SettingArgs) -> Result<Settings, Failure> {
    check_label("group", args.group.as_deref())?;
    check_label("mutex", args.mutex.as_deref())?;
    Ok(Settings {
        priority: args.priority,
        timeout: args.timeout,
        kill_after: args.kill_after,
        max_retries: args.max_retries,
        retry_delay: args.retry_delay,
        retry_backoff: args.retry_backoff,
        retry_max_delay: args.retry_max_delay,
        on_lost: args.on_lost.map(on_lost),
        hold: None,
        group: args.group.clone(),
        mutex: args.mutex.clone(),
        retry_on: args.retry_on.clone(),
        no_retry_on: args.no_retry_on.clone(),
        on_end: on_end(args)?,
        on_end_timeout: args.on_end_timeout,
    })
}

fn on_end(args: &SettingArgs) -> Result<Option<OnEnd>, Failure> {
    match &args.on_end {
        _ if args.no_on_end => Ok(Some(OnEnd(None))),
        None => Ok(None),
        Some(text) => OnEnd::run(text.as_bytes().to_vec())
            .map(Some)
            .map_err(|why| Failure::usage(format!("--on-end: {why}"))),
    }
}

/// Refuses a name that would do harm where it is shown or stored.
pub(super) fn check_label(what: &str, label: Option<&str>) -> Result<(), Failure> {
    label.map_or(Ok(()), |label| limits::label(what, label)).map_err(Failure::usage)
}

const fn on_lost(policy: cli::OnLost) -> OnLost {
    match policy {
        cli::OnLost::Requeue => OnLost::Requeue,
        cli::OnLost::Hold => OnLost::Hold,
        cli::OnLost::Fail => OnLost::Fail,
    }
}

fn place(args: &JobArgs) -> Result<Place, Failure> {
    let Some(dir) = &args.cwd else { return surroundings::here(args.clean_env) };
    if dir.is_absolute() {
        let dir = directory(dir, Path::new("/")).map_err(wrong_dir)?;
        return Ok(surroundings::at(&dir, args.clean_env));
    }
    let here = surroundings::here(args.clean_env)?;
    let from = PathBuf::from(OsStr::from_bytes(&here.cwd));
    Ok(here.moved_to(&directory(dir, &from).map_err(wrong_dir)?))
}

fn wrong_dir(why: String) -> Failure {
    Failure::usage(format!("--cwd: {why}"))
}

/// The variables of `-e`; of two of one name the last counts.
fn extra_env(args: &JobArgs) -> Result<EnvBlock, Failure> {
    let mut block = EnvBlock::default();
    for text in &args.env {
        let entry =
            surroundings::variable(text).map_err(|why| Failure::usage(format!("--env {why}")))?;
        block = block.overlaid(&EnvBlock::from_entries([entry.as_slice()]));
    }
    Ok(block)
}
