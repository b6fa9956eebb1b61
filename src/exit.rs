//! The exit codes, the same for every command.

/// Done.
pub const DONE: u8 = 0;
/// What was asked about failed: a job of this run ended dead or held, or
/// `ax doctor` has findings.
pub const FAILED: u8 = 1;
/// The command line is wrong; nothing was done.
pub const USAGE: u8 = 2;
/// No such job, or nothing matched.
pub const NOT_FOUND: u8 = 3;
/// Not allowed in the state the job is in, or its key exists.
pub const REFUSED: u8 = 4;
/// The store cannot be used: busy for 30 s, newer schema, not an ax database,
/// no permission.
pub const STORE: u8 = 5;
/// `ax wait` ran out of time.
pub const TIMED_OUT: u8 = 124;
