//! What happens in a runner, a line an event.

use anstyle::Style as Paint;

use super::text::shorten;
use super::{paint, time};
use crate::escape::escape;
use crate::job::{JobId, Outcome, State, Verdict};
use crate::sched::RunEvent;

/// The widest that the name of a job is, in columns.
const WIDEST: usize = 40;

/// An event as a line for people, without its newline; the state that a job is
/// in now has its colour.
pub fn line(event: &RunEvent, color: bool) -> String {
    match event {
        RunEvent::Started { claim, title, .. } => {
            let started = paint::paint("started", paint::of(State::Running), color);
            format!("{}: {started}, attempt {}", job(claim.job, title), claim.attempt)
        }
        RunEvent::Ended { claim, title, outcome, verdict, error, took, late } => {
            let (what, paint) = end(outcome, *verdict, *late);
            let what = paint::paint(what, paint, color);
            let took = took.map(|took| format!(" after {}", time::took(took)));
            let how = how(outcome, error.as_deref());
            format!("{}: {what}{}{how}", job(claim.job, title), took.unwrap_or_default())
        }
        RunEvent::Moved(moved) => {
            let state = moved.event.target();
            let state = paint::paint(state.as_str(), paint::of(state), color);
            let why = moved.reason.as_ref().map(|why| format!(": {}", escape(why.as_bytes())));
            format!("{}: {state}{}", job(moved.job, &moved.title), why.unwrap_or_default())
        }
        RunEvent::Recovered { claim, title, what, verdict: _ } => {
            format!("{}: {}", job(claim.job, title), escape(what.as_bytes()))
        }
        RunEvent::Trouble(what) => format!("ax: {}", escape(what.as_bytes())),
        RunEvent::Stopping(what) => format!("ax: {what}"),
    }
}

/// What people call a job, on one line and not too wide.
pub fn short(title: &str) -> String {
    shorten(&escape(title.as_bytes()), WIDEST)
}

fn job(id: JobId, title: &str) -> String {
    format!("job {id} {}", short(title))
}

/// What becomes of the job, and in which colour.
const fn end(outcome: &Outcome, verdict: Verdict, late: bool) -> (&'static str, Paint) {
    if late {
        return ("reported too late", paint::FAINT);
    }
    let state = verdict.event().target();
    if matches!(verdict, Verdict::Later(_)) {
        return ("comes again later", paint::of(state));
    }
    if matches!(outcome, Outcome::Lost(_)) {
        // An unknown outcome is called neither a failure nor a success.
        return ("lost", paint::of(state));
    }
    (state.as_str(), paint::of(state))
}

/// `, exit 3: no space left`. A success has nothing to say, and an error that
/// only repeats the code is not told twice.
fn how(outcome: &Outcome, error: Option<&str>) -> String {
    let code = match (outcome.exit_code(), outcome.signal()) {
        (Some(0) | None, None) => String::new(),
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
    };
    if matches!(outcome, Outcome::Cancelled) {
        return String::new();
    }
    let error = error.filter(|error| *error != code).map(|error| escape(error.as_bytes()));
    match (code.as_str(), error) {
        ("", None) => String::new(),
        ("", Some(error)) => format!(": {error}"),
        (code, None) => format!(", {code}"),
        (code, Some(error)) => format!(", {code}: {error}"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::*;
    use crate::job::{Claim, Event, RunnerId, Timestamp};
    use crate::store::Moved;

    fn claim(job: i64) -> Claim {
        Claim { job: JobId(job), attempt: 2, owner: RunnerId(1) }
    }

    pub(crate) fn started(job: i64, title: &str) -> RunEvent {
        let at = Timestamp::from_millis(0);
        RunEvent::Started { claim: claim(job), title: title.to_owned(), at }
    }

    pub(crate) fn ended(job: i64, outcome: Outcome, verdict: Verdict, last_line: &str) -> RunEvent {
        let error = outcome.error(last_line);
        let (claim, title) = (claim(job), "backup".to_owned());
        let took = Some(Duration::from_millis(4));
        RunEvent::Ended { claim, title, outcome, verdict, error, took, late: false }
    }

    fn plain(event: &RunEvent) -> String {
        line(event, false)
    }

    #[test]
    fn a_start_has_its_attempt() {
        assert_eq!(plain(&started(7, "two\nlines")), r"job 7 two\nlines: started, attempt 2");
    }

    #[test]
    fn an_end_has_its_duration_as_the_lists_have_it() {
        let well = ended(7, Outcome::Exited(0), Verdict::Success, "done");
        assert_eq!(plain(&well), "job 7 backup: success after 4ms");
    }

    #[test]
    fn a_failure_has_its_code_and_its_last_line() {
        let failed = ended(7, Outcome::Exited(3), Verdict::Dead, "no \x1b space");
        assert_eq!(plain(&failed), r"job 7 backup: dead after 4ms, exit 3: no \x1b space");
        let killed = ended(7, Outcome::Signaled(9), Verdict::Held, "half");
        assert_eq!(plain(&killed), "job 7 backup: held after 4ms, signal 9: half");
    }

    #[test]
    fn a_code_is_told_once() {
        let failed = ended(7, Outcome::Exited(3), Verdict::Dead, "");
        assert_eq!(plain(&failed), "job 7 backup: dead after 4ms, exit 3");
    }

    #[test]
    fn an_end_without_a_code_has_its_reason() {
        let late = Outcome::TimedOut(Duration::from_mins(1));
        let want = "job 7 backup: dead after 4ms: timed out after 60 s; raise it with --timeout";
        assert_eq!(plain(&ended(7, late, Verdict::Dead, "x")), want);
    }

    #[test]
    fn a_result_that_came_too_late_says_so() {
        let mut event = ended(7, Outcome::Exited(0), Verdict::Success, "");
        if let RunEvent::Ended { late, .. } = &mut event {
            *late = true;
        }
        assert_eq!(plain(&event), "job 7 backup: reported too late after 4ms");
    }

    #[test]
    fn a_skipped_job_has_its_cause() {
        let (job, event) = (JobId(8), Event::Skip);
        let reason = Some("needs job 7, which is dead".to_owned());
        let moved = RunEvent::Moved(Moved { job, title: "clean".to_owned(), event, reason });
        assert_eq!(plain(&moved), "job 8 clean: skipped: needs job 7, which is dead");
    }

    #[test]
    fn a_long_name_is_cut() {
        let line = plain(&started(7, &"日".repeat(90)));
        assert_eq!(line, format!("job 7 {}…: started, attempt 2", "日".repeat(19)));
    }

    #[test]
    fn only_the_state_has_a_colour_and_only_if_asked() {
        let event = ended(7, Outcome::Exited(0), Verdict::Success, "");
        assert_eq!(line(&event, true), "job 7 backup: \x1b[32msuccess\x1b[0m after 4ms");
        assert!(!plain(&event).contains('\x1b'));
    }
}
