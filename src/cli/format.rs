//! How answers are shown: the options that every command that shows something takes.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorChoice {
    /// The names of all.
    pub const NAMES: &[&str] = &["auto", "always", "never"];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }

    /// The choice of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::from_str(name, false).ok()
    }
}

/// How an answer is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people
    Table,
    /// One JSON document
    Json,
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values with a header
    Csv,
    /// The bare ids, one a line
    Ids,
    /// A tree (`ax deps`)
    Tree,
    /// A graph for Graphviz (`ax deps`)
    Dot,
}

/// The options of every command that shows something.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Show {
    /// How to show the answer
    #[arg(short = 'o', long, value_name = "FORMAT", value_parser = list_format())]
    pub format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// The formats of everything but `ax deps`. What an answer cannot be shown as is
/// refused here, before anything is done.
fn list_format() -> impl TypedValueParser<Value = Format> {
    let is_list = |format: &&Format| !matches!(format, Format::Tree | Format::Dot);
    let values = Format::value_variants().iter().filter(is_list);
    PossibleValuesParser::new(values.filter_map(ValueEnum::to_possible_value))
        .map(|name| Format::from_str(&name, false).expect("one of the values above"))
}

/// The options of `ax deps`, which shows graphs too.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ShowGraph {
    /// How to show the answer
    #[arg(short = 'o', long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

impl From<ShowGraph> for Show {
    fn from(ShowGraph { format, json }: ShowGraph) -> Self {
        Self { format, json }
    }
}

impl Show {
    /// The format that was asked for, if one was.
    pub fn wanted(self) -> Option<Format> {
        if self.json { Some(Format::Json) } else { self.format }
    }

    /// Tells whether a script reads the answer as JSON.
    pub fn wants_json(self) -> bool {
        matches!(self.wanted(), Some(Format::Json | Format::Jsonl))
    }
}
