//! `ax overdue`: what is due and has not been started; exit 1 if there is something.
//!
//! It reads the file alone, so it tells of a runner that is not there.

use super::list::point;
use super::{Answer, Context, alive};
use crate::cli::{Format, OverdueArgs};
use crate::exit;
use crate::failure::Failure;
use crate::output::overdue::{Late, LateJobs};
use crate::store::{self, Error, Overdue};
use crate::when::Past;

/// How many are shown where nobody says how many.
const SHOWN: usize = 20;

pub(super) fn run(args: OverdueArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    if !context.db.exists() {
        let what = format!("there is no database {}", context.db.display());
        return Err(Failure::store(what).hint("`ax add` makes it; --db or AX_DB names another"));
    }
    let mut store = store::open_existing(&context.db)?;
    let now = context.now();
    let moment = alive::moment(store.as_mut(), &context.data_dir(), now)?;
    let overdue = store.overdue(point(Past::Ago(args.grace), now))?;
    let machine = !matches!(args.show.wanted(), None | Some(Format::Table));
    let shown = args.limit.unwrap_or(if machine { usize::MAX } else { SHOWN });
    let look = |overdue: &Overdue| {
        let job = store.get(overdue.job)?.ok_or(Error::NoSuchJob(overdue.job))?;
        Ok(Late { job, since: overdue.since })
    };
    let late = overdue.iter().take(shown).map(look).collect::<Result<Vec<_>, Failure>>()?;
    let more = overdue.len() - late.len();
    let exit = if overdue.is_empty() { exit::DONE } else { exit::FAILED };
    Ok(Answer::new(LateJobs { late, more, moment }, args.show).exit(exit))
}
