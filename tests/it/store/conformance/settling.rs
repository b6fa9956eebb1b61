//! What becomes of a job after an attempt, and of results that come too late.

use std::time::Duration;

use ax_scheduler::job::{
    Captured, Claim, Event, NewJob, OnLost, Outcome, RunnerId, Settlement, State, Verdict,
};
use ax_scheduler::store::{Started, Turn};

use crate::store::bench::{Bench, ROOM, START, job, process};

promises![
    a_start_is_written_with_its_process,
    a_start_that_comes_too_late_changes_nothing,
    a_success_ends_the_job_and_its_attempt,
    a_short_attempt_may_end_without_a_start,
    a_failure_schedules_the_next_attempt_and_counts_a_retry,
    a_failure_without_retries_is_the_end,
    three_retries_are_four_starts_each_with_its_own_history,
    a_claim_that_is_given_back_uses_no_attempt,
    a_shutdown_uses_an_attempt_and_no_retry,
    a_lost_attempt_is_counted_apart_from_failures,
    a_job_that_is_lost_too_often_is_held_and_says_why,
    a_job_that_holds_on_loss_is_held_at_the_first,
    a_result_of_a_wrong_owner_changes_nothing,
    a_result_of_an_older_attempt_goes_to_the_history_alone,
    a_result_of_a_job_that_has_ended_changes_nothing,
    the_same_result_told_twice_is_no_news,
    a_claim_given_back_twice_is_harmless,
    short_output_is_kept_byte_for_byte,
    long_output_is_told_to_be_in_a_file,
    a_late_result_that_is_told_again_is_noted_once,
    a_claim_that_is_lost_before_its_start_is_no_loss,
    a_cancelled_attempt_ends_the_job,
];

fn a_start_is_written_with_its_process(bench: &mut Bench) {
    let id = bench.add(job());
    bench.start(id);
    let running = bench.job(id);
    assert_eq!((running.state, running.runs_at), (State::Running, Some(START)));
    let attempt = &bench.attempts(id)[0];
    assert_eq!((attempt.pid, attempt.started_at), (Some(815), Some(START)));
}

fn a_start_that_comes_too_late_changes_nothing(bench: &mut Bench) {
    let id = bench.add(job());
    let claim = bench.take(id).claim;
    bench.finish(id, State::Success);
    let before = bench.job(id);
    let late = [Started { claim, process: process(START.plus(Duration::from_secs(5))) }];
    let turn = Turn { started: &late, ..bench.empty_turn(0) };
    bench.store.turn(&turn).expect("a turn");
    assert_eq!(bench.job(id), before);
}

fn a_success_ends_the_job_and_its_attempt(bench: &mut Bench) {
    let id = bench.add(job());
    bench.start(id);
    bench.pass(Duration::from_secs(3));
    bench.end(id, Outcome::Exited(0));
    let ended = bench.job(id);
    assert_eq!((ended.state, ended.exit_code, ended.owner), (State::Success, Some(0), None));
    assert_eq!(ended.finished_at, Some(bench.now));
    assert_eq!((ended.last_error, ended.policy.retry_count), (None, 0));
    let attempt = &bench.attempts(id)[0];
    assert_eq!(attempt.outcome.as_deref(), Some("exited"));
    assert_eq!((attempt.exit_code, attempt.ended_at), (Some(0), Some(bench.now)));
}

fn a_short_attempt_may_end_without_a_start(bench: &mut Bench) {
    let id = bench.add(job());
    bench.end(id, Outcome::Signaled(9));
    let failed = bench.job(id);
    assert_eq!((failed.state, failed.signal, failed.exit_code), (State::Failed, Some(9), None));
    assert_eq!(failed.runs_at, Some(START));
    assert_eq!(bench.attempts(id)[0].pid, Some(815));
}

fn a_failure_schedules_the_next_attempt_and_counts_a_retry(bench: &mut Bench) {
    let id = bench.add(job());
    bench.end(id, Outcome::Exited(7));
    let failed = bench.job(id);
    assert_eq!(failed.state, State::Failed);
    assert_eq!(failed.scheduled_at, START.plus(Duration::from_secs(5)));
    assert_eq!((failed.policy.retry_count, failed.attempts), (1, 1));
    assert_eq!((failed.exit_code, failed.last_error.as_deref()), (Some(7), Some("exit 7")));
}

fn a_failure_without_retries_is_the_end(bench: &mut Bench) {
    let id = bench.add(NewJob { max_retries: 0, ..job() });
    bench.end(id, Outcome::TimedOut(Duration::from_mins(1)));
    let dead = bench.job(id);
    assert_eq!((dead.state, dead.policy.retry_count), (State::Dead, 0));
    let error = dead.last_error.as_deref();
    assert_eq!(error, Some("timed out after 60 s; raise it with --timeout"));
}

