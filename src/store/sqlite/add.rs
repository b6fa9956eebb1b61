//! Adding jobs: all of a batch or none.
//!
//! The ids of a batch are known before its rows are written (nobody else can
//! write meanwhile), so each row is written once, in the state that its
//! dependencies give it.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{OptionalExtension, Transaction, named_params};

use super::row::{AsBytes, Millis};
use super::{Fallible, Trouble, edges, judge};
use crate::job::dependency::{Readiness, Seen, skip_reason};
use crate::job::{
    Added, Codes, Edge, EnvBlock, Event, IfExists, JobId, NewJob, ParentRef, State, Timestamp,
};
use crate::store::Error;

/// Adds jobs and judges their dependencies.
pub(super) fn add(tx: &Transaction<'_>, jobs: &[NewJob], now: Timestamp) -> Fallible<Vec<Added>> {
    let batch = Batch::number(tx, jobs, now)?;
    let mut envs = Envs::default();
    let mut edges = Vec::new();
    for (index, job) in jobs.iter().enumerate().filter(|(index, _)| batch.added[*index].new) {
        let in_batch = |error| at(index, error);
        let seen = batch.resolve(tx, index, job).map_err(in_batch)?;
        insert(tx, batch.added[index].id, job, &seen, envs.id(tx, &job.env)?, now)?;
        edges.push((index, seen));
    }
    batch.refuse_cycles(&edges)?;
    for (index, seen) in &edges {
        let child = batch.added[*index].id;
        for seen in seen {
            edges::insert(tx, child, seen.edge)?;
        }
        // Judged when it was written, and held against cycles above.
        if !seen.is_empty() {
            tx.prepare_cached("DELETE FROM ax_judge WHERE job_id = :child")?
                .execute(named_params! { ":child": child })?;
        }
    }
    batch.judge_children_of_skipped(tx, &edges)?;
    judge::drain(tx, now, judge::PER_TURN, &mut Vec::new())?;
    Ok(batch.added)
}

/// Says which job of the batch an answer is about.
pub(super) fn at(index: usize, trouble: Trouble) -> Trouble {
    match trouble {
        Trouble::Answer(source) => Error::InBatch { index, source: Box::new(source) }.into(),
        Trouble::Engine(_) | Trouble::Unusable(_) => trouble,
    }
}

/// A batch whose jobs have their ids.
struct Batch<'a> {
    added: Vec<Added>,
    first: JobId,
    by_key: HashMap<&'a str, usize>,
}

impl<'a> Batch<'a> {
    fn number(tx: &Transaction<'_>, jobs: &'a [NewJob], now: Timestamp) -> Fallible<Self> {
        let first = next_id(tx, jobs.len())?;
        let mut next = first;
        let mut batch =
            Self { added: Vec::with_capacity(jobs.len()), first, by_key: HashMap::new() };
        for (index, job) in jobs.iter().enumerate() {
            let existing = match &job.key {
                Some(key) => {
                    batch.existing(tx, index, key, job, now).map_err(|error| at(index, error))?
                }
                None => None,
            };
            batch.added.push(Added { id: existing.unwrap_or(next), new: existing.is_none() });
            if existing.is_none() {
                next.0 += 1;
            }
        }
        Ok(batch)
    }

    /// The job that has this key already, if it is to stand.
    fn existing(
        &mut self,
        tx: &Transaction<'_>,
        index: usize,
        key: &'a str,
        job: &NewJob,
        now: Timestamp,
    ) -> Fallible<Option<JobId>> {
        let in_batch = self.by_key.get(key).map(|earlier| self.added[*earlier].id);
        self.by_key.entry(key).or_insert(index);
        let stored = match in_batch {
            Some(id) => Some(id),
            None => unfinished_with_key(tx, key)?,
        };
        match (stored, job.if_exists) {
            (None, _) => Ok(None),
            (Some(id), IfExists::Skip) => Ok(Some(id)),
            (Some(id), IfExists::Replace) if in_batch.is_none() => {
                replace(tx, id, now)?;
                Ok(None)
            }
            (Some(job), IfExists::Error | IfExists::Replace) => {
                Err(Error::KeyExists { key: key.to_owned(), job }.into())
            }
        }
    }

