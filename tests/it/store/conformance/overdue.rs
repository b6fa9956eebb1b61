//! What is overdue: due, and not started.

use std::time::Duration;

use ax_scheduler::job::{JobId, Kind, NewJob, State, Timestamp};
use ax_scheduler::store::{Overdue, Revival};

use crate::store::bench::{Bench, START, child_of, job};

promises![
    what_is_due_and_not_started_is_overdue_in_every_state,
    what_is_not_due_or_waits_for_others_or_for_a_person_is_not_overdue,
    a_job_is_overdue_since_the_latest_of_what_it_waited_for,
    what_was_late_no_longer_than_the_grace_is_not_overdue,
];

const HOUR: Duration = Duration::from_hours(1);

fn overdue(bench: &mut Bench, before: Timestamp) -> Vec<i64> {
    let overdue = bench.store.overdue(before).expect("an answer");
    overdue.into_iter().map(|overdue| overdue.job.0).collect()
}

fn what_is_due_and_not_started_is_overdue_in_every_state(bench: &mut Bench) {
    let group = Some("g".to_owned());
    bench.store.pause_group("g", true).expect("paused");
    bench.add_all(&[
        job(),
        NewJob { scheduled_at: START.plus(HOUR), ..job() },
        NewJob { group, ..job() },
        NewJob { priority: 9, ..job() },
    ]);
    bench.turn(1);
    let states = [State::Ready, State::Pending, State::Ready, State::Dispatched];
    assert_eq!(bench.states(&[1, 2, 3, 4].map(JobId)), states);
    bench.pass(HOUR);
    let now = bench.now;
    assert_eq!(overdue(bench, now), [1, 3, 4, 2], "the longest first");
}

fn what_is_not_due_or_waits_for_others_or_for_a_person_is_not_overdue(bench: &mut Bench) {
    bench.add_all(&[job(), job(), NewJob { hold: true, ..job() }]);
    bench.add(child_of(JobId(1), Kind::After));
    bench.add(NewJob { scheduled_at: START.plus(HOUR), ..job() });
    bench.finish(JobId(2), State::Failed);
    bench.start(JobId(1));
    let now = bench.now;
    assert_eq!(overdue(bench, now), [0; 0]);
    assert_eq!(overdue(bench, now.plus(Duration::from_secs(6))), [2], "its retry was due");
}

fn a_job_is_overdue_since_the_latest_of_what_it_waited_for(bench: &mut Bench) {
    let parent = bench.add(job());
    let child = bench.add(child_of(parent, Kind::After));
    bench.pass(HOUR);
    bench.finish(parent, State::Success);
    let since = bench.now;
    bench.pass(HOUR);
    let want = |job, since| vec![Overdue { job, since }];
    assert_eq!(bench.store.overdue(bench.now).expect("an answer"), want(child, since));
    bench.finish(child, State::Dead);
    bench.pass(HOUR);
    bench.store.revive(&[child], Revival::default(), bench.now).expect("it is dead");
    assert_eq!(bench.store.overdue(bench.now).expect("an answer"), want(child, bench.now));
}

fn what_was_late_no_longer_than_the_grace_is_not_overdue(bench: &mut Bench) {
    bench.add(job());
    bench.pass(HOUR);
    assert_eq!(overdue(bench, START), [1]);
    assert_eq!(overdue(bench, Timestamp::from_millis(START.millis() - 1)), [0; 0]);
}
