//! What the database says of itself.

use super::{Finding, Mending};
use crate::store::{Cure, Fault, FaultKind};

/// The findings that faults of the store are. `alive` says that a runner
/// lives: without one, nobody is to blame for what is overdue.
pub(super) fn findings(faults: Vec<Fault>, alive: bool) -> Vec<Finding> {
    let damaged = faults.iter().any(is_damage);
    faults
        .into_iter()
        .filter(|fault| alive || fault.kind != FaultKind::Overdue)
        .map(|fault| finding(fault, damaged))
        .collect()
}

fn is_damage(fault: &Fault) -> bool {
    fault.kind == FaultKind::Corrupt && matches!(fault.cure, Cure::Advice(_))
}

/// Nothing is written to a damaged file: what looks like a row too much may be
/// another that cannot be read.
fn finding(fault: Fault, damaged: bool) -> Finding {
    let (check, job, what) = (name(fault.kind), fault.job, fault.what.clone());
    match fault.cure.clone() {
        Cure::Repair(_) if damaged => Finding::new(check, what, "cure the damage first"),
        Cure::Repair(repair) => Finding::repairable(check, what, Mending::Store(fault, repair)),
        Cure::Advice(advice) => Finding::new(check, what, advice),
    }
    .of(job)
}

/// Tells whether other reading may fail because of this fault.
pub(super) fn hides_rows(fault: &Fault) -> bool {
    match fault.kind {
        FaultKind::Nonsense | FaultKind::Corrupt | FaultKind::Schema | FaultKind::ForeignKey => {
            true
        }
        FaultKind::MissingParent
        | FaultKind::MissingChild
        | FaultKind::SelfDependency
        | FaultKind::Cycle
        | FaultKind::NeverReady
        | FaultKind::StateDisagrees
        | FaultKind::Drifted
        | FaultKind::Overdue
        | FaultKind::AbsurdTime
        | FaultKind::Schedule
        | FaultKind::LargeLog => false,
    }
}

const fn name(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::MissingParent => "missing parent",
        FaultKind::MissingChild => "missing child",
        FaultKind::SelfDependency => "self-dependency",
        FaultKind::Cycle => "cycle",
        FaultKind::NeverReady => "never ready",
        FaultKind::StateDisagrees => "state",
        FaultKind::Drifted => "drift",
        FaultKind::Overdue => "overdue",
        FaultKind::AbsurdTime => "time",
        FaultKind::Schedule => "schedule",
        FaultKind::Nonsense => "nonsense",
        FaultKind::Corrupt => "damage",
        FaultKind::ForeignKey => "reference",
        FaultKind::Schema => "schema",
        FaultKind::LargeLog => "log size",
    }
}
