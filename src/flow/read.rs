//! From the text of a flow file to a [`Flow`], or to all that is wrong with it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::edges::{Wish, resolve};
use super::{Flow, FlowJob, FlowSchedule};
use crate::document::{self, DocumentError, Reader, Value, entries};
use crate::fields;
use crate::job::Zone;
use crate::job::{CatchUp, ChainRetry, Command, Cron, EnvBlock, Kind, Overlap, Settings, limits};

/// Reads a flow; `file` is what the file is called in errors, and names a
/// flow that does not name itself.
///
/// # Errors
/// Names everything that is wrong, with its place.
pub fn parse(file: &str, text: &str) -> Result<Flow, DocumentError> {
    document::read(file, text, |reader, root| reader.flow(file, root))
}

/// What a table of options says, in `[defaults]` or of one job.
#[derive(Clone, Default)]
struct Options {
    settings: Settings,
    cwd: Option<PathBuf>,
    env: EnvBlock,
}

/// What a file says about being started again and again.
#[derive(Default)]
struct Recurrence {
    cron: Option<Cron>,
    zone: Option<Zone>,
    catch_up: Option<CatchUp>,
    overlap: Option<Overlap>,
    is_there: bool,
    /// Where the other keys stand.
    companions: Vec<Range<usize>>,
}

/// A job, before its parents are looked for.
struct Draft {
    name: String,
    command: Option<Command>,
    options: Options,
    wishes: Vec<Wish>,
}

const ROOT: &[&str] = &[
    "name",
    "schedule",
    "timezone",
    "catch_up",
    "overlap",
    "on_end",
    "on_end_timeout",
    "defaults",
    "retry",
    "jobs",
];

impl Reader {
    fn flow(&mut self, file: &str, root: &DeTable<'_>) -> Option<Flow> {
        let mut name = Path::new(file).file_stem()?.to_string_lossy().into_owned();
        let mut defaults = Options::default();
        let mut own = Settings::default();
        let mut retry = ChainRetry::default();
        let mut recurrence = Recurrence::default();
        let mut drafts = Vec::new();
        let mut jobs = 0..0;
        for (key, span, value) in entries(root) {
            match key {
                "name" => name = self.take(value, |value| label("name", value)).unwrap_or(name),
                "schedule" | "timezone" | "catch_up" | "overlap" => {
                    self.recurrence(&mut recurrence, key, span, value);
                }
                "on_end" | "on_end_timeout" => {
                    let set = |value: fields::Value<'_>| fields::set(&mut own, key, value);
                    self.take(value, set);
                }
                "defaults" => defaults = self.defaults(value),
                "retry" => retry = self.retry(value),
                "jobs" => {
                    jobs = span;
                    drafts = self.jobs(value);
                }
                _ => self.unknown(key, span, ROOT.iter().copied()),
            }
        }
        if drafts.is_empty() && self.problems.is_empty() {
            self.wrong(jobs, "the flow has no jobs; one is `[jobs.NAME]` with `run = \"…\"`");
        }
        let jobs = self.finish(&defaults, drafts)?;
        let schedule = self.schedule(recurrence);
        Some(Flow { name, jobs, retry, on_end: own.hook(), schedule })
    }

    fn recurrence(
        &mut self,
        recurrence: &mut Recurrence,
        key: &str,
        span: Range<usize>,
        value: &Value<'_>,
    ) {
        match key {
            "schedule" => recurrence.cron = self.parsed(value),
            "timezone" => recurrence.zone = self.take(value, |value| fields::text(value)?.parse()),
            "catch_up" => recurrence.catch_up = self.parsed(value),
            _ => recurrence.overlap = self.parsed(value),
        }
        if key == "schedule" {
            recurrence.is_there = true;
        } else {
            recurrence.companions.push(span);
        }
    }

    /// The schedule, which nothing may be said about if there is none.
    fn schedule(&mut self, recurrence: Recurrence) -> Option<FlowSchedule> {
        let Recurrence { cron, zone, catch_up, overlap, is_there, companions } = recurrence;
        if !is_there {
            for span in companions {
                self.wrong(span, "there is no `schedule` that this could be about");
            }
        }
        let (catch_up, overlap) = (catch_up.unwrap_or_default(), overlap.unwrap_or_default());
        Some(FlowSchedule { cron: cron?, zone, catch_up, overlap })
    }

