//! What a supervisor does, one step at a time. Its steps are those of the real
//! one (`exec::supervisor`), and it may be killed between any two.

use std::time::Duration;

use ax_scheduler::exec::journal::Step;
use ax_scheduler::exec::{Ended, Report, Stop};
use ax_scheduler::job::{Captured, Claim, Claimed, Outcome, Process, Settlement};
use ax_scheduler::store::{Started, Turn};

use super::supervisor::{Order, Phase};
use super::world::World;

fn not_started(why: &str) -> Outcome {
    Outcome::NotStarted(why.to_owned())
}

impl World {
    fn ended(&self, claim: Claim, outcome: Outcome, process: Option<Process>) -> Ended {
        let ended_at = self.machine.now();
        Ended { claim, outcome, process, ended_at, output: Captured::default() }
    }

    /// Lets a supervisor do one thing; tells whether there was one.
    pub(crate) fn step_supervisor(&mut self, at: usize) -> bool {
        let supervisor = &self.supervisors[at];
        if !supervisor.alive || supervisor.stopped {
            return false;
        }
        if supervisor.records.is_some() && self.rng.bool() && self.ask(at) {
            return true;
        }
        if self.supervisors[at].records.is_some() && self.rng.bool() && self.record(at) {
            return true;
        }
        // What was heard together with the end of the runner comes before it.
        if self.rng.bool() && self.advance(at) {
            return true;
        }
        self.hear(at) || self.advance(at) || self.record(at) || self.leave(at)
    }

    /// Asks whether a person wants the job ended that is in hand without a runner.
    fn ask(&mut self, at: usize) -> bool {
        let supervisor = &self.supervisors[at];
        let Some(claim) = supervisor.phase.claim().filter(|_| supervisor.stop.is_none()) else {
            return false;
        };
        let claims = self.store(at).cancels(claim.owner).expect("an answer");
        let is_wanted = claims.contains(&claim);
        if is_wanted {
            self.supervisors[at].stop = Some(Outcome::Cancelled);
        }
        is_wanted
    }

    /// Hears what the runner says, or that it is gone.
    fn hear(&mut self, at: usize) -> bool {
        let heard = self.runners[self.supervisors[at].runner].alive;
        let supervisor = &mut self.supervisors[at];
        if supervisor.records.is_some() {
            return false;
        }
        match supervisor.orders.pop_front() {
            Some(Order::Run(claimed)) => supervisor.queue.push_back(*claimed),
            Some(Order::Stop(claim, why)) => self.stop_attempt(at, claim, why),
            None if heard || supervisor.retired => return false,
            None => self.be_orphaned(at),
        }
        true
    }

    fn be_orphaned(&mut self, at: usize) {
        self.tell_trace(|| format!("supervisor {at} is orphaned"));
        let supervisor = &mut self.supervisors[at];
        supervisor.records = Some(supervisor.recent.drain(..).collect());
        while let Some(claimed) = self.supervisors[at].queue.pop_front() {
            let ended = self.ended(claimed.claim, not_started("its runner ended"), None);
            self.supervisors[at].tell(claimed, Report::Ended(ended), false);
        }
        self.tell_start(at);
    }

    fn stop_attempt(&mut self, at: usize, claim: Claim, why: Stop) {
        let supervisor = &mut self.supervisors[at];
        let outcome = match why {
            Stop::Shutdown => Outcome::Interrupted,
            Stop::Cancel => Outcome::Cancelled,
        };
        if supervisor.phase.claim() == Some(claim) {
            supervisor.stop = Some(outcome);
        } else if let Some(place) = supervisor.queue.iter().position(|it| it.claim == claim) {
            let claimed = supervisor.queue.remove(place).expect("it was found");
            let ended = self.ended(claim, not_started("the runner shuts down"), None);
            self.report(at, claimed, Report::Ended(ended));
        }
    }

    /// Says something to the runner; one that is gone makes an orphan.
    fn report(&mut self, at: usize, claimed: Claimed, report: Report) {
        let heard = self.runners[self.supervisors[at].runner].alive;
        self.supervisors[at].tell(claimed, report, heard);
        if !heard && self.supervisors[at].records.is_none() {
            self.be_orphaned(at);
        }
    }

    fn tell_start(&mut self, at: usize) {
        let supervisor = &mut self.supervisors[at];
        let Phase::Running(claimed, process) = &supervisor.phase else { return };
        let (claimed, process) = (claimed.clone(), *process);
        if !std::mem::replace(&mut supervisor.told, true) {
            let claim = claimed.claim;
            self.report(at, claimed, Report::Started { claim, process });
        }
    }

