//! How a command hands a job to a living runner, which has the database open
//! and its statements prepared: `ax add` is done in half the time then.
//!
//! The job goes to the runner's socket in one datagram, together with one end
//! of a pair of sockets on which the runner answers once the job is stored. The
//! kernel closes that end when the runner ends, whether or not it has read the
//! datagram, so nobody waits for a dead one. A command that gets no answer adds
//! the job itself. Both do so under the same [`Token`], and the store adds a
//! job once for each ([`Store::add_handed`](crate::store::Store::add_handed)),
//! whoever comes first. What the store knows of a token stays until the command
//! has hung up, or has ended if the runner ends before it: it asks last of all.

mod intake;

use std::fs;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::time::Duration;

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use rustix::cmsg_space;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recv, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use super::wake::Bells;
use crate::crash;
use crate::data_dir::DataDir;
use crate::job::{Added, JobId, NewJob, RunnerId, Timestamp};
use crate::store::{Handed, Token};

pub use intake::Intake;

/// Longer messages are not sent: the kernel takes no more by default
/// (`net.core.wmem_default`).
pub(super) const LONGEST: usize = 208 * 1024;

/// A command waits this long for an answer; a runner that was suspended, or
/// waits for the database, has none.
const PATIENCE: Duration = Duration::from_millis(100);

/// Which file something is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// That of the file at `path`.
    ///
    /// # Errors
    /// When there is none.
    pub fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }
}

/// What a command asks of a runner, behind the [`FileId`] of its program: only
/// the same program means the same by it.
#[derive(Debug, Serialize, Deserialize)]
struct Message<Job> {
    /// The database may have been removed and made anew while a runner has the
    /// old one open.
    database: FileId,
    token: Token,
    runner: RunnerId,
    now: Timestamp,
    job: Job,
}

/// This program, also after its file was replaced by a newer one.
fn own_program() -> io::Result<FileId> {
    FileId::of(Path::new("/proc/self/exe"))
}

/// What the runner answers; nothing if it does not know what became of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Answer {
    /// It is stored.
    Added { id: JobId, new: bool },
    /// It is not, and will not be by this runner.
    NotTaken,
}

/// What came of handing a job over.
#[derive(Debug)]
pub enum Outcome {
    /// A runner has added it.
    Added {
        /// The job.
        added: Added,
        /// The runner, which knows what there is to do.
        by: RunnerId,
        /// Whether there are others, who do not.
        has_company: bool,
    },
    /// No runner has it.
    NotTaken,
    /// A runner may have added it, or may yet.
    Unknown(Doubt),
}

/// A job of which it is not known whether a runner has added it. It must be kept
/// until the job is added under the same token.
#[derive(Debug)]
pub struct Doubt {
    token: Token,
    runner: RunnerId,
    /// As long as this is open, the runner does not let the token go.
    _line: UnixStream,
}

impl Doubt {
    /// The job as it was handed over.
    pub fn handed(&self, job: NewJob, now: Timestamp) -> Handed {
        let pid = i32::try_from(std::process::id()).unwrap_or(0);
        Handed { token: self.token, runner: self.runner, pid, job, now }
    }
}

/// Hands a job to a runner that lives, if there is one.
pub fn hand(dir: &DataDir, db: &Path, job: &NewJob, now: Timestamp) -> Outcome {
    try_hand(dir, db, job, now, PATIENCE).unwrap_or(Outcome::NotTaken)
}

