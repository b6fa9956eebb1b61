//! `ax man`: the man pages, one for each command.

use std::fs;
use std::io;
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use super::Answer;
use crate::cli::{Cli, ManArgs};
use crate::exit;
use crate::failure::Failure;

pub(super) fn run(args: &ManArgs) -> Result<Answer, Failure> {
    let mut ax = Cli::command();
    ax.build();
    fs::create_dir_all(&args.dir).and_then(|()| write(&ax, &args.dir)).map_err(|error| {
        Failure::failed(format!("cannot write {}: {error}", args.dir.display()))
    })?;
    Ok(Answer::silent(exit::DONE))
}

/// Writes the page of a command and those of its commands.
fn write(command: &clap::Command, dir: &Path) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let mut page = Vec::new();
    Man::new(command.clone())
        .title(name)
        .source(concat!("ax ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands")
        .render(&mut page)?;
    fs::write(dir.join(format!("{name}.1")), page)?;
    command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
        .try_for_each(|inner| write(inner, dir))
}
