//! `aperture pin` and `aperture unpin`: protect blocks from changes.

use super::changing::{ChangeOptions, Said, change};
use crate::app::{CommandError, Env};
use crate::engine::Selector;
use crate::model::{BlockNumber, MarkKind, Pin};
use crate::output::ChangeReport;
use crate::workspace::{Draft, Kept, PlanError};

/// Arguments of `pin`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture pin 12            a block that is never shortened
  aperture pin 'turn(1) & kind(text)' --top

A pin survives compression, compaction and resume: a pinned block is found again by its
content. --top and --bottom say at which end of the window it belongs when it has to be
brought back.")]
pub struct Arguments {
    /// Blocks, by a selector
    pub(super) selector: String,
    /// It belongs at the beginning
    #[arg(long, conflicts_with = "bottom")]
    pub(super) top: bool,
    /// It belongs at the end
    #[arg(long)]
    pub(super) bottom: bool,
    #[command(flatten)]
    pub(super) options: ChangeOptions,
}

/// Arguments of `unpin`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture unpin 12
  aperture unpin pinned      all of them")]
pub struct UnpinArguments {
    /// Blocks, by a selector
    pub(super) selector: String,
    #[command(flatten)]
    pub(super) options: ChangeOptions,
}

impl Arguments {
    /// Returns the position of the pin.
    pub fn place(&self) -> Pin {
        match (self.top, self.bottom) {
            (true, _) => Pin::Top,
            (_, true) => Pin::Bottom,
            _ => Pin::Here,
        }
    }
}

/// Pins the blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let pin = arguments.place();
    let selector = Selector::parse(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let mut said = Said::change("pinned");
        for number in selector.select(&opened.workspace.reading)? {
            mark(draft, &mut said, number, MarkKind::Pin, Some(pin.name().to_owned()))?;
        }
        Ok(said)
    })
}

/// Unpins the blocks.
pub fn run_unpin(env: &Env, arguments: &UnpinArguments) -> Result<ChangeReport, CommandError> {
    let selector = Selector::parse(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let mut said = Said::change("unpinned");
        for number in selector.select(&opened.workspace.reading)? {
            if opened.workspace.reading.block(number).is_some_and(|block| block.pin.is_some()) {
                mark(draft, &mut said, number, MarkKind::Pin, None)?;
            } else {
                said.keep(Kept::AsItIs, number);
            }
        }
        Ok(said)
    })
}

/// Sets or clears a mark on a block; skips blocks that cannot be identified again later.
pub fn mark(
    draft: &mut Draft<'_>,
    said: &mut Said,
    number: BlockNumber,
    kind: MarkKind,
    value: Option<String>,
) -> Result<(), CommandError> {
    let before = draft.marks();
    match draft.mark(number, kind, value) {
        Ok(()) if draft.marks() == before => said.keep(Kept::AsItIs, number),
        Ok(()) => {}
        Err(PlanError::Immutable(_)) => said.keep(Kept::Bound, number),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
