//! A terminal that somebody sits at: a real one, whose far side reads what is
//! written into a screen.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use nix::sys::signal::Signal;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use super::process::kill;
use super::{Desk, wait_until};

/// What is on the screen, and all that was ever written to it.
struct Seen {
    screen: vt100::Parser,
    bytes: Vec<u8>,
    hung_up: bool,
}

/// A terminal with `ax` in its foreground, which is killed when it is dropped.
pub(crate) struct Terminal {
    child: Child,
    /// Gone after a hang-up.
    near: Option<File>,
    seen: Arc<Mutex<Seen>>,
    reader: Option<JoinHandle<()>>,
    before: Termios,
}

impl Terminal {
    /// Types a command into a terminal of this size, in lines and columns.
    pub(crate) fn open(desk: &Desk, size: (u16, u16), words: &[&str]) -> Self {
        Self::of_kind("xterm-256color", desk, size, words)
    }

    /// The same in a terminal of another kind.
    pub(crate) fn of_kind(
        kind: &str,
        desk: &Desk,
        (rows, columns): (u16, u16),
        words: &[&str],
    ) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let near = openpt(flags).expect("a terminal");
        grantpt(&near).expect("it is ours");
        unlockpt(&near).expect("it opens");
        let name = ptsname(&near, Vec::new()).expect("it has a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let far = rustix::fs::open(&name, flags, Mode::empty()).expect("its far side");
        tcsetwinsize(&near, size(rows, columns)).expect("it has a size");
        let before = tcgetattr(&far).expect("its modes");
        let end = |far: &rustix::fd::OwnedFd| Stdio::from(far.try_clone().expect("the same"));
        // A session of its own, whose terminal this is.
        let mut command = desk.program("setsid");
        command.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_ax")]).args(words);
        command.env("TERM", kind).env_remove("NO_COLOR");
        command.stdin(end(&far)).stdout(end(&far)).stderr(end(&far));
        let child = command.spawn().expect("ax can be started");
        let near = File::from(near);
        let parser = vt100::Parser::new(length(rows), length(columns), 1_000);
        let seen = Arc::new(Mutex::new(Seen { screen: parser, bytes: Vec::new(), hung_up: false }));
        let reader = Some(read_all(near.try_clone().expect("the same"), Arc::clone(&seen)));
        Self { child, near: Some(near), seen, reader, before }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("nobody panics with it")
    }

    /// The lines on the screen, without the empty ones at its end.
    pub(crate) fn text(&self) -> String {
        self.seen().screen.screen().contents()
    }

    /// All that was ever written, as it was.
    pub(crate) fn bytes(&self) -> String {
        String::from_utf8_lossy(&self.seen().bytes).into_owned()
    }

    /// Whether the whole screen is taken.
    pub(crate) fn is_alternate(&self) -> bool {
        self.seen().screen.screen().alternate_screen()
    }

    /// Types.
    pub(crate) fn type_in(&mut self, keys: &str) {
        let near = self.near.as_mut().expect("nobody hung up");
        near.write_all(keys.as_bytes()).expect("it takes keys");
    }

    /// Makes it larger or smaller, as somebody with a mouse does.
    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        let near = self.near.as_ref().expect("nobody hung up");
        self.seen().screen.screen_mut().set_size(length(rows), length(columns));
        tcsetwinsize(near, size(rows, columns)).expect("it has a size");
    }

    /// Closes it. Something must be written to it for that to be noticed.
    pub(crate) fn hang_up(&mut self) {
        self.seen().hung_up = true;
        if let Some(reader) = self.reader.take() {
            reader.join().expect("it read what came");
        }
        self.near = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal);
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a process id fits")
    }

    /// Waits until the screen shows something.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        wait_until(&format!("{text:?} is shown"), || self.text(), || self.text().contains(text));
    }

    /// Waits until it ends; all that it wrote is on the screen then.
    #[track_caller]
    pub(crate) fn end(&mut self) -> ExitStatus {
        let mut status = None;
        let seen = Arc::clone(&self.seen);
        let story = || seen.lock().expect("nobody panics with it").screen.screen().contents();
        wait_until("it ends", story, || {
            status = self.child.try_wait().expect("it can be asked");
            status.is_some()
        });
        if let Some(reader) = self.reader.take() {
            reader.join().expect("it read to the end");
        }
        status.expect("it was waited for")
    }

    /// Asserts that whoever types next finds the terminal as it was: its modes,
    /// its screen, its cursor, at the start of a line.
    #[track_caller]
    pub(crate) fn assert_restored(&self) {
        self.assert_restored_modes();
        let seen = self.seen();
        let screen = seen.screen.screen();
        assert_eq!(screen.cursor_position().1, 0, "{}", screen.contents());
    }

    /// Asserts it of its modes and its screen alone, as after a `^C` that it echoed.
    #[track_caller]
    pub(crate) fn assert_restored_modes(&self) {
        let near = self.near.as_ref().expect("nobody hung up");
        let after = tcgetattr(near).expect("its modes");
        assert_eq!(after.local_modes, self.before.local_modes);
        assert_eq!(after.input_modes, self.before.input_modes);
        assert_eq!(after.output_modes, self.before.output_modes);
        let seen = self.seen();
        let screen = seen.screen.screen();
        assert!(!screen.alternate_screen() && !screen.hide_cursor(), "{}", screen.contents());
    }
}

/// Reads until the far side is closed.
fn read_all(mut near: File, seen: Arc<Mutex<Seen>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut block = [0; 4096];
        while let Ok(read @ 1..) = near.read(&mut block) {
            let mut seen = seen.lock().expect("nobody panics with it");
            seen.screen.process(&block[..read]);
            seen.bytes.extend_from_slice(&block[..read]);
            if seen.hung_up {
                return;
            }
        }
    })
}

const fn size(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn length(length: u16) -> NonZero<u16> {
    NonZero::new(length).expect("a length")
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
