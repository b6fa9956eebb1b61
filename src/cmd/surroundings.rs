//! What a job inherits from the command that adds it: directory, environment
//! and umask.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use crate::failure::{Failure, reason};
use crate::job::{EnvBlock, Place, Zone, limits};

/// The place where this command runs; `clean` leaves its environment out, but
/// for [`KEPT`].
///
/// # Errors
/// When the current directory is gone.
pub fn here(clean: bool) -> Result<Place, Failure> {
    Ok(at(&current_dir()?, clean))
}

/// The same in another directory, given by its absolute path.
pub fn at(dir: &Path, clean: bool) -> Place {
    let variables = env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec()));
    let env = if clean { cleaned(variables) } else { inherited(variables) };
    Place::new(dir, umask(), &env)
}

/// The time zone of whoever types: that of `TZ`, else that of the machine.
///
/// # Errors
/// When `TZ` names none.
pub fn time_zone() -> Result<Zone, Failure> {
    let Some(named) = env::var_os("TZ") else {
        let machine = iana_time_zone::get_timezone().ok();
        return Ok(machine.and_then(|name| name.parse().ok()).unwrap_or(Zone::UTC));
    };
    let named = named.to_string_lossy();
    match named.trim_start_matches(':') {
        "" => Ok(Zone::UTC),
        name => name.parse().map_err(|why| {
            Failure::usage(format!("TZ: {why}")).hint("name the zone with --tz Europe/Berlin")
        }),
    }
}

/// The name of whoever types.
pub fn user() -> Option<String> {
    let user = nix::unistd::User::from_uid(nix::unistd::geteuid()).ok()?;
    user.map(|user| user.name)
}

/// What a clean environment keeps.
const KEPT: [&[u8]; 5] = [b"HOME", b"PATH", b"USER", b"LOGNAME", b"SHELL"];

/// The `PATH` of a clean environment that has none.
const PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// What `ax` tells a job about itself. A job that adds a job does not hand
/// its own down.
const OWN: [&[u8]; 5] =
    [b"AX_JOB_ID", b"AX_JOB_NAME", b"AX_JOB_KEY", b"AX_ATTEMPT", b"AX_MAX_RETRIES"];

type Variable = (Vec<u8>, Vec<u8>);

fn inherited(variables: impl Iterator<Item = Variable>) -> EnvBlock {
    block(variables.filter(|(name, _)| !OWN.contains(&name.as_slice())).collect())
}

fn cleaned(variables: impl Iterator<Item = Variable>) -> EnvBlock {
    let mut kept: Vec<Variable> =
        variables.filter(|(name, _)| KEPT.contains(&name.as_slice())).collect();
    if !kept.iter().any(|(name, _)| name == b"PATH") {
        kept.push((b"PATH".to_vec(), PATH.to_vec()));
    }
    block(kept)
}

/// Equal environments must be equal bytes, in whatever order they came. Of two
/// variables of one name the first counts, as for getenv(3).
fn block(mut variables: Vec<Variable>) -> EnvBlock {
    variables.sort_by(|(one, _), (other, _)| one.cmp(other));
    variables.dedup_by(|(later, _), (first, _)| later == first);
    let entries: Vec<Vec<u8>> =
        variables.iter().filter_map(|(name, value)| limits::variable(name, value).ok()).collect();
    EnvBlock::from_entries(entries.iter().map(Vec::as_slice))
}

/// The directory as its user names it: `$PWD`, if it is this one, keeps
/// symbolic links in the path.
fn current_dir() -> Result<PathBuf, Failure> {
    if let Some(pwd) = env::var_os("PWD").map(PathBuf::from)
        && pwd.is_absolute()
        && !steps_back(&pwd)
        && same_dir(&pwd, Path::new("."))
    {
        return Ok(pwd);
    }
    env::current_dir().map_err(|error| {
        Failure::usage(format!("the current directory cannot be used: {}", reason(&error)))
            .hint("go to another one, or name one with --cwd")
    })
}

/// Tells whether the path has a `..`, which means another directory once a
/// symbolic link before it is changed.
fn steps_back(path: &Path) -> bool {
    path.components().any(|step| step == Component::ParentDir)
}

fn same_dir(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
    }
}

