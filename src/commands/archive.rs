//! `aperture archive`: moves blocks to cold storage.

use super::changing::{ChangeOptions, Said, change};
use crate::app::{CommandError, Env};
use crate::engine::Selector;
use crate::model::{BlockNumber, Level};
use crate::output::ChangeReport;
use crate::workspace::shorten;
use std::collections::BTreeMap;

/// Arguments of `archive`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture archive 10..20 --reason 'auth is done'   a range of blocks
  aperture archive '\"auth flow\"' --dry-run          a topic, only looked at

A line stays in the place of each block; aperture recall brings it back.
aperture help selectors explains how blocks are named.")]
pub struct Arguments {
    /// Blocks, by a selector
    pub(super) selector: String,
    /// Why, for the line that stays and for the log
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(super) reason: String,
    #[command(flatten)]
    pub(super) options: ChangeOptions,
}

/// Moves the blocks to cold storage.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = Selector::parse(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let wanted: BTreeMap<BlockNumber, Level> =
            selector.select(&opened.workspace.reading)?.into_iter().map(|number| (number, Level::Archived)).collect();
        Ok(Said { kept: shorten(draft, &wanted, &arguments.reason, None)?, ..Said::change("archived") })
    })
}
