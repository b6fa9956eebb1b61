//! Each test spoils something in or beside a real database and sees the
//! finding, and nothing else.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rusqlite::Connection;
use tempfile::TempDir;

use super::{Finding, Patient, examine, treat};
use crate::clock::{Clock, SystemClock};
use crate::data_dir::DataDir;
use crate::exec::journal::Journal;
use crate::exec::lock::hold_lock;
use crate::exec::process::Identity;
use crate::job::{Claim, JobId, RunnerId};
use crate::store::{self, NewRunner, Store};

struct Ward {
    _home: TempDir,
    db: PathBuf,
    dir: DataDir,
    store: Box<dyn Store>,
}

impl Ward {
    fn new() -> Self {
        let home = TempDir::new().expect("a directory");
        let db = home.path().join("ax.db");
        let dir = DataDir::of(&db);
        dir.create().expect("made");
        let store = store::open(&db).expect("opened");
        Self { _home: home, db, dir, store }
    }

    fn sql(&self, sql: &str) {
        let connection = Connection::open(&self.db).expect("opened");
        connection.pragma_update(None, "foreign_keys", false).expect("off");
        connection.execute_batch(sql).expect("broken by hand");
    }

    /// Enters a runner that owns job 1, which runs.
    fn runner(&mut self) -> RunnerId {
        let boot_id = "boot".to_owned();
        let new = NewRunner { pid: 4710, start_time: 1, boot_id, workers: 1 };
        let runner = self.store.enlist(&new, SystemClock.now()).expect("entered");
        self.sql(&format!(
            "INSERT INTO ax_jobs (id, command, status, owner, attempts)
             VALUES (1, 'true', 'running', {runner}, 1);
             INSERT INTO ax_attempts (job_id, attempt, owner, claimed_at)
             VALUES (1, 1, {runner}, 1767225600000)"
        ));
        runner
    }

    fn examine(&mut self) -> Vec<Finding> {
        let now = SystemClock.now();
        let store = self.store.as_mut();
        let mut patient = Patient { store, db: &self.db, dir: &self.dir, now };
        examine(&mut patient).expect("examined")
    }

    fn checks(&mut self) -> Vec<&'static str> {
        self.examine().iter().map(|finding| finding.check).collect()
    }

    /// Repairs, and tells what is left.
    fn treat(&mut self) -> Vec<&'static str> {
        let mut findings = self.examine();
        let now = SystemClock.now();
        let store = self.store.as_mut();
        let mut patient = Patient { store, db: &self.db, dir: &self.dir, now };
        treat(&mut patient, &mut findings).expect("treated");
        for finding in &findings {
            assert_eq!(finding.fixed, finding.repair.is_some(), "{finding:?}");
        }
        self.checks()
    }
}

fn hold(path: PathBuf) -> File {
    hold_lock(&path).expect("held")
}

/// A supervisor that was given this attempt of job 1.
fn supervisor(ward: &Ward, runner: RunnerId, attempt: u32) -> Journal {
    let own = Identity::own().expect("known");
    let mut journal = Journal::create(&ward.dir.journal(runner, 0), &own, 4).expect("made");
    journal.begin(Claim { job: JobId(1), attempt, owner: runner }).expect("noted");
    journal
}

fn touch(path: PathBuf) {
    fs::write(path, "").expect("made");
}

#[test]
fn a_new_database_is_healthy() {
    assert_eq!(Ward::new().examine(), []);
}

#[test]
fn a_running_job_of_a_living_runner_is_healthy() {
    let mut ward = Ward::new();
    let runner = ward.runner();
    let _lock = hold(ward.dir.runner_lock(runner));
    assert_eq!(ward.examine(), []);
}

#[test]
fn a_running_job_whose_runner_is_gone_is_for_recover() {
    let mut ward = Ward::new();
    ward.runner();
    let findings = ward.examine();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].job, Some(JobId(1)));
    assert!(findings[0].cure.starts_with("`ax recover`"));
    assert_eq!(ward.treat(), ["no supervisor"], "nothing is settled in silence");
}

#[test]
fn an_attempt_that_a_supervisor_still_has_in_hand_is_healthy() {
    let mut ward = Ward::new();
    let runner = ward.runner();
    let supervisor = supervisor(&ward, runner, 1);
    assert_eq!(ward.examine(), []);
    drop(supervisor);
    assert_eq!(ward.checks(), ["no supervisor"]);
}

