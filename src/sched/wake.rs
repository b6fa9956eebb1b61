//! How a command wakes a sleeping runner: a datagram to a socket in `wake/`.
//!
//! It only saves time; what a runner sleeps through it finds at the end of its
//! poll interval. Sockets are reached through `/proc/self/fd`, because the
//! address of one may have 107 bytes only, and a database may lie deep.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

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

    /// A second handle, to listen on.
    ///
    /// # Errors
    /// When there are no more files.
    pub fn listener(&self) -> io::Result<UnixDatagram> {
        self.socket.try_clone()
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        // Whoever listens is let go.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let _ = fs::remove_file(&self.path);
    }
}

/// Wakes every runner of the database.
pub fn wake_runners(dir: &DataDir) {
    let wake = dir.wake();
    let (Ok(entries), Ok(open)) = (fs::read_dir(&wake), File::open(&wake)) else { return };
    let Ok(socket) = UnixDatagram::unbound() else { return };
    if socket.set_nonblocking(true).is_err() {
        return;
    }
    for entry in entries.flatten() {
        let name = entry.file_name();
        // A full queue wakes as well, and a dead runner is not our concern.
        let _ = socket.send_to(&[1], short(&open, &name.to_string_lossy()));
    }
}

/// The same file by a short path.
fn short(dir: &File, name: &str) -> PathBuf {
    Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name)
}
