//! `ax recover`: attempts whose outcome nobody knows.

use serde_json::{Value, json};

use super::{Answer, Context, select};
use crate::cli::{RecoverArgs, Resolution as Asked};
use crate::data_dir::DataDir;
use crate::escape::escape;
use crate::failure::Failure;
use crate::job::{JobId, State};
use crate::output::{Style, View};
use crate::sched::recover::{self, Fate, Left, Recovered};
use crate::store::{Error, Query, Resolution, Store};

/// Runs the command.
///
/// # Errors
/// When the store or the files beside it cannot be used, or a job is not one
/// whose outcome is unknown.
pub(super) fn run(args: RecoverArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let mut store = context.store()?;
    let only = if args.selectors.is_empty() {
        None
    } else {
        let selectors = select::parse(&args.selectors)?;
        Some(select::ids(store.as_mut(), &selectors)?)
    };
    let rows = if let Some(asked) = args.resolution {
        resolve(store.as_mut(), context, &only.unwrap_or_default(), asked, args.dry_run)?
    } else {
        let mut rows = if args.dry_run {
            preview(store.as_mut(), context)?
        } else {
            by_policy(store.as_mut(), context)?
        };
        rows.extend(waiting_for_a_person(store.as_mut(), &rows)?);
        rows.retain(|row| only.as_ref().is_none_or(|only| only.contains(&row.job)));
        rows
    };
    if !args.dry_run {
        context.wake_runners();
    }
    Ok(Answer::new(Rows(rows), args.show))
}

fn by_policy(store: &mut dyn Store, context: &Context<'_>) -> Result<Vec<Row>, Failure> {
    let dir = context.data_dir();
    let recovered = recover::settle_all(store, &dir, None, &[], context.now()).map_err(unseen)?;
    Ok(recovered.iter().map(Row::settled).collect())
}

fn preview(store: &mut dyn Store, context: &Context<'_>) -> Result<Vec<Row>, Failure> {
    let now = context.now();
    let left = recover::find_all(store, &context.data_dir()).map_err(unseen)?;
    Ok(left.into_iter().map(|left| Row::previewed(left, now)).collect())
}

fn resolve(
    store: &mut dyn Store,
    context: &Context<'_>,
    jobs: &[JobId],
    asked: Asked,
    dry_run: bool,
) -> Result<Vec<Row>, Failure> {
    let how = match asked {
        Asked::Success => Resolution::Success,
        Asked::Failed => Resolution::Failed,
        Asked::Retry => Resolution::Retry,
    };
    if dry_run {
        return would_resolve(store, &context.data_dir(), jobs, how);
    }
    let (dir, now) = (context.data_dir(), context.now());
    recover::settle_all(store, &dir, None, jobs, now).map_err(unseen)?;
    let moved = store.resolve(jobs, how, now)?;
    Ok(moved
        .into_iter()
        .map(|moved| Row {
            job: moved.job,
            attempt: None,
            title: moved.title,
            what: format!("{} now", moved.event.target()),
        })
        .collect())
}

/// What [`resolve`] would do, and would refuse.
fn would_resolve(
    store: &mut dyn Store,
    dir: &DataDir,
    jobs: &[JobId],
    how: Resolution,
) -> Result<Vec<Row>, Failure> {
    let target = match how {
        Resolution::Success => State::Success,
        Resolution::Failed => State::Dead,
        Resolution::Retry => State::Pending,
    };
    let left = recover::find_all(store, dir).map_err(unseen)?;
    let is_lost = |id| left.iter().any(|left| left.claimed.claim.job == id && left.fate.is_lost());
    let mut rows = Vec::new();
    for id in jobs {
        let job = store.get(*id)?.ok_or(Error::NoSuchJob(*id))?;
        if job.state != State::Held && !is_lost(*id) {
            let (job, state) = (*id, job.state);
            return Err(Error::WrongState { job, state, wanted: "not held", hint: None }.into());
        }
        let what = format!("{} now, would become {target}", job.state);
        rows.push(Row { job: *id, attempt: None, title: job.title(), what });
    }
    Ok(rows)
}

/// Jobs that were held because an outcome is unknown.
fn waiting_for_a_person(store: &mut dyn Store, told: &[Row]) -> Result<Vec<Row>, Failure> {
    let held = store.list(&Query { states: vec![State::Held], ..Query::default() })?;
    let unknown = |reason: &str| reason.starts_with("outcome unknown");
    Ok(held
        .into_iter()
        .filter(|job| job.reason.as_deref().is_some_and(unknown))
        .filter(|job| !told.iter().any(|row| row.job == job.id))
        .map(|job| Row {
            job: job.id,
            attempt: Some(job.attempts),
            title: job.title(),
            what: format!(
                "held, {}; find out how it ended and say so: ax recover {} --as success|failed|retry",
                job.reason.unwrap_or_default(),
                job.id
            ),
        })
        .collect())
}

pub(super) fn unseen(error: recover::Error) -> Failure {
    match error {
        recover::Error::Store(error) => error.into(),
        recover::Error::Io(error) => {
            Failure::store(format!("what dead runners left behind cannot be read: {error}"))
        }
    }
}

/// What is known of one attempt.
struct Row {
    job: JobId,
    attempt: Option<u32>,
    title: String,
    what: String,
}

impl Row {
    fn settled(recovered: &Recovered) -> Self {
        Self {
            job: recovered.claim.job,
            attempt: Some(recovered.claim.attempt),
            title: recovered.title.clone(),
            what: recovered.what(),
        }
    }

    fn previewed(left: Left, now: crate::job::Timestamp) -> Self {
        let Left { claimed, fate } = left;
        let (claim, title) = (claimed.claim, claimed.title.clone());
        let what = match fate {
            Fate::RunsOn => "runs on under its supervisor, which records its end".to_owned(),
            Fate::Ended(outcome, _) => {
                let verdict = claimed.policy.judge(&outcome, now);
                Recovered { claim, title: title.clone(), outcome, verdict: Some(verdict) }.what()
            }
        };
        Self { job: claim.job, attempt: Some(claim.attempt), title, what }
    }
}

struct Rows(Vec<Row>);

impl View for Rows {
    fn items(&self) -> Vec<Value> {
        let item = |row: &Row| json!({ "id": row.job, "attempt": row.attempt, "title": row.title, "what": row.what });
        self.0.iter().map(item).collect()
    }

    fn ids(&self) -> Vec<JobId> {
        self.0.iter().map(|row| row.job).collect()
    }

    fn text(&self, _style: Style) -> String {
        if self.0.is_empty() {
            return "nothing to recover\n".to_owned();
        }
        let line = |row: &Row| {
            let attempt =
                row.attempt.map(|attempt| format!(", attempt {attempt}")).unwrap_or_default();
            let title = escape(row.title.as_bytes());
            format!("job {}{attempt} ({title}): {}\n", row.job, escape(row.what.as_bytes()))
        };
        self.0.iter().map(line).collect()
    }
}
