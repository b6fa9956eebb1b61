//! Reads the file of `--from`: one JSON object a line.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::batch::Batch;
use super::draft::Draft;
use super::line::Line;
use super::problems::{Problem, refuse};
use crate::cmd::surroundings::directory;
use crate::failure::{Failure, reason};
use crate::job::Place;

/// The longest line that is read; a command with its arguments has at most
/// 2 MiB.
const MAX_LINE: u64 = 16 << 20;

/// Reads the jobs of a file, or of standard input for `-`. Blank lines, a
/// byte order mark and carriage returns before the ends of lines are passed
/// over.
///
/// # Errors
/// When it cannot be read, or names every line that is no job.
pub(super) fn read(path: &Path, draft: &Draft) -> Result<Batch, Failure> {
    if path == Path::new("-") {
        return read_from(&mut io::stdin().lock(), "stdin", draft);
    }
    let source = path.display().to_string();
    let file = File::open(path).map_err(|error| unreadable(&source, &error))?;
    read_from(&mut BufReader::with_capacity(1 << 16, file), &source, draft)
}

fn read_from(input: &mut dyn BufRead, source: &str, draft: &Draft) -> Result<Batch, Failure> {
    let mut batch = Batch { source: source.to_owned(), ..Batch::default() };
    let mut problems = Vec::new();
    let mut places = Places { draft, known: HashMap::new() };
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = input.take(MAX_LINE).read_until(b'\n', &mut line);
        if read.map_err(|error| unreadable(source, &error))? == 0 {
            break;
        }
        if line.len() as u64 == MAX_LINE {
            return Err(Failure::usage(format!("{source}:{number}: the line is too long")));
        }
        let text = without_mark(&line, number).trim_ascii();
        if text.is_empty() {
            continue;
        }
        match Line::read(text, draft.now).and_then(|line| line.job(draft, &mut places)) {
            Ok(job) => {
                batch.jobs.push(job);
                batch.lines.push(number);
            }
            Err(why) => problems.push(Problem::wrong(number, why)),
        }
    }
    refuse(source, problems)?;
    Ok(batch)
}

fn without_mark(line: &[u8], number: usize) -> &[u8] {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    if number == 1 { line.strip_prefix(MARK).unwrap_or(line) } else { line }
}

fn unreadable(source: &str, error: &io::Error) -> Failure {
    Failure::usage(format!("{source} cannot be read: {}", reason(error)))
}

/// The places of the jobs: each directory is looked at once, and all jobs in
/// it share their environment.
pub(super) struct Places<'a> {
    draft: &'a Draft,
    known: HashMap<String, Result<Place, String>>,
}

