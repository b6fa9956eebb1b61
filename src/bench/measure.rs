//! Each figure, in turn with its limit.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use super::bare;
use super::figure::{Figure, Quantiles};
use super::place::Place;
use super::program::{BEAT, Beat, Desk, Running};
use super::{Tried, divisor};
use crate::failure::{Failure, reason};
use crate::store::yardstick;

/// How many jobs a chain has.
const CHAIN: usize = 100;
/// Rows of a batch for each job of a drain.
const BATCH: usize = 20;
/// The most calls and starts that are timed one by one.
const CALLS: usize = 200;
const STARTS: usize = 100;
/// After which a runner that has done its work is idle.
const REST: Duration = Duration::from_millis(20);

/// What all measurements share.
pub(super) struct Bench<'a> {
    pub(super) place: &'a Place,
    pub(super) jobs: usize,
    pub(super) workers: usize,
    pub(super) rounds: usize,
}

/// A figure's times and those of its limit.
type Both = (Vec<Duration>, Vec<Duration>);

impl<'a> Bench<'a> {
    /// A page written until the disk has it.
    pub(super) fn sync(&self) -> Result<Quantiles, Failure> {
        bare::sync(&self.place.file("pages"), CALLS).map(Quantiles::of)
    }

    /// Draining jobs, beside a loop that starts as many bare.
    pub(super) fn drain(&self) -> Result<Figure, Failure> {
        let (took, limit) = self.in_turn(
            self.rounds,
            |round| self.drain_once(&format!("drain-{round}"), self.workers),
            |_| Ok(bare::start_many("true", self.jobs, self.workers)? / divisor(self.jobs)),
        )?;
        Ok(Figure::new("drain", "a job of `sh -c true`, drained", took, limit))
    }

    /// Drains once on a new database; tells how long it took for each job.
    fn drain_once(&self, name: &str, workers: usize) -> Result<Duration, Failure> {
        let desk = Desk::new(self.place, name);
        let line = "{\"command\":\"true\"}\n";
        self.add_lines(&desk, &line.repeat(self.jobs))?;
        let took = desk.time(&["run", "--until-idle", "--workers", &workers.to_string()])?;
        Ok(took / divisor(self.jobs))
    }

    /// Drains with these numbers of workers; for each the best of its rounds.
    pub(super) fn try_workers(&self, workers: [usize; 3]) -> Result<Vec<Tried>, Failure> {
        let try_one = |workers: usize| {
            let name = |round| format!("workers-{workers}-{round}");
            let times = (0..self.rounds).map(|round| self.drain_once(&name(round), workers));
            let times = times.collect::<Result<Vec<_>, _>>()?;
            let best = times.into_iter().min().unwrap_or_default().as_secs_f64();
            Ok(Tried { workers, per_second: 1.0 / best.max(f64::MIN_POSITIVE) })
        };
        workers.into_iter().map(try_one).collect()
    }

    /// One call of `ax add`, beside starting `/bin/true`.
    pub(super) fn add(&self) -> Result<Figure, Failure> {
        let desk = Desk::new(self.place, "add");
        desk.time(&["add", "true"])?;
        let (took, limit) = self.in_turn(
            self.jobs.min(CALLS),
            |_| desk.time(&["add", "true"]),
            |_| bare::time_true(),
        )?;
        Ok(Figure::new("add", "one `ax add` (bare: /bin/true)", took, limit))
    }

    /// A job of a batch, beside the same rows by a prepared statement.
    pub(super) fn batch(&self) -> Result<Figure, Failure> {
        let count = self.jobs * BATCH;
        let desk = |round| Desk::new(self.place, &format!("from-{round}"));
        let lines = chain_of("true", count, "batch");
        let (took, limit) = self.in_turn(
            self.rounds,
            |round| Ok(self.add_lines(&desk(round), &lines)? / divisor(count)),
            |round| {
                let copy = self.place.file(&format!("copy-{round}.db"));
                Ok(yardstick(desk(round).db(), &copy)? / divisor(count))
            },
        )?;
        Ok(Figure::new("add_from", "a job of `--from` (bare: its rows)", took, limit))
    }

    /// On an idle runner: handing a job to it, and starts after `ax add`, after a
    /// parent, in a chain.
    pub(super) fn latencies(&self) -> Result<[Figure; 4], Failure> {
        let desk = Desk::new(self.place, "latency");
        let mut beat = Beat::new(self.place)?;
        let runner = desk.start(&["run", "--workers", &self.workers.to_string()])?;
        desk.time(&["add", BEAT])?;
        beat.next()?;
        let figures = [
            self.hand(&desk)?,
            self.start(&desk, &mut beat)?,
            self.child(&desk, &mut beat)?,
            self.chain(&desk, &mut beat)?,
        ];
        drop::<Running<'_>>(runner);
        Ok(figures)
    }

