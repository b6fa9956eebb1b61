//! What `ax run` shows on a terminal below the lines of its events: what runs,
//! what waits, how fast it goes, how much failed.
//!
//! What is shown is computed from the events, which say at once who started and
//! who ended, and from a look at the store now and then, which knows the rest.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::running::{self, Pieces, Row};
use super::screen::Size;
use super::{Style, paint, time};
use crate::job::{Job, JobId, State, Timestamp, Verdict};
use crate::sched::RunEvent;
use crate::store::Queue;

/// So many jobs that run are shown at most.
const SHOWN: usize = 10;

/// The rate is that of the last seconds.
const WINDOW: i64 = 10;

/// What is known at one moment.
pub struct Live {
    begun: Timestamp,
    running: BTreeMap<JobId, Run>,
    succeeded: u64,
    failed: u64,
    /// How many attempts ended in each of the last seconds.
    ends: VecDeque<(i64, u64)>,
    queue: Queue,
    /// How often the store was looked at.
    looks: u64,
}

/// An attempt that runs.
struct Run {
    title: String,
    at: Timestamp,
    usual: Option<Duration>,
    says: Option<String>,
    /// After which look it was heard of.
    look: u64,
}

impl Live {
    /// Nothing is known yet.
    pub fn new(begun: Timestamp) -> Self {
        Self {
            begun,
            running: BTreeMap::new(),
            succeeded: 0,
            failed: 0,
            ends: VecDeque::new(),
            queue: Queue::default(),
            looks: 0,
        }
    }

