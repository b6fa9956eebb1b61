//! The page, taken apart.

use std::fmt;

use super::Desk;

const PAGE: &str = include_str!("../../../README.md");

/// What is between two headings.
pub(super) struct Section {
    pub(super) title: String,
    pub(super) blocks: Vec<Block>,
}

/// What is done with a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Script,
    Foreground,
    SetUp,
    Session,
    Varies,
    Long,
    File(String),
    Other,
}

impl Kind {
    fn of(label: &str) -> Self {
        match label.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["sh"] => Self::Script,
            ["sh", "foreground"] => Self::Foreground,
            ["sh", "set-up"] => Self::SetUp,
            ["console"] => Self::Session,
            ["console", "varies"] => Self::Varies,
            ["console", "long"] => Self::Long,
            ["toml", name] => Self::File((*name).to_owned()),
            ["toml" | "text" | "json"] => Self::Other,
            other => panic!(
                "a block of the README is labelled {other:?}, and nobody knows how to run it"
            ),
        }
    }
}

/// A block of code.
pub(super) struct Block {
    pub(super) kind: Kind,
    pub(super) text: String,
    line: usize,
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "README.md, line {}:\n{}", self.line, self.text)
    }
}

impl Block {
    /// What is typed behind each prompt, and what is said to it.
    pub(super) fn conversation(&self) -> Vec<(String, String)> {
        let mut conversation: Vec<(String, String)> = Vec::new();
        for line in self.text.lines() {
            match (line.strip_prefix("$ "), conversation.last_mut()) {
                (Some(command), _) => conversation.push((command.to_owned(), String::new())),
                (None, Some((_, answer))) => answer.extend([line, "\n"]),
                (None, None) => panic!("a session begins with a prompt: {self}"),
            }
        }
        conversation
    }
}

pub(super) fn sections() -> Vec<Section> {
    let mut sections = vec![Section { title: String::new(), blocks: Vec::new() }];
    let mut open: Option<Block> = None;
    for (line, number) in PAGE.lines().zip(1..) {
        let blocks = &mut sections.last_mut().expect("one is there").blocks;
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(label), None) => {
                open = Some(Block { kind: Kind::of(label), text: String::new(), line: number });
            }
            (None, Some(block)) => block.text.extend([line, "\n"]),
            (None, None) if line.starts_with("## ") || line.starts_with("### ") => {
                sections.push(Section { title: line.to_owned(), blocks: Vec::new() });
            }
            (None, None) => (),
        }
    }
    assert!(open.is_none(), "every block is closed");
    sections
}

/// The commands of `ax` that stand between backticks in a line.
pub(super) fn named_commands() -> Vec<String> {
    let mut fenced = false;
    let mut commands = Vec::new();
    for line in PAGE.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let spans = line.split('`').skip(1).step_by(2);
            commands.extend(spans.filter(|span| span.starts_with("ax ")).map(str::to_owned));
        }
    }
    commands
}

/// Looks up in the help that there is such a command, and that it has the long
/// options that stand before its own words.
pub(super) fn assert_may_be_typed(desk: &Desk, command: &str) {
    const GROUPS: [&str; 3] = ["schedule", "group", "deps"];
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    let is_name = |word: &&&str| word.chars().all(|char| char.is_ascii_lowercase() || char == '-');
    let named: Vec<&str> = match words.as_slice() {
        [] | ["--help" | "COMMAND", ..] => return,
        [group, verb, ..] if GROUPS.contains(group) && is_name(&verb) => vec![group, verb],
        [one, ..] => vec![one],
    };
    let said = desk.ax(&[&named[..], &["--help"]].concat());
    assert_eq!(said.exit, 0, "`{command}`: there is no such command: {}", said.err);
    let own = words.iter().take_while(|word| **word != "--");
    for option in own.filter(|word| word.starts_with("--")) {
        let option = option.trim_end_matches(|char: char| !char.is_ascii_lowercase());
        assert!(said.text().contains(option), "`{command}`: there is no {option}");
    }
}

/// What differs from run to run is put in brackets; columns are as wide as that.
/// That a job was started is told of those only that take a while.
pub(super) fn without_times(text: &str) -> String {
    let filters = [
        (r"(?m)^job \d+ .*: started, attempt \d+\n", ""),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "[TIME]"),
        (r"\b\d+(\.\d+)?m?s\b", "[TOOK]"),
        (r"  +", "  "),
        (r"(?m) +$", ""),
    ];
    filters.iter().fold(text.to_owned(), |text, (pattern, with)| {
        let pattern = regex::Regex::new(pattern).expect("a constant that is valid");
        pattern.replace_all(&text, *with).into_owned()
    })
}

#[test]
fn a_session_is_taken_apart_at_its_prompts() {
    let text = "$ a\n1\n2\n$ b\n".to_owned();
    let block = Block { kind: Kind::Session, text, line: 1 };
    let want = [("a", "1\n2\n"), ("b", "")].map(|(one, other)| (one.to_owned(), other.to_owned()));
    assert_eq!(block.conversation(), want);
}
