//! The ledger: what jobs wrote of themselves, in order.

use std::fs;
use std::path::Path;

/// One line of one attempt.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) job: i64,
    pub(super) attempt: u32,
    pub(super) what: Said,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// The attempt begins.
    Start,
    /// Another attempt of the job has still a process when it begins.
    Overlap,
    /// It is about to end with this exit code.
    End(i32),
}

impl Line {
    fn read(line: &str) -> Self {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |place: usize| words[place].parse().expect("a number");
        let what = match words[..] {
            ["start", _, _] => Said::Start,
            ["overlap", _, _] => Said::Overlap,
            ["end", _, _, _] => Said::End(number(3)),
            _ => panic!("a line of the ledger: {line}"),
        };
        let attempt = u32::try_from(number(2)).expect("a count");
        Self { job: number(1).into(), attempt, what }
    }

    pub(super) fn is_start(&self) -> bool {
        self.what == Said::Start
    }
}

/// All lines; none if no job ever started.
pub(super) fn read(path: &Path) -> Vec<Line> {
    fs::read_to_string(path).unwrap_or_default().lines().map(Line::read).collect()
}
