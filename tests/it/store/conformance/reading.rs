//! Reading: selectors, lists, counts, the graph and the outlook.

use std::time::Duration;

use ax_scheduler::job::{Command, JobId, Kind, NewJob, State, Timestamp};
use ax_scheduler::store::{Order, Outlook, Query, Selector};

use crate::store::bench::{Bench, ROOM, START, after, child_of, job, keyed, named};

promises![
    every_selector_names_its_jobs_in_order,
    a_selector_that_matches_nothing_is_empty,
    a_name_is_a_glob_and_a_job_without_one_has_its_command,
    every_filter_narrows_a_list,
    every_condition_of_a_list_must_hold,
    every_order_orders,
    a_limit_keeps_the_last_in_order,
    a_limit_larger_than_any_number_is_no_limit,
    a_count_is_of_all_that_match_whatever_the_limit,
    a_short_list_has_the_dependencies_of_its_jobs,
    a_long_list_has_the_dependencies_of_its_jobs,
    a_job_that_is_not_there_is_none,
    every_state_is_counted,
    of_unfinished_jobs_those_that_act_first_are_shown,
    the_graph_around_a_job_is_its_ancestors_and_descendants,
    the_graph_of_everything_is_what_is_unfinished,
    the_outlook_tells_what_still_happens_by_itself,
    the_outlook_of_a_run_is_its_own,
];

fn select(bench: &mut Bench, selector: Selector) -> Vec<i64> {
    let ids = bench.store.select(&selector).expect("an answer");
    ids.into_iter().map(|id| id.0).collect()
}

fn list(bench: &mut Bench, query: &Query) -> Vec<i64> {
    let jobs = bench.store.list(query).expect("an answer");
    assert_eq!(bench.store.count(query).expect("an answer"), jobs.len() as u64);
    jobs.into_iter().map(|job| job.id.0).collect()
}

fn every_selector_names_its_jobs_in_order(bench: &mut Bench) {
    let run = bench.new_run();
    let flow = Some("nightly".to_owned());
    bench.add_all(&[
        named("a"),
        keyed("k"),
        named("b"),
        NewJob { flow, run: Some(run), ..job() },
        named("ab"),
    ]);
    bench.finish(JobId(3), State::Dead);
    assert_eq!(select(bench, Selector::Ids(JobId(2), JobId(2))), [2]);
    assert_eq!(select(bench, Selector::Ids(JobId(2), JobId(4))), [2, 3, 4]);
    assert_eq!(select(bench, Selector::Ids(JobId(4), JobId(99))), [4, 5]);
    assert_eq!(select(bench, Selector::Last), [5]);
    assert_eq!(select(bench, Selector::All), [1, 2, 3, 4, 5]);
    assert_eq!(select(bench, Selector::Name("a*".into())), [1, 5]);
    assert_eq!(select(bench, Selector::Key("k".into())), [2]);
    assert_eq!(select(bench, Selector::Status(State::Dead)), [3]);
    assert_eq!(select(bench, Selector::Flow("night*".into())), [4]);
}

fn a_selector_that_matches_nothing_is_empty(bench: &mut Bench) {
    for selector in [
        Selector::Ids(JobId(1), JobId(9)),
        Selector::Last,
        Selector::All,
        Selector::Name("*".into()),
        Selector::Key("k".into()),
        Selector::Status(State::Ready),
        Selector::Flow("*".into()),
    ] {
        assert!(select(bench, selector.clone()).is_empty(), "{selector:?}");
    }
}

fn a_name_is_a_glob_and_a_job_without_one_has_its_command(bench: &mut Bench) {
    let command = Command::Shell(b"make all".to_vec());
    bench.add_all(&[named("50%_[x]"), NewJob { command, ..job() }, named("make")]);
    assert_eq!(select(bench, Selector::Name("make*".into())), [2, 3]);
    assert_eq!(select(bench, Selector::Name("make ?ll".into())), [2]);
    assert_eq!(select(bench, Selector::Name("50%_[[]x]".into())), [1]);
    assert_eq!(select(bench, Selector::Name("' OR 1 --".into())), [] as [i64; 0]);
}

fn every_filter_narrows_a_list(bench: &mut Bench) {
    let run = bench.new_run();
    bench.add_all(&[named("a"), NewJob { run: Some(run), ..named("b") }]);
    bench.pass(Duration::from_mins(1));
    bench.add(named("ab"));
    bench.finish(JobId(1), State::Success);
    let all = Query::default();
    assert_eq!(list(bench, &all), [1, 2, 3]);
    let selectors = vec![Selector::Ids(JobId(1), JobId(1)), Selector::Last];
    assert_eq!(list(bench, &Query { selectors, ..all.clone() }), [1, 3]);
    let states = vec![State::Dispatched, State::Dead];
    assert_eq!(list(bench, &Query { states, ..all.clone() }), [2, 3]);
    assert_eq!(list(bench, &Query { name: Some("a*".into()), ..all.clone() }), [1, 3]);
    let since = Some(START.plus(Duration::from_mins(1)));
    assert_eq!(list(bench, &Query { since, ..all.clone() }), [1, 3]);
    assert_eq!(list(bench, &Query { flow_run: Some(run), ..all }), [2]);
}

