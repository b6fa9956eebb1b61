//! What a supervisor has done, in a file that outlives it.
//!
//! A journal is a ring of slots of [`SLOT`] bytes, one line of text each. The
//! first names the supervisor; the others tell of the last attempts it was
//! given. A line is written in place and never synced: it survives the death
//! of every process, and after the death of the machine no process is left to
//! ask about. The supervisor holds the file locked as long as it lives.
//!
//! ```text
//! supervisor 4710 start 88122 boot 62e224f3-c058-4276-a8b5-8b411e3ff843
//! 12.1 runner 3 no 7 ended at 1700000000123 wrote 12 pid 4711 start 88130 since 1700000000000 exited 0 |
//! 13.1 runner 3 no 8 intent |
//! ```
//!
//! The promise: an attempt whose intent is not in the journal was not started
//! by this supervisor, as long as no more than `keep` attempts are in doubt.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use super::lock::{hold_lock, is_locked};
use super::output;
use super::process::Identity;
use crate::job::{Claim, JobId, Outcome, Process, RunnerId, Timestamp};

/// The length of a line, with the blanks that fill it and its newline.
pub const SLOT: usize = 256;

/// The end of a line that is whole.
const WHOLE: &str = " |";

/// How often a journal that changes under the reader is read again.
const READS: usize = 100;

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

/// What a journal tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    /// The supervisor; `None` if it died before it could write its name, and
    /// then it has started nothing.
    pub supervisor: Option<Identity>,
    /// The last attempts it was given, oldest first.
    pub entries: Vec<Entry>,
}

impl Entries {
    /// What is known of an attempt; `None` if it was not started.
    pub fn of(&self, claim: Claim) -> Option<&Entry> {
        known(&self.entries, claim)
    }
}

/// What the entries of one or several journals say of a claim. A claim that
/// was given back may stand there more than once, so the entry that knows
/// most of a start is the one that counts.
pub fn known<'a>(entries: impl IntoIterator<Item = &'a Entry>, claim: Claim) -> Option<&'a Entry> {
    let weight = |entry: &&Entry| match &entry.step {
        Step::Ended { outcome: Outcome::NotStarted(_), .. } => 0,
        Step::Intent => 1,
        Step::Started(_) => 2,
        Step::Ended { .. } => 3,
    };
    entries.into_iter().filter(|entry| entry.claim == claim).max_by_key(weight)
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    keep: u64,
    count: u64,
}

impl Journal {
    /// Makes a journal with room for `keep` attempts and holds it locked.
    ///
    /// # Errors
    /// When it cannot be made, or a file of that name exists.
    pub fn create(path: &Path, supervisor: &Identity, keep: usize) -> io::Result<Self> {
        let keep = keep.max(1);
        let file = hold_lock(path)?;
        // The blank slots take their room on the disk now, so that no later
        // line can fail for want of it.
        let mut text = line(&format!(
            "supervisor {} start {} boot {}",
            supervisor.pid, supervisor.start_time, supervisor.boot_id
        ));
        for _ in 0..keep {
            text.extend(line(""));
        }
        file.write_all_at(&text, 0)?;
        let keep = u64::try_from(keep).expect("a count of slots fits");
        Ok(Self { file, path: path.to_owned(), keep, count: 0 })
    }

    /// Writes that an attempt is about to be started.
    ///
    /// # Errors
    /// When it cannot be written; then the attempt must not be started.
    pub fn begin(&mut self, claim: Claim) -> io::Result<()> {
        self.count += 1;
        self.note(claim, &Step::Intent)
    }

    /// Writes how far the attempt came that was begun last.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note(&self, claim: Claim, step: &Step) -> io::Result<()> {
        let number = self.count.saturating_sub(1);
        let place = (1 + number % self.keep) * u64::try_from(SLOT).expect("small");
        self.file.write_all_at(&line(&text(claim, number, step)), place)
    }

    /// Reads what a journal tells. A line that is not whole is taken for the
    /// least it can mean.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(path: &Path) -> io::Result<Entries> {
        let mut last = fs::read(path)?;
        for _ in 0..READS {
            let again = fs::read(path)?;
            if again == last {
                break;
            }
            last = again;
        }
        Ok(parse(&last))
    }

    /// Removes the journal: everything in it is settled.
    pub fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn line(text: &str) -> Vec<u8> {
    let mut line = text.as_bytes().to_vec();
    line.resize(SLOT - 1, b' ');
    line.push(b'\n');
    line
}

