//! Changing jobs that wait.

use std::time::Duration;

use ax_scheduler::job::{Codes, Command, JobId, NewJob, OnLost, Outcome, Settings, State, Timeout};
use ax_scheduler::store::{Edit, Error};

use crate::store::bench::{Bench, ROOM, START, after, job};

promises![
    what_is_said_is_changed_and_nothing_else,
    what_is_not_said_stays,
    a_job_can_be_edited_in_every_state_it_waits_in,
    a_job_that_runs_or_ended_cannot_be_edited,
    a_ready_job_that_is_due_later_now_waits_for_its_time,
    a_job_that_is_due_earlier_now_runs_then,
    fewer_retries_than_were_used_leave_none,
    a_change_of_priority_changes_the_order,
    a_job_moves_between_limits_and_out_of_them,
    which_exit_codes_are_tried_again_is_set_and_taken_back,
];

fn edit(bench: &mut Bench, id: JobId, edit: &Edit) {
    bench.store.edit(id, edit, bench.now).expect("it is changed");
}

fn due_in(bench: &Bench, wait: Duration) -> Edit {
    Edit { due: Some(bench.now.plus(wait)), ..Edit::default() }
}

fn what_is_said_is_changed_and_nothing_else(bench: &mut Bench) {
    let id = bench.add(job());
    let before = bench.job(id);
    let settings = Settings {
        priority: Some(9),
        timeout: Some(Timeout(None)),
        kill_after: Some(Duration::from_secs(1)),
        max_retries: Some(7),
        retry_delay: Some(Duration::from_secs(2)),
        retry_backoff: Some(3.0),
        retry_max_delay: Some(Duration::from_secs(4)),
        on_lost: Some(OnLost::Fail),
        ..Settings::default()
    };
    let command = Command::Argv(vec![b"echo".to_vec(), b"a b".to_vec()]);
    let name = Some("new".to_owned());
    let said = Edit { name, command: Some(command.clone()), settings, ..Edit::default() };
    edit(bench, id, &said);
    let after = bench.job(id);
    assert_eq!((after.name.as_deref(), &after.command), (Some("new"), &command));
    assert_eq!((after.priority, after.timeout), (9, None));
    assert_eq!(after.kill_after, Duration::from_secs(1));
    let policy = &after.policy;
    assert_eq!((policy.max_retries, policy.delay), (7, Duration::from_secs(2)));
    assert_eq!((policy.max_delay, policy.on_lost), (Duration::from_secs(4), OnLost::Fail));
    assert_eq!((after.state, after.scheduled_at), (before.state, before.scheduled_at));
    assert_eq!(bench.take(id).spec.command, command);
}

fn which_exit_codes_are_tried_again_is_set_and_taken_back(bench: &mut Bench) {
    let id = bench.add(job());
    let say = |only: &str, not: &str| {
        let (retry_on, no_retry_on) = (only.parse().ok(), not.parse().ok());
        Edit {
            settings: Settings { retry_on, no_retry_on, ..Settings::default() },
            ..Edit::default()
        }
    };
    let codes = |text: &str| text.parse::<Codes>().ok();
    edit(bench, id, &say("1,2", "64-78"));
    edit(bench, id, &Edit { name: Some("new".into()), ..Edit::default() });
    let policy = bench.job(id).policy;
    assert_eq!((policy.retry_on, policy.no_retry_on), (codes("1,2"), codes("64-78")));
    edit(bench, id, &say("all", "none"));
    let policy = bench.job(id).policy;
    assert_eq!((policy.retry_on, policy.no_retry_on), (None, None));
}

fn what_is_not_said_stays(bench: &mut Bench) {
    let id = bench.add(NewJob { name: Some("old".into()), ..job() });
    let before = bench.job(id);
    edit(bench, id, &Edit::default());
    assert_eq!(bench.job(id), before);
}

fn a_job_can_be_edited_in_every_state_it_waits_in(bench: &mut Bench) {
    let failed = bench.add(job());
    bench.finish(failed, State::Failed);
    let held = bench.add(job());
    bench.finish(held, State::Held);
    let ids = [bench.add(after(&[failed])), bench.add(job()), failed, held];
    let states = bench.states(&ids);
    for id in ids {
        edit(bench, id, &Edit { name: Some("new".into()), ..Edit::default() });
        assert_eq!(bench.job(id).name.as_deref(), Some("new"));
    }
    assert_eq!(bench.states(&ids), states);
}

