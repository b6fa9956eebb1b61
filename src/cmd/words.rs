//! From the words of the command line to what the job runs.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::escape::escape;
use crate::failure::Failure;
use crate::job::Command;
use crate::job::command::MAX_WORD;

/// One word is a text for the shell, several are a program and its arguments
/// as they are, and `-` reads a text for the shell from `stdin`.
pub(in crate::cmd) fn command(
    words: &[OsString],
    stdin: &mut dyn Read,
) -> Result<Command, Failure> {
    refuse_late_option(words)?;
    let command = match words {
        [] => return Err(missing()),
        [dash] if dash == "-" => Command::Shell(read(stdin)?),
        [text] => Command::Shell(text.as_bytes().to_vec()),
        several => Command::Argv(several.iter().map(|word| word.as_bytes().to_vec()).collect()),
    };
    command.check().map_err(Failure::usage)?;
    Ok(command)
}

/// A shell text with an option behind it: that would be a word of a program
/// whose name has blanks in it.
fn refuse_late_option(words: &[OsString]) -> Result<(), Failure> {
    let [text, option, ..] = words else { return Ok(()) };
    let is_text = text.as_bytes().contains(&b' ') && !Path::new(text).exists();
    if !is_text || !option.as_bytes().starts_with(b"-") {
        return Ok(());
    }
    let (text, option) = (escape(text.as_bytes()), escape(option.as_bytes()));
    let what = format!("`{option}` stands behind the command, and no program is named `{text}`");
    Err(Failure::usage(what).hint("options stand before the command"))
}

fn missing() -> Failure {
    Failure::usage("no command was given").hint("`ax add 'SHELL TEXT'` or `ax add -- PROGRAM ARG…`")
}

/// Reads a text without the newlines at its end, as `$(…)` does; stops
/// where it is longer than any command.
fn read(stdin: &mut dyn Read) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let limit = u64::try_from(MAX_WORD).unwrap_or(u64::MAX).saturating_add(2);
    stdin
        .take(limit)
        .read_to_end(&mut text)
        .map_err(|error| Failure::usage(format!("standard input cannot be read: {error}")))?;
    let end = text.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last + 1);
    text.truncate(end);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{self, Cli};
    use crate::exit;
    use clap::Parser;
    use std::os::unix::ffi::OsStringExt;

    fn from(words: &[&str], stdin: &[u8]) -> Result<Command, Failure> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        command(&words, &mut { stdin })
    }

    #[test]
    fn an_option_behind_a_shell_text_is_refused() {
        let failure = from(&["echo a; exit 3", "-r", "0"], b"").expect_err("no such program");
        assert_eq!(failure.exit, exit::USAGE);
        assert_eq!(
            failure.message,
            "`-r` stands behind the command, and no program is named `echo a; exit 3`"
        );
        assert!(from(&["echo", "-n", "a b"], b"").is_ok());
        assert!(from(&["echo a", "b"], b"").is_ok());
    }

    #[test]
    fn one_word_is_a_text_for_the_shell() {
        assert_eq!(from(&["echo a b"], b""), Ok(Command::Shell(b"echo a b".to_vec())));
    }

    #[test]
    fn several_words_stay_as_they_are() {
        let words = ["./show", "", "-n", "--after", "3", "*", "it's"];
        let expected = words.map(|word| word.as_bytes().to_vec()).to_vec();
        assert_eq!(from(&words, b""), Ok(Command::Argv(expected)));
    }

    #[test]
    fn bytes_that_are_no_text_are_kept() {
        let words = [OsString::from_vec(vec![b't', 0xff, 0xfe])];
        let kept = command(&words, &mut std::io::empty());
        assert_eq!(kept, Ok(Command::Shell(vec![b't', 0xff, 0xfe])));
    }

    #[test]
    fn a_dash_reads_the_text_from_standard_input() {
        let text = from(&["-"], b"cat <<E\n a\nE\n\n");
        assert_eq!(text, Ok(Command::Shell(b"cat <<E\n a\nE".to_vec())));
        let words = from(&["-", "x"], b"not read");
        assert_eq!(words, Ok(Command::Argv(vec![b"-".to_vec(), b"x".to_vec()])));
    }

    #[test]
    fn no_command_is_a_usage_error() {
        for words in [&[][..], &[""], &["   "], &["", "x"]] {
            let failure = from(words, b"").expect_err("no command");
            assert_eq!(failure.exit, exit::USAGE, "{words:?}");
        }
        assert!(from(&["-"], b"\n\n").is_err());
    }

    #[test]
    fn an_endless_standard_input_is_refused_and_not_read_to_its_end() {
        let failure = command(&["-".into()], &mut std::io::repeat(b'x')).expect_err("too long");
        assert!(failure.message.contains("at most 131071"), "{}", failure.message);
    }

    /// The words of the command in a line that begins `ax add`.
    fn typed(line: &[&str]) -> Option<Vec<String>> {
        let cli = Cli::try_parse_from(["ax", "add"].iter().chain(line)).ok()?;
        match cli.command {
            Some(cli::Command::Add(args)) => {
                Some(args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect())
            }
            other => panic!("not `ax add`: {other:?}"),
        }
    }

    #[test]
    fn the_command_begins_at_the_first_word_that_is_no_option() {
        let cases: &[(&[&str], &[&str])] = &[
            (&["echo", "-n"], &["echo", "-n"]),
            (&["-n", "x", "--", "echo", "-n"], &["echo", "-n"]),
            (&["-n", "x", "echo", "--json", "-h"], &["echo", "--json", "-h"]),
            (&["--", "./show", "", "-n", "--after", "3"], &["./show", "", "-n", "--after", "3"]),
            (&["git", "log", "--", "file"], &["git", "log", "--", "file"]),
            (&["--", "git", "log", "--", "file"], &["git", "log", "--", "file"]),
            (&["--", "-x", "y"], &["-x", "y"]),
            (&["--", "-"], &["-"]),
            (&["-p", "-5", "-"], &["-"]),
            (&["--"], &[]),
            (&[], &[]),
        ];
        for (line, expected) in cases {
            let words = typed(line).unwrap_or_else(|| panic!("refused: {line:?}"));
            assert_eq!(words, *expected, "{line:?}");
        }
    }

    #[test]
    fn what_looks_like_an_option_and_is_none_is_refused() {
        let lines: &[&[&str]] = &[
            &["--frobnicate", "3", "--", "true"],
            &["-x"],
            &["-5"],
            &["--retries", "-1", "true"],
            &["--retries", "x", "true"],
            &["--timeout", "-1", "true"],
            &["--timeout", "nan", "true"],
            &["--timeout", "0", "true"],
            &["--delay", "-5m", "true"],
            &["--priority", "2147483648", "true"],
            &["--delay", "1m", "--at", "02:00", "true"],
            &["--from", "-", "true"],
        ];
        for line in lines {
            assert_eq!(typed(line), None, "{line:?}");
        }
    }
}
