//! What clap answers itself: help, the version, and a command line that is wrong.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use clap::error::ErrorKind;

use crate::failure::Failure;
use crate::{exit, report};

/// Prints what clap has to say, and returns the exit code.
pub(crate) fn answer(
    error: &clap::Error,
    json: bool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let text = error.render();
    if !error.use_stderr() {
        let color = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let text = if color { text.ansi().to_string() } else { text.to_string() };
        return printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()), json, err);
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = err.write_all(text.to_string().as_bytes());
        return exit::USAGE;
    }
    report(&failure(&text.to_string()), json, err)
}

fn printed(result: io::Result<()>, json: bool, err: &mut dyn Write) -> u8 {
    match result {
        Ok(()) => exit::DONE,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => exit::DONE,
        Err(error) => {
            report(&Failure::failed(format!("cannot write the help: {error}")), json, err)
        }
    }
}

/// Clap's text as a failure of ours: the first paragraph on one line, and the
/// tip as the hint.
fn failure(text: &str) -> Failure {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let mut paragraphs = text.split("\n\n");
    let message = paragraphs.next().unwrap_or_default();
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let tips = text.lines().filter_map(|line| line.trim().strip_prefix("tip: "));
    let tip = tips.collect::<Vec<_>>().join("; ");
    let hint = if tip.is_empty() { "`--help` shows what may be typed".to_owned() } else { tip };
    Failure::usage(message).hint(hint)
}

/// Tells whether a command line that could not be understood asks for JSON:
/// the words that do, before those of a command of `ax add`.
pub(crate) fn wants_json(args: &[OsString]) -> bool {
    let mut before = "";
    for arg in args.iter().filter_map(|arg| arg.to_str()) {
        let value = arg.strip_prefix("--format=").or_else(|| arg.strip_prefix("-o"));
        let follows = matches!(before, "-o" | "--format");
        let format = if follows { Some(arg) } else { value };
        match arg {
            "--" => return false,
            "--json" => return true,
            _ if matches!(format, Some("json" | "jsonl" | "=json" | "=jsonl")) => return true,
            _ => before = arg,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exit code, stdout and stderr of a command line.
    fn ran(args: &[&str]) -> (u8, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let args = std::iter::once("ax").chain(args.iter().copied()).map(OsString::from);
        let exit = crate::run(args, &mut out, &mut err);
        let text = |bytes| String::from_utf8(bytes).expect("everything printed is UTF-8");
        (exit, text(out), text(err))
    }

    #[test]
    fn a_wrong_command_line_is_told_in_our_words() {
        let (exit, out, err) = ran(&["list", "--frobnicate"]);
        assert_eq!((exit, out.as_str()), (exit::USAGE, ""));
        assert!(err.starts_with("ax: unexpected argument '--frobnicate' found\nhint: "), "{err}");
    }

    #[test]
    fn a_script_gets_the_error_of_its_command_line_as_json() {
        for json in [&["--json"][..], &["-o", "json"], &["-ojsonl"], &["--format=json"]] {
            let args = [&["list", "--frobnicate"], json].concat();
            let (exit, out, err) = ran(&args);
            assert_eq!((exit, out.as_str()), (exit::USAGE, ""));
            let error: serde_json::Value = serde_json::from_str(&err).expect("is JSON");
            assert_eq!(error["error"]["code"], "usage", "{json:?}");
        }
    }

    #[test]
    fn a_value_that_is_wrong_is_told_with_those_that_are_right_on_one_line() {
        let (_, _, err) = ran(&["list", "--status", "lost"]);
        let first = err.lines().next().unwrap_or_default();
        assert!(first.contains("'lost'") && first.contains("pending, ready"), "{err}");
    }

    #[test]
    fn words_of_a_job_are_no_wish_for_json() {
        let words = ["add", "--frobnicate", "--", "curl", "--json"].map(OsString::from);
        assert!(!wants_json(&words));
    }
}
