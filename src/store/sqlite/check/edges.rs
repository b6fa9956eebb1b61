//! Faults of dependencies: what they lead to, and what they say of their jobs.

use rusqlite::{Connection, Result, Row, named_params};

use super::cycles::{Tangle, tangles};
use super::{Help, Question, by_hand};
use crate::job::dependency::{Edge, Readiness, Seen, cycle_text, skip_reason};
use crate::job::{JobId, State, Timestamp};
use crate::store::{Cure, Fault, FaultKind, Repair};

/// How many members of a cycle are printed.
const SHOWN: usize = 20;

pub(super) fn faults(connection: &Connection, _now: Timestamp) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for question in &QUESTIONS {
        question.ask(connection, &mut faults)?;
    }
    for tangle in tangles(all(connection)?) {
        faults.push(cycle(connection, tangle)?);
    }
    unjudged(connection, &mut faults)?;
    Ok(faults)
}

const QUESTIONS: [Question; 5] = [
    Question {
        kind: FaultKind::MissingParent,
        sql: "
            SELECT DISTINCT edge.job_id,
                'waits for job ' || edge.depends_on || ', which does not exist', edge.depends_on
            FROM ax_deps AS edge JOIN ax_jobs AS child ON child.id = edge.job_id
            WHERE edge.depends_on NOT IN (SELECT id FROM ax_jobs)
                AND child.status IN ('pending', 'ready', 'held', 'skipped')
            ORDER BY edge.job_id",
        help: Help::Advice(
            "`ax deps remove {job} {other}` takes the dependency away; if the job was skipped, \
             `ax retry {job}` brings it back",
        ),
    },
    Question {
        kind: FaultKind::MissingParent,
        sql: "
            SELECT DISTINCT edge.job_id,
                'is said to come after job ' || edge.depends_on || ', which does not exist'
            FROM ax_deps AS edge JOIN ax_jobs AS child ON child.id = edge.job_id
            WHERE edge.depends_on NOT IN (SELECT id FROM ax_jobs)
                AND child.status NOT IN ('pending', 'ready', 'held', 'skipped')
            ORDER BY edge.job_id",
        help: Help::Repair(Repair::ForgetMissingParents),
    },
    Question {
        kind: FaultKind::MissingChild,
        sql: "
            SELECT job_id, 'does not exist, and yet waits for job ' || max(depends_on)
            FROM ax_deps
            WHERE job_id NOT IN (SELECT id FROM ax_jobs)
            GROUP BY job_id
            ORDER BY job_id",
        help: Help::Repair(Repair::ForgetMissingChild),
    },
    Question {
        kind: FaultKind::SelfDependency,
        sql: "
            SELECT DISTINCT edge.job_id, 'waits for itself'
            FROM ax_deps AS edge JOIN ax_jobs AS child ON child.id = edge.job_id
            WHERE edge.depends_on = edge.job_id AND child.status IN ('pending', 'ready', 'held', 'skipped')
            ORDER BY edge.job_id",
        help: Help::Advice("`ax deps remove {job} {job}` lets it run; if it was skipped, `ax retry {job}` brings it \
             back"),
    },
    Question {
        kind: FaultKind::SelfDependency,
        sql: "
            SELECT DISTINCT edge.job_id, 'is said to come after itself'
            FROM ax_deps AS edge JOIN ax_jobs AS child ON child.id = edge.job_id
            WHERE edge.depends_on = edge.job_id
                AND child.status NOT IN ('pending', 'ready', 'held', 'skipped')
            ORDER BY edge.job_id",
        help: Help::Repair(Repair::ForgetSelf),
    },
];