fn text(claim: Claim, number: u64, step: &Step) -> String {
    let mut text = format!("{}.{} runner {} no {number} ", claim.job, claim.attempt, claim.owner);
    match step {
        Step::Intent => text.push_str("intent"),
        Step::Started(process) => write_process(&mut text, "started", process),
        Step::Ended { process, outcome, ended_at, written } => {
            let _ = write!(text, "ended at {} wrote {written} ", ended_at.millis());
            if let Some(process) = process {
                write_process(&mut text, "", process);
                text.push(' ');
            }
            write_outcome(&mut text, outcome);
        }
    }
    while text.len() > SLOT - 1 - WHOLE.len() {
        text.pop();
    }
    text + WHOLE
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
        Outcome::Unstartable(why) => write!(text, "unstartable {}", output::escape(why.as_bytes())),
        Outcome::NotStarted(why) => write!(text, "not-started {}", output::escape(why.as_bytes())),
        Outcome::Lost(why) => write!(text, "lost {}", output::escape(why.as_bytes())),
    };
}

fn parse(bytes: &[u8]) -> Entries {
    let mut lines = bytes.chunks_exact(SLOT).map(String::from_utf8_lossy);
    let supervisor = lines.next().and_then(|line| read_supervisor(&mut Words(&line)));
    let mut entries: Vec<_> = lines.filter_map(|line| read_entry(&line)).collect();
    entries.sort_by_key(|entry| entry.number);
    Entries { supervisor, entries }
}

/// The rest of a line, taken word by word.
struct Words<'a>(&'a str);

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

    fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.next()?.parse().ok()
    }

    fn named<T: std::str::FromStr>(&mut self, name: &str) -> Option<T> {
        self.word(name)?;
        self.number()
    }

    fn rest(&self) -> String {
        self.0.trim().to_owned()
    }
}

fn read_supervisor(words: &mut Words<'_>) -> Option<Identity> {
    let pid = words.named("supervisor")?;
    let start_time = words.named("start")?;
    Some(Identity { pid, start_time, boot_id: words.named("boot")? })
}

/// A line whose beginning can be read and whose end cannot is that of an
/// attempt that may have been started.
fn read_entry(line: &str) -> Option<Entry> {
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
    use proptest::prelude::*;

    fn claim(job: i64) -> Claim {
        Claim { job: JobId(job), attempt: 1, owner: RunnerId(3) }
    }

    fn process() -> Process {
        Process { pid: 4711, start_time: 88130, started_at: Timestamp::from_millis(1_700_000) }
    }

    fn ended(outcome: Outcome, process: Option<Process>) -> Step {
        Step::Ended { process, outcome, ended_at: Timestamp::from_millis(5), written: 12 }
    }

    fn supervisor() -> Identity {
        Identity { pid: 4710, start_time: 88122, boot_id: "62e224f3".into() }
    }

    fn journal(keep: usize) -> (tempfile::TempDir, PathBuf, Journal) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("runner-3.0");
        let journal = Journal::create(&path, &supervisor(), keep).expect("made");
        (dir, path, journal)
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
    fn a_ring_tells_of_the_last_attempts_in_order() {
        let (_dir, path, mut journal) = journal(3);
        for job in 1..=5 {
            journal.begin(claim(job)).expect("written");
            journal.note(claim(job), &ended(Outcome::Exited(0), None)).expect("written");
        }
        let read = Journal::read(&path).expect("read");
        let jobs: Vec<_> = read.entries.iter().map(|entry| entry.claim.job.0).collect();
        assert_eq!(jobs, [3, 4, 5]);
        assert_eq!(read.supervisor, Some(supervisor()));
        assert_eq!(read.of(claim(2)), None);
        assert_eq!(fs::metadata(&path).expect("there").len(), 4 * 256);
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
    fn a_torn_slot_harms_no_other() {
        let (_dir, path, mut journal) = journal(2);
        journal.begin(claim(1)).expect("written");
        journal.begin(claim(2)).expect("written");
        journal.file.write_all_at(b"\xff\0garbage", 256).expect("written");
        let read = Journal::read(&path).expect("read");
        assert_eq!(read.of(claim(1)), None);
        assert_eq!(read.of(claim(2)).map(|entry| &entry.step), Some(&Step::Intent));
    }

    #[test]
    fn an_empty_journal_tells_of_nothing() {
        assert_eq!(parse(b""), Entries::default());
        assert_eq!(parse(b"supervisor 12"), Entries::default());
    }

    #[test]
    fn a_start_counts_for_more_than_an_earlier_refusal_of_the_same_claim() {
        let refused = ended(Outcome::NotStarted("no more processes".into()), None);
        let entry = |number, step| Entry { claim: claim(1), number, step };
        let both = [entry(4, Step::Started(process())), entry(9, refused)];
        assert_eq!(known(&both, claim(1)), Some(&both[0]));
    }

    #[test]
    fn a_long_reason_is_cut_and_stays_one_line() {
        let why = "ä\n".repeat(400);
        let written = text(claim(1), 0, &ended(Outcome::Unstartable(why), None));
        assert!(written.len() < SLOT && !written.contains('\n'));
        assert_eq!(line(&written).len(), SLOT);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..1024)) {
            let _ = parse(&bytes);
        }
    }
}
