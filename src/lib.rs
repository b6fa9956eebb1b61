//! `ax`: a job scheduler in one binary, on one `SQLite` file.

pub mod cli;
pub mod clock;
pub mod cmd;
pub mod data_dir;
pub mod doctor;
pub mod exec;
pub mod exit;
pub mod failure;
pub mod fields;
pub mod flow;
pub mod job;
pub mod output;
pub mod store;
pub mod suggest;
mod usage;
pub mod when;

use std::ffi::OsString;
use std::io::Write;

use clap::Parser;

use failure::Failure;

/// Runs the program and returns its exit code.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match cli::Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return usage::answer(&error, usage::wants_json(&args), out, err),
    };
    let json = cli.command.wants_json();
    match cmd::run(cli, out, err) {
        Ok(exit) => exit,
        Err(failure) => report(&failure, json, err),
    }
}

/// Tells a person or a script of a failure, and returns its exit code. If
/// nobody can be told, the exit code remains.
fn report(failure: &Failure, json: bool, err: &mut dyn Write) -> u8 {
    if !failure.message.is_empty() {
        let text = if json { format!("{}\n", failure.to_json()) } else { failure.to_string() };
        let _ = err.write_all(text.as_bytes());
    }
    failure.exit
}
