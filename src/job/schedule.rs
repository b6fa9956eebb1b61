//! Schedules: what is started again and again, and what becomes of a start
//! whose time has come.
//!
//! The next start of a schedule always stands among the jobs. When it is due,
//! [`Plan::of`] says whether it goes, which of the starts that no runner was
//! there for are made up for, and when the next one is due.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::hook::RunHook;
use super::{JobId, Kind, NewJob, ParentRef, Timestamp, Timetable, graph};

/// Jobs that are started together: those of a flow, or a single one.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Chain {
    /// The flow they are declared in.
    pub flow: Option<String>,
    /// The jobs; parents among them are told by their place.
    pub jobs: Vec<NewJob>,
    /// How often they are started again from the first.
    pub retry: ChainRetry,
    /// What is run when all of them have ended.
    #[serde(default)]
    pub on_end: Option<RunHook>,
}

impl Chain {
    /// Checks that the chain can be started at all, whoever wrote it.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        let mut parents = Vec::with_capacity(self.jobs.len());
        for job in &self.jobs {
            job.command.check()?;
            let place = |(parent, _): &(ParentRef, Kind)| match parent {
                ParentRef::InBatch(place) if *place < self.jobs.len() => Ok(*place),
                ParentRef::InBatch(_) | ParentRef::Id(_) | ParentRef::Key(_) => {
                    Err("a job waits for one that is not of the chain".to_owned())
                }
            };
            parents.push(job.parents.iter().map(place).collect::<Result<Vec<_>, _>>()?);
        }
        if graph::cycles(&parents).is_empty() {
            Ok(())
        } else {
            Err("jobs of the chain wait for each other".to_owned())
        }
    }
}

/// What happens when a job of a chain ends dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChainRetry {
    /// How often the whole chain is started again.
    pub max: u32,
    /// How long after the failure.
    pub delay: Duration,
}

/// What is done about starts that came due while nothing ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CatchUp {
    /// They are skipped.
    None,
    /// One start stands for all of them.
    #[default]
    One,
    /// Each is made up for, the last [`MOST`] at most.
    All,
}

/// What is done about a start while the one before it has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Overlap {
    /// It is skipped.
    #[default]
    Skip,
    /// It waits; with [`MOST`] waiting, further ones are skipped.
    Queue,
    /// Both run.
    Allow,
}

/// How many starts of a schedule are made up for, or wait, at most.
pub const MOST: usize = 100;

/// A start that is as late as this was missed.
pub const LATE: Duration = Duration::from_mins(1);

impl CatchUp {
    /// All policies, in the order of the help text.
    pub const ALL: [Self; 3] = [Self::None, Self::One, Self::All];

    /// The name used in the database, in files and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::One => "one",
            Self::All => "all",
        }
    }
}

impl Overlap {
    /// All policies, in the order of the help text.
    pub const ALL: [Self; 3] = [Self::Skip, Self::Queue, Self::Allow];

    /// The name used in the database, in files and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Queue => "queue",
            Self::Allow => "allow",
        }
    }
}

impl FromStr for CatchUp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|policy| policy.as_str() == text);
        found.ok_or_else(|| format!("`{}` is none of none, one, all", text.escape_debug()))
    }
}

impl FromStr for Overlap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|policy| policy.as_str() == text);
        found.ok_or_else(|| format!("`{}` is none of skip, queue, allow", text.escape_debug()))
    }
}

impl fmt::Display for CatchUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// When a schedule starts, and what is done where that does not go smoothly.
#[derive(Clone, Debug, PartialEq)]
pub struct Recurrence {
    /// When.
    pub table: Timetable,
    /// About missed starts.
    pub catch_up: CatchUp,
    /// About starts that would overlap.
    pub overlap: Overlap,
}

/// A schedule that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSchedule {
    /// Its name, which no other schedule has.
    pub name: String,
    /// When.
    pub recurrence: Recurrence,
    /// What.
    pub chain: Chain,
}

/// A stored schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Its name.
    pub name: String,
    /// When, or what is wrong with the row that says so.
    pub recurrence: Result<Recurrence, String>,
    /// What.
    pub chain: Chain,
    /// The start that stands among the jobs; `None` while it is paused.
    pub next: Option<NextStart>,
}

/// The start of a schedule that stands among the jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStart {
    /// When it is due.
    pub due: Timestamp,
    /// Its jobs, in the order of the chain.
    pub jobs: Vec<JobId>,
}

