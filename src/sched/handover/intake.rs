//! The runner's side: what was handed to it, and whom it has answered.

use std::os::unix::net::UnixStream;
use std::path::Path;

use super::{Answer, FileId, Request, answer, has_hung_up};
use crate::crash;
use crate::exec::process;
use crate::job::Added;
use crate::store::{Handed, Store, Token};

/// The jobs that commands hand to a runner.
pub struct Intake {
    database: Option<FileId>,
    waiting: Vec<Request>,
    /// Those whose jobs are in the turn.
    asked: Vec<(Token, UnixStream)>,
    /// Those who may still ask what became of their job.
    answered: Vec<(Token, UnixStream)>,
    /// The tokens of those who will not ask any more.
    done: Vec<Token>,
}

impl Intake {
    /// The intake of a runner that has this database open; without it, it takes nothing.
    pub const fn new(database: Option<FileId>) -> Self {
        Self {
            database,
            waiting: Vec::new(),
            asked: Vec::new(),
            answered: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Tells whether the database is still the one at `path`.
    pub fn is_of(&self, path: &Path) -> bool {
        FileId::of(path).ok() == self.database
    }

    /// Takes note of a request.
    pub fn note(&mut self, request: Request) {
        self.waiting.push(request);
    }

    /// Tells whether nobody waits for an answer or may ask again.
    pub const fn is_clear(&self) -> bool {
        self.waiting.is_empty() && self.answered.is_empty() && self.done.is_empty()
    }

    /// What is to be added in the next turn; nothing unless the runner `serves`.
    /// [`Intake::answer`] follows.
    pub fn take(&mut self, serves: bool) -> Vec<Handed> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        self.part_from_the_answered();
        let mut taken = Vec::new();
        for Request { database, handed, reply } in self.waiting.drain(..) {
            if has_hung_up(&reply) {
                // It has added the job, or was killed.
                self.done.push(handed.token);
            } else if serves && self.database == Some(database) {
                self.asked.push((handed.token, reply));
                taken.push(handed);
            } else {
                answer(&reply, Answer::NotTaken);
            }
        }
        taken
    }

    /// Answers those whose jobs were in the turn; without `added` the store had
    /// trouble, and they see for themselves.
    pub fn answer(&mut self, added: Option<&[Option<Added>]>) {
        let asked = std::mem::take(&mut self.asked);
        if asked.is_empty() {
            return;
        }
        crash::point("hand", "before-answer");
        let Some(added) = added else { return };
        for ((token, reply), added) in asked.into_iter().zip(added) {
            let said =
                added.map_or(Answer::NotTaken, |Added { id, new }| Answer::Added { id, new });
            answer(&reply, said);
            self.answered.push((token, reply));
        }
    }

    /// Has the store forget those who will not ask again, which can wait: it is
    /// a commit of its own. Also those whose runner is gone, once they are.
    pub fn tidy(&mut self, store: &mut dyn Store) {
        self.part_from_the_answered();
        let left = store.left_handed().unwrap_or_default();
        let gone = left.into_iter().filter(|(_, pid)| process::stat(*pid).is_none());
        let mut done = std::mem::take(&mut self.done);
        done.extend(gone.map(|(token, _)| token));
        if !done.is_empty() && store.add_handed(&[], &done).is_err() {
            self.done = done;
        }
    }

    /// Lets go of the sockets of those who have hung up.
    fn part_from_the_answered(&mut self) {
        for (token, _) in self.answered.extract_if(.., |(_, reply)| has_hung_up(reply)) {
            self.done.push(token);
        }
    }
}
