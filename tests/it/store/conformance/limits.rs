//! Groups and mutexes: what runs at once, and what comes next.

use std::time::{Duration, Instant};

use ax_scheduler::job::phase::Blocked;
use ax_scheduler::job::{Event, FlowRunId, JobId, NewJob, Outcome, RunnerId, State};
use ax_scheduler::store::{Cancel, Group, Selector, Turn};

use crate::store::bench::{Bench, ROOM, START, a_runner, after, job};

promises![
    the_groups_that_are_paused_are_told_by_name,
    a_mutex_lets_one_job_through_at_a_time_in_order,
    a_mutex_holds_over_all_runners,
    a_mutex_is_kept_until_the_attempt_has_ended_however_it_ends,
    a_group_lets_as_many_through_as_it_is_set_to,
    a_change_of_a_limit_holds_at_once,
    a_paused_group_starts_nothing_and_what_runs_goes_on,
    what_is_claimed_and_not_started_is_told_of_once_its_group_lets_it_through_no_more,
    a_job_under_a_limit_blocks_none_behind_it,
    a_job_with_a_group_and_a_mutex_needs_both,
    a_group_that_is_closed_holds_up_no_others_of_a_mutex,
    priorities_hold_within_and_between_limits,
    a_better_job_that_comes_later_goes_first,
    retries_pass_through_the_limits,
    a_job_that_stops_waiting_makes_room_for_the_next,
    a_job_says_what_limit_it_waits_for,
    what_a_person_paused_is_not_waited_for,
    a_runner_of_a_flow_passes_strangers_at_the_limit,
    a_million_jobs_behind_a_limit_are_passed_at_once,
    many_mutexes_are_looked_at_in_several_turns,
    groups_are_listed_with_what_is_in_them,
    a_group_alone_is_told_as_among_all,
    a_group_is_there_as_long_as_it_has_a_limit_or_unfinished_jobs,
    jobs_are_selected_by_their_group,
];

fn grouped(name: &str) -> NewJob {
    NewJob { group: Some(name.to_owned()), ..job() }
}

fn exclusive(key: &str) -> NewJob {
    NewJob { mutex: Some(key.to_owned()), ..job() }
}

/// The jobs that a turn claims.
fn claimed(bench: &mut Bench, room: usize) -> Vec<JobId> {
    bench.turn(room).claimed.iter().map(|claimed| claimed.claim.job).collect()
}

fn a_mutex_lets_one_job_through_at_a_time_in_order(bench: &mut Bench) {
    let ids = bench.add_all(&[exclusive("a"), exclusive("a"), exclusive("b"), exclusive("a")]);
    assert_eq!(claimed(bench, ROOM), [ids[0], ids[2]]);
    assert!(claimed(bench, ROOM).is_empty());
    for (done, next) in [(0, Some(1)), (2, None), (1, Some(3)), (3, None)] {
        bench.end(ids[done], Outcome::Exited(0));
        let next: Vec<_> = next.map(|next: usize| ids[next]).into_iter().collect();
        assert_eq!(claimed(bench, ROOM), next);
    }
}

fn what_is_claimed_and_not_started_is_told_of_once_its_group_lets_it_through_no_more(
    bench: &mut Bench,
) {
    let ids = bench.add_all(&[grouped("g"), grouped("g"), grouped("g"), grouped("h")]);
    let other = bench.store.enlist(&a_runner(), START).expect("a runner");
    bench.start(ids[0]);
    bench.turn(ROOM);
    let beyond = |bench: &mut Bench| {
        let claims = bench.store.beyond_limits(bench.runner).expect("an answer");
        claims.iter().map(|claim| claim.job).collect::<Vec<_>>()
    };
    assert!(beyond(bench).is_empty());
    bench.store.pause_group("g", true).expect("paused");
    assert_eq!(beyond(bench), ids[1..3]);
    assert!(bench.store.beyond_limits(other).expect("an answer").is_empty());
    bench.store.pause_group("g", false).expect("it goes on");
    for (parallel, want) in [(2, &ids[1..3]), (3, &[])] {
        bench.store.set_group("g", Some(parallel)).expect("a limit");
        assert_eq!(beyond(bench), want, "{parallel}");
    }
}

