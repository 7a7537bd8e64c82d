//! `aperture archive`: moves blocks to cold storage.

use super::change::pipeline::{ChangeSummary, change};
use super::{BulkOptions, ChangeOptions};
use crate::app::{CommandError, Env};
use crate::model::{BlockNumber, Level};
use crate::output::ChangeReport;
use crate::workspace::shorten;
use std::collections::BTreeMap;

/// Arguments of `archive`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture archive 10..20 --reason 'auth is done'   a range of blocks
  aperture archive '\"auth flow\"' --dry-run          a topic, as a dry run
  aperture archive 'stale & larger(2k)' --project   in every session of this project

Each block is replaced by one line; aperture recall restores it.
Blocks are named by selectors: aperture help selectors; many sessions: aperture help bulk.")]
pub struct Arguments {
    /// Block selectors; matches are combined
    #[arg(required = true)]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// Reason, for the remaining line and for the log
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
    /// The sessions, if there are many.
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
}

/// Moves the blocks to cold storage.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        draft.name_blocks(selector.named(&opened.workspace.reading));
        let wanted: BTreeMap<BlockNumber, Level> =
            selector.select(&opened.workspace.reading)?.into_iter().map(|number| (number, Level::Archived)).collect();
        Ok(ChangeSummary { kept: shorten(draft, &wanted, &arguments.reason, None)?, ..ChangeSummary::change("archived") })
    })
}
