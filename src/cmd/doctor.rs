//! `ax doctor`: looks for what is wrong, and says how to cure it.

use std::path::Path;

use serde_json::{Value, json};

use super::{Answer, Context};
use crate::cli::DoctorArgs;
use crate::doctor::{self, Finding, Patient};
use crate::exit;
use crate::failure::Failure;
use crate::job::JobId;
use crate::output::{Style, View};
use crate::store;

/// Exit 0 if nothing is wrong, or nothing any more; 1 if something is.
pub(super) fn run(args: &DoctorArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let mut store =
        store::open(&context.db).map_err(|error| in_person(error.into(), &context.db))?;
    let dir = context.data_dir();
    let now = context.now();
    let mut patient = Patient { store: store.as_mut(), db: &context.db, dir: &dir, now };
    let mut findings =
        doctor::examine(&mut patient).map_err(|error| in_person(error, &context.db))?;
    if args.fix && !args.dry_run {
        doctor::treat(&mut patient, &mut findings)?;
        context.wake_runners();
    }
    let is_well = findings.iter().all(|finding| finding.fixed);
    let exit = if is_well { exit::DONE } else { exit::FAILED };
    let care = if args.dry_run { Care::Rehearse } else { Care::Look };
    Ok(Answer::new(Findings { findings, care }, args.show).exit(exit))
}

/// What is beyond the doctor has the doctor for a hint, who is here.
fn in_person(failure: Failure, db: &Path) -> Failure {
    let Some(hint) = failure.hint.as_ref().filter(|hint| hint.contains("`ax doctor`")) else {
        return failure;
    };
    let hint = match hint.split_once("; `ax doctor`") {
        Some((other, _)) => other.to_owned(),
        None => format!(
            "take a back-up, or what can be read: `sqlite3 {0} .recover | sqlite3 {0}.new`",
            db.display()
        ),
    };
    Failure { hint: Some(hint), ..failure }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    /// The cure is told, or what was repaired.
    Look,
    /// Told is what would be repaired.
    Rehearse,
}

struct Findings {
    findings: Vec<Finding>,
    care: Care,
}

impl View for Findings {
    fn items(&self) -> Vec<Value> {
        self.findings.iter().map(item).collect()
    }

    fn ids(&self) -> Vec<JobId> {
        let mut ids: Vec<_> = self.findings.iter().filter_map(|finding| finding.job).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Without counts: whoever looks for the number of a job finds that job.
    fn text(&self, _style: Style) -> String {
        if self.findings.is_empty() {
            return "no findings\n".to_owned();
        }
        self.findings.iter().map(|finding| self.paragraph(finding)).collect()
    }
}

impl Findings {
    fn paragraph(&self, finding: &Finding) -> String {
        let Finding { check, what, cure, repair, fixed, .. } = finding;
        let outcome = match (fixed, repair, self.care) {
            (true, _, _) => "fixed",
            (false, Some(_), Care::Rehearse) => "would fix",
            (false, Some(_), Care::Look) => "cure: `ax doctor --fix`",
            (false, None, _) => "cure",
        };
        format!("{check}: {what}\n  {outcome}: {cure}\n")
    }
}

fn item(finding: &Finding) -> Value {
    let Finding { check, job, what, cure, repair, fixed } = finding;
    json!({
        "check": check,
        "job": job,
        "what": what,
        "cure": cure,
        "repairable": repair.is_some(),
        "fixed": fixed,
    })
}
