//! A line of a journal: which attempt, and how far it came.
//!
//! Lines are text, so that a person can read a journal. A line that is not
//! whole is taken for the least it can mean: an attempt that may have been
//! started.

use std::fmt::Write as _;
use std::str::FromStr;
use std::time::Duration;

use super::journal::SLOT;
use super::process::Identity;
use crate::escape::escape;
use crate::job::{Claim, JobId, Outcome, Process, RunnerId, Timestamp};

/// The end of a line that is whole.
const WHOLE: &str = " |";

/// How far an attempt came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It may have been started, or not.
    Intent,
    /// Its process was started.
    Started(Process),
    /// It ended.
    Ended {
        /// The process, if one was started.
        process: Option<Process>,
        /// How it ended; a reason may be cut short.
        outcome: Outcome,
        /// When it ended.
        ended_at: Timestamp,
        /// How many bytes it wrote.
        written: u64,
    },
}

/// What a journal tells of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which attempt.
    pub claim: Claim,
    /// Its number among those of this supervisor, from 0.
    pub number: u64,
    /// How far it came.
    pub step: Step,
}

/// Appends an entry to an empty text, in fewer than [`SLOT`] bytes.
pub(super) fn write_entry(text: &mut String, claim: Claim, number: u64, step: &Step) {
    let Claim { job, attempt, owner } = claim;
    let _ = write!(text, "{job}.{attempt} runner {owner} no {number} ");
    match step {
        Step::Intent => text.push_str("intent"),
        Step::Started(process) => write_process(text, "started", process),
        Step::Ended { process, outcome, ended_at, written } => {
            let _ = write!(text, "ended at {} wrote {written} ", ended_at.millis());
            if let Some(process) = process {
                write_process(text, "", process);
                text.push(' ');
            }
            write_outcome(text, outcome);
        }
    }
    while text.len() > SLOT - 1 - WHOLE.len() {
        text.pop();
    }
    text.push_str(WHOLE);
}

fn write_process(text: &mut String, what: &str, process: &Process) {
    let blank = if what.is_empty() { "" } else { " " };
    let Process { pid, start_time, started_at } = process;
    let _ = write!(text, "{what}{blank}pid {pid} start {start_time} since {}", started_at.millis());
}

fn write_outcome(text: &mut String, outcome: &Outcome) {
    let _ = match outcome {
        Outcome::Exited(code) => write!(text, "exited {code}"),
        Outcome::Signaled(signal) => write!(text, "signaled {signal}"),
        Outcome::TimedOut(limit) => write!(text, "timed-out {}", limit.as_millis()),
        Outcome::Interrupted => write!(text, "interrupted"),
        Outcome::Cancelled => write!(text, "cancelled"),
        Outcome::Unstartable(why) => write!(text, "unstartable {}", escape(why.as_bytes())),
        Outcome::NotStarted(why) => write!(text, "not-started {}", escape(why.as_bytes())),
        Outcome::Lost(why) => write!(text, "lost {}", escape(why.as_bytes())),
    };
}

/// The rest of a line, taken word by word.
pub(super) struct Words<'a>(pub(super) &'a str);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let end = text.find(' ').unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    fn word(&mut self, expected: &str) -> Option<()> {
        (self.next()? == expected).then_some(())
    }

    fn number<T: FromStr>(&mut self) -> Option<T> {
        self.next()?.parse().ok()
    }

    fn named<T: FromStr>(&mut self, name: &str) -> Option<T> {
        self.word(name)?;
        self.number()
    }

    fn rest(&self) -> String {
        self.0.trim().to_owned()
    }
}

pub(super) fn read_supervisor(words: &mut Words<'_>) -> Option<Identity> {
    let pid = words.named("supervisor")?;
    let start_time = words.named("start")?;
    Some(Identity { pid, start_time, boot_id: words.named("boot")? })
}

/// A line whose beginning can be read and whose end cannot is that of an
/// attempt that may have been started.
pub(super) fn read_entry(line: &str) -> Option<Entry> {
    let line = line.trim_end();
    let whole = line.strip_suffix(WHOLE);
    let mut words = Words(whole.unwrap_or(line));
    let (job, attempt) = words.next()?.split_once('.')?;
    let owner = RunnerId(words.named("runner")?);
    let claim = Claim { job: JobId(job.parse().ok()?), attempt: attempt.parse().ok()?, owner };
    let number = words.named("no")?;
    let step = whole.and_then(|_| read_step(&mut words)).unwrap_or(Step::Intent);
    Some(Entry { claim, number, step })
}

