//! What a person writes with the `sqlite3` shell (foreign keys off) is judged
//! like any other.

use ax_scheduler::job::{Job, JobId, Kind, NewJob, State, Timestamp};
use ax_scheduler::store::Revival;

use super::bench::{Bench, ROOM, START, after, child_of, job};

/// A store that somebody edits beside it.
fn edited(jobs: &[NewJob]) -> (Bench, rusqlite::Connection) {
    let mut bench = Bench::sqlite();
    bench.add_all(jobs);
    let shell = shell(&bench);
    (bench, shell)
}

/// The database as the `sqlite3` shell opens it.
pub(crate) fn shell(bench: &Bench) -> rusqlite::Connection {
    let shell = rusqlite::Connection::open(bench.path()).expect("it opens");
    shell.pragma_update(None, "foreign_keys", false).expect("a setting");
    shell
}

fn edit(shell: &rusqlite::Connection, sql: &str) {
    shell.execute_batch(sql).expect("an edit that the schema allows");
}

/// Where a job stands after what was edited has been judged.
fn judged(bench: &mut Bench, id: i64) -> (State, String) {
    bench.quiesce();
    let Job { state, reason, .. } = bench.job(JobId(id));
    (state, reason.unwrap_or_default())
}

#[test]
fn a_job_with_only_a_command_runs_with_the_defaults() {
    let (mut bench, shell) = edited(&[]);
    edit(&shell, "INSERT INTO ax_jobs (command) VALUES ('echo hi')");
    let written = bench.job(JobId(1));
    assert_eq!((written.state, written.priority), (State::Pending, 5));
    assert!(written.scheduled_at > START, "it is due from the moment it was written");
    bench.now = written.scheduled_at;
    let claimed = bench.turn(ROOM).claimed;
    assert_eq!(claimed[0].title, "echo hi");
    assert_eq!((&claimed[0].spec.env, &claimed[0].spec.cwd), (&None, &None));
}

#[test]
fn an_edge_makes_a_ready_job_wait() {
    let (mut bench, shell) = edited(&[job(), job()]);
    edit(&shell, "INSERT INTO ax_deps (job_id, depends_on) VALUES (1, 2)");
    let claimed = bench.turn(ROOM).claimed;
    assert_eq!(claimed.iter().map(|it| it.claim.job.0).collect::<Vec<_>>(), [2]);
    assert_eq!(bench.state(JobId(1)), State::Pending);
    bench.finish(JobId(2), State::Success);
    assert_eq!(judged(&mut bench, 1).0, State::Ready);
}

#[test]
fn an_edge_that_is_deleted_is_waited_for_no_more() {
    let (mut bench, shell) = edited(&[job()]);
    let child = bench.add(after(&[JobId(1)]));
    edit(&shell, "DELETE FROM ax_deps");
    assert_eq!(judged(&mut bench, child.0).0, State::Ready);
}

#[test]
fn an_edge_that_is_changed_is_judged_by_what_it_says_now() {
    let mut bench = Bench::sqlite();
    let dead = bench.add(job());
    bench.finish(dead, State::Dead);
    let parent = bench.add(job());
    let children = [bench.add(after(&[parent])), bench.add(after(&[parent]))];
    let shell = shell(&bench);
    edit(&shell, "UPDATE ax_deps SET depends_on = 1 WHERE job_id = 3");
    edit(&shell, "UPDATE ax_deps SET depends_on = 1, kind = 'on_failure' WHERE job_id = 4");
    bench.quiesce();
    assert_eq!(bench.states(&children), [State::Skipped, State::Ready]);
}

#[test]
fn an_edge_that_is_moved_to_another_job_leaves_the_first_free() {
    let (mut bench, shell) = edited(&[job(), job()]);
    let child = bench.add(after(&[JobId(1)]));
    edit(&shell, "UPDATE ax_deps SET job_id = 2");
    assert_eq!(judged(&mut bench, child.0).0, State::Ready);
    assert_eq!(judged(&mut bench, 2).0, State::Pending);
}

#[test]
fn a_parent_that_was_deleted_skips_those_that_need_it_and_frees_the_others() {
    let mut bench = Bench::sqlite();
    let parent = bench.add(job());
    let children = Kind::ALL.map(|kind| bench.add(child_of(parent, kind)));
    edit(&shell(&bench), "DELETE FROM ax_jobs WHERE id = 1");
    bench.quiesce();
    assert_eq!(bench.states(&children), [State::Skipped, State::Skipped, State::Ready]);
    assert_eq!(bench.reason(children[0]), "needs job 1, which does not exist");
}

#[test]
fn an_edge_to_a_parent_that_never_was_skips() {
    let (mut bench, shell) = edited(&[job()]);
    edit(&shell, "INSERT INTO ax_deps (job_id, depends_on) VALUES (1, 99)");
    let wanted = (State::Skipped, "needs job 99, which does not exist".to_owned());
    assert_eq!(judged(&mut bench, 1), wanted);
}

