//! The file a job writes its output to.
//!
//! A supervisor has one spool file, which is the standard output and error of
//! its jobs: output never goes through memory and nobody waits for its end.
//! Most jobs are short and say little; then the file is read, emptied and used
//! again, and no directory changes. A job that lives or says more gives the
//! file its own name, and the next job gets a new one.
//!
//! The limit: a job appends to the file as long as it likes, so the file can't
//! be rewritten under it. When it has grown over the limit, its middle is cut
//! out as a hole (`FALLOC_FL_PUNCH_HOLE`; ext4, xfs, btrfs and tmpfs have it):
//! the length still tells how much was written, the disk holds the first
//! quarter and the latest part, and [`super::kept::Kept`] reads over the hole.
//! Of less than [`output::LEAST_LIMIT`] there would be no beginning, or more
//! than the limit. A file system without holes keeps everything.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::FcntlArg::F_SETFL;
use nix::fcntl::{FallocateFlags, OFlag, fallocate, fcntl};

use super::output;
use super::spawn::reason;
use crate::crash;
use crate::escape::last_line;
use crate::job::Captured;

/// Holes begin and end at multiples of this, which every file system's block
/// size divides.
const GRAIN: u64 = 64 * 1024;

/// The spool of a supervisor.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    limit: u64,
    /// Takes the output of a job whose file cannot be made.
    null: File,
    file: Result<SpoolFile, String>,
}

#[derive(Debug)]
struct SpoolFile {
    /// What the job gets.
    job: File,
    /// The same file, to read it and to cut it.
    own: File,
    /// Whether it has a name that is not the spool's.
    named: bool,
    /// Where the hole ends, if there is one.
    hole_end: u64,
}

impl Spool {
    /// The spool at `path`, which keeps `limit` bytes of an output.
    ///
    /// # Errors
    /// When not even `/dev/null` can be opened.
    pub fn new(path: PathBuf, limit: u64) -> io::Result<Self> {
        let null = OpenOptions::new().write(true).open("/dev/null")?;
        let file = SpoolFile::create(&path);
        Ok(Self { path, limit, null, file })
    }

    /// Makes an empty file for the next job.
    pub fn renew(&mut self) {
        let emptied = self.file.as_ref().map_or(Emptied::Unusable, SpoolFile::empty);
        let usable = match emptied {
            Emptied::InPlace => return,
            Emptied::Deleted => true,
            Emptied::Unusable => false,
        };
        let new = SpoolFile::create(&self.path);
        // A file that was deleted still takes what can be taken along.
        if new.is_ok() || !usable {
            self.file = new;
        }
    }

