//! Jobs that wait for each other, in a graph of any depth.
//!
//! Tarjan's strongly connected components (1972) with a path of its own in
//! place of recursion: a chain of a million jobs is as deep as it is long.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::job::JobId;

/// Jobs each of which waits, over others, for all of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tangle {
    /// A shortest cycle through the lowest of them; each waits for the next.
    pub(super) cycle: Vec<JobId>,
    /// Those that stand on other cycles only.
    pub(super) others: Vec<JobId>,
}

/// Finds every tangle once, in order of its lowest job. Edges lead from a job
/// to what it waits for; those of a job to itself are passed over.
pub(super) fn tangles(edges: Vec<(JobId, JobId)>) -> Vec<Tangle> {
    let graph = Graph::new(edges);
    let mut search = Search::new(&graph);
    for node in 0..graph.jobs.len() {
        search.visit(node);
    }
    let mut tangles: Vec<_> = search.found.iter().map(|members| graph.tangle(members)).collect();
    tangles.sort_by_key(|tangle| tangle.cycle.first().copied());
    tangles
}

/// The jobs that wait for something, numbered in order of their ids.
struct Graph {
    jobs: Vec<JobId>,
    /// Where the edges of each job begin; one more at the end.
    starts: Vec<usize>,
    targets: Vec<usize>,
}

impl Graph {
    fn new(mut edges: Vec<(JobId, JobId)>) -> Self {
        edges.retain(|(child, parent)| child != parent);
        edges.sort_unstable();
        edges.dedup();
        let mut jobs: Vec<_> = edges.iter().map(|(child, _)| *child).collect();
        jobs.dedup();
        let (mut starts, mut targets) = (vec![0; jobs.len() + 1], Vec::new());
        let mut at = 0;
        for (child, parent) in edges {
            at += usize::from(jobs[at] != child);
            // A parent that waits for nothing stands on no cycle.
            targets.extend(jobs.binary_search(&parent));
            starts[at + 1] = targets.len();
        }
        Self { jobs, starts, targets }
    }

    fn parents(&self, node: usize) -> &[usize] {
        &self.targets[self.starts[node]..self.starts[node + 1]]
    }

    fn tangle(&self, members: &[usize]) -> Tangle {
        let cycle = self.shortest_cycle(members);
        let on_cycle: HashSet<_> = cycle.iter().collect();
        let mut others: Vec<_> =
            members.iter().filter(|node| !on_cycle.contains(node)).copied().collect();
        others.sort_unstable();
        let names = |nodes: Vec<usize>| nodes.into_iter().map(|node| self.jobs[node]).collect();
        Tangle { cycle: names(cycle), others: names(others) }
    }

    /// Breadth first from the lowest member until it is seen again.
    fn shortest_cycle(&self, members: &[usize]) -> Vec<usize> {
        let start = *members.iter().min().expect("a component has members");
        let mut reached: HashMap<usize, Option<usize>> =
            members.iter().map(|node| (*node, None)).collect();
        let mut open = VecDeque::from([start]);
        while let Some(node) = open.pop_front() {
            for parent in self.parents(node) {
                if *parent == start {
                    return path(&reached, start, node);
                }
                if let Some(from @ None) = reached.get_mut(parent) {
                    *from = Some(node);
                    open.push_back(*parent);
                }
            }
        }
        members.to_vec()
    }
}

fn path(reached: &HashMap<usize, Option<usize>>, start: usize, end: usize) -> Vec<usize> {
    let before = |node: &usize| reached[node].filter(|_| *node != start);
    let mut path: Vec<_> = std::iter::successors(Some(end), before).collect();
    path.reverse();
    path
}

