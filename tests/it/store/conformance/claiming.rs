//! Claiming: in which order, how many, of which run, and with what.

use std::sync::Arc;
use std::time::Duration;

use ax_scheduler::job::settings::POINT;
use ax_scheduler::job::{EnvBlock, JobId, NewJob, State, Timestamp};
use ax_scheduler::store::{Revival, Turn};

use crate::store::bench::{Bench, ROOM, START, a_runner, after, job, named};

promises![
    higher_priority_comes_first,
    a_job_that_has_waited_an_hour_a_point_goes_before_higher_priority,
    no_stream_of_higher_priority_holds_a_job_up_for_ever,
    a_time_in_the_past_makes_no_job_wait_longer,
    a_job_that_a_person_brings_back_begins_to_wait_anew,
    among_equals_the_earlier_due_comes_first,
    among_equals_of_one_time_the_lower_id_comes_first,
    no_more_is_claimed_than_there_is_room_for,
    a_claim_counts_an_attempt_and_names_its_owner,
    a_claim_opens_the_history_of_the_attempt,
    nobody_claims_what_another_runner_has,
    a_scope_takes_its_own_run_alone,
    a_claim_has_all_that_its_process_needs,
    a_runner_is_told_its_unfinished_claims,
    a_turn_without_news_has_nothing_more,
];

fn claim_in_order(bench: &mut Bench) -> Vec<i64> {
    let mut order = Vec::new();
    while let Some(claimed) = bench.turn(1).claimed.first() {
        order.push(claimed.claim.job.0);
    }
    order
}

fn due(seconds_ago: u64) -> NewJob {
    let scheduled_at = START.millis() - i64::try_from(seconds_ago * 1000).expect("a small number");
    NewJob { scheduled_at: ax_scheduler::job::Timestamp::from_millis(scheduled_at), ..job() }
}

fn a_job_that_has_waited_an_hour_a_point_goes_before_higher_priority(bench: &mut Bench) {
    let low = bench.add(job());
    bench.pass(4 * POINT);
    let high = bench.add(NewJob { priority: 9, scheduled_at: bench.now, ..job() });
    assert_eq!(bench.turn(1).claimed[0].claim.job, low, "of equal waiting the first goes first");
    let low = bench.add(NewJob { scheduled_at: bench.now, ..job() });
    bench.pass(3 * POINT + Duration::from_mins(59));
    let later = bench.add(NewJob { priority: 9, scheduled_at: bench.now, ..job() });
    for next in [high, later, low] {
        assert_eq!(bench.turn(1).claimed[0].claim.job, next);
    }
}

fn no_stream_of_higher_priority_holds_a_job_up_for_ever(bench: &mut Bench) {
    let low = bench.add(NewJob { priority: 1, ..job() });
    let minutes = (1..1_000).find(|_| {
        bench.add(NewJob { priority: 3, scheduled_at: bench.now, ..job() });
        bench.add(NewJob { priority: 3, scheduled_at: bench.now, ..job() });
        bench.pass(Duration::from_mins(1));
        bench.turn(1).claimed[0].claim.job == low
    });
    // Those that came less than two hours after it go before it: two a minute.
    assert_eq!(minutes, Some(241));
}

fn a_time_in_the_past_makes_no_job_wait_longer(bench: &mut Bench) {
    bench.add(NewJob { scheduled_at: Timestamp::from_millis(0), ..job() });
    let high = bench.add(NewJob { priority: 6, ..job() });
    assert_eq!(bench.turn(1).claimed[0].claim.job, high);
}

fn a_job_that_a_person_brings_back_begins_to_wait_anew(bench: &mut Bench) {
    let ids = bench.add_all(&[job(), NewJob { hold: true, ..job() }]);
    bench.finish(ids[0], State::Dead);
    bench.pass(100 * POINT);
    bench.store.revive(&ids[..1], Revival::default(), bench.now).expect("it comes back");
    bench.store.release(&ids[1..], bench.now).expect("it goes on");
    let high = bench.add(NewJob { priority: 6, scheduled_at: bench.now, ..job() });
    assert_eq!(bench.turn(1).claimed[0].claim.job, high);
}

fn higher_priority_comes_first(bench: &mut Bench) {
    for priority in [5, 9, -3, i64::MIN, i64::MAX] {
        bench.add(NewJob { priority, ..job() });
    }
    assert_eq!(claim_in_order(bench), [5, 2, 1, 3, 4]);
}

fn among_equals_the_earlier_due_comes_first(bench: &mut Bench) {
    bench.add_all(&[due(10), due(30), NewJob { priority: 6, ..due(1) }, due(20)]);
    assert_eq!(claim_in_order(bench), [3, 2, 4, 1]);
}

fn among_equals_of_one_time_the_lower_id_comes_first(bench: &mut Bench) {
    bench.add_all(&vec![job(); 5]);
    assert_eq!(claim_in_order(bench), [1, 2, 3, 4, 5]);
}

