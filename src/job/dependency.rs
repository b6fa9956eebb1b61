//! When a job's dependencies are met, and when they can no longer be met.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::JobId;
use super::state::State;

/// What a dependency waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Every parent of this kind ended with success.
    After,
    /// One of the parents of this kind is dead.
    OnFailure,
    /// Every parent of this kind has ended.
    AfterAny,
}

impl Kind {
    /// All kinds, in the order of the help text.
    pub const ALL: [Self; 3] = [Self::After, Self::OnFailure, Self::AfterAny];

    /// The name used in the database, in JSON and in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::After => "after",
            Self::OnFailure => "on_failure",
            Self::AfterAny => "after_any",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| format!("no such kind of dependency `{text}`"))
    }
}

/// A dependency of a job, seen from the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// The job that is waited for.
    pub parent: JobId,
    /// What is waited for.
    pub kind: Kind,
}

/// A dependency together with where its parent stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The dependency.
    pub edge: Edge,
    /// The parent's state; `None` when there is no such job (any more).
    pub parent: Option<State>,
}

impl Seen {
    /// Tells whether this edge, looked at alone, is met.
    pub fn is_met(&self) -> bool {
        match self.edge.kind {
            Kind::After => self.parent == Some(State::Success),
            Kind::OnFailure => self.parent == Some(State::Dead),
            Kind::AfterAny => self.has_ended(),
        }
    }

    fn has_ended(&self) -> bool {
        self.parent.is_none_or(State::is_final)
    }
}

/// What a job's dependencies say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Every kind is met; the job may run.
    Met,
    /// Some parent has not ended yet.
    Waiting,
    /// The job can never run, because of this edge.
    Never(Seen),
}

impl Readiness {
    /// Judges all dependencies of one job.
    ///
    /// `after` and `after_any` need all of their parents, `on_failure` needs
    /// one; the job needs every kind it has. A parent that does not exist has
    /// ended without success and without failure.
    pub fn of(edges: &[Seen]) -> Self {
        let bad =
            |seen: &&Seen| seen.edge.kind == Kind::After && seen.has_ended() && !seen.is_met();
        if let Some(broken) = edges.iter().find(bad) {
            return Self::Never(*broken);
        }
        let mut rescue = edges.iter().filter(|seen| seen.edge.kind == Kind::OnFailure).peekable();
        let rescue_met = rescue.peek().is_none() || rescue.clone().any(Seen::is_met);
        if !rescue_met && rescue.clone().all(Seen::has_ended) {
            let last = rescue.last().expect("a filter that was not empty");
            return Self::Never(*last);
        }
        let others_met =
            edges.iter().filter(|seen| seen.edge.kind != Kind::OnFailure).all(Seen::is_met);
        if rescue_met && others_met { Self::Met } else { Self::Waiting }
    }
}

/// Why a job was skipped, in words that name the parent.
pub fn skip_reason(broken: &Seen) -> String {
    let parent = broken.edge.parent;
    match (broken.edge.kind, broken.parent) {
        (_, None) => format!("needs job {parent}, which does not exist"),
        (Kind::OnFailure, Some(state)) => {
            format!("runs only if job {parent} fails, and it is {state}")
        }
        (Kind::After | Kind::AfterAny, Some(state)) => {
            format!("needs job {parent}, which is {state}")
        }
    }
}

/// A cycle as people read it: `3 → 5 → 3`.
pub fn cycle_text(cycle: &[JobId]) -> String {
    let names: Vec<_> = cycle.iter().chain(cycle.first()).map(JobId::to_string).collect();
    names.join(" → ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(kind: Kind, parent: Option<State>) -> Seen {
        Seen { edge: Edge { parent: JobId(7), kind }, parent }
    }

    fn of(kind: Kind, parents: &[Option<State>]) -> Readiness {
        let edges: Vec<_> = parents.iter().map(|parent| seen(kind, *parent)).collect();
        Readiness::of(&edges)
    }

    #[test]
    fn a_job_without_dependencies_may_run() {
        assert_eq!(Readiness::of(&[]), Readiness::Met);
    }

    #[test]
    fn after_is_met_by_success_alone_and_waits_for_failed_and_held() {
        for state in State::ALL {
            let want = match state {
                State::Success => Readiness::Met,
                State::Dead | State::Cancelled | State::Skipped => {
                    Readiness::Never(seen(Kind::After, Some(state)))
                }
                State::Pending
                | State::Ready
                | State::Dispatched
                | State::Running
                | State::Failed
                | State::Held => Readiness::Waiting,
            };
            assert_eq!(of(Kind::After, &[Some(state)]), want, "{state}");
        }
    }

    #[test]
    fn after_needs_all_of_its_parents() {
        let both = [Some(State::Success), Some(State::Running)];
        assert_eq!(of(Kind::After, &both), Readiness::Waiting);
        let broken = [Some(State::Running), Some(State::Dead)];
        assert!(matches!(of(Kind::After, &broken), Readiness::Never(_)));
    }

    #[test]
    fn on_failure_needs_one_dead_parent() {
        let one = [Some(State::Success), Some(State::Dead)];
        assert_eq!(of(Kind::OnFailure, &one), Readiness::Met);
        let maybe = [Some(State::Success), Some(State::Running)];
        assert_eq!(of(Kind::OnFailure, &maybe), Readiness::Waiting);
    }

    #[test]
    fn a_cancelled_or_skipped_parent_is_no_failure() {
        let ended = [Some(State::Cancelled), Some(State::Skipped), Some(State::Success)];
        assert!(matches!(of(Kind::OnFailure, &ended), Readiness::Never(_)));
    }

    #[test]
    fn after_any_is_met_by_every_end() {
        let ended = [State::Success, State::Dead, State::Cancelled, State::Skipped].map(Some);
        assert_eq!(of(Kind::AfterAny, &ended), Readiness::Met);
        assert_eq!(of(Kind::AfterAny, &[Some(State::Failed)]), Readiness::Waiting);
    }

    #[test]
    fn a_parent_that_does_not_exist_never_starts_an_after_child() {
        assert!(matches!(of(Kind::After, &[None]), Readiness::Never(_)));
        assert!(matches!(of(Kind::OnFailure, &[None]), Readiness::Never(_)));
        assert_eq!(of(Kind::AfterAny, &[None]), Readiness::Met);
    }

    #[test]
    fn all_kinds_must_be_met() {
        let edges =
            [seen(Kind::After, Some(State::Success)), seen(Kind::OnFailure, Some(State::Running))];
        assert_eq!(Readiness::of(&edges), Readiness::Waiting);
    }

    #[test]
    fn a_reason_names_the_parent_and_its_state() {
        let broken = seen(Kind::After, Some(State::Dead));
        assert_eq!(skip_reason(&broken), "needs job 7, which is dead");
        assert_eq!(cycle_text(&[JobId(3), JobId(5)]), "3 → 5 → 3");
    }
}
