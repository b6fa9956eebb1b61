//! Starting a job: its words, its place and its environment.
//!
//! A job sees descriptors 0 (at its end), 1 and 2 (its output) and no other,
//! default signals, none of them blocked, no terminal, its own directory,
//! umask and process group. Nothing of the supervisor shines through.

use std::env;
use std::ffi::{CString, OsStr};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::{Mode, umask};
use nix::unistd::{AccessFlags, Pid, access, chdir, fchdir};

use super::launch::{Files, Launcher};
use crate::escape::escape;
use crate::job::{Command, EnvBlock, Spec};

/// Where programs are when the job's environment has no `PATH`.
const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

const SHELL: &str = "/bin/sh";

/// Why a job was not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It cannot be as it is, whatever becomes of others.
    Never(String),
    /// None could be now.
    NotNow(String),
}

/// Starts jobs. Keeps what a job that says nothing inherits: the directory,
/// the umask and the environment of the runner.
pub(super) struct Spawner {
    null: File,
    launcher: Launcher,
    home: File,
    home_path: Option<PathBuf>,
    umask: Mode,
    env: EnvBlock,
}

impl Spawner {
    /// Remembers where this process is, and moves it to where it is in nobody's way.
    ///
    /// # Errors
    /// When `/dev/null` or the directory cannot be opened.
    pub(super) fn new() -> io::Result<Self> {
        let null = File::open("/dev/null")?;
        // A directory that was removed can still be opened, and entered again.
        let place = OFlag::O_PATH | OFlag::O_DIRECTORY;
        let home = OpenOptions::new().read(true).custom_flags(place.bits()).open(".")?;
        let home_path = env::current_dir().ok();
        let umask = umask(PRIVATE);
        chdir("/")?;
        let (launcher, env) = (Launcher::new(), own_environment());
        Ok(Self { null, launcher, home, home_path, umask, env })
    }

    /// Starts a job whose output goes to `sink`; tells its process id.
    ///
    /// # Errors
    /// Says why it was not started.
    pub(super) fn spawn(&mut self, spec: &Spec, sink: BorrowedFd<'_>) -> Result<i32, Refusal> {
        let _place = Place::enter(self, spec)?;
        let over = spec.extra_env.overlaid(&self.place_of(spec));
        let base = spec.env.as_deref().unwrap_or(&self.env);
        let path = over.get("PATH").or_else(|| base.get("PATH"));
        let (program, words) = resolve(&spec.command, path)?;
        let words: Vec<_> = words.iter().map(CString::as_c_str).collect();
        let env: Vec<_> = base.c_entries_under(&over).collect();
        let files = Files { input: self.null.as_fd(), output: sink };
        match self.launcher.launch(&program, &words, &env, files) {
            Err(Errno::ENOEXEC) => {
                // A text without `#!` is one for the shell, as execvp(3) has it.
                let shell = c_string(SHELL.as_bytes())?;
                let first = [shell.as_c_str(), &program];
                let words: Vec<_> = first.into_iter().chain(words.into_iter().skip(1)).collect();
                self.launcher.launch(&shell, &words, &env, files)
            }
            launched => launched,
        }
        .map(Pid::as_raw)
        .map_err(|errno| refusal(errno, Path::new(OsStr::from_bytes(program.as_bytes()))))
    }

    /// What tells a job where it is.
    fn place_of(&self, spec: &Spec) -> EnvBlock {
        let own = || self.home_path.as_ref().map(|path| path.as_os_str().as_bytes());
        let pwd = spec.cwd.as_deref().or_else(own).map(|place| [b"PWD=", place].concat());
        EnvBlock::from_entries(pwd.as_deref())
    }
}

const PRIVATE: Mode = Mode::S_IRWXG.union(Mode::S_IRWXO);

