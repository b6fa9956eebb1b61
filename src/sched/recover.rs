//! Attempts that a dead runner left behind.
//!
//! Nothing is guessed from elapsed time. A runner lives as long as its lock is
//! held; so does a supervisor, and its journal tells what it has started. A
//! supervisor starts nothing once its runner's lock is free, so what no
//! journal tells of was not started and will not be.

use std::io;

use super::scene::{Scene, Witness};
use crate::crash;
use crate::exec::journal::{self, Entry, Step};
use crate::job::{
    Captured, Claim, Claimed, JobId, OnLost, Outcome, Process, RunnerId, Settlement, State,
    Timestamp, Verdict,
};
use crate::sched::RunEvent;
use crate::store::{self, Runner, Said, Store, Turn};

/// What was found out about an attempt of a dead runner.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// A supervisor has it and records its end.
    RunsOn,
    /// It ended this way, or nobody knows how.
    Ended(Outcome, Option<Process>),
}

impl Fate {
    /// Tells whether nobody knows how it ended.
    pub const fn is_lost(&self) -> bool {
        matches!(self, Self::Ended(Outcome::Lost(_), _))
    }
}

/// An attempt of a dead runner.
#[derive(Clone, Debug)]
pub struct Left {
    /// The job, as it was claimed.
    pub claimed: Claimed,
    /// What was found out.
    pub fate: Fate,
}

/// An attempt of a dead runner that was settled, or would be.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// Which attempt.
    pub claim: Claim,
    /// What people call the job.
    pub title: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What becomes of the job; nothing yet as long as not all of it has ended.
    pub verdict: Option<Verdict>,
}

impl Recovered {
    /// What happened and what becomes of the job, in words.
    pub fn what(&self) -> String {
        let Some(verdict) = self.verdict else {
            return format!(
                "{}; it is looked at again",
                self.outcome.error("").unwrap_or_default()
            );
        };
        let next = match verdict {
            Verdict::Success => "success",
            Verdict::Retry(_) => "it is tried again",
            Verdict::Dead => "dead, no retries are left",
            Verdict::Held => "held until a person decides",
            Verdict::GiveBack => "it goes back to the queue, no attempt is used",
            Verdict::Interrupt => "it goes back to the queue, no retry is used",
            Verdict::Later(_) => "it comes again later, as it asked",
            Verdict::Cancelled => "cancelled",
        };
        match self.outcome.error("") {
            Some(error) => format!("{error}; {next}"),
            None => next.to_owned(),
        }
    }

    /// The same for whoever watches a runner.
    pub fn event(&self) -> RunEvent {
        let (claim, title, what) = (self.claim, self.title.clone(), self.what());
        match self.verdict {
            Some(verdict) => RunEvent::Recovered { claim, title, verdict, what },
            None => {
                RunEvent::Trouble(format!("job {}, attempt {}: {what}", claim.job, claim.attempt))
            }
        }
    }
}

/// Why attempts could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store said so.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A file or `/proc` could not be read.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Settles everything that dead runners left behind, and strikes them out.
/// Lost attempts of the jobs in `hold` are held instead of going by their
/// policy, because a person is about to speak.
///
/// # Errors
/// What could not be read or written; what was settled before stays so.
pub fn settle_all(
    store: &mut dyn Store,
    scene: &dyn Scene,
    me: Option<RunnerId>,
    hold: &[JobId],
    now: Timestamp,
) -> Result<Vec<Recovered>, Error> {
    let mut recovered = Vec::new();
    for runner in dead_runners(store, scene, me)? {
        let evidence = Evidence::gather(scene, &runner)?;
        for mut left in evidence.weigh(scene, store.claims(runner.id)?)? {
            if hold.contains(&left.claimed.claim.job) {
                left.claimed.policy.on_lost = OnLost::Hold;
            }
            recovered.extend(settle(store, scene, &evidence, left, now)?);
        }
        if !evidence.supervisor_lives() && store.discharge(runner.id)? {
            crash::point("recover", "before-clearing");
            scene.clear_away(runner.id, &evidence.supervisors);
            crash::point("recover", "after-clearing");
        }
    }
    Ok(recovered)
}

