//! `aperture expand`: restores blocks to a longer level.

use super::changing::{ChangeOptions, Said, change};
use super::compress::level;
use crate::app::{CommandError, Env};
use crate::engine::Selector;
use crate::model::{BlockNumber, Level};
use crate::output::ChangeReport;
use crate::workspace::shorten;
use std::collections::BTreeMap;

/// Arguments of `expand`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture expand 412                   its original, byte for byte
  aperture expand '\"auth flow\"'         what is about a topic
  aperture expand compressed            everything that was shortened
  aperture expand 412 --level trimmed   its essential lines

aperture help selectors explains how blocks are named.")]
pub struct Arguments {
    /// Blocks, by a selector
    pub(super) selector: String,
    /// How much is left: trimmed or summarized [default: all of it]
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    pub(super) level: Option<Level>,
    #[command(flatten)]
    pub(super) options: ChangeOptions,
}

impl Arguments {
    /// Returns the selector.
    pub fn selector(&self) -> &str {
        &self.selector
    }
}

/// Restores the selected blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = Selector::parse(&arguments.selector)?;
    let level = arguments.level.unwrap_or(Level::Original);
    change(env, arguments.options, &|draft, opened| {
        let reading = &opened.workspace.reading;
        let shorter = |number: &BlockNumber| reading.block(*number).is_some_and(|block| block.level > level);
        let wanted: BTreeMap<BlockNumber, Level> =
            selector.select(reading)?.into_iter().filter(shorter).map(|number| (number, level)).collect();
        Ok(Said { kept: shorten(draft, &wanted, "", None)?, ..Said::change("expanded") })
    })
}
