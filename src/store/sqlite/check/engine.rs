//! What `SQLite` itself can tell: the structure of the file, references between
//! tables, the schema, and the size of the write-ahead log.

use std::fs;

use rusqlite::{Connection, OptionalExtension, Result, Row, named_params};

use super::{Help, Question, by_hand, file};
use crate::job::{JobId, Timestamp};
use crate::store::sqlite::schema;
use crate::store::{Cure, Fault, FaultKind, Repair};

/// How large the log may grow, in bytes. It is emptied at about 4 MiB, unless
/// somebody reads all the time.
const LARGE: u64 = 64 * 1024 * 1024;

/// How many complaints about the structure are worth reading.
const COMPLAINTS: u32 = 20;

/// The pages, the indexes and the schema.
pub(super) fn structure(connection: &Connection, _now: Timestamp) -> Result<Vec<Fault>> {
    let mut faults = objects(connection)?;
    let sql = format!("PRAGMA integrity_check({COMPLAINTS})");
    let mut query = connection.prepare(&sql)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let complaint: String = row.get(0)?;
        // A broken rule of the schema is told of with its job and value.
        let is_value = complaint.contains("constraint failed") || complaint.contains(" value in ");
        if complaint != "ok" && !is_value {
            faults.extend(complaint.lines().filter_map(|line| damage(connection, line)));
        }
    }
    Ok(faults)
}

fn damage(connection: &Connection, complaint: &str) -> Option<Fault> {
    // The name of the database, before what is wrong with it.
    if complaint.starts_with("*** in database") {
        return None;
    }
    let is_index = complaint.contains("missing from index")
        || complaint.contains("wrong # of entries in index")
        || complaint.contains("non-unique entry in index");
    let cure = if is_index { Cure::Repair(Repair::Reindex) } else { restore(connection) };
    let part = if is_index { "an index of the file" } else { "the file" };
    let what = format!("{part} is damaged (`{complaint}`)");
    Some(Fault { kind: FaultKind::Corrupt, job: None, what, cure })
}

/// How to save what can be saved.
pub(super) fn restore(connection: &Connection) -> Cure {
    let file = file(connection);
    Cure::Advice(format!(
        "stop the runners and take a back-up, or what can be read: \
         `sqlite3 {file} .recover | sqlite3 {file}.new`, then put that in its place"
    ))
}

/// An index, a view or a trigger.
struct Object {
    kind: String,
    name: String,
    sql: String,
}

/// Indexes, views and triggers that are not what the migrations make. Without its
/// triggers a database hides from runners what people write into it.
fn objects(connection: &Connection) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for object in wanted()? {
        if object.is_in(connection)? {
            continue;
        }
        let Object { name, kind, .. } = &object;
        let (what, cure) = match object.namesake(connection)? {
            None => ("is missing or was changed".to_owned(), Cure::Repair(Repair::RestoreSchema)),
            Some(other) => {
                let drop = by_hand(connection, &format!("DROP {} {name}", other.to_uppercase()));
                let advice =
                    format!("{drop}, once nothing in it is needed, then `ax doctor --fix`");
                (format!("is a {kind}, and here a {other} has its name"), Cure::Advice(advice))
            }
        };
        let what = format!("{name} of the schema {what}");
        faults.push(Fault { kind: FaultKind::Schema, job: None, what, cure });
    }
    Ok(faults)
}

/// What the migrations make, in an order in which it can be made.
fn wanted() -> Result<Vec<Object>> {
    const DEFINITIONS: &str = "
        SELECT type, name, sql FROM sqlite_schema
        WHERE type IN ('index', 'view', 'trigger') AND sql IS NOT NULL
            AND name LIKE 'ax!_%' ESCAPE '!'
        ORDER BY type = 'trigger', name";
    let mut fresh = Connection::open_in_memory()?;
    schema::migrate(&mut fresh)?;
    let mut query = fresh.prepare(DEFINITIONS)?;
    let object = |row: &Row<'_>| {
        Ok(Object { kind: row.get("type")?, name: row.get("name")?, sql: row.get("sql")? })
    };
    query.query_map([], object)?.collect()
}

