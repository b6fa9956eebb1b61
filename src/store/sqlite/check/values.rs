//! Values that no `ax` writes.
//!
//! Whoever writes with `PRAGMA ignore_check_constraints` gets past the rules
//! of the schema, and some rules cannot be said there. A row with such a value
//! may be unreadable for every other command.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result, Row};

use super::by_hand;
use crate::job::{Command, JobId, Kind, OnLost, State, Timestamp};
use crate::store::{Cure, Fault, FaultKind};

/// A column, when its value is nonsense, and what it must be.
type Rule = (&'static str, String, &'static str);

pub(super) fn faults(connection: &Connection, _now: Timestamp) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    of_jobs(connection, &mut faults)?;
    of_rows(connection, "ax_attempts", "an attempt", &attempt_rules(), &mut faults)?;
    of_rows(connection, "ax_hooks", "a hook", &hook_rules(), &mut faults)?;
    of_edges(connection, &mut faults)?;
    texts(connection, &mut faults)?;
    Ok(faults)
}

fn job_rules() -> Vec<Rule> {
    let count =
        |column| (column, format!("{column} NOT BETWEEN 0 AND 4294967295"), "a small count");
    let wait = |column| (column, format!("{column} < 0"), "0 or more milliseconds");
    let text = |column| (column, format!("{column} = ''"), "some text or NULL");
    let bytes = "typeof(cwd) NOT IN ('text', 'blob', 'null')".to_owned();
    vec![
        ("status", not_in("status", State::ALL.map(State::as_str)), "a state that ax knows"),
        ("on_lost", not_in("on_lost", OnLost::ALL.map(OnLost::as_str)), "requeue, hold or fail"),
        ("shell", "shell NOT IN (0, 1)".to_owned(), "0 or 1"),
        ("timeout", "timeout <= 0".to_owned(), "more than 0 milliseconds, or NULL for no limit"),
        ("retry_backoff", "retry_backoff < 1.0".to_owned(), "1.0 or more"),
        ("umask", "umask NOT BETWEEN 0 AND 511".to_owned(), "between 0 and 511 (octal 777)"),
        ("cwd", bytes, "a directory or NULL"),
        wait("kill_after"),
        wait("retry_delay"),
        wait("retry_max_delay"),
        count("max_retries"),
        count("retry_count"),
        count("loss_count"),
        count("attempts"),
        ("exit_code", outside_i32("exit_code"), "an exit code"),
        ("signal", outside_i32("signal"), "the number of a signal"),
        ("on_end_timeout", "on_end_timeout <= 0".to_owned(), "more than 0 milliseconds or NULL"),
        ("on_end", "on_end = ''".to_owned(), "shell text or NULL"),
        text("name"),
        text("key"),
    ]
}

fn attempt_rules() -> Vec<Rule> {
    vec![
        ("attempt", "attempt NOT BETWEEN 1 AND 4294967295".to_owned(), "a count from 1"),
        ("pid", outside_i32("pid"), "the number of a process"),
        ("exit_code", outside_i32("exit_code"), "an exit code"),
        ("signal", outside_i32("signal"), "the number of a signal"),
        ("start_time", "start_time < 0".to_owned(), "0 or more"),
        ("output_bytes", "output_bytes < 0".to_owned(), "0 or more"),
        ("output_in_file", "output_in_file NOT IN (0, 1)".to_owned(), "0 or 1"),
    ]
}

fn hook_rules() -> Vec<Rule> {
    let begun = "started_at IS NOT NULL AND owner IS NULL".to_owned();
    let ended = "ended_at IS NOT NULL AND (started_at IS NULL OR outcome IS NULL)".to_owned();
    vec![
        ("status", not_in("status", State::ALL.map(State::as_str)), "a state that ax knows"),
        ("attempt", "attempt NOT BETWEEN 0 AND 4294967295".to_owned(), "a count"),
        ("timeout", "timeout <= 0".to_owned(), "more than 0 milliseconds"),
        ("exit_code", outside_i32("exit_code"), "an exit code"),
        ("signal", outside_i32("signal"), "the number of a signal"),
        ("started_at", begun, "NULL as long as no runner has taken the hook"),
        ("ended_at", ended, "NULL as long as the hook was not begun, or has no outcome"),
    ]
}

fn not_in<const N: usize>(column: &str, known: [&str; N]) -> String {
    format!("{column} NOT IN ('{}')", known.join("', '"))
}

fn outside_i32(column: &str) -> String {
    format!("{column} NOT BETWEEN {} AND {}", i32::MIN, i32::MAX)
}