/// What a start meets when its time has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    /// A job of the start before it that has not ended.
    pub open: Option<JobId>,
    /// Whether [`MOST`] starts have not ended.
    pub full: bool,
}

/// What becomes of a start whose time has come, and of those after it that
/// are due by now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What becomes of the start itself.
    pub fate: Fate,
    /// The starts that are made up for, in order; that itself may be one.
    pub made_up: Vec<Timestamp>,
}

/// What becomes of a start whose time has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes.
    Goes,
    /// It is skipped, and why.
    Skipped(String),
    /// It was missed, and stands for the next one from now on.
    Moves,
}

impl Plan {
    /// Decides about the start that is due at `due`, at or before `now`.
    pub fn of(recurrence: &Recurrence, due: Timestamp, now: Timestamp, before: Before) -> Self {
        let blocked = recurrence.blocked(before);
        let (fate, made_up) = match blocked {
            Some(why) if now.since(due) < LATE => (Fate::Skipped(why), Vec::new()),
            None if now.since(due) < LATE => (Fate::Goes, Vec::new()),
            Some(_) => (Fate::Moves, Vec::new()),
            None => (Fate::Moves, recurrence.made_up(due, now)),
        };
        Self { fate, made_up }
    }
}

impl Recurrence {
    /// Why a start does not go because of those before it.
    fn blocked(&self, before: Before) -> Option<String> {
        match (self.overlap, before.open) {
            (Overlap::Skip, Some(job)) => {
                Some(format!("job {job} of the start before it had not ended (overlap = skip)"))
            }
            (Overlap::Queue, Some(_)) if before.full => {
                Some(format!("{MOST} starts before it had not ended (overlap = queue)"))
            }
            (Overlap::Skip | Overlap::Queue | Overlap::Allow, _) => None,
        }
    }

    /// Which of the starts from `due`, which was missed, to `now` are made up for.
    fn made_up(&self, due: Timestamp, now: Timestamp) -> Vec<Timestamp> {
        let before = |time: Timestamp, length: Duration| {
            let length = i64::try_from(length.as_millis()).unwrap_or(i64::MAX);
            Timestamp::from_millis(time.millis().saturating_sub(length))
        };
        let last = |after, most| self.table.last_until(after, now, most);
        match self.catch_up {
            // What is not late was not missed.
            CatchUp::None => last(before(now, LATE), MOST),
            CatchUp::One => last(before(due, LATE), 1),
            CatchUp::All => last(before(due, LATE), MOST),
        }
    }
}

/// A name for the schedule of a command, of its own words: `backup` for
/// `cd /srv && A=1 ./backup.sh --all`. Nobody else may have it yet: see
/// [`distinct`].
pub fn name_of(command: &str) -> String {
    let words = command.split([' ', '\t', '\n', ';', '&', '|', '(', ')', '"', '\'']);
    let mut words = words.filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        if matches!(word, "cd" | "." | "source") {
            words.next();
        } else if word == "[" {
            words.find(|word| *word == "]");
        } else if !is_prelude(word)
            && let Some(name) = label(word)
        {
            return name;
        }
    }
    "job".to_owned()
}

/// What stands before the program that matters.
fn is_prelude(word: &str) -> bool {
    const PRELUDES: [&str; 15] = [
        "test", "if", "then", "sleep", "command", "exec", "env", "nice", "ionice", "sudo", "time",
        "nohup", "sh", "bash", "-c",
    ];
    PRELUDES.contains(&word) || word.contains('=') || word.starts_with(['-', '$', '!', '{', '>'])
}

/// The name of a program without its directory and ending.
fn label(word: &str) -> Option<String> {
    const LONGEST: usize = 40;
    let file = word.rsplit('/').next().unwrap_or(word);
    let stem = match file.rsplit_once('.') {
        Some((stem, "sh" | "py" | "pl" | "rb" | "php" | "js")) => stem,
        Some(_) | None => file,
    };
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let name: String = stem.chars().filter(|letter| plain(*letter)).take(LONGEST).collect();
    name.chars().any(char::is_alphabetic).then_some(name)
}

