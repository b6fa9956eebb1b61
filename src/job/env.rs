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
        let ended = self.0.split_inclusive(|byte| *byte == 0);
        ended.filter_map(|entry| {
            CStr::from_bytes_with_nul(entry).ok().filter(|entry| !entry.is_empty())
        })
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
        let name = |entry| split_entry(entry).map(|(name, _)| name);
        let replaced: Vec<_> = over.entries().map(name).collect();
        let kept = self.entries().filter(|entry| !replaced.contains(&name(entry)));
        let mut block = Vec::with_capacity(self.0.len() + over.0.len() + 1);
        Self::fill(&mut block, kept.chain(over.entries()));
        Self(block)
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
    }
}