#[test]
fn an_edge_may_be_written_before_its_job() {
    let (mut bench, shell) = edited(&[job()]);
    edit(&shell, "INSERT INTO ax_deps (job_id, depends_on) VALUES (2, 1)");
    bench.quiesce();
    edit(&shell, "INSERT INTO ax_jobs (command, status) VALUES ('true', 'ready')");
    assert_eq!(judged(&mut bench, 2).0, State::Pending);
}

#[test]
fn a_parent_that_is_replaced_is_judged_by_what_it_is_now() {
    let (mut bench, shell) = edited(&[job()]);
    let child = bench.add(after(&[JobId(1)]));
    edit(&shell, "REPLACE INTO ax_jobs (id, command, status) VALUES (1, 'true', 'success')");
    assert_eq!(judged(&mut bench, child.0).0, State::Ready);
}

#[test]
fn a_parent_that_gets_another_id_is_gone() {
    let (mut bench, shell) = edited(&[job()]);
    let child = bench.add(after(&[JobId(1)]));
    edit(&shell, "UPDATE ax_jobs SET id = 77 WHERE id = 1");
    assert_eq!(judged(&mut bench, child.0).0, State::Skipped);
}

#[test]
fn a_self_edge_skips_and_says_so() {
    let (mut bench, shell) = edited(&[job()]);
    edit(&shell, "INSERT INTO ax_deps (job_id, depends_on) VALUES (1, 1)");
    let wanted = (State::Skipped, "waits for itself: 1 → 1".to_owned());
    assert_eq!(judged(&mut bench, 1), wanted);
}

#[test]
fn a_cycle_is_broken_and_named() {
    let (mut bench, shell) = edited(&[job(), job(), job()]);
    edit(&shell, "INSERT INTO ax_deps (job_id, depends_on) VALUES (1, 2), (2, 3), (3, 1)");
    let wanted = (State::Skipped, "waits for itself: 1 → 2 → 3 → 1".to_owned());
    assert_eq!(judged(&mut bench, 1), wanted);
    assert_eq!(judged(&mut bench, 3).1, "needs job 1, which is skipped");
    assert_eq!(judged(&mut bench, 2).1, "needs job 3, which is skipped");
}

#[test]
fn a_cycle_of_any_kind_does_not_wait_for_ever() {
    let (mut bench, shell) = edited(&[job(), job()]);
    edit(
        &shell,
        "INSERT INTO ax_deps (job_id, depends_on, kind)
         VALUES (1, 2, 'after_any'), (2, 1, 'after_any')",
    );
    assert_eq!(judged(&mut bench, 1).0, State::Skipped);
    assert_eq!(judged(&mut bench, 2).0, State::Ready);
}

#[test]
fn a_job_behind_two_cycles_that_is_in_one_is_named_in_its_own() {
    let (mut bench, shell) = edited(&[job(), job(), job(), job()]);
    edit(
        &shell,
        "INSERT INTO ax_deps (job_id, depends_on, kind)
         VALUES (1, 2, 'after_any'), (1, 4, 'after_any'), (2, 1, 'after_any'),
                (3, 4, 'after_any'), (4, 3, 'after_any')",
    );
    let wanted = (State::Skipped, "waits for itself: 1 → 2 → 1".to_owned());
    assert_eq!(judged(&mut bench, 1), wanted);
    assert_eq!(judged(&mut bench, 2).0, State::Ready);
    assert_eq!(judged(&mut bench, 3).1, "waits for itself: 3 → 4 → 3");
}

#[test]
fn a_cycle_that_was_written_while_a_job_was_held_is_found_when_it_goes_on() {
    let (mut bench, shell) = edited(&[NewJob { hold: true, ..job() }]);
    edit(&shell, "INSERT INTO ax_deps (job_id, depends_on) VALUES (1, 1)");
    assert_eq!(judged(&mut bench, 1).0, State::Held);
    bench.store.release(&[JobId(1)], START).expect("it goes on");
    assert_eq!(judged(&mut bench, 1).1, "waits for itself: 1 → 1");
}

#[test]
fn a_cycle_that_was_written_after_a_job_ended_is_found_when_it_comes_back() {
    let (mut bench, shell) = edited(&[job()]);
    bench.finish(JobId(1), State::Dead);
    edit(&shell, "INSERT INTO ax_deps (job_id, depends_on, kind) VALUES (1, 1, 'after_any')");
    bench.quiesce();
    let refused = bench.store.revive(&[JobId(1)], Revival::default(), START).expect_err("a cycle");
    assert_eq!(refused.to_string(), "the jobs would wait for each other: 1 → 1");
}

#[test]
fn a_long_chain_of_edges_is_judged_in_a_few_turns() {
    let (mut bench, shell) = edited(&vec![job(); 10_000]);
    edit(
        &shell,
        "INSERT INTO ax_deps (job_id, depends_on) SELECT id, id - 1 FROM ax_jobs WHERE id > 1",
    );
    let claimed = bench.turn(ROOM).claimed;
    assert_eq!(claimed.iter().map(|it| it.claim.job.0).collect::<Vec<_>>(), [1]);
    bench.quiesce();
    assert_eq!(bench.states(&[JobId(2), JobId(10_000)]), [State::Pending; 2]);
}

