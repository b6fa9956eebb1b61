//! The hooks of a job: what is to be run, and what became of it.

use crate::job::phase::Runners;
use serde_json::{Value, json};

use super::{Moment, json, time};
use crate::escape::escape;
use crate::job::Hook;
use crate::job::hook::HookRecord;

/// `./alert.sh, at most 60s`.
pub(super) fn wish(hook: &Hook) -> String {
    format!("{}, at most {}", escape(&hook.command), time::limit(Some(hook.timeout)))
}

/// A hook that was owed, as an object.
pub(super) fn item(hook: &HookRecord) -> Value {
    json!({
        "hook": hook.id.0,
        "of": of(hook),
        "status": hook.state,
        "attempt": hook.attempt,
        "command": String::from_utf8_lossy(&hook.command),
        "owed_at": json::at(Some(hook.owed_at)),
        "started_at": json::at(hook.started_at),
        "ended_at": json::at(hook.ended_at),
        "outcome": hook.outcome,
        "error": hook.error,
        "output": String::from_utf8_lossy(&hook.output),
    })
}

/// `dead: ./alert.sh ended well 5s ago`.
pub(super) fn line(hook: &HookRecord, moment: Moment) -> String {
    let short = |at| time::short(at, moment.now);
    let what = match (hook.started_at, hook.ended_at, &hook.error) {
        (None, _, _) if moment.runners == Runners::Working => "is about to be run".to_owned(),
        (None, _, _) => "waits for a runner".to_owned(),
        (Some(at), None, _) => format!("runs since {}", short(at)),
        (Some(_), Some(at), None) => format!("ended well, {}", short(at)),
        (Some(_), Some(at), Some(error)) => format!("{}, {}", escape(error.as_bytes()), short(at)),
    };
    let flow = if hook.of_run { "the run of the flow ended " } else { "" };
    format!("{flow}{}: {} … {what}", hook.state, escape(&hook.command))
}

/// Whose end it is about.
const fn of(hook: &HookRecord) -> &'static str {
    if hook.of_run { "flow" } else { "job" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::State;
    use crate::job::hook::HookId;
    use crate::output::example::{MOMENT, TWO, after};

    fn owed() -> HookRecord {
        HookRecord {
            id: HookId(1),
            of_run: false,
            state: State::Dead,
            attempt: 4,
            command: b"mail\x1b ops".to_vec(),
            owed_at: TWO,
            started_at: None,
            ended_at: None,
            outcome: None,
            error: None,
            output: Vec::new(),
        }
    }

    #[test]
    fn a_person_reads_what_became_of_a_hook() {
        let begun = HookRecord { started_at: Some(after(-5)), ..owed() };
        let done = HookRecord { ended_at: Some(after(-3)), ..begun.clone() };
        let failed = HookRecord { error: Some("exit 1".to_owned()), ..done.clone() };
        let of_run = HookRecord { of_run: true, state: State::Success, ..done.clone() };
        let lines = [&owed(), &begun, &done, &failed, &of_run].map(|hook| line(hook, MOMENT));
        assert_eq!(
            lines,
            [
                "dead: mail\\x1b ops … is about to be run",
                "dead: mail\\x1b ops … runs since 5s ago",
                "dead: mail\\x1b ops … ended well, 3s ago",
                "dead: mail\\x1b ops … exit 1, 3s ago",
                "the run of the flow ended success: mail\\x1b ops … ended well, 3s ago",
            ]
        );
        let nobody = Moment { runners: Runners::None, ..MOMENT };
        assert!(line(&owed(), nobody).ends_with("… waits for a runner"));
    }
}