/// The umask, which can only be read by setting it. Should another thread make
/// a file in between, it is its owner's alone.
fn umask() -> u32 {
    use nix::sys::stat::{Mode, umask};
    let mask = umask(Mode::S_IRWXG | Mode::S_IRWXO);
    umask(mask);
    mask.bits()
}

/// Makes `dir`, seen from `from`, absolute.
///
/// # Errors
/// When it does not exist, is no directory, or has a NUL in its name.
pub fn directory(dir: &Path, from: &Path) -> Result<PathBuf, String> {
    if dir.as_os_str().is_empty() {
        return Err("the name of the directory is empty".to_owned());
    }
    let dir = std::path::absolute(from.join(dir)).map_err(|error| reason(&error))?;
    match fs::metadata(&dir) {
        Ok(found) if found.is_dir() && steps_back(&dir) => {
            fs::canonicalize(dir).map_err(|error| reason(&error))
        }
        Ok(found) if found.is_dir() => Ok(dir),
        Ok(_) => Err(format!("{} is not a directory", dir.display())),
        Err(error) => Err(format!("{} cannot be used: {}", dir.display(), reason(&error))),
    }
}

/// Reads `NAME=VALUE` as the entry of an environment.
///
/// # Errors
/// When it has no `=`, or no name.
pub fn variable(text: &OsString) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let shown = text.to_string_lossy();
    let Some(equals) = bytes.iter().position(|byte| *byte == b'=') else {
        return Err(format!("`{shown}` is not NAME=VALUE"));
    };
    limits::variable(&bytes[..equals], &bytes[equals + 1..])
        .map_err(|why| format!("`{shown}`: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(entries: &[(&str, &str)]) -> impl Iterator<Item = Variable> {
        let pairs: Vec<Variable> =
            entries.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        pairs.into_iter()
    }

    fn entries(block: &EnvBlock) -> Vec<String> {
        block.entries().map(|entry| String::from_utf8_lossy(entry).into_owned()).collect()
    }

    #[test]
    fn the_environment_is_sorted_and_has_each_variable_once() {
        let block = inherited(variables(&[("B", "2"), ("A", "1"), ("B", "3"), ("A_", "x=y")]));
        assert_eq!(entries(&block), ["A=1", "A_=x=y", "B=2"]);
    }

    #[test]
    fn a_job_that_adds_a_job_does_not_hand_its_number_down() {
        let own = [("AX_JOB_ID", "7"), ("AX_ATTEMPT", "1"), ("AX_DB", "/x"), ("AX_JOB_KEY", "k")];
        assert_eq!(entries(&inherited(variables(&own))), ["AX_DB=/x"]);
    }

    #[test]
    fn a_clean_environment_keeps_five_variables_and_always_has_a_path() {
        let all = [("SECRET", "s"), ("HOME", "/h"), ("SHELL", "/bin/sh"), ("AX_DB", "/x")];
        let path = "PATH=/usr/local/bin:/usr/bin:/bin";
        assert_eq!(entries(&cleaned(variables(&all))), ["HOME=/h", path, "SHELL=/bin/sh"]);
        assert_eq!(entries(&cleaned(variables(&[("PATH", "/p")]))), ["PATH=/p"]);
    }

    #[test]
    fn a_directory_must_exist_and_becomes_absolute() {
        let here = tempfile::tempdir().expect("a directory");
        fs::write(here.path().join("file"), "").expect("a file");
        assert_eq!(directory(Path::new("."), here.path()), Ok(here.path().to_owned()));
        let real = fs::canonicalize(here.path()).expect("it exists");
        fs::create_dir(here.path().join("sub")).expect("a directory");
        assert_eq!(directory(Path::new("sub/.."), here.path()), Ok(real));
        let why = directory(Path::new("file"), here.path()).expect_err("a file");
        assert!(why.ends_with("file is not a directory"), "{why}");
        let why = directory(Path::new("gone"), here.path()).expect_err("gone");
        assert!(why.ends_with("gone cannot be used: no such file or directory"), "{why}");
    }

    #[test]
    fn a_variable_is_a_name_and_a_value() {
        assert_eq!(variable(&"A=b=c".into()), Ok(b"A=b=c".to_vec()));
        assert_eq!(variable(&"A=".into()), Ok(b"A=".to_vec()));
        for bad in ["A", "", "=x", "="] {
            assert!(variable(&bad.into()).is_err(), "{bad:?}");
        }
    }
}