fn every_condition_of_a_list_must_hold(bench: &mut Bench) {
    bench.add_all(&[named("a"), named("b"), named("a")]);
    bench.finish(JobId(1), State::Dead);
    let query = Query {
        selectors: vec![Selector::Ids(JobId(1), JobId(2)), Selector::Ids(JobId(3), JobId(3))],
        states: vec![State::Dispatched],
        name: Some("a".into()),
        ..Query::default()
    };
    assert_eq!(list(bench, &query), [3]);
}

fn every_order_orders(bench: &mut Bench) {
    let later = |seconds| START.plus(Duration::from_secs(seconds));
    bench.add_all(&[
        NewJob { priority: 1, ..named("c") },
        NewJob { priority: 9, scheduled_at: later(9), ..named("a") },
        NewJob { priority: 5, ..named("b") },
        NewJob { priority: 9, scheduled_at: later(3), ..named("a") },
    ]);
    bench.finish(JobId(1), State::Success);
    bench.pass(Duration::from_secs(1));
    bench.finish(JobId(3), State::Success);
    let mut ordered = |order| list(bench, &Query { order, ..Query::default() });
    assert_eq!(ordered(Order::Id), [1, 2, 3, 4]);
    assert_eq!(ordered(Order::Name), [2, 4, 3, 1]);
    assert_eq!(ordered(Order::Status), [2, 4, 1, 3]);
    assert_eq!(ordered(Order::Priority), [2, 4, 3, 1]);
    assert_eq!(ordered(Order::Scheduled), [1, 3, 4, 2]);
    assert_eq!(ordered(Order::Started), [2, 4, 1, 3]);
    assert_eq!(ordered(Order::Finished), [2, 4, 1, 3]);
}

fn limited(bench: &mut Bench, order: Order, limit: usize) -> Vec<i64> {
    let query = Query { order, limit: Some(limit), ..Query::default() };
    bench.store.list(&query).expect("an answer").iter().map(|job| job.id.0).collect()
}

fn a_limit_keeps_the_last_in_order(bench: &mut Bench) {
    for priority in [3, 1, 2, 1] {
        bench.add(NewJob { priority, ..job() });
    }
    assert_eq!(limited(bench, Order::Id, 2), [3, 4]);
    assert_eq!(limited(bench, Order::Priority, 3), [3, 2, 4]);
    assert_eq!(limited(bench, Order::Id, 0), [] as [i64; 0]);
    assert_eq!(limited(bench, Order::Id, 99), [1, 2, 3, 4]);
}

fn a_limit_larger_than_any_number_is_no_limit(bench: &mut Bench) {
    bench.add_all(&[job(), job()]);
    assert_eq!(limited(bench, Order::Id, usize::MAX), [1, 2]);
}

fn a_count_is_of_all_that_match_whatever_the_limit(bench: &mut Bench) {
    bench.add_all(&[job(), job(), job()]);
    let query = Query { limit: Some(1), ..Query::default() };
    assert_eq!(bench.store.count(&query).expect("an answer"), 3);
}

/// Lists `size` jobs, each of which waits for the first in two ways.
fn dependencies_of_a_list(bench: &mut Bench, size: usize) {
    let first = bench.add(job());
    let child = NewJob {
        parents: vec![
            (ax_scheduler::job::ParentRef::Id(first), Kind::AfterAny),
            (ax_scheduler::job::ParentRef::Id(first), Kind::After),
        ],
        name: Some("child".into()),
        ..job()
    };
    bench.add_all(&vec![child; size]);
    let query = Query { name: Some("child".into()), ..Query::default() };
    let jobs = bench.store.list(&query).expect("an answer");
    assert_eq!(jobs.len(), size);
    for listed in &jobs {
        assert_eq!(listed.dependencies.len(), 2);
        assert!(listed.dependencies.iter().all(|it| it.child == listed.id));
        assert!(listed.dependencies.iter().all(|it| it.seen.edge.parent == first));
        assert!(listed.dependencies.iter().all(|it| it.seen.parent == Some(State::Ready)));
    }
    let last = jobs.last().expect("a list");
    assert_eq!(bench.job(last.id), *last);
}

fn a_short_list_has_the_dependencies_of_its_jobs(bench: &mut Bench) {
    dependencies_of_a_list(bench, 3);
}

fn a_long_list_has_the_dependencies_of_its_jobs(bench: &mut Bench) {
    dependencies_of_a_list(bench, 1_000);
}

fn a_job_that_is_not_there_is_none(bench: &mut Bench) {
    assert_eq!(bench.store.get(JobId(1)).expect("an answer"), None);
    assert_eq!(bench.store.environment(JobId(1)).expect("an answer"), None);
    assert!(bench.store.attempts(JobId(1)).expect("an answer").is_empty());
    assert_eq!(bench.store.output(JobId(1), 1).expect("an answer"), None);
}

