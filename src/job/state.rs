//! The states of a job and the one table of legal moves between them.
//!
//! Every state change in the program is an [`Event`]; [`Event::allows`] is the
//! table of legal moves. Nothing else may decide that a state can change.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Stored; waits for its time or its parents.
    Pending,
    /// Due and its parents done; waits for a worker.
    Ready,
    /// Claimed by a runner, in its queue.
    Dispatched,
    /// Its process was started.
    Running,
    /// Ended well.
    Success,
    /// The last attempt failed; the next one is scheduled.
    Failed,
    /// Failed, and no retries are left.
    Dead,
    /// Stopped on purpose; waits for a person.
    Held,
    /// Ended by a person.
    Cancelled,
    /// Its dependencies can no longer be met.
    Skipped,
}

impl State {
    /// All states, in the order in which people read them.
    pub const ALL: [Self; 10] = [
        Self::Pending,
        Self::Ready,
        Self::Dispatched,
        Self::Running,
        Self::Success,
        Self::Failed,
        Self::Dead,
        Self::Held,
        Self::Cancelled,
        Self::Skipped,
    ];

    /// The states that `--failed` selects.
    pub const FAILED: [Self; 3] = [Self::Failed, Self::Dead, Self::Held];

    /// The name used in the database, in JSON and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Ready => "ready",
            Self::Dispatched => "dispatched",
            Self::Running => "running",
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Dead => "dead",
            Self::Held => "held",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
        }
    }

    /// Tells whether a job in this state has ended.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Success | Self::Dead | Self::Cancelled | Self::Skipped)
    }

    /// Tells whether a runner owns a job in this state.
    pub const fn is_owned(self) -> bool {
        matches!(self, Self::Dispatched | Self::Running)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for State {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|state| state.as_str()).collect();
            format!("no such state `{text}` (there are {})", names.join(", "))
        })
    }
}

/// What makes a job change its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Due, and every dependency is met.
    Release,
    /// An unmet dependency or a later time was given to a job that was ready.
    Block,
    /// A runner took the job.
    Claim,
    /// The supervisor started the process.
    Start,
    /// The claim was returned before the process was started.
    GiveBack,
    /// The process ended with exit 0.
    Succeed,
    /// The attempt failed and retries are left.
    Fail,
    /// The attempt failed and no retries are left.
    Bury,
    /// The outcome of the attempt is unknown and a person must decide.
    Suspend,
    /// A shutdown stopped the attempt.
    Interrupt,
    /// The attempt asked to come again later.
    Postpone,
    /// The time of the next attempt came.
    Rearm,
    /// `ax hold`.
    Hold,
    /// `ax release`.
    Unhold,
    /// `ax recover --as success`.
    ResolveSuccess,
    /// `ax recover --as failed`.
    ResolveDead,
    /// `ax recover --as retry`, or `ax retry` of a held job.
    ResolveRetry,
    /// `ax cancel`.
    Cancel,
    /// A dependency can no longer be met.
    Skip,
    /// `ax retry` of a job that ended without success.
    Revive,
    /// `ax retry --force` of a job that succeeded.
    ReviveForced,
}

impl Event {
    /// All events.
    pub const ALL: [Self; 21] = [
        Self::Release,
        Self::Block,
        Self::Claim,
        Self::Start,
        Self::GiveBack,
        Self::Succeed,
        Self::Fail,
        Self::Bury,
        Self::Suspend,
        Self::Interrupt,
        Self::Postpone,
        Self::Rearm,
        Self::Hold,
        Self::Unhold,
        Self::ResolveSuccess,
        Self::ResolveDead,
        Self::ResolveRetry,
        Self::Cancel,
        Self::Skip,
        Self::Revive,
        Self::ReviveForced,
    ];

    /// The legal moves: from which states the event leads, and to which one.
    ///
    /// A job may pass through `running` inside one transaction when the start
    /// and the end of a short attempt are reported together; the events that
    /// end an attempt therefore also lead from `dispatched`.
    pub const fn edge(self) -> (&'static [State], State) {
        use State::{
            Cancelled, Dead, Dispatched, Failed, Held, Pending, Ready, Running, Skipped, Success,
        };
        match self {
            Self::Release => (&[Pending], Ready),
            Self::Block => (&[Ready], Pending),
            Self::Claim => (&[Ready], Dispatched),
            Self::Start => (&[Dispatched], Running),
            Self::GiveBack => (&[Dispatched], Ready),
            Self::Succeed => (&[Dispatched, Running], Success),
            Self::Fail => (&[Dispatched, Running], Failed),
            Self::Bury => (&[Dispatched, Running], Dead),
            Self::Suspend => (&[Dispatched, Running], Held),
            Self::Interrupt => (&[Dispatched, Running], Ready),
            Self::Postpone => (&[Dispatched, Running], Pending),
            Self::Rearm => (&[Failed], Pending),
            Self::Hold => (&[Pending, Ready, Failed], Held),
            Self::Unhold | Self::ResolveRetry => (&[Held], Pending),
            Self::ResolveSuccess => (&[Held], Success),
            Self::ResolveDead => (&[Held], Dead),
            Self::Cancel => (&[Pending, Ready, Dispatched, Running, Failed, Held], Cancelled),
            Self::Skip => (&[Pending], Skipped),
            Self::Revive => (&[Dead, Cancelled, Skipped], Pending),
            Self::ReviveForced => (&[Success], Pending),
        }
    }