/// The name, or the name with a number behind it that makes it a new one.
pub fn distinct(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number: u64| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !is_taken(name)).expect("there is always another number")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn minutely(catch_up: CatchUp, overlap: Overlap) -> Recurrence {
        let table = Timetable::new("* * * * *", "UTC").expect("valid");
        Recurrence { table, catch_up, overlap }
    }

    fn at(minutes: i64, millis: i64) -> Timestamp {
        Timestamp::from_millis(minutes * MINUTE + millis)
    }

    fn plan(catch_up: CatchUp, overlap: Overlap, now: Timestamp, before: Before) -> Plan {
        Plan::of(&minutely(catch_up, overlap), at(10, 0), now, before)
    }

    #[test]
    fn a_start_on_time_goes() {
        for catch_up in CatchUp::ALL {
            let plan = plan(catch_up, Overlap::Skip, at(10, 59_999), Before::default());
            assert_eq!(plan, Plan { fate: Fate::Goes, made_up: vec![] });
        }
    }

    #[test]
    fn what_was_missed_is_not_made_up_for_with_none() {
        let late = plan(CatchUp::None, Overlap::Skip, at(20, 30_000), Before::default());
        let made_up = vec![at(20, 0)];
        assert_eq!(late, Plan { fate: Fate::Moves, made_up });
    }

    #[test]
    fn one_start_stands_for_all_that_were_missed_with_one() {
        let late = plan(CatchUp::One, Overlap::Skip, at(4_330, 30_000), Before::default());
        let made_up = vec![at(4_330, 0)];
        assert_eq!(late, Plan { fate: Fate::Moves, made_up });
    }

    #[test]
    fn every_missed_start_is_made_up_for_with_all_but_no_more_than_the_last_hundred() {
        let few = plan(CatchUp::All, Overlap::Allow, at(13, 1), Before::default());
        assert_eq!(few.made_up, [at(10, 0), at(11, 0), at(12, 0), at(13, 0)]);
        let many = plan(CatchUp::All, Overlap::Allow, at(4_330, 0), Before::default());
        assert_eq!(many.fate, Fate::Moves);
        assert_eq!(many.made_up.len(), MOST);
        assert_eq!(many.made_up[0], at(4_231, 0));
    }

    #[test]
    fn a_start_is_skipped_while_the_one_before_it_has_not_ended_unless_it_may_wait_or_overlap() {
        let open = Before { open: Some(JobId(7)), full: false };
        let why = "job 7 of the start before it had not ended (overlap = skip)".to_owned();
        let on_time = plan(CatchUp::All, Overlap::Skip, at(10, 0), open);
        assert_eq!(on_time.fate, Fate::Skipped(why));
        let late = plan(CatchUp::All, Overlap::Skip, at(12, 0), open);
        assert_eq!(late, Plan { fate: Fate::Moves, made_up: vec![] });
        for overlap in [Overlap::Queue, Overlap::Allow] {
            assert_eq!(plan(CatchUp::One, overlap, at(10, 0), open).fate, Fate::Goes);
        }
    }

    #[test]
    fn a_queue_of_starts_has_an_end() {
        let full = Before { open: Some(JobId(7)), full: true };
        let why = "100 starts before it had not ended (overlap = queue)".to_owned();
        let plan = |overlap| plan(CatchUp::One, overlap, at(10, 0), full).fate;
        assert_eq!(plan(Overlap::Queue), Fate::Skipped(why));
        assert_eq!(plan(Overlap::Allow), Fate::Goes);
    }

    #[test]
    fn a_schedule_is_named_by_the_program_that_matters() {
        for (command, name) in [
            ("/usr/local/bin/backup.sh --all", "backup"),
            ("cd /srv/app && FORCE_COLOR=1 python3 momentum.py", "python3"),
            ("[ -x /usr/bin/munin-cron ] && /usr/bin/munin-cron", "munin-cron"),
            ("[ ! -f /x/0anacron ] && run-parts /etc/cron.daily", "run-parts"),
            ("$DIR/bin/update; true", "true"),
            (" ", "job"),
        ] {
            assert_eq!(name_of(command), name, "{command}");
        }
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let taken = ["a", "a-2"];
        assert_eq!(distinct("b", |name| taken.contains(&name)), "b");
        assert_eq!(distinct("a", |name| taken.contains(&name)), "a-3");
    }

    #[test]
    fn names_of_policies_parse_back() {
        for policy in CatchUp::ALL {
            assert_eq!(policy.as_str().parse(), Ok(policy));
        }
        for policy in Overlap::ALL {
            assert_eq!(policy.as_str().parse(), Ok(policy));
        }
        assert!("some".parse::<CatchUp>().is_err() && "some".parse::<Overlap>().is_err());
    }
}