    fn retry(&mut self, value: &Value<'_>) -> ChainRetry {
        const KEYS: [&str; 2] = ["max", "delay"];
        let mut retry = ChainRetry::default();
        let Some(table) = self.table(value) else { return retry };
        for (key, span, value) in entries(table) {
            match key {
                "max" => retry.max = self.take(value, fields::retries).unwrap_or_default(),
                "delay" => retry.delay = self.take(value, fields::duration).unwrap_or_default(),
                _ => self.unknown(key, span, KEYS),
            }
        }
        if !table.contains_key("max") {
            self.wrong(value.span(), "`max` is missing, which says how often");
        }
        retry
    }

    fn finish(&mut self, defaults: &Options, drafts: Vec<Draft>) -> Option<Vec<FlowJob>> {
        let wishes: Vec<(String, Vec<Wish>)> =
            drafts.iter().map(|draft| (draft.name.clone(), draft.wishes.clone())).collect();
        let parents = match resolve(&wishes) {
            Ok(parents) => parents,
            Err(problems) => {
                self.problems.extend(problems);
                return None;
            }
        };
        let jobs = drafts.into_iter().zip(parents).filter_map(|(draft, parents)| {
            Some(FlowJob {
                name: draft.name,
                command: draft.command?,
                settings: draft.options.settings.or(&defaults.settings),
                cwd: draft.options.cwd.or_else(|| defaults.cwd.clone()),
                env: defaults.env.overlaid(&draft.options.env),
                parents,
            })
        });
        Some(jobs.collect())
    }

    fn defaults(&mut self, value: &Value<'_>) -> Options {
        let mut options = Options::default();
        let Some(table) = self.table(value) else { return options };
        for (key, span, value) in entries(table) {
            if !self.option(&mut options, key, value) {
                self.unknown(key, span, option_names());
            }
        }
        options
    }

    fn jobs(&mut self, value: &Value<'_>) -> Vec<Draft> {
        let Some(table) = self.table(value) else { return Vec::new() };
        entries(table)
            .into_iter()
            .filter_map(|(name, span, value)| {
                if let Err(why) = limits::label("name of the job", name) {
                    self.wrong(span.clone(), why);
                }
                let table = self.table(value)?;
                Some(self.job(name, span, table))
            })
            .collect()
    }

    fn job(&mut self, name: &str, place: Range<usize>, table: &DeTable<'_>) -> Draft {
        let name = name.to_owned();
        let mut draft =
            Draft { name, command: None, options: Options::default(), wishes: Vec::new() };
        let mut has_run = false;
        for (key, span, value) in entries(table) {
            match (key, key.parse::<Kind>()) {
                ("run", _) => {
                    has_run = true;
                    draft.command = self.command(value);
                }
                (_, Ok(kind)) => draft.wishes.extend(self.wishes(kind, value)),
                (_, Err(_)) if self.option(&mut draft.options, key, value) => (),
                (_, Err(_)) => self.unknown(key, span, job_names()),
            }
        }
        if !has_run {
            let shown = draft.name.escape_debug();
            self.wrong(place, format!("the job `{shown}` has no `run`, which says what it runs"));
        }
        draft
    }

    fn command(&mut self, value: &Value<'_>) -> Option<Command> {
        let command = match value.get_ref() {
            DeValue::String(text) => Command::Shell(text.as_bytes().to_vec()),
            DeValue::Array(_) => {
                let words = self.texts(value)?;
                Command::Argv(words.into_iter().map(|(word, _)| word.into_bytes()).collect())
            }
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Table(_) => {
                return self.take(value, |value| Err(value.is_not("a text or a list of words")));
            }
        };
        command.check().map_err(|why| self.wrong(value.span(), why)).ok()?;
        Some(command)
    }

    fn wishes(&mut self, kind: Kind, value: &Value<'_>) -> Vec<Wish> {
        let wish = |(parent, span)| Wish { parent, kind, span };
        self.texts(value).unwrap_or_default().into_iter().map(wish).collect()
    }

    /// Reads one option; tells whether there is one of this name.
    fn option(&mut self, options: &mut Options, key: &str, value: &Value<'_>) -> bool {
        match key {
            "cwd" => options.cwd = self.take(value, directory),
            "env" => options.env = self.variables(value),
            _ => {
                let set = |value: fields::Value<'_>| fields::set(&mut options.settings, key, value);
                return self.take(value, set).unwrap_or(true);
            }
        }
        true
    }

