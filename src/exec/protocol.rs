//! What a runner and its supervisor say to each other over their socket.
//!
//! A message is its length (4 bytes, little-endian) and its postcard form.
//! Both ends are the same program, so there are no versions.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Report, Stop};
use crate::job::{Claim, Claimed, EnvBlock};

/// How much is read at once.
const CHUNK: usize = 4 * 1024;

/// What a message begins with: its length.
const HEAD: usize = size_of::<u32>();

/// Longer messages are a fault: an environment and a command are at most
/// 6 MiB (execve(2)).
const LONGEST: usize = 64 * 1024 * 1024;

/// What a runner tells its supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order<'a> {
    /// The jobs that follow were added with this environment, or with none.
    Env(Option<Cow<'a, EnvBlock>>),
    /// Run this job.
    Run(Box<Cow<'a, Claimed>>),
    /// Stop this attempt, if it is the one in hand.
    Stop {
        /// Which attempt.
        claim: Claim,
        /// Why.
        why: Stop,
    },
    /// Everything that was reported is settled: end and leave nothing.
    Done,
}

/// What a supervisor tells its runner.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer<'a> {
    /// Something about the job in hand.
    Report {
        /// What.
        report: Cow<'a, Report>,
        /// Whether the supervisor takes no more jobs and ends.
        retires: bool,
    },
    /// The supervisor cannot work, and says why.
    Unable(String),
}

/// Sends a message.
///
/// # Errors
/// When nobody listens.
pub(super) fn send(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    send_all(stream, &[message])
}

/// Sends messages in one piece, so that the other end wakes up once.
///
/// # Errors
/// When nobody listens.
pub(super) fn send_all(stream: &mut impl Write, messages: &[impl Serialize]) -> io::Result<()> {
    let mut frames = Vec::with_capacity(512);
    for message in messages {
        let start = frames.len();
        frames.extend([0; HEAD]);
        frames = postcard::to_extend(message, frames).map_err(io::Error::other)?;
        let length = u32::try_from(frames.len() - start - HEAD).map_err(io::Error::other)?;
        frames[start..start + HEAD].copy_from_slice(&length.to_le_bytes());
    }
    stream.write_all(&frames)
}

/// Puts messages together from what comes in.
#[derive(Debug)]
pub(super) struct Inbox<T> {
    bytes: Vec<u8>,
    messages: PhantomData<T>,
}

impl<T: DeserializeOwned> Inbox<T> {
    /// An empty one.
    pub(super) const fn new() -> Self {
        Self { bytes: Vec::new(), messages: PhantomData }
    }

    /// Reads once what there is; waits if there is nothing. 0 is the end.
    ///
    /// # Errors
    /// When the stream cannot be read.
    pub(super) fn fill(&mut self, stream: &mut impl Read) -> io::Result<usize> {
        let start = self.bytes.len();
        self.bytes.resize(start + CHUNK, 0);
        let read = loop {
            match stream.read(&mut self.bytes[start..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                read => break read,
            }
        };
        self.bytes.truncate(start + *read.as_ref().unwrap_or(&0));
        read
    }

    /// The next message, if it is whole.
    ///
    /// # Errors
    /// When it is none that this program sends.
    pub(super) fn next(&mut self) -> io::Result<Option<T>> {
        let Some((length, rest)) = self.bytes.split_first_chunk() else { return Ok(None) };
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(io::Error::other)?;
        if length > LONGEST {
            return Err(io::Error::other("a message is too long"));
        }
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        let message = postcard::from_bytes(frame).map_err(io::Error::other)?;
        self.bytes.drain(..HEAD + length);
        Ok(Some(message))
    }

    /// Waits for the next message; `None` at the end.
    ///
    /// # Errors
    /// When the stream cannot be read.
    pub(super) fn wait(&mut self, stream: &mut impl Read) -> io::Result<Option<T>> {
        loop {
            if let Some(message) = self.next()? {
                return Ok(Some(message));
            }
            if self.fill(stream)? == 0 {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{JobId, RunnerId};

    fn stop(job: i64) -> Order<'static> {
        let claim = Claim { job: JobId(job), attempt: 1, owner: RunnerId(3) };
        Order::Stop { claim, why: Stop::Cancel }
    }

    fn job_of(order: Option<Order<'_>>) -> Option<i64> {
        match order? {
            Order::Stop { claim, .. } => Some(claim.job.0),
            Order::Env(_) | Order::Run(_) | Order::Done => None,
        }
    }

    #[test]
    fn messages_come_out_whole_whatever_the_pieces_they_came_in() {
        let mut sent = Vec::new();
        send(&mut sent, &stop(1)).expect("written");
        send(&mut sent, &stop(300)).expect("written");
        let mut inbox = Inbox::<Order<'static>>::new();
        let mut jobs = Vec::new();
        for byte in sent {
            assert_eq!(inbox.fill(&mut [byte].as_slice()).expect("read"), 1);
            jobs.extend(job_of(inbox.next().expect("a message")));
        }
        assert_eq!(jobs, [1, 300]);
    }

    #[test]
    fn half_a_message_at_the_end_is_none() {
        let mut sent = Vec::new();
        send(&mut sent, &stop(1)).expect("written");
        sent.pop();
        let mut inbox = Inbox::<Order<'static>>::new();
        assert!(inbox.wait(&mut sent.as_slice()).expect("read").is_none());
    }

    #[test]
    fn an_absurd_length_is_a_fault() {
        let mut inbox = Inbox::<Order<'static>>::new();
        assert!(inbox.wait(&mut [0xff; 8].as_slice()).is_err());
    }
}