fn a_mutex_holds_over_all_runners(bench: &mut Bench) {
    let ids = bench.add_all(&[exclusive("a"), exclusive("a")]);
    let mut other = bench.another();
    let runner = other.enlist(&a_runner(), START).expect("a runner");
    bench.start(ids[0]);
    let turn = Turn { runner, ..bench.empty_turn(ROOM) };
    assert!(other.turn(&turn).expect("a turn").claimed.is_empty());
    bench.end(ids[0], Outcome::Exited(0));
    assert_eq!(other.turn(&turn).expect("a turn").claimed[0].claim.job, ids[1]);
}

fn a_mutex_is_kept_until_the_attempt_has_ended_however_it_ends(bench: &mut Bench) {
    let ends = [
        Outcome::Exited(1),
        Outcome::Lost("power cut".into()),
        Outcome::Interrupted,
        Outcome::NotStarted("no more processes".into()),
    ];
    for (number, end) in ends.into_iter().enumerate() {
        let key = format!("m{number}");
        let first = bench.add(NewJob { priority: 9, ..exclusive(&key) });
        let second = bench.add(exclusive(&key));
        bench.take(first);
        assert!(claimed(bench, ROOM).is_empty());
        let comes_back = matches!(end, Outcome::Interrupted | Outcome::NotStarted(_));
        bench.end(first, end);
        assert_eq!(claimed(bench, ROOM), [if comes_back { first } else { second }]);
    }
}

fn a_group_lets_as_many_through_as_it_is_set_to(bench: &mut Bench) {
    bench.store.set_group("g", Some(2)).expect("a limit");
    let ids = bench.add_all(&vec![grouped("g"); 5]);
    assert_eq!(claimed(bench, ROOM), ids[..2]);
    bench.end(ids[0], Outcome::Exited(0));
    assert_eq!(claimed(bench, 1), ids[2..3]);
    assert!(claimed(bench, ROOM).is_empty());
    bench.end(ids[1], Outcome::Exited(0));
    bench.end(ids[2], Outcome::Exited(0));
    assert_eq!(claimed(bench, ROOM), ids[3..]);
    let free = bench.add_all(&vec![grouped("other"); 40]);
    assert_eq!(claimed(bench, ROOM), free, "a group without a limit has none");
}

fn a_change_of_a_limit_holds_at_once(bench: &mut Bench) {
    bench.store.set_group("g", Some(1)).expect("a limit");
    let ids = bench.add_all(&vec![grouped("g"); 6]);
    assert_eq!(claimed(bench, ROOM), ids[..1]);
    bench.store.set_group("g", Some(3)).expect("a limit");
    assert_eq!(claimed(bench, ROOM), ids[1..3]);
    bench.store.set_group("g", Some(1)).expect("a limit");
    bench.end(ids[0], Outcome::Exited(0));
    bench.end(ids[1], Outcome::Exited(0));
    assert!(claimed(bench, ROOM).is_empty());
    bench.store.set_group("g", None).expect("no limit");
    assert_eq!(claimed(bench, ROOM), ids[3..]);
}

fn a_paused_group_starts_nothing_and_what_runs_goes_on(bench: &mut Bench) {
    let ids = bench.add_all(&[grouped("g"), grouped("g"), job()]);
    assert_eq!(claimed(bench, 1), ids[..1]);
    bench.store.pause_group("g", true).expect("paused");
    assert_eq!(claimed(bench, ROOM), ids[2..]);
    bench.end(ids[0], Outcome::Exited(0));
    assert_eq!(bench.state(ids[0]), State::Success);
    assert!(!bench.turn(ROOM).more);
    bench.store.pause_group("g", false).expect("it goes on");
    assert_eq!(claimed(bench, ROOM), ids[1..2]);
}

fn a_job_under_a_limit_blocks_none_behind_it(bench: &mut Bench) {
    bench.store.set_group("g", Some(1)).expect("a limit");
    let top = NewJob { priority: 9, mutex: Some("m".into()), ..grouped("g") };
    let held = bench.add(top.clone());
    bench.take(held);
    bench.add_all(&vec![top; 50]);
    let plain = bench.add(job());
    assert_eq!(claimed(bench, 1), [plain]);
}

