//! `aperture archive`: blocks to cold storage.

use super::changing::{ChangeOptions, Said, change};
use crate::cli::{CommandError, Env};
use crate::engine::{Selector, label, marker};
use crate::model::Level;
use crate::workspace::Kept;

/// Arguments of `archive`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture archive 10..20 --reason 'auth is done'   a range of blocks
  aperture archive '\"auth flow\"' --dry-run          a topic, only looked at

A placeholder of one line stays; aperture recall brings a block back.
aperture help selectors explains how blocks are named.")]
pub struct Arguments {
    /// Blocks, by a selector
    selector: String,
    /// Why, for the placeholder and the log
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    #[command(flatten)]
    options: ChangeOptions,
}

/// Moves the blocks to cold storage.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let selector = Selector::parse(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let reading = &opened.workspace.reading;
        let mut said = Said::change("archived");
        for number in selector.select(reading)? {
            let Some(block) = reading.block(number) else { continue };
            if let Some(why) = draft.immutable(number)? {
                said.keep(why, number);
                continue;
            }
            if block.pin.is_some() {
                said.keep(Kept::Pinned, number);
                continue;
            }
            if block.level == Level::Archived {
                said.keep(Kept::AsItIs, number);
                continue;
            }
            let original = draft.original(number)?;
            let label = label(block);
            let line = marker::Line { number, tokens: original.tokens, label: &label, reason: &arguments.reason, hint: "" };
            let line = marker::line(Level::Archived, &line);
            if block.kind == crate::model::BlockKind::ToolUse { continue; }
            draft.replace(number, Level::Archived, &line, &arguments.reason)?;
        }
        Ok(said)
    })
}
