//! `aperture recall`: searches archived, shortened and compacted content, and restores it.

use super::ChangeOptions;

/// Arguments of `recall`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture recall 412                          one block, as it was
  aperture recall 'how are tokens refreshed'   the parts that match a query
  aperture recall 'retry policy' --all         in every session of the store
  aperture recall 412 --restore                restores it in place
  aperture recall 'retry policy' --inject      as a note at the end; the prompt cache stays valid

It searches archived, shortened and compacted content. A selector names
blocks; anything else is a query. The exit code is 1 without a match.")]
pub struct Arguments {
    /// Blocks, by a selector, or a query
    pub query: String,
    /// Maximum number of tokens printed
    #[arg(long, value_name = "TOKENS", value_parser = crate::commands::globals::tokens, default_value = MOST_TOKENS)]
    pub max_tokens: u64,
    /// In every session of this project, including those without a file
    #[arg(long, conflicts_with_all = ["all", "restore"])]
    pub project: bool,
    /// In every session, including those without a file
    #[arg(long, conflicts_with = "restore")]
    pub all: bool,
    /// Restore the blocks in place
    #[arg(long, conflicts_with = "inject")]
    pub restore: bool,
    /// Add the matches as a note at the end of the session
    #[arg(long)]
    pub inject: bool,
    /// The options of every change.
    #[command(flatten)]
    pub options: ChangeOptions,
}

/// The default for the maximum number of tokens printed.
const MOST_TOKENS: &str = "2k";

impl Arguments {
    /// Returns the arguments for a search of blocks or words in this session.
    pub fn of(query: String, options: ChangeOptions) -> Arguments {
        let max_tokens = crate::commands::globals::tokens(MOST_TOKENS).unwrap_or_default();
        Arguments { query, max_tokens, project: false, all: false, restore: false, inject: false, options }
    }

    /// Returns true if the session is changed.
    pub fn changes(&self) -> bool {
        self.restore || self.inject
    }
}
