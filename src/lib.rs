//! `ax`: a job scheduler in one binary, on one `SQLite` file.

pub mod cli;
pub mod clock;
pub mod cmd;
pub mod data_dir;
pub mod exec;
pub mod exit;
pub mod failure;
pub mod job;
pub mod output;
pub mod store;
pub mod when;

use std::ffi::OsString;
use std::io::Write;

use clap::Parser;

/// Runs the program and returns its exit code.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let json = args.iter().any(|arg| arg == "--json");
    let cli = match cli::Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return exit::USAGE;
        }
    };
    match cmd::run(cli, out, err) {
        Ok(exit) => exit,
        Err(failure) => {
            if json {
                let _ = writeln!(err, "{}", failure.to_json());
            } else if !failure.message.is_empty() {
                let _ = writeln!(err, "ax: {}", failure.message);
                if let Some(hint) = &failure.hint {
                    let _ = writeln!(err, "hint: {hint}");
                }
            }
            failure.exit
        }
    }
}