impl Object {
    fn is_in(&self, connection: &Connection) -> Result<bool> {
        const IS_THERE: &str =
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = :name AND sql = :sql)";
        let mut query = connection.prepare_cached(IS_THERE)?;
        query.query_row(named_params! { ":name": self.name, ":sql": self.sql }, |row| row.get(0))
    }

    /// What else has its name: another kind of thing, which is not ours to remove.
    fn namesake(&self, connection: &Connection) -> Result<Option<String>> {
        const OTHER: &str = "SELECT type FROM sqlite_schema WHERE name = :name AND type <> :kind";
        let mut query = connection.prepare_cached(OTHER)?;
        let place = named_params! { ":name": self.name, ":kind": self.kind };
        query.query_row(place, |row| row.get(0)).optional()
    }
}

/// Makes the indexes, views and triggers of the schema anew where they differ. A
/// view that is made anew has lost its triggers.
pub(super) fn restore_schema(connection: &Connection) -> Result<()> {
    let wanted = wanted()?;
    for object in &wanted {
        if object.namesake(connection)?.is_some() {
            // What is made of it cannot be made either.
            return Ok(());
        }
    }
    for object in &wanted {
        if !object.is_in(connection)? {
            let Object { kind, name, sql } = object;
            connection.execute_batch(&format!("DROP {kind} IF EXISTS {name}; {sql}"))?;
        }
    }
    Ok(())
}

/// References to rows that are gone. Those of dependencies have faults of
/// their own.
pub(super) fn references(connection: &Connection, _now: Timestamp) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for question in &QUESTIONS {
        question.ask(connection, &mut faults)?;
    }
    other_references(connection, &mut faults)?;
    Ok(faults)
}

const QUESTIONS: [Question; 2] = [
    Question {
        kind: FaultKind::ForeignKey,
        sql: "
            SELECT DISTINCT job_id, 'does not exist, and yet has a history'
            FROM ax_attempts
            WHERE job_id NOT IN (SELECT id FROM ax_jobs)",
        help: Help::Repair(Repair::ForgetHistory),
    },
    Question {
        kind: FaultKind::ForeignKey,
        sql: "
            SELECT DISTINCT job_id, 'has output of an attempt that does not exist'
            FROM ax_outputs AS output
            WHERE NOT EXISTS (
                SELECT 1 FROM ax_attempts AS attempt
                WHERE attempt.job_id = output.job_id AND attempt.attempt = output.attempt)",
        help: Help::Repair(Repair::ForgetOutput),
    },
];

fn other_references(connection: &Connection, faults: &mut Vec<Fault>) -> Result<()> {
    const OTHERS: &str = "
        SELECT \"table\", rowid, parent FROM pragma_foreign_key_check
        WHERE \"table\" NOT IN ('ax_deps', 'ax_attempts', 'ax_outputs')";
    let mut query = connection.prepare(OTHERS)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (table, id): (String, Option<JobId>) = (row.get(0)?, row.get(1)?);
        let parent: String = row.get(2)?;
        let job = id.filter(|_| table == "ax_jobs");
        faults.push(match job {
            Some(job) => job_reference(connection, job, &parent),
            None => Fault {
                kind: FaultKind::ForeignKey,
                job: None,
                what: format!("{table} refers to a row of {parent} that does not exist"),
                cure: Cure::Advice(by_hand(connection, "PRAGMA foreign_key_check") + " shows it"),
            },
        });
    }
    Ok(())
}

fn job_reference(connection: &Connection, job: JobId, parent: &str) -> Fault {
    let (column, what) = match parent {
        "ax_envs" => ("env_id", "the environment it was added with is gone"),
        _ => ("flow_run", "the run of a flow it belongs to is gone"),
    };
    let sql = format!("UPDATE ax_jobs SET {column} = NULL WHERE id = {job}");
    Fault {
        kind: FaultKind::ForeignKey,
        job: Some(job),
        what: format!("job {job}: {what}"),
        cure: Cure::Advice(format!("{} lets it do without", by_hand(connection, &sql))),
    }
}

/// The write-ahead log, if it has grown large.
pub(super) fn log(connection: &Connection) -> Option<Fault> {
    let path = format!("{}-wal", connection.path().unwrap_or_default());
    let size = fs::metadata(&path).ok()?.len();
    (size > LARGE).then(|| Fault {
        kind: FaultKind::LargeLog,
        job: None,
        what: format!("{path} has grown large; somebody has been reading the database for long"),
        cure: Cure::Repair(Repair::Checkpoint),
    })
}

/// Writes the log back and empties it; tells whether nobody was in the way.
/// Must stand outside of transactions.
pub(in crate::store::sqlite) fn checkpoint(connection: &Connection) -> Result<bool> {
    let busy: i64 =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    Ok(busy == 0)
}
