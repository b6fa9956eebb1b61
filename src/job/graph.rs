//! Who waits for whom among jobs that are added together.
//!
//! Jobs are numbers here: `parents[3]` are the jobs that job 3 waits for.
//! Nothing recurses, so a chain may be as long as memory allows.

use std::collections::{HashMap, VecDeque};

/// Finds the circles of jobs that wait for each other: one, the shortest
/// through its lowest number, for each set of entangled jobs. Each member of
/// a circle waits for the next, and the last for the first. A job that waits
/// for itself is a circle of one.
pub fn cycles(parents: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let groups = entangled(parents);
    let mut seen = vec![false; parents.len()];
    let mut found = Vec::new();
    for start in 0..parents.len() {
        if std::mem::replace(&mut seen[groups[start]], true) {
            continue;
        }
        found.extend(circle(parents, &groups, start));
    }
    found
}

/// The members of a circle that a message names, with `None` for those left
/// out of a long one.
pub fn shown(circle: &[usize]) -> impl Iterator<Item = Option<&usize>> {
    const ENDS: usize = 5;
    let long = circle.len() > 2 * ENDS + 1;
    let (start, end) =
        if long { (&circle[..ENDS], &circle[circle.len() - ENDS..]) } else { (circle, &[][..]) };
    let gap = long.then_some(None);
    start.iter().map(Some).chain(gap).chain(end.iter().map(Some))
}

/// The shortest way from `start` back to itself within its group.
fn circle(parents: &[Vec<usize>], groups: &[usize], start: usize) -> Option<Vec<usize>> {
    let mut came_from = HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(job) = queue.pop_front() {
        for &parent in &parents[job] {
            if parent == start {
                return Some(way(&came_from, start, job));
            }
            if groups[parent] == groups[start] && !came_from.contains_key(&parent) {
                came_from.insert(parent, job);
                queue.push_back(parent);
            }
        }
    }
    None
}

fn way(came_from: &HashMap<usize, usize>, start: usize, end: usize) -> Vec<usize> {
    let mut way = vec![end];
    let mut at = end;
    while at != start {
        at = came_from[&at];
        way.push(at);
    }
    way.reverse();
    way
}

/// The number of each job's strongly connected component.
fn entangled(parents: &[Vec<usize>]) -> Vec<usize> {
    let mut tarjan = Tarjan::new(parents.len());
    for root in 0..parents.len() {
        if tarjan.order[root] == UNSEEN {
            tarjan.visit(root, parents);
        }
    }
    tarjan.group
}

const UNSEEN: usize = usize::MAX;

/// Tarjan's algorithm, with the stack of its calls kept by hand.
struct Tarjan {
    order: Vec<usize>,
    low: Vec<usize>,
    group: Vec<usize>,
    open: Vec<usize>,
    visited: usize,
}

impl Tarjan {
    fn new(count: usize) -> Self {
        let unseen = vec![UNSEEN; count];
        Self { order: unseen.clone(), low: unseen.clone(), group: unseen, open: vec![], visited: 0 }
    }

    fn visit(&mut self, root: usize, parents: &[Vec<usize>]) {
        self.enter(root);
        let mut calls = vec![(root, parents[root].iter())];
        while let Some((job, rest)) = calls.last_mut() {
            let job = *job;
            match rest.next() {
                Some(&parent) if self.order[parent] == UNSEEN => {
                    self.enter(parent);
                    calls.push((parent, parents[parent].iter()));
                }
                Some(&parent) if self.group[parent] == UNSEEN => {
                    self.low[job] = self.low[job].min(self.order[parent]);
                }
                Some(_) => (),
                None => {
                    calls.pop();
                    self.leave(job, calls.last().map(|(caller, _)| *caller));
                }
            }
        }
    }

    fn enter(&mut self, job: usize) {
        self.order[job] = self.visited;
        self.low[job] = self.visited;
        self.visited += 1;
        self.open.push(job);
    }

    fn leave(&mut self, job: usize, caller: Option<usize>) {
        if let Some(caller) = caller {
            self.low[caller] = self.low[caller].min(self.low[job]);
        }
        if self.low[job] != self.order[job] {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.group[member] = job;
            if member == job {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_only_waits_forward_is_no_circle() {
        assert!(cycles(&[vec![], vec![0], vec![0, 1], vec![1, 2]]).is_empty());
        assert!(cycles(&[]).is_empty());
    }

    #[test]
    fn each_entangled_set_gives_one_circle() {
        let parents = [vec![1], vec![2, 0], vec![0], vec![4], vec![3], vec![5], vec![0]];
        assert_eq!(cycles(&parents), [vec![0, 1], vec![3, 4], vec![5]]);
    }

    #[test]
    fn a_circle_of_a_hundred_thousand_overflows_nothing() {
        let count = 100_000;
        let parents: Vec<_> = (0..count).map(|job| vec![(job + 1) % count]).collect();
        let circles = cycles(&parents);
        assert_eq!(circles.len(), 1);
        assert_eq!(circles[0].len(), count);
    }

    #[test]
    fn a_message_names_both_ends_of_a_long_circle() {
        let names = |count: usize| {
            let circle: Vec<usize> = (0..count).collect();
            shown(&circle).map(Option::<&usize>::copied).collect::<Vec<_>>()
        };
        assert_eq!(names(2), [Some(0), Some(1)]);
        assert_eq!(names(11).len(), 11);
        assert_eq!(names(100)[4..7], [Some(4), None, Some(95)]);
    }

    proptest! {
        #[test]
        fn a_circle_is_found_exactly_if_taking_away_the_free_leaves_something(
            edges in prop::collection::vec((0_usize..8, 0_usize..8), 0..16)
        ) {
            let mut parents = vec![Vec::new(); 8];
            for (child, parent) in edges {
                parents[child].push(parent);
            }
            let circles = cycles(&parents);
            for circle in &circles {
                let next = circle.iter().cycle().skip(1);
                prop_assert!(circle.iter().zip(next).all(|(job, next)| parents[*job].contains(next)));
            }
            let mut left: Vec<usize> = (0..8).collect();
            loop {
                let before = left.len();
                let waits = left.clone();
                left.retain(|job| parents[*job].iter().any(|parent| waits.contains(parent)));
                if left.len() == before {
                    break;
                }
            }
            prop_assert_eq!(circles.is_empty(), left.is_empty());
        }
    }
}
