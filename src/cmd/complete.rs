//! `ax __complete`: what may stand at a place of a command line, for the
//! scripts of `ax completions`.
//!
//! Each line of the answer is a value and, after a tab, what it is; or `:files`,
//! `:dirs` or `:commands`, which the shell itself knows best. It is never an
//! error: whoever types is not to be disturbed. No database is made for it.

mod place;
mod values;

use clap::CommandFactory;

use super::{Answer, Context};
use crate::cli::{Cli, CompleteArgs};
use crate::config::Config;
use crate::data_dir;
use crate::exit;
use crate::store::{self, Hints};
use place::Line;
use values::Value;

pub(super) fn run(args: &CompleteArgs, context: &mut Context<'_>) -> Answer {
    let line = Line::read(&args.words, args.index);
    let mut ax = Cli::command();
    ax.build();
    let place = place::find(&ax, &line);
    let mut hints = || hints(&line);
    let values = values::at(&place, &ax, &mut hints);
    let text: String = values.iter().map(|value| shown(value, line.kept)).collect();
    // If nobody reads it, nobody needs it.
    let _ = context.out.write_all(text.as_bytes()).and_then(|()| context.out.flush());
    Answer::silent(exit::DONE)
}

/// A line of the answer, without what the shell takes for another word.
fn shown(value: &Value, kept: usize) -> String {
    let Some(text) = value.text.get(kept..) else { return String::new() };
    let what: String = value.what.chars().filter(|letter| !letter.is_control()).collect();
    if what.is_empty() { format!("{text}\n") } else { format!("{text}\t{what}\n") }
}

/// Names in the database that is meant; none if it cannot be asked.
fn hints(line: &Line) -> Hints {
    let given = line.option("--db").map(Into::into);
    let config = Config::load(&|name| std::env::var_os(name)).unwrap_or_default();
    let named = given.or_else(|| config.db().map(ToOwned::to_owned));
    let Some(db) = named.or_else(data_dir::default_database) else { return Hints::default() };
    let db = data_dir::real_path(&db);
    store::open_existing(&db).and_then(|mut store| store.hints()).unwrap_or_default()
}