/// Settles those of the `abandoned` attempts of a live runner that no
/// supervisor goes on with, and forgets those that are settled. Their workers
/// broke, and it is known of each whether its supervisor has begun it.
///
/// # Errors
/// What could not be read or written; what was settled before stays so.
pub fn settle_own(
    store: &mut dyn Store,
    scene: &dyn Scene,
    me: RunnerId,
    abandoned: &mut Vec<Claim>,
    now: Timestamp,
) -> Result<Vec<Recovered>, Error> {
    let Some(own) = store.runners()?.into_iter().find(|runner| runner.id == me) else {
        return Ok(Vec::new());
    };
    let evidence = Evidence::gather(scene, &own)?;
    let mut claims = store.claims(me)?;
    claims.retain(|(claimed, _)| abandoned.contains(&claimed.claim));
    abandoned.retain(|claim| claims.iter().any(|(claimed, _)| claimed.claim == *claim));
    let mut recovered = Vec::new();
    for left in evidence.weigh(scene, claims)? {
        let Some(found) = settle(store, scene, &evidence, left, now)? else { continue };
        if found.verdict.is_some() {
            abandoned.retain(|claim| *claim != found.claim);
        }
        recovered.push(found);
    }
    Ok(recovered)
}

/// What dead runners left behind, without touching it.
///
/// # Errors
/// What could not be read.
pub fn find_all(store: &mut dyn Store, scene: &dyn Scene) -> Result<Vec<Left>, Error> {
    let mut all = Vec::new();
    for runner in dead_runners(store, scene, None)? {
        let evidence = Evidence::gather(scene, &runner)?;
        all.extend(evidence.weigh(scene, store.claims(runner.id)?)?);
    }
    Ok(all)
}

fn dead_runners(
    store: &mut dyn Store,
    scene: &dyn Scene,
    me: Option<RunnerId>,
) -> Result<Vec<Runner>, Error> {
    let mut dead = Vec::new();
    for runner in store.runners()? {
        if Some(runner.id) != me && !is_alive(scene, &runner)? {
            dead.push(runner);
        }
    }
    Ok(dead)
}

/// Tells whether a runner lives.
///
/// # Errors
/// When that cannot be found out.
pub fn is_alive(scene: &dyn Scene, runner: &Runner) -> io::Result<bool> {
    scene.is_alive(runner)
}

/// What is known of the attempts of a runner.
struct Evidence {
    /// Whether what no journal tells of was not started: [`Scene::is_complete`].
    complete: bool,
    supervisors: Vec<Witness>,
}

impl Evidence {
    /// The runner was proved dead before, or is who asks. Whether its journals
    /// are all there is asked after they were read: what is taken away
    /// meanwhile proves nothing.
    fn gather(scene: &dyn Scene, runner: &Runner) -> io::Result<Self> {
        let supervisors = scene.witnesses(runner.id)?;
        Ok(Self { complete: scene.is_complete(runner)?, supervisors })
    }

    fn supervisor_lives(&self) -> bool {
        self.supervisors.iter().any(|witness| witness.alive)
    }

    fn weigh(&self, scene: &dyn Scene, claims: Vec<(Claimed, State)>) -> io::Result<Vec<Left>> {
        let weighed = claims.into_iter().map(|(claimed, state)| {
            let fate = self.fate(scene, &claimed, state)?;
            Ok(Left { claimed, fate })
        });
        weighed.collect()
    }

    /// Where no journal tells of an attempt somebody may have taken the journal
    /// away, and its supervisor still records the end.
    fn fate(&self, scene: &dyn Scene, claimed: &Claimed, state: State) -> io::Result<Fate> {
        let witness = self.witness(claimed.claim);
        let entry = witness.map(|(witness, entry)| (entry, witness.alive));
        let fate = fate(state, entry, self.complete, claimed.policy.on_lost);
        let was_started = !matches!(fate, Fate::Ended(Outcome::NotStarted(_), _));
        if witness.is_none() && was_started && scene.is_seen(claimed.claim, &self.supervisors)? {
            return Ok(Fate::RunsOn);
        }
        Ok(fate)
    }

    /// Who tells most of a claim.
    fn witness(&self, claim: Claim) -> Option<(&Witness, &Entry)> {
        let entry = journal::known(
            self.supervisors.iter().flat_map(|witness| &witness.journal.entries),
            claim,
        )?;
        let has = |witness: &&Witness| {
            witness.journal.entries.iter().any(|other| std::ptr::eq(other, entry))
        };
        self.supervisors.iter().find(has).map(|witness| (witness, entry))
    }
}

