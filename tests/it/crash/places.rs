//! The places, alone and in pairs.

use super::die_at;

/// A test for each list of places.
macro_rules! die_at {
    ($($name:ident: $places:literal)*) => { $(
        #[test]
        fn $name() {
            die_at($places);
        }
    )* };
}

// The runner.
die_at! {
    before_a_runner_is_entered: "enlist/before-commit={later}return"
    after_a_runner_is_entered: "enlist/after-commit={later}return"
    before_a_lock_is_held: "lock/before-flock={later}return"
    before_a_lock_loses_its_hidden_name: "lock/before-unlink={later}return"
    before_a_turn: "turn/before-begin={later}return"
    before_a_turn_is_committed: "turn/before-commit={later}return"
    after_a_turn_is_committed: "turn/after-commit={later}return"
    before_claimed_jobs_reach_a_worker: "step/before-submit={later}return"
    before_stored_output_is_removed: "step/before-removal={later}return"
    before_a_supervisor_is_started: "supervisor/before-spawn={later}return"
    after_a_supervisor_is_started: "supervisor/after-spawn={later}return"
    before_a_job_is_handed_over: "order/before-send={later}return"
    before_a_runner_is_struck_out: "discharge/before-commit={later}return"
    after_a_runner_is_struck_out: "discharge/after-commit={later}return"
    before_a_lock_is_removed: "leave/before-lock={later}return"
}

// The supervisor; its runner finds it dead.
die_at! {
    before_a_journal_is_written: "journal/before-write={later}return"
    after_a_journal_is_written: "journal/after-write={later}return"
    after_a_spool_is_made: "spool/after-create={later}return"
    before_an_output_gets_its_name: "spool/before-name={later}return"
    after_an_output_gets_its_name: "spool/after-name={later}return"
    before_an_intent: "start/before-intent={later}return"
    between_intent_and_fence: "start/before-fence={later}return"
    between_fence_and_start: "start/before-spawn={later}return"
    between_start_and_journal: "start/after-spawn={later}return"
    after_a_start_is_in_the_journal: "start/after-journal={later}return"
    before_a_start_is_reported: "start/before-report={later}return"
    between_an_end_and_its_output: "end/before-capture={later}return"
    between_an_end_and_the_journal: "end/before-journal={later}return"
    between_an_end_in_the_journal_and_its_report: "end/before-report={later}return"
    after_an_end_is_reported: "end/after-report={later}return"
    before_a_supervisor_clears_its_spool: "leave/before-spool={later}return"
    before_a_supervisor_clears_its_journal: "leave/before-journal={later}return"
}

// A supervisor, and its runner as it finds out.
die_at! {
    an_intent_and_nobody: "start/before-fence={later}return; bury/before-look=return"
    a_passed_fence_and_nobody: "start/before-spawn={later}return; bury/before-look=return"
    a_job_and_nobody_who_knows: "start/after-spawn={later}return; bury/before-look=return"
    a_job_and_nobody: "start/after-journal={later}return; bury/before-look=return"
    a_told_job_and_nobody: "start/before-report={later}return; bury/before-look=return"
    an_end_that_nobody_saw: "end/before-journal={later}return; bury/before-look=return"
    an_end_in_the_journal_and_nobody: "end/before-report={later}return; bury/before-look=return"
    a_named_output_and_nobody: "spool/after-name={later}return; bury/before-look=return"
    a_burial_that_nobody_reports: "start/after-journal={later}return; bury/before-reaping=return"
}

// A runner, and its supervisors as they go on without it.
die_at! {
    orphans_that_die_before_they_record:
        "step/before-submit=1*off->return; orphan/before-redirect={later}return"
    orphans_that_die_as_they_record:
        "step/before-removal=2*off->return; record/before-turn={later}return"
    orphans_that_die_when_they_have_recorded:
        "turn/before-begin=3*off->return; record/after-turn={later}return"
    orphans_that_die_as_they_leave:
        "turn/after-commit=2*off->return; leave/before-journal={later}return"
    starts_without_a_runner: "step/before-submit=1*off->return; start/before-fence={later}return"
    ends_without_a_runner: "turn/before-commit=2*off->return; end/before-report={later}return"
}

// A runner, and the next as it finds what was left.
die_at! {
    a_recovery_before_it_is_stored: "step/before-submit={later}return; recover/before-turn=return"
    a_recovery_after_it_is_stored: "step/before-submit={later}return; recover/after-turn=return"
    a_recovery_of_lost_jobs: "start/after-journal={later}return; bury/before-look=return; \
         recover/before-turn=return; recover/after-turn=return"
    a_recovery_before_it_clears_away:
        "turn/after-commit={later}return; recover/before-clearing=return"
    a_recovery_after_it_has_cleared_away:
        "turn/after-commit={later}return; recover/after-clearing=return"
}