/// Nothing was sent if this is an error.
fn try_hand(
    dir: &DataDir,
    db: &Path,
    job: &NewJob,
    now: Timestamp,
    patience: Duration,
) -> io::Result<Outcome> {
    let Some(bells) = Bells::find(dir) else { return Ok(Outcome::NotTaken) };
    let socket = UnixDatagram::unbound()?;
    // Sockets of the dead refuse.
    let lives = |(_, path): &(RunnerId, _)| socket.connect(path).is_ok();
    let Some((runner, _)) = bells.each().find(lives) else { return Ok(Outcome::NotTaken) };
    let token = Token(fastrand::i64(..));
    let message = Message { database: FileId::of(db)?, token, runner, now, job };
    let message = postcard::to_stdvec(&(own_program()?, message)).map_err(io::Error::other)?;
    let (mut ours, theirs) = UnixStream::pair()?;
    ours.set_read_timeout(Some(patience))?;
    send(&socket, &message, &theirs)?;
    drop(theirs);
    crash::point("hand", "after-send");
    let mut bytes = [0; 32];
    let length = ours.read(&mut bytes).unwrap_or(0);
    Ok(match postcard::from_bytes(&bytes[..length]).ok() {
        Some(Answer::Added { id, new }) => {
            Outcome::Added { added: Added { id, new }, by: runner, has_company: bells.are_many() }
        }
        Some(Answer::NotTaken) => Outcome::NotTaken,
        None => Outcome::Unknown(Doubt { token, runner, _line: ours }),
    })
}

/// Sends a message with the socket on which it is to be answered; does not wait
/// for room.
fn send(socket: &UnixDatagram, message: &[u8], reply: &UnixStream) -> io::Result<()> {
    if message.len() > LONGEST {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let replies = [reply.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&replies));
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    sendmsg(socket, &[IoSlice::new(message)], &mut control, flags)?;
    Ok(())
}

/// Waits for a message; gives its length, and the socket that came with it.
/// One that did not fit has no length that could be read.
pub(super) fn receive(
    socket: &UnixDatagram,
    bytes: &mut [u8],
) -> io::Result<(usize, Option<UnixStream>)> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut into = [IoSliceMut::new(bytes)];
        match recvmsg(socket, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => (),
            other => break other?,
        }
    };
    let reply = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next().map(UnixStream::from),
        _ => None,
    });
    let is_whole = !received.flags.contains(ReturnFlags::TRUNC);
    Ok((received.bytes, reply.filter(|_| is_whole)))
}

/// A job that was handed to this runner.
#[derive(Debug)]
pub struct Request {
    database: FileId,
    handed: Handed,
    reply: UnixStream,
}

impl Request {
    /// Reads what a command has sent; `None` if that is another program, which
    /// is told to add its job itself.
    pub(super) fn read(message: &[u8], reply: UnixStream) -> Option<Self> {
        let (program, message) = postcard::take_from_bytes::<FileId>(message).ok()?;
        if own_program().ok() != Some(program) {
            answer(&reply, Answer::NotTaken);
            return None;
        }
        let message: Message<NewJob> = postcard::from_bytes(message).ok()?;
        let Message { database, token, runner, now, job } = message;
        // Nobody, for one that this process cannot see.
        let pid = getsockopt(&reply, PeerCredentials).map_or(0, |command| command.pid());
        Some(Self { database, handed: Handed { token, runner, pid, job, now }, reply })
    }

    /// Tells the command that this runner does not add the job.
    pub fn refuse(self) {
        answer(&self.reply, Answer::NotTaken);
    }
}

/// One that has gone needs no answer.
fn answer(mut reply: &UnixStream, answer: Answer) {
    let bytes = postcard::to_stdvec(&answer).unwrap_or_default();
    let _ = reply.write_all(&bytes);
}

/// Tells whether a command has hung up.
fn has_hung_up(reply: &UnixStream) -> bool {
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    !matches!(recv(reply, &mut [0; 1], flags), Err(Errno::AGAIN | Errno::INTR))
}

#[cfg(test)]
mod tests {
    use super::super::wake::{Bell, Heard, Listener};
    use super::*;
    use crate::job::{
        Codes, Command, EnvBlock, Hook, IfExists, Kind, OnLost, ParentRef, Place, Settings,
    };
    use crate::store::{NewRunner, Query, Store};
    use tempfile::TempDir;

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    /// A database with one runner, which listens.
    struct Stage {
        place: TempDir,
        store: Box<dyn Store>,
        runner: RunnerId,
        bell: Bell,
        listener: Listener,
        intake: Intake,
    }

