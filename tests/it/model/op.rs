//! What can happen to a store.

use std::time::Duration;

use ax_scheduler::job::{Event, IfExists, Kind, OnLost, Outcome};
use ax_scheduler::store::Resolution;
use proptest::prelude::*;

/// One thing that happens. Jobs, claims and runners are meant by their place
/// among those there are, counted round.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// `ax add`.
    Add(Added),
    /// `ax add --from`: a chain whose first job waits for the second, and so on.
    AddChain(usize),
    /// `ax deps add`.
    Link(usize, usize, Kind),
    /// `ax deps remove`.
    Unlink(usize, usize),
    /// A turn with so much room.
    Turn { runner: usize, room: usize },
    /// A claimed process is started.
    Start(usize),
    /// A claimed job ends.
    End(usize, Outcome),
    /// A result of an attempt that ended comes (again).
    Late(usize, Outcome),
    /// The clock moves, or steps back.
    Tick(i64),
    /// `ax retry`.
    Retry { job: usize, downstream: bool, force: bool },
    /// `ax cancel`.
    Cancel { job: usize, downstream: bool },
    /// `ax edit` of a priority and a time.
    Edit { job: usize, priority: i64, due_in: Option<u64> },
    /// `ax group set`, `pause` and `resume`.
    Group { group: u8, parallel: Option<u32>, paused: bool },
    /// `ax hold`.
    Hold(usize),
    /// `ax release`.
    Release(usize),
    /// `ax recover --as`.
    Resolve(usize, Resolution),
    /// An edge is written by hand.
    WriteEdge(usize, usize, Kind),
    /// The edges between two jobs are deleted by hand.
    DeleteEdge(usize, usize),
    /// A job is deleted by hand.
    DeleteJob(usize),
    /// A job that nobody owns is set to pending by hand.
    SetPending(usize),
}

/// What matters of a new job.
#[derive(Clone, Debug)]
pub(crate) struct Added {
    pub(crate) parents: Vec<(usize, Kind)>,
    pub(crate) parent_key: Option<u8>,
    pub(crate) key: Option<u8>,
    pub(crate) if_exists: IfExists,
    pub(crate) max_retries: u32,
    pub(crate) on_lost: OnLost,
    pub(crate) hold: bool,
    pub(crate) due_in: u64,
    pub(crate) priority: i64,
    pub(crate) group: Option<u8>,
    pub(crate) mutex: Option<u8>,
}

/// What judging dependencies may do to any job, in every verb that judges.
const JUDGE: [Event; 3] = [Event::Block, Event::Rearm, Event::Skip];

impl Op {
    /// The events that may happen to a job in this step.
    pub(crate) fn events(&self) -> Vec<Event> {
        let own: &[Event] = match self {
            Self::Add(_) | Self::AddChain(_) | Self::Cancel { .. } => &[Event::Cancel],
            Self::Link(..) | Self::Unlink(..) => &[],
            Self::Turn { .. } => &[Event::Release, Event::Claim],
            Self::Start(_) => &[Event::Release, Event::Start],
            Self::End(..) | Self::Late(..) => &[
                Event::Release,
                Event::Succeed,
                Event::Fail,
                Event::Bury,
                Event::Suspend,
                Event::Interrupt,
                Event::Postpone,
                Event::GiveBack,
                Event::Cancel,
            ],
            Self::Retry { .. } => &[Event::Revive, Event::ReviveForced, Event::ResolveRetry],
            Self::Edit { .. } => return vec![Event::Block],
            Self::Hold(_) => return vec![Event::Hold],
            Self::Release(_) => &[Event::Unhold],
            Self::Resolve(_, Resolution::Success) => &[Event::ResolveSuccess],
            Self::Resolve(_, Resolution::Failed) => &[Event::ResolveDead],
            Self::Resolve(_, Resolution::Retry) => &[Event::ResolveRetry, Event::Revive],
            Self::Tick(_)
            | Self::WriteEdge(..)
            | Self::DeleteEdge(..)
            | Self::DeleteJob(_)
            | Self::SetPending(_)
            | Self::Group { .. } => return Vec::new(),
        };
        own.iter().chain(&JUDGE).copied().collect()
    }
}