    /// The dependencies of a job of the batch, with where each parent stands.
    /// A parent in the batch has not ended.
    fn resolve(&self, tx: &Transaction<'_>, index: usize, job: &NewJob) -> Fallible<Vec<Seen>> {
        let mut seen = Vec::with_capacity(job.parents.len());
        for (parent, kind) in &job.parents {
            let parent = self.parent(tx, parent)?;
            if parent == self.added[index].id {
                return Err(Error::Cycle(vec![parent]).into());
            }
            let state = if self.is_new(parent) {
                Some(State::Pending)
            } else {
                Some(edges::state(tx, parent)?.ok_or(Error::NoSuchJob(parent))?)
            };
            seen.push(Seen { edge: Edge { parent, kind: *kind }, parent: state });
        }
        Ok(seen)
    }

    fn parent(&self, tx: &Transaction<'_>, parent: &ParentRef) -> Fallible<JobId> {
        match parent {
            // An id that was not given yet is a typing error, also when this
            // batch is about to give it.
            ParentRef::Id(id) if self.is_new(*id) => Err(Error::NoSuchJob(*id).into()),
            ParentRef::Id(id) => Ok(*id),
            ParentRef::InBatch(index) => {
                Ok(self.added.get(*index).expect("a batch names its own members").id)
            }
            ParentRef::Key(key) => match self.by_key.get(key.as_str()) {
                Some(index) => Ok(self.added[*index].id),
                None => {
                    latest_with_key(tx, key)?.ok_or_else(|| Error::NoSuchKey(key.clone()).into())
                }
            },
        }
    }

    fn is_new(&self, job: JobId) -> bool {
        job >= self.first
    }

    /// New jobs can wait for each other only through a reference to a later
    /// one; the search looks at nothing else.
    fn refuse_cycles(&self, edges: &[(usize, Vec<Seen>)]) -> Fallible<()> {
        let forward = |(index, seen): &(usize, Vec<Seen>)| {
            seen.iter().any(|seen| {
                self.is_new(seen.edge.parent) && seen.edge.parent > self.added[*index].id
            })
        };
        if !edges.iter().any(forward) {
            return Ok(());
        }
        let index_of: HashMap<JobId, usize> =
            edges.iter().map(|(index, _)| (self.added[*index].id, *index)).collect();
        let parents: HashMap<usize, Vec<usize>> = edges
            .iter()
            .map(|(index, seen)| {
                let new = seen.iter().filter_map(|seen| index_of.get(&seen.edge.parent).copied());
                (*index, new.collect())
            })
            .collect();
        match find_cycle(&parents) {
            Some(members) => Err(Error::BatchCycle { members }.into()),
            None => Ok(()),
        }
    }

    /// A job that is born skipped has children that must hear of it.
    fn judge_children_of_skipped(
        &self,
        tx: &Transaction<'_>,
        edges: &[(usize, Vec<Seen>)],
    ) -> Fallible<()> {
        const ENTER: &str = "
            INSERT OR IGNORE INTO ax_judge (job_id)
                SELECT job_id FROM ax_deps WHERE depends_on = :parent";
        for (index, seen) in edges {
            if matches!(Readiness::of(seen), Readiness::Never(_)) {
                tx.prepare_cached(ENTER)?
                    .execute(named_params! { ":parent": self.added[*index].id })?;
            }
        }
        Ok(())
    }
}

/// A cycle in a graph of indexes, in the order in which each waits for the
/// next; depth first, without recursion.
fn find_cycle(parents: &HashMap<usize, Vec<usize>>) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        OnPath,
        Done,
    }
    let mut marks: HashMap<usize, Mark> = HashMap::new();
    let mut starts: Vec<_> = parents.keys().copied().collect();
    starts.sort_unstable();
    for start in starts {
        let mut path = vec![(start, 0)];
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            marks.entry(at).or_insert(Mark::OnPath);
            let Some(parent) = parents.get(&at).and_then(|parents| parents.get(*next)).copied()
            else {
                marks.insert(at, Mark::Done);
                path.pop();
                continue;
            };
            *next += 1;
            match marks.get(&parent) {
                None => path.push((parent, 0)),
                Some(Mark::Done) => (),
                Some(Mark::OnPath) => {
                    let members = path.iter().map(|(member, _)| *member);
                    return Some(members.skip_while(|member| *member != parent).collect());
                }
            }
        }
    }
    None
}

