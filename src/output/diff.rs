//! `ax diff`: two attempts beside each other.

use serde_json::{Map, Value, json};

use super::table::{Cell, Column, Table};
use super::text::{counted, shorten};
use super::{Style, View, cells, json, paint, time};
use crate::escape::{escape, escape_line, last_line};
use crate::job::cause::end;
use crate::job::{Attempt, Job, JobId};

/// The longest line that is shown where there is no terminal.
const LONGEST: usize = 200;

/// An attempt, and its job.
#[derive(Clone, Debug)]
pub struct Side {
    /// The job.
    pub job: Job,
    /// The attempt.
    pub attempt: Attempt,
}

/// Where two outputs begin to differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The number of the line, from 1.
    pub line: usize,
    /// The lines before it, as the second output has them.
    pub before: Vec<Vec<u8>>,
    /// The line and those after it of the first output; none if it ends before.
    pub one: Vec<Vec<u8>>,
    /// The same of the second output.
    pub other: Vec<Vec<u8>>,
}

/// How two outputs compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outputs {
    /// Byte for byte, so many lines.
    Same(usize),
    /// But for numbers, ids, paths and times, so many lines.
    Alike(usize),
    /// From here on.
    Differ(Difference),
    /// The output of this attempt is not there any more.
    Gone(JobId, u32),
}

/// Two attempts beside each other.
pub struct Compared {
    /// What the two are called.
    pub titles: [&'static str; 2],
    /// The first.
    pub one: Side,
    /// The second.
    pub other: Side,
    /// How their outputs compare.
    pub outputs: Outputs,
}

impl Side {
    fn took(&self) -> Option<std::time::Duration> {
        Some(self.attempt.ended_at?.since(self.attempt.started_at?))
    }

    fn end(&self) -> Option<String> {
        let Attempt { exit_code, signal, outcome, .. } = &self.attempt;
        end(*exit_code, *signal, outcome.as_deref())
    }

    /// What people read of it, line by line: label and value.
    fn rows(&self) -> [(&'static str, Option<String>); 9] {
        let Self { job, attempt } = self;
        let text = |text: &str| escape(text.as_bytes());
        [
            ("job", Some(format!("{} {}", job.id, text(&job.title())))),
            ("attempt", Some(attempt.attempt.to_string())),
            ("started", attempt.started_at.map(time::local)),
            ("took", self.took().map(time::took)),
            ("end", self.end().map(|end| text(&end))),
            ("error", attempt.reason.as_ref().map(|reason| last_line(reason.as_bytes()))),
            ("output", Some(format!("{} bytes", attempt.output_bytes))),
            ("command", Some(text(&job.command.text()))),
            ("directory", job.cwd.as_ref().map(|cwd| escape(cwd))),
        ]
    }

    fn json(&self) -> Map<String, Value> {
        let Self { job, attempt } = self;
        let object = json!({
            "id": job.id,
            "name": job.title(),
            "attempt": attempt.attempt,
            "started_at": json::at(attempt.started_at),
            "ended_at": json::at(attempt.ended_at),
            "took_s": self.took().map(json::seconds),
            "end": self.end(),
            "exit_code": attempt.exit_code,
            "signal": attempt.signal,
            "error": attempt.reason,
            "output_bytes": attempt.output_bytes,
            "command": job.command.text(),
            "cwd": job.cwd.as_deref().map(String::from_utf8_lossy),
        });
        let Value::Object(object) = object else { return Map::new() };
        object
    }
}

/// Rows that say something only where the two sides differ.
const WHERE_THEY_DIFFER: [&str; 2] = ["command", "directory"];

impl Compared {
    fn table(&self) -> Table {
        let [one, other] = self.titles;
        let mut table = Table::new(vec![
            Column::new(""),
            Column::new(one).shrinking(),
            Column::new(other).shrinking(),
        ]);
        let cell = |value: Option<String>| match value {
            Some(value) => value.into(),
            None => Cell::painted(cells::NOTHING, paint::FAINT),
        };
        for ((label, one), (_, other)) in self.one.rows().into_iter().zip(self.other.rows()) {
            if one != other || !WHERE_THEY_DIFFER.contains(&label) {
                table.row(vec![Cell::painted(label, paint::FAINT), cell(one), cell(other)]);
            }
        }
        table
    }