    /// Tells whether something runs, so that what is shown changes by itself.
    pub fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }

    /// Takes note of an event.
    pub fn note(&mut self, event: &RunEvent, now: Timestamp) {
        match event {
            RunEvent::Started { claim, title, at } => {
                let (title, look) = (title.clone(), self.looks);
                let run = Run { title, at: *at, usual: None, says: None, look };
                self.running.insert(claim.job, run);
            }
            RunEvent::Ended { claim, verdict, late, .. } => {
                self.running.remove(&claim.job);
                if !late {
                    self.judge(*verdict);
                    self.count_end(now);
                }
            }
            RunEvent::Moved(_)
            | RunEvent::Recovered { .. }
            | RunEvent::Trouble(_)
            | RunEvent::Stopping(_) => (),
        }
    }

    const fn judge(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Success => self.succeeded += 1,
            Verdict::Retry(_) | Verdict::Dead | Verdict::Held => self.failed += 1,
            Verdict::GiveBack | Verdict::Interrupt | Verdict::Later(_) | Verdict::Cancelled => (),
        }
    }

    fn count_end(&mut self, now: Timestamp) {
        let second = now.millis() / 1_000;
        match self.ends.back_mut() {
            Some((last, count)) if *last == second => *count += 1,
            Some(_) | None => self.ends.push_back((second, 1)),
        }
        self.ends.retain(|(other, _)| (second - WINDOW..=second).contains(other));
    }

    /// Takes note of what the store says of the jobs of this runner: the queue,
    /// what runs with its usual time. Whoever does not run any more goes, also
    /// if nobody heard its end: a terminal that takes nothing loses events.
    pub fn learn(&mut self, queue: Queue, running: &[(Job, Option<Duration>)]) {
        self.queue = queue;
        let looks = self.looks;
        let runs = |id: &JobId| running.iter().any(|(job, _)| job.id == *id);
        self.running.retain(|id, run| run.look == looks || runs(id));
        self.looks += 1;
        for (job, usual) in running {
            if let Some(run) = self.running.get_mut(&job.id) {
                run.usual = *usual;
                run.says = super::cells::progress(job);
            }
        }
    }

    /// The lines to show, none wider than the terminal, and fewer than it has.
    pub fn lines(&self, now: Timestamp, size: Size, color: bool) -> Vec<String> {
        let style = Style { color, width: Some(size.columns) };
        let mut lines = vec![paint::line(&self.own(now), style)];
        // There stay a line above and one below, and of the view the two heads
        // and what tells of more.
        let room = size.rows.saturating_sub(6).min(SHOWN);
        let queue = running::queue(&self.queue);
        if room > 0 && !queue.is_empty() {
            let queue = [vec![("queue: ".to_owned(), paint::FAINT)], paint::listed(queue)].concat();
            lines.push(paint::line(&queue, style));
        }
        let rows = self.rows(now);
        if room > 0 && !rows.is_empty() {
            let shown = &rows[..rows.len().min(room)];
            lines.extend(running::lines(shown, style));
            if rows.len() > shown.len() {
                let more = format!("and {} more", rows.len() - shown.len());
                lines.push(paint::line(&[(more, paint::FAINT)], style));
            }
        }
        lines
    }

    /// Who runs, longest first.
    fn rows(&self, now: Timestamp) -> Vec<Row> {
        let mut running: Vec<_> = self.running.iter().collect();
        running.sort_by_key(|(id, run)| (run.at, **id));
        let row = |(id, run): (&JobId, &Run)| Row {
            job: *id,
            title: run.title.clone(),
            runner: None,
            elapsed: now.since(run.at),
            usual: run.usual,
            says: run.says.clone(),
        };
        running.into_iter().map(row).collect()
    }

    /// `2 running, 14 success, 1 failed, 3.4/s, for 1m20s`.
    fn own(&self, now: Timestamp) -> Pieces {
        let whole = now.since(self.begun);
        let window = Duration::from_secs(WINDOW.unsigned_abs());
        let recent = now.millis() / 1_000 - WINDOW;
        let ended = self.ends.iter().filter(|(second, _)| *second > recent);
        let rate = running::rate(ended.map(|(_, count)| count).sum(), window.min(whole));
        let mut own = vec![(format!("{} running", self.running.len()), paint::of(State::Running))];
        if self.succeeded > 0 {
            own.push((format!("{} success", self.succeeded), paint::of(State::Success)));
        }
        if self.failed > 0 {
            own.push((format!("{} failed", self.failed), paint::of(State::Failed)));
        }
        own.extend(rate.map(|rate| (rate, paint::PLAIN)));
        own.push((format!("for {}", time::whole(whole)), paint::FAINT));
        paint::listed(own)
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::tests::{ended, started};
    use super::*;
    use crate::job::Outcome;
    use crate::output::example::{self, after};

    fn start(live: &mut Live, id: i64, title: &str, at: i64) {
        let mut event = started(id, title);
        if let RunEvent::Started { at: moment, .. } = &mut event {
            *moment = after(at);
        }
        live.note(&event, after(at));
    }

    /// Seventy seconds in: two of many succeeded, one failed, three run.
    fn busy() -> Live {
        let mut live = Live::new(after(0));
        start(&mut live, 7, "fetch", 1);
        start(&mut live, 8, "日本語 🎉 and a name that goes on and on\x1b[2J", 20);
        start(&mut live, 12, "sleep 3", 68);
        for (id, outcome, verdict) in [
            (1, Outcome::Exited(0), Verdict::Success),
            (2, Outcome::Exited(0), Verdict::Success),
            (3, Outcome::Exited(1), Verdict::Dead),
        ] {
            live.note(&ended(id, outcome, verdict, ""), after(69));
        }
        let copies = Job {
            progress: Some(40),
            progress_text: Some("copied 4 of 10".to_owned()),
            ..example::job(8)
        };
        let usual = |seconds| Some(Duration::from_secs(seconds));
        let seen = [(example::job(7), usual(30)), (copies, usual(90)), (example::job(12), None)];
        live.learn(Queue { ready: 12, claimed: 4, waiting: 3, held: 1, ..Queue::default() }, &seen);
        live
    }

    fn shown(live: &Live, rows: usize, columns: usize) -> String {
        live.lines(after(70), Size { rows, columns }, false).join("\n")
    }

    #[test]
    fn eighty_columns_have_room_for_all_of_it() {
        insta::assert_snapshot!(shown(&busy(), 24, 80), @r"
        3 running, 2 success, 1 failed, 18/min, for 1m10s
        queue: 12 ready, 4 claimed, 3 waiting for others, 1 held
        ID  NAME                                          FOR  USUAL  SAYS
         7  fetch                                       1m09s    30s
         8  日本語 🎉 and a name that goes on and on\…    50s  1m30s  40% copied 4 of 10
        12  sleep 3                                      2.0s      -
        ");
    }

    #[test]
    fn forty_columns_shorten_names_and_what_is_said() {
        insta::assert_snapshot!(shown(&busy(), 24, 40), @r"
        3 running, 2 success, 1 failed, 18/min,…
        queue: 12 ready, 4 claimed, 3 waiting f…
        ID  NAME              FOR  SAYS
         7  fetch           1m09s
         8  日本語 🎉 and…    50s  40% copied 4…
        12  sleep 3          2.0s
        ");
    }

    #[test]
    fn a_hundred_and_sixty_columns_shorten_nothing() {
        insta::assert_snapshot!(shown(&busy(), 24, 160), @r"
        3 running, 2 success, 1 failed, 18/min, for 1m10s
        queue: 12 ready, 4 claimed, 3 waiting for others, 1 held
        ID  NAME                                               FOR  USUAL  SAYS
         7  fetch                                            1m09s    30s
         8  日本語 🎉 and a name that goes on and on\x1b[2J    50s  1m30s  40% copied 4 of 10
        12  sleep 3                                           2.0s      -
        ");
    }

    #[test]
    fn nothing_runs_and_nothing_waits() {
        insta::assert_snapshot!(shown(&Live::new(after(0)), 24, 80), @"0 running, for 1m10s");
    }

    #[test]
    fn of_a_thousand_that_run_ten_are_shown() {
        let mut live = Live::new(after(0));
        for id in 1..=1_000 {
            start(&mut live, id, "x", id / 100);
        }
        let text = shown(&live, 50, 80);
        assert_eq!(text.lines().count(), 1 + 1 + SHOWN + 1);
        assert!(text.starts_with("1000 running") && text.ends_with("and 990 more"), "{text}");
    }

    #[test]
    fn no_terminal_is_too_small() {
        for rows in 1..12 {
            for columns in 1..30 {
                let lines = busy().lines(after(70), Size { rows, columns }, true);
                assert!(lines.len() < rows.max(2), "{rows}: {lines:?}");
                let wide = |line: &&String| {
                    !line.contains('\x1b') && crate::output::text::width(line) > columns
                };
                assert_eq!(lines.iter().find(wide), None, "{columns}");
            }
        }
    }

    #[test]
    fn colours_are_for_what_deserves_a_look() {
        let lines = busy().lines(after(70), Size { rows: 24, columns: 80 }, true);
        assert!(
            lines[0].starts_with("\x1b[1m\x1b[34m3 running\x1b[0m, \x1b[32m2 success"),
            "{lines:?}"
        );
        assert!(lines[3].contains("\x1b[33m1m09s\x1b[0m"), "twice its usual time: {lines:?}");
    }

    #[test]
    fn what_ended_unheard_is_gone_after_a_look() {
        let mut live = busy();
        start(&mut live, 13, "new", 69);
        live.learn(Queue::default(), &[(example::job(12), None)]);
        assert_eq!(live.running.keys().map(|id| id.0).collect::<Vec<_>>(), [12, 13]);
        live.learn(Queue::default(), &[]);
        assert!(!live.is_busy());
    }

    #[test]
    fn what_goes_back_to_the_queue_has_not_failed() {
        let mut live = Live::new(after(0));
        start(&mut live, 7, "x", 0);
        live.note(&ended(7, Outcome::Interrupted, Verdict::Interrupt, ""), after(1));
        assert_eq!((live.succeeded, live.failed, live.is_busy()), (0, 0, false));
    }
}