fn all(connection: &Connection) -> Result<Vec<(JobId, JobId)>> {
    let mut query = connection.prepare("SELECT job_id, depends_on FROM ax_deps")?;
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Cycles are told of whatever state their jobs are in: `ax` makes none, and
/// their jobs could never be brought back.
fn cycle(connection: &Connection, tangle: Tangle) -> Result<Fault> {
    let Tangle { cycle, others } = tangle;
    let others: Vec<_> = others.iter().take(SHOWN).map(JobId::to_string).collect();
    let joined = if others.is_empty() { "" } else { "; and with them " };
    let what = format!("jobs wait for each other: {}{joined}{}", shown(&cycle), others.join(", "));
    let (child, parent) = edge_to_cut(connection, &cycle)?;
    let advice = if waits(connection, child)? {
        format!(
            "`ax deps remove {child} {parent}` opens it there; if the job was skipped, \
             `ax retry {child}` brings it back"
        )
    } else {
        let sql = format!("DELETE FROM ax_deps WHERE job_id = {child} AND depends_on = {parent}");
        format!("{} opens it there, then `ax retry {child}`", by_hand(connection, &sql))
    };
    let cure = Cure::Advice(advice);
    Ok(Fault { kind: FaultKind::Cycle, job: Some(child), what, cure })
}

/// The edge to blame: one from a job to a job that was added later, which `ax
/// add` does not make; of several one that can be removed with `ax`.
fn edge_to_cut(connection: &Connection, cycle: &[JobId]) -> Result<(JobId, JobId)> {
    let next = cycle.iter().cycle().skip(1);
    let forward = cycle.iter().zip(next).filter(|(child, parent)| child < parent);
    for (child, parent) in forward {
        if waits(connection, *child)? {
            return Ok((*child, *parent));
        }
    }
    // A cycle begins with its lowest member.
    Ok((cycle[0], cycle[1]))
}

/// Tells whether a job can lose a dependency by `ax deps remove`.
fn waits(connection: &Connection, job: JobId) -> Result<bool> {
    const WAITS: &str = "
        SELECT EXISTS (
            SELECT 1 FROM ax_jobs
            WHERE id = :job AND status IN ('pending', 'ready', 'held', 'skipped'))";
    connection.prepare_cached(WAITS)?.query_row(named_params! { ":job": job }, |row| row.get(0))
}

fn shown(cycle: &[JobId]) -> String {
    if cycle.len() <= SHOWN {
        return cycle_text(cycle);
    }
    let first: Vec<_> = cycle.iter().take(SHOWN).map(JobId::to_string).collect();
    format!("{} → … → {}", first.join(" → "), cycle[0])
}

/// Every job that waits, with what it waits for; those that the next turn
/// judges are left out.
const WAITING: &str = "
    SELECT child.id, child.status, child.waits_on, edge.depends_on, edge.kind,
        parent.id IS NOT NULL AS is_there, parent.status
    FROM ax_jobs AS child
        LEFT JOIN ax_deps AS edge ON edge.job_id = child.id
        LEFT JOIN ax_jobs AS parent ON parent.id = edge.depends_on
    WHERE child.status IN ('pending', 'ready')
        AND (edge.job_id IS NOT NULL OR child.waits_on IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM ax_judge WHERE job_id = child.id)
        AND NOT EXISTS (
            SELECT 1 FROM ax_flow_runs AS run WHERE run.id = child.flow_run AND stage <> 'whole')
    ORDER BY child.id";

/// Jobs whose dependencies say something else than their row does.
fn unjudged(connection: &Connection, faults: &mut Vec<Fault>) -> Result<()> {
    let mut query = connection.prepare(WAITING)?;
    let mut rows = query.query([])?;
    let mut family: Option<Family> = None;
    while let Some(row) = rows.next()? {
        let id: JobId = row.get(0)?;
        if family.as_ref().is_some_and(|family| family.job != id) {
            faults.extend(family.take().and_then(Family::fault));
        }
        let known = match family {
            Some(ref mut known) => known,
            None => family.insert(Family::read(row)?),
        };
        known.add(row)?;
    }
    faults.extend(family.and_then(Family::fault));
    Ok(())
}

/// A job that waits, and its dependencies.
struct Family {
    job: JobId,
    is_ready: bool,
    waits_on: Option<JobId>,
    edges: Vec<Seen>,
    /// Whether a kind or a state is a word that nobody knows; that is a fault
    /// of its own, and nothing can be said about the rest.
    is_unreadable: bool,
}

impl Family {
    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            job: row.get(0)?,
            is_ready: row.get::<_, String>(1)? == State::Ready.as_str(),
            waits_on: row.get(2)?,
            edges: Vec::new(),
            is_unreadable: false,
        })
    }

    fn add(&mut self, row: &Row<'_>) -> Result<()> {
        let Some(parent) = row.get(3)? else { return Ok(()) };
        let kind = row.get_ref(4)?.as_str().unwrap_or_default().parse();
        let state = if row.get(5)? {
            row.get_ref(6)?.as_str().unwrap_or_default().parse().map(Some)
        } else {
            Ok(None)
        };
        match (kind, state) {
            (Ok(kind), Ok(state)) => {
                self.edges.push(Seen { edge: Edge { parent, kind }, parent: state });
            }
            (Err(_), _) | (_, Err(_)) => self.is_unreadable = true,
        }
        Ok(())
    }

    fn fault(self) -> Option<Fault> {
        if self.is_unreadable {
            return None;
        }
        let job = self.job;
        let (kind, what) = match Readiness::of(&self.edges) {
            Readiness::Never(broken) => (
                FaultKind::NeverReady,
                format!("job {job} can never run: it {}", skip_reason(&broken)),
            ),
            Readiness::Waiting if self.is_ready => (
                FaultKind::Drifted,
                format!("job {job} is marked as ready, though what it waits for has not ended"),
            ),
            Readiness::Waiting if !self.waits_for_open_parent() => (
                FaultKind::Drifted,
                format!("job {job} is not marked as waiting for a job that can still end"),
            ),
            Readiness::Met if self.waits_on.is_some() && !self.is_ready => (
                FaultKind::Drifted,
                format!("job {job} is marked as waiting, though it waits for nothing"),
            ),
            Readiness::Waiting | Readiness::Met => return None,
        };
        Some(Fault { kind, job: Some(job), what, cure: Cure::Repair(Repair::Judge) })
    }

    fn waits_for_open_parent(&self) -> bool {
        self.edges.iter().any(|seen| {
            Some(seen.edge.parent) == self.waits_on
                && seen.parent.is_some_and(|state| !state.is_final())
        })
    }
}
