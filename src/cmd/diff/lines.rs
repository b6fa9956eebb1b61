//! Where two outputs begin to differ.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};

use crate::job::shape::are_alike;
use crate::output::diff::{Difference, Outputs};

/// The lines of an output, without their ends.
struct Lines<R>(Option<BufReader<R>>);

impl<R: Read> Lines<R> {
    fn of(output: Option<R>) -> Self {
        Self(output.map(BufReader::new))
    }

    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(reader) = &mut self.0 else { return Ok(None) };
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        Ok(Some(line))
    }

    /// This line and those behind it, so many in all.
    fn and_more(&mut self, first: Option<Vec<u8>>, most: usize) -> io::Result<Vec<Vec<u8>>> {
        let mut lines: Vec<_> = first.into_iter().collect();
        while !lines.is_empty() && lines.len() < most {
            let Some(line) = self.next()? else { break };
            lines.push(line);
        }
        Ok(lines)
    }
}

/// Compares two outputs line by line, up to the first that differs, with `context`
/// lines around it. If not `exact`, numbers, ids, paths and times may differ.
///
/// # Errors
/// When one of them cannot be read.
pub(super) fn compare<R: Read>(
    one: Option<R>,
    other: Option<R>,
    exact: bool,
    context: usize,
) -> io::Result<Outputs> {
    let (mut one, mut other) = (Lines::of(one), Lines::of(other));
    let mut before = VecDeque::new();
    let mut is_same = true;
    for number in 0.. {
        let lines = (one.next()?, other.next()?);
        let (Some(left), Some(right)) = &lines else {
            if lines == (None, None) {
                return Ok(if is_same { Outputs::Same(number) } else { Outputs::Alike(number) });
            }
            return differ(number, before, (one, other), lines, context);
        };
        let same = left == right;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if !same && (exact || !are_alike(&text(left), &text(right))) {
            return differ(number, before, (one, other), lines, context);
        }
        is_same &= same;
        before.extend(lines.1);
        if before.len() > context {
            before.pop_front();
        }
    }
    unreachable!("no output has so many lines")
}

fn differ<R: Read>(
    number: usize,
    before: VecDeque<Vec<u8>>,
    (mut one, mut other): (Lines<R>, Lines<R>),
    (left, right): (Option<Vec<u8>>, Option<Vec<u8>>),
    context: usize,
) -> io::Result<Outputs> {
    Ok(Outputs::Differ(Difference {
        line: number + 1,
        before: before.into(),
        one: one.and_more(left, context + 1)?,
        other: other.and_more(right, context + 1)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(one: &str, other: &str, exact: bool) -> Outputs {
        let output = |text: &'static str| Some(text.as_bytes());
        let leak = |text: &str| output(Box::leak(text.to_owned().into_boxed_str()));
        compare(leak(one), leak(other), exact, 1).expect("memory can be read")
    }

    fn difference(line: usize, before: &[&str], one: &[&str], other: &[&str]) -> Outputs {
        let lines = |lines: &[&str]| lines.iter().map(|line| line.as_bytes().to_vec()).collect();
        Outputs::Differ(Difference {
            line,
            before: lines(before),
            one: lines(one),
            other: lines(other),
        })
    }

    #[test]
    fn the_first_line_that_differs_is_found_with_those_around_it() {
        let want = difference(3, &["b"], &["c", "d"], &["x", "y"]);
        assert_eq!(compared("a\nb\nc\nd\ne\n", "a\nb\nx\ny\nz\n", false), want);
    }

    #[test]
    fn numbers_and_times_are_no_difference_unless_every_byte_counts() {
        let (one, other) = ("02:00:01 read 7 rows\nok\n", "03:10:59 read 12 rows\nok\n");
        assert_eq!(compared(one, other, false), Outputs::Alike(2));
        let want =
            difference(1, &[], &["02:00:01 read 7 rows", "ok"], &["03:10:59 read 12 rows", "ok"]);
        assert_eq!(compared(one, other, true), want);
        assert_eq!(compared(one, one, true), Outputs::Same(2));
    }

    #[test]
    fn an_output_that_ends_before_the_other_differs_there() {
        assert_eq!(compared("a\nb", "a\n", false), difference(2, &["a"], &["b"], &[]));
        assert_eq!(compared("", "b\n", false), difference(1, &[], &[], &["b"]));
        let none: Option<&[u8]> = None;
        assert_eq!(compare(none, none, false, 1).expect("nothing is read"), Outputs::Same(0));
    }

    #[test]
    fn an_end_of_line_at_the_end_is_no_line() {
        assert_eq!(compared("a\n", "a", false), Outputs::Same(1));
        assert_eq!(compared("a\n\n", "a\n", false), difference(2, &["a"], &[""], &[]));
    }
}
