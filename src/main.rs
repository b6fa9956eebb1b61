//! The program `ax`; everything is in the library.

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    ax_scheduler::crash::arm();
    ExitCode::from(ax_scheduler::run(std::env::args_os(), &mut io::stdout(), &mut io::stderr()))
}
