//! From how an attempt ended to what becomes of its job.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::state::Event;
use super::{Codes, OnLost, Timestamp};

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The process ended by itself with this code.
    Exited(i32),
    /// A signal that `ax` did not send ended the process.
    Signaled(i32),
    /// The timeout was reached and everything the job started was stopped.
    TimedOut(Duration),
    /// A runner's shutdown stopped it.
    Interrupted,
    /// `ax cancel` stopped it.
    Cancelled,
    /// The process cannot be started, now or later; the text says why.
    Unstartable(String),
    /// The process was not started, but could be another time.
    NotStarted(String),
    /// Nobody knows how it ended; the text says what is known.
    Lost(String),
}

impl Outcome {
    /// One word for the history table and JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Exited(_) => "exited",
            Self::Signaled(_) => "signaled",
            Self::TimedOut(_) => "timed out",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
            Self::Unstartable(_) => "unstartable",
            Self::NotStarted(_) => "not started",
            Self::Lost(_) => "lost",
        }
    }

    /// The exit code, if the process ended by itself.
    pub const fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(*code),
            Self::Signaled(_)
            | Self::TimedOut(_)
            | Self::Interrupted
            | Self::Cancelled
            | Self::Unstartable(_)
            | Self::NotStarted(_)
            | Self::Lost(_) => None,
        }
    }

    /// The signal that ended the process, if one did.
    pub const fn signal(&self) -> Option<i32> {
        match self {
            Self::Signaled(signal) => Some(*signal),
            Self::Exited(_)
            | Self::TimedOut(_)
            | Self::Interrupted
            | Self::Cancelled
            | Self::Unstartable(_)
            | Self::NotStarted(_)
            | Self::Lost(_) => None,
        }
    }

    /// What a person reads of an end that was not a success, given the last
    /// line the job printed; `None` for a success.
    pub fn error(&self, last_line: &str) -> Option<String> {
        match self {
            Self::Exited(0) => None,
            Self::Exited(code) if last_line.is_empty() => Some(format!("exit {code}")),
            Self::Signaled(signal) if last_line.is_empty() => Some(format!("signal {signal}")),
            Self::Exited(_) | Self::Signaled(_) => Some(last_line.to_owned()),
            Self::TimedOut(after) => {
                Some(format!("timed out after {}; raise it with --timeout", Seconds(*after)))
            }
            Self::Interrupted => Some("stopped by a shutdown of the runner".to_owned()),
            Self::Cancelled => Some("cancelled".to_owned()),
            Self::Unstartable(why) => Some(format!("cannot be started: {why}")),
            Self::NotStarted(why) => Some(format!("was not started: {why}")),
            Self::Lost(why) => Some(format!("outcome unknown: {why}")),
        }
    }
}

/// A duration as people type it back: `60 s`, `0.5 s`.
struct Seconds(Duration);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.subsec_millis() == 0 {
            write!(f, "{} s", self.0.as_secs())
        } else {
            write!(f, "{} s", self.0.as_secs_f64())
        }
    }
}

/// What a job said, when it was added, about being run again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// Failures after which another attempt is made.
    pub max_retries: u32,
    /// Failures so far, since the job was added or retried by a person.
    pub retry_count: u32,
    /// The wait before the first retry.
    pub delay: Duration,
    /// By what each further wait is longer.
    pub backoff: f64,
    /// The longest wait.
    pub max_delay: Duration,
    /// What to do when an outcome is unknown.
    pub on_lost: OnLost,
    /// Attempts lost so far, since the job was added or retried by a person.
    pub losses: u32,
    /// The only exit codes after which another attempt is made; all if `None`.
    pub retry_on: Option<Codes>,
    /// Exit codes after which none is made.
    pub no_retry_on: Option<Codes>,
}

/// The exit code by which a job says that it wants to come again later
/// (`EX_TEMPFAIL` of `sysexits.h`).
pub const LATER: i32 = 75;

/// The least time until a job comes again that wanted it, so that it cannot spin.
pub const SOONEST: Duration = Duration::from_secs(1);

/// Losses after which a job is held instead of being started again.
pub const MAX_LOSSES: u32 = 3;

/// What becomes of a job after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It ended well.
    Success,
    /// It is started again at this time; a retry is used.
    Retry(Timestamp),
    /// It has failed for good.
    Dead,
    /// A person must decide.
    Held,
    /// It goes back to the queue as if it had not been claimed.
    GiveBack,
    /// It goes back to the queue; the attempt counts, the retry does not.
    Interrupt,
    /// It comes again at this time, as it asked; the attempt counts, the retry
    /// does not.
    Later(Timestamp),
    /// A person ended it.
    Cancelled,
}

impl Verdict {
    /// The move along the state table that this verdict is.
    pub const fn event(self) -> Event {
        match self {
            Self::Success => Event::Succeed,
            Self::Retry(_) => Event::Fail,
            Self::Dead => Event::Bury,
            Self::Held => Event::Suspend,
            Self::GiveBack => Event::GiveBack,
            Self::Interrupt => Event::Interrupt,
            Self::Later(_) => Event::Postpone,
            Self::Cancelled => Event::Cancel,
        }
    }