    fn variables(&mut self, value: &Value<'_>) -> EnvBlock {
        let Some(table) = self.table(value) else { return EnvBlock::default() };
        let mut variables = Vec::with_capacity(table.len());
        for (name, _, value) in entries(table) {
            variables.extend(self.take(value, |value| {
                limits::variable(name.as_bytes(), fields::text(value)?.as_bytes())
            }));
        }
        EnvBlock::from_entries(variables.iter().map(Vec::as_slice))
    }
}

fn option_names() -> impl Iterator<Item = &'static str> {
    fields::NAMES.iter().copied().chain(["cwd", "env"])
}

fn job_names() -> impl Iterator<Item = &'static str> {
    let kinds = Kind::ALL.iter().map(|kind| kind.as_str());
    option_names().chain(["run"]).chain(kinds)
}

fn label(what: &str, value: fields::Value<'_>) -> Result<String, String> {
    let label = fields::text(value)?;
    limits::label(what, label)?;
    Ok(label.to_owned())
}

fn directory(value: fields::Value<'_>) -> Result<PathBuf, String> {
    match fields::text(value)? {
        "" => Err("the name of the directory is empty".to_owned()),
        text if text.contains('\0') => Err("the directory contains a NUL".to_owned()),
        text => Ok(PathBuf::from(text)),
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first line of each problem.
    fn refusal(text: &str) -> Vec<String> {
        let error = parse("f.toml", text).expect_err("something is wrong").to_string();
        let told = |line: &&str| line.starts_with("f.toml:");
        error.lines().filter(told).map(str::to_owned).collect()
    }

    #[test]
    fn a_flow_without_a_name_is_called_like_its_file() {
        let flow = parse("dir/nightly.toml", "[jobs.a]\nrun = 'true'\n").expect("a flow");
        assert_eq!(flow.name, "nightly");
    }

    #[test]
    fn keys_about_schedules_are_taken() {
        let text = concat!(
            "schedule = '0 2 * * *'\ntimezone = 'Europe/Berlin'\ncatch_up = 'one'\n",
            "overlap = 'skip'\n[jobs.a]\nrun = 'true'\n",
        );
        let schedule = parse("f.toml", text).expect("a flow").schedule.expect("a schedule");
        assert_eq!(schedule.cron.to_string(), "0 2 * * *");
        assert_eq!(schedule.zone, "Europe/Berlin".parse().ok());
        let wrong = refusal("schedule = 2\ncatch_up = 'some'\noverlap = 1\n[jobs.a]\nrun = 'a'\n");
        assert_eq!(
            wrong,
            [
                "f.toml:1:12: a text is needed here, not a number",
                "f.toml:2:12: `some` is none of none, one, all",
                "f.toml:3:11: a text is needed here, not a number",
            ]
        );
        let never = refusal("schedule = '0 0 30 2 *'\ntimezone = 'X'\n[jobs.a]\nrun = 'a'\n");
        assert_eq!(never[0], "f.toml:1:12: no such day ever comes");
        assert!(never[1].starts_with("f.toml:2:12: `X` is no time zone"));
        let alone = refusal("overlap = 'skip'\n[jobs.a]\nrun = 'a'\n");
        assert_eq!(alone, ["f.toml:1:1: there is no `schedule` that this could be about"]);
    }

    #[test]
    fn a_chain_says_how_often_it_starts_again() {
        let flow = parse("f.toml", "[retry]\nmax = 2\ndelay = '5m'\n[jobs.a]\nrun = 'a'\n");
        let want = ChainRetry { max: 2, delay: std::time::Duration::from_mins(5) };
        assert_eq!(flow.expect("a flow").retry, want);
        let wrong = refusal("[retry]\nmax = -1\ndelya = 1\n[jobs.a]\nrun = 'a'\n");
        assert_eq!(wrong[0], "f.toml:2:7: `-1` is not a whole number from 0 to 4294967295");
        assert_eq!(wrong[1], "f.toml:3:1: unknown key `delya`; did you mean `delay`?");
        assert!(
            refusal("[retry]\ndelay = 1\n[jobs.a]\nrun = 'a'\n")[0].contains("`max` is missing")
        );
    }

    #[test]
    fn everything_that_is_wrong_is_told_with_its_place() {
        let text = concat!(
            "nane = 'n'\n",
            "[defaults]\ntimeout = 'soon'\nrun = 'x'\n",
            "[jobs.fetch]\nrun = ''\npriority = 1.5\n",
            "[jobs.clean]\nafter = ['fetsh', 3]\n",
            "[jobs.report]\nrun = ['a', 1]\nenv = { A = 1 }\ntimeuot = 1\n",
        );
        assert_eq!(
            refusal(text),
            [
                "f.toml:1:1: unknown key `nane`; did you mean `name`?",
                "f.toml:3:11: `soon` is not a duration; these are: `90` (seconds), `10m`, \
                 `1h30m`, `2d`, `200ms`",
                "f.toml:4:1: unknown key `run`",
                "f.toml:6:7: the command is empty",
                "f.toml:7:12: `1.5` is not a whole number from -2147483648 to 2147483647",
                "f.toml:8:7: the job `clean` has no `run`, which says what it runs",
                "f.toml:9:19: a text is needed here, not a number",
                "f.toml:11:13: a text is needed here, not a number",
                "f.toml:12:13: a text is needed here, not a number",
                "f.toml:13:1: unknown key `timeuot`; did you mean `timeout`?",
            ]
        );
    }

    #[test]
    fn a_parent_that_does_not_exist_is_told_with_the_one_that_was_meant() {
        let text = "[jobs.fetch]\nrun = 'a'\n[jobs.b]\nrun = 'b'\nafter = ['fetsh']\n";
        let error = parse("f.toml", text).expect_err("no such parent").to_string();
        assert_eq!(
            error,
            "f.toml:5:10: no job of this flow is named `fetsh`; did you mean `fetch`?\n  \
             |\n5 | after = ['fetsh']\n  |          ^^^^^^^"
        );
    }

    #[test]
    fn a_circle_is_told_by_name_together_with_what_else_is_wrong() {
        let text = concat!(
            "[jobs.a]\nrun = 'a'\nafter = 'b'\n[jobs.b]\nrun = 'b'\non_failure = ['a']\n",
            "[jobs.c]\nrun = 'c'\nafter_any = 'c'\n[jobs.d]\nrun = 'd'\nafter = 'gone'\n",
        );
        assert_eq!(
            refusal(text),
            [
                "f.toml:3:9: these jobs wait for each other: a → b → a",
                "f.toml:9:13: `c` waits for itself",
                "f.toml:12:9: no job of this flow is named `gone`",
            ]
        );
    }

    #[test]
    fn a_flow_without_jobs_is_refused() {
        let message = ": the flow has no jobs; one is `[jobs.NAME]` with `run = \"…\"`";
        assert_eq!(refusal(""), [format!("f.toml:1:1{message}")]);
        assert_eq!(refusal("name = 'x'\n[jobs]\n"), [format!("f.toml:2:2{message}")]);
        assert_eq!(refusal("jobs = 3"), ["f.toml:1:8: a table is needed here, not a number"]);
        assert_eq!(refusal("jobs.a = 'x'"), ["f.toml:1:10: a table is needed here, not a text"]);
    }

    #[test]
    fn what_is_not_toml_is_told_with_its_place() {
        assert!(refusal("[jobs.a]\nrun = 'a\n")[0].starts_with("f.toml:2:"));
        assert!(refusal("[jobs.a]\nrun = 'a'\nrun = 'b'\n")[0].starts_with("f.toml:3:1:"));
        assert!(refusal("x = 'a\u{7}'")[0].starts_with("f.toml:1:"));
    }

    #[test]
    fn deep_nesting_is_refused_and_overflows_nothing() {
        assert!(!refusal(&format!("x = {}", "[".repeat(200_000))).is_empty());
        assert!(!refusal(&format!("x = {}", "{a=".repeat(200_000))).is_empty());
        assert!(!refusal(&format!("{}a = 1", "a.".repeat(200_000))).is_empty());
    }

    #[test]
    fn a_chain_of_ten_thousand_is_read() {
        use std::fmt::Write;
        let mut text = "[jobs.j0]\nrun = 'a'\n".to_owned();
        for job in 1..10_000 {
            let parent = job - 1;
            writeln!(text, "[jobs.j{job}]\nrun = 'a'\nafter = 'j{parent}'").expect("a String");
        }
        assert_eq!(parse("f.toml", &text).expect("a flow").jobs.len(), 10_000);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(
            text in "\\PC*|(\\[?(jobs|defaults|retry)?\\.?[ab]?\\]? ?(run|after|env|cwd)? ?=? ?[\\[{'0-9a\",=]{0,5}\n){0,6}"
        ) {
            let _ = parse("f.toml", &text);
        }
    }
}
