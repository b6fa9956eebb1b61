//! One file a subcommand: arguments → calls → answer.
//!
//! A command returns an [`Answer`], which [`crate::output`] prints. Only `run`,
//! `logs` and the generators write as they go.

mod add;
mod alive;
mod apply;
mod bench;
mod cancel;
mod complete;
mod completions;
mod config;
mod deps;
mod diff;
mod doctor;
mod edit;
mod failures;
mod group;
mod help;
mod hold;
mod hook;
mod inside;
mod job_options;
mod list;
mod logs;
mod look;
mod man;
mod overdue;
mod printed;
mod prune;
mod recover;
mod release;
mod retry;
mod run;
mod schedule;
mod select;
mod service;
mod show;
mod status;
mod supervise;
pub mod surroundings;
mod top;
mod wait;
mod watch;
mod words;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::{Cli, ColorChoice, Command, Global, Show};
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::data_dir::{self, DataDir};
use crate::exit;
use crate::failure::Failure;
use crate::job::{RunnerId, Timestamp};
use crate::output::{self, View};
use crate::sched::wake;
use crate::store::{self, Store};

/// What every command is given.
pub struct Context<'a> {
    /// Where answers go.
    pub out: &'a mut dyn Write,
    /// Where talk goes.
    pub err: &'a mut dyn Write,
    /// The database.
    pub db: PathBuf,
    /// Whether to use colours on stdout, as was asked.
    pub color: ColorChoice,
    /// What holds where no option says otherwise.
    pub config: Config,
    /// The options that every command takes, as they were given.
    pub given: Global,
}

impl Context<'_> {
    /// The time.
    pub fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    /// The store, which is made if there is none.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn store(&self) -> Result<Box<dyn Store>, Failure> {
        Ok(store::open(&self.db)?)
    }

    /// The directory beside the database.
    pub fn data_dir(&self) -> DataDir {
        DataDir::of(&self.db)
    }

    /// Prints what an answer has to say.
    ///
    /// # Errors
    /// When it cannot be printed.
    fn print(&mut self, answer: &Answer) -> Result<(), Failure> {
        let Some(view) = &answer.view else { return Ok(()) };
        let style = output::style(self.color, &io::stdout());
        output::print(view.as_ref(), answer.show, style, self.out).map_err(unprinted)
    }

    /// Wakes the runners, because there is something to do.
    pub fn wake_runners(&self) {
        wake::wake_runners(&self.data_dir(), None);
    }

    /// Wakes the runners other than this one, which knows what there is to do.
    pub fn wake_runners_but(&self, runner: RunnerId) {
        wake::wake_runners(&self.data_dir(), Some(runner));
    }
}

/// What a command has to say: a view, how it was asked for, and the exit code.
pub struct Answer {
    view: Option<Box<dyn View>>,
    show: Show,
    exit: u8,
}

impl Answer {
    /// An answer with exit 0.
    pub fn new(view: impl View + 'static, show: Show) -> Self {
        Self { view: Some(Box::new(view)), show, exit: exit::DONE }
    }

    /// Nothing to print.
    pub fn silent(exit: u8) -> Self {
        Self { view: None, show: Show::default(), exit }
    }

    /// The same with another exit code.
    #[must_use]
    pub fn exit(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }
}

/// Runs a command and prints its answer.
///
/// # Errors
/// The failure that a person is to be told of.
pub fn run(cli: Cli, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8, Failure> {
    let config = if cli.command.as_ref().is_none_or(Command::is_configured) {
        Config::load(&|name| std::env::var_os(name))?
    } else {
        Config::default()
    };
    let given = cli.global;
    let db = data_dir::real_path(&database(given.db.as_deref().or(config.db()))?);
    let color = given.color.or_else(|| ColorChoice::named(config.color()?));
    let color = color.unwrap_or(ColorChoice::Auto);
    let mut context = Context { out, err, db, color, config, given };
    let answer = match cli.command {
        Some(command) => dispatch(command, &mut context)?,
        None => status::short(&context)?,
    };
    context.print(&answer)?;
    Ok(answer.exit)
}

fn dispatch(command: Command, context: &mut Context<'_>) -> Result<Answer, Failure> {
    match command {
        Command::Add(args) => add::run(*args, context),
        Command::Deps(args) => deps::run(args, context),
        Command::Apply(args) => apply::run(args, context),
        Command::Bench(args) => bench::run(&args, context),
        Command::Complete(args) => Ok(complete::run(&args, context)),
        Command::Completions(args) => completions::run(&args, context),
        Command::Config(args) => config::run(args, context),
        Command::Help(args) => help::run(&args, context),
        Command::Man(args) => man::run(&args),
        Command::Doctor(args) => doctor::run(&args, context),
        Command::List(args) => list::run(args, context),
        Command::Failures(args) => failures::run(args, context),
        Command::Overdue(args) => overdue::run(args, context),
        Command::Diff(args) => diff::run(args, context),
        Command::Retry(args) => retry::run(args, context),
        Command::Show(args) => show::run(args, context),
        Command::Logs(args) => logs::run(args, context),
        Command::Cancel(args) => cancel::run(args, context),
        Command::Wait(args) => wait::run(args, context),
        Command::Prune(args) => prune::run(args, context),
        Command::Edit(args) => edit::run(*args, context),
        Command::Group(args) => group::run(args, context),
        Command::Snooze(args) => inside::snooze(&args, context),
        Command::Progress(args) => inside::progress(&args, context),
        Command::Hold(args) => hold::run(args, context),
        Command::Release(args) => release::run(args, context),
        Command::Schedule(args) => schedule::run(*args, context),
        Command::Service(args) => service::run(&args, context),
        Command::Status(args) => status::run(args, context),
        Command::Top(args) => top::run(args, context),
        Command::Run(args) => run::run(args, context),
        Command::Recover(args) => recover::run(args, context),
        Command::Hook(args) => hook::run(args, context),
        Command::Supervise(args) => supervise::run(args, context),
    }
}

/// The database that was named, or the default one.
fn database(named: Option<&Path>) -> Result<PathBuf, Failure> {
    named.map(Path::to_owned).or_else(data_dir::default_database).ok_or_else(no_home)
}

fn no_home() -> Failure {
    Failure::usage("neither XDG_DATA_HOME nor HOME says where the database is")
        .hint("name it with --db PATH or AX_DB")
}

/// Why an answer could not be printed.
fn unprinted(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::closed_pipe(),
        io::ErrorKind::Unsupported => Failure::usage(error.to_string()),
        _ => Failure::failed(format!("cannot write the answer: {error}")),
    }
}
