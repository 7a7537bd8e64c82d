//! `aperture recall`: searches archived, shortened and compacted content, and restores it.

mod report;
mod run;
mod turns;

pub use report::RecallReport;
pub use run::{bring_back, memory_report, original_texts, report, run, search_only};

use super::scope::Scope;
use super::{ChangeOptions, search};
use crate::app::tokens;
use crate::engine::{Selector, TurnForm, TurnPriority, TurnRequest};
use crate::model::TurnList;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

/// Arguments of `recall`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture recall 412                          one block, as it was
  aperture recall 'how are tokens refreshed'   the parts that match a query
  aperture recall 'retry policy' --all         in every session on this machine, in the window or not
  aperture recall 'release steps' --memory     in the memories and sessions of the project
  aperture recall --turns 3,7..9               turns: summaries, and full texts while the budget lasts
  aperture recall --turns 3.. --as header      one line for each
  aperture recall --turns 3.. 'retry policy'   the turns about it get the budget first
  aperture recall 412 --restore                restores it in place
  aperture recall 'retry policy' --inject      as a note at the end; the prompt cache stays valid

It searches archived, shortened and compacted content of one session; with --all or --project
it is aperture search. A selector names blocks; anything else is a query. The exit code is 1
without a match.")]
pub struct Arguments {
    /// Blocks, by selectors, or the words of a query
    #[arg(required_unless_present = "turns")]
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
    /// Turns, such as 3,7..9 or 3.., in the window or not
    #[arg(long, value_name = "LIST", value_parser = |list: &str| list.parse::<TurnList>(), conflicts_with_all = ["project", "all", "memory", "restore"])]
    pub turns: Option<TurnList>,
    /// Form of the turns: header, summary, full or mixed [default: mixed]
    #[arg(id = "as", long, value_name = "FORM", value_parser = forms(), hide_possible_values = true, requires = "turns")]
    #[serde(rename = "as")]
    pub form: Option<TurnForm>,
    /// Turns that get the budget first: recent, relevant to the query, or specific (as listed)
    #[arg(long, value_name = "ORDER", value_parser = priorities(), hide_possible_values = true, requires = "turns")]
    pub priority: Option<TurnPriority>,
    /// The quota of the model in this turn; `None` for the user.
    #[arg(skip)]
    #[serde(skip)]
    pub quota: Option<Quota>,
    /// Restore the blocks in place
    #[arg(long, conflicts_with = "inject")]
    pub restore: bool,
    /// Add the matches as a note at the end of the session
    #[arg(long)]
    pub inject: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// The state of the quota of recalls in a turn of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    Left,
    /// The quota is used: turns are returned as headers.
    Used,
}

/// Returns the parser of a form.
pub fn forms() -> impl TypedValueParser<Value = TurnForm> {
    PossibleValuesParser::new(TurnForm::ALL.map(TurnForm::name)).try_map(|name| TurnForm::from_name(&name).ok_or("unknown form"))
}

fn priorities() -> impl TypedValueParser<Value = TurnPriority> {
    let names = TurnPriority::ALL.map(TurnPriority::name);
    PossibleValuesParser::new(names).try_map(|name| TurnPriority::from_name(&name).ok_or("unknown order"))
}

/// The default for the maximum number of tokens printed.
const MOST_TOKENS: &str = "2k";

/// The maximum number of tokens of turns beyond the quota of the model.
const HEADERS_TOKENS: u64 = 300;

impl Arguments {
    /// Returns the arguments of a search for blocks or words in this session.
    pub fn new(query: String) -> Arguments {
        let max_tokens = tokens(MOST_TOKENS).unwrap_or_default();
        Arguments { query: vec![query], max_tokens, ..Arguments::default() }
    }

    pub fn of_turns(request: &TurnRequest) -> Arguments {
        Arguments {
            query: Some(request.query.clone()).filter(|query| !query.is_empty()).into_iter().collect(),
            turns: Some(request.turns.clone()),
            form: Some(request.form),
            priority: request.priority,
            ..Arguments::new(String::new())
        }
    }

    /// Returns the arguments within the quota of the model in a turn, of which `tokens` are left; `None` if it is used.
    pub fn within_quota(self, tokens: Option<usize>) -> Arguments {
        let quota = Some(if tokens.is_some() { Quota::Left } else { Quota::Used });
        let max_tokens = self.max_tokens.min(tokens.map_or(HEADERS_TOKENS, |tokens| tokens as u64));
        Arguments { quota, max_tokens, ..self }
    }

    /// Returns the query as a selector; `None` if it is none, but words. A quoted topic is a query.
    pub fn selector(&self) -> Option<Selector> {
        let is_quoted = self.query.first().is_some_and(|query| query.trim_start().starts_with('"'));
        if is_quoted { None } else { Selector::parse_all(&self.query).ok() }
    }

    pub fn words(&self) -> String {
        self.query.join(" ")
    }

    /// Returns the search in sessions in bulk; `None` if only the one session of every command is searched.
    pub fn search(&self) -> Option<search::Arguments> {
        let (project, max_tokens) = (self.project.clone(), Some(self.max_tokens));
        let scope = Scope { project, ..Scope::default() };
        let arguments = || search::Arguments { scope, max_tokens, current: true, ..search::Arguments::new(self.query.clone()) };
        (self.all || self.project.is_some()).then(arguments)
    }

    pub fn changes(&self) -> bool {
        self.restore || self.inject
    }
}
