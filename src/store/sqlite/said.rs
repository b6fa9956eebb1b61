//! What is said of an attempt while it runs.

use rusqlite::{Transaction, named_params};

use super::Fallible;
use crate::job::{JobId, Timestamp};
use crate::store::{Error, Said};

const SNOOZE: &str = "
    UPDATE ax_jobs SET snoozed_until = :until, updated_at = :now
    WHERE id = :job AND attempts = :attempt AND status IN ('dispatched', 'running')";

const PROGRESS: &str = "
    UPDATE ax_jobs SET progress = :percent, progress_text = :text, updated_at = :now
    WHERE id = :job AND attempts = :attempt AND status IN ('dispatched', 'running')";

const STUCK: &str = "
    UPDATE ax_jobs SET reason = :why, updated_at = :now
    WHERE id = :job AND attempts = :attempt AND status IN ('dispatched', 'running')
        AND reason IS NULL";

/// Writes it down, if the attempt runs.
pub(super) fn say(
    tx: &Transaction<'_>,
    job: JobId,
    attempt: u32,
    said: &Said,
    now: Timestamp,
) -> Fallible<()> {
    let changed = match said {
        Said::Snooze(until) => tx.execute(
            SNOOZE,
            named_params! {
                ":until": until, ":now": now, ":job": job, ":attempt": attempt,
            },
        ),
        Said::Progress { percent, text } => tx.execute(
            PROGRESS,
            named_params! {
                ":percent": percent, ":text": text, ":now": now, ":job": job, ":attempt": attempt,
            },
        ),
        Said::Stuck(why) => tx.execute(
            STUCK,
            named_params! { ":why": why, ":now": now, ":job": job, ":attempt": attempt },
        ),
    }?;
    if changed == 0 { Err(Error::NotRunning { job, attempt }.into()) } else { Ok(()) }
}
