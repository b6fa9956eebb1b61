//! Why an attempt failed, so that failures of one cause can be told from others.
//!
//! A cause is how an attempt ended (`exit 3`, `timed out`) and the
//! [`shape`] of its error. It has an id that depends on nothing else: it is the
//! same in every database and tomorrow, and can be typed.

use std::fmt;

use super::shape::shape;

/// Why attempts failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cause {
    /// How they ended ([`end`]); `None` where nobody wrote it down.
    pub end: Option<String>,
    /// The shape of the error; empty if there was none.
    pub error: String,
}

impl Cause {
    /// The cause of a failure that ended like this, with this error.
    pub fn of(end: Option<String>, error: &str) -> Self {
        Self { end, error: shape(error) }
    }

    /// Its id.
    pub fn id(&self) -> CauseId {
        let end = self.end.as_deref().unwrap_or_default();
        let bytes = end.bytes().chain([0]).chain(self.error.bytes());
        CauseId::of(fnv_1a(bytes))
    }
}

/// How an attempt ended: `exit 3`, `signal 9`, else the word for it
/// (`timed out`); `None` while it runs.
pub fn end(code: Option<i32>, signal: Option<i32>, outcome: Option<&str>) -> Option<String> {
    match (code, signal) {
        (Some(code), _) => Some(format!("exit {code}")),
        (None, Some(signal)) => Some(format!("signal {signal}")),
        (None, None) => outcome.map(str::to_owned),
    }
}

/// The name of a cause: eight letters. No word, no number and no id of a job is
/// spelled with them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CauseId([u8; 8]);

impl CauseId {
    /// Letters that are not mistaken for others, and no vowels.
    const LETTERS: &[u8; 16] = b"bcdfghkmnpqrstxz";

    fn of(hash: u64) -> Self {
        // Both halves of the hash have a say.
        let folded = hash ^ (hash >> 32);
        Self(std::array::from_fn(|n| Self::LETTERS[(folded >> (4 * n) & 15) as usize]))
    }

    /// The letters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("letters are ASCII")
    }

    /// Tells whether a text could begin an id.
    pub fn may_begin_with(text: &str) -> bool {
        let is_letter = |byte: u8| Self::LETTERS.contains(&byte);
        (1..=8).contains(&text.len()) && text.bytes().all(is_letter)
    }
}

impl fmt::Display for CauseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for CauseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A hash that is the same on every machine and in every version
/// (<http://www.isthe.com/chongo/tech/comp/fnv/>, FNV-1a with 64 bits).
fn fnv_1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(end: &str, error: &str) -> Cause {
        Cause::of(Some(end.to_owned()), error)
    }

    #[test]
    fn failures_that_differ_in_numbers_and_paths_have_one_cause() {
        let one = cause("exit 1", "cp: error writing '/mnt/1/a': No space left on device");
        let other = cause("exit 1", "cp: error writing '/mnt/22/b': No space left on device");
        assert_eq!(one.id(), other.id());
        assert_eq!(one, other);
    }

    #[test]
    fn another_end_or_another_error_is_another_cause() {
        let causes = [
            cause("exit 1", "no such table"),
            cause("exit 2", "no such table"),
            cause("exit 1", "no such column"),
            Cause::of(None, "no such table"),
            Cause::of(None, ""),
        ];
        let ids: std::collections::HashSet<_> = causes.iter().map(Cause::id).collect();
        assert_eq!(ids.len(), causes.len());
    }

    #[test]
    fn an_id_is_the_same_for_ever() {
        assert_eq!(cause("exit 1", "no such table").id().as_str(), "kgkrnrfx");
        assert_eq!(Cause::of(None, "").id().as_str(), "fpqbdkpd");
    }

    #[test]
    fn an_id_is_typed_in_its_own_letters_alone() {
        assert!(CauseId::may_begin_with(cause("exit 1", "x").id().as_str()));
        assert!(CauseId::may_begin_with("b"));
        for not in ["", "a", "12", "B", "bbbbbbbbb", "é"] {
            assert!(!CauseId::may_begin_with(not), "{not}");
        }
    }

    #[test]
    fn the_hash_is_the_one_that_is_published() {
        assert_eq!(fnv_1a(b"".iter().copied()), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv_1a(b"foobar".iter().copied()), 0x8594_4171_f739_67e8);
    }
}
