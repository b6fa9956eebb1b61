//! `ax show`: everything about jobs, and why they are not running.

use std::io::Read;

use super::printed::{self, Unopened};
use super::{Answer, Context, alive, deps, select};
use crate::cli::ShowArgs;
use crate::data_dir::DataDir;
use crate::failure::{Failure, reason};
use crate::job::{Attempt, JobId};
use crate::output::show::{NEIGHBOURS, Shown, ShownJobs};
use crate::store::{Error, Selector, Store};

/// Lines of output that are shown.
const LINES: usize = 10;
/// The most of them in bytes: a line may be a gigabyte long.
const MOST: u64 = 16 * 1024;

pub(super) fn run(args: ShowArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let selectors = select::parse(&args.selectors)?;
    let one = names_one(&selectors);
    let mut store = context.store()?;
    let store = store.as_mut();
    let dir = context.data_dir();
    let moment = alive::moment(store, &dir, context.now())?;
    let mut shown = Vec::new();
    for id in select::ids(store, &selectors)? {
        shown.push(look_at(store, &dir, id, args.env)?);
    }
    Ok(Answer::new(ShownJobs { shown, one, moment }, args.show))
}

/// Tells whether the selectors can name one job only.
fn names_one(selectors: &[Selector]) -> bool {
    match selectors {
        [Selector::Ids(first, last)] => first == last,
        [Selector::Last] => true,
        _ => false,
    }
}

fn look_at(store: &mut dyn Store, dir: &DataDir, id: JobId, env: bool) -> Result<Shown, Failure> {
    let job = store.get(id)?.ok_or(Error::NoSuchJob(id))?;
    let history = store.attempts(id)?;
    let output = last_lines(store, dir, id, &history)?;
    let environment = if env { store.environment(id)? } else { None };
    let children = store.children(id)?;
    let parents = job.dependencies.iter().map(|edge| edge.seen.edge.parent).take(NEIGHBOURS);
    let below = children.iter().map(|child| child.job).take(NEIGHBOURS);
    let nodes = deps::nodes(store, parents.chain(below))?;
    let hooks = store.hooks(id)?;
    Ok(Shown { job, environment, history, children, nodes, output, hooks })
}

/// The last lines of the last attempt. Output that cannot be read hides
/// nothing else about the job.
fn last_lines(
    store: &mut dyn Store,
    dir: &DataDir,
    id: JobId,
    history: &[Attempt],
) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let Some(last) = history.last() else { return Ok(bytes) };
    let read = match printed::read_output(store, dir, id, last.attempt) {
        Ok(None) => Ok(()),
        Ok(Some(mut output)) => output
            .skip_to_last_lines(LINES)
            .and_then(|()| output.skip_to_last_bytes(MOST))
            .and_then(|()| output.take(MOST).read_to_end(&mut bytes).map(drop)),
        Err(Unopened::File(_, error)) => Err(error),
        Err(Unopened::Store(error)) => return Err(error.into()),
    };
    if let Err(error) = read {
        bytes.extend_from_slice(format!("(cannot be read: {})", reason(&error)).as_bytes());
    }
    Ok(bytes)
}
