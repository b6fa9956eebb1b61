//! Who waits for whom in a flow.

use std::collections::HashMap;
use std::ops::Range;

use crate::document::Problem;
use crate::job::{Kind, graph};
use crate::suggest::did_you_mean;

/// A parent as a file names it, and where it does.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) parent: String,
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
}

/// Finds the place of each parent. `jobs` are the names and what each waits
/// for, in the order of the file.
///
/// # Errors
/// Names every parent that does not exist and every circle.
pub(super) fn resolve(
    jobs: &[(String, Vec<Wish>)],
) -> Result<Vec<Vec<(usize, Kind)>>, Vec<Problem>> {
    let places: HashMap<&str, usize> =
        jobs.iter().enumerate().map(|(place, (name, _))| (name.as_str(), place)).collect();
    let mut problems = Vec::new();
    let mut parents: Vec<Vec<(usize, Kind)>> = Vec::with_capacity(jobs.len());
    for (_, wishes) in jobs {
        let mut found = Vec::with_capacity(wishes.len());
        for wish in wishes {
            match places.get(wish.parent.as_str()) {
                Some(place) => found.push((*place, wish.kind)),
                None => problems.push(unknown(wish, jobs)),
            }
        }
        parents.push(found);
    }
    problems.extend(circles(jobs, &parents));
    if problems.is_empty() { Ok(parents) } else { Err(problems) }
}

fn unknown(wish: &Wish, jobs: &[(String, Vec<Wish>)]) -> Problem {
    let near = did_you_mean(&wish.parent, jobs.iter().map(|(name, _)| name.as_str()));
    let what = format!("no job of this flow is named `{}`{near}", wish.parent.escape_debug());
    Problem { span: wish.span.clone(), what }
}

fn circles(jobs: &[(String, Vec<Wish>)], parents: &[Vec<(usize, Kind)>]) -> Vec<Problem> {
    let places: Vec<Vec<usize>> =
        parents.iter().map(|parents| parents.iter().map(|(place, _)| *place).collect()).collect();
    graph::cycles(&places).iter().map(|circle| told(jobs, circle)).collect()
}

/// Tells a circle where its first member names the next.
fn told(jobs: &[(String, Vec<Wish>)], circle: &[usize]) -> Problem {
    let (_, wishes) = &jobs[circle[0]];
    let next = &jobs[circle[1 % circle.len()]].0;
    let name = |place: &usize| jobs[*place].0.escape_debug().to_string();
    let first = name(&circle[0]);
    let steps: Vec<String> =
        graph::shown(circle).map(|place| place.map_or("…".to_owned(), name)).collect();
    let what = match circle {
        [_] => format!("`{first}` waits for itself"),
        _ => format!("these jobs wait for each other: {} → {first}", steps.join(" → ")),
    };
    let span = wishes.iter().find(|wish| wish.parent == *next).map(|wish| wish.span.clone());
    Problem { span: span.unwrap_or_default(), what }
}