    /// What becomes of a job whose attempt had asked, before it ended at
    /// `ended_at`, to come again at `until`: that counts if it ended well or by
    /// [`LATER`], and not if it failed.
    #[must_use]
    pub fn snoozed(self, until: Option<Timestamp>, ended_at: Timestamp) -> Self {
        match (self, until) {
            (Self::Success | Self::Later(_), Some(until)) => {
                Self::Later(until.max(ended_at.plus(SOONEST)))
            }
            (
                Self::Success
                | Self::Later(_)
                | Self::Retry(_)
                | Self::Dead
                | Self::Held
                | Self::GiveBack
                | Self::Interrupt
                | Self::Cancelled,
                _,
            ) => self,
        }
    }
}

impl RetryPolicy {
    /// Decides what becomes of the job after an attempt that ended at `now`.
    pub fn judge(&self, outcome: &Outcome, now: Timestamp) -> Verdict {
        match outcome {
            Outcome::Exited(0) => Verdict::Success,
            Outcome::Exited(code) => self.exited(*code, now),
            Outcome::Signaled(_) | Outcome::TimedOut(_) | Outcome::Unstartable(_) => {
                self.again(now)
            }
            Outcome::Interrupted => Verdict::Interrupt,
            Outcome::Cancelled => Verdict::Cancelled,
            Outcome::NotStarted(_) => Verdict::GiveBack,
            Outcome::Lost(_) => self.lost(now),
        }
    }

    /// What a code means: what the job said of it, else [`LATER`], else a failure.
    fn exited(&self, code: i32, now: Timestamp) -> Verdict {
        let has = |codes: &Option<Codes>| codes.as_ref().is_some_and(|codes| codes.contains(code));
        if has(&self.no_retry_on) {
            Verdict::Dead
        } else if has(&self.retry_on) {
            self.again(now)
        } else if code == LATER {
            Verdict::Later(now.plus(self.wait().max(SOONEST)))
        } else if self.retry_on.is_some() {
            Verdict::Dead
        } else {
            self.again(now)
        }
    }

    fn again(&self, now: Timestamp) -> Verdict {
        if self.retry_count < self.max_retries {
            Verdict::Retry(now.plus(self.wait()))
        } else {
            Verdict::Dead
        }
    }

    fn lost(&self, now: Timestamp) -> Verdict {
        match self.on_lost {
            OnLost::Hold => Verdict::Held,
            OnLost::Fail => Verdict::Dead,
            OnLost::Requeue if self.losses + 1 >= MAX_LOSSES => Verdict::Held,
            OnLost::Requeue => self.again(now),
        }
    }

