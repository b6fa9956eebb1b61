//! `ax group`: how many jobs of a group run at once, and whether it is paused.

use super::{Answer, Context};
use crate::cli::{GroupArgs, GroupChange};
use crate::failure::Failure;
use crate::job::limits;
use crate::output::groups::Groups;
use crate::store::Store;

pub(super) fn run(args: GroupArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let mut store = context.store()?;
    let store = store.as_mut();
    let (name, show) = match args.change {
        GroupChange::List { show } => {
            return Ok(Answer::new(Groups { groups: store.groups()? }, show));
        }
        GroupChange::Set { name, parallel, show } => {
            limits::label("group", &name).map_err(Failure::usage)?;
            store.set_group(&name, parallel.0)?;
            (name, show)
        }
        GroupChange::Pause { name, show } => {
            refuse_unknown(store, &name)?;
            store.pause_group(&name, true)?;
            (name, show)
        }
        GroupChange::Resume { name, show } => {
            refuse_unknown(store, &name)?;
            store.pause_group(&name, false)?;
            (name, show)
        }
    };
    context.wake_runners();
    let groups = store.group(&name)?.into_iter().collect();
    Ok(Answer::new(Groups { groups }, show))
}

/// A group that nobody has heard of is most likely a typing error.
fn refuse_unknown(store: &mut dyn Store, name: &str) -> Result<(), Failure> {
    if store.has_group(name)? {
        return Ok(());
    }
    let shown = name.escape_debug();
    Err(Failure::not_found(format!("there is no group `{shown}` with unfinished jobs or a limit"))
        .hint("`ax group list` shows those there are; `ax group set` makes one"))
}