fn three_retries_are_four_starts_each_with_its_own_history(bench: &mut Bench) {
    let id = bench.add(job());
    while bench.state(id) != State::Dead {
        bench.end(id, Outcome::Exited(1));
        bench.pass(Duration::from_hours(1));
    }
    let numbers: Vec<_> = bench.attempts(id).iter().map(|it| it.attempt).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!(bench.job(id).policy.retry_count, 3);
}

fn a_claim_that_is_given_back_uses_no_attempt(bench: &mut Bench) {
    let id = bench.add(job());
    bench.end(id, Outcome::Exited(1));
    bench.pass(Duration::from_secs(5));
    let claim = bench.take(id).claim;
    assert_eq!(claim.attempt, 2);
    let mut back = bench.settlement(
        claim,
        Outcome::NotStarted("too many open files".into()),
        Verdict::GiveBack,
    );
    back.process = None;
    bench.turn_with(0, &[back]);
    let ready = bench.job(id);
    assert_eq!((ready.state, ready.attempts, ready.owner), (State::Ready, 1, None));
    assert_eq!((ready.exit_code, ready.policy.retry_count), (Some(1), 1));
    assert_eq!(bench.attempts(id).len(), 1);
    assert_eq!(bench.take(id).claim.attempt, 2);
}

fn a_shutdown_uses_an_attempt_and_no_retry(bench: &mut Bench) {
    let id = bench.add(job());
    bench.start(id);
    bench.end(id, Outcome::Interrupted);
    let ready = bench.job(id);
    assert_eq!((ready.state, ready.attempts, ready.owner), (State::Ready, 1, None));
    assert_eq!(ready.policy.retry_count, 0);
    assert_eq!(bench.attempts(id)[0].outcome.as_deref(), Some("interrupted"));
    assert_eq!(bench.take(id).claim.attempt, 2);
}

fn lose(bench: &mut Bench, id: ax_scheduler::job::JobId) {
    bench.start(id);
    bench.end(id, Outcome::Lost("its supervisor was killed".into()));
    bench.pass(Duration::from_hours(1));
}

fn a_lost_attempt_is_counted_apart_from_failures(bench: &mut Bench) {
    let id = bench.add(job());
    lose(bench, id);
    let failed = bench.job(id);
    assert_eq!((failed.state, failed.policy.losses), (State::Failed, 1));
    assert_eq!(failed.policy.retry_count, 1);
    assert_eq!((failed.exit_code, failed.signal), (None, None));
    assert_eq!(bench.attempts(id)[0].outcome.as_deref(), Some("lost"));
}

fn a_job_that_is_lost_too_often_is_held_and_says_why(bench: &mut Bench) {
    let id = bench.add(NewJob { max_retries: 100, ..job() });
    for _ in 0..3 {
        lose(bench, id);
    }
    let held = bench.job(id);
    assert_eq!((held.state, held.policy.losses, held.owner), (State::Held, 3, None));
    assert_eq!(held.reason.as_deref(), Some("outcome unknown: its supervisor was killed"));
    assert!(bench.turn(ROOM).claimed.is_empty());
}

fn a_job_that_holds_on_loss_is_held_at_the_first(bench: &mut Bench) {
    let id = bench.add(NewJob { on_lost: OnLost::Hold, ..job() });
    lose(bench, id);
    assert_eq!(bench.state(id), State::Held);
}

fn a_result_of_a_wrong_owner_changes_nothing(bench: &mut Bench) {
    let id = bench.add(job());
    let claim = bench.take(id).claim;
    let before = (bench.job(id), bench.attempts(id));
    let stranger = Claim { owner: RunnerId(99), ..claim };
    let settlement = bench.settlement(stranger, Outcome::Exited(0), Verdict::Success);
    assert_eq!(bench.turn_with(0, &[settlement]).late, [stranger]);
    assert_eq!((bench.job(id), bench.attempts(id)), before);
}

fn a_result_of_an_older_attempt_goes_to_the_history_alone(bench: &mut Bench) {
    let id = bench.add(job());
    let old = bench.take(id).claim;
    lose(bench, id);
    let claim = bench.take(id).claim;
    assert_eq!(claim.attempt, 2);
    let before = bench.job(id);
    let late = bench.settlement(old, Outcome::Exited(0), Verdict::Success);
    assert_eq!(bench.turn_with(0, &[late]).late, [old]);
    assert_eq!(bench.job(id), before);
    let history = bench.attempts(id);
    assert_eq!(history[0].outcome.as_deref(), Some("lost"));
    let reason = history[0].reason.as_deref().unwrap_or_default();
    assert!(reason.ends_with("; reported later: success"), "{reason}");
    assert_eq!(history[1].reason, None);
}