/// One reading of `table` that finds the first broken rule of each row: the
/// number of the rule and the value.
fn search(table: &str, id: &str, rules: &[Rule]) -> String {
    let branches = |what: fn(usize, &Rule) -> String| -> String {
        let branch = |(n, rule): (usize, &Rule)| format!(" WHEN {} THEN {}", rule.1, what(n, rule));
        rules.iter().enumerate().map(branch).collect::<Vec<_>>().concat()
    };
    let numbers = branches(|n, _| n.to_string());
    let values = branches(|_, rule| format!("quote({})", rule.0));
    format!(
        "SELECT {id}, CASE{numbers} END AS rule, CASE{values} END
        FROM {table} WHERE rule IS NOT NULL ORDER BY {id}"
    )
}

fn of_jobs(connection: &Connection, faults: &mut Vec<Fault>) -> Result<()> {
    let rules = job_rules();
    let mut query = connection.prepare(&search("ax_jobs", "id", &rules))?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let job: JobId = row.get(0)?;
        let (column, _, must) = &rules[row.get::<_, usize>(1)?];
        let what = format!("{column} of job {job} is {}; it must be {must}", shown(row, 2)?);
        faults.push(nonsense(job, what, set(connection, "ax_jobs", column, "id", job)));
    }
    Ok(())
}

/// Rows that belong to jobs, each of them `an attempt`.
fn of_rows(
    connection: &Connection,
    table: &str,
    each: &str,
    rules: &[Rule],
    faults: &mut Vec<Fault>,
) -> Result<()> {
    let mut query = connection.prepare(&search(table, "job_id", rules))?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let job: JobId = row.get(0)?;
        let (column, _, must) = &rules[row.get::<_, usize>(1)?];
        let value = shown(row, 2)?;
        let what = format!("{column} of {each} of job {job} is {value}; it must be {must}");
        faults.push(nonsense(job, what, set(connection, table, column, "job_id", job)));
    }
    Ok(())
}

fn of_edges(connection: &Connection, faults: &mut Vec<Fault>) -> Result<()> {
    let sql = format!(
        "SELECT job_id, depends_on, quote(kind) FROM ax_deps WHERE {}",
        not_in("kind", Kind::ALL.map(Kind::as_str))
    );
    let mut query = connection.prepare(&sql)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let (job, parent): (JobId, JobId) = (row.get(0)?, row.get(1)?);
        let kind = shown(row, 2)?;
        let what = format!(
            "job {job} waits for job {parent} in a way that nobody knows, {kind}; it must be \
             after, on_failure or after_any"
        );
        faults.push(nonsense(job, what, set(connection, "ax_deps", "kind", "job_id", job)));
    }
    Ok(())
}

const TEXTS: [&str; 7] = ["name", "key", "reason", "last_error", "flow", "status", "on_lost"];

/// What cannot be asked in SQL: whether texts are UTF-8, and whether commands
/// can be run.
fn texts(connection: &Connection, faults: &mut Vec<Fault>) -> Result<()> {
    let sql = format!("SELECT id, shell, command, {} FROM ax_jobs ORDER BY id", TEXTS.join(", "));
    let mut query = connection.prepare(&sql)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let job: JobId = row.get(0)?;
        for (column, index) in TEXTS.iter().zip(3..) {
            if matches!(row.get_ref(index)?, ValueRef::Text(text) if str::from_utf8(text).is_err())
            {
                let what = format!("{column} of job {job} is not UTF-8");
                faults.push(nonsense(job, what, set(connection, "ax_jobs", column, "id", job)));
            }
        }
        if let Err(why) = command(row) {
            let what = format!("job {job} cannot be run: {why}");
            faults.push(nonsense(job, what, set(connection, "ax_jobs", "command", "id", job)));
        }
    }
    Ok(())
}

fn command(row: &Row<'_>) -> Result<(), String> {
    let bytes = match row.get_ref(2) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.to_vec(),
        Ok(ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_)) | Err(_) => {
            return Err("its command is no text".to_owned());
        }
    };
    let shell = row.get_ref(1).ok().and_then(|shell| shell.as_i64().ok()) != Some(0);
    match Command::from_bytes(bytes, shell) {
        Some(command) => command.check(),
        None => Err("its command cannot be split into words".to_owned()),
    }
}

/// A value as SQL, on one line and not too long.
fn shown(row: &Row<'_>, index: usize) -> Result<String> {
    const LONGEST: usize = 40;
    let value = String::from_utf8_lossy(row.get_ref(index)?.as_bytes()?).into_owned();
    let mut text: String = value.chars().take(LONGEST).flat_map(escape).collect();
    if value.chars().nth(LONGEST).is_some() {
        text.push('…');
    }
    Ok(text)
}

fn escape(letter: char) -> Vec<char> {
    if letter.is_control() { letter.escape_default().collect() } else { vec![letter] }
}

fn set(connection: &Connection, table: &str, column: &str, id: &str, job: JobId) -> Cure {
    let sql = format!("UPDATE {table} SET {column} = … WHERE {id} = {job}");
    Cure::Advice(format!("{} sets it", by_hand(connection, &sql)))
}

fn nonsense(job: JobId, what: String, cure: Cure) -> Fault {
    Fault { kind: FaultKind::Nonsense, job: Some(job), what, cure }
}
