//! What happens in the runner, shown until it ends: on the main thread, so that
//! a terminal that takes nothing more stops no job.

use std::time::{Duration, Instant};
use std::{io, iter, thread};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use signal_hook::consts::SIGTSTP;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::cmd::Context;
use crate::cmd::look::Looker;
use crate::job::RunnerId;
use crate::output::progress::{Drawn, Progress};
use crate::output::screen;
use crate::sched::RunEvent;

/// Between two frames while something runs, and while nothing does.
const FRAME: Duration = Duration::from_millis(100);
const IDLE: Duration = Duration::from_secs(1);

/// Between two looks at the store.
const LOOK: Duration = Duration::from_secs(1);

/// So many events are shown together at most.
const MANY: usize = 1_000;

/// Prints events until the scheduler ends.
pub(super) fn show(
    events: &Receiver<RunEvent>,
    mut progress: Progress,
    runner: RunnerId,
    context: &mut Context<'_>,
) {
    let mut looker = Looker::new(context.db.clone(), Some(runner), LOOK);
    let mut next = Instant::now();
    loop {
        let event = match &progress {
            Progress::View(_) => events.recv_deadline(next),
            Progress::Lines { .. } | Progress::Json => {
                events.recv().map_err(|_| RecvTimeoutError::Disconnected)
            }
        };
        match event {
            Ok(event) => {
                // One wake and one write for all that came of a commit.
                let news: Vec<_> = iter::once(event).chain(events.try_iter().take(MANY)).collect();
                progress.show(&news, context.now(), context.out, context.err);
                // What begins after a pause is seen soon.
                next = next.min(Instant::now() + FRAME);
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Progress::View(drawn) = &mut progress {
                    next = refresh(drawn, &mut looker, context);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    if let Progress::View(drawn) = &mut progress {
        drawn.finish(context.err);
    }
}

/// Takes the view away before a shell suspends the runner; the next frame after
/// that brings it back.
pub(super) fn clear_when_suspended() -> io::Result<()> {
    let mut signals = Signals::new([SIGTSTP])?;
    let obey = move || {
        for signal in signals.forever() {
            screen::write_at_once(&io::stderr(), &screen::wipe());
            let _ = emulate_default_handler(signal);
        }
    };
    thread::Builder::new().name("suspension".to_owned()).spawn(obey).map(drop)
}

/// Looks, if it is time to, and draws; tells when to do that again. A store that
/// cannot be read at the moment is the scheduler's to speak of.
fn refresh(drawn: &mut Drawn, looker: &mut Looker, context: &mut Context<'_>) -> Instant {
    let now = context.now();
    if looker.next() <= Instant::now()
        && let Ok(seen) = looker.look(now)
    {
        drawn.live.learn(seen.glance.queue, &seen.running);
    }
    drawn.draw(now, context.err);
    Instant::now() + if drawn.live.is_busy() { FRAME } else { IDLE }
}
