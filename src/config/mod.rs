//! The configuration: what is so where no option says otherwise.
//!
//! A value is looked for in the environment, then in the file
//! `$XDG_CONFIG_HOME/ax/config.toml`, and else it has a default; an option goes
//! before all of them. [`KEYS`] has every value there is. Each command asks a
//! [`Config`], and nothing else.

mod keys;
mod layer;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::document;
use crate::failure::{Failure, reason};
use crate::job::Settings;
use layer::Layer;

pub use keys::{KEYS, Key, POLL_INTERVAL};
pub use layer::Run;

/// The variable that names another file.
pub const FILE: &str = "AX_CONFIG";

/// What the environment and the file say.
#[derive(Debug, Default)]
pub struct Config {
    path: Option<PathBuf>,
    environment: Layer,
    file: Layer,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// This option.
    Option(&'static str),
    /// This variable.
    Environment(&'static str),
    /// This line of the file.
    File(PathBuf, usize),
    /// Nobody says anything.
    Default,
}

/// A value, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub key: &'static Key,
    /// As it is written; as it is where nobody says anything.
    pub value: String,
    /// Who says so.
    pub source: Source,
}

impl Config {
    /// Reads the environment, and the file that it names.
    ///
    /// # Errors
    /// Says what is wrong, with the variable, or the line of the file.
    pub fn load(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, Failure> {
        let path = path(variable);
        let file = match &path {
            Some(path) => read(path, variable(FILE).is_some(), variable)?,
            None => Layer::default(),
        };
        let environment = Layer::of_environment(variable)?;
        Ok(Self { path, environment, file })
    }

    /// The database that the environment or the file names.
    pub fn db(&self) -> Option<&Path> {
        self.environment.db.as_deref().or(self.file.db.as_deref())
    }

    /// `auto`, `always` or `never`.
    pub fn color(&self) -> Option<&str> {
        self.environment.color.as_deref().or(self.file.color.as_deref())
    }

    /// How much of an output is kept, as it is written.
    pub fn output_limit(&self) -> Option<&str> {
        self.environment.output_limit.as_deref().or(self.file.output_limit.as_deref())
    }

    /// What a job gets that says nothing.
    pub fn defaults(&self) -> Settings {
        self.environment.settings.or(&self.file.settings)
    }

    /// How a runner works that is told nothing.
    pub fn run(&self) -> Run {
        self.environment.run.or(&self.file.run)
    }

    /// Every value, where some are given as options.
    pub fn entries(&self, options: &[(&str, String)]) -> Vec<Entry> {
        KEYS.iter().map(|key| self.entry(key, options)).collect()
    }

    fn entry(&self, key: &'static Key, options: &[(&str, String)]) -> Entry {
        let given = options.iter().find(|(name, _)| *name == key.name);
        let (value, source) = if let Some((_, value)) = given {
            (value.clone(), Source::Option(key.option))
        } else if let Some((value, _)) = self.environment.written(key.name) {
            (value.to_owned(), Source::Environment(key.variable))
        } else if let Some((value, line)) = self.file.written(key.name) {
            (value.to_owned(), Source::File(self.path.clone().unwrap_or_default(), line))
        } else {
            ((key.default)(), Source::Default)
        };
        Entry { key, value, source }
    }
}

/// Where the file is, or would be; `None` without a home.
pub fn path(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let named = variable(FILE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    named.or_else(|| Some(home()?.join("ax/config.toml")))
}

/// Reads the file, which must be there if somebody named it.
fn read(
    path: &Path,
    is_named: bool,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Layer, Failure> {
    let shown = path.display().to_string();
    let unreadable = |error: &io::Error| {
        Failure::usage(format!("{shown} cannot be read: {}", reason(error))).hint(HINT)
    };
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_named => {
            return Ok(Layer::default());
        }
        other => other.map_err(|error| unreadable(&error))?,
    };
    refuse_strangers(path)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("{shown} is not UTF-8")).hint(HINT))?;
    document::read(&shown, &text, |reader, root| {
        Some(Layer::of_document(reader, root, &text, variable))
    })
    .map_err(|error| Failure::from(error).hint(HINT))
}

const HINT: &str = "`ax help config` shows what may stand there";

/// What is in it is run, so nobody else may write it.
fn refuse_strangers(path: &Path) -> Result<(), Failure> {
    let Ok(found) = fs::metadata(path) else { return Ok(()) };
    if !found.is_file() || found.mode() & 0o002 == 0 {
        return Ok(());
    }
    let shown = path.display();
    Err(Failure::usage(format!("{shown} can be written by other users"))
        .hint(format!("`chmod o-w {shown}` if you trust what is in it")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Timeout;
    use std::time::Duration;

    /// A home with a file, and variables.
    fn load(text: Option<&str>, variables: &[(&str, &str)]) -> Result<Config, Failure> {
        let home = tempfile::tempdir().expect("a directory");
        let dir = home.path().join(".config/ax");
        fs::create_dir_all(&dir).expect("made");
        if let Some(text) = text {
            fs::write(dir.join("config.toml"), text).expect("written");
        }
        Config::load(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            let value = found.map(|(_, value)| OsString::from(value));
            value.or_else(|| (name == "HOME").then(|| home.path().into()))
        })
    }

    #[test]
    fn the_environment_goes_before_the_file_and_the_file_before_the_default() {
        let text = "[defaults]\ntimeout = '5m'\npriority = 7\n[run]\nworkers = 3\n";
        let variables = [("AX_DEFAULT_TIMEOUT", "none"), ("AX_RUN_POLL_INTERVAL", "2s")];
        let config = load(Some(text), &variables).expect("read");
        let defaults = config.defaults();
        assert_eq!((defaults.timeout, defaults.priority), (Some(Timeout(None)), Some(7)));
        assert_eq!(defaults.max_retries, None);
        let run = config.run();
        assert_eq!((run.workers, run.poll_interval), (Some(3), Some(Duration::from_secs(2))));
    }

    #[test]
    fn each_value_is_told_with_where_it_comes_from() {
        let text = "db = '~/jobs.db'\n\n[defaults]\n# a comment\ntimeout = '5m'\n";
        let config = load(Some(text), &[("AX_DEFAULT_PRIORITY", "9")]).expect("read");
        let entries = config.entries(&[("color", "never".to_owned())]);
        let told = |name| {
            let entry = entries.iter().find(|entry| entry.key.name == name).expect("a key");
            (entry.value.as_str(), &entry.source)
        };
        assert_eq!(told("defaults.priority"), ("9", &Source::Environment("AX_DEFAULT_PRIORITY")));
        let file = config.path.clone().expect("a path");
        assert_eq!(told("defaults.timeout"), ("5m", &Source::File(file.clone(), 5)));
        assert_eq!(told("db"), ("~/jobs.db", &Source::File(file, 1)));
        assert_eq!(told("color"), ("never", &Source::Option("--color")));
        assert_eq!(told("defaults.max_retries"), ("3", &Source::Default));
        assert!(config.db().expect("named").ends_with("jobs.db"));
        assert!(config.db().expect("named").is_absolute());
    }

    #[test]
    fn what_is_wrong_in_the_file_is_told_all_at_once_with_its_line() {
        let text = concat!(
            "dp = 'x'\ndb = 'jobs.db'\ncolor = 'red'\noutput_limit = 'much'\n",
            "[defaults]\ntimeuot = 1\nhold = true\n[run]\nworkers = 0\non_stop = 'now'\n[rum]\n",
        );
        let failure = load(Some(text), &[]).expect_err("wrong");
        let told: Vec<_> = failure
            .message
            .lines()
            .filter_map(|line| line.split_once("config.toml:").map(|(_, told)| told))
            .collect();
        assert_eq!(
            told,
            [
                "1:1: unknown key `dp`; did you mean `db`?",
                "2:6: `jobs.db` is not an absolute path, nor one that begins with `~/`",
                "3:9: `red` is none of auto, always, never",
                "4:16: `much` is no size; these are: `65536`, `512K`, `64M`, `2G`",
                "6:1: unknown key `timeuot`; did you mean `timeout`?",
                "7:1: unknown key `hold`",
                "9:11: `0` is not a whole number from 1 to 1024",
                "10:11: `now` is none of wait, detach, kill",
                "11:2: unknown key `rum`; did you mean `run`?",
            ]
        );
        assert_eq!(failure.hint.as_deref(), Some(HINT));
    }

    #[test]
    fn what_is_wrong_in_the_environment_names_the_variable() {
        for (name, value, told) in [
            ("AX_DB", "", "AX_DB is empty"),
            ("AX_RUN_WORKERS", "many", "AX_RUN_WORKERS: a number is needed here, not a text"),
            ("AX_COLOR", "red", "AX_COLOR: `red` is none of auto, always, never"),
            ("AX_DEFAULT_MAX_RETRIES", "x", "AX_DEFAULT_MAX_RETRIES: a number is needed here"),
            ("AX_DEFAULT_TIMEOUT", "soon", "AX_DEFAULT_TIMEOUT: `soon` is not a duration"),
            ("AX_OUTPUT_LIMIT", "0", "AX_OUTPUT_LIMIT: `0` is less than can be kept"),
        ] {
            let failure = load(None, &[(name, value)]).expect_err(name);
            assert!(failure.message.starts_with(told), "{}", failure.message);
        }
        let group = load(None, &[("AX_DEFAULT_GROUP", "7")]).expect("a text of digits is one");
        assert_eq!(group.defaults().group.as_deref(), Some("7"));
        let unset = load(None, &[("AX_DEFAULT_PRIORITY", "")]).expect("empty says nothing");
        assert_eq!(unset.defaults(), Settings::default());
    }

    #[test]
    fn a_limit_of_output_that_cannot_be_kept_names_the_smallest_that_can() {
        for small in ["0", "1", "1K", "255K", "262143"] {
            let failure = load(Some(&format!("output_limit = '{small}'\n")), &[]);
            let message = failure.expect_err(small).message;
            let told = format!(
                "`{small}` is less than can be kept of an output; the smallest limit is `256K`"
            );
            assert!(message.contains(&told), "{message}");
        }
        for fitting in ["256K", "262144", "1M"] {
            let config = load(Some(&format!("output_limit = '{fitting}'\n")), &[]);
            assert_eq!(config.expect(fitting).output_limit(), Some(fitting));
        }
    }

    #[test]
    fn a_file_that_somebody_names_must_be_there_and_be_nobody_elses() {
        use std::os::unix::fs::PermissionsExt;
        let gone = load(None, &[(FILE, "/nonexistent/config.toml")]).expect_err("gone");
        assert!(gone.message.starts_with("/nonexistent/config.toml cannot be read: no such file"));
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("config.toml");
        fs::write(&path, "color = 'never'\n").expect("written");
        let named = path.to_str().expect("a plain path");
        assert_eq!(load(None, &[(FILE, named)]).expect("read").color(), Some("never"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o646)).expect("set");
        let open = load(None, &[(FILE, named)]).expect_err("others may write it");
        assert!(open.message.ends_with("can be written by other users"));
    }

    #[test]
    fn every_key_has_a_variable_of_its_own_and_a_default() {
        for key in &KEYS {
            assert!(key.variable.starts_with("AX_"), "{}", key.name);
            assert!(!(key.default)().is_empty(), "{}", key.name);
            let others = KEYS.iter().filter(|other| other.variable == key.variable);
            assert_eq!(others.count(), 1, "{}", key.name);
        }
        for name in crate::fields::NAMES {
            let is_there = KEYS.iter().any(|key| key.name == format!("defaults.{name}"));
            assert_eq!(is_there, !["hold", "mutex"].contains(name), "{name}");
        }
    }
}
