//! Hooks: owed with the end they are about, taken, begun once.

use std::time::Duration;

use ax_scheduler::job::hook::{HookEnd, HookId, HookRecord, RunHook};
use ax_scheduler::job::{
    Chain, ChainRetry, Hook, JobId, Kind, NewJob, Outcome, ParentRef, RunnerId, State,
};
use ax_scheduler::store::{Cancel, Edit, Prune, Resolution, Revival};

use crate::store::bench::{Bench, ROOM, child_of, job};

promises! {
    a_job_that_ends_owes_its_hook_whatever_the_end,
    a_job_without_a_hook_owes_none,
    a_failure_that_is_tried_again_is_no_end,
    what_nobody_knows_is_told_and_what_a_person_holds_is_not,
    a_job_that_is_born_skipped_owes_its_hook,
    each_end_owes_the_hook_anew,
    a_hook_is_taken_by_one_runner_and_begun_once,
    what_was_taken_and_not_begun_goes_back,
    the_first_word_about_the_end_of_a_hook_counts,
    a_hook_is_told_how_the_job_ended_although_it_was_brought_back,
    what_is_changed_before_the_end_counts,
    a_run_tells_of_its_end_once_with_the_job_that_decided_it,
    a_run_that_is_retried_by_itself_has_not_ended,
    a_start_that_was_taken_back_has_no_end,
    a_runner_of_a_run_takes_the_hooks_of_that_run_alone,
    the_outlook_counts_hooks,
    a_job_is_kept_as_long_as_its_hook_is_owed,
}

fn hook() -> Hook {
    Hook { command: b"./alert.sh".to_vec(), timeout: Duration::from_secs(7) }
}

fn hooked() -> NewJob {
    NewJob { on_end: Some(hook()), max_retries: 1, ..job() }
}

fn hooks(bench: &mut Bench, id: JobId) -> Vec<HookRecord> {
    bench.store.hooks(id).expect("an answer")
}

fn told(bench: &mut Bench, id: JobId) -> Vec<(State, u32)> {
    hooks(bench, id).iter().map(|hook| (hook.state, hook.attempt)).collect()
}

fn take(bench: &mut Bench, room: usize) -> Vec<HookId> {
    let runner = bench.runner;
    bench.store.take_hooks(runner, None, room).expect("an answer")
}

fn done(bench: &Bench) -> HookEnd {
    HookEnd { outcome: Outcome::Exited(0), output: b"sent\n".to_vec(), at: bench.now }
}

fn a_job_that_ends_owes_its_hook_whatever_the_end(bench: &mut Bench) {
    for end in [State::Success, State::Dead, State::Cancelled] {
        let id = bench.add(hooked());
        bench.finish(id, end);
        assert_eq!(told(bench, id), [(end, 1)]);
    }
    let waiting = bench.add(NewJob { hold: true, ..hooked() });
    let now = bench.now;
    bench.store.cancel(&[waiting], &Cancel::default(), now).expect("cancelled");
    assert_eq!(told(bench, waiting), [(State::Cancelled, 0)]);
    let parent = bench.add(job());
    let child = bench.add(NewJob { on_end: Some(hook()), ..child_of(parent, Kind::After) });
    bench.finish(parent, State::Dead);
    bench.quiesce();
    assert_eq!(told(bench, child), [(State::Skipped, 0)]);
}

fn a_job_without_a_hook_owes_none(bench: &mut Bench) {
    let id = bench.add(job());
    bench.finish(id, State::Dead);
    assert_eq!(hooks(bench, id), []);
    assert!(!bench.turn(ROOM).hooks_owed);
}

fn a_failure_that_is_tried_again_is_no_end(bench: &mut Bench) {
    let id = bench.add(hooked());
    bench.end(id, Outcome::Exited(1));
    assert_eq!((bench.state(id), hooks(bench, id).len()), (State::Failed, 0));
    bench.pass(Duration::from_secs(5));
    assert!(bench.end(id, Outcome::Exited(1)).hooks_owed);
    assert_eq!(told(bench, id), [(State::Dead, 2)]);
}

