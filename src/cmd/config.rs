//! `ax config`: what is configured, and where.

use std::os::unix::ffi::OsStrExt;

use super::{Answer, Context, unprinted};
use crate::cli::{ColorChoice, ConfigArgs};
use crate::config;
use crate::exit;
use crate::failure::Failure;
use crate::output::config::Configured;

pub(super) fn run(args: ConfigArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    if args.path {
        return path(context);
    }
    let db = context.given.db.as_ref().map(|db| ("db", db.display().to_string()));
    let color = context.given.color.map(ColorChoice::name).map(|name| ("color", name.to_owned()));
    let options: Vec<_> = db.into_iter().chain(color).collect();
    Ok(Answer::new(Configured { entries: context.config.entries(&options) }, args.show))
}

/// Prints where the file is, whether it is there or not.
fn path(context: &mut Context<'_>) -> Result<Answer, Failure> {
    let path = config::path(&|name| std::env::var_os(name)).ok_or_else(|| {
        Failure::usage("neither XDG_CONFIG_HOME nor HOME says where the file is")
            .hint("name it with AX_CONFIG")
    })?;
    let line = [path.as_os_str().as_bytes(), b"\n"].concat();
    context.out.write_all(&line).and_then(|()| context.out.flush()).map_err(unprinted)?;
    Ok(Answer::silent(exit::DONE))
}