    /// What the job writes to.
    pub fn sink(&self) -> BorrowedFd<'_> {
        self.file.as_ref().map_or(self.null.as_fd(), |file| file.job.as_fd())
    }

    /// Gives the output a name of its own. If it can't have it, it stays where
    /// it is.
    pub fn name(&mut self, name: &Path) {
        let Ok(file) = &mut self.file else { return };
        crash::point("spool", "before-name");
        file.named |= fs::rename(&self.path, name).is_ok();
        crash::point("spool", "after-name");
    }

    /// Cuts the middle out of an output that is over the limit; tells whether
    /// it has none now.
    pub fn bound(&mut self) -> bool {
        let Ok(file) = &mut self.file else { return false };
        file.bound(self.limit);
        file.hole_end > 0
    }

    /// Takes the output of a job that ended. What is short is taken along; a
    /// file that was named already stays, to be removed once the output is
    /// stored. What is long, or `open` to processes that the job left behind,
    /// stays in the file `name`.
    pub fn capture(&mut self, name: &Path, open: bool) -> Captured {
        let length = self.file.as_mut().map_or(0, |file| file.bound(self.limit));
        if length > output::SHORT || open && length > 0 {
            if !self.is_named() {
                self.name(name);
            }
            if self.is_named() {
                let last_line = self.last_line(length);
                return Captured { bytes: Vec::new(), written: length, in_file: true, last_line };
            }
        }
        self.inline(length)
    }

    /// Takes the output along, however long it is: its beginning and its end.
    pub fn take(&mut self) -> Captured {
        let length = self.file.as_mut().map_or(0, |file| file.bound(self.limit));
        self.inline(length)
    }

    fn inline(&self, length: u64) -> Captured {
        match &self.file {
            Ok(file) => file.inline(length),
            Err(why) => unkept(why),
        }
    }

    fn is_named(&self) -> bool {
        self.file.as_ref().is_ok_and(|file| file.named)
    }

    fn last_line(&self, length: u64) -> String {
        let Ok(file) = &self.file else { return String::new() };
        last_line(&file.read(length.saturating_sub(output::TAIL), length))
    }

    /// Removes the file, unless it has a name of its own.
    pub fn remove(&self) {
        if !self.is_named() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn unkept(why: &str) -> Captured {
    let line = format!("[ax: the output could not be kept: {why}]");
    let bytes = format!("{line}\n").into_bytes();
    Captured { bytes, last_line: line, ..Captured::default() }
}

/// Whether another job can have the file.
enum Emptied {
    /// It is empty.
    InPlace,
    /// It is empty, and has no name any more.
    Deleted,
    /// It cannot.
    Unusable,
}

impl SpoolFile {
    fn create(path: &Path) -> Result<Self, String> {
        // What stands here was left by a supervisor that was killed.
        let _ = fs::remove_file(path);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let own = options.open(path).map_err(|error| reason(&error))?;
        crash::point("spool", "after-create");
        let job = Self::for_job(path).map_err(|error| reason(&error))?;
        Ok(Self { job, own, named: false, hole_end: 0 })
    }

    fn for_job(path: &Path) -> io::Result<File> {
        let nofollow = OFlag::O_NOFOLLOW.bits();
        OpenOptions::new().append(true).custom_flags(nofollow).open(path)
    }

    /// Empties the file for another job.
    fn empty(&self) -> Emptied {
        let Ok(meta) = self.own.metadata() else { return Emptied::Unusable };
        // The last job may have changed the flags of what it had open. It is
        // not closed and opened again: ext4 writes a file to the disk that is
        // closed after it was emptied.
        let cleared =
            || self.own.set_len(0).is_ok() && fcntl(&self.job, F_SETFL(OFlag::O_APPEND)).is_ok();
        if self.named || meta.len() > 0 && !cleared() {
            return Emptied::Unusable;
        }
        if meta.nlink() > 0 { Emptied::InPlace } else { Emptied::Deleted }
    }

    fn length(&self) -> u64 {
        self.own.metadata().map_or(0, |meta| meta.len())
    }

    /// Tells its length, holes included.
    fn bound(&mut self, limit: u64) -> u64 {
        let length = self.length();
        let head = limit / 4 / GRAIN * GRAIN;
        let from = self.hole_end.max(head);
        if head + length.saturating_sub(from) <= limit {
            return length;
        }
        let to = (length - limit / 2) / GRAIN * GRAIN;
        let punch = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        if let (Ok(start), Ok(size)) = (i64::try_from(from), i64::try_from(to - from))
            && fallocate(&self.own, punch, start, size).is_ok()
        {
            self.hole_end = to;
        }
        length
    }

    fn inline(&self, length: u64) -> Captured {
        let bytes = if length <= output::SHORT {
            self.read(0, length)
        } else {
            let half = output::SHORT / 2;
            let mut bytes = self.read(0, half);
            bytes.extend(output::left_out(length - 2 * half).into_bytes());
            bytes.extend(self.read(length - half, length));
            bytes
        };
        let last_line = last_line(&bytes);
        Captured { bytes, written: length, in_file: false, last_line }
    }

    fn read(&self, from: u64, to: u64) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(to - from).unwrap_or(0)];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.own.read_at(&mut bytes[filled..], from + filled as u64) {
                Ok(0) | Err(_) => break,
                Ok(count) => filled += count,
            }
        }
        bytes.truncate(filled);
        bytes
    }
}

