//! How a command wakes a sleeping runner: a datagram to a socket in `wake/`.
//!
//! It only saves time; what a runner sleeps through it finds at the end of its
//! poll interval. The same socket takes jobs that are handed to the runner:
//! [`handover`]. Sockets are reached through `/proc/self/fd`, because the
//! address of one may have 107 bytes only, and a database may lie deep.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::alarm::Alarm;
use super::handover::{self, Request};
use crate::data_dir::DataDir;
use crate::job::RunnerId;

/// The socket of a runner; removed when it is dropped.
pub struct Bell {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Bell {
    /// Makes the socket of a runner.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn hang(dir: &DataDir, runner: RunnerId) -> io::Result<Self> {
        let wake = dir.wake();
        let path = wake.join(runner.to_string());
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(_) | Ok(()) => (),
        }
        let dir = File::open(&wake)?;
        let socket = UnixDatagram::bind(short(&dir, &runner.to_string()))?;
        Ok(Self { socket, path })
    }

    /// An ear for it, and for an alarm that rings it.
    ///
    /// # Errors
    /// When there are no more files.
    pub fn listener(&self, alarm: Option<Arc<Alarm>>) -> io::Result<Listener> {
        let bytes = vec![0; handover::LONGEST];
        Ok(Listener { socket: self.socket.try_clone()?, alarm, bytes })
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        // Whoever listens is let go.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let _ = fs::remove_file(&self.path);
    }
}

/// Hears what comes to a [`Bell`].
pub struct Listener {
    socket: UnixDatagram,
    alarm: Option<Arc<Alarm>>,
    bytes: Vec<u8>,
}

impl Listener {
    /// Waits until something comes; tells whether the alarm went off.
    fn wait(&self) -> bool {
        let Some(alarm) = &self.alarm else { return false };
        let [writes, clock] = alarm.handles();
        let mut waiting =
            [self.socket.as_fd(), writes, clock].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        // What cannot be waited for here is waited for where it is read.
        while poll(&mut waiting, PollTimeout::NONE) == Err(Errno::EINTR) {}
        let goes_off = waiting[1..].iter().any(|fd| fd.any().unwrap_or(false));
        if goes_off {
            alarm.hush();
        }
        goes_off
    }
}

/// What came to a [`Bell`].
pub enum Heard {
    /// There may be work.
    Ring,
    /// A job was handed over.
    Handed(Box<Request>),
}

impl Iterator for Listener {
    type Item = Heard;

    /// Waits for the next; nothing more comes once the bell is gone.
    fn next(&mut self) -> Option<Heard> {
        if self.wait() {
            return Some(Heard::Ring);
        }
        let (length, reply) = handover::receive(&self.socket, &mut self.bytes).ok()?;
        let message = self.bytes.get(..length).filter(|message| !message.is_empty())?;
        let request = reply.and_then(|reply| Request::read(message, reply));
        Some(request.map_or(Heard::Ring, |request| Heard::Handed(Box::new(request))))
    }
}

/// The sockets of the runners of a database.
pub(super) struct Bells {
    dir: File,
    runners: Vec<RunnerId>,
}

impl Bells {
    /// Looks for them; `None` if there is no place for them.
    pub(super) fn find(dir: &DataDir) -> Option<Self> {
        let wake = dir.wake();
        let dir = File::open(&wake).ok()?;
        let names = fs::read_dir(&wake)
            .ok()?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok().map(RunnerId));
        Some(Self { dir, runners: names.collect() })
    }

    /// Tells whether there is more than one.
    pub(super) const fn are_many(&self) -> bool {
        self.runners.len() > 1
    }

    /// The runners, and the address of each, which is good as long as this lives.
    pub(super) fn each(&self) -> impl Iterator<Item = (RunnerId, PathBuf)> {
        self.runners.iter().map(|runner| (*runner, short(&self.dir, &runner.to_string())))
    }
}

/// Wakes every runner of the database but this one, which knows already.
pub fn wake_runners(dir: &DataDir, but: Option<RunnerId>) {
    let (Some(bells), Ok(socket)) = (Bells::find(dir), UnixDatagram::unbound()) else { return };
    if socket.set_nonblocking(true).is_err() {
        return;
    }
    for (_, path) in bells.each().filter(|(runner, _)| Some(*runner) != but) {
        // A full queue wakes as well, and a dead runner is not our concern.
        let _ = socket.send_to(&[1], path);
    }
}

/// The same file by a short path.
fn short(dir: &File, name: &str) -> PathBuf {
    Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name)
}
