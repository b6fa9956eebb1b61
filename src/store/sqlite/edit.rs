//! Changing a job that waits.

use rusqlite::{Transaction, named_params};

use super::row::{AsBytes, Millis};
use super::{Fallible, control, judge};
use crate::job::{Codes, Command, Event, JobId, State, Timestamp};
use crate::store::{Edit, Error};

const EDIT: &str = "
    UPDATE ax_jobs SET
        name = coalesce(:name, name),
        command = coalesce(:command, command),
        shell = coalesce(:shell, shell),
        scheduled_at = coalesce(:due, scheduled_at),
        priority = coalesce(:priority, priority),
        timeout = iif(:sets_timeout, :timeout, timeout),
        kill_after = coalesce(:kill_after, kill_after),
        max_retries = coalesce(:max_retries, max_retries),
        retry_count = min(retry_count, coalesce(:max_retries, max_retries)),
        retry_delay = coalesce(:retry_delay, retry_delay),
        retry_backoff = coalesce(:retry_backoff, retry_backoff),
        retry_max_delay = coalesce(:retry_max_delay, retry_max_delay),
        on_lost = coalesce(:on_lost, on_lost),
        group_name = iif(:no_group, NULL, coalesce(:group, group_name)),
        mutex = iif(:no_mutex, NULL, coalesce(:mutex, mutex)),
        retry_on = iif(:sets_retry_on, :retry_on, retry_on),
        no_retry_on = iif(:sets_no_retry_on, :no_retry_on, no_retry_on),
        on_end = iif(:sets_on_end, :on_end, on_end),
        on_end_timeout = coalesce(:on_end_timeout, on_end_timeout),
        updated_at = :now
    WHERE id = :job";

/// Changes what is said of a job, as long as nobody has it in hand. One that is
/// due later now waits for its time again.
pub(super) fn edit(tx: &Transaction<'_>, job: JobId, edit: &Edit, now: Timestamp) -> Fallible<()> {
    let state = control::state_of(tx, job)?;
    refuse_started(job, state)?;
    let settings = &edit.settings;
    let command = edit.command.as_ref().map(Command::to_bytes);
    tx.prepare_cached(EDIT)?.execute(named_params! {
        ":name": edit.name,
        ":command": command.as_deref().map(AsBytes),
        ":shell": edit.command.as_ref().map(Command::is_shell),
        ":due": edit.due,
        ":priority": settings.priority,
        ":sets_timeout": settings.timeout.is_some(),
        ":timeout": settings.timeout.and_then(|timeout| timeout.0).map(Millis),
        ":kill_after": settings.kill_after.map(Millis),
        ":max_retries": settings.max_retries,
        ":retry_delay": settings.retry_delay.map(Millis),
        ":retry_backoff": settings.retry_backoff,
        ":retry_max_delay": settings.retry_max_delay.map(Millis),
        ":on_lost": settings.on_lost,
        ":group": settings.group,
        ":mutex": settings.mutex,
        ":no_group": edit.no_group,
        ":no_mutex": edit.no_mutex,
        ":sets_retry_on": settings.retry_on.is_some(),
        ":retry_on": settings.retry_on.as_ref().and_then(|only| only.0.as_ref()).map(Codes::to_string),
        ":sets_no_retry_on": settings.no_retry_on.is_some(),
        ":no_retry_on": settings.no_retry_on.as_ref().and_then(|not| not.0.as_ref()).map(Codes::to_string),
        ":sets_on_end": settings.on_end.is_some(),
        ":on_end": settings.on_end.as_ref().and_then(|hook| hook.0.as_deref()).map(AsBytes),
        ":on_end_timeout": settings.on_end_timeout.map(Millis),
        ":now": now,
        ":job": job,
    })?;
    if edit.due.is_some_and(|due| due > now) && Event::Block.allows(state) {
        judge::change(tx, job, Event::Block, None, now)?;
    }
    Ok(())
}

fn refuse_started(job: JobId, state: State) -> Result<(), Error> {
    let hint = match state {
        State::Pending | State::Ready | State::Failed | State::Held => return Ok(()),
        State::Dispatched | State::Running => format!("`ax cancel {job}` ends it"),
        State::Success | State::Dead | State::Cancelled | State::Skipped => {
            "`ax add` puts another one in".to_owned()
        }
    };
    let wanted = "and only a job that waits can be edited";
    Err(Error::WrongState { job, state, wanted, hint: Some(hint) })
}
