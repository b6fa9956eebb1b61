//! How a runner is to work, what wakes it and how it ends.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::Receiver;

use super::alarm::Alarm;
use super::pool::FromWorker;
use super::wake::Heard;
use crate::job::{FlowRunId, RunnerId};

/// When a runner ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Never: it serves until it is told to stop.
    Stopped,
    /// When nothing is due now.
    NothingDue,
    /// When nothing will happen any more by itself.
    Idle,
}

/// What happens to running jobs when the runner is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnStop {
    /// They may end, for this long if there is a limit.
    Wait(Option<Duration>),
    /// They run on under their supervisors.
    Detach,
    /// They are stopped and go back to the queue.
    Kill,
}

/// How a runner works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its number.
    pub runner: RunnerId,
    /// The database.
    pub db: PathBuf,
    /// How many jobs it has in hand at most.
    pub capacity: usize,
    /// Whether it has that many also where jobs are long.
    pub steady: bool,
    /// The longest sleep between two looks at the database, but for one with
    /// nothing to do that an alarm would end.
    pub poll_interval: Duration,
    /// When it ends by itself.
    pub until: Until,
    /// What happens to running jobs when it is told to stop.
    pub on_stop: OnStop,
    /// Only jobs of this run of a flow.
    pub scope: Option<FlowRunId>,
}

/// What wakes a runner.
pub struct Wakes {
    /// The workers.
    pub workers: Receiver<FromWorker>,
    /// Commands that made work, or hand over jobs.
    pub bell: Receiver<Heard>,
    /// What else wakes a runner that has nothing to do; it rings the bell.
    /// Without it the runner looks once a poll interval.
    pub alarm: Option<Arc<Alarm>>,
    /// Signals that tell it to stop.
    pub signals: Receiver<()>,
}

/// How a runner ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything in hand ended and is stored, and the runner is struck out.
    Finished,
    /// It owns jobs still, which run on under their supervisors. Its lock must
    /// stay, because who comes after it reads from it that the runner is dead.
    Detached,
}
