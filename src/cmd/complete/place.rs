//! Where in a command line the cursor is.

use clap::{Arg, Command};

/// A command line, up to the word with the cursor.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// The words before it, without `ax`.
    pub(super) before: Vec<String>,
    /// What of it is typed.
    pub(super) current: String,
    /// How many bytes of that the shell has in words of their own.
    pub(super) kept: usize,
}

impl Line {
    /// Reads the words of a shell; that of number `index` has the cursor. Bash
    /// makes words of `:` and `=`, which are put together again.
    pub(super) fn read(words: &[String], index: usize) -> Self {
        let mut joined: Vec<String> = Vec::new();
        let mut kept = 0;
        let mut glue = false;
        for word in words.iter().take(index + 1) {
            let is_break = matches!(word.as_str(), ":" | "=");
            kept = 0;
            match joined.last_mut() {
                Some(last) if (glue || is_break) && !last.is_empty() => {
                    kept = last.len();
                    last.push_str(word);
                }
                _ => joined.push(word.clone()),
            }
            glue = is_break;
        }
        // The cursor is behind the last sign that makes a word.
        if glue {
            kept = joined.last().map_or(0, String::len);
        }
        if words.len() <= index {
            joined.push(String::new());
            kept = 0;
        }
        let current = joined.pop().unwrap_or_default();
        Self { before: joined.into_iter().skip(1).collect(), current, kept }
    }

    /// The value of an option that was typed.
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        let with_equals =
            |word: &'_ String| word.strip_prefix(name)?.strip_prefix('=').map(str::len);
        let place =
            self.before.iter().position(|word| word == name || with_equals(word).is_some())?;
        match self.before[place].strip_prefix(name)?.strip_prefix('=') {
            Some(value) => Some(value),
            None => self.before.get(place + 1).map(String::as_str),
        }
    }
}

/// What may stand at the cursor.
#[derive(Debug)]
pub(super) enum Place<'a> {
    /// A command of this one, beginning so.
    Command(&'a Command, String),
    /// An option of this command, beginning so.
    Option(&'a Command, String),
    /// A value of this argument, beginning so; `lead` stands before it.
    Value {
        /// The command that takes it.
        command: &'a Command,
        /// The argument.
        arg: &'a Arg,
        /// What stands before it in the same word: `--status=`.
        lead: String,
        /// What of it is typed.
        typed: String,
    },
    /// Nothing that is known.
    Nothing,
}

/// Finds the place of the cursor.
pub(super) fn find<'a>(ax: &'a Command, line: &Line) -> Place<'a> {
    let mut walk = Walk { command: ax, positions: 0, pending: None, only_words: false };
    for word in &line.before {
        if !walk.step(word) {
            break;
        }
    }
    walk.place(&line.current)
}

struct Walk<'a> {
    command: &'a Command,
    /// How many words without a name came.
    positions: usize,
    /// The option whose value comes next.
    pending: Option<&'a Arg>,
    /// Whether `--` came.
    only_words: bool,
}

impl<'a> Walk<'a> {
    /// Goes past a word; tells whether the next one may be something of ours.
    fn step(&mut self, word: &str) -> bool {
        if self.pending.take().is_some() {
            return true;
        }
        if !self.only_words && word == "--" {
            self.only_words = true;
        } else if !self.only_words && word.starts_with("--") {
            let (name, has_value) =
                word.split_once('=').map_or((word, false), |(name, _)| (name, true));
            self.pending = self.long(name).filter(|arg| takes_value(arg) && !has_value);
        } else if !self.only_words && word.starts_with('-') && word.len() > 1 {
            self.pending = self.short(word);
        } else if let Some(inner) = self.inner(word) {
            (self.command, self.positions) = (inner, 0);
        } else {
            self.positions += 1;
            return !self.position(self.positions - 1).is_some_and(Arg::is_trailing_var_arg_set);
        }
        true
    }

    fn inner(&self, word: &str) -> Option<&'a Command> {
        let command = self.command;
        let may_be = self.positions == 0 && !self.only_words;
        if may_be { command.find_subcommand(word) } else { None }
    }

    fn long(&self, name: &str) -> Option<&'a Arg> {
        let name = name.strip_prefix("--")?;
        let command = self.command;
        command.get_arguments().find(|arg| {
            arg.get_long() == Some(name)
                || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        })
    }

    /// The last of several short options that waits for its value.
    fn short(&self, word: &str) -> Option<&'a Arg> {
        let command = self.command;
        let letters: Vec<char> = word.chars().skip(1).collect();
        for (at, letter) in letters.iter().enumerate() {
            let arg = command.get_arguments().find(|arg| arg.get_short() == Some(*letter))?;
            if takes_value(arg) {
                return (at + 1 == letters.len()).then_some(arg);
            }
        }
        None
    }

    /// The argument that a word of this number is; the last one may be many.
    fn position(&self, number: usize) -> Option<&'a Arg> {
        let command = self.command;
        let all: Vec<_> = command.get_positionals().collect();
        let last = all.last().copied();
        let is_many = |arg: &&Arg| arg.get_num_args().is_some_and(|range| range.max_values() > 1);
        let many = |arg: &&Arg| is_many(arg) || matches!(arg.get_action(), clap::ArgAction::Append);
        all.get(number).copied().or_else(|| last.filter(many))
    }

    fn place(self, current: &str) -> Place<'a> {
        let command = self.command;
        let value = |arg, lead: &str, typed: &str| Place::Value {
            command,
            arg,
            lead: lead.to_owned(),
            typed: typed.to_owned(),
        };
        if let Some(arg) = self.pending {
            return value(arg, "", current);
        }
        // The command of a job, and its words.
        if let Some(arg) = self.position(0).filter(|arg| arg.is_trailing_var_arg_set())
            && self.positions > 0
        {
            return value(arg, "", current);
        }
        if !self.only_words && current.starts_with('-') {
            return match current.split_once('=') {
                Some((name, typed)) => match self.long(name) {
                    Some(arg) => value(arg, &format!("{name}="), typed),
                    None => Place::Nothing,
                },
                None => Place::Option(command, current.to_owned()),
            };
        }
        let is_first = self.positions == 0 && !self.only_words;
        match self.position(self.positions) {
            _ if is_first && command.has_subcommands() => {
                Place::Command(command, current.to_owned())
            }
            Some(arg) => value(arg, "", current),
            None => Place::Nothing,
        }
    }
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}
