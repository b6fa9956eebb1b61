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

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub use super::entry::{Entry, Step};
use super::entry::{Words, read_entry, read_supervisor, write_entry};
pub use super::lock::{hold_lock, is_locked};
use super::process::Identity;
use crate::crash;
use crate::job::{Claim, Outcome};

/// The length of a line, with the blanks that fill it and its newline.
pub const SLOT: usize = 256;

/// How often a journal that changes under the reader is read again.
const READS: usize = 100;

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
    /// The line that was written last.
    line: String,
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
        let Identity { pid, start_time, boot_id } = supervisor;
        let mut text = String::with_capacity(SLOT * (1 + keep));
        text.push_str(&format!("supervisor {pid} start {start_time} boot {boot_id}"));
        for slot in 1..=1 + keep {
            fill(&mut text, SLOT * slot);
        }
        crash::point("journal", "before-write");
        file.write_all_at(text.as_bytes(), 0)?;
        crash::point("journal", "after-write");
        let keep = u64::try_from(keep).expect("a count of slots fits");
        Ok(Self { file, path: path.to_owned(), keep, count: 0, line: String::new() })
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
    pub fn note(&mut self, claim: Claim, step: &Step) -> io::Result<()> {
        let number = self.count.saturating_sub(1);
        let place = (1 + number % self.keep) * u64::try_from(SLOT).expect("small");
        self.line.clear();
        write_entry(&mut self.line, claim, number, step);
        fill(&mut self.line, SLOT);
        self.file.write_all_at(self.line.as_bytes(), place)
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

/// Makes a text this long, with blanks and a newline.
fn fill(text: &mut String, length: usize) {
    const BLANK: &str = match std::str::from_utf8(&[b' '; SLOT]) {
        Ok(blank) => blank,
        Err(_) => unreachable!(),
    };
    text.push_str(&BLANK[..length.saturating_sub(text.len() + 1)]);
    text.push('\n');
}

fn parse(bytes: &[u8]) -> Entries {
    let mut lines = bytes.chunks_exact(SLOT).map(String::from_utf8_lossy);
    let supervisor = lines.next().and_then(|line| read_supervisor(&mut Words(&line)));
    let mut entries: Vec<_> = lines.filter_map(|line| read_entry(&line)).collect();
    entries.sort_by_key(|entry| entry.number);
    Entries { supervisor, entries }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{JobId, Process, RunnerId, Timestamp};
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

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..1024)) {
            let _ = parse(&bytes);
        }
    }
}
