//! Faults of schedules.

use rusqlite::{Connection, Result};

use crate::job::{Schedule, Timestamp};
use crate::store::sqlite::schedule::{self, Stored};
use crate::store::{Cure, Fault, FaultKind};

pub(super) fn faults(connection: &Connection, now: Timestamp) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for stored in schedule::read_all(connection)? {
        faults.extend(fault(connection, &stored, now)?);
    }
    Ok(faults)
}

fn fault(connection: &Connection, stored: &Stored, now: Timestamp) -> Result<Option<Fault>> {
    let Schedule { name, recurrence, .. } = &stored.schedule;
    let shown = name.escape_debug();
    let quoted = shlex::try_quote(name).unwrap_or_default();
    let anew = format!(
        "`ax schedule pause {quoted}` and then `ax schedule resume {quoted}` put the next start in \
         anew"
    );
    let (what, cure) = match (recurrence, stored.standing) {
        (Err(why), _) => (
            format!("the schedule `{shown}` cannot be read: {why}"),
            format!(
                "`ax schedule remove {quoted}` forgets it; `ax schedule add --replace` makes it anew"
            ),
        ),
        (Ok(_), None) => return Ok(None),
        (Ok(_), Some((_, run))) if schedule::run_jobs(connection, run)?.is_empty() => {
            (format!("the next start of the schedule `{shown}` has no job"), anew)
        }
        (Ok(recurrence), Some((due, run))) => {
            let next = schedule::next_free(connection, name, recurrence, run, now)?;
            if next.is_none_or(|next| due <= next) {
                return Ok(None);
            }
            (format!("the next start of the schedule `{shown}` stands later than it comes"), anew)
        }
    };
    Ok(Some(Fault { kind: FaultKind::Schedule, job: None, what, cure: Cure::Advice(cure) }))
}