    /// Goes on with the job in hand.
    fn advance(&mut self, at: usize) -> bool {
        let phase = std::mem::replace(&mut self.supervisors[at].phase, Phase::Free);
        let next = match phase {
            Phase::Free => return self.begin_next(at),
            Phase::Begun(claimed) => {
                if self.holds_lock(self.supervisors[at].runner) {
                    Phase::Fenced(claimed)
                } else {
                    let ended = self.ended(claimed.claim, not_started("its runner ended"), None);
                    Phase::Over(claimed, ended)
                }
            }
            Phase::Fenced(claimed) => self.spawn(claimed),
            Phase::Spawned(claimed, process) => {
                self.supervisors[at].journal.note(Step::Started(process));
                Phase::Running(claimed, process)
            }
            Phase::Running(claimed, process) => {
                let Some(ended) = self.watch(at, &claimed, process) else {
                    self.supervisors[at].phase = Phase::Running(claimed, process);
                    let is_new = !self.supervisors[at].told && self.rng.bool();
                    if is_new {
                        self.tell_start(at);
                    }
                    return is_new;
                };
                Phase::Over(claimed, ended)
            }
            Phase::Over(claimed, ended) => {
                let Ended { outcome, process, ended_at, .. } = ended.clone();
                let step = Step::Ended { process, outcome, ended_at, written: 0 };
                self.supervisors[at].journal.note(step);
                Phase::Noted(claimed, ended)
            }
            Phase::Noted(claimed, ended) => {
                let leaves_some = ended.process.is_some() && self.rng.u32(..12) == 0;
                let supervisor = &mut self.supervisors[at];
                supervisor.retired |= leaves_some;
                (supervisor.told, supervisor.stop) = (false, None);
                self.report(at, claimed, Report::Ended(ended));
                Phase::Free
            }
        };
        self.supervisors[at].phase = next;
        true
    }

    fn begin_next(&mut self, at: usize) -> bool {
        let supervisor = &mut self.supervisors[at];
        if supervisor.retired || supervisor.records.is_some() {
            return false;
        }
        let Some(claimed) = supervisor.queue.pop_front() else { return false };
        supervisor.journal.begin(claimed.claim);
        supervisor.phase = Phase::Begun(claimed);
        true
    }

    fn spawn(&mut self, claimed: Claimed) -> Phase {
        let refusal = match self.rng.u32(..16) {
            0 if self.is_storm => not_started("no more processes"),
            1 if self.is_storm => Outcome::Unstartable("no such directory".to_owned()),
            _ => {
                let Claim { job, attempt, .. } = claimed.claim;
                let last = self.jobs[&job].last_attempt;
                let may = last.is_none_or(|last| attempt <= last);
                assert!(may, "job {job} is started after a person had ended it");
                let process = self.machine.start(claimed.claim);
                self.tell_trace(|| format!("{:?} is started", claimed.claim));
                return Phase::Spawned(claimed, process);
            }
        };
        if matches!(refusal, Outcome::Unstartable(_)) {
            // It is a failed attempt, though no process was started.
            self.machine.allow(claimed.claim.job, -1);
        }
        let ended = self.ended(claimed.claim, refusal, None);
        Phase::Over(claimed, ended)
    }

    /// Looks whether the job has ended, or is to be stopped.
    fn watch(&mut self, at: usize, claimed: &Claimed, process: Process) -> Option<Ended> {
        let time_is_up = self.rng.u32(..30) == 0;
        let timeout = time_is_up.then_some(Outcome::TimedOut(Duration::from_mins(1)));
        let stop = self.supervisors[at].stop.clone().or(timeout);
        if let Some(outcome) = stop {
            self.machine.end(claimed.claim, outcome);
        }
        let outcome = self.machine.run(claimed.claim)?.end.clone()?;
        Some(self.ended(claimed.claim, outcome, Some(process)))
    }

    /// Records one of the results that no runner asks for.
    fn record(&mut self, at: usize) -> bool {
        let Some(records) = &self.supervisors[at].records else { return false };
        let Some((claimed, report)) = records.front().cloned() else { return false };
        let (mut started, mut settled) = (Vec::new(), Vec::new());
        match report {
            Report::Started { claim, process } => started.push(Started { claim, process }),
            Report::Stuck { .. } => (),
            Report::Ended(ended) => {
                let verdict = claimed.policy.judge(&ended.outcome, ended.ended_at);
                let Ended { claim, outcome, process, ended_at, output } = ended;
                settled.push(Settlement { claim, outcome, verdict, process, ended_at, output });
            }
        }
        if self.is_trouble() {
            return true;
        }
        self.tell_trace(|| format!("supervisor {at} records {started:?} {settled:?}"));
        let turn = Turn {
            runner: claimed.claim.owner,
            now: self.machine.now(),
            started: &started,
            settled: &settled,
            handed: &[],
            serves: false,
            room: 0,
            scope: None,
        };
        self.store(at).turn(&turn).expect("a turn");
        if let Some(records) = &mut self.supervisors[at].records {
            records.pop_front();
        }
        true
    }

    /// Ends, if nothing is left to do.
    fn leave(&mut self, at: usize) -> bool {
        let supervisor = &mut self.supervisors[at];
        let is_done = match &supervisor.records {
            Some(records) => records.is_empty(),
            None => supervisor.retired,
        };
        if !is_done || !supervisor.is_idle() {
            return false;
        }
        supervisor.alive = false;
        if supervisor.records.is_some() {
            supervisor.journal.exists = false;
        }
        true
    }
}