fn read_step(words: &mut Words<'_>) -> Option<Step> {
    match words.next()? {
        "started" => {
            words.word("pid")?;
            Some(Step::Started(read_process(words)?))
        }
        "ended" => read_end(words),
        _ => Some(Step::Intent),
    }
}

fn read_end(words: &mut Words<'_>) -> Option<Step> {
    let ended_at = Timestamp::from_millis(words.named("at")?);
    let written = words.named("wrote")?;
    let mut what = words.next()?;
    let mut process = None;
    if what == "pid" {
        process = Some(read_process(words)?);
        what = words.next()?;
    }
    let outcome = read_outcome(what, words)?;
    Some(Step::Ended { process, outcome, ended_at, written })
}

fn read_process(words: &mut Words<'_>) -> Option<Process> {
    let pid = words.number()?;
    let start_time = words.named("start")?;
    let started_at = Timestamp::from_millis(words.named("since")?);
    Some(Process { pid, start_time, started_at })
}

fn read_outcome(what: &str, words: &mut Words<'_>) -> Option<Outcome> {
    Some(match what {
        "exited" => Outcome::Exited(words.number()?),
        "signaled" => Outcome::Signaled(words.number()?),
        "timed-out" => Outcome::TimedOut(Duration::from_millis(words.number()?)),
        "interrupted" => Outcome::Interrupted,
        "cancelled" => Outcome::Cancelled,
        "unstartable" => Outcome::Unstartable(words.rest()),
        "not-started" => Outcome::NotStarted(words.rest()),
        "lost" => Outcome::Lost(words.rest()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(job: i64) -> Claim {
        Claim { job: JobId(job), attempt: 1, owner: RunnerId(3) }
    }

    fn process() -> Process {
        Process { pid: 4711, start_time: 88130, started_at: Timestamp::from_millis(1_700_000) }
    }

    fn ended(outcome: Outcome, process: Option<Process>) -> Step {
        Step::Ended { process, outcome, ended_at: Timestamp::from_millis(5), written: 12 }
    }

    fn text(claim: Claim, number: u64, step: &Step) -> String {
        let mut text = String::new();
        write_entry(&mut text, claim, number, step);
        text
    }

    #[test]
    fn every_step_reads_back_as_it_was_written() {
        let outcomes = [
            Outcome::Exited(-1),
            Outcome::Signaled(34),
            Outcome::TimedOut(Duration::from_millis(1500)),
            Outcome::Interrupted,
            Outcome::Cancelled,
            Outcome::Unstartable("directory /tmp/a b does not exist".into()),
            Outcome::NotStarted("too many open files".into()),
            Outcome::Lost("its supervisor was killed".into()),
        ];
        let ends = outcomes
            .into_iter()
            .flat_map(|outcome| [ended(outcome.clone(), None), ended(outcome, Some(process()))]);
        for step in ends.chain([Step::Intent, Step::Started(process())]) {
            let entry = read_entry(&text(claim(12), 7, &step));
            assert_eq!(entry, Some(Entry { claim: claim(12), number: 7, step }));
        }
    }

    #[test]
    fn a_line_cut_off_after_the_claim_may_be_that_of_a_started_job() {
        let whole = text(claim(12), 7, &ended(Outcome::Exited(12), Some(process())));
        let head = whole.find("ended").expect("there");
        for cut in head..whole.len() {
            let entry = read_entry(&whole[..cut]).expect("the claim is whole");
            assert_eq!(entry.step, Step::Intent, "{cut}");
        }
        assert_eq!(read_entry(&whole[..4]), None);
    }

    #[test]
    fn a_long_reason_is_cut_and_stays_one_line() {
        let why = "ä\n".repeat(400);
        let written = text(claim(1), 0, &ended(Outcome::Unstartable(why), None));
        assert!(written.len() < SLOT && written.ends_with(WHOLE) && !written.contains('\n'));
    }
}
