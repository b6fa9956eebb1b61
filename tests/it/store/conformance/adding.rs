//! Adding: what goes in comes out, all of a batch or none, and in which state
//! a job is born.

use std::sync::Arc;
use std::time::Duration;

use ax_scheduler::job::{Command, EnvBlock, JobId, NewJob, OnLost, State, Timestamp};
use ax_scheduler::store::{Error, Query, Selector};

use crate::store::bench::{Bench, ROOM, START, after, job};

promises![
    every_option_comes_back_as_it_was,
    bytes_that_are_not_utf8_come_back,
    a_job_without_a_time_limit_has_none,
    what_was_put_on_top_replaces_the_environment_it_was_added_with,
    no_jobs_are_no_ids,
    the_ids_of_a_batch_rise_in_its_order,
    a_batch_with_one_bad_job_adds_none,
    a_job_that_is_due_is_born_ready,
    a_job_of_a_later_time_is_born_pending,
    a_job_with_an_open_parent_is_born_pending,
    a_job_whose_parent_ended_well_is_born_ready,
    a_job_whose_parent_ended_badly_is_born_skipped_and_says_why,
    a_job_after_one_that_is_born_skipped_is_skipped_too,
    a_held_job_is_born_held_whatever_its_parents,
    a_time_in_the_year_9999_is_kept,
];

fn rich() -> NewJob {
    NewJob {
        name: Some("nächtlich; -- '%".into()),
        key: Some("k'1".into()),
        command: Command::Argv(vec![b"echo".to_vec(), b"a b".to_vec(), Vec::new(), b"#".to_vec()]),
        priority: -7,
        scheduled_at: START.plus(Duration::from_mins(1)),
        timeout: Some(Duration::from_millis(1_500)),
        kill_after: Duration::from_millis(250),
        max_retries: 9,
        retry_delay: Duration::from_millis(750),
        retry_backoff: 1.5,
        retry_max_delay: Duration::from_secs(90),
        on_lost: OnLost::Fail,
        cwd: b"/srv/my files".to_vec(),
        umask: 0o077,
        env: Arc::new(EnvBlock::from_entries([b"HOME=/root".as_slice(), b"EMPTY="])),
        extra_env: EnvBlock::from_entries([b"A=1=2".as_slice()]),
        ..job()
    }
}

fn every_option_comes_back_as_it_was(bench: &mut Bench) {
    let wanted = rich();
    let run = bench.new_run();
    let id = bench.add(NewJob { flow: Some("nightly".into()), run: Some(run), ..wanted.clone() });
    let got = bench.job(id);
    assert_eq!(got.name, wanted.name);
    assert_eq!(got.key, wanted.key);
    assert_eq!(got.command, wanted.command);
    assert_eq!(got.priority, wanted.priority);
    assert_eq!(got.scheduled_at, wanted.scheduled_at);
    assert_eq!(got.timeout, wanted.timeout);
    assert_eq!(got.kill_after, wanted.kill_after);
    assert_eq!(got.policy.max_retries, wanted.max_retries);
    assert_eq!(got.policy.delay, wanted.retry_delay);
    assert_eq!(got.policy.backoff.to_bits(), wanted.retry_backoff.to_bits());
    assert_eq!(got.policy.max_delay, wanted.retry_max_delay);
    assert_eq!(got.policy.on_lost, wanted.on_lost);
    assert_eq!((got.policy.retry_count, got.policy.losses, got.attempts), (0, 0, 0));
    assert_eq!(got.cwd, Some(wanted.cwd));
    assert_eq!(got.umask, Some(wanted.umask));
    assert_eq!(got.flow.as_deref(), Some("nightly"));
    assert_eq!((got.created_at, got.updated_at), (START, START));
    assert_eq!((got.runs_at, got.finished_at, got.owner), (None, None, None));
}

fn bytes_that_are_not_utf8_come_back(bench: &mut Bench) {
    let command = Command::Shell(b"cat \xff\xfe'x".to_vec());
    let env = EnvBlock::from_entries([b"X=\xff".as_slice()]);
    let id = bench.add(NewJob {
        command: command.clone(),
        cwd: b"/tmp/\xe4".to_vec(),
        env: Arc::new(env.clone()),
        ..job()
    });
    let claimed = bench.take(id);
    assert_eq!(bench.job(id).command, command);
    assert_eq!(bench.store.environment(id).expect("an answer"), Some(env.clone()));
    assert_eq!(claimed.spec.command, command);
    assert_eq!(claimed.spec.cwd.as_deref(), Some(b"/tmp/\xe4".as_slice()));
    assert_eq!(claimed.spec.env.as_deref(), Some(&env));
}

