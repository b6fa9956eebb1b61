//! The README is true: every command of it is run as it stands there.
//!
//! Each section is a place of its own, with a home, a database, and programs that
//! stand in for what needs a network. Its blocks are run one after the other; the
//! word behind the language of a block says how:
//!
//! | block | what is done |
//! |---|---|
//! | `sh` | run by a shell that stops at the first failure |
//! | `sh foreground` | started, and told to stop at the end of the section |
//! | `sh set-up` | builds the program: whoever runs the tests has done that |
//! | `console` | each command is run, and what it prints compared |
//! | `console varies` | the same, but what it prints is of its day |
//! | `console long` | takes a minute: what may be typed is looked up |
//! | `toml FILE` | written to that file |

mod page;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;

use super::harness::process::kill;
use super::harness::{Desk, ended, said};
use page::{Block, Kind, Section};

/// Programs that need a network, a mailbox or a project, and what is there instead.
const STAND_INS: [(&str, &str); 4] = [
    (
        "curl",
        "#!/bin/sh
         for url; do :; done
         while [ $# -gt 1 ]; do
             case $1 in
             -*o) out=$2; shift ;;
             -*O) out=${url##*/} ;;
             esac
             shift
         done
         echo a line of $url > \"${out:-/dev/stdout}\"",
    ),
    ("mail", "#!/bin/sh\ncat > /dev/null"),
    ("make", "#!/bin/sh\necho $1 is fine"),
    ("crontab", "#!/bin/sh\necho '30 2 * * * ./backup.sh --all'"),
];

/// The home of whoever reads a section.
struct Home {
    desk: Desk,
    runners: Vec<Child>,
}

impl Home {
    fn new() -> Self {
        let desk = Desk::with_db_in(".local/share/ax");
        fs::create_dir(desk.file("bin")).expect("made");
        for (name, text) in STAND_INS {
            let path = desk.file("bin").join(name);
            fs::write(&path, text).expect("written");
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its own file");
        }
        Self { desk, runners: Vec::new() }
    }

    /// A shell with the programs of the section, for this text.
    fn shell(&self, text: &str) -> Command {
        let mut command = self.desk.program("bash");
        let built = std::path::Path::new(env!("CARGO_BIN_EXE_ax")).parent().expect("a directory");
        let path = std::env::var("PATH").expect("there is a PATH");
        let path = format!("{}:{}:{path}", self.desk.file("bin").display(), built.display());
        command.env("PATH", path).env("HOME", self.desk.path()).env("LC_ALL", "C");
        command.env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME");
        command.args(["-euc", text]);
        command
    }

    fn run(&mut self, block: &Block) {
        match &block.kind {
            Kind::File(name) => fs::write(self.desk.file(name), &block.text).expect("written"),
            Kind::Script => {
                let said = said(&mut self.shell(&block.text));
                assert_eq!(said.exit, 0, "{block}\n{}{}", said.text(), said.err);
            }
            Kind::Foreground => {
                let mut shell = self.shell(&format!("exec {}", block.text.trim()));
                let child = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
                self.runners.push(child.expect("it can be started"));
                self.desk.wait_until("a runner is there", || {
                    let status = self.desk.ax(&["status", "--json"]).json();
                    status["runners"].as_array().is_some_and(|runners| !runners.is_empty())
                });
            }
            Kind::Session | Kind::Varies => self.converse(block),
            Kind::Long => {
                for (command, _) in block.conversation() {
                    page::assert_may_be_typed(&self.desk, &command);
                }
            }
            Kind::SetUp => {
                assert!(block.text.lines().all(|line| line.starts_with("cargo ")), "{block}");
            }
            Kind::Other => (),
        }
    }

    /// Types what stands behind a prompt, and compares what is said.
    fn converse(&self, block: &Block) {
        let conversation = block.conversation();
        let mark = |n: usize| format!("--- {n} ---");
        let typed = conversation.iter().enumerate();
        let script: Vec<_> =
            typed.map(|(n, (command, _))| format!("echo '{}'\n{command}\n", mark(n))).collect();
        let said = said(&mut self.shell(&format!("set +e; exec 2>&1\n{}", script.concat())));
        let mut rest = said.text();
        for (n, (command, wanted)) in conversation.iter().enumerate() {
            let (_, after) = rest.split_once(&format!("{}\n", mark(n))).expect("its mark");
            let answer = after.split(&mark(n + 1)).next().unwrap_or(after);
            rest = after;
            let [answer, wanted] = [answer, wanted].map(page::without_times);
            if block.kind == Kind::Varies {
                assert_eq!(answer.lines().count(), wanted.lines().count(), "{block}\n{answer}");
            } else {
                assert_eq!(answer, wanted, "what `{command}` says, and what is written: {block}");
            }
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for mut runner in self.runners.drain(..) {
            let _ = runner.kill();
            let _ = runner.wait();
        }
    }
}

fn read(section: &Section) {
    let mut home = Home::new();
    for block in &section.blocks {
        home.run(block);
    }
    for runner in home.runners.drain(..) {
        kill(i32::try_from(runner.id()).expect("a process id fits"), Signal::SIGTERM);
        assert_eq!(ended(runner).exit, 0, "{}", section.title);
    }
}

#[test]
fn every_command_of_the_readme_does_what_it_says() {
    let sections = page::sections();
    let blocks = sections.iter().map(|section| section.blocks.len()).sum::<usize>();
    assert!(blocks > 20, "the page was read: {blocks}");
    for section in &sections {
        read(section);
    }
}

#[test]
fn every_command_that_the_readme_names_may_be_typed() {
    let desk = Desk::new();
    let commands = page::named_commands();
    assert!(commands.len() > 40, "the page was read: {}", commands.len());
    for command in commands {
        page::assert_may_be_typed(&desk, &command);
    }
}