    fn outputs_text(&self, style: Style) -> String {
        match &self.outputs {
            Outputs::Same(0) => "neither printed anything\n".to_owned(),
            Outputs::Same(lines) => {
                format!("the outputs are the same, {}\n", counted(*lines, "line"))
            }
            Outputs::Alike(lines) => format!(
                "the outputs differ in numbers, ids, paths and times alone, {}; `--exact` shows them\n",
                counted(*lines, "line")
            ),
            Outputs::Gone(job, attempt) => {
                format!("the output of job {job}, attempt {attempt}, is gone\n")
            }
            Outputs::Differ(difference) => {
                let number = difference.line;
                format!(
                    "the outputs differ from line {number} on:\n{}",
                    self.difference_text(difference, style)
                )
            }
        }
    }

    fn difference_text(&self, difference: &Difference, style: Style) -> String {
        let Difference { line, before, one, other } = difference;
        let wide = (line + one.len().max(other.len())).to_string().len();
        let room = style.width.map_or(LONGEST, |width| width.saturating_sub(wide + 4));
        let show = |sign: char, first: usize, lines: &[Vec<u8>]| -> String {
            let numbered = lines.iter().zip(first..).map(|(text, number)| {
                let text = shorten(&escape_line(text), room);
                let line = format!("{sign} {number:>wide$}  {text}");
                format!("{}\n", line.trim_end())
            });
            numbered.collect()
        };
        let side = |sign: char, title: &str, lines: &[Vec<u8>]| {
            if lines.is_empty() {
                format!("{sign} the {title} one ends here\n")
            } else {
                show(sign, *line, lines)
            }
        };
        let [left, right] = self.titles;
        [show(' ', line - before.len(), before), side('-', left, one), side('+', right, other)]
            .concat()
    }
}

fn lines_json(lines: &[Vec<u8>]) -> Value {
    lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
}

impl View for Compared {
    /// The two attempts.
    fn items(&self) -> Vec<Value> {
        let sides = self.titles.into_iter().zip([&self.one, &self.other]);
        let item = |(title, side): (&str, &Side)| {
            let mut object = Map::from_iter([("side".to_owned(), title.into())]);
            object.extend(side.json());
            object.into()
        };
        sides.map(item).collect()
    }

    fn document(&self) -> Value {
        let [one, other] = self.titles;
        let (word, difference) = match &self.outputs {
            Outputs::Same(_) => ("same", Value::Null),
            Outputs::Alike(_) => ("alike", Value::Null),
            Outputs::Gone(..) => ("gone", Value::Null),
            Outputs::Differ(Difference { line, before, one: left, other: right }) => (
                "differ",
                json!({
                    "line": line,
                    "before": lines_json(before),
                    one: lines_json(left),
                    other: lines_json(right),
                }),
            ),
        };
        json!({
            one: self.one.json(),
            other: self.other.json(),
            "outputs": word,
            "difference": difference,
        })
    }

    fn ids(&self) -> Vec<JobId> {
        vec![self.one.job.id, self.other.job.id]
    }