fn a_job_with_a_group_and_a_mutex_needs_both(bench: &mut Bench) {
    bench.store.set_group("g", Some(2)).expect("a limit");
    let both = |key: &str| NewJob { mutex: Some(key.into()), ..grouped("g") };
    let ids = bench.add_all(&[both("a"), both("a"), both("b"), both("c"), exclusive("c")]);
    assert_eq!(claimed(bench, ROOM), [ids[0], ids[2], ids[4]]);
    bench.end(ids[2], Outcome::Exited(0));
    assert_eq!(claimed(bench, ROOM), [], "the group has room, but the mutex is held");
    bench.end(ids[4], Outcome::Exited(0));
    assert_eq!(claimed(bench, ROOM), [ids[3]]);
    bench.end(ids[0], Outcome::Exited(0));
    assert_eq!(claimed(bench, ROOM), [ids[1]]);
}

fn a_group_that_is_closed_holds_up_no_others_of_a_mutex(bench: &mut Bench) {
    for paused in ["a", "b"] {
        bench.store.pause_group(paused, true).expect("paused");
    }
    let of = |group: &str| NewJob { mutex: Some("m".into()), ..grouped(group) };
    let ids = bench.add_all(&[of("a"), of("b"), of("c"), of("c"), exclusive("m")]);
    for next in &ids[2..] {
        assert_eq!(claimed(bench, ROOM), [*next]);
        bench.end(*next, Outcome::Exited(0));
    }
    assert_eq!(claimed(bench, ROOM), []);
    bench.store.pause_group("b", false).expect("it goes on");
    assert_eq!(claimed(bench, ROOM), [ids[1]]);
    bench.store.pause_group("a", false).expect("it goes on");
    assert_eq!(claimed(bench, ROOM), [], "its mutex is held");
    bench.end(ids[1], Outcome::Exited(0));
    assert_eq!(claimed(bench, ROOM), [ids[0]]);
}

fn priorities_hold_within_and_between_limits(bench: &mut Bench) {
    let with = |priority, job| NewJob { priority, ..job };
    let ids = bench.add_all(&[
        with(3, grouped("g")),
        with(9, grouped("g")),
        with(5, job()),
        with(7, exclusive("m")),
        with(8, grouped("g")),
    ]);
    let order: Vec<_> = (0..5).flat_map(|_| claimed(bench, 1)).collect();
    assert_eq!(order, [1, 4, 3, 2, 0].map(|at: usize| ids[at]));
    let again = bench.add_all(&[
        with(3, grouped("g")),
        with(9, grouped("g")),
        with(5, job()),
        with(7, exclusive("n")),
        with(8, grouped("g")),
    ]);
    assert_eq!(claimed(bench, ROOM), [1, 4, 3, 2, 0].map(|at: usize| again[at]));
}

fn a_better_job_that_comes_later_goes_first(bench: &mut Bench) {
    bench.store.set_group("g", Some(1)).expect("a limit");
    bench.add_all(&[grouped("g"), exclusive("m")]);
    bench.turn(0);
    let better = [grouped("g"), exclusive("m")].map(|job| NewJob { priority: 9, ..job });
    let better = bench.add_all(&better);
    assert_eq!(claimed(bench, ROOM), better);
}

fn retries_pass_through_the_limits(bench: &mut Bench) {
    let first = bench.add(exclusive("m"));
    bench.end(first, Outcome::Exited(1));
    let second = bench.add(exclusive("m"));
    assert_eq!(claimed(bench, ROOM), [second]);
    bench.pass(Duration::from_secs(5));
    assert!(claimed(bench, ROOM).is_empty());
    assert_eq!(bench.state(first), State::Ready);
    bench.end(second, Outcome::Exited(0));
    assert_eq!(claimed(bench, ROOM), [first]);
}

fn a_job_that_stops_waiting_makes_room_for_the_next(bench: &mut Bench) {
    let ids = bench.add_all(&vec![exclusive("m"); 4]);
    bench.turn(0);
    bench.store.hold(&ids[..1], START).expect("held");
    bench.store.cancel(&ids[1..2], &Cancel::default(), START).expect("cancelled");
    assert_eq!(claimed(bench, ROOM), ids[2..3]);
    bench.end(ids[2], Outcome::Exited(0));
    let moved = bench.store.release(&ids[..1], START).expect("released");
    assert_eq!(moved[0].event, Event::Unhold);
    assert_eq!(claimed(bench, ROOM), ids[..1]);
}

