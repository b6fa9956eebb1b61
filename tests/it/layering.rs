//! Who may use whom: the sources are read and held against these tables.
//!
//! Tests inside the sources are left out; they may reach across.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module and the other modules it may use.
const MAY_USE: [(&str, &[&str]); 21] = [
    ("job", &[]),
    ("exit", &[]),
    ("crash", &[]),
    ("suggest", &[]),
    ("escape", &[]),
    ("clock", &["job"]),
    ("data_dir", &["job"]),
    ("when", &["job", "clock"]),
    ("fields", &["job", "when"]),
    ("cli", &["job", "when"]),
    // Knows no process.
    ("store", &["job", "crash", "data_dir"]),
    // Knows no database.
    ("exec", &["job", "clock", "crash", "data_dir", "escape"]),
    ("sched", &["job", "clock", "crash", "data_dir", "exec", "store"]),
    ("failure", &["exit", "store"]),
    ("document", &["failure", "fields", "suggest"]),
    ("config", &["cli", "data_dir", "document", "exec", "failure", "fields", "job"]),
    ("flow", &["document", "job", "failure", "fields", "suggest"]),
    ("doctor", &["job", "clock", "data_dir", "exec", "failure", "sched", "store"]),
    ("bench", &["failure", "sched", "store"]),
    ("output", &["job", "bench", "cli", "config", "escape", "store", "sched"]),
    (
        "cmd",
        &[
            "bench", "cli", "clock", "config", "crash", "data_dir", "doctor", "escape", "exec",
            "exit", "failure", "fields", "flow", "job", "output", "sched", "store", "suggest",
            "when",
        ],
    ),
];

/// The modules that tie the program together and may use everything.
const TOP: [&str; 3] = ["lib", "main", "usage"];

/// What stands in the code of these modules (or files) and nowhere else, and why.
const ONLY_IN: [(&str, &[&str], &str); 14] = [
    ("rusqlite::", &["store"], "the database has one owner"),
    ("clap::", &["cli", "cmd", "lib", "usage"], "the command line ends where it is read"),
    ("toml::", &["config", "document", "flow"], "documents are read in one way"),
    ("comfy_table::", &["output"], "one place lays out tables"),
    ("crossterm::", &["output"], "one place draws on terminals"),
    ("SystemTime::now", &["clock"], "one file reads the wall clock"),
    ("Utc::now", &["clock"], "one file reads the wall clock"),
    ("Local::now", &["clock"], "one file reads the wall clock"),
    ("process::Command", &["bench", "exec"], "one place starts processes, one measures that"),
    ("println!", &["main", "output"], "commands return views, one place prints"),
    ("eprintln!", &["main", "output"], "commands return views, one place prints"),
    ("print!", &["main", "output"], "commands return views, one place prints"),
    ("eprint!", &["main", "output"], "commands return views, one place prints"),
    ("dbg!", &[], "nothing is printed in passing"),
];

/// How a statement of SQL begins.
const SQL: [&str; 9] = [
    "SELECT ", "INSERT ", "UPDATE ", "DELETE ", "REPLACE ", "PRAGMA ", "CREATE ", "DROP ", "BEGIN ",
];

/// A file of the program, without comments and tests.
struct Source {
    path: PathBuf,
    code: String,
}

impl Source {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).expect("a source");
        Self { code: code_of(&text), path }
    }

    /// The name of the module right under the crate: `store` of `src/store/sqlite/add.rs`.
    fn module(&self) -> String {
        let inside = self.path.strip_prefix(root()).expect("a path under src");
        let first = inside.iter().next().expect("a file name");
        Path::new(first).with_extension("").display().to_string()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    let mut open = vec![root()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let is_test = path.file_stem().is_some_and(|name| name == "tests");
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") && !is_test {
                found.push(Source::read(path));
            }
        }
    }
    found
}

/// The lines that are no comments, up to the tests at the end.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The modules right under the crate that a text names: `crate::a::b`,
/// `crate::{a, b::c}`.
fn modules_named(code: &str) -> BTreeSet<String> {
    code.split("crate::").skip(1).flat_map(names_at_the_start).collect()
}

