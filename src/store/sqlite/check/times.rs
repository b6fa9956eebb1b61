//! Times that cannot be meant.

use std::time::Duration;

use rusqlite::{Connection, Result, named_params};

use super::by_hand;
use crate::job::{JobId, Timestamp};
use crate::store::{Cure, Fault, FaultKind};

/// 2020-01-01, before the first `ax`.
const EARLIEST: Timestamp = Timestamp::from_millis(1_577_836_800_000);

/// Ten years.
const FAR: Duration = Duration::from_hours(87840);

/// What was written down must lie between the first `ax` and ten years from
/// now; what is planned may lie anywhere before the year 10000.
const ABSURD: &str = "
    SELECT id,
        CASE
            WHEN created_at NOT BETWEEN :earliest AND :latest THEN 'created_at'
            WHEN updated_at NOT BETWEEN :earliest AND :latest THEN 'updated_at'
            WHEN runs_at NOT BETWEEN :earliest AND :latest THEN 'runs_at'
            WHEN finished_at NOT BETWEEN :earliest AND :latest THEN 'finished_at'
            WHEN scheduled_at > :end THEN 'scheduled_at'
        END AS field
    FROM ax_jobs
    WHERE field IS NOT NULL
    ORDER BY id";

pub(super) fn faults(connection: &Connection, now: Timestamp) -> Result<Vec<Fault>> {
    if now < EARLIEST {
        return Ok(vec![wrong_clock()]);
    }
    let mut query = connection.prepare(ABSURD)?;
    let bounds = named_params! {
        ":earliest": EARLIEST, ":latest": now.plus(FAR), ":end": Timestamp::MAX,
    };
    let rows = query.query_map(bounds, |row| {
        let (job, field): (JobId, String) = (row.get(0)?, row.get(1)?);
        let sql = format!("UPDATE ax_jobs SET {field} = unixepoch() * 1000 WHERE id = {job}");
        Ok(Fault {
            kind: FaultKind::AbsurdTime,
            job: Some(job),
            what: format!("{field} of job {job} lies in the far future or past"),
            cure: Cure::Advice(format!("{} sets it to now", by_hand(connection, &sql))),
        })
    })?;
    rows.collect()
}

/// All times would look absurd, and the clock is what is wrong.
fn wrong_clock() -> Fault {
    Fault {
        kind: FaultKind::AbsurdTime,
        job: None,
        what: "the clock of this machine is years behind".to_owned(),
        cure: Cure::Advice("set the clock with `timedatectl set-ntp true`".to_owned()),
    }
}