    fn text(&self, style: Style) -> String {
        format!("{}\n{}", self.table().render(style), self.outputs_text(style))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::RunnerId;
    use crate::output::example::{self, after};

    const PIPE: Style = Style { color: false, width: None };

    fn side(id: i64, code: i32, took: i64) -> Side {
        let attempt = Attempt {
            job: JobId(id),
            attempt: 2,
            owner: RunnerId(1),
            pid: None,
            started_at: Some(after(0)),
            ended_at: Some(after(took)),
            outcome: Some("exited".to_owned()),
            exit_code: Some(code),
            signal: None,
            reason: (code > 0).then(|| "no such table".to_owned()),
            output_bytes: 120,
            output_in_file: false,
        };
        Side { job: example::job(id), attempt }
    }

    fn compared(outputs: Outputs) -> Compared {
        Compared { titles: ["good", "bad"], one: side(7, 0, 8), other: side(9, 3, 95), outputs }
    }

    fn lines(lines: &[&str]) -> Vec<Vec<u8>> {
        lines.iter().map(|line| line.as_bytes().to_vec()).collect()
    }

    #[test]
    fn two_attempts_stand_beside_each_other_over_the_line_that_differs() {
        let difference = Difference {
            line: 10,
            before: lines(&["reading\t1", ""]),
            one: lines(&["table a: 12 rows", "done"]),
            other: lines(&["no such \u{1b}[31mtable"]),
        };
        let local = time::local(after(0));
        let want = format!(
            "
         GOOD                 BAD
job      7 job 7              9 job 9
attempt  2                    2
started  {local}  {local}
took     8.0s                 1m35s
end      exit 0               exit 3
error    -                    no such table
output   120 bytes            120 bytes

the outputs differ from line 10 on:
   8  reading 1
   9
- 10  table a: 12 rows
- 11  done
+ 10  no such \\x1b[31mtable
"
        );
        assert_eq!(compared(Outputs::Differ(difference)).text(PIPE), want[1..]);
    }

    #[test]
    fn an_output_that_ends_before_the_other_says_so() {
        let difference =
            Difference { line: 2, before: lines(&["a"]), one: lines(&["b"]), other: Vec::new() };
        let text = compared(Outputs::Differ(difference)).text(PIPE);
        assert!(text.ends_with("\n  1  a\n- 2  b\n+ the bad one ends here\n"), "{text}");
    }

    #[test]
    fn outputs_without_a_difference_have_their_words() {
        let last = |outputs| {
            let text = compared(outputs).text(PIPE);
            text.lines().last().map(str::to_owned).unwrap_or_default()
        };
        assert_eq!(last(Outputs::Same(0)), "neither printed anything");
        assert_eq!(last(Outputs::Same(1)), "the outputs are the same, 1 line");
        assert!(last(Outputs::Alike(9)).starts_with("the outputs differ in numbers, ids"));
        assert_eq!(last(Outputs::Gone(JobId(7), 2)), "the output of job 7, attempt 2, is gone");
    }

    #[test]
    fn a_command_that_was_changed_is_shown() {
        let mut compared = compared(Outputs::Same(0));
        assert!(!compared.text(PIPE).contains("command"));
        compared.other.job.command = crate::job::Command::Shell(b"false".to_vec());
        assert!(compared.text(PIPE).contains("\ncommand  true "));
    }

    #[test]
    fn it_fits_on_a_terminal() {
        let long = "x".repeat(3_000);
        let difference = Difference {
            line: 1,
            before: Vec::new(),
            one: lines(&[&long]),
            other: lines(&["日本"]),
        };
        let mut compared = compared(Outputs::Differ(difference));
        compared.one.job.name = Some(long);
        let text = compared.text(Style { color: false, width: Some(80) });
        assert!(text.lines().all(|line| super::super::text::width(line) <= 80), "{text}");
    }

    #[test]
    fn scripts_get_both_sides_and_the_difference() {
        let difference =
            Difference { line: 1, before: Vec::new(), one: lines(&["a"]), other: Vec::new() };
        let compared = compared(Outputs::Differ(difference));
        let document = compared.document();
        assert_eq!(document["good"]["took_s"], 8);
        assert_eq!(document["bad"]["exit_code"], 3);
        assert_eq!(document["difference"]["good"][0], "a");
        assert_eq!(document["outputs"], "differ");
        assert_eq!(compared.items()[1]["side"], "bad");
    }
}
