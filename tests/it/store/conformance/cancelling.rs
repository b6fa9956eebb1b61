//! What ends jobs by a person's word, and who wins against their own end.

use std::time::Duration;

use ax_scheduler::job::{Event, JobId, Kind, NewJob, Outcome, RunnerId, State, Verdict};
use ax_scheduler::store::{Cancel, Cancelling, Error, Revival};

use crate::store::bench::{Bench, ROOM, START, after, child_of, job};

promises![
    a_job_that_nobody_has_in_hand_ends_at_once,
    a_job_that_runs_is_marked_and_its_runner_is_told,
    a_stopped_job_is_cancelled_with_the_reason_of_the_person,
    a_success_that_comes_first_wins,
    an_end_without_retries_that_comes_first_wins,
    a_job_that_would_be_tried_again_is_cancelled_instead,
    a_claim_that_is_given_back_is_cancelled_and_uses_no_attempt,
    a_lost_attempt_is_cancelled_whatever_its_policy,
    a_job_that_a_shutdown_stops_is_cancelled_and_not_put_back,
    a_mark_is_gone_with_the_attempt,
    children_that_need_a_cancelled_job_are_skipped_and_others_run,
    downstream_ends_everything_after_it_and_nothing_that_has_ended,
    a_dry_run_says_what_would_be_and_does_nothing,
    cancelling_a_cancelled_job_changes_nothing,
    a_job_that_has_ended_cannot_be_cancelled,
    cancelling_is_all_or_none,
    a_cancelled_job_can_be_retried,
];

fn cancel(bench: &mut Bench, ids: &[JobId]) -> Cancelling {
    let how = Cancel { reason: Some("wrong day".to_owned()), ..Cancel::default() };
    bench.store.cancel(ids, &how, bench.now).expect("a word")
}

/// A job that runs and is to end.
fn marked(bench: &mut Bench) -> JobId {
    let id = bench.add(job());
    bench.start(id);
    assert_eq!(cancel(bench, &[id]).asked[0].claim.job, id);
    id
}

fn a_job_that_nobody_has_in_hand_ends_at_once(bench: &mut Bench) {
    let failed = bench.add(job());
    bench.finish(failed, State::Failed);
    let held = bench.add(job());
    bench.finish(held, State::Held);
    let ids = [bench.add(after(&[failed])), bench.add(job()), failed, held];
    let cancelling = cancel(bench, &ids);
    assert!(cancelling.asked.is_empty());
    let moved: Vec<_> = cancelling.moved.iter().map(|moved| (moved.job, moved.event)).collect();
    assert_eq!(moved, ids.map(|id| (id, Event::Cancel)));
    assert_eq!(bench.states(&ids), [State::Cancelled; 4]);
    assert_eq!(bench.reason(ids[0]), "wrong day");
    bench.pass(Duration::from_hours(1));
    assert!(bench.turn(ROOM).claimed.is_empty());
}

fn a_job_that_runs_is_marked_and_its_runner_is_told(bench: &mut Bench) {
    let ids = bench.add_all(&[job(), job(), job()]);
    let claims = [bench.take(ids[0]).claim, bench.start(ids[1]).claim];
    assert!(bench.turn(0).cancels.is_empty());
    let asked = cancel(bench, &ids[..2]).asked;
    assert_eq!(asked.iter().map(|asked| asked.claim).collect::<Vec<_>>(), claims);
    assert_eq!(bench.states(&ids[..2]), [State::Dispatched, State::Running]);
    assert_eq!(bench.turn(0).cancels, claims);
    assert_eq!(bench.store.cancels(bench.runner).expect("an answer"), claims);
    let other = RunnerId(99);
    assert!(bench.store.cancels(other).expect("an answer").is_empty());
}

fn a_stopped_job_is_cancelled_with_the_reason_of_the_person(bench: &mut Bench) {
    let id = marked(bench);
    let turned = bench.end(id, Outcome::Cancelled);
    assert!(turned.late.is_empty() && turned.overruled.is_empty() && turned.cancels.is_empty());
    assert_eq!((bench.state(id), bench.reason(id).as_str()), (State::Cancelled, "wrong day"));
    assert_eq!(bench.attempts(id)[0].outcome.as_deref(), Some("cancelled"));
}

fn a_success_that_comes_first_wins(bench: &mut Bench) {
    let id = marked(bench);
    let turned = bench.end(id, Outcome::Exited(0));
    assert!(turned.overruled.is_empty() && turned.cancels.is_empty());
    assert_eq!(bench.state(id), State::Success);
}

fn an_end_without_retries_that_comes_first_wins(bench: &mut Bench) {
    let id = marked(bench);
    bench.finish(id, State::Dead);
}

fn ends_cancelled(bench: &mut Bench, outcome: Outcome) -> JobId {
    let id = marked(bench);
    let claim = bench.take(id).claim;
    let turned = bench.end(id, outcome);
    assert_eq!(turned.overruled, [(claim, Verdict::Cancelled)]);
    assert_eq!((bench.state(id), bench.reason(id).as_str()), (State::Cancelled, "wrong day"));
    id
}

fn a_job_that_would_be_tried_again_is_cancelled_instead(bench: &mut Bench) {
    let id = ends_cancelled(bench, Outcome::Exited(1));
    assert_eq!(bench.attempts(id)[0].exit_code, Some(1));
}