fn a_job_that_runs_or_ended_cannot_be_edited(bench: &mut Bench) {
    let ids = bench.add_all(&[job(), job(), job()]);
    bench.take(ids[0]);
    bench.start(ids[1]);
    bench.finish(ids[2], State::Success);
    for (id, expected) in ids.iter().zip([State::Dispatched, State::Running, State::Success]) {
        let before = bench.job(*id);
        let refused = bench.store.edit(*id, &Edit::default(), START).expect_err("it is too late");
        let Error::WrongState { job, state, .. } = refused else { panic!("{refused}") };
        assert_eq!((job, state), (*id, expected));
        assert_eq!(bench.job(*id), before);
    }
    let refused = bench.store.edit(JobId(9), &Edit::default(), START).expect_err("none");
    assert!(matches!(refused, Error::NoSuchJob(JobId(9))));
}

fn a_ready_job_that_is_due_later_now_waits_for_its_time(bench: &mut Bench) {
    let id = bench.add(job());
    let later = due_in(bench, Duration::from_mins(10));
    edit(bench, id, &later);
    assert_eq!(bench.state(id), State::Pending);
    let turned = bench.turn(ROOM);
    assert!(turned.claimed.is_empty());
    assert_eq!(turned.next_due, later.due);
    bench.pass(Duration::from_mins(10));
    assert_eq!(bench.turn(ROOM).claimed[0].claim.job, id);
}

fn a_job_that_is_due_earlier_now_runs_then(bench: &mut Bench) {
    let later = NewJob { scheduled_at: START.plus(Duration::from_hours(9)), ..job() };
    let id = bench.add(later);
    let now = due_in(bench, Duration::ZERO);
    edit(bench, id, &now);
    assert_eq!(bench.turn(ROOM).claimed[0].claim.job, id);
    bench.end(id, Outcome::Exited(1));
    edit(bench, id, &now);
    assert_eq!(bench.turn(ROOM).claimed[0].claim.attempt, 2);
}

fn fewer_retries_than_were_used_leave_none(bench: &mut Bench) {
    let id = bench.add(job());
    for _ in 0..2 {
        bench.end(id, Outcome::Exited(1));
        bench.pass(Duration::from_mins(1));
        bench.turn(ROOM);
    }
    bench.end(id, Outcome::NotStarted("no more processes".into()));
    let settings = Settings { max_retries: Some(1), ..Settings::default() };
    edit(bench, id, &Edit { settings, ..Edit::default() });
    assert_eq!(bench.job(id).policy.retry_count, 1);
    bench.end(id, Outcome::Exited(1));
    assert_eq!(bench.state(id), State::Dead);
}

fn a_change_of_priority_changes_the_order(bench: &mut Bench) {
    let ids = bench.add_all(&[job(), job()]);
    let settings = Settings { priority: Some(6), ..Settings::default() };
    edit(bench, ids[1], &Edit { settings, ..Edit::default() });
    assert_eq!(bench.turn(1).claimed[0].claim.job, ids[1]);
}

fn a_job_moves_between_limits_and_out_of_them(bench: &mut Bench) {
    let limited = NewJob { group: Some("g".into()), mutex: Some("m".into()), ..job() };
    let ids = bench.add_all(&vec![limited; 4]);
    bench.store.set_group("g", Some(1)).expect("a limit");
    bench.take(ids[0]);
    let claims = |bench: &mut Bench| -> Vec<JobId> {
        bench.turn(ROOM).claimed.iter().map(|claimed| claimed.claim.job).collect()
    };
    let settings = Settings { mutex: Some("other".into()), ..Settings::default() };
    edit(bench, ids[1], &Edit { settings, no_group: true, ..Edit::default() });
    assert_eq!(claims(bench), [ids[1]]);
    edit(bench, ids[2], &Edit { no_group: true, ..Edit::default() });
    assert!(claims(bench).is_empty(), "its mutex is held");
    edit(bench, ids[2], &Edit { no_mutex: true, ..Edit::default() });
    assert_eq!(claims(bench), [ids[2]]);
    let moved = bench.job(ids[2]);
    assert_eq!((moved.group, moved.mutex), (None, None));
}
