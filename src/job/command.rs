//! What a job runs: a text for the shell, or exact words.

use serde::{Deserialize, Serialize};

/// The longest word or shell text the kernel passes to a program:
/// `MAX_ARG_STRLEN` (32 pages of 4 KiB) with its NUL, see execve(2).
pub const MAX_WORD: usize = 128 * 1024 - 1;

/// What a job runs. Bytes, not text: a file name need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Command {
    /// A text for `/bin/sh -c`.
    Shell(#[serde(with = "super::bytes")] Vec<u8>),
    /// A program and its arguments, handed over as they are.
    Argv(#[serde(with = "super::bytes::words")] Vec<Vec<u8>>),
}

impl Command {
    /// The command as bytes: the shell text, or the words quoted for a shell.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Shell(text) => text.clone(),
            Self::Argv(words) => shlex::bytes::Quoter::new()
                .allow_nul(true)
                .join(words.iter().map(Vec::as_slice))
                .expect("quoting fails on NUL bytes only, and they are allowed"),
        }
    }

    /// Reads back what [`Command::to_bytes`] wrote. `None` if the words cannot
    /// be told apart, which can only happen to a row written by hand.
    pub fn from_bytes(bytes: Vec<u8>, shell: bool) -> Option<Self> {
        if shell {
            return Some(Self::Shell(bytes));
        }
        shlex::bytes::split(&bytes).filter(|words| !words.is_empty()).map(Self::Argv)
    }

    /// The command as text; bytes that are not UTF-8 appear as U+FFFD.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.to_bytes()).into_owned()
    }

    /// Tells whether it is a text for the shell.
    pub const fn is_shell(&self) -> bool {
        matches!(self, Self::Shell(_))
    }

    /// Checks that the command can be run at all.
    ///
    /// # Errors
    /// Says what is wrong with it: it is empty, contains a NUL byte, or has a
    /// word that is longer than [`MAX_WORD`].
    pub fn check(&self) -> Result<(), String> {
        let (words, what) = match self {
            Self::Shell(text) => (std::slice::from_ref(text), "command"),
            Self::Argv(words) => (words.as_slice(), "argument"),
        };
        let program = words.first().map_or(&[][..], Vec::as_slice);
        if program.trim_ascii().is_empty() {
            return Err("the command is empty".to_owned());
        }
        if words.iter().any(|word| word.contains(&0)) {
            return Err(format!("the {what} contains a NUL byte"));
        }
        match words.iter().map(Vec::len).max() {
            Some(longest) if longest > MAX_WORD => Err(format!(
                "the {what} has {longest} bytes, and the kernel passes at most {MAX_WORD}"
            )),
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_come_back_as_they_were(
            words in prop::collection::vec(prop::collection::vec(1u8..=255, 0..20), 1..6)
        ) {
            let command = Command::Argv(words);
            let back = Command::from_bytes(command.to_bytes(), false);
            prop_assert_eq!(back, Some(command));
        }
    }

    #[test]
    fn a_comment_sign_is_a_word_like_any_other() {
        let command = Command::Argv(vec![b"echo".to_vec(), b"#x".to_vec(), Vec::new()]);
        assert_eq!(Command::from_bytes(command.to_bytes(), false), Some(command));
    }

    #[test]
    fn an_empty_command_is_refused() {
        for text in ["", "   ", "\n\t"] {
            assert!(Command::Shell(text.into()).check().is_err(), "{text:?}");
        }
        assert!(Command::Argv(vec![Vec::new(), b"x".to_vec()]).check().is_err());
        assert!(Command::Argv(Vec::new()).check().is_err());
        assert!(Command::Argv(vec![b"echo".to_vec(), Vec::new()]).check().is_ok());
    }

    #[test]
    fn a_word_the_kernel_would_not_take_is_refused() {
        assert!(Command::Shell(vec![b'x'; MAX_WORD]).check().is_ok());
        assert!(Command::Shell(vec![b'x'; MAX_WORD + 1]).check().is_err());
        assert!(Command::Shell(b"a\0b".to_vec()).check().is_err());
    }
}