    impl Stage {
        fn new() -> Self {
            let place = tempfile::tempdir().expect("a directory");
            let db = place.path().join("ax.db");
            let dir = DataDir::of(&db);
            let mut store = crate::store::open(&db).expect("a new store");
            dir.create().expect("made");
            let own = NewRunner { pid: 1, start_time: 1, boot_id: "boot".into(), workers: 1 };
            let runner = store.enlist(&own, NOW).expect("entered");
            let bell = Bell::hang(&dir, runner).expect("hung");
            let listener = bell.listener(None).expect("it listens");
            let intake = Intake::new(FileId::of(&db).ok());
            Self { place, store, runner, bell, listener, intake }
        }

        fn db(&self) -> std::path::PathBuf {
            self.place.path().join("ax.db")
        }

        /// Hands a job over while the runner does its part.
        fn hand(&mut self, job: &NewJob, serve: impl FnOnce(&mut Self, Request)) -> Outcome {
            self.hand_patiently(Duration::from_mins(1), job, serve)
        }

        /// Hands a job over, and does not wait for the answer.
        fn hand_and_leave(&mut self) -> (Outcome, Request) {
            let mut late = None;
            let keep = |_: &mut Self, request| late = Some(request);
            let outcome = self.hand_patiently(Duration::from_millis(1), &job(), keep);
            (outcome, late.expect("it came"))
        }

        fn hand_patiently(
            &mut self,
            patience: Duration,
            job: &NewJob,
            serve: impl FnOnce(&mut Self, Request),
        ) -> Outcome {
            let (db, job) = (self.db(), job.clone());
            let command = std::thread::spawn(move || {
                try_hand(&DataDir::of(&db), &db, &job, NOW, patience).expect("it was sent")
            });
            match self.listener.next() {
                Some(Heard::Handed(request)) => serve(self, *request),
                Some(Heard::Ring) | None => panic!("no job came"),
            }
            command.join().expect("it ends")
        }

        fn add(&mut self, serves: bool, request: Request) {
            self.intake.note(request);
            let taken = self.intake.take(serves);
            let answers = self.store.add_handed(&taken, &[]).expect("an answer");
            let added: Vec<_> = answers.into_iter().map(Result::ok).collect();
            self.intake.answer(Some(&added));
        }

        /// What is known of the token of a job, if it is added again.
        fn add_again(&mut self, handed: Handed) -> JobId {
            let added = self.store.add_handed(&[handed], &[]).expect("an answer").remove(0);
            added.expect("it is added").id
        }

        fn count(&mut self) -> u64 {
            self.store.count(&Query::default()).expect("an answer")
        }
    }

    fn job() -> NewJob {
        let place = Place::new(Path::new("/"), 0o022, &EnvBlock::default());
        Settings::default().job(Command::Shell(b"true".to_vec()), &place, NOW)
    }

    /// One of which nothing is left at its default.
    fn elaborate() -> NewJob {
        NewJob {
            name: Some("näme".into()),
            key: Some("key".into()),
            if_exists: IfExists::Replace,
            command: Command::Argv(vec![b"echo".to_vec(), vec![0xff, b' ']]),
            priority: -7,
            scheduled_at: Timestamp::from_millis(77),
            timeout: Some(Duration::from_millis(1500)),
            kill_after: Duration::ZERO,
            max_retries: 9,
            retry_delay: Duration::from_millis(1),
            retry_backoff: 1.5,
            retry_max_delay: Duration::from_hours(1),
            on_lost: OnLost::Hold,
            retry_on: Some("1,3-5".parse::<Codes>().expect("codes")),
            no_retry_on: Some("2".parse::<Codes>().expect("codes")),
            cwd: vec![b'/', 0xfe],
            umask: 0o077,
            env: std::sync::Arc::new(EnvBlock(b"A=1\0B=\xff\0".to_vec())),
            extra_env: EnvBlock(b"C=3\0".to_vec()),
            group: Some("g".into()),
            mutex: Some("m".into()),
            on_end: Some(Hook { command: b"notify".to_vec(), timeout: Duration::from_secs(3) }),
            ends_run: true,
            hold: true,
            parents: vec![(ParentRef::Id(JobId(4)), Kind::AfterAny)],
            flow: Some("flow".into()),
            run: None,
        }
    }