#[test]
fn a_supervisor_of_another_attempt_proves_nothing() {
    let mut ward = Ward::new();
    let runner = ward.runner();
    let _supervisor = supervisor(&ward, runner, 12);
    assert_eq!(ward.checks(), ["no supervisor"]);
}

#[test]
fn what_is_overdue_is_told_of_only_if_a_runner_lives() {
    let mut ward = Ward::new();
    let runner = ward.runner();
    ward.sql(
        "INSERT INTO ax_jobs (id, command, scheduled_at, updated_at)
         VALUES (2, 'true', 1767225600000, 1767225600000)",
    );
    assert_eq!(ward.checks(), ["no supervisor"]);
    let _lock = hold(ward.dir.runner_lock(runner));
    assert_eq!(ward.checks(), ["overdue"]);
}

#[test]
fn what_a_runner_that_is_gone_has_left_is_removed() {
    let mut ward = Ward::new();
    touch(ward.dir.runner_lock(RunnerId(7)));
    touch(ward.dir.journal(RunnerId(7), 0));
    touch(ward.dir.spool(&ward.dir.journal(RunnerId(7), 0)));
    touch(ward.dir.wake().join("7"));
    assert_eq!(ward.checks(), ["stray file"; 4]);
    assert_eq!(ward.treat(), [""; 0]);
}

#[test]
fn what_a_runner_that_is_still_entered_has_left_is_kept_for_recover() {
    let mut ward = Ward::new();
    let runner = ward.runner();
    touch(ward.dir.runner_lock(runner));
    touch(ward.dir.spool(&ward.dir.journal(runner, 0)));
    assert_eq!(ward.checks(), ["no supervisor"]);
}

#[test]
fn traces_of_a_supervisor_that_outlived_its_runner_are_kept() {
    let mut ward = Ward::new();
    let _supervisor = hold(ward.dir.journal(RunnerId(7), 0));
    touch(ward.dir.wake().join("7"));
    assert_eq!(ward.examine(), []);
}

#[test]
fn an_output_without_an_attempt_is_removed_and_a_strangers_file_is_not() {
    let mut ward = Ward::new();
    touch(ward.dir.output(JobId(12), 1));
    touch(ward.dir.out().join("notes.txt"));
    assert_eq!(ward.checks(), ["stray output"]);
    assert_eq!(ward.treat(), [""; 0]);
    assert!(ward.dir.out().join("notes.txt").exists());
}

#[test]
fn the_output_of_an_attempt_that_runs_is_healthy() {
    let mut ward = Ward::new();
    let runner = ward.runner();
    let _lock = hold(ward.dir.runner_lock(runner));
    touch(ward.dir.output(JobId(1), 1));
    assert_eq!(ward.examine(), []);
}

#[test]
fn an_attempt_whose_output_file_is_gone_no_longer_claims_to_have_one() {
    let mut ward = Ward::new();
    let runner = ward.runner();
    let _lock = hold(ward.dir.runner_lock(runner));
    ward.sql("UPDATE ax_attempts SET output_in_file = 1");
    assert_eq!(ward.examine()[0].what, "the output file of attempt 1 of job 1 is gone");
    assert_eq!(ward.treat(), [""; 0]);
}

