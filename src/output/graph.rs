//! `ax deps`: who waits for whom, as a tree, a table, JSON or a graph.

use std::collections::{BTreeSet, HashMap};
use std::iter;

use serde_json::{Value, json};

use super::table::{Cell, Column, Table};
use super::text::shorten;
use super::tree::{Drawing, Links};
use super::{Items, Style, View, cells, paint};
use crate::escape::escape;
use crate::job::{Dependency, JobId, State};

/// A job as a graph shows it.
#[derive(Clone, Debug)]
pub struct Node {
    /// What people call it.
    pub title: String,
    /// Where it stands.
    pub state: State,
}

/// Dependencies, and the jobs at their ends.
pub struct Graph {
    /// The job that it is about; all unfinished ones if `None`.
    pub focus: Option<JobId>,
    /// The dependencies.
    pub edges: Vec<Dependency>,
    /// The jobs that exist.
    pub nodes: HashMap<JobId, Node>,
}

impl Graph {
    fn state(&self, job: JobId) -> Option<State> {
        self.nodes.get(&job).map(|node| node.state)
    }

    /// `12 running fetch`.
    fn label(&self, job: JobId, style: Style) -> String {
        const LONGEST: usize = 60;
        let Some(node) = self.nodes.get(&job) else { return format!("{job} (missing)") };
        let state = paint::paint(node.state.as_str(), paint::of(node.state), style.color);
        format!("{job} {state} {}", shorten(&escape(node.title.as_bytes()), LONGEST))
    }

    /// All jobs, in order.
    fn members(&self) -> BTreeSet<JobId> {
        let ends = |edge: &Dependency| [edge.child, edge.seen.edge.parent];
        self.focus.into_iter().chain(self.edges.iter().flat_map(ends)).collect()
    }

    /// From each job to what it waits for.
    fn upwards(&self) -> Links {
        links(self.edges.iter().map(|edge| (edge.child, edge.seen.edge.parent, edge)))
    }

    /// From each job to what waits for it.
    fn downwards(&self) -> Links {
        links(self.edges.iter().map(|edge| (edge.seen.edge.parent, edge.child, edge)))
    }

    fn around(&self, focus: JobId, drawing: &mut Drawing<'_>) {
        let (up, down) = (self.upwards(), self.downwards());
        drawing.root(focus);
        if up.contains_key(&focus) {
            drawing.line("waits for:");
            drawing.below(focus, &up);
        }
        if down.contains_key(&focus) {
            drawing.line("waited for by:");
            drawing.below(focus, &down);
        }
        if self.edges.is_empty() {
            drawing.line("waits for nothing, and nothing waits for it");
        }
    }

    /// A tree below each job that waits for nothing; then one for each cycle,
    /// which no such job leads to.
    fn forest(&self, drawing: &mut Drawing<'_>) {
        let (up, down) = (self.upwards(), self.downwards());
        let (inner, roots): (Vec<_>, Vec<_>) =
            self.members().into_iter().partition(|job| up.contains_key(job));
        for job in roots.into_iter().chain(inner) {
            if !drawing.has(job) {
                drawing.root(job);
                drawing.below(job, &down);
            }
        }
    }

    fn draw(&self, style: Style) -> String {
        let label = |job| self.label(job, style);
        let mut drawing = Drawing::new(&label);
        match self.focus {
            Some(focus) => self.around(focus, &mut drawing),
            None => self.forest(&mut drawing),
        }
        drawing.finish()
    }

    fn item(&self, edge: &Dependency) -> Value {
        json!({
            "job": edge.child,
            "parent": edge.seen.edge.parent,
            "kind": edge.seen.edge.kind,
            "job_status": self.state(edge.child),
            "parent_status": edge.seen.parent,
            "met": edge.seen.is_met(),
        })
    }

    fn state_cell(&self, job: JobId) -> Cell {
        self.state(job).map_or_else(|| Cell::painted("missing", paint::FAINT), cells::state)
    }
}

fn links<'a>(pairs: impl Iterator<Item = (JobId, JobId, &'a Dependency)>) -> Links {
    let mut links = Links::new();
    for (from, to, edge) in pairs {
        links.entry(from).or_default().push((to, edge.seen.edge.kind));
    }
    for below in links.values_mut() {
        below.sort_unstable();
    }
    links
}

impl View for Graph {
    fn items(&self) -> Vec<Value> {
        self.edges.iter().map(|edge| self.item(edge)).collect()
    }

