//! What is wrong with the lines of a file, all of it at once.

use crate::exit;
use crate::failure::Failure;

/// Something wrong with one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// Which line, from 1.
    pub(super) line: usize,
    /// What is wrong with it.
    pub(super) what: String,
    /// Whether it names a job that does not exist, and is all right otherwise.
    pub(super) missing: bool,
}

impl Problem {
    /// A line that cannot be meant.
    pub(super) fn wrong(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into(), missing: false }
    }

    /// A line that names a job that does not exist.
    pub(super) fn missing(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into(), missing: true }
    }
}

/// How many problems are told one by one.
const SHOWN: usize = 20;

/// The refusal that names the problems in the order of the lines.
///
/// # Errors
/// When there are any.
pub(super) fn refuse(source: &str, mut problems: Vec<Problem>) -> Result<(), Failure> {
    if problems.is_empty() {
        return Ok(());
    }
    problems.sort_by_key(|problem| problem.line);
    let all_missing = problems.iter().all(|problem| problem.missing);
    let mut failure = Failure::usage(message(source, &problems));
    if all_missing {
        failure.exit = exit::NOT_FOUND;
        failure.code = "not_found";
    }
    Err(failure)
}

fn message(source: &str, problems: &[Problem]) -> String {
    let told = |problem: &Problem| format!("{source}:{}: {}", problem.line, problem.what);
    if let [only] = problems {
        return told(only);
    }
    let mut message = format!("nothing was added: {source} has {} problems", problems.len());
    for problem in problems.iter().take(SHOWN) {
        message.push_str("\n  ");
        message.push_str(&told(problem));
    }
    if let Some(rest) = problems.len().checked_sub(SHOWN).filter(|rest| *rest > 0) {
        message.push_str("\n  and ");
        message.push_str(&rest.to_string());
        message.push_str(" more");
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_problem_is_one_line() {
        let failure = refuse("j", vec![Problem::wrong(7, "bad")]).expect_err("a problem");
        assert_eq!(failure.message, "j:7: bad");
    }

    #[test]
    fn many_problems_come_in_the_order_of_the_lines_and_the_rest_is_counted() {
        let problems = (1..=23).rev().map(|line| Problem::wrong(line, "bad")).collect();
        let failure = refuse("j", problems).expect_err("problems");
        let lines: Vec<&str> = failure.message.lines().collect();
        assert_eq!(lines[0], "nothing was added: j has 23 problems");
        assert_eq!(lines[1], "  j:1: bad");
        assert_eq!((lines.len(), lines[21]), (22, "  and 3 more"));
    }

    #[test]
    fn only_a_file_whose_sole_fault_is_a_missing_job_is_not_found() {
        let missing = || Problem::missing(1, "gone");
        let failure = refuse("j", vec![missing()]).expect_err("a problem");
        assert_eq!(failure.exit, exit::NOT_FOUND);
        let failure = refuse("j", vec![missing(), Problem::wrong(2, "bad")]).expect_err("two");
        assert_eq!(failure.exit, exit::USAGE);
    }
}
