//! Man pages and completions are kept in the repository, as packagers want
//! them. They are what the program writes; `cargo bless` writes them anew.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

type Files = BTreeMap<OsString, Vec<u8>>;

/// Runs the program in this process; gives what it printed.
fn ax(args: &[&str]) -> Vec<u8> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["ax", "--db", "unused.db"].iter().chain(args).map(OsString::from);
    let exit = ax_scheduler::run(args, &mut out, &mut err);
    assert_eq!(exit, 0, "{}", String::from_utf8_lossy(&err));
    out
}

fn files(dir: &Path) -> Files {
    let Ok(entries) = fs::read_dir(dir) else { return Files::new() };
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("listed");
        (entry.file_name(), fs::read(entry.path()).expect("read"))
    };
    entries.map(read).collect()
}

fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Compares, or writes anew if `AX_BLESS` is set.
fn assert_kept(name: &str, wanted: &Files) {
    let dir = kept(name);
    if std::env::var_os("AX_BLESS").is_some() {
        bless(&dir, wanted);
    }
    let found = files(&dir);
    for file in wanted.keys().chain(found.keys()) {
        assert!(
            wanted.get(file) == found.get(file),
            "{} is not what the program writes; `cargo bless` writes it anew",
            dir.join(file).display()
        );
    }
}

fn bless(dir: &Path, wanted: &Files) {
    fs::create_dir_all(dir).expect("made");
    for file in files(dir).keys().filter(|file| !wanted.contains_key(*file)) {
        fs::remove_file(dir.join(file)).expect("removed");
    }
    for (file, bytes) in wanted {
        fs::write(dir.join(file), bytes).expect("written");
    }
}

#[test]
fn the_completions_are_what_the_program_writes() {
    let shells = [("ax.bash", "bash"), ("_ax", "zsh"), ("ax.fish", "fish")];
    let write = |(file, shell)| (OsString::from(file), ax(&["completions", shell]));
    assert_kept("completions", &shells.map(write).into());
}

#[test]
fn the_man_pages_are_what_the_program_writes() {
    let dir = tempfile::tempdir().expect("a directory");
    ax(&["man", dir.path().to_str().expect("a plain path")]);
    assert_kept("man", &files(dir.path()));
}

#[test]
fn hidden_commands_are_in_no_page_and_no_completion() {
    let dir = tempfile::tempdir().expect("a directory");
    ax(&["man", dir.path().to_str().expect("a plain path")]);
    let mut texts = files(dir.path());
    for shell in ["bash", "zsh", "fish"] {
        texts.insert(shell.into(), ax(&["completions", shell]));
    }
    assert!(!texts.contains_key(&OsString::from("ax-man.1")));
    for (file, bytes) in &texts {
        assert!(!String::from_utf8_lossy(bytes).contains("__supervise"), "{}", file.display());
    }
}
