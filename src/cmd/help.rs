//! `ax help`: the help of a command, or of a topic.

use clap::CommandFactory;

use super::{Answer, Context, unprinted};
use crate::cli::{Cli, HelpArgs};
use crate::exit;
use crate::failure::Failure;
use crate::suggest::did_you_mean;

/// What is asked about and is no command.
struct Topic {
    name: &'static str,
    about: &'static str,
    text: &'static str,
}

const TOPICS: [Topic; 9] = [
    Topic {
        name: "exit-codes",
        about: "what the exit codes of ax mean",
        text: include_str!("help/exit-codes.txt"),
    },
    Topic {
        name: "states",
        about: "the states of a job, and what moves it",
        text: include_str!("help/states.txt"),
    },
    Topic {
        name: "selectors",
        about: "how jobs are named",
        text: include_str!("help/selectors.txt"),
    },
    Topic {
        name: "times",
        about: "how times and durations are written",
        text: include_str!("help/times.txt"),
    },
    Topic {
        name: "environment",
        about: "the variables that ax reads, and those that jobs see",
        text: include_str!("help/environment.txt"),
    },
    Topic {
        name: "config",
        about: "the configuration file",
        text: include_str!("help/config.txt"),
    },
    Topic {
        name: "hooks",
        about: "what is run when a job or a flow has ended",
        text: include_str!("help/hooks.txt"),
    },
    Topic {
        name: "causes",
        about: "which failures have one cause",
        text: include_str!("help/causes.txt"),
    },
    Topic { name: "flows", about: "flow files", text: include_str!("help/flows.txt") },
];

pub(super) fn run(args: &HelpArgs, context: &mut Context<'_>) -> Result<Answer, Failure> {
    let text = match args.words.as_slice() {
        [] => overview(),
        [name] if topic(name).is_some() => topic(name).unwrap_or_default().to_owned(),
        words => of_command(words)?,
    };
    context.out.write_all(text.as_bytes()).and_then(|()| context.out.flush()).map_err(unprinted)?;
    Ok(Answer::silent(exit::DONE))
}

/// The topics, and what each is about.
pub(super) fn topics() -> impl Iterator<Item = (&'static str, &'static str)> {
    TOPICS.iter().map(|topic| (topic.name, topic.about))
}

fn topic(name: &str) -> Option<&'static str> {
    TOPICS.iter().find(|topic| topic.name == name).map(|topic| topic.text)
}

/// The help of `ax` itself, and which topics there are.
fn overview() -> String {
    let width = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    let line = |topic: &Topic| format!("  {:width$}  {}\n", topic.name, topic.about);
    let topics: String = TOPICS.iter().map(line).collect();
    let help = Cli::command().render_help();
    format!("{help}\nTopics, for `ax help TOPIC`:\n{topics}")
}

/// The help of a command, which may be one of another: `schedule add`.
fn of_command(words: &[String]) -> Result<String, Failure> {
    let mut ax = Cli::command();
    ax.build();
    let mut command = &ax;
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| unknown(word, command))?;
    }
    Ok(command.clone().render_long_help().to_string())
}

fn unknown(word: &str, among: &clap::Command) -> Failure {
    let commands = among.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<&str> = commands.flat_map(clap::Command::get_name_and_visible_aliases).collect();
    let topics = TOPICS.iter().map(|topic| topic.name);
    let near = did_you_mean(word, names.into_iter().chain(topics));
    let shown = word.escape_debug();
    Failure::usage(format!("there is no command and no topic `{shown}`{near}"))
        .hint("`ax help` shows what there is")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_of_help_names_every_topic() {
        let help = of_command(&["help".to_owned()]).expect("a command");
        for topic in &TOPICS {
            assert!(help.contains(topic.name), "{} in {help}", topic.name);
        }
    }

    #[test]
    fn a_topic_fits_a_terminal_but_for_what_is_typed() {
        for Topic { name, text, .. } in &TOPICS {
            let long = text.lines().find(|line| line.len() > 88 && !line.starts_with("  ax "));
            assert_eq!(long, None, "{name}");
            assert!(text.ends_with('\n') && !text.contains('\t'), "{name}");
        }
    }

    #[test]
    fn every_state_and_exit_code_is_explained() {
        use crate::job::State;
        for state in State::ALL {
            assert!(topic("states").expect("there").contains(&format!("  {state} ")), "{state}");
        }
        for code in [exit::DONE, exit::FAILED, exit::USAGE, exit::STORE] {
            assert!(
                topic("exit-codes").expect("there").contains(&format!("\n  {code} ")),
                "{code}"
            );
        }
    }

    #[test]
    fn the_keys_of_a_flow_are_all_there() {
        for name in crate::fields::NAMES {
            assert!(topic("flows").expect("there").contains(name), "{name}");
        }
    }

    #[test]
    fn everything_that_can_be_configured_is_explained() {
        for key in &crate::config::KEYS {
            let text = topic("config").expect("there");
            let name = key.name.rsplit('.').next().expect("a name");
            assert!(text.contains(key.variable), "{}", key.variable);
            assert!(text.contains(&format!("\n  {name} = ")), "{}", key.name);
        }
    }

    #[test]
    fn a_hook_is_told_what_its_help_says() {
        use crate::job::hook::{Ending, HookId};
        use crate::job::{JobId, State};
        let ending = Ending {
            hook: HookId(1),
            job: JobId(1),
            name: None,
            key: None,
            flow: None,
            state: State::Dead,
            attempt: 1,
            max_retries: 0,
            exit_code: None,
            signal: None,
            reason: None,
            took: None,
        };
        for entry in ending.variables(b"", b"").entries() {
            let name = String::from_utf8_lossy(entry);
            let name = name.split('=').next().expect("a name");
            assert!(topic("hooks").expect("there").contains(name), "{name}");
        }
    }
}