    /// The job waits for a person, so that the runner does no more than add it.
    fn hand(&self, desk: &Desk<'a>) -> Result<Figure, Failure> {
        let (took, limit) = self.in_turn(
            self.jobs.min(CALLS),
            |_| desk.time(&["add", "--hold", "true"]),
            |_| bare::time_true(),
        )?;
        Ok(Figure::new("hand", "one `ax add` that a runner is handed", took, limit))
    }

    fn start(&self, desk: &Desk<'a>, beat: &mut Beat<'_>) -> Result<Figure, Failure> {
        let text = beat.bare();
        let (mut took, mut limit) = Both::default();
        for _ in 0..self.jobs.min(STARTS) {
            thread::sleep(REST);
            let begin = Instant::now();
            let call = desk.start(&["add", BEAT])?;
            took.push(beat.next()?.duration_since(begin));
            call.end()?;
            thread::sleep(REST);
            let begin = Instant::now();
            let process = bare::start(&text)?;
            limit.push(beat.next()?.duration_since(begin));
            bare::end_of(Some(process))?;
        }
        Ok(Figure::new("start", "`ax add` to the job's first word", took, limit))
    }

    fn child(&self, desk: &Desk<'a>, beat: &mut Beat<'_>) -> Result<Figure, Failure> {
        let text = beat.bare();
        let (mut took, mut limit) = Both::default();
        for pair in 0..self.jobs.min(STARTS) {
            thread::sleep(REST);
            self.add_lines(desk, &chain_of(BEAT, 2, &format!("pair-{pair}")))?;
            let parent = beat.next()?;
            took.push(beat.next()?.duration_since(parent));
            thread::sleep(REST);
            let process = bare::start(&text)?;
            let parent = beat.next()?;
            bare::end_of(Some(process))?;
            let process = bare::start(&text)?;
            limit.push(beat.next()?.duration_since(parent));
            bare::end_of(Some(process))?;
        }
        Ok(Figure::new("child", "a parent's last word to its child's first", took, limit))
    }

    fn chain(&self, desk: &Desk<'a>, beat: &mut Beat<'_>) -> Result<Figure, Failure> {
        let text = beat.bare();
        let (mut took, mut limit) = Both::default();
        for round in 0..self.rounds {
            self.add_lines(desk, &chain_of(BEAT, CHAIN, &format!("chain-{round}")))?;
            let first = beat.next()?;
            let last = (1..CHAIN).try_fold(first, |_, _| beat.next())?;
            took.push(last.duration_since(first) / divisor(CHAIN - 1));
            thread::sleep(REST);
            limit.push(bare::start_many(&text, CHAIN, 1)? / divisor(CHAIN));
            (0..CHAIN).try_for_each(|_| beat.next().map(drop))?;
        }
        Ok(Figure::new("chain", "a link of a chain of 100", took, limit))
    }

    /// Takes a time of each in turn.
    fn in_turn(
        &self,
        rounds: usize,
        mut one: impl FnMut(usize) -> Result<Duration, Failure>,
        mut limit: impl FnMut(usize) -> Result<Duration, Failure>,
    ) -> Result<Both, Failure> {
        let mut both = Both::default();
        for round in 0..rounds {
            both.0.push(one(round)?);
            both.1.push(limit(round)?);
            self.place.check()?;
        }
        Ok(both)
    }

    /// Adds lines with `--from`; tells how long it took.
    fn add_lines(&self, desk: &Desk<'_>, lines: &str) -> Result<Duration, Failure> {
        let path = self.place.file("lines.jsonl");
        fs::write(&path, lines).map_err(|error| {
            Failure::failed(format!("cannot write {}: {}", path.display(), reason(&error)))
        })?;
        desk.time(&["add", "--from", "lines.jsonl"])
    }
}

/// Lines of jobs each of which comes after the one before; `name` is in their
/// keys, so that no unfinished job of another chain has one of them.
fn chain_of(text: &str, count: usize, name: &str) -> String {
    let line = |n: usize| {
        let after = n.checked_sub(1).map(|before| format!(",\"after\":[\"{name}.{before}\"]"));
        let after = after.unwrap_or_default();
        format!("{{\"command\":\"{text}\",\"key\":\"{name}.{n}\"{after}}}\n")
    };
    (0..count).map(line).collect()
}

/// A count as a factor.
pub(super) fn count(count: usize) -> f64 {
    f64::from(divisor(count))
}