/// The environment of this process.
pub(super) fn own_environment() -> EnvBlock {
    let entries: Vec<_> = env::vars_os()
        .map(|(name, value)| [&name.into_vec(), b"=".as_slice(), &value.into_vec()].concat())
        .collect();
    EnvBlock::from_entries(entries.iter().map(Vec::as_slice))
}

/// The directory and the umask of a job, which this process takes on while it
/// starts it.
struct Place;

impl Place {
    fn enter(spawner: &Spawner, spec: &Spec) -> Result<Self, Refusal> {
        let place = Self;
        match &spec.cwd {
            Some(path) => {
                let path = Path::new(OsStr::from_bytes(path));
                chdir(path).map_err(|errno| no_place(errno, path))?;
            }
            None => fchdir(&spawner.home).map_err(|errno| {
                Refusal::Never(format!("the runner's directory: {}", words(errno)))
            })?,
        }
        umask(spec.umask.map_or(spawner.umask, Mode::from_bits_truncate));
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        umask(PRIVATE);
        let _ = chdir("/");
    }
}

fn no_place(errno: Errno, path: &Path) -> Refusal {
    let name = shown(path);
    match errno {
        Errno::ENOENT => Refusal::Never(format!("directory {name} does not exist")),
        Errno::ENOTDIR => Refusal::Never(format!("{name} is not a directory")),
        Errno::ENOMEM => Refusal::NotNow(words(errno)),
        _ => Refusal::Never(format!("directory {name} cannot be entered: {}", words(errno))),
    }
}

/// The program to start and the words it gets.
fn resolve(command: &Command, path: Option<&[u8]>) -> Result<(CString, Vec<CString>), Refusal> {
    let words = match command {
        Command::Shell(text) => {
            // A text that looks like an option is none.
            let end = text.first().filter(|first| b"-+".contains(first)).map(|_| b"--".as_slice());
            let words = [b"sh".as_slice(), b"-c"].into_iter().chain(end).chain([text.as_slice()]);
            words.map(c_string).collect::<Result<Vec<_>, _>>()?
        }
        Command::Argv(words) => {
            words.iter().map(|word| c_string(word)).collect::<Result<_, _>>()?
        }
    };
    let program = match command {
        Command::Shell(_) => c_string(SHELL.as_bytes())?,
        Command::Argv(words) => find(words.first().map_or(&[][..], Vec::as_slice), path)?,
    };
    Ok((program, words))
}

fn c_string(word: &[u8]) -> Result<CString, Refusal> {
    CString::new(word).map_err(|_| Refusal::Never("the command contains a NUL byte".to_owned()))
}

/// Looks a program up in the job's `PATH`; a name with a slash is a path. The
/// job's directory must be the current one.
fn find(program: &[u8], path: Option<&[u8]>) -> Result<CString, Refusal> {
    if program.is_empty() {
        return Err(Refusal::Never("the command is empty".to_owned()));
    }
    if program.contains(&b'/') {
        return c_string(program);
    }
    let mut denied = None;
    for dir in path.unwrap_or(DEFAULT_PATH).split(|byte| *byte == b':') {
        let dir = if dir.is_empty() { b".".as_slice() } else { dir };
        let place = c_string(&[dir, b"/", program].concat())?;
        let is_file = || Path::new(OsStr::from_bytes(place.as_bytes())).is_file();
        match access(place.as_c_str(), AccessFlags::X_OK) {
            Ok(()) if is_file() => return Ok(place),
            Err(Errno::EACCES) if is_file() => denied = Some(place),
            Ok(()) | Err(_) => (),
        }
    }
    Err(Refusal::Never(match denied {
        Some(place) => format!("{} is not executable", escape(place.as_bytes())),
        None => format!("no program `{}` in PATH", escape(program)),
    }))
}