fn what_nobody_knows_is_told_and_what_a_person_holds_is_not(bench: &mut Bench) {
    let id = bench.add(hooked());
    let now = bench.now;
    bench.store.hold(&[id], now).expect("held");
    assert_eq!(hooks(bench, id), []);
    bench.store.release(&[id], now).expect("released");
    bench.finish(id, State::Held);
    assert_eq!(told(bench, id), [(State::Held, 1)]);
    bench.store.resolve(&[id], Resolution::Success, now).expect("resolved");
    assert_eq!(told(bench, id), [(State::Held, 1), (State::Success, 1)]);
}

fn a_job_that_is_born_skipped_owes_its_hook(bench: &mut Bench) {
    let parent = bench.add(job());
    bench.finish(parent, State::Dead);
    let child = bench.add(NewJob { on_end: Some(hook()), ..child_of(parent, Kind::After) });
    assert_eq!(told(bench, child), [(State::Skipped, 0)]);
}

fn each_end_owes_the_hook_anew(bench: &mut Bench) {
    let id = bench.add(hooked());
    bench.finish(id, State::Dead);
    let now = bench.now;
    bench.store.revive(&[id], Revival::default(), now).expect("back");
    bench.finish(id, State::Success);
    assert_eq!(told(bench, id), [(State::Dead, 1), (State::Success, 2)]);
}

fn a_hook_is_taken_by_one_runner_and_begun_once(bench: &mut Bench) {
    let ids = bench.add_all(&[hooked(), hooked(), hooked()]);
    for id in &ids {
        bench.finish(*id, State::Success);
    }
    let (mine, other) = (take(bench, 2), RunnerId(99));
    let theirs = bench.another().take_hooks(other, None, ROOM).expect("an answer");
    assert_eq!((mine.len(), theirs.len()), (2, 1));
    assert!(!mine.contains(&theirs[0]));
    assert_eq!(take(bench, ROOM), []);
    let (now, runner) = (bench.now, bench.runner);
    let mut begin = |hook, runner| bench.store.begin_hook(hook, runner, now).expect("an answer");
    assert!(begin(mine[0], other).is_none(), "it is not theirs");
    let task = begin(mine[0], runner).expect("it is mine");
    assert_eq!(task.ending.job, ids[0]);
    assert_eq!(task.spec.command.text(), "./alert.sh");
    assert_eq!(task.spec.timeout, Some(Duration::from_secs(7)));
    assert_eq!(task.spec.cwd.as_deref(), Some(&b"/"[..]));
    let env = task.spec.env.expect("that of the job");
    assert_eq!(env.get("PATH"), Some(&b"/bin"[..]));
    assert!(begin(mine[0], runner).is_none(), "it was begun before");
}

fn what_was_taken_and_not_begun_goes_back(bench: &mut Bench) {
    let id = bench.add(hooked());
    bench.finish(id, State::Success);
    let hook = take(bench, ROOM)[0];
    let (now, runner) = (bench.now, bench.runner);
    bench.store.give_back_hook(hook, RunnerId(99)).expect("an answer");
    assert_eq!(take(bench, ROOM), [], "nobody but its runner gives it back");
    bench.store.give_back_hook(hook, runner).expect("an answer");
    let late = bench.store.begin_hook(hook, runner, now).expect("an answer");
    assert!(late.is_none(), "it was given back");
    assert_eq!(take(bench, ROOM), [hook]);
    assert!(bench.store.begin_hook(hook, runner, now).expect("an answer").is_some());
    bench.store.give_back_hook(hook, runner).expect("an answer");
    assert_eq!(take(bench, ROOM), [], "what was begun is not begun again");
}

fn the_first_word_about_the_end_of_a_hook_counts(bench: &mut Bench) {
    let id = bench.add(hooked());
    bench.finish(id, State::Success);
    let hook = take(bench, ROOM)[0];
    let (now, runner, end) = (bench.now, bench.runner, done(bench));
    assert!(!bench.store.end_hook(hook, &end).expect("an answer"), "it was not begun");
    bench.store.begin_hook(hook, runner, now).expect("an answer");
    let open = bench.store.open_hooks().expect("an answer");
    assert_eq!(open.iter().map(|open| (open.id, open.begun)).collect::<Vec<_>>(), [(hook, true)]);
    assert!(bench.store.end_hook(hook, &end).expect("an answer"));
    let other = HookEnd::unknown("killed", now);
    assert!(!bench.store.end_hook(hook, &other).expect("an answer"));
    let record = &hooks(bench, id)[0];
    assert_eq!(record.outcome.as_deref(), Some("exited"));
    assert_eq!((record.error.as_deref(), record.output.as_slice()), (None, &b"sent\n"[..]));
    assert_eq!(bench.store.open_hooks().expect("an answer"), []);
}