    #[test]
    fn a_job_comes_over_as_it_was() {
        let mut stage = Stage::new();
        let runner = stage.runner;
        let outcome = stage.hand(&elaborate(), |_, request| {
            assert_eq!(request.handed.job, elaborate());
            assert_eq!((request.handed.runner, request.handed.now), (runner, NOW));
            request.refuse();
        });
        assert!(matches!(outcome, Outcome::NotTaken), "{outcome:?}");
    }

    #[test]
    fn the_command_hears_which_job_it_is() {
        let mut stage = Stage::new();
        let outcome = stage.hand(&job(), |stage, request| stage.add(true, request));
        let Outcome::Added { added, by, has_company } = outcome else { panic!("{outcome:?}") };
        assert_eq!((added, by), (Added { id: JobId(1), new: true }, stage.runner));
        assert!(!has_company);
        assert_eq!(stage.count(), 1);
    }

    #[test]
    fn what_cannot_be_added_is_left_to_the_command() {
        let mut stage = Stage::new();
        let orphan = NewJob { parents: vec![(ParentRef::Id(JobId(4)), Kind::After)], ..job() };
        let outcome = stage.hand(&orphan, |stage, request| stage.add(true, request));
        assert!(matches!(outcome, Outcome::NotTaken), "{outcome:?}");
    }

    #[test]
    fn a_runner_that_is_about_to_end_takes_nothing() {
        let mut stage = Stage::new();
        let outcome = stage.hand(&job(), |stage, request| stage.add(false, request));
        assert!(matches!(outcome, Outcome::NotTaken), "{outcome:?}");
        assert_eq!(stage.count(), 0);
    }

    #[test]
    fn a_job_for_another_file_of_that_name_is_not_taken() {
        let mut stage = Stage::new();
        let db = stage.db();
        std::fs::rename(&db, db.with_extension("old")).expect("renamed");
        std::fs::write(&db, "").expect("made anew");
        let outcome = stage.hand(&job(), |stage, request| stage.add(true, request));
        assert!(matches!(outcome, Outcome::NotTaken), "{outcome:?}");
        assert_eq!(stage.count(), 0);
        std::fs::remove_file(&db).expect("removed");
        let outcome = hand(&DataDir::of(&db), &db, &job(), NOW);
        assert!(matches!(outcome, Outcome::NotTaken), "there is no file: {outcome:?}");
    }

    #[test]
    fn a_runner_that_dies_with_the_job_leaves_it_in_doubt_and_it_is_added_once() {
        let mut stage = Stage::new();
        // It has stored the job and cannot say so any more.
        let outcome = stage.hand(&job(), |stage, request| {
            stage.store.add_handed(&[request.handed], &[]).expect("an answer");
        });
        let Outcome::Unknown(doubt) = outcome else { panic!("{outcome:?}") };
        assert_eq!(stage.add_again(doubt.handed(job(), NOW)), JobId(1));
        assert_eq!(stage.count(), 1);
    }

    #[test]
    fn a_runner_that_is_late_finds_the_job_that_the_command_has_added() {
        let mut stage = Stage::new();
        let (outcome, late) = stage.hand_and_leave();
        let Outcome::Unknown(doubt) = outcome else { panic!("{outcome:?}") };
        stage.add_again(doubt.handed(job(), NOW));
        stage.add(true, late);
        assert_eq!(stage.count(), 1);
    }

    #[test]
    fn what_is_known_of_a_job_stays_until_the_command_has_hung_up() {
        let mut stage = Stage::new();
        let (outcome, late) = stage.hand_and_leave();
        let Outcome::Unknown(doubt) = outcome else { panic!("{outcome:?}") };
        stage.add(true, late);
        stage.intake.tidy(stage.store.as_mut());
        assert!(!stage.intake.is_clear(), "it may still ask");
        let handed = doubt.handed(job(), NOW);
        assert_eq!(stage.add_again(handed.clone()), JobId(1));
        drop(doubt);
        stage.intake.tidy(stage.store.as_mut());
        assert!(stage.intake.is_clear());
        assert_eq!(stage.add_again(handed), JobId(2), "nothing is known of it any more");
    }