fn every_state_is_counted(bench: &mut Bench) {
    for end in [State::Success, State::Failed, State::Dead, State::Held, State::Cancelled] {
        let id = bench.add(job());
        bench.finish(id, end);
    }
    bench.add(after(&[JobId(3)]));
    let running = bench.add(job());
    bench.start(running);
    let dispatched = bench.add(job());
    bench.take(dispatched);
    bench.add(NewJob { scheduled_at: Timestamp::MAX, ..job() });
    bench.add(job());
    assert_eq!(bench.store.counts().expect("an answer"), [1; 10]);
}

fn of_unfinished_jobs_those_that_act_first_are_shown(bench: &mut Bench) {
    let later = bench.add(NewJob { scheduled_at: START.plus(Duration::from_hours(2)), ..job() });
    let sooner = bench.add(NewJob { scheduled_at: START.plus(Duration::from_hours(1)), ..job() });
    let waiting = bench.add(after(&[later]));
    let [failed, ended] = [State::Failed, State::Success].map(|end| {
        let id = bench.add(job());
        bench.finish(id, end);
        id
    });
    let running = bench.add(job());
    bench.start(running);
    let held = bench.add(NewJob { hold: true, ..job() });
    let [ready, urgent] = [1, 9].map(|priority| bench.add(NewJob { priority, ..job() }));
    let mut unfinished = |most| {
        let jobs = bench.store.unfinished(most).expect("an answer");
        jobs.into_iter().map(|job| job.id).collect::<Vec<_>>()
    };
    let all = [running, failed, held, urgent, ready, sooner, later, waiting];
    assert_eq!(unfinished(99), all);
    assert_eq!(unfinished(4), all[..4]);
    assert!(!unfinished(99).contains(&ended));
    assert_eq!(bench.store.unfinished(99).expect("an answer")[7].dependencies.len(), 1);
}

fn graph(bench: &mut Bench, around: &[JobId]) -> Vec<(i64, i64)> {
    let edges = bench.store.graph(around).expect("an answer");
    edges.iter().map(|edge| (edge.child.0, edge.seen.edge.parent.0)).collect()
}

fn the_graph_around_a_job_is_its_ancestors_and_descendants(bench: &mut Bench) {
    let root = bench.add(job());
    let middle = bench.add(after(&[root]));
    let leaf = bench.add(after(&[middle]));
    bench.add(after(&[root]));
    let other = bench.add(job());
    bench
        .store
        .link(leaf, &[ax_scheduler::job::Edge { parent: other, kind: Kind::After }], START)
        .expect("an edge");
    assert_eq!(graph(bench, &[middle]), [(2, 1), (3, 2)]);
    assert_eq!(graph(bench, &[root]), [(2, 1), (3, 2), (4, 1)]);
    assert_eq!(graph(bench, &[leaf]), [(2, 1), (3, 2), (3, 5)]);
    assert_eq!(graph(bench, &[other]), [(3, 5)]);
}

fn the_graph_of_everything_is_what_is_unfinished(bench: &mut Bench) {
    let parents = bench.add_all(&[job(), job()]);
    bench.add(child_of(parents[0], Kind::After));
    let ended = bench.add(child_of(parents[1], Kind::After));
    bench.finish(parents[1], State::Success);
    bench.finish(ended, State::Success);
    assert_eq!(graph(bench, &[]), [(3, 1)]);
}

fn outlook(bench: &mut Bench) -> Outlook {
    bench.store.outlook(None).expect("an answer")
}

fn the_outlook_tells_what_still_happens_by_itself(bench: &mut Bench) {
    assert!(outlook(bench).is_idle());
    let ids = bench.add_all(&[
        job(),
        NewJob { scheduled_at: START.plus(Duration::from_mins(1)), ..job() },
        NewJob { hold: true, ..job() },
    ]);
    bench.add(after(&[ids[2]]));
    let want = Outlook { owned: 0, ready: 1, scheduled: 1, hooks: 0, unjudged: false };
    assert_eq!(outlook(bench), want);
    bench.take(ids[0]);
    assert_eq!(outlook(bench), Outlook { owned: 1, ready: 0, ..want });
    bench.finish(ids[0], State::Failed);
    assert_eq!(outlook(bench), Outlook { ready: 0, scheduled: 2, ..want });
    bench.pass(Duration::from_mins(1));
    bench.finish(ids[0], State::Success);
    bench.finish(ids[1], State::Success);
    assert!(outlook(bench).is_idle(), "what is held, and what waits for it, waits for a person");
    assert!(bench.turn(ROOM).claimed.is_empty());
}

fn the_outlook_of_a_run_is_its_own(bench: &mut Bench) {
    let run = bench.new_run();
    bench.add(job());
    assert!(bench.store.outlook(Some(run)).expect("an answer").is_idle());
    bench.add(NewJob { run: Some(run), ..job() });
    assert_eq!(bench.store.outlook(Some(run)).expect("an answer").ready, 1);
    assert_eq!(outlook(bench).ready, 2);
}