fn a_hook_is_told_how_the_job_ended_although_it_was_brought_back(bench: &mut Bench) {
    let id = bench.add(NewJob { name: Some("copy".into()), max_retries: 0, ..hooked() });
    bench.end(id, Outcome::Exited(7));
    let now = bench.now;
    bench.store.revive(&[id], Revival::default(), now).expect("back");
    let (hook, runner) = (take(bench, ROOM)[0], bench.runner);
    let task = bench.store.begin_hook(hook, runner, now).expect("an answer").expect("begun");
    let ending = task.ending;
    assert_eq!((ending.state, ending.attempt, ending.exit_code), (State::Dead, 1, Some(7)));
    assert_eq!((ending.name.as_deref(), ending.reason.as_deref()), (Some("copy"), Some("exit 7")));
    assert_eq!(ending.took, Some(Duration::ZERO));
}

fn what_is_changed_before_the_end_counts(bench: &mut Bench) {
    use ax_scheduler::job::Settings;
    use ax_scheduler::job::hook::OnEnd;
    let now = bench.now;
    let ids = bench.add_all(&[hooked(), hooked(), job()]);
    let mut edit = |id, settings| {
        bench.store.edit(id, &Edit { settings, ..Edit::default() }, now).expect("changed");
    };
    let other = || Some(OnEnd(Some(b"./other.sh".to_vec())));
    edit(ids[0], Settings { on_end: Some(OnEnd(None)), ..Settings::default() });
    edit(ids[1], Settings { on_end: other(), ..Settings::default() });
    edit(ids[2], Settings { on_end: other(), ..Settings::default() });
    for id in &ids {
        bench.finish(*id, State::Success);
    }
    assert_eq!(hooks(bench, ids[0]), []);
    assert_eq!(hooks(bench, ids[1])[0].command, b"./other.sh");
    assert_eq!(hooks(bench, ids[2])[0].command, b"./other.sh");
    let timeouts: Vec<_> = ids[1..].iter().map(|id| bench.job(*id).on_end).collect();
    let timeout = |hook: &Option<Hook>| hook.as_ref().expect("a hook").timeout.as_secs();
    assert_eq!(timeouts.iter().map(timeout).collect::<Vec<_>>(), [7, 60]);
}

fn chain(max: u32) -> Chain {
    let after = |at| (ParentRef::InBatch(at), Kind::After);
    let plain = |parents| NewJob { parents, max_retries: 0, ..job() };
    Chain {
        flow: Some("nightly".into()),
        jobs: vec![plain(vec![]), plain(vec![after(0)]), plain(vec![after(1)])],
        retry: ChainRetry { max, delay: Duration::ZERO },
        on_end: Some(RunHook { hook: hook(), cwd: b"/flows".to_vec() }),
    }
}

fn enqueue(bench: &mut Bench, chain: &Chain) -> Vec<JobId> {
    let now = bench.now;
    let added = bench.store.enqueue(chain, now).expect("added").added;
    added.iter().map(|added| added.id).collect()
}

fn a_run_tells_of_its_end_once_with_the_job_that_decided_it(bench: &mut Bench) {
    let ids = enqueue(bench, &chain(0));
    bench.finish(ids[0], State::Success);
    bench.finish(ids[1], State::Dead);
    bench.quiesce();
    assert_eq!(bench.state(ids[2]), State::Skipped);
    let all: Vec<_> = ids.iter().flat_map(|id| hooks(bench, *id)).collect();
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].of_run, all[0].state), (true, State::Dead));
    assert_eq!(told(bench, ids[1]), [(State::Dead, 1)]);
    let (hook, now, runner) = (take(bench, ROOM)[0], bench.now, bench.runner);
    let task = bench.store.begin_hook(hook, runner, now).expect("an answer").expect("begun");
    assert_eq!(task.ending.flow.as_deref(), Some("nightly"));
    assert_eq!(task.spec.cwd.as_deref(), Some(&b"/flows"[..]));
    // A person brings it back, and it ends again.
    bench.store.revive(&[ids[1]], Revival::default(), now).expect("back");
    bench.finish(ids[1], State::Success);
    bench.finish(ids[2], State::Success);
    assert_eq!(told(bench, ids[2]), [(State::Success, 1)]);
}