fn a_job_without_a_time_limit_has_none(bench: &mut Bench) {
    let id = bench.add(NewJob { timeout: None, ..job() });
    assert_eq!(bench.job(id).timeout, None);
    assert_eq!(bench.take(id).spec.timeout, None);
}

fn what_was_put_on_top_replaces_the_environment_it_was_added_with(bench: &mut Bench) {
    let env = Arc::new(EnvBlock::from_entries([b"A=1".as_slice(), b"B=1"]));
    let id = bench.add(NewJob { env, extra_env: EnvBlock(b"B=2\0".to_vec()), ..job() });
    let got = bench.store.environment(id).expect("an answer").expect("an environment");
    assert_eq!((got.get("A"), got.get("B")), (Some(b"1".as_slice()), Some(b"2".as_slice())));
}

fn no_jobs_are_no_ids(bench: &mut Bench) {
    assert_eq!(bench.try_add(&[]).expect("nothing to do"), []);
}

fn the_ids_of_a_batch_rise_in_its_order(bench: &mut Bench) {
    let first = bench.add_all(&[job(), job(), job()]);
    assert_eq!(first, [JobId(1), JobId(2), JobId(3)]);
    assert_eq!(bench.add(job()), JobId(4));
}

fn a_batch_with_one_bad_job_adds_none(bench: &mut Bench) {
    let refused = bench.try_add(&[job(), job(), after(&[JobId(99)]), job()]);
    let Err(Error::InBatch { index: 2, source }) = refused else { panic!("{refused:?}") };
    assert!(matches!(*source, Error::NoSuchJob(JobId(99))), "{source:?}");
    assert_eq!(bench.store.count(&Query::default()).expect("an answer"), 0);
    assert!(bench.store.select(&Selector::All).expect("an answer").is_empty());
}

fn a_job_that_is_due_is_born_ready(bench: &mut Bench) {
    let id = bench.add(job());
    assert_eq!(bench.state(id), State::Ready);
}

fn a_job_of_a_later_time_is_born_pending(bench: &mut Bench) {
    let id = bench.add(NewJob { scheduled_at: START.plus(Duration::from_millis(1)), ..job() });
    assert_eq!(bench.state(id), State::Pending);
    assert!(bench.turn(ROOM).claimed.is_empty());
}

fn a_job_with_an_open_parent_is_born_pending(bench: &mut Bench) {
    let parent = bench.add(job());
    let child = bench.add(after(&[parent]));
    assert_eq!(bench.state(child), State::Pending);
}

fn a_job_whose_parent_ended_well_is_born_ready(bench: &mut Bench) {
    let parent = bench.add(job());
    bench.finish(parent, State::Success);
    let child = bench.add(after(&[parent]));
    assert_eq!(bench.state(child), State::Ready);
}

fn a_job_whose_parent_ended_badly_is_born_skipped_and_says_why(bench: &mut Bench) {
    let parent = bench.add(job());
    bench.finish(parent, State::Dead);
    let child = bench.add(after(&[parent]));
    let child = bench.job(child);
    assert_eq!(child.state, State::Skipped);
    assert_eq!(child.reason.as_deref(), Some("needs job 1, which is dead"));
    assert_eq!(child.finished_at, Some(START));
}

fn a_job_after_one_that_is_born_skipped_is_skipped_too(bench: &mut Bench) {
    let dead = bench.add(job());
    bench.finish(dead, State::Dead);
    let middle = NewJob { key: Some("middle".into()), ..after(&[dead]) };
    let last = crate::store::bench::after_key("middle");
    let ids = bench.add_all(&[last, middle]);
    assert_eq!(bench.states(&ids), [State::Skipped; 2]);
    assert_eq!(bench.reason(ids[0]), "needs job 3, which is skipped");
}

fn a_held_job_is_born_held_whatever_its_parents(bench: &mut Bench) {
    let dead = bench.add(job());
    bench.finish(dead, State::Dead);
    let ids =
        bench.add_all(&[NewJob { hold: true, ..job() }, NewJob { hold: true, ..after(&[dead]) }]);
    assert_eq!(bench.states(&ids), [State::Held; 2]);
    assert!(bench.turn(ROOM).claimed.is_empty());
}

fn a_time_in_the_year_9999_is_kept(bench: &mut Bench) {
    let id = bench.add(NewJob { scheduled_at: Timestamp::MAX, ..job() });
    assert_eq!(bench.job(id).scheduled_at, Timestamp::MAX);
}
