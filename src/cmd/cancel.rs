//! `ax cancel`: ends jobs by a person's word.
//!
//! What runs is stopped by whoever has it in hand; the command waits until its
//! processes are gone. The wish is stored, so it holds whatever becomes of the
//! command or of the runner meanwhile.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use super::watch::Watch;
use super::{Answer, Context, recover as lost, select};
use crate::cli::CancelArgs;
use crate::exit;
use crate::failure::Failure;
use crate::job::{Event, Job, State, limits};
use crate::output::cancelled::{CancelledJobs, Fate, Row};
use crate::sched::recover;
use crate::store::{Asked, Cancel, Error, Store};

/// How long more than its `--kill-after` a job may take to be gone.
const GRACE: Duration = Duration::from_secs(5);

/// Between two looks at whether somebody has died who has a job in hand.
const LOOK: Duration = Duration::from_secs(1);

pub(super) fn run(args: CancelArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let selectors = select::parse(&args.selectors)?;
    if let Some(reason) = &args.reason {
        limits::label("reason", reason).map_err(Failure::usage)?;
    }
    let mut store = context.store()?;
    let store = store.as_mut();
    let ids = select::fitting(store, &selectors, &|state| Event::Cancel.allows(state))?;
    let CancelArgs { downstream, reason, dry_run, show, .. } = args;
    let how = Cancel { downstream, reason, dry_run };
    let cancelling = store.cancel(&ids, &how, context.now())?;
    let mut rows: Vec<_> = cancelling.moved.into_iter().map(Row::moved).collect();
    if dry_run {
        rows.extend(cancelling.asked.into_iter().map(|asked| Row::asked(asked, Fate::Cancelled)));
    } else {
        context.wake_runners();
        rows.extend(await_ends(cancelling.asked, store, context)?);
        // Whatever came after the jobs that are gone now can start or end.
        context.wake_runners();
    }
    let all_went = rows.iter().all(|row| !matches!(row.fate, Fate::Ended(_)));
    let exit = if all_went { exit::DONE } else { exit::REFUSED };
    Ok(Answer::new(CancelledJobs { rows, dry_run }, show).exit(exit))
}

/// Waits until the attempts have ended, and tells how.
fn await_ends(
    asked: Vec<Asked>,
    store: &mut dyn Store,
    context: &mut Context<'_>,
) -> Result<Vec<Row>, Failure> {
    if !asked.is_empty() && io::stderr().is_terminal() {
        let _ = writeln!(context.err, "waiting until {} gone …", are_gone(&asked));
    }
    let mut watch = Watch::of(&context.db);
    let begun = Instant::now();
    let mut looked: Option<Instant> = None;
    let mut open = asked;
    let mut rows = Vec::new();
    loop {
        // Nobody else may be left to settle what has no runner any more.
        if !open.is_empty() && looked.is_none_or(|at| at.elapsed() >= LOOK) {
            looked = Some(Instant::now());
            recover::settle_all(store, &context.data_dir(), None, &[], context.now())
                .map_err(lost::unseen)?;
        }
        let mut deadline = begun;
        let mut left = Vec::new();
        for asked in open {
            let job = store.get(asked.claim.job)?.ok_or(Error::NoSuchJob(asked.claim.job))?;
            let patience = begun.checked_add(job.kill_after.saturating_add(GRACE));
            match fate(&job, &asked) {
                Some(fate) => rows.push(Row::asked(asked, fate)),
                None if patience.is_some_and(|at| at <= Instant::now()) => {
                    rows.push(Row::asked(asked, Fate::Stopping));
                }
                None => {
                    deadline = patience.map_or(deadline, |at| deadline.max(at));
                    left.push(asked);
                }
            }
        }
        if left.is_empty() {
            rows.sort_by_key(|row| row.job);
            return Ok(rows);
        }
        open = left;
        watch.sleep(Some(deadline.min(Instant::now() + LOOK)));
    }
}

/// What became of an attempt; `None` while somebody has it in hand.
fn fate(job: &Job, asked: &Asked) -> Option<Fate> {
    match job.state {
        State::Dispatched | State::Running if job.attempts == asked.claim.attempt => None,
        State::Cancelled => Some(Fate::Cancelled),
        state => Some(Fate::Ended(state)),
    }
}

fn are_gone(asked: &[Asked]) -> String {
    match asked {
        [one] => format!("everything that job {} started is", one.claim.job),
        many => format!("everything that {} jobs started is", many.len()),
    }
}