fn a_run_that_is_retried_by_itself_has_not_ended(bench: &mut Bench) {
    let mut chain = chain(1);
    chain.jobs[1].on_end = Some(hook());
    let ids = enqueue(bench, &chain);
    bench.finish(ids[0], State::Success);
    bench.end(ids[1], Outcome::Exited(1));
    bench.quiesce();
    let none: Vec<_> = ids.iter().flat_map(|id| told(bench, *id)).collect();
    assert_eq!(none, [], "the chain starts again");
    bench.finish(ids[0], State::Success);
    bench.end(ids[1], Outcome::Exited(1));
    bench.quiesce();
    let both = hooks(bench, ids[1]);
    let mut kinds: Vec<_> = both.iter().map(|hook| (hook.of_run, hook.state)).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [(false, State::Dead), (true, State::Dead)]);
}

fn a_start_that_was_taken_back_has_no_end(bench: &mut Bench) {
    use ax_scheduler::job::{CatchUp, NewSchedule, Overlap, Recurrence, Timetable};
    let table = Timetable::new("0 2 * * *", "UTC").expect("a timetable");
    let recurrence = Recurrence { table, catch_up: CatchUp::One, overlap: Overlap::Skip };
    let mut chain = chain(0);
    chain.jobs[0].on_end = Some(hook());
    let schedule = NewSchedule { name: "nightly".into(), recurrence, chain };
    let now = bench.now;
    let made = bench.store.schedule(&[schedule], false, now).expect("made");
    let jobs = made[0].next.clone().expect("a start").jobs;
    bench.store.pause(&["nightly".to_owned()], now).expect("paused");
    assert!(bench.state(jobs[0]).is_final());
    let owed: Vec<_> = jobs.iter().flat_map(|id| told(bench, *id)).collect();
    assert_eq!(owed, []);
}

fn a_runner_of_a_run_takes_the_hooks_of_that_run_alone(bench: &mut Bench) {
    let alone = bench.add(hooked());
    bench.finish(alone, State::Success);
    let now = bench.now;
    let enqueued = bench.store.enqueue(&chain(0), now).expect("added");
    for added in &enqueued.added {
        bench.finish(added.id, State::Success);
    }
    let (run, runner) = (Some(enqueued.run), bench.runner);
    let scoped = ax_scheduler::store::Turn { scope: run, ..bench.empty_turn(0) };
    assert!(bench.store.turn(&scoped).expect("a turn").hooks_owed);
    let taken = bench.store.take_hooks(runner, run, ROOM).expect("an answer");
    let last = enqueued.added[2].id;
    assert_eq!(taken, [hooks(bench, last)[0].id]);
    assert!(!bench.store.turn(&scoped).expect("a turn").hooks_owed);
    assert_eq!(take(bench, ROOM), [hooks(bench, alone)[0].id]);
}

fn the_outlook_counts_hooks(bench: &mut Bench) {
    let id = bench.add(hooked());
    bench.finish(id, State::Success);
    let is_idle = |bench: &mut Bench| bench.store.outlook(None).expect("an answer").is_idle();
    assert!(!is_idle(bench), "one is owed");
    let (hook, now, runner, end) = (take(bench, ROOM)[0], bench.now, bench.runner, done(bench));
    assert!(!is_idle(bench), "one is taken");
    bench.store.begin_hook(hook, runner, now).expect("an answer");
    assert!(!is_idle(bench), "one runs");
    bench.store.end_hook(hook, &end).expect("an answer");
    assert!(is_idle(bench));
}

fn a_job_is_kept_as_long_as_its_hook_is_owed(bench: &mut Bench) {
    let id = bench.add(hooked());
    bench.finish(id, State::Success);
    let how = Prune { before: bench.now, after: None, dry_run: false };
    assert_eq!(bench.store.prune(&how).expect("an answer").removed, []);
    let (hook, now, runner, end) = (take(bench, ROOM)[0], bench.now, bench.runner, done(bench));
    bench.store.begin_hook(hook, runner, now).expect("an answer");
    bench.store.end_hook(hook, &end).expect("an answer");
    assert_eq!(bench.store.prune(&how).expect("an answer").removed, [(id, State::Success)]);
    assert_eq!(hooks(bench, id), []);
}
