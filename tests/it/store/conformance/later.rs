//! Attempts that want to come again later, and what they say of themselves.

use std::time::Duration;

use ax_scheduler::job::verdict::{LATER, SOONEST};
use ax_scheduler::job::{Codes, JobId, NewJob, Outcome, State, Timestamp, Verdict};
use ax_scheduler::store::{Cancel, Error, Revival, Said};

use crate::store::bench::{Bench, ROOM, START, after, job};

promises![
    a_job_that_wants_to_come_later_comes_after_its_retry_delay_and_uses_no_retry,
    a_job_that_never_ends_does_not_spin,
    children_wait_for_a_job_that_comes_later,
    a_clock_that_is_set_back_delays_nobody_who_comes_later,
    a_snooze_says_when_the_job_comes_again,
    a_snooze_of_an_attempt_that_fails_changes_nothing,
    a_snooze_holds_for_its_attempt_alone,
    a_cancel_goes_before_a_snooze,
    progress_is_kept_until_the_next_attempt,
    only_an_attempt_that_runs_says_something,
    codes_are_kept_and_handed_on,
];

fn say(bench: &mut Bench, job: JobId, said: &Said) {
    let attempt = bench.job(job).attempts;
    bench.store.say(job, attempt, said, bench.now).expect("it runs");
}

fn in_minutes(bench: &Bench, minutes: u64) -> Timestamp {
    bench.now.plus(Duration::from_mins(minutes))
}

fn a_job_that_wants_to_come_later_comes_after_its_retry_delay_and_uses_no_retry(bench: &mut Bench) {
    let id = bench.add(NewJob { max_retries: 0, ..job() });
    for attempt in 1..5 {
        bench.end(id, Outcome::Exited(LATER));
        let job = bench.job(id);
        assert_eq!((job.state, job.attempts, job.policy.retry_count), (State::Pending, attempt, 0));
        assert_eq!(
            (job.exit_code, job.scheduled_at),
            (Some(LATER), bench.now.plus(job.policy.delay))
        );
        assert!(bench.turn(ROOM).claimed.is_empty());
        bench.pass(Duration::from_secs(5));
    }
    bench.end(id, Outcome::Exited(0));
    assert_eq!(bench.state(id), State::Success);
}

fn a_job_that_never_ends_does_not_spin(bench: &mut Bench) {
    let id = bench.add(NewJob { retry_delay: Duration::ZERO, ..job() });
    bench.end(id, Outcome::Exited(LATER));
    assert_eq!(bench.turn(ROOM).next_due, Some(bench.now.plus(SOONEST)));
    bench.pass(SOONEST);
    bench.start(id);
    say(bench, id, &Said::Snooze(bench.now));
    bench.end(id, Outcome::Exited(0));
    assert_eq!(bench.turn(ROOM).next_due, Some(bench.now.plus(SOONEST)));
}

fn children_wait_for_a_job_that_comes_later(bench: &mut Bench) {
    let parent = bench.add(job());
    let child = bench.add(after(&[parent]));
    bench.end(parent, Outcome::Exited(LATER));
    bench.quiesce();
    assert_eq!(bench.state(child), State::Pending);
}

fn a_clock_that_is_set_back_delays_nobody_who_comes_later(bench: &mut Bench) {
    let id = bench.add(job());
    bench.pass(Duration::from_hours(2));
    bench.end(id, Outcome::Exited(LATER));
    bench.now = START;
    assert_eq!(bench.turn(ROOM).next_due, Some(START.plus(Duration::from_secs(5))));
}

