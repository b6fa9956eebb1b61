//! `ax service`: what has a runner started with the machine or the session.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use clap::Parser;

use super::{Answer, Context, unprinted};
use crate::cli::{Cli, ServiceArgs, ServiceKind};
use crate::exit;
use crate::failure::{Failure, reason};
use crate::job::settings::KILL_AFTER;

/// What is left to a runner beside the time of its jobs, before it is killed.
const MARGIN: Duration = Duration::from_secs(20);

pub(super) fn run(args: &ServiceArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    check_options(&args.options)?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::failed(format!("where is ax? {}", reason(&error))))?;
    let mut words: Vec<OsString> = vec!["--db".into(), context.db.clone().into(), "run".into()];
    if args.detach {
        words.extend(["--on-stop".into(), "detach".into()]);
    } else {
        words.extend(["--grace".into(), format!("{}s", args.grace.as_secs()).into()]);
    }
    words.extend(args.options.iter().cloned());
    let text = match args.kind {
        ServiceKind::Systemd => unit(args, program.as_os_str(), &words)?,
        ServiceKind::Crontab => crontab(program.as_os_str(), &words),
    };
    context.out.write_all(&text).and_then(|()| context.out.flush()).map_err(unprinted)?;
    Ok(Answer::silent(exit::DONE))
}

/// What `ax run` would not take is refused now, and not by a unit that fails.
fn check_options(options: &[OsString]) -> Result<(), Failure> {
    let words = ["ax".into(), "run".into()].into_iter().chain(options.iter().cloned());
    Cli::try_parse_from(words).map(drop).map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        let what = first.strip_prefix("error: ").unwrap_or(first);
        Failure::usage(format!("`ax run` does not take this: {what}"))
            .hint("`ax run --help` shows its options")
    })
}

fn unit(args: &ServiceArgs, program: &OsStr, words: &[OsString]) -> Result<Vec<u8>, Failure> {
    let mut unit = String::new();
    let (place, control, target) = if args.system {
        ("/etc/systemd/system/ax.service", "sudo systemctl", "multi-user.target")
    } else {
        ("~/.config/systemd/user/ax.service", "systemctl --user", "default.target")
    };
    let mut line = |text: &str| unit += &format!("{text}\n");
    line(&format!("# {place}, written by `ax service`. To start it:"));
    line(&format!("#   {control} daemon-reload && {control} enable --now ax"));
    if !args.system {
        line("# and to let it run while nobody is logged in:");
        line("#   loginctl enable-linger");
    }
    line("[Unit]\nDescription=Runs the jobs of ax\n\n[Service]\nType=exec");
    if args.system {
        line(&format!("User={}", user()?));
    }
    let words = words.iter().map(|word| quoted(word.as_bytes(), true));
    let command: Vec<_> = std::iter::once(quoted(program.as_bytes(), false)).chain(words).collect();
    line(&format!("ExecStart={}", command.join(" ")));
    line("Restart=on-failure\nRestartSec=5s");
    line("# TERM goes to the runner alone, which sees to its jobs.");
    line("KillSignal=SIGTERM");
    if args.detach {
        line("# Jobs run on under their supervisors, and the next runner takes them over.");
        line("KillMode=process\nTimeoutStopSec=30s");
    } else {
        let stop = args.grace + KILL_AFTER + MARGIN;
        line("# It waits for them, then stops them and gives them back to the queue.");
        line(&format!("KillMode=mixed\nTimeoutStopSec={}s", stop.as_secs()));
    }
    line(&format!("\n[Install]\nWantedBy={target}"));
    Ok(unit.into_bytes())
}

fn user() -> Result<String, Failure> {
    let found = nix::unistd::User::from_uid(nix::unistd::geteuid());
    found.ok().flatten().map(|user| user.name).ok_or_else(|| {
        Failure::failed("this user has no name").hint("without --system no name is needed")
    })
}

/// A word of `ExecStart=`: quoted, without specifiers, and without variables
/// but for the program, which is never looked at for those
/// (systemd.service(5), COMMAND LINES).
fn quoted(word: &[u8], has_variables: bool) -> String {
    let mut text = String::from("\"");
    for chunk in word.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '%' => text.push_str("%%"),
                '$' if has_variables => text.push_str("$$"),
                '"' | '\\' => text.extend(['\\', letter]),
                letter if letter.is_ascii_control() => {
                    text += &format!("\\x{:02x}", u32::from(letter));
                }
                letter => text.push(letter),
            }
        }
        for byte in chunk.invalid() {
            text += &format!("\\x{byte:02x}");
        }
    }
    text.push('"');
    text
}

/// A line that starts a runner with the machine. To cron `%` is the end of a line.
fn crontab(program: &OsStr, words: &[OsString]) -> Vec<u8> {
    let all = std::iter::once(program).chain(words.iter().map(OsString::as_os_str));
    let line = shlex::bytes::Quoter::new()
        .allow_nul(true)
        .join(all.map(OsStr::as_bytes))
        .expect("no word has a NUL byte");
    let mut text = b"@reboot ".to_vec();
    for byte in line {
        if byte == b'%' {
            text.push(b'\\');
        }
        text.push(byte);
    }
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_itself_to_systemd() {
        for (word, want) in [
            (&b"/usr/bin/ax"[..], "\"/usr/bin/ax\""),
            (b"a b", "\"a b\""),
            (b"100%", "\"100%%\""),
            (b"$HOME", "\"$$HOME\""),
            (b"a\"b\\c", "\"a\\\"b\\\\c\""),
            (b"a\nb\xff", "\"a\\x0ab\\xff\""),
            ("ä".as_bytes(), "\"ä\""),
        ] {
            assert_eq!(quoted(word, true), want);
        }
        assert_eq!(quoted(b"/opt/$x/ax", false), "\"/opt/$x/ax\"");
    }

    #[test]
    fn a_line_of_a_crontab_means_itself_to_cron_and_its_shell() {
        let words = ["--db".into(), "/a b/50%.db".into(), "run".into()];
        let line = crontab(OsStr::new("/usr/bin/ax"), &words);
        assert_eq!(line, b"@reboot /usr/bin/ax --db '/a b/50\\%.db' run\n");
    }
}
