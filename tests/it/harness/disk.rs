//! A small disk that tests fill and forbid to write to.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use nix::mount::{MntFlags, MsFlags, mount, umount2};

use super::Desk;

/// A small disk, which is taken away when it is dropped.
pub(crate) struct Disk(PathBuf);

impl Disk {
    /// A desk whose database will be on a small disk. `None` where this user
    /// may not mount one, and the test says so.
    pub(crate) fn with_desk() -> Option<(Desk, Self)> {
        let desk = Desk::with_db_in("disk");
        let at = desk.file("disk");
        match mount(Some("none"), &at, Some("tmpfs"), MsFlags::empty(), Some("size=4m")) {
            Ok(()) => Some((desk, Self(at))),
            Err(error) => {
                eprintln!("skipped: this user may not mount a small disk: {error}");
                None
            }
        }
    }

    /// Leaves no room.
    pub(crate) fn fill(&self) {
        let mut bytes = 4 * 1024 * 1024;
        let name = self.0.join("fill");
        while bytes > 0 {
            let file = OpenOptions::new().create(true).append(true).open(&name);
            let written = file.and_then(|mut file| file.write_all(&vec![0; bytes]));
            if written.is_err() {
                bytes /= 2;
            }
        }
    }

    /// Makes room again.
    pub(crate) fn empty(&self) {
        fs::remove_file(self.0.join("fill")).expect("removed");
    }

    /// Lets nobody write, or lets all write again; tells whether it could.
    pub(crate) fn let_write(&self, may: bool) -> bool {
        let only_read = if may { MsFlags::empty() } else { MsFlags::MS_RDONLY };
        let none: Option<&str> = None;
        mount(none, &self.0, none, MsFlags::MS_REMOUNT | only_read, none).is_ok()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Processes that are still to be killed have it open.
        let _ = umount2(&self.0, MntFlags::MNT_DETACH);
    }
}