fn a_result_of_a_job_that_has_ended_changes_nothing(bench: &mut Bench) {
    let id = bench.add(NewJob { on_lost: OnLost::Fail, ..job() });
    let claim = bench.start(id).claim;
    bench.end(id, Outcome::Lost("gone".into()));
    let before = bench.job(id);
    assert_eq!(before.state, State::Dead);
    let late = bench.settlement(claim, Outcome::Exited(3), Verdict::Retry(START));
    assert_eq!(bench.turn_with(0, &[late]).late, [claim]);
    assert_eq!(bench.job(id), before);
}

fn the_same_result_told_twice_is_no_news(bench: &mut Bench) {
    let id = bench.add(job());
    let claim = bench.take(id).claim;
    let verdict = Verdict::Retry(START.plus(Duration::from_secs(5)));
    let settlement = bench.settlement(claim, Outcome::Exited(3), verdict);
    bench.turn_with(0, std::slice::from_ref(&settlement));
    let before = (bench.job(id), bench.attempts(id));
    assert!(bench.turn_with(0, &[settlement]).late.is_empty());
    assert_eq!((bench.job(id), bench.attempts(id)), before);
}

fn a_claim_given_back_twice_is_harmless(bench: &mut Bench) {
    let id = bench.add(job());
    let claim = bench.take(id).claim;
    let back = Settlement {
        process: None,
        ..bench.settlement(claim, Outcome::NotStarted("no room".into()), Verdict::GiveBack)
    };
    bench.turn_with(0, &[back.clone(), back]);
    let ready = bench.job(id);
    assert_eq!((ready.state, ready.attempts), (State::Ready, 0));
}

fn short_output_is_kept_byte_for_byte(bench: &mut Bench) {
    let id = bench.add(job());
    let claim = bench.take(id).claim;
    let output = Captured {
        bytes: b"a\0b\xff\n".to_vec(),
        written: 5,
        in_file: false,
        last_line: "no such table".into(),
    };
    let settlement =
        Settlement { output, ..bench.settlement(claim, Outcome::Exited(1), Verdict::Dead) };
    bench.turn_with(0, &[settlement]);
    assert_eq!(bench.store.output(id, 1).expect("an answer"), Some(b"a\0b\xff\n".to_vec()));
    assert_eq!(bench.store.output(id, 2).expect("an answer"), None);
    assert_eq!(bench.job(id).last_error.as_deref(), Some("no such table"));
    assert_eq!(bench.attempts(id)[0].output_bytes, 5);
    assert!(bench.store.output_files().expect("an answer").is_empty());
}

fn long_output_is_told_to_be_in_a_file(bench: &mut Bench) {
    let id = bench.add(job());
    let claim = bench.take(id).claim;
    let output = Captured { written: 1 << 40, in_file: true, ..Captured::default() };
    let settlement =
        Settlement { output, ..bench.settlement(claim, Outcome::Exited(0), Verdict::Success) };
    bench.turn_with(0, &[settlement]);
    assert_eq!(bench.store.output(id, 1).expect("an answer"), None);
    assert_eq!(bench.store.output_files().expect("an answer"), [(id, 1)]);
    let attempt = &bench.attempts(id)[0];
    assert_eq!((attempt.output_bytes, attempt.output_in_file), (1 << 40, true));
}

fn a_late_result_that_is_told_again_is_noted_once(bench: &mut Bench) {
    let id = bench.add(job());
    let claim = bench.start(id).claim;
    bench.end(id, Outcome::Lost("gone".into()));
    let late = bench.settlement(claim, Outcome::Exited(0), Verdict::Success);
    for _ in 0..2 {
        assert_eq!(bench.turn_with(0, std::slice::from_ref(&late)).late, [claim]);
    }
    let reason = bench.attempts(id)[0].reason.clone();
    assert_eq!(reason.as_deref(), Some("outcome unknown: gone; reported later: success"));
}

fn a_claim_that_is_lost_before_its_start_is_no_loss(bench: &mut Bench) {
    let id = bench.add(job());
    let claim = bench.take(id).claim;
    let lost = Outcome::Lost("its runner died".into());
    let back = Settlement { process: None, ..bench.settlement(claim, lost, Verdict::GiveBack) };
    bench.turn_with(0, &[back]);
    let ready = bench.job(id);
    assert_eq!((ready.state, ready.attempts, ready.policy.losses), (State::Ready, 0, 0));
    assert_eq!(ready.last_error, None);
}

fn a_cancelled_attempt_ends_the_job(bench: &mut Bench) {
    let id = bench.add(job());
    bench.start(id);
    bench.end(id, Outcome::Cancelled);
    assert_eq!(bench.state(id), State::Cancelled);
    assert!(Event::Cancel.allows(State::Running));
}
