//! `aperture recall`: searches archived, shortened and compacted content, and restores it.

mod report;
mod run;

pub use report::RecallReport;
pub use run::{bring_back, memory_report, original_texts, report, run, search_only};

use super::{ChangeOptions, search};
use crate::app::tokens;
use crate::engine::Selector;
use std::path::PathBuf;

/// Arguments of `recall`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture recall 412                          one block, as it was
  aperture recall 'how are tokens refreshed'   the parts that match a query
  aperture recall 'retry policy' --all         in every session on this machine, in the window or not
  aperture recall 'release steps' --memory     in the memories and sessions of the project
  aperture recall 412 --restore                restores it in place
  aperture recall 'retry policy' --inject      as a note at the end; the prompt cache stays valid

It searches archived, shortened and compacted content of one session; with --all or --project
it is aperture search. A selector names blocks; anything else is a query. The exit code is 1
without a match.")]
pub struct Arguments {
    /// Blocks, by selectors, or the words of a query
    #[arg(required = true)]
    #[serde(serialize_with = "super::json::union")]
    pub query: Vec<String>,
    /// Maximum number of tokens printed
    #[arg(long, value_name = "TOKENS", value_parser = tokens, default_value = MOST_TOKENS)]
    pub max_tokens: u64,
    /// In every session of the project in this directory [default: the current directory]
    #[arg(long, value_name = "DIRECTORY", num_args = 0..=1, default_missing_value = ".", conflicts_with_all = ["all", "restore"])]
    pub project: Option<PathBuf>,
    /// In every session on this machine
    #[arg(long, conflicts_with = "restore")]
    pub all: bool,
    /// In the memories and in all sessions of this project, archived or not
    #[arg(long, conflicts_with_all = ["project", "all", "restore", "inject"])]
    pub memory: bool,
    /// Restore the blocks in place
    #[arg(long, conflicts_with = "inject")]
    pub restore: bool,
    /// Add the matches as a note at the end of the session
    #[arg(long)]
    pub inject: bool,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// The default for the maximum number of tokens printed.
const MOST_TOKENS: &str = "2k";

impl Arguments {
    /// Returns the arguments of a search for blocks or words in this session.
    pub fn new(query: String) -> Arguments {
        let max_tokens = tokens(MOST_TOKENS).unwrap_or_default();
        let options = ChangeOptions::default();
        Arguments {
            query: vec![query],
            max_tokens,
            project: None,
            all: false,
            memory: false,
            restore: false,
            inject: false,
            options,
        }
    }

    /// Returns the query as a selector; `None` if it is none, but words. A quoted topic is a query.
    pub fn selector(&self) -> Option<Selector> {
        let is_quoted = self.query.first().is_some_and(|query| query.trim_start().starts_with('"'));
        if is_quoted { None } else { Selector::parse_all(&self.query).ok() }
    }

    /// Returns the words of the query.
    pub fn words(&self) -> String {
        self.query.join(" ")
    }

    /// Returns the search in sessions in bulk; `None` if only the one session of every command is searched.
    pub fn search(&self) -> Option<search::Arguments> {
        let (project, max_tokens) = (self.project.clone(), Some(self.max_tokens));
        let arguments = || search::Arguments { project, max_tokens, current: true, ..search::Arguments::new(self.query.clone()) };
        (self.all || self.project.is_some()).then(arguments)
    }

    /// Returns true if the session is changed.
    pub fn changes(&self) -> bool {
        self.restore || self.inject
    }
}