fn a_job_says_what_limit_it_waits_for(bench: &mut Bench) {
    bench.store.set_group("g", Some(1)).expect("a limit");
    let ids = bench.add_all(&[grouped("g"), grouped("g"), exclusive("m"), exclusive("m"), job()]);
    bench.turn(ROOM);
    let group = "g".to_owned();
    let full = Blocked::Full { group: group.clone(), running: 1, parallel: 1 };
    assert_eq!(bench.job(ids[1]).blocked, Some(full.clone()));
    assert_eq!(full.to_string(), "group g: 1 of 1 running");
    let held = Blocked::Mutex { mutex: "m".into(), holder: ids[2] };
    assert_eq!(bench.job(ids[3]).blocked, Some(held.clone()));
    assert_eq!(held.to_string(), format!("mutex m, held by job {}", ids[2]));
    bench.store.pause_group("g", true).expect("paused");
    assert_eq!(bench.job(ids[1]).blocked, Some(Blocked::Paused { group }));
    assert_eq!(bench.job(ids[0]).blocked, None);
}

fn what_a_person_paused_is_not_waited_for(bench: &mut Bench) {
    bench.add(grouped("g"));
    bench.store.pause_group("g", true).expect("paused");
    bench.quiesce();
    assert!(bench.store.outlook(None).expect("an answer").is_idle());
    bench.store.pause_group("g", false).expect("it goes on");
    bench.quiesce();
    assert_eq!(bench.store.outlook(None).expect("an answer").ready, 1);
}

fn a_runner_of_a_flow_passes_strangers_at_the_limit(bench: &mut Bench) {
    bench.store.set_group("g", Some(1)).expect("a limit");
    bench.add_all(&[NewJob { priority: 9, ..exclusive("m") }, grouped("g")]);
    let run = bench.new_run();
    let of_flow = |job| NewJob { run: Some(run), ..job };
    let jobs = [exclusive("m"), exclusive("m"), grouped("g"), grouped("g")].map(of_flow);
    let ids = bench.add_all(&jobs);
    let scoped = |bench: &mut Bench, run: FlowRunId| {
        let turn = Turn { scope: Some(run), ..bench.empty_turn(ROOM) };
        bench.store.turn(&turn).expect("a turn")
    };
    let turned = scoped(bench, run);
    let jobs: Vec<_> = turned.claimed.iter().map(|claimed| claimed.claim.job).collect();
    assert_eq!(jobs, [ids[0], ids[2]]);
    assert!(!turned.more, "what waits for a limit is no work");
    let outlook = bench.store.outlook(Some(run)).expect("an answer");
    assert_eq!((outlook.owned, outlook.ready), (2, 2));
    bench.store.pause_group("g", true).expect("paused");
    assert_eq!(bench.store.outlook(Some(run)).expect("an answer").ready, 1);
}

fn a_million_jobs_behind_a_limit_are_passed_at_once(bench: &mut Bench) {
    bench.store.set_group("g", Some(1)).expect("a limit");
    let top = NewJob { priority: 9, ..grouped("g") };
    let locked = NewJob { priority: 9, ..exclusive("m") };
    let held = bench.add_all(&[top.clone(), locked.clone()]);
    bench.turn(ROOM);
    for _ in 0..20 {
        bench.add_all(&vec![top.clone(); 2_500]);
        bench.add_all(&vec![locked.clone(); 2_500]);
    }
    bench.turn(0);
    let plain = bench.add(job());
    let from = Instant::now();
    assert_eq!(claimed(bench, 4), [plain]);
    bench.end(held[0], Outcome::Exited(0));
    bench.end(held[1], Outcome::Exited(0));
    assert_eq!(claimed(bench, 4).len(), 2);
    assert!(from.elapsed() < Duration::from_secs(1), "{:?}", from.elapsed());
}

fn many_mutexes_are_looked_at_in_several_turns(bench: &mut Bench) {
    let jobs: Vec<_> = (0..2_500).map(|key| exclusive(&key.to_string())).collect();
    bench.add_all(&jobs);
    let mut all = 0;
    loop {
        let turned = bench.turn(ROOM);
        all += turned.claimed.len();
        assert!(turned.claimed.len() <= 1_000);
        if !turned.more {
            break;
        }
    }
    assert_eq!(all, 2_500);
}