/// Up to sixty things, most of them ordinary.
pub(crate) fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(), 1..60)
}

fn op() -> impl Strategy<Value = Op> {
    let at = || 0..40_usize;
    prop_oneof![
        12 => added().prop_map(Op::Add),
        1 => (2..5_usize).prop_map(Op::AddChain),
        3 => (at(), at(), kind()).prop_map(|(child, parent, kind)| Op::Link(child, parent, kind)),
        2 => (at(), at()).prop_map(|(child, parent)| Op::Unlink(child, parent)),
        10 => (0..3_usize, 0..4_usize).prop_map(|(runner, room)| Op::Turn { runner, room }),
        4 => at().prop_map(Op::Start),
        12 => (at(), outcome()).prop_map(|(claim, outcome)| Op::End(claim, outcome)),
        2 => (at(), outcome()).prop_map(|(claim, outcome)| Op::Late(claim, outcome)),
        5 => (-40..90_i64).prop_map(Op::Tick),
        6 => (at(), any::<bool>(), any::<bool>())
            .prop_map(|(job, downstream, force)| Op::Retry { job, downstream, force }),
        3 => (at(), any::<bool>()).prop_map(|(job, downstream)| Op::Cancel { job, downstream }),
        2 => (at(), 0..3_i64, prop::option::of(0..60_u64))
            .prop_map(|(job, priority, due_in)| Op::Edit { job, priority, due_in }),
        2 => (0..2_u8, prop::option::of(1..3_u32), prop::bool::weighted(0.3))
            .prop_map(|(group, parallel, paused)| Op::Group { group, parallel, paused }),
        2 => at().prop_map(Op::Hold),
        3 => at().prop_map(Op::Release),
        2 => (at(), resolution()).prop_map(|(job, how)| Op::Resolve(job, how)),
        3 => (at(), at(), kind()).prop_map(|(child, parent, kind)| Op::WriteEdge(child, parent, kind)),
        1 => (at(), at()).prop_map(|(child, parent)| Op::DeleteEdge(child, parent)),
        1 => at().prop_map(Op::DeleteJob),
        1 => at().prop_map(Op::SetPending),
    ]
}

fn added() -> impl Strategy<Value = Added> {
    let parents = prop::collection::vec((0..40_usize, kind()), 0..3);
    let key = || prop::option::weighted(0.3, 0..3_u8);
    let if_exists = prop::sample::select(vec![IfExists::Skip, IfExists::Replace, IfExists::Error]);
    let due_in = prop_oneof![3 => Just(0), 1 => 1..60_u64];
    let on_lost = prop::sample::select(OnLost::ALL.to_vec());
    let hold = prop::bool::weighted(0.1);
    let limits = (prop::option::weighted(0.4, 0..2_u8), prop::option::weighted(0.4, 0..2_u8));
    (parents, (key(), key()), if_exists, 0..3_u32, on_lost, hold, due_in, (0..3_i64, limits))
        .prop_map(|(parents, keys, if_exists, max_retries, on_lost, hold, due_in, rest)| {
            let ((parent_key, key), (priority, (group, mutex))) = (keys, rest);
            Added {
                parents,
                parent_key: parent_key.filter(|key| *key == 0),
                key,
                if_exists,
                max_retries,
                on_lost,
                hold,
                due_in,
                priority,
                group,
                mutex,
            }
        })
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(Kind::ALL.to_vec())
}

fn resolution() -> impl Strategy<Value = Resolution> {
    prop::sample::select(vec![Resolution::Success, Resolution::Failed, Resolution::Retry])
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        6 => Just(Outcome::Exited(0)),
        5 => Just(Outcome::Exited(1)),
        1 => Just(Outcome::Exited(75)),
        1 => Just(Outcome::Signaled(9)),
        1 => Just(Outcome::TimedOut(Duration::from_mins(1))),
        1 => Just(Outcome::Unstartable("no such directory".to_owned())),
        2 => Just(Outcome::Lost("its supervisor was killed".to_owned())),
        1 => Just(Outcome::Interrupted),
        1 => Just(Outcome::NotStarted("too many open files".to_owned())),
        1 => Just(Outcome::Cancelled),
    ]
}