#[test]
fn an_end_that_a_person_wrote_frees_the_children() {
    let (mut bench, shell) = edited(&[job()]);
    let child = bench.add(after(&[JobId(1)]));
    edit(&shell, "UPDATE ax_jobs SET status = 'success' WHERE id = 1");
    assert_eq!(judged(&mut bench, child.0).0, State::Ready);
}

#[test]
fn an_end_that_a_person_corrected_is_judged_again() {
    let (mut bench, shell) = edited(&[job()]);
    bench.finish(JobId(1), State::Dead);
    let later = NewJob { scheduled_at: Timestamp::MAX, ..child_of(JobId(1), Kind::OnFailure) };
    let handler = bench.add(later);
    assert_eq!(bench.state(handler), State::Pending);
    edit(&shell, "UPDATE ax_jobs SET status = 'success' WHERE id = 1");
    assert_eq!(judged(&mut bench, handler.0).0, State::Skipped);
}

#[test]
fn how_a_person_has_conflicts_settled_changes_nothing_about_what_is_judged() {
    let judge = |edit: &str, conflict: &str| {
        let mut bench = Bench::sqlite();
        bench.add_all(&[job(), job()]);
        bench.add(after(&[JobId(1), JobId(2)]));
        bench.finish(JobId(1), State::Success);
        bench.finish(JobId(2), State::Success);
        let shell = shell(&bench);
        // An edge that is to be judged already, to a job that is not there yet.
        shell.execute_batch("INSERT INTO ax_deps (job_id, depends_on) VALUES (3, 5)").expect("SQL");
        let sql = edit.replace("OR", conflict);
        shell.execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let mut query = shell.prepare("SELECT job_id, edge FROM ax_judge").expect("SQL");
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
        rows.collect::<Result<Vec<(i64, i64)>, _>>().expect("read")
    };
    for edit in [
        "UPDATE OR ax_jobs SET status = 'pending'",
        "UPDATE OR ax_jobs SET id = 9 WHERE id = 1",
        "UPDATE OR ax_deps SET job_id = 4 WHERE depends_on = 1",
        "INSERT OR INTO ax_jobs (id, command) VALUES (5, 'true')",
    ] {
        let plain = judge(edit, "");
        for conflict in ["OR ABORT", "OR FAIL", "OR ROLLBACK", "OR REPLACE", "OR IGNORE"] {
            assert_eq!(judge(edit, conflict), plain, "{edit}: {conflict}");
        }
    }
}

#[test]
fn a_skipped_job_that_a_person_sets_to_pending_is_judged_and_not_just_run() {
    let (mut bench, shell) = edited(&[job()]);
    bench.finish(JobId(1), State::Dead);
    let child = bench.add(after(&[JobId(1)]));
    for status in ["pending", "ready"] {
        edit(&shell, &format!("UPDATE ax_jobs SET status = '{status}' WHERE id = 2"));
        let wanted = (State::Skipped, "needs job 1, which is dead".to_owned());
        assert_eq!(judged(&mut bench, child.0), wanted);
    }
}

#[test]
fn an_edge_that_a_person_writes_for_a_failed_job_delays_its_next_attempt() {
    let (mut bench, shell) = edited(&[job(), job()]);
    bench.finish(JobId(1), State::Failed);
    edit(&shell, "INSERT INTO ax_deps (job_id, depends_on) VALUES (1, 2)");
    assert_eq!(judged(&mut bench, 1).0, State::Pending);
    bench.finish(JobId(2), State::Success);
    assert!(bench.turn(ROOM).claimed.is_empty(), "its time has not come either");
    bench.pass(std::time::Duration::from_secs(5));
    assert_eq!(bench.turn(ROOM).claimed[0].claim.attempt, 2);
}

#[test]
fn an_edge_of_a_job_that_was_deleted_does_not_hinder_a_retry() {
    let (mut bench, shell) = edited(&[job()]);
    bench.add(after(&[JobId(1)]));
    bench.finish(JobId(1), State::Dead);
    edit(&shell, "DELETE FROM ax_jobs WHERE id = 2");
    for downstream in [false, true] {
        let how = Revival { downstream, dry_run: true, ..Revival::default() };
        let moved = bench.store.revive(&[JobId(1)], how, START).expect("it comes back");
        assert_eq!(moved.len(), 1);
    }
}

#[test]
fn an_id_is_not_given_again_after_its_row_was_deleted() {
    let (mut bench, shell) = edited(&[job(), job()]);
    edit(&shell, "DELETE FROM ax_jobs WHERE id = 2");
    assert_eq!(bench.add(job()), JobId(3));
    edit(&shell, "DELETE FROM ax_jobs");
    assert_eq!(bench.add_all(&[job(), job()]), [JobId(4), JobId(5)]);
}