fn no_more_is_claimed_than_there_is_room_for(bench: &mut Bench) {
    bench.add_all(&vec![job(); 5]);
    assert!(bench.turn(0).claimed.is_empty());
    let turned = bench.turn(2);
    assert_eq!(turned.claimed.len(), 2);
    assert!(turned.more);
    let turned = bench.turn(ROOM);
    assert_eq!(turned.claimed.len(), 3);
    assert!(!turned.more);
}

fn a_claim_counts_an_attempt_and_names_its_owner(bench: &mut Bench) {
    let id = bench.add(job());
    let claim = bench.take(id).claim;
    assert_eq!((claim.job, claim.attempt, claim.owner), (id, 1, bench.runner));
    let job = bench.job(id);
    assert_eq!((job.state, job.attempts, job.owner), (State::Dispatched, 1, Some(bench.runner)));
}

fn a_claim_opens_the_history_of_the_attempt(bench: &mut Bench) {
    let id = bench.add(job());
    bench.take(id);
    let attempts = bench.attempts(id);
    assert_eq!(attempts.len(), 1);
    assert_eq!((attempts[0].attempt, attempts[0].owner), (1, bench.runner));
    assert_eq!((attempts[0].started_at, attempts[0].ended_at), (None, None));
    assert_eq!(attempts[0].outcome, None);
}

fn nobody_claims_what_another_runner_has(bench: &mut Bench) {
    bench.add_all(&vec![job(); 4]);
    let mut other = bench.another();
    let runner = other.enlist(&a_runner(), START).expect("another runner");
    let theirs = other.turn(&Turn { runner, ..bench.empty_turn(2) }).expect("a turn").claimed;
    let ours = bench.turn(ROOM).claimed;
    let jobs: Vec<_> = theirs.iter().chain(&ours).map(|it| it.claim.job.0).collect();
    assert_eq!(jobs, [1, 2, 3, 4]);
    assert!(theirs.iter().all(|it| it.claim.owner == runner));
}

fn a_scope_takes_its_own_run_alone(bench: &mut Bench) {
    let run = bench.new_run();
    let other = bench.new_run();
    assert_ne!(run, other);
    bench.add_all(&[
        job(),
        NewJob { run: Some(other), ..job() },
        NewJob { run: Some(run), priority: 1, ..job() },
        NewJob { run: Some(run), ..job() },
    ]);
    let scoped = Turn { scope: Some(run), ..bench.empty_turn(ROOM) };
    let turned = bench.store.turn(&scoped).expect("a turn");
    let jobs: Vec<_> = turned.claimed.iter().map(|it| it.claim.job.0).collect();
    assert_eq!(jobs, [4, 3]);
    assert!(!turned.more);
}

fn a_claim_has_all_that_its_process_needs(bench: &mut Bench) {
    let wanted = NewJob {
        key: Some("k".into()),
        env: Arc::new(EnvBlock::from_entries([b"A=1".as_slice()])),
        extra_env: EnvBlock::from_entries([b"B=2".as_slice(), b"AX_JOB_ID=forged"]),
        ..named("nightly")
    };
    let id = bench.add(wanted.clone());
    let claimed = bench.take(id);
    assert_eq!(claimed.title, "nightly");
    assert_eq!(claimed.spec.timeout, wanted.timeout);
    assert_eq!(claimed.spec.kill_after, wanted.kill_after);
    assert_eq!(claimed.spec.umask, Some(wanted.umask));
    assert_eq!(claimed.spec.env, Some(wanted.env));
    assert_eq!(claimed.policy, bench.job(id).policy);
    let seen = |name| claimed.spec.extra_env.get(name).map(String::from_utf8_lossy);
    assert_eq!(seen("B").as_deref(), Some("2"));
    assert_eq!(seen("AX_JOB_ID").as_deref(), Some("1"));
    assert_eq!(seen("AX_JOB_NAME").as_deref(), Some("nightly"));
    assert_eq!(seen("AX_JOB_KEY").as_deref(), Some("k"));
    assert_eq!(seen("AX_ATTEMPT").as_deref(), Some("1"));
    assert_eq!(seen("AX_MAX_RETRIES").as_deref(), Some("3"));
}

fn a_runner_is_told_its_unfinished_claims(bench: &mut Bench) {
    let ids = bench.add_all(&[job(), job(), job()]);
    let wanted = bench.take(ids[0]);
    bench.start(ids[1]);
    bench.finish(ids[2], State::Success);
    let runner = bench.runner;
    let claims = bench.store.claims(runner).expect("an answer");
    let told: Vec<_> = claims.iter().map(|(it, state)| (it.claim.job, *state)).collect();
    assert_eq!(told, [(ids[0], State::Dispatched), (ids[1], State::Running)]);
    assert_eq!(claims[0].0, wanted);
    assert!(bench.store.claims(ax_scheduler::job::RunnerId(99)).expect("an answer").is_empty());
}

fn a_turn_without_news_has_nothing_more(bench: &mut Bench) {
    let parent = bench.add(NewJob { scheduled_at: START.plus(Duration::from_secs(9)), ..job() });
    bench.add(after(&[parent]));
    let turned = bench.turn(ROOM);
    assert!(turned.claimed.is_empty() && turned.moved.is_empty() && !turned.more);
    assert_eq!(bench.state(JobId(2)), State::Pending);
}
