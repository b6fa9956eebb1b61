//! What may stand at a place: commands, options, and names from the database.

use std::collections::BTreeSet;

use clap::{Arg, Command, ValueHint};

use super::place::Place;
use crate::cmd::help;
use crate::escape::escape;
use crate::job::State;
use crate::job::Zone;
use crate::store::{Hint, Hints};

/// A value, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) what: String,
}

fn value(text: impl Into<String>, what: impl Into<String>) -> Value {
    Value { text: text.into(), what: what.into() }
}

/// What the shell itself is to complete.
fn by_the_shell(what: &str) -> Vec<Value> {
    vec![value(format!(":{what}"), "")]
}

/// Everything that may stand at a place. `hints` is asked if it is needed.
pub(super) fn at(place: &Place<'_>, ax: &Command, hints: &mut dyn FnMut() -> Hints) -> Vec<Value> {
    match place {
        Place::Command(command, typed) => beginning(commands(command), typed),
        Place::Option(command, typed) => beginning(options(command), typed),
        Place::Value { command, arg, lead, typed } => {
            let all = of_arg(command, arg, typed, ax, hints);
            let with_lead = |found: Value| Value { text: format!("{lead}{}", found.text), ..found };
            all.into_iter().map(with_lead).collect()
        }
        Place::Nothing => Vec::new(),
    }
}

fn beginning(all: Vec<Value>, typed: &str) -> Vec<Value> {
    all.into_iter().filter(|value| value.text.starts_with(typed)).collect()
}

fn commands(command: &Command) -> Vec<Value> {
    let shown = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    let names = |inner: &Command| {
        let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
        let names: Vec<_> =
            inner.get_name_and_visible_aliases().into_iter().map(str::to_owned).collect();
        names.into_iter().map(move |name| value(name, about.clone())).collect::<Vec<_>>()
    };
    shown.flat_map(names).collect()
}

fn options(command: &Command) -> Vec<Value> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let name = |arg: &Arg| {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        Some(value(format!("--{}", arg.get_long()?), help))
    };
    shown.filter_map(name).collect()
}

/// What an argument may be.
fn of_arg(
    command: &Command,
    arg: &Arg,
    typed: &str,
    ax: &Command,
    hints: &mut dyn FnMut() -> Hints,
) -> Vec<Value> {
    let name =
        arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    let possible = arg.get_possible_values();
    match (name, arg.get_id().as_str()) {
        _ if !possible.is_empty() => {
            let shown = possible.iter().filter(|one| !one.is_hide_set());
            let of = |one: &clap::builder::PossibleValue| {
                let what = one.get_help().map(ToString::to_string).unwrap_or_default();
                value(one.get_name(), what)
            };
            let all = shown.map(of).collect();
            if arg.get_value_delimiter().is_some() {
                in_list(all, typed)
            } else {
                beginning(all, typed)
            }
        }
        ("SELECTOR", _) => selectors(typed, hints),
        ("ID,...", _) => in_list(ids(&hints().jobs), typed),
        ("PARENT" | "OTHER", _) | (_, "id") => beginning(ids(&hints().jobs), typed),
        (_, "group") => beginning(groups(&hints()), typed),
        (_, "mutex") => beginning(names(&hints().jobs, |job| job.mutex.clone()), typed),
        (_, "name" | "names") => match command.get_display_name().unwrap_or_default() {
            "ax-group-set" | "ax-group-pause" | "ax-group-resume" => {
                beginning(groups(&hints()), typed)
            }
            "ax-schedule-pause" | "ax-schedule-resume" | "ax-schedule-remove"
            | "ax-schedule-next" => {
                let names = hints().schedules.into_iter();
                beginning(
                    names.filter(|name| is_plain(name)).map(|name| value(name, "")).collect(),
                    typed,
                )
            }
            _ => Vec::new(),
        },
        ("ZONE", _) => beginning(Zone::names().map(|zone| value(zone, "")).collect(), typed),
        ("WORD", _) => {
            let topics = help::topics().map(|(name, about)| value(name, about));
            beginning(topics.chain(commands(ax)).collect(), typed)
        }
        _ => match arg.get_value_hint() {
            ValueHint::FilePath | ValueHint::AnyPath => by_the_shell("files"),
            ValueHint::DirPath => by_the_shell("dirs"),
            ValueHint::CommandWithArguments | ValueHint::CommandString => by_the_shell("commands"),
            _ => Vec::new(),
        },
    }
}

/// Selectors, as far as they are typed: `fl` to `flow:`, `flow:n` to names.
fn selectors(typed: &str, hints: &mut dyn FnMut() -> Hints) -> Vec<Value> {
    const KINDS: [(&str, &str); 8] = [
        ("last", "the job that was added last"),
        ("all", "every job"),
        ("name:", "by name"),
        ("key:", "by key"),
        ("status:", "in a state"),
        ("flow:", "of a flow"),
        ("group:", "of a group"),
        ("schedule:", "started by a schedule"),
    ];
    let Some((kind, rest)) = typed.split_once(':') else {
        let kinds = KINDS.map(|(kind, what)| value(kind, what)).to_vec();
        return [in_list(ids(&hints().jobs), typed), beginning(kinds, typed)].concat();
    };
    let all = match kind {
        "status" => State::ALL.map(|state| value(state.as_str(), "")).to_vec(),
        "name" => names(&hints().jobs, |job| job.name.clone()),
        "key" => names(&hints().jobs, |job| job.key.clone()),
        "flow" => names(&hints().jobs, |job| job.flow.clone()),
        "group" => groups(&hints()),
        "schedule" => hints().schedules.into_iter().map(|name| value(name, "")).collect(),
        _ => Vec::new(),
    };
    let with_kind = |found: Value| Value { text: format!("{kind}:{}", found.text), ..found };
    beginning(all, rest).into_iter().map(with_kind).collect()
}

/// Values for the last place of a list: `1,2`.
fn in_list(all: Vec<Value>, typed: &str) -> Vec<Value> {
    let (before, last) = typed.rfind(',').map_or(("", typed), |comma| typed.split_at(comma + 1));
    let with_list = |found: Value| Value { text: format!("{before}{}", found.text), ..found };
    beginning(all, last).into_iter().map(with_list).collect()
}

/// The ids of the last jobs, with what they are.
fn ids(jobs: &[Hint]) -> Vec<Value> {
    const LONGEST: usize = 40;
    let what = |job: &Hint| {
        let title = escape(job.name.as_ref().unwrap_or(&job.command).as_bytes());
        let title: String = title.chars().take(LONGEST).collect();
        value(job.id.to_string(), format!("{} {title}", job.state))
    };
    jobs.iter().map(what).collect()
}

fn groups(hints: &Hints) -> Vec<Value> {
    let of_jobs = hints.jobs.iter().filter_map(|job| job.group.clone());
    distinct(hints.groups.iter().cloned().chain(of_jobs))
}

fn names(jobs: &[Hint], name: impl Fn(&Hint) -> Option<String>) -> Vec<Value> {
    distinct(jobs.iter().filter_map(name))
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<Value> {
    let names: BTreeSet<String> = names.filter(|name| is_plain(name)).collect();
    names.into_iter().map(|name| value(name, "")).collect()
}

/// A name that a line of the answer can hold.
fn is_plain(name: &str) -> bool {
    !name.chars().any(char::is_control)
}