fn refusal(errno: Errno, program: &Path) -> Refusal {
    let name = shown(program);
    match errno {
        Errno::EAGAIN => Refusal::NotNow("no more processes can be started".to_owned()),
        Errno::ENOMEM | Errno::EMFILE | Errno::ENFILE => Refusal::NotNow(words(errno)),
        // It would keep its place, and with it a worker from all others.
        Errno::ETXTBSY => Refusal::Never(format!("{name} is being written")),
        Errno::E2BIG => {
            Refusal::Never("its arguments and environment are too large together".to_owned())
        }
        Errno::ENOENT if program.exists() => {
            Refusal::Never(format!("the interpreter of {name} does not exist"))
        }
        Errno::ENOENT => Refusal::Never(format!("{name} does not exist")),
        Errno::EACCES => Refusal::Never(denied(program)),
        _ => Refusal::Never(format!("{name}: {}", words(errno))),
    }
}

/// Why a program may not be started.
fn denied(program: &Path) -> String {
    let name = shown(program);
    match fs::metadata(program) {
        Err(_) => format!("{name} is in a directory that may not be entered"),
        Ok(found) if found.is_dir() => format!("{name} is a directory"),
        Ok(_) if access(program, AccessFlags::X_OK).is_ok() => {
            format!("the interpreter of {name} is not executable")
        }
        Ok(_) => format!("{name} is not executable"),
    }
}

/// What a code of the system means, in the style of our own messages.
fn words(errno: Errno) -> String {
    let text = errno.desc();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// What an error of the system means, in the same style.
pub fn reason(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), |code| words(Errno::from_raw(code)))
}

fn shown(path: &Path) -> String {
    escape(path.as_os_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_is_the_first_executable_file_of_its_name() {
        let dir = tempfile::tempdir().expect("a directory");
        for (place, mode) in [("a", 0o644), ("b", 0o755), ("c", 0o755)] {
            let place = dir.path().join(place);
            fs::create_dir(&place).expect("made");
            fs::write(place.join("tool"), "").expect("written");
            fs::set_permissions(place.join("tool"), fs::Permissions::from_mode(mode)).expect("set");
        }
        let root = dir.path().display();
        let find_in = |path: &str| find(b"tool", Some(path.as_bytes()));
        let found = find_in(&format!("{root}/none:{root}/a:{root}/b:{root}/c"));
        assert_eq!(found, c_string(format!("{root}/b/tool").as_bytes()));
        let denied = find_in(&format!("{root}/a"));
        assert_eq!(denied, Err(Refusal::Never(format!("{root}/a/tool is not executable"))));
    }

    #[test]
    fn a_program_that_is_nowhere_is_named() {
        let gone = Refusal::Never("no program `frobnicate` in PATH".into());
        assert_eq!(find(b"frobnicate", Some(b"/bin")), Err(gone));
        assert!(find(b"sh", None).is_ok());
    }

    #[test]
    fn a_name_with_a_slash_is_not_looked_up() {
        assert_eq!(find(b"./tool", Some(b"/bin")), c_string(b"./tool"));
    }

    #[test]
    fn a_shell_text_that_looks_like_an_option_is_none() {
        let words = |text: &[u8]| {
            let command = Command::Shell(text.to_vec());
            let (_, words) = resolve(&command, None).expect("a command");
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(words(b"-x"), ["sh", "-c", "--", "-x"]);
        assert_eq!(words(b"true"), ["sh", "-c", "true"]);
    }

    #[test]
    fn only_what_any_job_would_meet_holds_up_the_others() {
        let program = Path::new("/bin/sh");
        for errno in [Errno::EAGAIN, Errno::ENOMEM, Errno::EMFILE, Errno::ENFILE] {
            assert!(matches!(refusal(errno, program), Refusal::NotNow(_)), "{errno}");
        }
        let own = [Errno::E2BIG, Errno::ENOENT, Errno::EACCES, Errno::ELOOP, Errno::ETXTBSY];
        for errno in own {
            assert!(matches!(refusal(errno, program), Refusal::Never(_)), "{errno}");
        }
    }
}