fn a_claim_that_is_given_back_is_cancelled_and_uses_no_attempt(bench: &mut Bench) {
    let id = bench.add(job());
    bench.take(id);
    cancel(bench, &[id]);
    bench.end(id, Outcome::NotStarted("the runner stops".into()));
    assert_eq!((bench.state(id), bench.job(id).attempts), (State::Cancelled, 0));
}

fn a_lost_attempt_is_cancelled_whatever_its_policy(bench: &mut Bench) {
    ends_cancelled(bench, Outcome::Lost("its supervisor was killed".into()));
    let id = marked(bench);
    let claim = bench.take(id).claim;
    let held = bench.settlement(claim, Outcome::Lost("power cut".into()), Verdict::Held);
    assert_eq!(bench.turn_with(0, &[held]).overruled, [(claim, Verdict::Cancelled)]);
    assert_eq!(bench.state(id), State::Cancelled);
}

fn a_job_that_a_shutdown_stops_is_cancelled_and_not_put_back(bench: &mut Bench) {
    ends_cancelled(bench, Outcome::Interrupted);
}

fn a_mark_is_gone_with_the_attempt(bench: &mut Bench) {
    let id = ends_cancelled(bench, Outcome::Exited(1));
    bench.store.revive(&[id], Revival::default(), START).expect("it comes back");
    bench.start(id);
    assert!(bench.turn(0).cancels.is_empty());
    bench.end(id, Outcome::Exited(1));
    assert_eq!(bench.state(id), State::Failed);
}

fn children_that_need_a_cancelled_job_are_skipped_and_others_run(bench: &mut Bench) {
    let parent = marked(bench);
    let kinds = [Kind::After, Kind::OnFailure, Kind::AfterAny];
    let children = kinds.map(|kind| bench.add(child_of(parent, kind)));
    bench.end(parent, Outcome::Cancelled);
    bench.quiesce();
    assert_eq!(bench.states(&children), [State::Skipped, State::Skipped, State::Ready]);
    let later = NewJob { scheduled_at: START.plus(Duration::from_hours(1)), ..job() };
    let waits = bench.add(later);
    let child = bench.add(after(&[waits]));
    let moved = cancel(bench, &[waits]).moved;
    assert_eq!((moved[1].job, moved[1].event), (child, Event::Skip));
}

fn downstream_ends_everything_after_it_and_nothing_that_has_ended(bench: &mut Bench) {
    let first = bench.add(job());
    bench.start(first);
    let second = bench.add(child_of(first, Kind::AfterAny));
    let third = bench.add(after(&[second]));
    let ended = bench.add(job());
    bench.finish(ended, State::Success);
    let other = bench.add(job());
    let how = Cancel { downstream: true, ..Cancel::default() };
    let cancelling = bench.store.cancel(&[first], &how, START).expect("a word");
    assert_eq!(cancelling.asked[0].claim.job, first);
    assert_eq!(cancelling.moved.len(), 2);
    let states = [State::Running, State::Cancelled, State::Cancelled, State::Success, State::Ready];
    assert_eq!(bench.states(&[first, second, third, ended, other]), states);
    assert_eq!(bench.reason(third), "cancelled by a person");
}

fn a_dry_run_says_what_would_be_and_does_nothing(bench: &mut Bench) {
    let ids = bench.add_all(&[job(), job()]);
    bench.take(ids[0]);
    let waits = bench.add(after(&[ids[0]]));
    let how = Cancel { dry_run: true, ..Cancel::default() };
    let cancelling = bench.store.cancel(&[ids[0], waits], &how, START).expect("an answer");
    assert_eq!((cancelling.asked.len(), cancelling.moved.len()), (1, 1));
    assert_eq!(bench.state(waits), State::Pending);
    assert!(bench.turn(0).cancels.is_empty());
}

fn cancelling_a_cancelled_job_changes_nothing(bench: &mut Bench) {
    let id = bench.add(job());
    cancel(bench, &[id]);
    let before = bench.job(id);
    let again = bench.store.cancel(&[id], &Cancel::default(), bench.now).expect("no matter");
    assert!(again.moved.is_empty() && again.asked.is_empty());
    assert_eq!(bench.job(id), before);
}

fn a_job_that_has_ended_cannot_be_cancelled(bench: &mut Bench) {
    for end in [State::Success, State::Dead] {
        let id = bench.add(job());
        bench.finish(id, end);
        let refused = bench.store.cancel(&[id], &Cancel::default(), START).expect_err("it ended");
        let Error::WrongState { job, state, .. } = refused else { panic!("{refused}") };
        assert_eq!((job, state), (id, end));
    }
}

fn cancelling_is_all_or_none(bench: &mut Bench) {
    let ready = bench.add(job());
    let runs = bench.add(job());
    bench.start(runs);
    bench.store.cancel(&[ready, runs, JobId(9)], &Cancel::default(), START).expect_err("no job 9");
    assert!(!bench.state(ready).is_final());
    assert!(bench.turn(0).cancels.is_empty());
}

fn a_cancelled_job_can_be_retried(bench: &mut Bench) {
    let id = bench.add(job());
    cancel(bench, &[id]);
    bench.store.revive(&[id], Revival::default(), START).expect("it comes back");
    assert_eq!(bench.turn(ROOM).claimed[0].claim.job, id);
}
