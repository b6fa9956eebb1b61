//! The program `ax`; everything is in the library.

use std::io;
use std::process::ExitCode;

use nix::sys::signal::{SigHandler, Signal, signal};

fn main() -> ExitCode {
    // A file that may not grow is to be an error in words, not the end.
    // SAFETY: ignoring a signal runs no code.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    ax_scheduler::crash::arm();
    ExitCode::from(ax_scheduler::run(std::env::args_os(), &mut io::stdout(), &mut io::stderr()))
}
