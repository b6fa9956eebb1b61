//! What must hold once all is quiet, whoever was killed meanwhile and when.
//! Nobody has retried, released or resolved anything.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::{Line, Said};
use super::{Breach, DOCUMENTED, Proof};

type Promise = fn(&Proof) -> Vec<Breach>;

macro_rules! promises {
    ($($promise:ident)*) => { [$((stringify!($promise), $promise)),*] };
}

/// Every promise with its sentence.
pub(super) const ALL: [(&str, Promise); 15] = promises! {
    every_acknowledged_add_exists
    an_attempt_is_started_once_at_most
    attempts_of_a_job_never_overlap
    a_job_that_holds_is_not_started_again_once_an_outcome_is_unknown
    starts_are_no_more_than_retries_and_losses_and_shutdowns_allow
    a_success_has_an_end_0_in_the_ledger
    an_outcome_that_is_unknown_is_recorded_as_nothing_else
    no_child_starts_before_its_condition_holds
    no_child_waits_for_what_can_never_come
    nothing_is_skipped_that_could_still_run
    every_job_comes_to_an_end_or_waits_for_a_person
    nothing_is_owned_once_all_is_quiet
    no_process_of_an_ended_attempt_lives
    the_database_is_whole
    every_command_ends_with_a_documented_code
};

fn every_acknowledged_add_exists(proof: &Proof) -> Vec<Breach> {
    let there: BTreeSet<_> = proof.jobs.iter().map(|job| job.id).collect();
    let gone = proof.acknowledged.difference(&there);
    gone.map(|id| Breach::of(*id, format!("job {id} is not there"))).collect()
}

fn an_attempt_is_started_once_at_most(proof: &Proof) -> Vec<Breach> {
    let mut known = BTreeSet::new();
    let twice = proof.ledger.iter().filter(|line| line.is_start());
    let twice = twice.filter(|line| !known.insert((line.job, line.attempt)));
    twice.map(|line| Breach::of(line.job, format!("{}.{}", line.job, line.attempt))).collect()
}

/// A line of an attempt after the start of a later one tells of an overlap,
/// and so does a job that could not have its lock alone.
fn attempts_of_a_job_never_overlap(proof: &Proof) -> Vec<Breach> {
    let mut latest = BTreeMap::new();
    let mut found = Vec::new();
    for Line { job, attempt, what } in &proof.ledger {
        let last = latest.entry(job).or_insert(attempt);
        let is_earlier = attempt < *last;
        *last = attempt.max(*last);
        if is_earlier || *what == Said::Overlap {
            found.push(Breach::of(*job, format!("{job}.{attempt}")));
        }
    }
    found
}

fn a_job_that_holds_is_not_started_again_once_an_outcome_is_unknown(proof: &Proof) -> Vec<Breach> {
    let holds: BTreeSet<_> =
        proof.jobs.iter().filter(|job| job.on_lost == "hold").map(|job| job.id).collect();
    let lost = proof.attempts.iter().filter(|one| one.outcome.as_deref() == Some("lost"));
    lost.filter(|lost| holds.contains(&lost.job))
        .filter(|lost| starts(proof, lost.job).any(|line| line.attempt > lost.number))
        .map(|lost| Breach::of(lost.job, format!("{}.{} was lost", lost.job, lost.number)))
        .collect()
}

fn starts_are_no_more_than_retries_and_losses_and_shutdowns_allow(proof: &Proof) -> Vec<Breach> {
    let mut found = Vec::new();
    for job in &proof.jobs {
        let stopped = proof.attempts.iter().filter(|one| one.job == job.id);
        let stopped = stopped.filter(|one| one.outcome.as_deref() == Some("interrupted")).count();
        let allowed = job.max_retries as usize + 1 + job.losses as usize + stopped;
        let count = starts(proof, job.id).count();
        if count > allowed {
            found.push(Breach::of(job.id, format!("{count} starts, {allowed} are allowed")));
        }
    }
    found
}

fn a_success_has_an_end_0_in_the_ledger(proof: &Proof) -> Vec<Breach> {
    let good = proof.jobs.iter().filter(|job| job.state == "success");
    let bad = good.filter(|job| end(proof, job.id, job.attempts) != Some(0));
    bad.map(|job| Breach::of(job.id, format!("job {}", job.id))).collect()
}

/// A job writes its exit code down before it ends, so a code that was recorded
/// stands in the ledger; no other outcome of these jobs is possible.
fn an_outcome_that_is_unknown_is_recorded_as_nothing_else(proof: &Proof) -> Vec<Breach> {
    let mut found = Vec::new();
    for one in &proof.attempts {
        let is_true = match one.outcome.as_deref() {
            Some("exited") => one.exit_code == end(proof, one.job, one.number),
            Some("lost" | "timed out" | "interrupted") => true,
            Some(_) | None => false,
        };
        if !is_true {
            found.push(Breach::of(one.job, format!("{one:?}")));
        }
    }
    found
}

