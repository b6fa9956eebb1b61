//! Starting a process for a price that does not grow with the memory of the one
//! that starts it, nor with what nobody asked for.
//!
//! The new process borrows the memory of this one, which sleeps meanwhile, from
//! `clone(2)` with `CLONE_VM | CLONE_VFORK` to `execve(2)`, as that of
//! `posix_spawn(3)` does. It asks the system only for what makes it a job;
//! `posix_spawn` takes a fresh stack from the system each time and asks about
//! each of 64 signals, which is a fortieth of what a short job costs in all.

use std::cell::Cell;
use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use nix::errno::Errno;
use nix::libc::{self, c_char, c_int};
use nix::sched::{CloneFlags, clone};
use nix::unistd::Pid;
use rustix::process::{WaitOptions, waitpid};

/// The stack of a new process until it is the program: some calls of the system
/// deep, none of which puts more than a few hundred bytes there.
const STACK: usize = 64 * 1024;

/// The signals that Linux knows, also those that the C library keeps for itself.
const SIGNALS: std::ops::RangeInclusive<c_int> = 1..=64;

/// What a new process has open.
#[derive(Clone, Copy)]
pub(super) struct Files<'a> {
    /// Standard input.
    pub(super) input: BorrowedFd<'a>,
    /// Standard output and error.
    pub(super) output: BorrowedFd<'a>,
}

/// Starts processes. A process that has one has one thread and blocks every
/// signal, so that nothing of it runs while its memory is borrowed.
pub(super) struct Launcher {
    stack: Vec<u8>,
    /// The signals that this process ignores and a job must not.
    ignored: Vec<c_int>,
}

impl Launcher {
    /// One that remembers what this process ignores.
    pub(super) fn new() -> Self {
        Self {
            stack: vec![0; STACK],
            ignored: SIGNALS.filter(|signal| is_ignored(*signal)).collect(),
        }
    }

    /// Starts `program` with these words and variables in a process group of its
    /// own, with default signals, none of them blocked, and no files but these;
    /// tells its process id.
    ///
    /// # Errors
    /// What the system says of the program, or of the process.
    pub(super) fn launch(
        &mut self,
        program: &CStr,
        words: &[&CStr],
        env: &[&CStr],
        files: Files<'_>,
    ) -> Result<Pid, Errno> {
        let (words, env) = (pointers(words), pointers(env));
        let refused = Cell::new(0);
        let ignored = &self.ignored;
        let child = || {
            // SAFETY: what it is given lives as long as this process sleeps.
            refused.set(unsafe { become_program(program, &words, &env, files, ignored) } as c_int);
            // SAFETY: it ends this process at once, and nothing that it borrows.
            unsafe { libc::_exit(127) }
        };
        let flags = CloneFlags::CLONE_VM | CloneFlags::CLONE_VFORK;
        // SAFETY: this process sleeps until the new one has left its memory, no
        // signal runs a handler there meanwhile, and the stack is large enough.
        let pid = unsafe { clone(Box::new(child), &mut self.stack, flags, Some(libc::SIGCHLD)) }?;
        match refused.get() {
            0 => Ok(pid),
            errno => {
                reap(pid);
                Err(Errno::from_raw(errno))
            }
        }
    }
}

/// Makes this process the program; comes back only with what went wrong.
///
/// # Safety
/// The pointers are those of texts, and the last of each list is null.
unsafe fn become_program(
    program: &CStr,
    words: &[*const c_char],
    env: &[*const c_char],
    files: Files<'_>,
    ignored: &[c_int],
) -> Errno {
    let (input, output) = (files.input.as_raw_fd(), files.output.as_raw_fd());
    // SAFETY: plain calls of the system, with masks and pointers that are whole.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        let is_ready = libc::setpgid(0, 0) == 0
            && [(input, 0), (output, 1), (output, 2)]
                .iter()
                .all(|(from, to)| libc::dup2(*from, *to) == *to)
            && ignored.iter().all(|signal| action(*signal, &DEFAULT, ptr::null_mut()))
            && libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()) == 0;
        if is_ready {
            libc::execve(program.as_ptr(), words.as_ptr(), env.as_ptr());
        }
    }
    Errno::last()
}

/// What is done about a signal, as the system has it: who handles it comes
/// first, and with the rest of it this is not longer than eight words.
type Action = [usize; 8];

const DEFAULT: Action = [libc::SIG_DFL; 8];

fn is_ignored(signal: c_int) -> bool {
    let mut now = DEFAULT;
    // SAFETY: it is only asked for, and there is room for the answer.
    unsafe { action(signal, ptr::null(), &raw mut now) && now[0] == libc::SIG_IGN }
}

/// `rt_sigaction(2)` itself: that of the C library refuses the signals that it
/// keeps for itself, which `posix_spawn(3)` has a process ignore.
///
/// # Safety
/// As for the call.
unsafe fn action(signal: c_int, new: *const Action, old: *mut Action) -> bool {
    const MASK: usize = size_of::<u64>();
    // SAFETY: what the caller promises.
    unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, new, old, MASK) == 0 }
}

fn pointers(texts: &[&CStr]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}

/// Takes the end of a process that never was the program.
fn reap(pid: Pid) {
    let pid = rustix::process::Pid::from_raw(pid.as_raw());
    let interrupted = rustix::io::Errno::INTR;
    while waitpid(pid, WaitOptions::empty()).is_err_and(|errno| errno == interrupted) {}
}