    /// The wait before the next retry: `delay × backoff^retry_count`, at most
    /// `max_delay`.
    pub fn wait(&self) -> Duration {
        let exponent = i32::try_from(self.retry_count).unwrap_or(i32::MAX);
        let seconds = self.delay.as_secs_f64() * self.backoff.powi(exponent);
        let capped = seconds.min(self.max_delay.as_secs_f64());
        Duration::try_from_secs_f64(capped).unwrap_or(self.max_delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn policy() -> RetryPolicy {
        RetryPolicy {
            max_retries: 3,
            retry_count: 0,
            delay: Duration::from_secs(5),
            backoff: 2.0,
            max_delay: Duration::from_hours(1),
            on_lost: OnLost::Requeue,
            losses: 0,
            retry_on: None,
            no_retry_on: None,
        }
    }

    fn codes(text: &str) -> Option<Codes> {
        text.parse().ok()
    }

    #[test]
    fn exit_75_means_later_and_uses_no_retry() {
        let judge = |policy: RetryPolicy| policy.judge(&Outcome::Exited(LATER), NOW);
        assert_eq!(judge(policy()), Verdict::Later(NOW.plus(Duration::from_secs(5))));
        let last = RetryPolicy { max_retries: 0, ..policy() };
        assert_eq!(judge(last), Verdict::Later(NOW.plus(Duration::from_secs(5))));
        let at_once = RetryPolicy { delay: Duration::ZERO, ..policy() };
        assert_eq!(judge(at_once), Verdict::Later(NOW.plus(SOONEST)), "it cannot spin");
    }

    #[test]
    fn codes_say_what_is_tried_again_and_what_is_not() {
        let judge = |policy: &RetryPolicy, code| policy.judge(&Outcome::Exited(code), NOW);
        let only = RetryPolicy { retry_on: codes("2,10-12"), ..policy() };
        assert!(matches!(judge(&only, 11), Verdict::Retry(_)));
        assert_eq!(judge(&only, 1), Verdict::Dead);
        assert!(matches!(judge(&only, LATER), Verdict::Later(_)));
        assert!(matches!(only.judge(&Outcome::Signaled(9), NOW), Verdict::Retry(_)));
        let not = RetryPolicy { no_retry_on: codes("64-78"), ..policy() };
        assert_eq!(judge(&not, LATER), Verdict::Dead);
        assert!(matches!(judge(&not, 1), Verdict::Retry(_)));
        let failure = RetryPolicy { retry_on: codes("75"), ..policy() };
        assert!(matches!(judge(&failure, LATER), Verdict::Retry(_)));
        let both = RetryPolicy { no_retry_on: codes("2"), ..only };
        assert_eq!(judge(&both, 2), Verdict::Dead);
    }

    #[test]
    fn a_snooze_counts_unless_the_attempt_fails() {
        let until = NOW.plus(Duration::from_mins(30));
        for verdict in [Verdict::Success, Verdict::Later(NOW)] {
            assert_eq!(verdict.snoozed(Some(until), NOW), Verdict::Later(until));
            assert_eq!(verdict.snoozed(None, NOW), verdict);
            let past = Some(Timestamp::from_millis(0));
            assert_eq!(verdict.snoozed(past, NOW), Verdict::Later(NOW.plus(SOONEST)));
        }
        for verdict in [Verdict::Retry(NOW), Verdict::Dead, Verdict::Held, Verdict::Cancelled] {
            assert_eq!(verdict.snoozed(Some(until), NOW), verdict);
        }
    }

    #[test]
    fn three_retries_are_four_starts() {
        let mut policy = policy();
        let mut starts = 1;
        while let Verdict::Retry(_) = policy.judge(&Outcome::Exited(1), NOW) {
            policy.retry_count += 1;
            starts += 1;
        }
        assert_eq!(starts, 4);
    }

    #[test]
    fn the_wait_doubles_from_the_delay_itself() {
        let waits: Vec<_> = (0..4)
            .map(|retry_count| RetryPolicy { retry_count, ..policy() }.wait().as_secs())
            .collect();
        assert_eq!(waits, [5, 10, 20, 40]);
    }

    #[test]
    fn a_thousand_retries_with_factor_ten_wait_the_longest_and_do_not_overflow() {
        let policy =
            RetryPolicy { max_retries: 1001, retry_count: 1000, backoff: 10.0, ..policy() };
        assert_eq!(policy.wait(), Duration::from_hours(1));
    }

    #[test]
    fn no_delay_stays_no_delay_whatever_the_factor() {
        let policy = RetryPolicy {
            delay: Duration::ZERO,
            retry_count: u32::MAX,
            backoff: f64::MAX,
            ..policy()
        };
        assert!(policy.wait() <= Duration::from_hours(1));
    }

    #[test]
    fn exit_zero_is_the_only_success() {
        let ends = [
            Outcome::Exited(1),
            Outcome::Exited(127),
            Outcome::Signaled(9),
            Outcome::TimedOut(Duration::from_secs(1)),
            Outcome::Unstartable("gone".into()),
        ];
        for end in ends {
            assert!(matches!(policy().judge(&end, NOW), Verdict::Retry(_)), "{end:?}");
        }
        assert_eq!(policy().judge(&Outcome::Exited(0), NOW), Verdict::Success);
    }

    #[test]
    fn a_job_without_retries_is_dead_at_the_first_failure() {
        let policy = RetryPolicy { max_retries: 0, ..policy() };
        assert_eq!(policy.judge(&Outcome::Exited(1), NOW), Verdict::Dead);
    }

    #[test]
    fn a_lost_attempt_goes_by_the_policy_of_its_job() {
        let lost = Outcome::Lost("its supervisor was killed".into());
        let with = |on_lost, losses| RetryPolicy { on_lost, losses, ..policy() };
        assert_eq!(with(OnLost::Hold, 0).judge(&lost, NOW), Verdict::Held);
        assert_eq!(with(OnLost::Fail, 0).judge(&lost, NOW), Verdict::Dead);
        assert!(matches!(with(OnLost::Requeue, 1).judge(&lost, NOW), Verdict::Retry(_)));
        assert_eq!(with(OnLost::Requeue, 2).judge(&lost, NOW), Verdict::Held);
    }

    #[test]
    fn a_shutdown_uses_no_retry() {
        assert_eq!(policy().judge(&Outcome::Interrupted, NOW), Verdict::Interrupt);
        let not_started = Outcome::NotStarted("too many open files".into());
        assert_eq!(policy().judge(&not_started, NOW), Verdict::GiveBack);
    }

    #[test]
    fn a_timeout_says_what_to_type() {
        let error = Outcome::TimedOut(Duration::from_mins(1)).error("half a line");
        assert_eq!(error.as_deref(), Some("timed out after 60 s; raise it with --timeout"));
    }

    #[test]
    fn the_error_of_a_failure_is_the_last_line_it_printed() {
        assert_eq!(Outcome::Exited(3).error("no such table").as_deref(), Some("no such table"));
        assert_eq!(Outcome::Exited(3).error("").as_deref(), Some("exit 3"));
        assert_eq!(Outcome::Exited(0).error("fine"), None);
    }
}
