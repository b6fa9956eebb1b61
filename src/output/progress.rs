//! What `ax run` shows while it runs: one line an event, JSON lines, or a
//! living line on a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::{Style, event, time};
use crate::job::{JobId, State, Verdict};
use crate::sched::RunEvent;

/// Shows the events of a runner.
pub struct Progress {
    mode: Mode,
    color: bool,
    tally: Tally,
}

enum Mode {
    Lines,
    Json,
    Terminal(ProgressBar),
}

impl Progress {
    /// JSON lines on stdout if asked; a living line if stderr, which `style`
    /// is of, is a terminal that can redraw a line; else a line an event there.
    pub fn new(json: bool, style: Style) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let mode = match style.width {
            _ if json => Mode::Json,
            Some(_) if !dumb => Mode::Terminal(living_line()),
            Some(_) | None => Mode::Lines,
        };
        Self { mode, color: style.color, tally: Tally::default() }
    }

    /// Shows an event. That nobody reads it any more stops nothing.
    pub fn show(&mut self, event: &RunEvent, out: &mut dyn Write, err: &mut dyn Write) {
        match &self.mode {
            Mode::Json => {
                let _ = out.write_all(format!("{}\n", event.to_json()).as_bytes());
                let _ = out.flush();
            }
            Mode::Lines => {
                // In one piece, so that lines of several runners do not mix.
                let line = format!("{}\n", event::line(event, self.color));
                let _ = err.write_all(line.as_bytes());
            }
            Mode::Terminal(bar) => {
                if is_worth_a_line(event) {
                    bar.println(event::line(event, self.color));
                }
                self.tally.count(event);
                bar.set_message(self.tally.text());
            }
        }
    }

    /// Takes the living line away.
    pub fn finish(self) {
        match self.mode {
            Mode::Terminal(bar) => bar.finish_and_clear(),
            Mode::Lines | Mode::Json => (),
        }
    }
}

/// A line that is redrawn in place, cut to the width of the terminal.
fn living_line() -> ProgressBar {
    const TICK: Duration = Duration::from_millis(250);
    let since = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
        let _ = text.write_str(&time::whole(state.elapsed()));
    };
    let style = ProgressStyle::with_template("{spinner} {since} {wide_msg}")
        .expect("the template is a constant that is valid")
        .with_key("since", since);
    let bar = ProgressBar::new_spinner().with_style(style);
    bar.enable_steady_tick(TICK);
    bar
}

/// On a terminal the living line says who runs; a line stays for what a
/// person wants to read later.
const fn is_worth_a_line(event: &RunEvent) -> bool {
    match event {
        RunEvent::Started { .. } => false,
        RunEvent::Ended { .. }
        | RunEvent::Moved(_)
        | RunEvent::Recovered { .. }
        | RunEvent::Trouble(_)
        | RunEvent::Stopping(_) => true,
    }
}

/// Who runs, and how many attempts ended how.
#[derive(Debug, Default)]
struct Tally {
    running: BTreeMap<JobId, String>,
    succeeded: u64,
    failed: u64,
}

impl Tally {
    fn count(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started { claim, title, .. } => {
                self.running.insert(claim.job, title.clone());
            }
            RunEvent::Ended { claim, verdict, late, .. } => {
                self.running.remove(&claim.job);
                if !late {
                    self.judge(*verdict);
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

    /// `2 running, 14 success, 1 failed: 17 fetch, 18 clean`.
    fn text(&self) -> String {
        const SHOWN: usize = 3;
        let counts = [
            (self.running.len() as u64, "running"),
            (self.succeeded, State::Success.as_str()),
            (self.failed, State::Failed.as_str()),
        ];
        let told = counts.iter().filter(|(count, what)| *count > 0 || *what == "running");
        let mut text =
            told.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ");
        for (n, (id, title)) in self.running.iter().take(SHOWN).enumerate() {
            let between = if n == 0 { ": " } else { ", " };
            let _ = write!(text, "{between}{id} {}", event::short(title));
        }
        if self.running.len() > SHOWN {
            text.push_str(", …");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::tests::{ended, started};
    use super::*;
    use crate::job::Outcome;

    fn tally(events: &[RunEvent]) -> String {
        let mut tally = Tally::default();
        for event in events {
            tally.count(event);
        }
        tally.text()
    }

    #[test]
    fn nothing_has_happened_yet() {
        assert_eq!(tally(&[]), "0 running");
    }

    #[test]
    fn the_living_line_says_who_runs_and_how_many_ended_how() {
        let events = [
            started(7, "fetch"),
            started(8, "clean\x1b[2J"),
            ended(7, Outcome::Exited(0), Verdict::Success, ""),
            ended(9, Outcome::Exited(1), Verdict::Dead, ""),
        ];
        assert_eq!(tally(&events), r"1 running, 1 success, 1 failed: 8 clean\x1b[2J");
    }

    #[test]
    fn of_many_that_run_three_are_named() {
        let events: Vec<_> = (1..=5).map(|job| started(job, "x")).collect();
        assert_eq!(tally(&events), "5 running: 1 x, 2 x, 3 x, …");
    }

    #[test]
    fn what_goes_back_to_the_queue_has_not_failed() {
        let events = [started(7, "x"), ended(7, Outcome::Interrupted, Verdict::Interrupt, "")];
        assert_eq!(tally(&events), "0 running");
    }

    #[test]
    fn in_a_pipe_there_is_a_line_for_each_event_on_stderr_alone() {
        let mut progress = Progress::new(false, Style { color: false, width: None });
        let (mut out, mut err) = (Vec::new(), Vec::new());
        progress.show(&started(7, "x"), &mut out, &mut err);
        progress.show(&ended(7, Outcome::Exited(0), Verdict::Success, ""), &mut out, &mut err);
        progress.finish();
        assert_eq!(String::from_utf8_lossy(&out), "");
        let want = "job 7 x: started, attempt 2\njob 7 backup: success after 4ms\n";
        assert_eq!(String::from_utf8_lossy(&err), want);
    }

    #[test]
    fn scripts_read_json_lines_also_where_there_is_a_terminal() {
        let mut progress = Progress::new(true, Style { color: true, width: Some(80) });
        let (mut out, mut err) = (Vec::new(), Vec::new());
        progress.show(&started(7, "x"), &mut out, &mut err);
        assert!(err.is_empty());
        let event: serde_json::Value = serde_json::from_slice(&out).expect("one JSON document");
        assert_eq!(event["event"], "started");
    }
}