fn names_at_the_start(rest: &str) -> Vec<String> {
    let Some(group) = rest.strip_prefix('{') else { return vec![first_word(rest)] };
    let mut depth = 0;
    let mut names = vec![first_word(group)];
    for (at, sign) in group.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(first_word(&group[at + 1..])),
            _ => (),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn first_word(text: &str) -> String {
    text.trim_start().chars().take_while(|sign| sign.is_alphanumeric() || *sign == '_').collect()
}

/// The string literals of a text, without their quotes.
fn literals(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find('"') {
        let (before, inside) = (&rest[..at], &rest[at + 1..]);
        let hashes = before.len() - before.trim_end_matches('#').len();
        let raw = before.trim_end_matches('#').ends_with('r');
        let is_char = before.ends_with('\'') && inside.starts_with('\'');
        let end = if is_char {
            Some(0)
        } else if raw {
            inside.find(&format!("\"{}", "#".repeat(hashes)))
        } else {
            end_of_literal(inside)
        };
        let Some(end) = end else { break };
        if !is_char {
            found.push(&inside[..end]);
        }
        rest = &inside[(end + 1).min(inside.len())..];
    }
    found
}

fn end_of_literal(inside: &str) -> Option<usize> {
    let mut escaped = false;
    inside.char_indices().find_map(|(at, sign)| {
        let ends = sign == '"' && !escaped;
        escaped = sign == '\\' && !escaped;
        ends.then_some(at)
    })
}

fn assert_none(bad: &[String]) {
    assert!(bad.is_empty(), "\n{}\n", bad.join("\n"));
}

#[test]
fn every_module_has_its_place_in_the_table() {
    let known: BTreeSet<_> =
        MAY_USE.iter().map(|(module, _)| *module).chain(TOP).map(str::to_owned).collect();
    let there: BTreeSet<_> = sources().iter().map(Source::module).collect();
    assert_eq!(there, known);
}

#[test]
fn every_module_uses_only_those_it_may() {
    let mut bad = Vec::new();
    for source in sources() {
        let module = source.module();
        let Some((_, may)) = MAY_USE.iter().find(|(name, _)| *name == module) else { continue };
        for used in modules_named(&source.code) {
            let is_module = MAY_USE.iter().any(|(name, _)| *name == used);
            if is_module && used != module && !may.contains(&used.as_str()) {
                bad.push(format!("{}: {module} may not use {used}", source.path.display()));
            }
        }
    }
    assert_none(&bad);
}

#[test]
fn no_two_modules_use_each_other_but_by_way_of_the_command_line() {
    let uses = |one: &str, other: &str| {
        MAY_USE.iter().any(|(name, may)| *name == one && may.contains(&other))
    };
    for (one, may) in MAY_USE {
        for other in may {
            assert!(!uses(other, one), "{one} and {other} use each other");
        }
    }
}

#[test]
fn everything_is_where_it_belongs() {
    let mut bad = Vec::new();
    for source in sources() {
        for (text, places, why) in ONLY_IN {
            let here = source.code.lines().any(|line| names(line, text));
            if here && !places.contains(&source.module().as_str()) {
                bad.push(format!("{}: {text} ({why})", source.path.display()));
            }
        }
    }
    assert_none(&bad);
}

/// Tells whether a line names something: not as the end of a longer name.
fn names(line: &str, text: &str) -> bool {
    line.match_indices(text).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|sign| sign.is_alphanumeric() || sign == '_')
    })
}

#[test]
fn no_clock_on_a_wall_tells_when_a_job_is_to_be_stopped() {
    let all = sources();
    for name in ["exec/hand.rs", "exec/ladder.rs"] {
        let source = all.iter().find(|source| source.path == root().join(name)).expect("there");
        assert!(source.code.contains("now: Instant"), "{name}");
        for clock in ["clock::", "Timestamp", "SystemTime"] {
            assert!(!source.code.contains(clock), "{name} reads {clock}");
        }
    }
}

#[test]
fn sql_stands_in_the_store_alone() {
    let mut bad = Vec::new();
    for source in sources().iter().filter(|source| source.module() != "store") {
        for literal in literals(&source.code) {
            if SQL.iter().any(|verb| literal.trim_start().starts_with(verb)) {
                bad.push(format!("{}: {literal}", source.path.display()));
            }
        }
    }
    assert_none(&bad);
}

#[test]
fn the_reader_sees_imports_one_by_one_and_in_groups() {
    let code = "use crate::store::{self, Store};\nuse crate::{cli, job::{Job, State}, exit};\n\
                fn f() { crate::when::now() } pub(crate) struct S;";
    let named: Vec<_> = modules_named(code).into_iter().collect();
    assert_eq!(named, ["cli", "exit", "job", "store", "when"]);
}

#[test]
fn the_reader_leaves_out_comments_and_tests() {
    let text = "// crate::a\nuse crate::b;\n/// crate::c\n#[cfg(test)]\nmod tests { crate::d }";
    assert_eq!(modules_named(&code_of(text)).into_iter().collect::<Vec<_>>(), ["b"]);
}

#[test]
fn the_reader_sees_literals_of_every_form() {
    let code = r##"f("a\"b", '"', r#"c"d"#, b"e", "\\"); g("SELECT 1")"##;
    assert_eq!(literals(code), ["a\\\"b", "c\"d", "e", "\\\\", "SELECT 1"]);
}
