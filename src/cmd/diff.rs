//! `ax diff`: an attempt that went well beside one that did not.

mod attempts;
mod lines;

use super::printed::read_output;
use super::{Answer, Context, select};
use crate::cli::DiffArgs;
use crate::data_dir::DataDir;
use crate::failure::Failure;
use crate::output::diff::{Compared, Outputs, Side};
use crate::store::Store;

use attempts::Pair;

pub(super) fn run(args: DiffArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let mut store = context.store()?;
    let store = store.as_mut();
    let pair = match &args.other {
        Some(other) => {
            Pair { one: attempts::last(store, &args.what)?, other: attempts::last(store, other)? }
        }
        None => attempts::good_and_bad(store, &args.what)?,
    };
    let titles = if args.other.is_some() { ["first", "second"] } else { ["good", "bad"] };
    let outputs = compare(store, &context.data_dir(), &pair, &args)?;
    let Pair { one, other } = pair;
    Ok(Answer::new(Compared { titles, one, other, outputs }, args.show))
}

/// Compares what two attempts printed.
fn compare(
    store: &mut dyn Store,
    dir: &DataDir,
    pair: &Pair,
    args: &DiffArgs,
) -> Result<Outputs, Failure> {
    let mut read = |side: &Side| {
        let output = read_output(store, dir, side.job.id, side.attempt.attempt)?;
        Ok::<_, Failure>(match output {
            None if side.attempt.output_in_file => Err(side.attempt.clone()),
            output => Ok(output),
        })
    };
    let (one, other) = (read(&pair.one)?, read(&pair.other)?);
    match (one, other) {
        (Err(gone), _) | (_, Err(gone)) => Ok(Outputs::Gone(gone.job, gone.attempt)),
        (Ok(one), Ok(other)) => {
            let compared = lines::compare(one, other, args.exact, args.lines);
            compared.map_err(|error| Failure::store(format!("cannot read the outputs: {error}")))
        }
    }
}
