//! `aperture topics`: the subjects of all sessions.

mod report;
mod run;

pub use report::TopicsReport;
pub use run::run;

use super::scope::Scope;

/// The default for the number of topics printed.
const TOPICS: usize = 10;

/// Arguments of `topics`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture topics                              the largest topics of all sessions
  aperture topics --project                    those of this project
  aperture topics login --limit 3              topics with a word
  aperture topics --since 4w --sort time       the newest topics of four weeks
  aperture topics --client codex --json

A topic is a group of turns with common words; topics of several sessions whose words agree
are one. Its label is a phrase of the user, or else of the agent; manifest and summary use
the same labels. Copies of a turn in resumed and forked sessions count once; subagents belong
to the turns that started them. Each session is read once, then its topics are cached. The
exit code is 1 if there are no topics.")]
pub struct Arguments {
    /// Only topics with these words
    pub words: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub scope: Scope,
    /// Sort by: tokens, sessions or time, the largest or newest first
    #[arg(long, value_name = "KEY", default_value = "tokens")]
    #[serde(serialize_with = "super::json::choice")]
    pub sort: Sort,
    /// Topics to print; 0 prints all
    #[arg(long, value_name = "N", default_value_t = TOPICS, value_parser = crate::app::number::<usize>)]
    pub limit: usize,
}

/// The sort keys of topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// The most tokens first.
    Tokens,
    /// The most sessions first.
    Sessions,
    /// The newest first.
    Time,
}