fn no_child_starts_before_its_condition_holds(proof: &Proof) -> Vec<Breach> {
    let first = |job| proof.ledger.iter().position(|line| line.job == job && line.is_start());
    let mut found = Vec::new();
    for edge in &proof.edges {
        let Some(start) = first(edge.child) else { continue };
        let (before, after) = proof.ledger.split_at(start);
        let of_parent = |line: &&Line| line.job == edge.parent;
        let has_success =
            before.iter().filter(of_parent).any(|line| matches!(line.what, Said::End(0)));
        let goes_on = after.iter().any(|line| line.job == edge.parent);
        let holds = match edge.kind.as_str() {
            "after" => has_success && !goes_on,
            "after_any" => !goes_on,
            // One dead parent of several is enough.
            "on_failure" => proof.edges.iter().any(|other| {
                other.child == edge.child
                    && other.kind == edge.kind
                    && state(proof, other.parent) == "dead"
                    && !after.iter().any(|line| line.job == other.parent)
            }),
            kind => panic!("a kind of dependency: {kind}"),
        };
        if !holds {
            found.push(Breach::of(edge.child, format!("{edge:?}, {}", state(proof, edge.parent))));
        }
    }
    found
}

fn no_child_waits_for_what_can_never_come(proof: &Proof) -> Vec<Breach> {
    let waiting = proof.jobs.iter().filter(|job| job.state == "pending");
    let stuck = waiting.filter(|job| is_hopeless(proof, job.id));
    stuck.map(|job| Breach::of(job.id, format!("job {}", job.id))).collect()
}

fn nothing_is_skipped_that_could_still_run(proof: &Proof) -> Vec<Breach> {
    let skipped = proof.jobs.iter().filter(|job| job.state == "skipped");
    let wrongly = skipped.filter(|job| !is_hopeless(proof, job.id));
    wrongly.map(|job| Breach::of(job.id, format!("job {}", job.id))).collect()
}

/// Tells whether the dependencies of a job can no longer be met.
fn is_hopeless(proof: &Proof, job: i64) -> bool {
    let parents = |kind: &'static str| {
        let edges = proof.edges.iter().filter(move |edge| edge.child == job && edge.kind == kind);
        edges.map(|edge| state(proof, edge.parent))
    };
    let ended_otherwise = |state: &str| ["success", "cancelled", "skipped"].contains(&state);
    parents("after").any(|state| ["dead", "cancelled", "skipped"].contains(&state))
        || parents("on_failure").next().is_some() && parents("on_failure").all(ended_otherwise)
}

fn every_job_comes_to_an_end_or_waits_for_a_person(proof: &Proof) -> Vec<Breach> {
    let by_id: BTreeMap<_, _> = proof.jobs.iter().map(|job| (job.id, job)).collect();
    let unknown = |reason: &Option<String>| {
        reason.as_ref().is_some_and(|reason| reason.starts_with("outcome unknown"))
    };
    let mut waiting = BTreeSet::new();
    let mut found = Vec::new();
    // Parents have lower ids here, so they were looked at before.
    for job in &proof.jobs {
        let has_waiting_parent = proof.edges.iter().any(|edge| {
            edge.child == job.id
                && (waiting.contains(&edge.parent) || by_id[&edge.parent].state == "held")
        });
        match job.state.as_str() {
            _ if job.is_final() => (),
            "held" if unknown(&job.reason) && (job.on_lost == "hold" || job.losses >= 3) => (),
            "pending" if has_waiting_parent => {
                waiting.insert(job.id);
            }
            state => found.push(Breach::of(job.id, format!("job {} is {state}", job.id))),
        }
    }
    found
}

fn nothing_is_owned_once_all_is_quiet(proof: &Proof) -> Vec<Breach> {
    let owned = |state: &str| ["dispatched", "running"].contains(&state);
    let left = proof.jobs.iter().filter(|job| owned(&job.state));
    let open = proof.attempts.iter().filter(|one| one.outcome.is_none());
    let left = left.map(|job| Breach::of(job.id, format!("job {} is {}", job.id, job.state)));
    let open = open.map(|one| {
        Breach::of(one.job, format!("{}.{} of runner {} is open", one.job, one.number, one.owner))
    });
    left.chain(open).collect()
}

fn no_process_of_an_ended_attempt_lives(proof: &Proof) -> Vec<Breach> {
    proof.survivors.iter().map(|what| Breach { job: None, what: what.clone() }).collect()
}

fn the_database_is_whole(proof: &Proof) -> Vec<Breach> {
    proof.damage.iter().map(|what| Breach { job: None, what: what.clone() }).collect()
}

fn every_command_ends_with_a_documented_code(proof: &Proof) -> Vec<Breach> {
    let odd = proof.exits.iter().filter(|exit| !DOCUMENTED.contains(exit));
    odd.map(|exit| Breach { job: None, what: format!("exit {exit}") }).collect()
}

fn starts(proof: &Proof, job: i64) -> impl Iterator<Item = &Line> {
    proof.ledger.iter().filter(move |line| line.job == job && line.is_start())
}

/// The exit code that an attempt has written down.
fn end(proof: &Proof, job: i64, attempt: u32) -> Option<i32> {
    proof.ledger.iter().find_map(|line| match line.what {
        Said::End(code) if (line.job, line.attempt) == (job, attempt) => Some(code),
        Said::End(_) | Said::Start | Said::Overlap => None,
    })
}

fn state(proof: &Proof, job: i64) -> &str {
    let found = proof.jobs.binary_search_by_key(&job, |known| known.id);
    found.map_or("gone", |place| &proof.jobs[place].state)
}