/// What became of an attempt whose runner is dead: `entry` is what a journal
/// tells of it, and whether the supervisor that wrote it lives.
fn fate(state: State, entry: Option<(&Entry, bool)>, complete: bool, on_lost: OnLost) -> Fate {
    match entry.map(|(entry, alive)| (&entry.step, alive)) {
        // One that lives records the end itself, with the output.
        Some((Step::Intent | Step::Started(_) | Step::Ended { .. }, true)) => Fate::RunsOn,
        // It may have been claimed again, and started, under the same number.
        Some((Step::Ended { outcome: Outcome::NotStarted(_), .. }, false)) if !complete => {
            unproven(state, on_lost)
        }
        Some((Step::Ended { outcome, process, .. }, false)) => {
            Fate::Ended(outcome.clone(), *process)
        }
        Some((Step::Started(process), false)) => {
            lost("its runner and its supervisor were killed", Some(*process))
        }
        Some((Step::Intent, false)) => {
            lost("its runner and its supervisor were killed while it was being started", None)
        }
        None if complete && state != State::Running => {
            Fate::Ended(Outcome::NotStarted("its runner is gone".to_owned()), None)
        }
        None => unproven(state, on_lost),
    }
}

fn lost(why: &str, process: Option<Process>) -> Fate {
    Fate::Ended(Outcome::Lost(why.to_owned()), process)
}

/// What becomes of an attempt of which no journal tells, when a journal may be
/// missing. One that was not known to run is most likely one that waited in the
/// queue of its runner: that costs no retry, but its number is used.
fn unproven(state: State, on_lost: OnLost) -> Fate {
    if state == State::Running {
        return lost("its runner is gone", None);
    }
    match on_lost {
        OnLost::Requeue => Fate::Ended(Outcome::Interrupted, None),
        OnLost::Hold | OnLost::Fail => {
            lost("its runner is gone, and nobody knows whether it was started", None)
        }
    }
}

/// Stops what is left of an attempt, and writes what became of it. `None` if
/// it runs on, or if somebody else did so at the same time.
fn settle(
    store: &mut dyn Store,
    scene: &dyn Scene,
    evidence: &Evidence,
    left: Left,
    now: Timestamp,
) -> Result<Option<Recovered>, Error> {
    let Left { claimed, fate } = left;
    let Fate::Ended(outcome, process) = fate else { return Ok(None) };
    let claim = claimed.claim;
    let witness = evidence.witness(claim);
    if matches!(outcome, Outcome::Lost(_))
        && let Some((witness, _)) = witness
        && let Some(why) = scene.stop_survivors(witness, claim, process)?
    {
        return note_stuck(store, claimed, why, now);
    }
    // A claim that was given back may be somebody's again, and so its files.
    let was_begun = !matches!(outcome, Outcome::NotStarted(_));
    let output = match witness {
        Some((witness, _)) if was_begun => scene.salvage(witness, claim),
        Some(_) | None => Captured::default(),
    };
    let ended_at = match witness.map(|(_, entry)| &entry.step) {
        Some(Step::Ended { ended_at, .. }) => *ended_at,
        Some(Step::Intent | Step::Started(_)) | None => now,
    };
    let verdict = claimed.policy.judge(&outcome, now);
    let settlement = Settlement { claim, outcome, verdict, process, ended_at, output };
    let settled = std::slice::from_ref(&settlement);
    let turn = Turn {
        runner: claim.owner,
        now,
        started: &[],
        settled,
        handed: &[],
        serves: false,
        room: 0,
        scope: None,
    };
    crash::point("recover", "before-turn");
    let turned = store.turn(&turn)?;
    crash::point("recover", "after-turn");
    if turned.late.contains(&claim) || turned.repeated.contains(&claim) {
        return Ok(None);
    }
    let Settlement { outcome, .. } = settlement;
    let verdict = turned.overruled.first().map_or(verdict, |(_, instead)| *instead);
    Ok(Some(Recovered { claim, title: claimed.title, outcome, verdict: Some(verdict) }))
}