/// The state of Tarjan's search.
struct Search<'a> {
    graph: &'a Graph,
    /// When each node was entered, from 1; 0 if it was not.
    entered: Vec<usize>,
    /// The earliest node that is known to be reached from each.
    lowest: Vec<usize>,
    is_open: Vec<bool>,
    open: Vec<usize>,
    clock: usize,
    /// The components of more than one member.
    found: Vec<Vec<usize>>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph) -> Self {
        let size = graph.jobs.len();
        Self {
            graph,
            entered: vec![0; size],
            lowest: vec![0; size],
            is_open: vec![false; size],
            open: Vec::new(),
            clock: 0,
            found: Vec::new(),
        }
    }

    fn visit(&mut self, root: usize) {
        if self.entered[root] > 0 {
            return;
        }
        // Each node of the path, with how many of its edges were followed.
        let mut path = vec![self.enter(root)];
        while let Some((node, followed)) = path.last_mut() {
            let node = *node;
            if let Some(parent) = self.graph.parents(node).get(*followed).copied() {
                *followed += 1;
                if self.entered[parent] == 0 {
                    path.push(self.enter(parent));
                } else if self.is_open[parent] {
                    self.lowest[node] = self.lowest[node].min(self.entered[parent]);
                }
            } else {
                path.pop();
                if let Some((child, _)) = path.last() {
                    self.lowest[*child] = self.lowest[*child].min(self.lowest[node]);
                }
                self.leave(node);
            }
        }
    }

    fn enter(&mut self, node: usize) -> (usize, usize) {
        self.clock += 1;
        self.entered[node] = self.clock;
        self.lowest[node] = self.clock;
        self.is_open[node] = true;
        self.open.push(node);
        (node, 0)
    }

    /// Takes the component off the stack, if the node is where it was entered.
    fn leave(&mut self, node: usize) {
        if self.lowest[node] != self.entered[node] {
            return;
        }
        let first = self.open.iter().rposition(|open| *open == node).expect("it is open");
        let members = self.open.split_off(first);
        for member in &members {
            self.is_open[*member] = false;
        }
        if members.len() > 1 {
            self.found.push(members);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(edges: &[(i64, i64)]) -> Vec<(Vec<i64>, Vec<i64>)> {
        let ids = |jobs: Vec<JobId>| jobs.into_iter().map(|job| job.0).collect();
        tangles(edges.iter().map(|(child, parent)| (JobId(*child), JobId(*parent))).collect())
            .into_iter()
            .map(|tangle| (ids(tangle.cycle), ids(tangle.others)))
            .collect()
    }

    #[test]
    fn a_chain_a_diamond_and_a_job_that_waits_for_itself_are_no_tangle() {
        assert_eq!(of(&[(3, 2), (2, 1), (4, 4)]), []);
        assert_eq!(of(&[(4, 2), (4, 3), (2, 1), (3, 1)]), []);
    }

    #[test]
    fn a_cycle_is_told_once_in_the_order_of_waiting() {
        assert_eq!(of(&[(2, 1), (3, 2), (1, 3), (9, 3)]), [(vec![1, 3, 2], vec![])]);
    }

    #[test]
    fn two_cycles_that_share_a_job_are_one_tangle() {
        assert_eq!(of(&[(1, 2), (2, 1), (2, 5), (5, 2)]), [(vec![1, 2], vec![5])]);
    }

    #[test]
    fn two_cycles_of_which_one_waits_for_the_other_are_two() {
        let edges = [(1, 2), (2, 1), (7, 8), (8, 7), (8, 1)];
        assert_eq!(of(&edges), [(vec![1, 2], vec![]), (vec![7, 8], vec![])]);
    }

    #[test]
    fn a_chain_and_a_cycle_of_a_hundred_thousand_are_no_trouble() {
        let mut edges: Vec<(i64, i64)> = (2..=100_000).map(|job| (job, job - 1)).collect();
        assert_eq!(of(&edges), []);
        edges.push((1, 100_000));
        let found = of(&edges);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0.len(), 100_000);
        assert_eq!(found[0].0[..2], [1, 100_000]);
    }
}
