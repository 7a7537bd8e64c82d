//! `aperture memory`: memories of the project and of the user, which outlive sessions.

mod compose;
mod entries;
mod export;
mod init;
mod learn;
mod learning;
mod list;
pub mod live;
mod log;
mod questions;
mod report;
mod review;
mod run;
pub mod search;
mod why;

pub use report::{
    MemoryChangeReport, MemoryComposeReport, MemoryDiffReport, MemoryExportReport, MemoryLearnReport, MemoryListReport,
    MemoryLogReport, MemoryReviewReport, MemorySearchReport, MemoryStatsReport, MemoryTreesReport, MemoryWhyReport,
};
pub use review::compared;
pub use run::{Memories, SCOPES, change, run};

use crate::app::one_of;
use crate::model::{MemoryKind, MemoryState};
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;

/// Arguments of `memory`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("memory"))]
pub struct Arguments {
    /// Project directory, or a folder of sessions of a client [default: the project of this directory]
    #[arg(long, global = true, value_name = "DIRECTORY")]
    pub project: Option<PathBuf>,
    /// The action; the tree if there is none.
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// The actions.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// List entries
    #[command(after_help = "Examples:
  aperture memory list --kind correction
  aperture memory list --file gotchas --retired")]
    List(ListArguments),
    /// Show entries or a file, with the metadata
    #[command(after_help = "Examples:
  aperture memory show 12
  aperture memory show user-prefs")]
    Show {
        /// Entries or files, such as 12 or gotchas
        #[arg(required = true, value_name = "ID|FILE")]
        names: Vec<String>,
    },
    /// Search the entries, and all sessions of the project
    #[command(after_help = "Examples:
  aperture memory search release steps
  aperture memory search 'why does the linter fail' --limit 5")]
    Search(SearchArguments),
    /// Add an entry
    #[command(after_help = "Examples:
  aperture memory add 'Use pnpm, not npm.' --kind preference
  aperture memory add 'Answer in English.' --user")]
    Add(AddArguments),
    /// Replace the text of an entry; without TEXT, opens the editor
    #[command(after_help = "Examples:
  aperture memory edit 12
  aperture memory edit 12 'Use pnpm 9.' --file user-prefs")]
    Edit {
        /// The entry
        id: String,
        /// The new text; - reads standard input
        text: Option<String>,
        /// Move it to another file
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
        /// Print the change and write nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
    /// Delete entries; they are not learned again
    #[command(after_help = "Examples:
  aperture memory forget 12 14
  aperture memory forget --everything --dry-run")]
    Forget {
        /// The entries
        #[arg(required_unless_present = "all", value_name = "ID")]
        ids: Vec<String>,
        /// All entries of the project; with --user, of the user
        #[arg(long = "everything", alias = "all", conflicts_with = "ids")]
        all: bool,
        /// With --everything: the tree of the user
        #[arg(long, requires = "all")]
        user: bool,
        /// Print the change and write nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
    /// Put an entry into every composed text, before all others: at most 150 tokens
    #[command(after_help = "Examples:
  aperture memory pin 12
  aperture memory pin 12 --off")]
    Pin {
        /// The entry
        id: String,
        /// Unpin it
        #[arg(long)]
        off: bool,
        /// Print the change and write nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
    /// Print the evidence of an entry: quotes from its sessions
    #[command(after_help = "Examples:
  aperture memory why 12")]
    Why {
        /// The entry
        id: String,
    },
    /// Learn from sessions: those of the project, one (-s), or all
    #[command(after_help = "Examples:
  aperture memory learn --dry-run
  aperture memory learn --all")]
    Learn(LearnArguments),
    /// Print the memory text for a new session, within a token budget
    #[command(after_help = "Examples:
  aperture memory compose --budget 500
  aperture memory compose --prompt 'fix the login'")]
    Compose(ComposeArguments),
    /// Ask about pending entries and contradictions, list them, or decide about them
    #[command(after_help = "Examples:
  aperture memory review
  aperture memory review --accept 12 --accept 14
  aperture memory review --merge 12 14")]
    Review(ReviewArguments),
    /// Count entries, sightings and tokens
    #[command(after_help = "Examples:
  aperture memory stats")]
    Stats,
    /// Write the active entries as a section of an instruction file, or print it
    #[command(after_help = "Examples:
  aperture memory export
  aperture memory export --format claude-md")]
    Export {
        /// The client whose instruction file it is for
        #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMATS), default_value = FORMATS[0])]
        format: String,
        /// The file; only the section of aperture in it is replaced
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print the section and write nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
    /// Create the tree of the project
    #[command(after_help = "Examples:
  aperture memory init --in-project")]
    Init {
        /// In the project, for version control, instead of the data of aperture
        #[arg(long)]
        in_project: bool,
        /// Print the change and write nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
    /// Take over the entries of the directory that the project had before it was moved or renamed
    #[command(after_help = "Examples:
  aperture memory move ~/old/shop")]
    Move {
        /// That directory, or another project
        #[arg(value_name = "DIRECTORY")]
        from: PathBuf,
        /// Print the change and write nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
    /// List the operations
    #[command(after_help = "Examples:
  aperture memory log")]
    Log {
        /// Number of operations
        #[arg(short = 'n', long, value_name = "N", value_parser = crate::app::number::<usize>, default_value = "20")]
        limit: usize,
    },
    /// Show the file changes made by an operation
    #[command(after_help = "Examples:
  aperture memory diff
  aperture memory diff 3")]
    Diff {
        /// The operation [default: the newest]
        #[arg(value_parser = crate::app::number::<u32>)]
        operation: Option<u32>,
    },
    /// Undo an operation
    #[command(after_help = "Examples:
  aperture memory undo
  aperture memory undo 3 --dry-run")]
    Undo {
        /// The operation [default: the newest that is not undone]
        #[arg(value_parser = crate::app::number::<u32>)]
        operation: Option<u32>,
        /// The newest of the user's tree
        #[arg(long, conflicts_with = "operation")]
        user: bool,
        /// Print the change and write nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
}

/// The formats of `export`.
pub const FORMATS: [&str; 2] = ["agents-md", "claude-md"];

/// Arguments of `memory list`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
pub struct ListArguments {
    /// Only entries in this state [default: pending and active]
    #[arg(long, value_name = "STATE", value_parser = one_of(MemoryState::ALL.map(MemoryState::name), MemoryState::from_name))]
    pub state: Option<MemoryState>,
    /// Only entries of this kind
    #[arg(long, value_name = "KIND", value_parser = one_of(MemoryKind::ALL.map(MemoryKind::name), MemoryKind::from_name))]
    pub kind: Option<MemoryKind>,
    /// Only entries of this file, such as gotchas
    #[arg(long, value_name = "FILE")]
    pub file: Option<String>,
    /// Also list superseded and archived entries
    #[arg(long = "retired", alias = "all", conflicts_with = "state")]
    pub all: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub json_lines: bool,
}

/// Arguments of `memory add`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
pub struct AddArguments {
    /// The text, in plain words; - reads standard input
    pub text: String,
    /// The file, such as gotchas or release-workflow [default: by kind]
    #[arg(long, value_name = "FILE")]
    pub file: Option<String>,
    /// Kind [default: by file, else fact]
    #[arg(long, value_name = "KIND", value_parser = one_of(MemoryKind::ALL.map(MemoryKind::name), MemoryKind::from_name))]
    pub kind: Option<MemoryKind>,
    /// Into the tree of the user, for all projects
    #[arg(long)]
    pub user: bool,
    /// Print the change and write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// Arguments of `memory learn`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
pub struct LearnArguments {
    /// Learn from the sessions of all projects, each into its own tree
    #[arg(long)]
    pub all: bool,
    /// Print the changes and write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// Arguments of `memory search`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
pub struct SearchArguments {
    /// Words, or a prompt
    #[arg(required_unless_present = "prompt_file")]
    pub text: Vec<String>,
    /// A file with the text; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub prompt_file: Option<PathBuf>,
    /// Also search superseded and archived entries
    #[arg(long = "retired", alias = "all")]
    pub all: bool,
    /// Number of places in sessions
    #[arg(short = 'n', long, value_name = "N", value_parser = crate::app::number::<usize>, default_value = "10")]
    pub limit: usize,
    /// Print one JSON object per line
    #[arg(long)]
    pub json_lines: bool,
}

/// Arguments of `memory compose`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct ComposeArguments {
    /// The prompt: memories about it come first
    #[arg(long, value_name = "TEXT", conflicts_with = "prompt_file")]
    pub prompt: Option<String>,
    /// A file with the prompt; - reads standard input
    #[arg(long, value_name = "FILE")]
    pub prompt_file: Option<PathBuf>,
    /// Maximum size in tokens (o200k)
    #[arg(long, value_name = "TOKENS", value_parser = crate::app::number::<usize>, default_value = "500")]
    pub budget: usize,
}

/// Arguments of `memory review`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
pub struct ReviewArguments {
    /// Make an entry active; an entry that it contradicts is superseded
    #[arg(long, value_name = "ID", group = "decision")]
    pub accept: Vec<String>,
    /// Archive an entry for good; an entry that it superseded is active again
    #[arg(long, value_name = "ID", group = "decision")]
    pub reject: Vec<String>,
    /// Accept the tree in .aperture/memory/ of this repository as yours
    #[arg(long, group = "decision")]
    pub accept_tree: bool,
    /// Merge the second entry into the first
    #[arg(long, value_name = "ID", num_args = 1..=2, group = "decision")]
    pub merge: Vec<String>,
    /// Print the change and write nothing
    #[arg(short = 'n', long, requires = "decision")]
    pub dry_run: bool,
}