/// Writes what is left of an attempt that was killed. `None` if it was written
/// before.
fn note_stuck(
    store: &mut dyn Store,
    claimed: Claimed,
    why: String,
    now: Timestamp,
) -> Result<Option<Recovered>, Error> {
    let Claimed { claim, title, .. } = claimed;
    match store.say(claim.job, claim.attempt, &Said::Stuck(why.clone()), now) {
        Ok(()) => Ok(Some(Recovered { claim, title, outcome: Outcome::Lost(why), verdict: None })),
        Err(store::Error::NotRunning { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::hook::{HookId, OpenHook};
    use std::cell::Cell;

    const CLAIM: Claim = Claim { job: JobId(1), attempt: 1, owner: RunnerId(1) };
    const PROCESS: Process =
        Process { pid: 7, start_time: 9, started_at: Timestamp::from_millis(5) };

    fn entry(step: Step) -> Entry {
        Entry { claim: CLAIM, number: 0, step }
    }

    fn is_given_back(fate: &Fate) -> bool {
        matches!(fate, Fate::Ended(Outcome::NotStarted(_), None))
    }

    /// Files that somebody takes away as soon as they were looked for.
    #[derive(Default)]
    struct Vanishing(Cell<bool>);

    impl Scene for Vanishing {
        fn is_alive(&self, _: &Runner) -> io::Result<bool> {
            Ok(false)
        }

        fn is_complete(&self, _: &Runner) -> io::Result<bool> {
            Ok(!self.0.get())
        }

        fn witnesses(&self, _: RunnerId) -> io::Result<Vec<Witness>> {
            self.0.set(true);
            Ok(Vec::new())
        }

        fn stop_survivors(
            &self,
            _: &Witness,
            _: Claim,
            _: Option<Process>,
        ) -> io::Result<Option<String>> {
            Ok(None)
        }

        fn is_seen(&self, _: Claim, _: &[Witness]) -> io::Result<bool> {
            Ok(false)
        }

        fn salvage(&self, _: &Witness, _: Claim) -> Captured {
            Captured::default()
        }

        fn is_hook_alive(&self, _: HookId) -> io::Result<bool> {
            Ok(false)
        }

        fn stop_hook(&self, _: &OpenHook) -> io::Result<Option<String>> {
            Ok(None)
        }

        fn clear_hook_away(&self, _: HookId) {}

        fn clear_away(&self, _: RunnerId, _: &[Witness]) {}
    }

    #[test]
    fn journals_that_are_taken_away_while_they_are_read_prove_nothing() {
        let runner = Runner {
            id: CLAIM.owner,
            pid: 7,
            start_time: 9,
            boot_id: String::new(),
            workers: 1,
            started_at: Timestamp::from_millis(5),
        };
        let evidence = Evidence::gather(&Vanishing::default(), &runner).expect("looked at");
        assert!(!evidence.complete);
    }

    #[test]
    fn an_attempt_with_a_live_supervisor_runs_on() {
        for step in [Step::Intent, Step::Started(PROCESS)] {
            let entry = entry(step);
            let fate = fate(State::Dispatched, Some((&entry, true)), true, OnLost::Requeue);
            assert_eq!(fate, Fate::RunsOn);
        }
    }

    #[test]
    fn an_end_in_the_journal_counts_and_a_live_supervisor_records_it_itself() {
        let ended = entry(Step::Ended {
            process: Some(PROCESS),
            outcome: Outcome::Exited(3),
            ended_at: Timestamp::from_millis(6),
            written: 0,
        });
        let fate = |alive| fate(State::Running, Some((&ended, alive)), true, OnLost::Requeue);
        assert_eq!(fate(false), Fate::Ended(Outcome::Exited(3), Some(PROCESS)));
        assert_eq!(fate(true), Fate::RunsOn);
    }

    #[test]
    fn a_start_without_an_end_is_lost() {
        for step in [Step::Intent, Step::Started(PROCESS)] {
            let entry = entry(step);
            assert!(fate(State::Running, Some((&entry, false)), true, OnLost::Requeue).is_lost());
        }
    }

    #[test]
    fn what_no_journal_tells_of_was_not_started() {
        assert!(is_given_back(&fate(State::Dispatched, None, true, OnLost::Hold)));
    }

    #[test]
    fn after_a_restart_of_the_machine_what_may_have_been_started_uses_its_number() {
        let not_started = entry(Step::Ended {
            process: None,
            outcome: Outcome::NotStarted("too many open files".to_owned()),
            ended_at: Timestamp::from_millis(6),
            written: 0,
        });
        for entry in [None, Some((&not_started, false))] {
            let fate = |state, on_lost| fate(state, entry, false, on_lost);
            assert!(fate(State::Dispatched, OnLost::Hold).is_lost());
            assert!(fate(State::Dispatched, OnLost::Fail).is_lost());
            let again = Fate::Ended(Outcome::Interrupted, None);
            assert_eq!(fate(State::Dispatched, OnLost::Requeue), again);
            assert!(fate(State::Running, OnLost::Requeue).is_lost());
        }
    }
}