fn a_snooze_says_when_the_job_comes_again(bench: &mut Bench) {
    for code in [0, LATER] {
        let id = bench.add(job());
        let claim = bench.start(id).claim;
        let until = in_minutes(bench, 30);
        say(bench, id, &Said::Snooze(in_minutes(bench, 7)));
        say(bench, id, &Said::Snooze(until));
        let turned = bench.end(id, Outcome::Exited(code));
        assert_eq!(turned.overruled, [(claim, Verdict::Later(until))]);
        let job = bench.job(id);
        assert_eq!((job.state, job.scheduled_at), (State::Pending, until));
        assert_eq!(job.policy.retry_count, 0);
        assert!(bench.turn(ROOM).claimed.is_empty());
        bench.pass(Duration::from_mins(30));
        assert_eq!(bench.turn(ROOM).claimed[0].claim.attempt, 2);
        bench.end(id, Outcome::Exited(0));
        assert_eq!(bench.state(id), State::Success);
    }
}

fn a_snooze_of_an_attempt_that_fails_changes_nothing(bench: &mut Bench) {
    for (outcome, state) in [
        (Outcome::Exited(1), State::Failed),
        (Outcome::Signaled(9), State::Failed),
        (Outcome::Interrupted, State::Ready),
    ] {
        let id = bench.add(job());
        bench.start(id);
        say(bench, id, &Said::Snooze(in_minutes(bench, 30)));
        assert!(bench.end(id, outcome).overruled.is_empty());
        assert_eq!(bench.state(id), state);
    }
}

fn a_snooze_holds_for_its_attempt_alone(bench: &mut Bench) {
    let id = bench.add(job());
    bench.start(id);
    say(bench, id, &Said::Snooze(in_minutes(bench, 30)));
    bench.end(id, Outcome::Exited(1));
    bench.pass(Duration::from_secs(5));
    bench.end(id, Outcome::Exited(0));
    assert_eq!(bench.state(id), State::Success);
}

fn a_cancel_goes_before_a_snooze(bench: &mut Bench) {
    let id = bench.add(job());
    bench.start(id);
    say(bench, id, &Said::Snooze(in_minutes(bench, 30)));
    bench.store.cancel(&[id], &Cancel::default(), START).expect("a word");
    bench.end(id, Outcome::Exited(0));
    assert_eq!(bench.state(id), State::Cancelled);
}

fn progress_is_kept_until_the_next_attempt(bench: &mut Bench) {
    let id = bench.add(job());
    bench.start(id);
    let progress = |bench: &mut Bench| {
        let job = bench.job(id);
        (job.progress, job.progress_text)
    };
    say(bench, id, &Said::Progress { percent: 40, text: Some("copying".to_owned()) });
    assert_eq!(progress(bench), (Some(40), Some("copying".to_owned())));
    say(bench, id, &Said::Progress { percent: 70, text: None });
    assert_eq!(progress(bench), (Some(70), None));
    bench.finish(id, State::Dead);
    assert_eq!(progress(bench), (Some(70), None));
    bench.store.revive(&[id], Revival::default(), START).expect("it comes back");
    bench.take(id);
    assert_eq!(progress(bench), (None, None));
}

fn only_an_attempt_that_runs_says_something(bench: &mut Bench) {
    let id = bench.add(job());
    let said = Said::Progress { percent: 1, text: None };
    let refused = |bench: &mut Bench, attempt| {
        let refused = bench.store.say(id, attempt, &said, START).expect_err("it does not run");
        assert!(matches!(refused, Error::NotRunning { .. }), "{refused}");
    };
    refused(bench, 0);
    bench.start(id);
    refused(bench, 2);
    bench.finish(id, State::Success);
    refused(bench, 1);
    let refused = bench.store.say(JobId(9), 1, &Said::Snooze(START), START).expect_err("none");
    assert!(matches!(refused, Error::NotRunning { .. }), "{refused}");
}

fn codes_are_kept_and_handed_on(bench: &mut Bench) {
    let codes = |text: &str| text.parse::<Codes>().ok();
    let new = NewJob { retry_on: codes("1,5-7"), no_retry_on: codes("6"), ..job() };
    let id = bench.add(new);
    let policy = bench.job(id).policy;
    assert_eq!((&policy.retry_on, &policy.no_retry_on), (&codes("1,5-7"), &codes("6")));
    assert_eq!(bench.take(id).policy, policy);
    bench.end(id, Outcome::Exited(6));
    assert_eq!(bench.state(id), State::Dead);
}
