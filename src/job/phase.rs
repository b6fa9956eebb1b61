//! What a person is told of a job that is not running: why, and what to type.

use std::fmt;

use super::dependency::{Kind, Seen};
use super::{Job, JobId, State, Timestamp};

/// Who could run a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runners {
    /// None is alive.
    None,
    /// Some are alive, and each was suspended: SIGSTOP, or Ctrl-Z.
    Suspended,
    /// One works at least.
    Working,
}

/// Why a job does not run at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It runs.
    Running,
    /// It was killed, and this is left of it.
    Stuck(String),
    /// A runner has claimed it and will start it when a worker is free.
    Claimed,
    /// It could start; every worker is busy with what comes before it.
    Queued,
    /// It could start, but for a group or a mutex.
    Blocked(Blocked),
    /// It could start, but no runner is alive.
    NoRunner,
    /// It could start, but every runner that is alive was suspended.
    Suspended,
    /// Its time has not come.
    Scheduled(Timestamp),
    /// It is the next start of this schedule, and its time has not come.
    NextStart(Timestamp, String),
    /// It failed; its next attempt is due then.
    Backoff(Timestamp),
    /// It waits for these parents.
    Waiting(Vec<Seen>),
    /// It waits for parents that wait for a person.
    WaitingForPerson(Vec<Seen>),
    /// It was stopped on purpose.
    Held(Option<String>),
    /// It has ended.
    Ended(State, Option<String>),
}

/// What keeps a ready job from being taken, though a worker may be free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// As many jobs of its group run as may run at once.
    Full {
        /// The group.
        group: String,
        /// How many of its jobs runners have.
        running: u32,
        /// How many they may have.
        parallel: u32,
    },
    /// Its group is paused.
    Paused {
        /// The group.
        group: String,
    },
    /// Another job has its mutex.
    Mutex {
        /// The mutex.
        mutex: String,
        /// Who has it.
        holder: JobId,
    },
}

impl fmt::Display for Blocked {
    /// What is waited for, as the end of a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { group, running, parallel } => {
                write!(f, "group {group}: {running} of {parallel} running")
            }
            Self::Paused { group } => {
                write!(f, "group {group}, which is paused; `ax group resume` lets it go on")
            }
            Self::Mutex { mutex, holder } => write!(f, "mutex {mutex}, held by job {holder}"),
        }
    }
}

impl Phase {
    /// Tells why `job` is where it is.
    pub fn of(job: &Job, now: Timestamp, runners: Runners) -> Self {
        match job.state {
            State::Running | State::Dispatched if job.reason.is_some() => {
                Self::Stuck(job.reason.clone().unwrap_or_default())
            }
            State::Running => Self::Running,
            State::Dispatched if runners == Runners::Suspended => Self::Suspended,
            State::Dispatched => Self::Claimed,
            State::Ready => match &job.blocked {
                Some(blocked) => Self::Blocked(blocked.clone()),
                None => Self::queued(runners),
            },
            State::Held => Self::Held(job.reason.clone()),
            State::Failed => Self::Backoff(job.scheduled_at),
            State::Pending => Self::pending(job, now, runners),
            State::Success | State::Dead | State::Cancelled | State::Skipped => {
                Self::Ended(job.state, job.reason.clone())
            }
        }
    }

    const fn queued(runners: Runners) -> Self {
        match runners {
            Runners::None => Self::NoRunner,
            Runners::Suspended => Self::Suspended,
            Runners::Working => Self::Queued,
        }
    }

    fn pending(job: &Job, now: Timestamp, runners: Runners) -> Self {
        let open: Vec<Seen> = job
            .dependencies
            .iter()
            .map(|dependency| dependency.seen)
            .filter(|seen| !seen.is_met())
            .collect();
        if open.is_empty() {
            // What was due when it was added is due, whatever the clock shows.
            return if job.scheduled_at > now.max(job.created_at) {
                match &job.schedule {
                    Some(schedule) => Self::NextStart(job.scheduled_at, schedule.clone()),
                    None => Self::Scheduled(job.scheduled_at),
                }
            } else {
                Self::queued(runners)
            };
        }
        let held = |seen: &Seen| seen.parent == Some(State::Held);
        if open.iter().any(held) {
            Self::WaitingForPerson(open.into_iter().filter(held).collect())
        } else {
            Self::Waiting(open)
        }
    }

    /// The sentence, with times written by `show`.
    pub fn sentence(&self, show: impl Fn(Timestamp) -> String) -> String {
        match self {
            Self::Running => "it is running".to_owned(),
            Self::Stuck(why) => format!("it is being stopped; {why}"),
            Self::Claimed => {
                "a runner has claimed it and starts it when a worker is free".to_owned()
            }
            Self::Queued => "it waits for a free worker".to_owned(),
            Self::Blocked(blocked) => format!("it waits for {blocked}"),
            Self::NoRunner => "no runner is alive; start one with `ax run`".to_owned(),
            Self::Suspended => {
                "every runner is suspended; `ax status` tells how one goes on".to_owned()
            }
            Self::Scheduled(at) => format!("it is due {}", show(*at)),
            Self::NextStart(at, schedule) => {
                format!("it is due {}, as a start of the schedule `{schedule}`", show(*at))
            }
            Self::Backoff(at) => {
                format!("its last attempt failed; the next one is due {}", show(*at))
            }
            Self::Waiting(parents) => format!("it waits for {}", parents_text(parents)),
            Self::WaitingForPerson(parents) => {
                format!("it waits for {}, and that waits for a person", parents_text(parents))
            }
            Self::Held(None) => "it is held; `ax release` lets it go on".to_owned(),
            Self::Held(Some(why)) => format!("it is held: {why}"),
            Self::Ended(state, None) => format!("it has ended: {state}"),
            Self::Ended(state, Some(why)) => format!("it has ended: {state}, {why}"),
        }
    }
}

/// Parents and where they stand: `job 3 (running), job 5 (pending)`.
fn parents_text(parents: &[Seen]) -> String {
    const SHOWN: usize = 5;
    let mut texts: Vec<_> = parents.iter().take(SHOWN).map(parent_text).collect();
    if parents.len() > SHOWN {
        texts.push(format!("{} more", parents.len() - SHOWN));
    }
    texts.join(", ")
}

fn parent_text(seen: &Seen) -> String {
    let parent = seen.edge.parent;
    let state = seen.parent.map_or("missing", State::as_str);
    match seen.edge.kind {
        Kind::After => format!("job {parent} ({state})"),
        Kind::OnFailure => format!("a failure of job {parent} ({state})"),
        Kind::AfterAny => format!("the end of job {parent} ({state})"),
    }
}
