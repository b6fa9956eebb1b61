//! What `ax run` shows while it runs: one line an event, JSON lines, or a
//! living line on a terminal.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::escape::escape;
use crate::job::{JobId, State};
use crate::sched::RunEvent;

/// Shows the events of a runner.
pub struct Progress {
    mode: Mode,
    running: BTreeMap<JobId, String>,
    succeeded: u64,
    failed: u64,
}

enum Mode {
    Lines,
    Json,
    Terminal(ProgressBar),
}

impl Progress {
    /// JSON lines on stdout if asked; a living line if stderr is a terminal;
    /// else a line an event on stderr.
    pub fn new(json: bool) -> Self {
        let mode = if json {
            Mode::Json
        } else if std::io::stderr().is_terminal() {
            Mode::Terminal(living_line())
        } else {
            Mode::Lines
        };
        Self { mode, running: BTreeMap::new(), succeeded: 0, failed: 0 }
    }

    /// Shows an event. That nobody reads it any more stops nothing.
    pub fn show(&mut self, event: &RunEvent, out: &mut dyn Write, err: &mut dyn Write) {
        self.count(event);
        match &self.mode {
            Mode::Json => {
                let _ = writeln!(out, "{}", event.to_json());
                let _ = out.flush();
            }
            Mode::Lines => {
                let _ = writeln!(err, "{}", line(event));
            }
            Mode::Terminal(bar) => {
                if is_worth_a_line(event) {
                    bar.println(line(event));
                }
                bar.set_message(self.summary());
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

    fn count(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started { claim, title, .. } => {
                self.running.insert(claim.job, title.clone());
            }
            RunEvent::Ended { claim, verdict, .. } => {
                self.running.remove(&claim.job);
                match verdict.event().target() {
                    State::Success => self.succeeded += 1,
                    State::Failed | State::Dead | State::Held | State::Cancelled => {
                        self.failed += 1;
                    }
                    State::Pending
                    | State::Ready
                    | State::Dispatched
                    | State::Running
                    | State::Skipped => (),
                }
            }
            RunEvent::Moved(_)
            | RunEvent::Recovered { .. }
            | RunEvent::Trouble(_)
            | RunEvent::Stopping(_) => (),
        }
    }

    fn summary(&self) -> String {
        const SHOWN: usize = 3;
        let mut titles: Vec<_> = self
            .running
            .iter()
            .take(SHOWN)
            .map(|(id, title)| format!("{id} {}", short(title)))
            .collect();
        if self.running.len() > SHOWN {
            titles.push(format!("{} more", self.running.len() - SHOWN));
        }
        let running =
            if titles.is_empty() { String::new() } else { format!(": {}", titles.join(", ")) };
        format!(
            "{} running, {} ended well, {} failed{running}",
            self.running.len(),
            self.succeeded,
            self.failed
        )
    }
}

fn living_line() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}")
        .expect("the template is a constant that is valid");
    let bar = ProgressBar::new_spinner().with_style(style);
    bar.enable_steady_tick(Duration::from_millis(250));
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

/// An event as a line for people.
fn line(event: &RunEvent) -> String {
    match event {
        RunEvent::Started { claim, title, .. } => {
            format!("job {} {}: started, attempt {}", claim.job, short(title), claim.attempt)
        }
        RunEvent::Ended { claim, title, outcome, verdict, error, took, late } => {
            let state = if *late { "reported too late" } else { verdict.event().target().as_str() };
            let took = took.map(|took| format!(" after {}", seconds(took))).unwrap_or_default();
            let code = match (outcome.exit_code(), outcome.signal()) {
                (Some(0) | None, None) => String::new(),
                (Some(code), _) => format!(", exit {code}"),
                (None, Some(signal)) => format!(", signal {signal}"),
            };
            let error = match error {
                Some(error) if *error != code.trim_start_matches(", ") => {
                    format!(": {}", escape(error.as_bytes()))
                }
                Some(_) | None => String::new(),
            };
            format!("job {} {}: {state}{took}{code}{error}", claim.job, short(title))
        }
        RunEvent::Moved(moved) => {
            let reason =
                moved.reason.as_ref().map(|reason| format!(": {}", escape(reason.as_bytes())));
            let state = moved.event.target();
            format!(
                "job {} {}: {state}{}",
                moved.job,
                short(&moved.title),
                reason.unwrap_or_default()
            )
        }
        RunEvent::Recovered { claim, title, what, verdict: _ } => {
            format!("job {} {}: {}", claim.job, short(title), escape(what.as_bytes()))
        }
        RunEvent::Trouble(what) => format!("ax: {}", escape(what.as_bytes())),
        RunEvent::Stopping(what) => format!("ax: {what}"),
    }
}

/// A duration as people read it.
fn seconds(took: Duration) -> String {
    if took < Duration::from_mins(1) {
        format!("{:.1} s", took.as_secs_f64())
    } else {
        humantime::format_duration(Duration::from_secs(took.as_secs())).to_string()
    }
}

/// What people call a job, on one line and not too long.
fn short(title: &str) -> String {
    const LONGEST: usize = 40;
    let text = escape(title.as_bytes());
    if text.chars().count() <= LONGEST {
        return text;
    }
    let start: String = text.chars().take(LONGEST - 1).collect();
    start + "…"
}
