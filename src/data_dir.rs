//! The directory beside the database: `ax.db.d/`.
//!
//! ```text
//! ax.db.d/            0700
//!   out/              output: `12.1.log` of job 12's first attempt, spool files of supervisors
//!   locks/            `runner-3` held by a runner, `runner-3.0` the journal of a supervisor,
//!                     `hook-7` held by the process that runs hook 7
//!   wake/             `3`: the datagram socket that wakes runner 3
//! ```

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::sys::statfs::{self, FsType};
use nix::unistd::{AccessFlags, access};

use crate::job::hook::HookId;
use crate::job::{JobId, RunnerId};

/// Where the database is when nobody says: `$XDG_DATA_HOME/ax/ax.db`, else
/// `~/.local/share/ax/ax.db` (XDG Base Directory Specification: a relative
/// path there is ignored). `None` without a home.
pub fn default_database() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let data =
        absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(data.join("ax/ax.db"))
}

/// The one name of a database, whatever path leads to it: absolute, without
/// symbolic links. Locks lie beside the database, so two names for one file
/// would be two places to look for who is alive.
pub fn real_path(db: &Path) -> PathBuf {
    if let Ok(real) = fs::canonicalize(db) {
        return real;
    }
    let absolute = std::path::absolute(db).unwrap_or_else(|_| db.to_owned());
    match (absolute.parent().map(fs::canonicalize), absolute.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        (_, _) => absolute,
    }
}

/// The write-ahead log of a database, which is there while it is open:
/// <https://www.sqlite.org/walformat.html>.
pub fn log_of(db: &Path) -> PathBuf {
    let mut name = db.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// The directory beside one database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir {
    root: PathBuf,
}

impl DataDir {
    /// The directory that belongs to the database at `db`; need not exist.
    pub fn of(db: &Path) -> Self {
        let mut name = db.as_os_str().to_owned();
        name.push(".d");
        Self { root: name.into() }
    }

    /// The database that the directory belongs to.
    pub fn database(&self) -> PathBuf {
        self.root.with_extension("")
    }

    /// Makes the directory and what is in it, for its owner alone.
    ///
    /// # Errors
    /// When it cannot be made, or when something that is not a directory of
    /// this user stands in its place.
    pub fn create(&self) -> io::Result<()> {
        for dir in [self.root.clone(), self.out(), self.locks(), self.wake()] {
            match DirBuilder::new().mode(0o700).create(&dir) {
                Ok(()) => (),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_own(&dir)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where output is.
    pub fn out(&self) -> PathBuf {
        self.root.join("out")
    }

    /// Looks whether output can be kept.
    ///
    /// # Errors
    /// Why it cannot: the directory is gone, or may only be read.
    pub fn check_out(&self) -> io::Result<()> {
        Ok(access(&self.out(), AccessFlags::W_OK | AccessFlags::X_OK)?)
    }

    /// Where locks are.
    pub fn locks(&self) -> PathBuf {
        self.root.join("locks")
    }

    /// Where the sockets are that wake runners.
    pub fn wake(&self) -> PathBuf {
        self.root.join("wake")
    }

    /// The output file of an attempt, while it runs and if it is long.
    pub fn output(&self, job: JobId, attempt: u32) -> PathBuf {
        self.out().join(format!("{job}.{attempt}.log"))
    }

    /// The lock that a runner holds as long as it lives.
    pub fn runner_lock(&self, runner: RunnerId) -> PathBuf {
        self.locks().join(format!("runner-{runner}"))
    }

    /// The journal that supervisor number `serial` of a runner writes, and
    /// holds locked as long as it lives.
    pub fn journal(&self, runner: RunnerId, serial: u64) -> PathBuf {
        self.locks().join(format!("runner-{runner}.{serial}"))
    }

    /// The lock that the process holds that runs a hook.
    pub fn hook_lock(&self, hook: HookId) -> PathBuf {
        self.locks().join(format!("hook-{hook}"))
    }

    /// The journals of a runner's supervisors, in no order; none if there is
    /// no directory.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn journals(&self, runner: RunnerId) -> io::Result<Vec<PathBuf>> {
        let prefix = format!("runner-{runner}.");
        let mut found = Vec::new();
        let entries = match fs::read_dir(self.locks()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            other => other?,
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                found.push(entry.path());
            }
        }
        Ok(found)
    }

    /// The spool file that belongs to the supervisor with this journal, or to
    /// the process with this lock that runs a hook.
    pub fn spool(&self, journal: &Path) -> PathBuf {
        let mut name = journal.file_name().unwrap_or_default().to_owned();
        name.push(".spool");
        self.out().join(name)
    }
}

/// The name of the network file system that a file lies on, if it does: their
/// locks cannot be relied on, see <https://www.sqlite.org/faq.html#q5>.
pub fn network_file_system(path: &Path) -> Option<&'static str> {
    const SMB2: FsType = FsType(0xfe53_4d42);
    const CIFS: FsType = FsType(0xff53_4d42);
    const CEPH: FsType = FsType(0x00c3_6400);
    match statfs::statfs(path).ok()?.filesystem_type() {
        statfs::NFS_SUPER_MAGIC => Some("NFS"),
        statfs::SMB_SUPER_MAGIC | SMB2 | CIFS => Some("SMB"),
        statfs::CODA_SUPER_MAGIC => Some("Coda"),
        statfs::AFS_SUPER_MAGIC => Some("AFS"),
        CEPH => Some("Ceph"),
        _ => None,
    }
}

fn check_own(dir: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(dir)?;
    let why = if !found.is_dir() {
        "is not a directory"
    } else if found.uid() != nix::unistd::geteuid().as_raw() {
        "belongs to another user"
    } else if found.mode() & 0o022 != 0 {
        "can be written by others"
    } else {
        return Ok(());
    };
    let text = format!("{} {why}", dir.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_a_database_knows_it() {
        for db in ["/a/ax.db", "/a/jobs", "/a.d/x.d"] {
            assert_eq!(DataDir::of(Path::new(db)).database(), Path::new(db));
        }
    }

    #[test]
    fn every_path_to_a_database_is_one_name() {
        let temp = tempfile::tempdir().expect("a temporary directory");
        let dir = temp.path().canonicalize().expect("it is there");
        let link = dir.join("link.db");
        assert_eq!(real_path(&dir.join("ax.db")), dir.join("ax.db"), "before there is a file");
        fs::write(dir.join("ax.db"), "").expect("a file");
        std::os::unix::fs::symlink("ax.db", &link).expect("a link");
        assert_eq!(real_path(&link), dir.join("ax.db"));
        assert_eq!(
            real_path(&dir.join("../").join(dir.file_name().expect("a name")).join("ax.db")),
            dir.join("ax.db")
        );
    }
}
