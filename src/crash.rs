//! Named places at which tests let the program die.
//!
//! They stand around every commit, every start of a process and every write to
//! a file that somebody later relies on. Only a build with the feature
//! `failpoints` has them; in every other they are nothing.
//!
//! `FAILPOINTS='turn/before-commit=2*off->return'` asks for the end at the third
//! time in a process, `return(stop)` for a sleep until somebody sends CONT.
//! `AX_CRASHED` names a directory in which each place leaves a file with its
//! name and the process id before it strikes; a place whose file is there lets
//! everybody pass. So a place strikes once, whoever comes first.

/// Reads from the environment where to die. Once, at the start of the process.
#[cfg(feature = "failpoints")]
pub fn arm() {
    std::mem::forget(fail::FailScenario::setup());
}

/// Does nothing in this build.
#[cfg(not(feature = "failpoints"))]
pub const fn arm() {}

/// Ends this process as `kill -9` does, or stops it, if that was asked for.
#[cfg(feature = "failpoints")]
pub fn point(what: &str, place: &str) {
    let name = format!("{what}/{place}");
    fail::fail_point!(name.as_str(), |how| strike(&name, how.as_deref()));
}

/// Does nothing in this build.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub const fn point(_: &str, _: &str) {}

/// Tells whether something is to have no effect: `FAILPOINTS='kill/mute=return'`.
#[cfg(feature = "failpoints")]
pub fn mutes(what: &str) -> bool {
    let name = format!("{what}/mute");
    fail::fail_point!(name.as_str(), |_| true);
    false
}

/// Nothing is, in this build.
#[cfg(not(feature = "failpoints"))]
pub const fn mutes(_: &str) -> bool {
    false
}

#[cfg(feature = "failpoints")]
fn strike(name: &str, how: Option<&str>) {
    use nix::sys::signal::{Signal, raise};
    use std::io::Write;
    let Some(dir) = std::env::var_os("AX_CRASHED") else { return };
    let mark = std::path::Path::new(&dir).join(name.replace('/', "."));
    let Ok(mut mark) = std::fs::File::create_new(mark) else { return };
    let _ = writeln!(mark, "{}", std::process::id());
    let signal = if how == Some("stop") { Signal::SIGSTOP } else { Signal::SIGKILL };
    // Both take hold of this thread before the call returns: sent to the process,
    // they could begin with another one, while this goes on for a moment.
    let _ = raise(signal);
}