/// Saves the output of the last attempt of a supervisor that was killed: what
/// is in its spool gets the name of the attempt. The output is in a file
/// afterwards, or there is none.
pub fn salvage(spool: &Path, name: &Path) -> Captured {
    if !name.exists() && fs::metadata(spool).is_ok_and(|meta| meta.len() > 0) {
        let _ = fs::rename(spool, name);
    }
    let _ = fs::remove_file(spool);
    let nofollow = OFlag::O_NOFOLLOW.bits();
    let own = OpenOptions::new().read(true).custom_flags(nofollow).open(name);
    let Ok(own) = own else { return Captured::default() };
    let length = own.metadata().map_or(0, |meta| meta.len());
    if length == 0 {
        let _ = fs::remove_file(name);
        return Captured::default();
    }
    let from = length.saturating_sub(output::TAIL);
    let mut tail = vec![0; usize::try_from(length - from).unwrap_or(0)];
    let last_line = match own.read_exact_at(&mut tail, from) {
        Ok(()) => last_line(&tail),
        Err(_) => String::new(),
    };
    Captured { bytes: Vec::new(), written: length, in_file: true, last_line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    use super::super::kept::Kept;

    struct Bench {
        dir: tempfile::TempDir,
        spool: Spool,
    }

    impl Bench {
        fn new(limit: u64) -> Self {
            let dir = tempfile::tempdir().expect("a directory");
            let spool = Spool::new(dir.path().join("spool"), limit).expect("made");
            Self { dir, spool }
        }

        fn job_writes(&self, bytes: &[u8]) {
            let sink = self.spool.sink().try_clone_to_owned().expect("open");
            File::from(sink).write_all(bytes).expect("written");
        }

        fn output(&self) -> PathBuf {
            self.dir.path().join("12.1.log")
        }
    }

    #[test]
    fn a_short_output_is_taken_along_and_the_file_used_again() {
        let mut bench = Bench::new(output::LIMIT);
        bench.job_writes(b"hello\xff\0\n");
        let captured = bench.spool.capture(&bench.output(), false);
        assert_eq!(captured.bytes, b"hello\xff\0\n");
        assert_eq!((captured.written, captured.in_file), (8, false));
        bench.spool.renew();
        bench.job_writes(b"next");
        assert_eq!(bench.spool.capture(&bench.output(), false).bytes, b"next");
        assert!(!bench.output().exists());
    }

    #[test]
    fn a_long_output_stays_in_a_file_of_its_own() {
        let mut bench = Bench::new(output::LIMIT);
        let text = b"line\n".repeat(2000);
        bench.job_writes(&text);
        let captured = bench.spool.capture(&bench.output(), false);
        let want =
            Captured { bytes: vec![], written: 10_000, in_file: true, last_line: "line".into() };
        assert_eq!(captured, want);
        assert_eq!(fs::read(bench.output()).expect("kept"), text);
        bench.spool.renew();
        bench.job_writes(b"next");
        assert_eq!(bench.spool.capture(&bench.output(), false).bytes, b"next");
        assert_eq!(fs::read(bench.output()).expect("kept"), text);
    }

    #[test]
    fn an_output_that_others_still_write_keeps_its_file() {
        let mut bench = Bench::new(output::LIMIT);
        bench.job_writes(b"hello\n");
        assert!(bench.spool.capture(&bench.output(), true).in_file);
        bench.job_writes(b"later\n");
        assert_eq!(fs::read(bench.output()).expect("kept"), b"hello\nlater\n");
    }

    #[test]
    fn an_output_over_the_limit_keeps_its_beginning_and_its_end() {
        let limit = 1 << 20;
        let mut bench = Bench::new(limit);
        let lines: Vec<_> = (0..1_000_000).map(|n| format!("{n}\n")).collect();
        for part in lines.chunks(50_000) {
            bench.job_writes(part.concat().as_bytes());
            bench.spool.bound();
        }
        let written = lines.iter().map(String::len).sum::<usize>();
        let captured = bench.spool.capture(&bench.output(), false);
        assert_eq!((captured.written, captured.last_line.as_str()), (written as u64, "999999"));
        assert!(fs::metadata(bench.output()).expect("kept").blocks() * 512 <= limit);

        let mut text = String::new();
        Kept::open(&bench.output()).expect("open").read_to_string(&mut text).expect("read");
        let (head, rest) = text.split_once("\n[ax: ").expect("marked");
        let (left_out, tail) = rest.split_once(" bytes left out]\n").expect("marked");
        let whole = lines.concat();
        assert!(whole.starts_with(head) && whole.ends_with(tail));
        let left_out: usize = left_out.parse().expect("a number");
        assert_eq!(head.len() + left_out + tail.len(), written);
        assert!(head.len() as u64 >= limit / 8 && tail.len() as u64 >= limit / 2);
    }

    #[test]
    fn the_smallest_limit_and_what_is_little_more_are_kept_with_a_beginning_and_an_end() {
        for limit in [output::LEAST_LIMIT, output::LEAST_LIMIT + 1, 300_000] {
            for length in [limit + 1, limit + GRAIN / 2, 2 * limit - 1, 10 * limit] {
                let mut bench = Bench::new(limit);
                bench.job_writes(&vec![b'.'; usize::try_from(length).expect("little")]);
                let captured = bench.spool.capture(&bench.output(), false);
                assert_eq!(captured.written, length);
                let mut kept = Vec::new();
                Kept::open(&bench.output()).expect("open").read_to_end(&mut kept).expect("read");
                let count: u64 = kept.iter().map(|byte| u64::from(*byte == b'.')).sum();
                assert!(kept.starts_with(b".") && kept.ends_with(b"."));
                assert!((limit / 2..=limit).contains(&count), "{limit}, {length}: {count}");
            }
        }
    }

    #[test]
    fn the_last_lines_are_found_behind_a_hole() {
        let mut bench = Bench::new(1 << 20);
        bench.job_writes(&b"x".repeat(4 << 20));
        bench.job_writes(b"\nthe end\n");
        bench.spool.capture(&bench.output(), false);
        let mut kept = Kept::open(&bench.output()).expect("open");
        kept.skip_to_last_lines(1).expect("read");
        let mut text = String::new();
        kept.read_to_string(&mut text).expect("read");
        assert_eq!(text, "the end\n");
    }

    #[test]
    fn a_directory_that_is_gone_costs_no_short_output_and_a_long_one_its_middle() {
        let mut bench = Bench::new(output::LIMIT);
        fs::remove_dir_all(bench.dir.path()).expect("removed");
        bench.job_writes(b"hello\n");
        bench.spool.name(&bench.output());
        assert_eq!(bench.spool.capture(&bench.output(), false).bytes, b"hello\n");
        bench.job_writes(&b"line\n".repeat(20_000));
        let captured = bench.spool.capture(&bench.output(), false);
        assert!(!captured.in_file && captured.bytes.starts_with(b"hello\nline\n"));
        assert!(String::from_utf8_lossy(&captured.bytes).contains("bytes left out]"));
    }

    #[test]
    fn a_spool_that_was_deleted_comes_back() {
        let mut bench = Bench::new(output::LIMIT);
        fs::remove_file(bench.dir.path().join("spool")).expect("there");
        bench.spool.renew();
        assert!(bench.dir.path().join("spool").exists());
    }

    #[test]
    fn what_a_job_does_to_its_descriptor_does_not_reach_the_next() {
        let mut bench = Bench::new(output::LIMIT);
        bench.job_writes(b"hello\n");
        fcntl(bench.spool.sink(), F_SETFL(OFlag::empty())).expect("set");
        bench.spool.renew();
        bench.job_writes(b"next\n");
        assert_eq!(bench.spool.capture(&bench.output(), false).bytes, b"next\n");
    }

    #[test]
    fn an_output_that_cannot_be_kept_says_so() {
        let mut bench = Bench::new(output::LIMIT);
        bench.spool.name(&bench.output());
        fs::remove_dir_all(bench.dir.path()).expect("removed");
        bench.spool.renew();
        bench.job_writes(b"next\n");
        let bytes = bench.spool.capture(&bench.output(), false).bytes;
        assert!(bytes.starts_with(b"[ax: the output could not be kept: no such file"), "{bytes:?}");
    }

    #[test]
    fn what_a_killed_supervisor_has_in_its_spool_is_saved() {
        let bench = Bench::new(output::LIMIT);
        bench.job_writes(b"half\n");
        let captured = salvage(&bench.dir.path().join("spool"), &bench.output());
        assert_eq!((captured.written, captured.in_file), (5, true));
        assert_eq!(captured.last_line, "half");
        assert_eq!(fs::read(bench.output()).expect("kept"), b"half\n");
    }
}
