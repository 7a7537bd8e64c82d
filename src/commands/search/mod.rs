//! `aperture search`: finds turns of all sessions by their words.

mod index;
mod report;
mod run;

pub use index::{ask, asking_session, restore_originals};
pub use report::{SearchReport, SessionFound, TurnFound};
pub use run::{found, known_items, no_match, parse, rank_of, report, run};

use super::scope::Scope;
use crate::app::tokens;
use crate::engine::search::PassageKind;
use std::ffi::OsString;

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("search"))]
pub struct Arguments {
    /// Words; \"a phrase\"; -without; field:value
    #[arg(required = true)]
    #[serde(serialize_with = "super::json::union")]
    pub query: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub scope: Scope,
    /// Only what one of them said: user, agent or tool
    #[arg(long, value_name = "ROLE", value_parser = ["user", "agent", "tool"])]
    pub role: Vec<String>,
    /// Only calls of this tool and their results
    #[arg(long, value_name = "NAME")]
    pub tool: Vec<String>,
    /// Only calls on files whose path contains this, and texts that name it
    #[arg(long, value_name = "TEXT")]
    pub path: Vec<String>,
    /// Only texts of this kind: prompt, answer, call, result or summary
    #[arg(long, value_name = "KIND", value_parser = kind)]
    pub kind: Vec<PassageKind>,
    /// Only blocks of the session named with -s, by a selector
    #[arg(long, value_name = "SELECTOR", conflicts_with_all = ["literal", "regex"])]
    pub blocks: Vec<String>,
    /// The words are one text, searched as it is
    #[arg(long, conflicts_with = "regex")]
    pub literal: bool,
    /// The words are one regular expression
    #[arg(long)]
    pub regex: bool,
    /// Without regard to case, with --literal or --regex
    #[arg(long, short)]
    pub ignore_case: bool,
    /// Also the session that asks
    #[arg(long)]
    pub current: bool,
    /// Sort by: relevance or time, the newest first
    #[arg(long, value_name = "KEY", default_value = "relevance")]
    #[serde(serialize_with = "super::json::choice")]
    pub sort: Sort,
    /// Sessions to print
    #[arg(long, value_name = "N", default_value_t = SESSIONS, value_parser = crate::app::number::<usize>)]
    pub limit: usize,
    /// Maximum number of tokens printed
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub max_tokens: Option<u64>,
    /// One line of JSON for each session
    #[arg(long, conflicts_with = "json")]
    pub json_lines: bool,
}

impl Arguments {
    pub fn new(query: Vec<String>) -> Arguments {
        Arguments { query, limit: SESSIONS, ..Arguments::default() }
    }
}

/// The default for the number of sessions printed.
const SESSIONS: usize = 10;

/// The sort keys of sessions that were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// The best first.
    #[default]
    Relevance,
    /// The newest first.
    Time,
}

/// Returns a command line with the words that the query leaves out (`-word`) at its end, after `--`: before it they would be read as
/// options of one letter.
pub fn with_exceptions_last(words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|command| command != "search") || words.iter().any(|word| word == "--") {
        return words;
    }
    let is_exception = |word: &OsString| {
        let Some(rest) = word.to_str().and_then(|word| word.strip_prefix('-')) else { return false };
        rest.starts_with('"') || rest.chars().count() > 1 && rest.starts_with(char::is_alphabetic)
    };
    let (exceptions, mut words): (Vec<_>, Vec<_>) = words.into_iter().partition(is_exception);
    if !exceptions.is_empty() {
        words.push("--".into());
        words.extend(exceptions);
    }
    words
}

/// Parses the kind of a text.
pub fn kind(name: &str) -> Result<PassageKind, String> {
    let names = PassageKind::ALL.map(PassageKind::name).join(", ");
    PassageKind::from_name(name).ok_or_else(|| format!("the kinds are {names}"))
}