fn groups_are_listed_with_what_is_in_them(bench: &mut Bench) {
    bench.store.set_group("b", Some(7)).expect("a limit");
    let later = NewJob { scheduled_at: START.plus(Duration::from_secs(9)), ..grouped("a") };
    let ids = bench.add_all(&[grouped("a"), grouped("a"), later, grouped("c")]);
    bench.take(ids[0]);
    bench.end(ids[3], Outcome::Exited(0));
    bench.store.pause_group("a", true).expect("paused");
    let groups = bench.store.groups().expect("an answer");
    let told: Vec<_> = groups
        .iter()
        .map(|group| (group.name.as_str(), group.parallel, group.paused, group.running))
        .collect();
    assert_eq!(told, [("a", None, true, 2), ("b", Some(7), false, 0)]);
    assert_eq!((groups[0].ready, groups[0].waiting), (0, 1));
}

fn a_group_alone_is_told_as_among_all(bench: &mut Bench) {
    let ids = bench.add_all(&[grouped("a"), grouped("a"), grouped("a"), grouped("a"), job()]);
    bench.start(ids[0]);
    bench.take(ids[1]);
    bench.end(ids[2], Outcome::Exited(1));
    bench.finish(ids[3], State::Dead);
    bench.add(exclusive("held"));
    let later = NewJob { scheduled_at: bench.now.plus(Duration::from_secs(9)), ..grouped("a") };
    let behind = NewJob { mutex: Some("held".to_owned()), ..grouped("a") };
    bench.turn(1);
    let after = NewJob { group: Some("a".to_owned()), ..after(&[ids[0]]) };
    let hold = NewJob { hold: true, ..grouped("a") };
    bench.add_all(&[grouped("a"), later, behind, after, hold, grouped("b"), grouped("A")]);
    bench.store.set_group("b", Some(3)).expect("a limit");
    bench.turn(0);
    let want = Group {
        name: "a".to_owned(),
        parallel: None,
        paused: false,
        running: 2,
        ready: 2,
        waiting: 4,
    };
    assert_eq!(bench.store.group("a").expect("an answer"), Some(want));
    let all = bench.store.groups().expect("an answer");
    assert_eq!(all.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["A", "a", "b"]);
    for group in all {
        assert_eq!(bench.store.group(&group.name).expect("an answer"), Some(group));
    }
}

fn a_group_is_there_as_long_as_it_has_a_limit_or_unfinished_jobs(bench: &mut Bench) {
    let is_there = |bench: &mut Bench, name: &str| {
        let is_there = bench.store.has_group(name).expect("an answer");
        assert_eq!(bench.store.group(name).expect("an answer").is_some(), is_there, "{name}");
        is_there
    };
    bench.store.set_group("limited", Some(1)).expect("a limit");
    let hold = NewJob { hold: true, ..grouped("held") };
    let ids = bench.add_all(&[hold, grouped("ended")]);
    assert!(is_there(bench, "limited") && is_there(bench, "held") && is_there(bench, "ended"));
    bench.end(ids[1], Outcome::Exited(0));
    assert!(!is_there(bench, "ended") && !is_there(bench, "unheard of"));
}

fn jobs_are_selected_by_their_group(bench: &mut Bench) {
    let ids = bench.add_all(&[grouped("encode"), job(), grouped("enter"), grouped("x")]);
    let select = |bench: &mut Bench, glob: &str| {
        bench.store.select(&Selector::Group(glob.to_owned())).expect("an answer")
    };
    assert_eq!(select(bench, "encode"), [ids[0]]);
    assert_eq!(select(bench, "en*"), [ids[0], ids[2]]);
    assert_eq!(bench.runner, RunnerId(1));
}

fn the_groups_that_are_paused_are_told_by_name(bench: &mut Bench) {
    for (name, paused) in [("b", true), ("a", true), ("open", false)] {
        bench.store.pause_group(name, paused).expect("written");
    }
    assert_eq!(bench.store.paused_groups().expect("an answer"), ["a", "b"]);
}
