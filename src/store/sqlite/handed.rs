//! Jobs that were handed to a runner: each is put in once, by the runner or by
//! the command that handed it, whoever comes first.

use rusqlite::{Connection, OptionalExtension, Transaction, named_params};

use super::{Fallible, Trouble, add};
use crate::job::Added;
use crate::store::{Error, Handed, Token};

/// What became of each: the job, or why it cannot be added.
pub(super) type Answers = Vec<Result<Added, Error>>;

/// Adds those that nobody has added, each by itself, and forgets those whose
/// command has its answer.
pub(super) fn add_handed(
    tx: &Transaction<'_>,
    handed: &[Handed],
    answered: &[Token],
) -> Fallible<Answers> {
    const FORGET: &str = "DELETE FROM ax_handed WHERE token = :token";
    for token in answered {
        tx.prepare_cached(FORGET)?.execute(named_params! { ":token": token.0 })?;
    }
    handed.iter().map(|handed| add_one(tx, handed)).collect()
}

fn add_one(tx: &Transaction<'_>, handed: &Handed) -> Fallible<Result<Added, Error>> {
    if let Some(added) = known(tx, handed.token)? {
        return Ok(Ok(added));
    }
    tx.prepare_cached("SAVEPOINT ax_one")?.execute([])?;
    let added = add::add(tx, std::slice::from_ref(&handed.job), handed.now).and_then(|added| {
        note(tx, handed, added[0])?;
        Ok(added[0])
    });
    let answer = match added {
        Ok(added) => Ok(added),
        Err(Trouble::Answer(refusal)) => {
            tx.prepare_cached("ROLLBACK TO ax_one")?.execute([])?;
            Err(refusal)
        }
        Err(trouble) => return Err(trouble),
    };
    tx.prepare_cached("RELEASE ax_one")?.execute([])?;
    Ok(answer)
}

fn known(tx: &Transaction<'_>, token: Token) -> Fallible<Option<Added>> {
    const KNOWN: &str = "SELECT job_id, new FROM ax_handed WHERE token = :token";
    let mut query = tx.prepare_cached(KNOWN)?;
    let added = |row: &rusqlite::Row<'_>| Ok(Added { id: row.get(0)?, new: row.get(1)? });
    Ok(query.query_row(named_params! { ":token": token.0 }, added).optional()?)
}

/// A runner that was struck out puts nothing in any more, and the command knows.
fn note(tx: &Transaction<'_>, handed: &Handed, added: Added) -> Fallible<()> {
    const NOTE: &str = "
        INSERT INTO ax_handed (token, runner, pid, job_id, new)
        SELECT :token, id, :pid, :job, :new FROM ax_runners WHERE id = :runner";
    tx.prepare_cached(NOTE)?.execute(named_params! {
        ":token": handed.token.0, ":pid": handed.pid, ":job": added.id, ":new": added.new, ":runner": handed.runner,
    })?;
    Ok(())
}

const LEFT: &str = "
    SELECT token, pid FROM ax_handed
    WHERE NOT EXISTS (SELECT 1 FROM ax_runners WHERE id = ax_handed.runner)";

/// What is known of jobs whose runner was struck out, and of which command.
pub(super) fn left(connection: &Connection) -> Fallible<Vec<(Token, i32)>> {
    let mut query = connection.prepare_cached(LEFT)?;
    let rows = query.query_map([], |row| Ok((Token(row.get(0)?), row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