impl Places<'_> {
    /// The place of a job in `dir`, seen from the directory of the draft.
    pub(super) fn at(&mut self, dir: String) -> Result<Place, String> {
        let draft = self.draft;
        let look = |dir: &String| {
            directory(Path::new(dir), draft.dir()).map(|dir| draft.place.moved_to(&dir))
        };
        self.known.entry(dir).or_insert_with_key(look).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{
        Command, EnvBlock, IfExists, JobId, Kind, NewJob, ParentRef, Settings, Timestamp,
    };
    use proptest::prelude::*;
    use std::sync::Arc;
    use std::time::Duration;

    fn draft() -> Draft {
        let now = Timestamp::from_millis(1_000_000);
        let env = EnvBlock::from_entries([b"A=outer".as_slice()]);
        Draft {
            now,
            name: None,
            if_exists: IfExists::Skip,
            settings: Settings { priority: Some(7), ..Settings::default() },
            due: now,
            place: Place::new(Path::new("/"), 0o022, &env),
            extra_env: EnvBlock::from_entries([b"B=outer".as_slice(), b"C=outer"]),
            parents: vec![(ParentRef::Id(JobId(1)), Kind::After)],
        }
    }

    fn jobs(text: &str) -> Vec<NewJob> {
        read_from(&mut text.as_bytes(), "j", &draft()).expect("all lines are jobs").jobs
    }

    fn refusal(text: &str) -> String {
        read_from(&mut text.as_bytes(), "j", &draft()).expect_err("a bad line").message
    }

    #[test]
    fn a_line_is_laid_over_the_options() {
        let jobs = jobs(concat!(
            r#"{"command": "echo a", "name": "n", "key": "k", "timeout": "none", "delay": 90,"#,
            r#" "max_retries": 0, "retry_delay": "200ms", "after": [12, "other"], "cwd": "tmp","#,
            r#" "env": {"B": "inner"}, "on_lost": "fail", "on_failure": 3}"#,
        ));
        let [job] = jobs.as_slice() else { panic!("one job: {jobs:?}") };
        assert_eq!(job.command, Command::Shell(b"echo a".to_vec()));
        assert_eq!((job.name.as_deref(), job.key.as_deref()), (Some("n"), Some("k")));
        assert_eq!((job.priority, job.timeout, job.max_retries), (7, None, 0));
        assert_eq!(job.scheduled_at, Timestamp::from_millis(1_090_000));
        assert_eq!(job.retry_delay, Duration::from_millis(200));
        assert_eq!(job.cwd, b"/tmp");
        assert_eq!(job.env.get("PWD"), Some(b"/tmp".as_slice()));
        assert_eq!(job.extra_env.get("B"), Some(b"inner".as_slice()));
        assert_eq!(job.extra_env.get("C"), Some(b"outer".as_slice()));
        let parents = [
            (ParentRef::Id(JobId(1)), Kind::After),
            (ParentRef::Id(JobId(12)), Kind::After),
            (ParentRef::Key("other".to_owned()), Kind::After),
            (ParentRef::Id(JobId(3)), Kind::OnFailure),
        ];
        assert_eq!(job.parents, parents);
    }

    #[test]
    fn exact_words_are_a_list() {
        let words = Command::Argv(vec![b"echo".to_vec(), b"".to_vec(), b"-n".to_vec()]);
        assert_eq!(jobs(r#"{"argv": ["echo", "", "-n"]}"#)[0].command, words);
    }

    #[test]
    fn blank_lines_a_mark_and_carriage_returns_are_passed_over() {
        let text = "\u{feff}{\"command\": \"a\"}\r\n\r\n  \n{\"command\": \"b\"}";
        assert_eq!(jobs(text).len(), 2);
        assert_eq!(refusal(&format!("{text}\n\n[]")).split(' ').next(), Some("j:6:"));
        assert!(jobs("\n\n").is_empty());
    }

    #[test]
    fn an_error_names_line_and_field() {
        let cases = [
            (r#"{"command": "a", "prio": 3}"#, "unknown field `prio`"),
            (
                r#"{"command": "a", "priorty": 3}"#,
                "unknown field `priorty`; did you mean `priority`?",
            ),
            (r#"{"command": "a", "timeout": "soon"}"#, "field `timeout`: `soon` is not a duration"),
            (r#"{"command": "a", "timeout": 0}"#, "field `timeout`: must be longer than nothing"),
            (r#"{"command": "a", "priority": "3"}"#, "field `priority`: a number is needed here"),
            (r#"{"command": "a", "name": 3}"#, "field `name`: a text is needed here, not a number"),
            (r#"{"command": "a", "env": {"A": 1}}"#, "field `env`: `A`: a text is needed here"),
            (r#"{"command": "a", "after": [-1]}"#, "field `after`: `-1` is not a job id"),
            (r#"{"command": "a", "after": [1.5]}"#, "field `after`: `1.5` is not a job id"),
            (
                r#"{"command": "a", "after": [null]}"#,
                "field `after`: an id or a key is needed here",
            ),
            (r#"{"command": "a", "at": "tomorrowish"}"#, "field `at`: `tomorrowish`: not a time"),
            (r#"{"command": "a", "cwd": "/gone"}"#, "field `cwd`: /gone cannot be used"),
            (r#"{"command": "a", "name": "x", "name": "y"}"#, "field `name` stands there twice"),
            (r#"{"command": "a", "argv": ["b"]}"#, "field `argv`: either `command` or `argv`"),
            (r#"{"delay": 1, "at": "02:00", "command": "a"}"#, "field `at`: either `delay` or"),
            (r#"{"command": "  "}"#, "field `command`: the command is empty"),
            (r#"{"command": "a\u0000b"}"#, "field `command`: the command contains a NUL byte"),
            (r#"{"argv": []}"#, "field `argv`: the command is empty"),
            (r#"{"name": "x"}"#, "neither `command` nor `argv` says what to run"),
            (r#"{"command": null}"#, "neither `command` nor `argv` says what to run"),
            (r#"{"command": "a"} x"#, "column 18: trailing characters"),
            (r#"{"command": "a""#, "column 15: EOF while parsing an object"),
            (r#"["a"]"#, "invalid type: sequence, expected an object such as"),
        ];
        for (line, expected) in cases {
            let message = refusal(&format!("\n{line}\n"));
            assert!(message.starts_with(&format!("j:2: {expected}")), "{line}: {message}");
        }
    }

    #[test]
    fn every_bad_line_is_told() {
        let message = refusal("{\"command\": \"a\"}\n{}\n{\"x\": 1}\n");
        assert_eq!(message.lines().count(), 3, "{message}");
    }

    #[test]
    fn a_field_that_is_null_says_nothing() {
        let job = &jobs(r#"{"command": "a", "timeout": null, "after": null, "name": null}"#)[0];
        assert_eq!(job.timeout, Some(Duration::from_mins(1)));
        assert!(refusal(r#"{"command": "a", "colour": null}"#).contains("unknown field"));
    }

    #[test]
    fn jobs_in_one_directory_share_their_environment() {
        let line = r#"{"command": "a", "cwd": "tmp"}"#;
        let jobs = jobs(&format!("{line}\n{line}\n{{\"command\": \"a\"}}"));
        assert!(Arc::ptr_eq(&jobs[0].env, &jobs[1].env));
        assert!(!Arc::ptr_eq(&jobs[0].env, &jobs[2].env));
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut endless = BufReader::new(io::repeat(b' '));
        let failure = read_from(&mut endless, "j", &draft()).expect_err("too long");
        assert_eq!(failure.message, "j:1: the line is too long");
    }

    proptest! {
        #[test]
        fn no_line_makes_the_reader_panic(text in "\\PC*|\\{(\"(command|after|env|at)\": ?[0-9a-z\"\\[\\]{},.-]{0,9},?){0,3}\\}") {
            let _ = read_from(&mut text.as_bytes(), "j", &draft());
        }
    }
}