    /// The state this event leads to.
    pub const fn target(self) -> State {
        self.edge().1
    }

    /// Tells whether the event may happen to a job in `from`.
    pub fn allows(self, from: State) -> bool {
        self.edge().0.contains(&from)
    }

    /// The event that `ax retry` means for a job in `from`, or `None` when
    /// the job is not one that can be retried.
    pub const fn retry_of(from: State, force: bool) -> Option<Self> {
        match from {
            State::Dead | State::Cancelled | State::Skipped => Some(Self::Revive),
            State::Held => Some(Self::ResolveRetry),
            State::Failed => Some(Self::Rearm),
            State::Success if force => Some(Self::ReviveForced),
            State::Success | State::Pending | State::Ready | State::Dispatched | State::Running => {
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::State::{
        Cancelled, Dead, Dispatched, Failed, Held, Pending, Ready, Running, Skipped, Success,
    };
    use super::*;

    /// The table of the specification, written a second time and by pairs.
    const LEGAL: &[(Event, State, State)] = &[
        (Event::Release, Pending, Ready),
        (Event::Block, Ready, Pending),
        (Event::Claim, Ready, Dispatched),
        (Event::Start, Dispatched, Running),
        (Event::GiveBack, Dispatched, Ready),
        (Event::Succeed, Running, Success),
        (Event::Succeed, Dispatched, Success),
        (Event::Fail, Running, Failed),
        (Event::Fail, Dispatched, Failed),
        (Event::Bury, Running, Dead),
        (Event::Bury, Dispatched, Dead),
        (Event::Suspend, Dispatched, Held),
        (Event::Suspend, Running, Held),
        (Event::Interrupt, Running, Ready),
        (Event::Interrupt, Dispatched, Ready),
        (Event::Postpone, Running, Pending),
        (Event::Postpone, Dispatched, Pending),
        (Event::Rearm, Failed, Pending),
        (Event::Hold, Pending, Held),
        (Event::Hold, Ready, Held),
        (Event::Hold, Failed, Held),
        (Event::Unhold, Held, Pending),
        (Event::ResolveSuccess, Held, Success),
        (Event::ResolveDead, Held, Dead),
        (Event::ResolveRetry, Held, Pending),
        (Event::Cancel, Pending, Cancelled),
        (Event::Cancel, Ready, Cancelled),
        (Event::Cancel, Dispatched, Cancelled),
        (Event::Cancel, Running, Cancelled),
        (Event::Cancel, Failed, Cancelled),
        (Event::Cancel, Held, Cancelled),
        (Event::Skip, Pending, Skipped),
        (Event::Revive, Dead, Pending),
        (Event::Revive, Cancelled, Pending),
        (Event::Revive, Skipped, Pending),
        (Event::ReviveForced, Success, Pending),
    ];

    #[test]
    fn every_event_in_every_state_does_what_the_table_says() {
        for event in Event::ALL {
            for from in State::ALL {
                let legal =
                    LEGAL.iter().find(|(e, f, _)| *e == event && *f == from).map(|(_, _, to)| *to);
                let got = event.allows(from).then_some(event.target());
                assert_eq!(got, legal, "{event:?} from {from}");
            }
        }
    }

    #[test]
    fn a_name_parses_back_to_its_state() {
        for state in State::ALL {
            assert_eq!(state.as_str().parse(), Ok(state));
        }
        assert!("Pending".parse::<State>().is_err());
    }

    #[test]
    fn retry_refuses_what_waits_or_runs_and_success_without_force() {
        for state in [Pending, Ready, Dispatched, Running, Success] {
            assert_eq!(Event::retry_of(state, false), None, "{state}");
        }
        assert_eq!(Event::retry_of(Success, true), Some(Event::ReviveForced));
    }

    #[test]
    fn retry_of_any_other_state_is_a_legal_move_to_pending() {
        for state in [Dead, Cancelled, Skipped, Held, Failed] {
            let event = Event::retry_of(state, false).expect("can be retried");
            assert!(event.allows(state));
            assert_eq!(event.target(), Pending);
        }
    }
}