/// The first of `count` ids that were never used before.
fn next_id(tx: &Transaction<'_>, count: usize) -> Fallible<JobId> {
    const LAST: &str = "
        SELECT max(
            coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'ax_jobs'), 0),
            coalesce((SELECT max(id) FROM ax_jobs), 0))";
    let last: i64 = tx.prepare_cached(LAST)?.query_row([], |row| row.get(0))?;
    let left = u64::try_from(i64::MAX - last).unwrap_or(u64::MAX);
    if left < count as u64 {
        let why = format!("has a job {last}, and no id is left after it");
        return Err(Trouble::Unusable(why));
    }
    Ok(JobId(last.saturating_add(1)))
}

pub(super) const UNFINISHED_WITH_KEY: &str =
    concat!("SELECT id FROM ax_jobs WHERE key = :key AND ", unfinished!());

fn unfinished_with_key(tx: &Transaction<'_>, key: &str) -> Fallible<Option<JobId>> {
    let mut query = tx.prepare_cached(UNFINISHED_WITH_KEY)?;
    Ok(query.query_row(named_params! { ":key": key }, |row| row.get(0)).optional()?)
}

fn latest_with_key(tx: &Transaction<'_>, key: &str) -> Fallible<Option<JobId>> {
    const LATEST: &str = "SELECT id FROM ax_jobs WHERE key = :key ORDER BY id DESC LIMIT 1";
    if let Some(id) = unfinished_with_key(tx, key)? {
        return Ok(Some(id));
    }
    let mut query = tx.prepare_cached(LATEST)?;
    Ok(query.query_row(named_params! { ":key": key }, |row| row.get(0)).optional()?)
}

/// Cancels a job that has not started, to make room for another with its key.
fn replace(tx: &Transaction<'_>, job: JobId, now: Timestamp) -> Fallible<()> {
    let state = edges::state(tx, job)?.ok_or(Error::NoSuchJob(job))?;
    if state.is_owned() || !Event::Cancel.allows(state) {
        let wanted = "and only a job that has not started can be replaced";
        return Err(Error::WrongState { job, state, wanted, hint: None }.into());
    }
    judge::change(tx, job, Event::Cancel, Some("replaced by a newer job with its key"), now)
}

const INSERT: &str = "
    INSERT INTO ax_jobs (
        id, name, key, command, shell, status, reason, priority, scheduled_at, timeout, kill_after,
        max_retries, retry_delay, retry_backoff, retry_max_delay, on_lost, waits_on, finished_at,
        created_at, updated_at, cwd, umask, env_id, extra_env, flow, flow_run, group_name, mutex,
        retry_on, no_retry_on, on_end, on_end_timeout, ends_run)
    VALUES (
        :id, :name, :key, :command, :shell, :status, :reason, :priority, :scheduled_at, :timeout,
        :kill_after, :max_retries, :retry_delay, :retry_backoff, :retry_max_delay, :on_lost,
        :waits_on, :finished_at, :now, :now, :cwd, :umask, :env_id, :extra_env, :flow, :flow_run,
        :group, :mutex, :retry_on, :no_retry_on, :on_end, :on_end_timeout, :ends_run)";

fn insert(
    tx: &Transaction<'_>,
    id: JobId,
    job: &NewJob,
    seen: &[Seen],
    env: i64,
    now: Timestamp,
) -> Fallible<()> {
    let Birth { state, waits_on, reason } = Birth::of(job, seen, now);
    tx.prepare_cached(INSERT)?.execute(named_params! {
        ":id": id,
        ":name": job.name,
        ":key": job.key,
        ":command": AsBytes(&job.command.to_bytes()),
        ":shell": job.command.is_shell(),
        ":status": state,
        ":reason": reason,
        ":priority": job.priority,
        ":scheduled_at": job.scheduled_at,
        ":timeout": job.timeout.map(Millis),
        ":kill_after": Millis(job.kill_after),
        ":max_retries": job.max_retries,
        ":retry_delay": Millis(job.retry_delay),
        ":retry_backoff": job.retry_backoff,
        ":retry_max_delay": Millis(job.retry_max_delay),
        ":on_lost": job.on_lost,
        ":waits_on": waits_on,
        ":finished_at": state.is_final().then_some(now),
        ":now": now,
        ":cwd": AsBytes(&job.cwd),
        ":umask": job.umask,
        ":env_id": env,
        ":extra_env": (!job.extra_env.0.is_empty()).then_some(&job.extra_env.0),
        ":flow": job.flow,
        ":flow_run": job.run,
        ":group": job.group,
        ":mutex": job.mutex,
        ":retry_on": job.retry_on.as_ref().map(Codes::to_string),
        ":no_retry_on": job.no_retry_on.as_ref().map(Codes::to_string),
        ":on_end": job.on_end.as_ref().map(|hook| AsBytes(&hook.command)),
        ":on_end_timeout": job.on_end.as_ref().map(|hook| Millis(hook.timeout)),
        ":ends_run": job.ends_run.then_some(true),
    })?;
    Ok(())
}