    #[test]
    fn what_is_known_of_a_job_outlives_its_runner_and_goes_with_the_command() {
        let mut stage = Stage::new();
        let mut next = Intake::new(None);
        for (id, pid) in [(1, None), (2, Some(0))] {
            let outcome = stage.hand(&job(), |stage, request| {
                let handed = Handed { pid: pid.unwrap_or(request.handed.pid), ..request.handed };
                stage.store.add_handed(&[handed], &[]).expect("an answer");
            });
            let Outcome::Unknown(doubt) = outcome else { panic!("{outcome:?}") };
            // Its runner dies, and the next one comes.
            let runner = stage.runner;
            stage.store.discharge(runner).expect("an answer");
            next.tidy(stage.store.as_mut());
            let known = stage.add_again(doubt.handed(job(), NOW));
            assert_eq!(known == JobId(id), pid.is_none(), "{known}");
            let own = NewRunner { pid: 1, start_time: 1, boot_id: "boot".into(), workers: 1 };
            let again = stage.store.enlist(&own, NOW).expect("entered");
            stage.bell = Bell::hang(&DataDir::of(&stage.db()), again).expect("hung");
            stage.listener = stage.bell.listener(None).expect("it listens");
            stage.runner = again;
        }
    }

    #[test]
    fn nothing_is_added_for_a_command_that_is_gone() {
        let mut stage = Stage::new();
        let (outcome, late) = stage.hand_and_leave();
        drop(outcome);
        stage.add(true, late);
        assert_eq!(stage.count(), 0);
    }

    #[test]
    fn nobody_is_asked_where_no_runner_lives() {
        let mut stage = Stage::new();
        let (db, wake) = (stage.db(), DataDir::of(&stage.db()).wake());
        let socket = wake.join(stage.runner.to_string());
        let kept = wake.join("9");
        std::fs::hard_link(&socket, &kept).expect("a second name");
        drop(stage.listener);
        drop(stage.bell);
        let outcome = hand(&DataDir::of(&db), &db, &job(), NOW);
        assert!(matches!(outcome, Outcome::NotTaken), "a dead runner's socket: {outcome:?}");
        std::fs::remove_dir_all(wake).expect("removed");
        let outcome = hand(&DataDir::of(&db), &db, &job(), NOW);
        assert!(matches!(outcome, Outcome::NotTaken), "no socket at all: {outcome:?}");
        assert_eq!(stage.store.count(&Query::default()).expect("an answer"), 0);
    }

    #[test]
    fn a_job_that_is_too_long_for_a_datagram_is_not_sent() {
        let stage = Stage::new();
        let long = NewJob { command: Command::Shell(vec![b'x'; LONGEST]), ..job() };
        let outcome = hand(&DataDir::of(&stage.db()), &stage.db(), &long, NOW);
        assert!(matches!(outcome, Outcome::NotTaken), "{outcome:?}");
    }

    #[test]
    fn noise_at_the_bell_is_a_ring() {
        let mut stage = Stage::new();
        let path = DataDir::of(&stage.db()).wake().join(stage.runner.to_string());
        let socket = UnixDatagram::unbound().expect("a socket");
        socket.send_to(b"\xff\xff\xff", &path).expect("sent");
        assert!(matches!(stage.listener.next(), Some(Heard::Ring)));
        socket.connect(&path).expect("it listens");
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        send(&socket, b"\xff", &theirs).expect("sent");
        drop(theirs);
        assert!(matches!(stage.listener.next(), Some(Heard::Ring)));
        assert!(has_hung_up(&ours), "its socket is closed");
    }

    #[test]
    fn another_program_is_told_to_add_its_job_itself() {
        let other = tempfile::NamedTempFile::new().expect("a file");
        let other = FileId::of(other.path()).expect("it is there");
        let (mut ours, theirs) = UnixStream::pair().expect("a pair");
        let message = postcard::to_stdvec(&(other, "what it means")).expect("written");
        assert!(Request::read(&message, theirs).is_none());
        let mut said = Vec::new();
        ours.read_to_end(&mut said).expect("it is answered");
        assert_eq!(postcard::from_bytes::<Answer>(&said), Ok(Answer::NotTaken));
    }
}
