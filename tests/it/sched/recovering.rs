//! Attempts whose supervisors are dead, and what is left of them.

use std::cell::Cell;
use std::io;
use std::path::PathBuf;

use ax_scheduler::exec::journal::{Entries, Entry, Step};
use ax_scheduler::exec::process::Identity;
use ax_scheduler::job::hook::{HookId, OpenHook};
use ax_scheduler::job::{Captured, Claim, Process, RunnerId, State};
use ax_scheduler::sched::recover;
use ax_scheduler::sched::scene::{Scene, Witness};
use ax_scheduler::store::Runner;

use crate::store::bench::{self, Bench, process};

/// A dead supervisor that had started an attempt, of which something is left
/// that does not end when it is killed.
struct Undying {
    claim: Claim,
    is_left: Cell<bool>,
}

impl Scene for Undying {
    fn is_alive(&self, _: &Runner) -> io::Result<bool> {
        Ok(true)
    }

    fn is_complete(&self, _: &Runner) -> io::Result<bool> {
        Ok(true)
    }

    fn witnesses(&self, _: RunnerId) -> io::Result<Vec<Witness>> {
        let step = Step::Started(process(bench::START));
        let entries = vec![Entry { claim: self.claim, number: 1, step }];
        let supervisor = Identity { pid: 7, start_time: 9, boot_id: "boot".to_owned() };
        let journal = Entries { supervisor: Some(supervisor), entries };
        Ok(vec![Witness { path: PathBuf::new(), alive: false, journal }])
    }

    fn stop_survivors(
        &self,
        _: &Witness,
        _: Claim,
        _: Option<Process>,
    ) -> io::Result<Option<String>> {
        Ok(self.is_left.get().then(|| "process 8 is left".to_owned()))
    }

    fn is_seen(&self, _: Claim, _: &[Witness]) -> io::Result<bool> {
        Ok(false)
    }

    fn salvage(&self, _: &Witness, _: Claim) -> Captured {
        Captured::default()
    }

    fn is_hook_alive(&self, _: HookId) -> io::Result<bool> {
        Ok(false)
    }

    fn stop_hook(&self, _: &OpenHook) -> io::Result<Option<String>> {
        Ok(None)
    }

    fn clear_hook_away(&self, _: HookId) {}

    fn clear_away(&self, _: RunnerId, _: &[Witness]) {}
}

#[test]
fn what_a_broken_worker_left_and_does_not_end_is_looked_at_until_it_has() {
    let mut bench = Bench::sqlite();
    let job = bench.add(bench::job());
    let claim = bench.start(job).claim;
    let scene = Undying { claim, is_left: Cell::new(true) };
    let mut abandoned = vec![claim];
    for told in [1, 0] {
        let (store, now) = (bench.store.as_mut(), bench.now);
        let found = recover::settle_own(store, &scene, claim.owner, &mut abandoned, now);
        assert_eq!(found.expect("looked at").len(), told, "it is told of once");
        assert_eq!(abandoned, [claim]);
        assert_eq!(bench.state(job), State::Running);
    }
    scene.is_left.set(false);
    let (store, now) = (bench.store.as_mut(), bench.now);
    let found = recover::settle_own(store, &scene, claim.owner, &mut abandoned, now);
    assert_eq!(found.expect("looked at").len(), 1);
    assert_eq!(abandoned, []);
    assert_eq!(bench.state(job), State::Failed);
}
