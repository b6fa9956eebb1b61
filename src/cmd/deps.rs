//! `ax deps`: shows and changes what jobs wait for.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;

use super::{Answer, Context, select};
use crate::cli::{DepsArgs, DepsChange};
use crate::exit;
use crate::failure::Failure;
use crate::job::{Edge, JobId, Kind, Timestamp};
use crate::output::graph::{Graph, Node};
use crate::store::{Error, Query, Selector, Store};

pub(super) fn run(args: DepsArgs, context: &Context<'_>) -> Result<Answer, Failure> {
    let mut store = context.store()?;
    let store = store.as_mut();
    match args.change {
        None => {
            let focus = args.id.as_deref().map(|word| select::one(store, word)).transpose()?;
            return Ok(Answer::new(graph(store, focus)?, args.show.into()));
        }
        Some(DepsChange::Add { id, after, on_failure, after_any }) => {
            let child = select::one(store, &id)?;
            let kinds =
                [(Kind::After, after), (Kind::OnFailure, on_failure), (Kind::AfterAny, after_any)];
            add(store, context.now(), child, &edges(&kinds)?)?;
        }
        Some(DepsChange::Remove { id, parents }) => {
            let child = select::one(store, &id)?;
            remove(store, context.now(), child, &each_id(&parents)?)?;
        }
    }
    context.wake_runners();
    Ok(Answer::silent(exit::DONE))
}

fn graph(store: &mut dyn Store, focus: Option<JobId>) -> Result<Graph, Failure> {
    let edges = store.graph(focus.as_slice())?;
    let ends = edges.iter().flat_map(|edge| [edge.child, edge.seen.edge.parent]);
    let nodes = nodes(store, ends.chain(focus))?;
    Ok(Graph { focus, edges, nodes })
}

/// What people call these jobs and where they stand; those that do not exist
/// are left out.
pub(super) fn nodes(
    store: &mut dyn Store,
    ids: impl Iterator<Item = JobId>,
) -> Result<HashMap<JobId, Node>, Failure> {
    let ids: BTreeSet<JobId> = ids.collect();
    let mut nodes = HashMap::with_capacity(ids.len());
    for (first, last) in runs(&ids) {
        let selectors = vec![Selector::Ids(first, last)];
        let jobs = store.list(&Query { selectors, ..Query::default() })?;
        for job in jobs.into_iter().filter(|job| ids.contains(&job.id)) {
            nodes.insert(job.id, Node { title: job.title(), state: job.state });
        }
    }
    Ok(nodes)
}

/// The ids as runs from a first to a last one, so that the members of a long
/// chain are read in one go; a run may contain small gaps.
fn runs(ids: &BTreeSet<JobId>) -> Vec<(JobId, JobId)> {
    const GAP: i64 = 16;
    let mut runs: Vec<(JobId, JobId)> = Vec::new();
    for id in ids {
        match runs.last_mut() {
            Some((_, last)) if id.0 - last.0 <= GAP => *last = *id,
            Some(_) | None => runs.push((*id, *id)),
        }
    }
    runs
}

fn add(store: &mut dyn Store, now: Timestamp, child: JobId, edges: &[Edge]) -> Result<(), Failure> {
    if edges.is_empty() {
        return Err(Failure::usage("nothing says what the job is to wait for")
            .hint("name the jobs with --after, --on-failure or --after-any"));
    }
    Ok(store.link(child, edges, now)?)
}

fn edges(kinds: &[(Kind, Vec<OsString>)]) -> Result<Vec<Edge>, Failure> {
    let mut edges = Vec::new();
    for (kind, values) in kinds {
        let values: Vec<String> =
            values.iter().map(|value| value.to_string_lossy().into_owned()).collect();
        edges.extend(each_id(&values)?.into_iter().map(|parent| Edge { parent, kind: *kind }));
    }
    Ok(edges)
}

/// The ids in words like `12` and `3,4`.
fn each_id(words: &[String]) -> Result<Vec<JobId>, Failure> {
    words.iter().flat_map(|word| word.split(',')).map(select::job_id).collect()
}

fn remove(
    store: &mut dyn Store,
    now: Timestamp,
    child: JobId,
    parents: &[JobId],
) -> Result<(), Failure> {
    let job = store.get(child)?.ok_or(Error::NoSuchJob(child))?;
    let waits_for =
        |parent: &JobId| job.dependencies.iter().any(|edge| edge.seen.edge.parent == *parent);
    if let Some(stranger) = parents.iter().find(|parent| !waits_for(parent)) {
        return Err(Failure::not_found(format!("job {child} does not wait for job {stranger}"))
            .hint(format!("`ax deps {child}` shows what it waits for")));
    }
    store.unlink(child, parents, now)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_are_near_are_read_in_one_go() {
        let ids: BTreeSet<_> = [1, 2, 3, 10, 1_000, 1_001].into_iter().map(JobId).collect();
        let want = [(1, 10), (1_000, 1_001)].map(|(first, last)| (JobId(first), JobId(last)));
        assert_eq!(runs(&ids), want);
    }

    #[test]
    fn parents_come_with_their_kind() {
        let kinds = [(Kind::After, vec!["1,2".into()]), (Kind::AfterAny, vec!["3".into()])];
        let want = [(1, Kind::After), (2, Kind::After), (3, Kind::AfterAny)]
            .map(|(parent, kind)| Edge { parent: JobId(parent), kind });
        assert_eq!(edges(&kinds).as_deref(), Ok(&want[..]));
        assert!(edges(&[(Kind::After, vec!["1,,2".into()])]).is_err());
    }
}
