//! The runner's side: what was handed to it, and whom it has answered.

use std::os::unix::net::UnixStream;

use super::{Answer, FileId, Request, answer, has_hung_up};
use crate::crash;
use crate::job::Added;
use crate::store::{Handed, Store, Token};

/// The jobs that commands hand to a runner.
pub struct Intake {
    file: Option<FileId>,
    waiting: Vec<Request>,
    /// Those who may still ask what became of their job.
    answered: Vec<(Token, UnixStream)>,
}

impl Intake {
    /// The intake of a runner that has this file open; without one it takes nothing.
    pub const fn new(file: Option<FileId>) -> Self {
        Self { file, waiting: Vec::new(), answered: Vec::new() }
    }

    /// Takes note of a request.
    pub fn note(&mut self, request: Request) {
        self.waiting.push(request);
    }

    /// Tells whether nobody waits for an answer or may ask again.
    pub const fn is_clear(&self) -> bool {
        self.waiting.is_empty() && self.answered.is_empty()
    }

    /// Adds what came in, if the runner `serves`: one commit for all. If the
    /// store has trouble they get no answer and see for themselves.
    pub fn serve(&mut self, store: &mut dyn Store, serves: bool) {
        if self.waiting.is_empty() {
            return;
        }
        let (mut handed, mut replies) = (Vec::new(), Vec::new());
        for request in self.waiting.drain(..) {
            if serves && self.file == Some(request.file) && !has_hung_up(&request.reply) {
                handed.push(request.handed);
                replies.push(request.reply);
            } else {
                let Request { handed: Handed { token, .. }, reply, .. } = request;
                answer(&reply, Answer::NotTaken);
                self.answered.push((token, reply));
            }
        }
        if handed.is_empty() {
            return;
        }
        let Some(answers) = self.store(store, &handed) else { return };
        crash::point("hand", "before-answer");
        for ((handed, reply), said) in handed.iter().zip(replies).zip(answers) {
            answer(&reply, said);
            self.answered.push((handed.token, reply));
        }
    }

    /// Forgets those who will not ask again, which can wait: it is a commit of
    /// its own.
    pub fn tidy(&mut self, store: &mut dyn Store) {
        if self.answered.iter().any(|(_, reply)| has_hung_up(reply)) {
            self.store(store, &[]);
        }
    }

    /// Adds these and forgets those who have hung up; `None` if the store has
    /// trouble.
    fn store(&mut self, store: &mut dyn Store, handed: &[Handed]) -> Option<Vec<Answer>> {
        let (gone, left): (Vec<_>, Vec<_>) =
            self.answered.drain(..).partition(|(_, reply)| has_hung_up(reply));
        self.answered = left;
        let tokens: Vec<Token> = gone.iter().map(|(token, _)| *token).collect();
        let Ok(answers) = store.add_handed(handed, &tokens) else {
            self.answered.extend(gone);
            return None;
        };
        let said = answers.into_iter().map(|added| {
            added.map_or(Answer::NotTaken, |Added { id, new }| Answer::Added { id, new })
        });
        Some(said.collect())
    }
}
