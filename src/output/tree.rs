//! Draws what hangs below a job in a graph, a line a job.
//!
//! The graph may be a chain of any length, may meet itself again, and may
//! contain cycles that somebody wrote by hand: nothing here recurses, and a
//! job that was drawn is not drawn again but marked `(above)`.

use std::collections::{HashMap, HashSet};

use crate::job::{JobId, Kind};

/// The levels that are indented; what is deeper tells its depth instead, so
/// that a chain of 10,000 jobs does not run off to the right.
const INDENTED: usize = 16;

/// For each job the jobs below it, by edges of which kind.
pub type Links = HashMap<JobId, Vec<(JobId, Kind)>>;

/// A line that is still to be drawn.
struct Step {
    job: JobId,
    kind: Kind,
    depth: usize,
    last: bool,
}

/// A drawing of one or more trees.
pub struct Drawing<'a> {
    label: &'a dyn Fn(JobId) -> String,
    drawn: HashSet<JobId>,
    text: String,
}

impl<'a> Drawing<'a> {
    /// An empty drawing in which a job is written as `label` says.
    pub fn new(label: &'a dyn Fn(JobId) -> String) -> Self {
        Self { label, drawn: HashSet::new(), text: String::new() }
    }

    /// Adds a line of its own.
    pub fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Adds a job at the left edge.
    pub fn root(&mut self, job: JobId) {
        self.drawn.insert(job);
        self.line(&(self.label)(job));
    }

    /// Tells whether a job is in the drawing.
    pub fn has(&self, job: JobId) -> bool {
        self.drawn.contains(&job)
    }

    /// Adds everything below `job`.
    pub fn below(&mut self, job: JobId, links: &Links) {
        let mut open = Vec::new();
        let mut steps = Vec::new();
        push_below(&mut steps, job, links, 0);
        while let Some(step) = steps.pop() {
            open.truncate(step.depth);
            let branch = branch(&open, step.last);
            open.push(!step.last);
            let kind = kind_text(step.kind);
            let label = (self.label)(step.job);
            if self.drawn.insert(step.job) {
                self.line(&format!("{branch}{label}{kind}"));
                push_below(&mut steps, step.job, links, step.depth + 1);
            } else {
                self.line(&format!("{branch}{label}{kind} (above)"));
            }
        }
    }

    /// The drawing as text.
    pub fn finish(self) -> String {
        self.text
    }
}

fn push_below(steps: &mut Vec<Step>, job: JobId, links: &Links, depth: usize) {
    let below = links.get(&job).map_or(&[][..], Vec::as_slice);
    for (index, (job, kind)) in below.iter().enumerate().rev() {
        let last = index + 1 == below.len();
        steps.push(Step { job: *job, kind: *kind, depth, last });
    }
}

/// The lines that lead to a job; `open` tells of each level above it whether
/// more is to come there.
fn branch(open: &[bool], last: bool) -> String {
    let bars = open.iter().take(INDENTED).map(|more| if *more { "│  " } else { "   " });
    let bars: String = bars.collect();
    let bend = if last { "└─" } else { "├─" };
    if open.len() > INDENTED {
        format!("{bars}{bend} (level {}) ", open.len() + 1)
    } else {
        format!("{bars}{bend} ")
    }
}

const fn kind_text(kind: Kind) -> &'static str {
    match kind {
        Kind::After => "",
        Kind::OnFailure => " (on_failure)",
        Kind::AfterAny => " (after_any)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(root: i64, links: &[(i64, &[(i64, Kind)])]) -> String {
        let links: Links = links
            .iter()
            .map(|(job, below)| {
                (JobId(*job), below.iter().map(|(job, kind)| (JobId(*job), *kind)).collect())
            })
            .collect();
        let label = |job: JobId| format!("job {job}");
        let mut drawing = Drawing::new(&label);
        drawing.root(JobId(root));
        drawing.below(JobId(root), &links);
        drawing.finish()
    }

    #[test]
    fn a_diamond_is_drawn_once() {
        use Kind::{After, AfterAny, OnFailure};
        let links: [(i64, &[(i64, Kind)]); 3] =
            [(1, &[(2, After), (3, OnFailure)]), (2, &[(4, After)]), (3, &[(4, AfterAny)])];
        let want = "
job 1
├─ job 2
│  └─ job 4
└─ job 3 (on_failure)
   └─ job 4 (after_any) (above)
";
        assert_eq!(drawn(1, &links), want[1..]);
    }

    #[test]
    fn a_cycle_ends() {
        let links: [(i64, &[(i64, Kind)]); 2] =
            [(1, &[(2, Kind::After)]), (2, &[(1, Kind::After)])];
        assert_eq!(drawn(1, &links), "job 1\n└─ job 2\n   └─ job 1 (above)\n");
    }

    #[test]
    fn a_chain_of_ten_thousand_stays_narrow() {
        let ends: Vec<[(i64, Kind); 1]> = (2..=10_000).map(|job| [(job, Kind::After)]).collect();
        let links: Vec<(i64, &[(i64, Kind)])> =
            ends.iter().zip(1..).map(|(below, job)| (job, &below[..])).collect();
        let text = drawn(1, &links);
        assert_eq!(text.lines().count(), 10_000);
        assert!(text.lines().all(|line| super::super::text::width(line) < 90));
        assert!(text.ends_with("└─ (level 9999) job 10000\n"));
    }
}