#[test]
fn what_others_can_read_is_closed_to_them() {
    let mut ward = Ward::new();
    for (path, mode) in [(ward.db.clone(), 0o640), (ward.dir.locks(), 0o755)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("opened up");
    }
    assert_eq!(ward.checks(), ["permissions"; 2]);
    assert_eq!(ward.treat(), [""; 0]);
    let mode = fs::metadata(&ward.db).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_file_in_the_place_of_a_directory_is_named() {
    let mut ward = Ward::new();
    fs::remove_dir(ward.dir.wake()).expect("removed");
    touch(ward.dir.wake());
    assert_eq!(ward.checks(), ["permissions"]);
}

#[test]
fn a_row_that_nobody_can_read_does_not_hide_the_rest() {
    let mut ward = Ward::new();
    ward.runner();
    ward.sql("PRAGMA ignore_check_constraints = ON; UPDATE ax_jobs SET timeout = -1");
    ward.sql("INSERT INTO ax_deps VALUES (1, 99, 'after')");
    assert_eq!(ward.checks(), ["nonsense", "missing parent"]);
}

#[test]
fn a_log_that_has_grown_large_is_emptied() {
    let mut ward = Ward::new();
    ward.sql(
        "CREATE TABLE other (bytes); PRAGMA wal_autocheckpoint = 0;
         INSERT INTO other VALUES (zeroblob(70000000)); DROP TABLE other",
    );
    assert_eq!(ward.checks(), ["log size"]);
    assert_eq!(ward.treat(), [""; 0]);
}

#[test]
fn nothing_is_written_to_a_damaged_file() {
    use crate::store::{Cure, Fault, FaultKind, Repair};
    let damage = Fault {
        kind: FaultKind::Corrupt,
        job: None,
        what: "the file is damaged".to_owned(),
        cure: Cure::Advice("take a back-up".to_owned()),
    };
    let drift = Fault {
        kind: FaultKind::ForeignKey,
        job: Some(JobId(1)),
        what: "job 1 does not exist, and yet has a history".to_owned(),
        cure: Cure::Repair(Repair::ForgetHistory),
    };
    let findings = super::store::findings(vec![damage, drift], true);
    assert!(findings.iter().all(|finding| finding.repair.is_none()));
}

#[test]
fn the_cure_of_a_missing_parent_works_also_when_the_job_was_skipped_meanwhile() {
    let mut ward = Ward::new();
    ward.sql(
        "INSERT INTO ax_jobs (id, command, status) VALUES (5, 'true', 'skipped');
         INSERT INTO ax_deps VALUES (5, 4242, 'after')",
    );
    assert_eq!(ward.checks(), ["missing parent"]);
    let gone = ward.store.unlink(JobId(5), &[JobId(4242)], SystemClock.now());
    assert_eq!(gone.expect("removed"), 1);
    assert_eq!(ward.examine(), []);
}

/// A hook of job 1 that runner 99 has taken, of which nobody has heard.
fn taken_hook(ward: &Ward, started_at: &str) {
    ward.sql(&format!(
        "INSERT INTO ax_jobs (id, command, status, finished_at) VALUES (1, 'true', 'success', 1767225600000);
         INSERT INTO ax_hooks (id, job_id, status, attempt, command, timeout, owed_at, owner, started_at)
         VALUES (7, 1, 'success', 0, 'true', 60000, 1767225600000, 99, {started_at})"
    ));
}

#[test]
fn a_hook_that_nobody_runs_is_for_the_next_runner() {
    for (started_at, cure) in [
        ("NULL", "the next `ax run` runs it"),
        ("1767225600000", "the next `ax run` tells it as unknown; it is not run again"),
    ] {
        let mut ward = Ward::new();
        taken_hook(&ward, started_at);
        let findings = ward.examine();
        assert_eq!((findings.len(), findings[0].check), (1, "no runner"), "{findings:?}");
        assert_eq!(
            findings[0].what,
            "a hook of job 1 is with a runner that is gone, and nobody runs it"
        );
        assert_eq!(findings[0].cure, cure);
    }
}

#[test]
fn a_hook_that_a_process_runs_is_healthy_and_what_it_leaves_is_cleared_away() {
    let mut ward = Ward::new();
    taken_hook(&ward, "1767225600000");
    let lock = hold(ward.dir.hook_lock(crate::job::hook::HookId(7)));
    touch(ward.dir.out().join("hook-7.spool"));
    assert_eq!(ward.examine(), []);
    drop(lock);
    ward.sql("UPDATE ax_hooks SET ended_at = 1767225600000, outcome = 'exited'");
    assert_eq!(ward.checks(), ["stray file", "stray file"]);
    assert_eq!(ward.treat(), Vec::<&str>::new());
}

#[test]
fn a_hook_with_nonsense_in_it_is_named() {
    let mut ward = Ward::new();
    taken_hook(&ward, "NULL");
    ward.sql(
        "PRAGMA ignore_check_constraints = on;
         UPDATE ax_hooks SET ended_at = 1767225600000, timeout = 0",
    );
    let findings = ward.examine();
    assert!(findings[0].what.starts_with("timeout of a hook of job 1 is 0"), "{findings:?}");
}