/// The state a job is born in.
struct Birth {
    state: State,
    waits_on: Option<JobId>,
    reason: Option<String>,
}

impl Birth {
    fn of(job: &NewJob, seen: &[Seen], now: Timestamp) -> Self {
        let (state, waits_on, reason) = match Readiness::of(seen) {
            _ if job.hold => (State::Held, None, Some("added with --hold".to_owned())),
            Readiness::Never(broken) => (State::Skipped, None, Some(skip_reason(&broken))),
            Readiness::Waiting => (State::Pending, judge::watched(seen), None),
            Readiness::Met if job.scheduled_at > now => (State::Pending, None, None),
            Readiness::Met => (State::Ready, None, None),
        };
        Self { state, waits_on, reason }
    }
}

/// Environments of a batch that were stored already.
#[derive(Default)]
struct Envs(Vec<(Arc<EnvBlock>, i64)>);

impl Envs {
    /// The id of an environment, which is stored once per content.
    fn id(&mut self, tx: &Transaction<'_>, env: &Arc<EnvBlock>) -> Fallible<i64> {
        const FIND: &str = "SELECT id FROM ax_envs WHERE block = :block";
        const STORE: &str = "INSERT INTO ax_envs (block) VALUES (:block) RETURNING id";
        if let Some((_, id)) = self.0.iter().find(|(known, _)| Arc::ptr_eq(known, env)) {
            return Ok(*id);
        }
        let block = named_params! { ":block": env.0 };
        let found = tx.prepare_cached(FIND)?.query_row(block, |row| row.get(0)).optional()?;
        let id = match found {
            Some(id) => id,
            None => tx.prepare_cached(STORE)?.query_row(block, |row| row.get(0))?,
        };
        self.0.push((Arc::clone(env), id));
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Command, Kind, Place, Settings};

    #[test]
    fn a_cycle_is_found_and_named_in_the_order_of_waiting() {
        let parents = HashMap::from([(0, vec![1]), (1, vec![2]), (2, vec![3, 1]), (3, vec![])]);
        assert_eq!(find_cycle(&parents), Some(vec![1, 2]));
    }

    #[test]
    fn a_long_chain_is_searched_without_recursion() {
        let parents: HashMap<_, _> = (0..200_000).map(|at| (at, vec![at + 1])).collect();
        assert_eq!(find_cycle(&parents), None);
    }

    #[test]
    fn a_diamond_is_no_cycle() {
        let parents = HashMap::from([(0, vec![1, 2]), (1, vec![3]), (2, vec![3]), (3, vec![])]);
        assert_eq!(find_cycle(&parents), None);
    }

    #[test]
    fn a_member_of_the_batch_is_named_by_its_place_before_or_after() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut store = crate::store::open(&dir.path().join("ax.db")).expect("a new store");
        let now = Timestamp::from_millis(1);
        let waiting_for = |places: &[usize]| {
            let parents = places.iter().map(|place| (ParentRef::InBatch(*place), Kind::After));
            NewJob { parents: parents.collect(), ..plain(now) }
        };
        let batch = [waiting_for(&[1, 2]), waiting_for(&[]), waiting_for(&[1])];
        let ids: Vec<JobId> =
            store.add(&batch, now).expect("no cycle").iter().map(|added| added.id).collect();
        let first = store.get(ids[0]).expect("a query").expect("a job");
        let parents = first.dependencies.iter().map(|dependency| dependency.seen.edge.parent);
        assert_eq!(parents.collect::<Vec<_>>(), [ids[1], ids[2]]);
        let circle = store.add(&[waiting_for(&[1]), waiting_for(&[0])], now);
        assert!(matches!(circle, Err(Error::BatchCycle { .. })), "{circle:?}");
    }

    fn plain(now: Timestamp) -> NewJob {
        let place = Place::new(std::path::Path::new("/"), 0o022, &EnvBlock::default());
        Settings::default().job(Command::Shell(b"true".to_vec()), &place, now)
    }
}
