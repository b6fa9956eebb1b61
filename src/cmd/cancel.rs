//! `ax cancel`: ends jobs by a person's word.
//!
//! What runs is stopped by whoever has it in hand; the command waits until its
//! processes are gone, or says that they are not. The wish is stored, so it
//! holds whatever becomes of the command or of the runner meanwhile.

use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use super::alive::Deaf;
use super::watch::Watch;
use super::{Answer, Context, alive, recover as lost, select};
use crate::cli::CancelArgs;
use crate::exit;
use crate::failure::Failure;
use crate::job::{Claim, Event, Job, State, limits};
use crate::output::cancelled::{CancelledJobs, Fate, Row};
use crate::sched::recover;
use crate::store::{Asked, Cancel, Error, Store};

/// How long more than its `--kill-after` a job may take to be gone, if nobody
/// says how long is waited.
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
    let CancelArgs { downstream, reason, timeout, dry_run, show, .. } = args;
    let how = Cancel { downstream, reason, dry_run };
    let cancelling = store.cancel(&ids, &how, context.now())?;
    let mut rows: Vec<_> = cancelling.moved.into_iter().map(Row::moved).collect();
    let mut late = Vec::new();
    if dry_run {
        rows.extend(cancelling.asked.into_iter().map(|asked| Row::asked(asked, Fate::Cancelled)));
    } else {
        context.wake_runners();
        let ends = await_ends(cancelling.asked, timeout, store, context)?;
        rows.extend(ends.rows);
        late = ends.late;
        // Whatever came after the jobs that are gone now can start or end.
        context.wake_runners();
    }
    let all_went = rows.iter().all(|row| !matches!(row.fate, Fate::Ended(_)));
    let exit = if all_went { exit::DONE } else { exit::REFUSED };
    let answer = Answer::new(CancelledJobs { rows, dry_run }, show).exit(exit);
    if late.is_empty() {
        return Ok(answer);
    }
    context.print(&answer)?;
    Err(not_gone(&late, store, context)?)
}

/// What became of attempts that were to end.
#[derive(Default)]
struct Ends {
    rows: Vec<Row>,
    /// Those that were not gone when time was up.
    late: Vec<Claim>,
}

/// Waits until the attempts have ended, and tells how.
fn await_ends(
    asked: Vec<Asked>,
    timeout: Option<Duration>,
    store: &mut dyn Store,
    context: &mut Context<'_>,
) -> Result<Ends, Failure> {
    if !asked.is_empty() && io::stderr().is_terminal() {
        let _ = writeln!(context.err, "waiting until {} gone …", are_gone(&asked));
    }
    let mut watch = Watch::of(&context.db);
    let begun = Instant::now();
    let mut looked: Option<Instant> = None;
    let mut open = asked;
    let mut ends = Ends::default();
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
            let patience = timeout.unwrap_or(job.kill_after.saturating_add(GRACE));
            let until = begun.checked_add(patience);
            match fate(&job, &asked) {
                Some(fate) => ends.rows.push(Row::asked(asked, fate)),
                None if until.is_some_and(|at| at <= Instant::now()) => {
                    ends.late.push(asked.claim);
                    ends.rows.push(Row::asked(asked, Fate::Stopping));
                }
                None => {
                    deadline = until.map_or(deadline, |at| deadline.max(at));
                    left.push(asked);
                }
            }
        }
        if left.is_empty() {
            ends.rows.sort_by_key(|row| row.job);
            return Ok(ends);
        }
        open = left;
        watch.sleep(Some(deadline.min(Instant::now() + LOOK)));
    }
}

/// Says of jobs that they are not gone, and what is in the way.
///
/// # Errors
/// When the store cannot be asked for their runners.
fn not_gone(
    late: &[Claim],
    store: &mut dyn Store,
    context: &Context<'_>,
) -> Result<Failure, Failure> {
    let mut deaf = Vec::new();
    for claim in late {
        deaf.extend(alive::deaf(store, &context.data_dir(), *claim)?);
    }
    deaf.sort_unstable_by_key(|one| one.pid);
    deaf.dedup();
    Ok(still_there(late, &deaf))
}

fn still_there(late: &[Claim], deaf: &[Deaf]) -> Failure {
    let ids = words(late.iter().map(|claim| claim.job), ", ");
    let (jobs, they) = match late {
        [_] => (format!("job {ids} is"), "it is"),
        _ => (format!("jobs {ids} are"), "they are"),
    };
    let failure = Failure::failed(format!(
        "{jobs} not gone yet; the wish is stored and holds: {they} cancelled once everything that \
         was started is gone"
    ));
    if deaf.is_empty() {
        let ids = ids.replace(' ', "");
        return failure
            .hint(format!("`ax show {ids}` says what is done, `ax wait {ids}` waits on"));
    }
    let who = words(deaf.iter().map(|Deaf { part, pid }| format!("{part} (pid {pid})")), ", ");
    let pids = words(deaf.iter().map(|one| one.pid), " ");
    let (is, it) = if deaf.len() == 1 { ("is", "it") } else { ("are", "them") };
    failure.hint(format!("{who} {is} suspended: `kill -CONT {pids}` lets {it} go on"))
}

fn words(all: impl Iterator<Item = impl Display>, between: &str) -> String {
    all.map(|one| one.to_string()).collect::<Vec<_>>().join(between)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{JobId, RunnerId};

    #[test]
    fn whoever_is_suspended_is_named_with_what_lets_it_go_on() {
        let claim = |job| Claim { job: JobId(job), attempt: 1, owner: RunnerId(1) };
        let (runner, supervisor) =
            (Deaf { part: "the runner", pid: 812 }, Deaf { part: "a supervisor", pid: 813 });
        let one = still_there(&[claim(3)], std::slice::from_ref(&runner));
        assert_eq!((one.exit, one.code), (exit::FAILED, "failed"));
        assert_eq!(
            one.to_string(),
            "ax: job 3 is not gone yet; the wish is stored and holds: it is cancelled once \
             everything that was started is gone\n\
             hint: the runner (pid 812) is suspended: `kill -CONT 812` lets it go on\n"
        );
        let two = still_there(&[claim(3), claim(4)], &[runner, supervisor]);
        assert!(two.message.starts_with("jobs 3, 4 are not gone yet; "), "{}", two.message);
        assert_eq!(
            two.hint.as_deref(),
            Some(
                "the runner (pid 812), a supervisor (pid 813) are suspended: \
                 `kill -CONT 812 813` lets them go on"
            )
        );
        let nobody = still_there(&[claim(3), claim(4)], &[]);
        assert_eq!(
            nobody.hint.as_deref(),
            Some("`ax show 3,4` says what is done, `ax wait 3,4` waits on")
        );
    }
}
