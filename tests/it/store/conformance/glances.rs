//! What somebody sees who looks at what is going on.

use std::time::Duration;

use ax_scheduler::job::schedule::{CatchUp, Overlap, Recurrence};
use ax_scheduler::job::timetable::Timetable;
use ax_scheduler::job::{
    Chain, Command, JobId, NewJob, NewSchedule, Outcome, Settlement, State, Verdict,
};
use ax_scheduler::store::{Ended, Glance, Query, Queue};

use crate::store::bench::{Bench, ROOM, START, a_runner, after, job, named, process};

promises![
    a_glance_has_what_runs_longest_first_and_of_one_runner_only_its_own,
    a_glance_counts_what_does_not_run_by_where_it_stands,
    a_glance_has_what_failed_last_and_how_much_ended_since,
    what_a_job_usually_takes_is_the_median_of_the_successes_of_its_name,
    a_job_without_a_name_is_like_those_of_its_command,
    what_never_succeeded_has_no_usual_time,
    a_start_of_a_schedule_is_like_those_before_it_and_no_others,
];

fn glance(bench: &mut Bench) -> Glance {
    bench.store.glance(None, START).expect("an answer")
}

fn ids(jobs: &[ax_scheduler::job::Job]) -> Vec<JobId> {
    jobs.iter().map(|job| job.id).collect()
}

/// Lets a job run for so many seconds.
fn run_for(bench: &mut Bench, job: JobId, seconds: u64, end: State) {
    let claim = bench.start(job).claim;
    let began = bench.now;
    bench.pass(Duration::from_secs(seconds));
    let (outcome, verdict) = match end {
        State::Success => (Outcome::Exited(0), Verdict::Success),
        _ => (Outcome::Exited(1), Verdict::Dead),
    };
    let settlement = bench.settlement(claim, outcome, verdict);
    bench.turn_with(0, &[Settlement { process: Some(process(began)), ..settlement }]);
    assert_eq!(bench.state(job), end);
}

fn a_glance_has_what_runs_longest_first_and_of_one_runner_only_its_own(bench: &mut Bench) {
    let jobs = bench.add_all(&[job(), job(), job()]);
    bench.start(jobs[1]);
    bench.pass(Duration::from_secs(1));
    bench.start(jobs[0]);
    let other = bench.store.enlist(&a_runner(), START).expect("a runner");
    let seen = glance(bench);
    assert_eq!((ids(&seen.running), seen.queue.claimed), (vec![jobs[1], jobs[0]], 1));
    let own = bench.store.glance(Some(bench.runner), START).expect("an answer");
    assert_eq!(ids(&own.running), [jobs[1], jobs[0]]);
    let none = bench.store.glance(Some(other), START).expect("an answer");
    assert!(none.running.is_empty());
}

fn a_glance_counts_what_does_not_run_by_where_it_stands(bench: &mut Bench) {
    let later = NewJob { scheduled_at: START.plus(Duration::from_hours(1)), ..job() };
    let limited = || NewJob { mutex: Some("m".to_owned()), ..job() };
    let grouped = || NewJob { group: Some("g".to_owned()), ..job() };
    bench.store.set_group("g", Some(1)).expect("a limit");
    let first = bench.add_all(&[job(), job(), job(), limited(), grouped()]);
    bench.turn(ROOM);
    bench.finish(first[0], State::Dead);
    bench.finish(first[1], State::Failed);
    bench.start(first[2]);
    bench.add_all(&[job(), job(), limited(), limited(), grouped(), grouped(), later]);
    bench.add_all(&[NewJob { hold: true, ..job() }, after(&[first[2]]), after(&[first[2]])]);
    bench.turn(0);
    let want = Queue {
        ready: 2,
        limited: 4,
        claimed: 2,
        scheduled: 1,
        failed: 1,
        waiting: 2,
        held: 1,
        dead: 1,
    };
    assert_eq!(glance(bench).queue, want);
}

fn a_glance_has_what_failed_last_and_how_much_ended_since(bench: &mut Bench) {
    let jobs = bench.add_all(&[job(), job(), job(), job()]);
    for (id, end) in jobs.iter().zip([State::Dead, State::Failed, State::Held, State::Success]) {
        bench.pass(Duration::from_secs(1));
        bench.finish(*id, end);
    }
    let seen = glance(bench);
    assert_eq!(ids(&seen.failures), [jobs[2], jobs[1], jobs[0]]);
    let first = START.plus(Duration::from_secs(1));
    assert_eq!(seen.ended, Ended { count: 2, first: Some(first) });
    let none = bench.store.glance(None, bench.now).expect("an answer").ended;
    assert_eq!(none, Ended::default());
}

fn what_a_job_usually_takes_is_the_median_of_the_successes_of_its_name(bench: &mut Bench) {
    for (seconds, end) in [
        (5, State::Success),
        (90, State::Success),
        (7, State::Success),
        (1, State::Dead),
        (2, State::Dead),
    ] {
        let id = bench.add(named("copy"));
        run_for(bench, id, seconds, end);
    }
    let id = bench.add(named("other"));
    run_for(bench, id, 1, State::Success);
    let id = bench.add(named("copy"));
    let usual = bench.store.usual(id).expect("an answer");
    assert_eq!(usual, Some(Duration::from_secs(7)));
}

fn a_job_without_a_name_is_like_those_of_its_command(bench: &mut Bench) {
    let sleep = || NewJob { command: Command::Shell(b"sleep 3".to_vec()), ..job() };
    let id = bench.add(sleep());
    run_for(bench, id, 3, State::Success);
    let id = bench.add(job());
    run_for(bench, id, 1, State::Success);
    let id = bench.add(sleep());
    assert_eq!(bench.store.usual(id).expect("an answer"), Some(Duration::from_secs(3)));
}

fn what_never_succeeded_has_no_usual_time(bench: &mut Bench) {
    let id = bench.add(named("bad"));
    run_for(bench, id, 3, State::Dead);
    let id = bench.add(named("bad"));
    assert_eq!(bench.store.usual(id).expect("an answer"), None);
    assert_eq!(bench.store.usual(JobId(99)).expect("an answer"), None);
}

fn a_start_of_a_schedule_is_like_those_before_it_and_no_others(bench: &mut Bench) {
    let table = Timetable::new("* * * * *", "UTC").expect("valid");
    let (catch_up, overlap) = (CatchUp::One, Overlap::Skip);
    let recurrence = Recurrence { table, catch_up, overlap };
    let chain = Chain { jobs: vec![named("copy")], ..Chain::default() };
    let schedule = NewSchedule { name: "tick".to_owned(), recurrence, chain };
    let made = bench.store.schedule(&[schedule], false, bench.now).expect("made");
    let first = made[0].next.clone().expect("a start");
    assert_eq!(glance(bench).starts, [("tick".to_owned(), first.due)]);
    bench.pass(Duration::from_mins(1));
    run_for(bench, first.jobs[0], 4, State::Success);
    let stranger = bench.add(named("copy"));
    run_for(bench, stranger, 30, State::Success);
    bench.pass(Duration::from_mins(1));
    bench.turn(ROOM);
    let all = bench.store.list(&Query::default()).expect("an answer");
    let next = all.iter().rfind(|job| job.state == State::Dispatched).expect("it is due").id;
    assert_eq!(bench.store.usual(next).expect("an answer"), Some(Duration::from_secs(4)));
}
