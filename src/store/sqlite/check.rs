//! What is wrong inside the database, and the repairs that are right.
//!
//! [`check`] only reads. Each kind of fault has a file; all questions are
//! asked of whole tables at once, so that a million jobs are checked in
//! seconds. It accuses no job that a turn would put right by itself: what
//! stands in `ax_judge` is merely not judged yet. A damaged file is read as
//! far as possible.
//!
//! [`mend()`] follows one rule: dependencies of a job that has started decide
//! nothing any more and may be deleted; those of a job that waits or was
//! skipped are a person's word, also where they are nonsense. To drop them
//! would start a job that was meant to wait.

mod counts;
mod cycles;
mod edges;
mod engine;
mod mend;
mod schedules;
mod times;
mod values;

use rusqlite::{Connection, ErrorCode, Result, named_params};

pub(super) use self::engine::checkpoint;
pub(super) use self::mend::mend;
use crate::job::{JobId, Timestamp};
use crate::store::{Cure, Fault, FaultKind, Repair};

/// Looks for everything that is wrong; the connection should hold one snapshot.
pub(super) fn check(connection: &Connection, now: Timestamp) -> Result<Vec<Fault>> {
    type Check = fn(&Connection, Timestamp) -> Result<Vec<Fault>>;
    let checks: [(&str, Check); 7] = [
        ("the structure of the file", engine::structure),
        ("the references between the tables", engine::references),
        ("the values of the jobs", values::faults),
        ("the dependencies", edges::faults),
        ("the attempts and counts", counts::faults),
        ("the times", times::faults),
        ("the schedules", schedules::faults),
    ];
    let mut faults: Vec<_> = engine::log(connection).into_iter().collect();
    for (part, check) in checks {
        match check(connection, now) {
            Ok(found) => faults.extend(found),
            Err(error) if is_damage(&error) => faults.push(unreadable(connection, part)),
            Err(error) => return Err(error),
        }
    }
    Ok(faults)
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SystemIoFailure)
    )
}

fn unreadable(connection: &Connection, part: &str) -> Fault {
    let what = format!("the file is damaged: {part} cannot be read to the end");
    Fault { kind: FaultKind::Corrupt, job: None, what, cure: engine::restore(connection) }
}

/// A question that is asked of a whole table: each row of the answer is a job
/// and the rest of a sentence that begins with its number, and perhaps the
/// other job of that sentence.
struct Question {
    kind: FaultKind,
    sql: &'static str,
    help: Help,
}

/// What helps whoever a question finds; `{job}` and `{other}` stand for those.
#[derive(Clone, Copy)]
enum Help {
    Repair(Repair),
    Advice(&'static str),
}

impl Help {
    fn cure(self, job: JobId, other: Option<JobId>) -> Cure {
        match self {
            Self::Repair(repair) => Cure::Repair(repair),
            Self::Advice(text) => {
                let other = other.map_or_else(String::new, |other| other.to_string());
                Cure::Advice(text.replace("{job}", &job.to_string()).replace("{other}", &other))
            }
        }
    }
}

impl Question {
    fn ask(&self, connection: &Connection, faults: &mut Vec<Fault>) -> Result<()> {
        let mut query = connection.prepare(self.sql)?;
        let has_other = query.column_count() > 2;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let job: JobId = row.get(0)?;
            let other = if has_other { row.get(2)? } else { None };
            let what = format!("job {job} {}", row.get::<_, String>(1)?);
            let cure = self.help.cure(job, other);
            faults.push(Fault { kind: self.kind, job: Some(job), what, cure });
        }
        Ok(())
    }
}

/// The name of the database file, quoted for a shell.
fn file(connection: &Connection) -> String {
    let path = connection.path().unwrap_or_default();
    shlex::try_quote(path).map_or_else(|_| path.to_owned(), std::borrow::Cow::into_owned)
}

/// A command that changes the database by hand.
fn by_hand(connection: &Connection, sql: &str) -> String {
    format!("`sqlite3 {} \"{sql}\"`", file(connection))
}

/// Tells whether a table has a row for this job.
fn exists(connection: &Connection, job: JobId) -> Result<bool> {
    let mut query =
        connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM ax_jobs WHERE id = :job)")?;
    query.query_row(named_params! { ":job": job }, |row| row.get(0))
}

#[cfg(test)]
pub(super) mod tests;
