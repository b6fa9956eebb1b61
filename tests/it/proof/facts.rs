//! What the database says.

use rusqlite::{Connection, Row};

/// A job.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) id: i64,
    pub(super) state: String,
    pub(super) reason: Option<String>,
    pub(super) max_retries: u32,
    pub(super) losses: u32,
    pub(super) attempts: u32,
    pub(super) on_lost: String,
}

impl Job {
    pub(super) fn is_final(&self) -> bool {
        ["success", "dead", "cancelled", "skipped"].contains(&self.state.as_str())
    }
}

/// A dependency.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) child: i64,
    pub(super) parent: i64,
    pub(super) kind: String,
}

/// An attempt.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) job: i64,
    pub(super) number: u32,
    pub(super) owner: i64,
    pub(super) outcome: Option<String>,
    pub(super) exit_code: Option<i32>,
    #[expect(dead_code, reason = "whoever reads a failure wants to see it")]
    pub(super) reason: Option<String>,
}

pub(super) fn jobs(connection: &Connection) -> Vec<Job> {
    const JOBS: &str = "
        SELECT id, status, reason, max_retries, loss_count, attempts, on_lost FROM ax_jobs
        ORDER BY id";
    all(connection, JOBS, |row| {
        Ok(Job {
            id: row.get(0)?,
            state: row.get(1)?,
            reason: row.get(2)?,
            max_retries: row.get(3)?,
            losses: row.get(4)?,
            attempts: row.get(5)?,
            on_lost: row.get(6)?,
        })
    })
}

pub(super) fn edges(connection: &Connection) -> Vec<Edge> {
    const EDGES: &str = "SELECT job_id, depends_on, kind FROM ax_deps ORDER BY job_id, depends_on";
    all(connection, EDGES, |row| {
        Ok(Edge { child: row.get(0)?, parent: row.get(1)?, kind: row.get(2)? })
    })
}

pub(super) fn attempts(connection: &Connection) -> Vec<Attempt> {
    const ATTEMPTS: &str = "
        SELECT job_id, attempt, owner, outcome, exit_code, reason FROM ax_attempts
        ORDER BY job_id, attempt";
    all(connection, ATTEMPTS, |row| {
        Ok(Attempt {
            job: row.get(0)?,
            number: row.get(1)?,
            owner: row.get(2)?,
            outcome: row.get(3)?,
            exit_code: row.get(4)?,
            reason: row.get(5)?,
        })
    })
}

/// What SQLite finds wrong with the file, and rows that refer to nothing.
pub(super) fn damage(connection: &Connection) -> Vec<String> {
    let mut found: Vec<String> =
        all(connection, "PRAGMA integrity_check", |row| row.get::<_, String>(0));
    found.retain(|line| line != "ok");
    found.extend(all(connection, "PRAGMA foreign_key_check", |row| {
        Ok(format!("a row of {} refers to nothing", row.get::<_, String>(0)?))
    }));
    found
}

fn all<T>(
    connection: &Connection,
    query: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    let mut query = connection.prepare(query).expect("a query");
    let rows = query.query_map([], read).expect("it runs");
    rows.collect::<rusqlite::Result<_>>().expect("rows that make sense")
}
