//! The environment of a job.

use std::ffi::CStr;

use serde::{Deserialize, Serialize};

use super::bytes;

/// An environment: `NAME=value` entries, each ended by a NUL byte.
///
/// Kept as one block because it is stored, compared and handed on as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EnvBlock(#[serde(with = "bytes")] pub Vec<u8>);

impl EnvBlock {
    /// Makes a block of `NAME=value` entries.
    pub fn from_entries<'a>(entries: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut block = Vec::new();
        Self::fill(&mut block, entries);
        Self(block)
    }

    fn fill<'a>(block: &mut Vec<u8>, entries: impl IntoIterator<Item = &'a [u8]>) {
        for entry in entries {
            block.extend_from_slice(entry);
            block.push(0);
        }
    }

    /// The entries with their NUL, as a program is given them.
    pub fn c_entries(&self) -> impl Iterator<Item = &CStr> {
        let mut rest = self.0.as_slice();
        let next = move || {
            let entry = CStr::from_bytes_until_nul(rest).ok()?;
            rest = &rest[entry.count_bytes() + 1..];
            Some(entry)
        };
        std::iter::from_fn(next).filter(|entry| !entry.is_empty())
    }

    /// The entries, without their NUL.
    pub fn entries(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == 0).filter(|entry| !entry.is_empty())
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.entries().find_map(|entry| {
            let (key, value) = split_entry(entry)?;
            (key == name.as_bytes()).then_some(value)
        })
    }

    /// This environment with the entries of `over` in place of its own.
    #[must_use]
    pub fn overlaid(&self, over: &Self) -> Self {
        let replaced = Names::of(over);
        let kept = self.entries().filter(|entry| !replaced.has(entry));
        let mut block = Vec::with_capacity(self.0.len() + over.0.len() + 1);
        Self::fill(&mut block, kept.chain(over.entries()));
        Self(block)
    }

    /// The same for a program, without a copy of either: its entries with their NUL.
    pub fn c_entries_under<'a>(&'a self, over: &'a Self) -> impl Iterator<Item = &'a CStr> {
        let replaced = Names::of(over);
        let kept = self.c_entries().filter(move |entry| !replaced.has(entry.to_bytes()));
        kept.chain(over.c_entries())
    }
}

/// The names of the variables of an environment, each with its `=`.
struct Names<'a>(Vec<&'a [u8]>);

impl<'a> Names<'a> {
    fn of(env: &'a EnvBlock) -> Self {
        let name = |entry: &'a [u8]| Some(&entry[..=split_entry(entry)?.0.len()]);
        Self(env.entries().filter_map(name).collect())
    }

    /// Tells whether this entry is of a variable of theirs.
    fn has(&self, entry: &[u8]) -> bool {
        self.0.iter().any(|name| entry.starts_with(name))
    }
}

fn split_entry(entry: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = entry.iter().position(|byte| *byte == b'=')?;
    Some((&entry[..equals], &entry[equals + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlay_replaces_a_variable_and_keeps_the_others() {
        let base = EnvBlock::from_entries([b"A=1".as_slice(), b"PATH=/bin"]);
        let over = EnvBlock::from_entries([b"A=2=3".as_slice(), b"B="]);
        let both = base.overlaid(&over);
        assert_eq!(both.get("A"), Some(b"2=3".as_slice()));
        assert_eq!(both.get("PATH"), Some(b"/bin".as_slice()));
        assert_eq!(both.get("B"), Some(b"".as_slice()));
        assert_eq!(both.entries().count(), 3);
        let entries: Vec<_> = base.c_entries_under(&over).map(CStr::to_bytes).collect();
        assert_eq!(entries, both.entries().collect::<Vec<_>>());
    }

    #[test]
    fn an_entry_that_is_empty_or_has_no_end_is_not_given_to_a_program() {
        let entries = |block: &[u8]| {
            let block = EnvBlock(block.to_vec());
            block.c_entries().map(CStr::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(entries(b"A=1\0\0B=2\0C=3"), [c"A=1".to_owned(), c"B=2".to_owned()]);
        assert_eq!(entries(b""), [] as [std::ffi::CString; 0]);
    }
}