    fn stream(&self) -> Option<Items<'_>> {
        Some(Box::new(self.edges.iter().map(|edge| self.item(edge))))
    }

    fn ids(&self) -> Vec<JobId> {
        self.members().into_iter().collect()
    }

    fn text(&self, style: Style) -> String {
        if self.edges.is_empty() && self.focus.is_none() && style.width.is_some() {
            return "no unfinished job waits for another\n".to_owned();
        }
        self.draw(style)
    }

    fn table(&self, style: Style) -> String {
        let mut table = Table::new(vec![
            Column::new("job").right(),
            Column::new("status"),
            Column::new("kind"),
            Column::new("parent").right(),
            Column::new("status"),
            Column::new("met"),
        ]);
        for edge in &self.edges {
            let parent = edge.seen.edge.parent;
            table.row(vec![
                edge.child.to_string().into(),
                self.state_cell(edge.child),
                edge.seen.edge.kind.as_str().into(),
                parent.to_string().into(),
                self.state_cell(parent),
                if edge.seen.is_met() { "yes" } else { "no" }.into(),
            ]);
        }
        table.render(style)
    }

    fn tree(&self, style: Style) -> Option<String> {
        Some(self.draw(style))
    }

    fn dot(&self) -> Option<String> {
        let plain = Style { color: false, width: None };
        let node = |job| format!("  {job} [label = {}];\n", quoted(&self.label(job, plain)));
        let edge = |edge: &Dependency| {
            let (parent, kind) = (edge.seen.edge.parent, edge.seen.edge.kind);
            format!("  {parent} -> {} [label = \"{kind}\"];\n", edge.child)
        };
        let head = "digraph ax {\n  rankdir = LR;\n  node [shape = box];\n".to_owned();
        let nodes = self.members().into_iter().map(node);
        let lines = iter::once(head).chain(nodes).chain(self.edges.iter().map(edge));
        Some(lines.chain(iter::once("}\n".to_owned())).collect())
    }
}

/// A string of the DOT language. A backslash begins an escape there, so it is
/// doubled.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::dependency::Seen;
    use crate::job::{Edge, Kind};

    const PIPE: Style = Style { color: false, width: None };

    /// 1 → 2 → 4, 1 → 3 → 4 (on failure), 9 (missing) → 3.
    fn graph(focus: Option<i64>) -> Graph {
        let states = [
            (1, State::Success, "fetch"),
            (2, State::Running, "clean \"x\" \\N"),
            (3, State::Pending, "bad\nname"),
            (4, State::Pending, "report"),
        ];
        let node = |(id, state, title): (i64, State, &str)| {
            (JobId(id), Node { title: title.to_owned(), state })
        };
        let nodes: HashMap<_, _> = states.into_iter().map(node).collect();
        let edge = |child, parent, kind| Dependency {
            child: JobId(child),
            seen: Seen {
                edge: Edge { parent: JobId(parent), kind },
                parent: nodes.get(&JobId(parent)).map(|node| node.state),
            },
        };
        let edges = vec![
            edge(2, 1, Kind::After),
            edge(3, 1, Kind::After),
            edge(4, 2, Kind::After),
            edge(4, 3, Kind::OnFailure),
            edge(3, 9, Kind::AfterAny),
        ];
        Graph { focus: focus.map(JobId), edges, nodes }
    }

    #[test]
    fn the_tree_of_a_job_goes_both_ways() {
        let want = "
2 running clean \"x\" \\N
waits for:
└─ 1 success fetch
waited for by:
└─ 4 pending report
";
        let mut around = graph(Some(2));
        around.edges.retain(|edge| edge.child == JobId(2) || edge.seen.edge.parent == JobId(2));
        assert_eq!(around.text(PIPE), want[1..]);
    }

    #[test]
    fn without_a_job_there_is_a_tree_for_each_root() {
        let want = "
1 success fetch
├─ 2 running clean \"x\" \\N
│  └─ 4 pending report
└─ 3 pending bad\\nname
   └─ 4 pending report (on_failure) (above)
9 (missing)
└─ 3 pending bad\\nname (after_any) (above)
";
        assert_eq!(graph(None).text(PIPE), want[1..]);
    }

    #[test]
    fn a_cycle_that_no_root_leads_to_is_shown_too() {
        let mut cycle = graph(None);
        cycle.edges.truncate(1);
        let mut back = cycle.edges[0];
        back.child = JobId(1);
        back.seen.edge.parent = JobId(2);
        cycle.edges.push(back);
        assert_eq!(cycle.text(PIPE).lines().count(), 3);
    }

    #[test]
    fn a_job_without_edges_says_so() {
        let alone = Graph { edges: Vec::new(), ..graph(Some(1)) };
        let want = "1 success fetch\nwaits for nothing, and nothing waits for it\n";
        assert_eq!(alone.text(PIPE), want);
        assert_eq!(alone.ids(), [JobId(1)]);
    }

    #[test]
    fn an_edge_has_both_states_and_whether_it_is_met() {
        let want = json!({
            "job": 2, "parent": 1, "kind": "after",
            "job_status": "running", "parent_status": "success", "met": true,
        });
        assert_eq!(graph(None).items()[0].to_string(), want.to_string());
        assert_eq!(graph(None).items()[4]["parent_status"], Value::Null);
    }

    #[test]
    fn the_table_has_a_line_for_each_edge() {
        let text = graph(None).table(PIPE);
        assert!(text.starts_with("JOB  STATUS   KIND        PARENT  STATUS   MET\n"), "{text}");
        assert!(text.ends_with("  3  pending  after_any        9  missing  yes\n"), "{text}");
    }

    #[test]
    fn nothing_in_a_name_ends_a_label_of_graphviz() {
        let dot = graph(None).dot().expect("a graph has this format");
        assert!(dot.contains(r#"2 [label = "2 running clean \"x\" \\N"];"#), "{dot}");
        assert!(dot.contains(r#"3 [label = "3 pending bad\\nname"];"#), "{dot}");
        assert!(dot.contains(r#"3 -> 4 [label = "on_failure"];"#), "{dot}");
    }
}
