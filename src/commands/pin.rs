//! `aperture pin` and `aperture unpin`: protect blocks from changes.

use super::change::pipeline::{ChangeSummary, change};
use super::{ChangeOptions, blocks};
use crate::app::{CommandError, Env};
use crate::model::{BlockNumber, MarkKind, Pin};
use crate::output::ChangeReport;
use crate::workspace::{Draft, PlanError, SkipReason};

/// Arguments of `pin`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture pin 12            a block that is never shortened
  aperture pin               lists the pins
  aperture pin 'turn(1) & kind(text)' --top

A pin survives compression, compaction and resume: a pinned block is found again by its
content. --top and --bottom set the end of the window at which it is
restored.")]
pub struct Arguments {
    /// Block selectors; matches are combined [default: list the pins]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// Restore it at the beginning of the window
    #[arg(long, conflicts_with = "bottom", requires = "selector")]
    pub top: bool,
    /// Restore it at the end of the window
    #[arg(long, requires = "selector")]
    pub bottom: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// Arguments of `unpin`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture unpin 12
  aperture unpin pinned      all of them")]
pub struct UnpinArguments {
    /// Block selectors; matches are combined
    #[arg(required = true)]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

impl Arguments {
    /// Returns the request that lists the pins, if no blocks are named.
    pub fn list(&self) -> Option<blocks::Arguments> {
        self.selector.is_empty().then(|| blocks::Arguments::new("pinned"))
    }

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
    let selector = env.selector(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let mut summary = ChangeSummary::change("pinned");
        for number in selector.select(&opened.workspace.reading)? {
            mark(draft, &mut summary, number, MarkKind::Pin, Some(pin.name().to_owned()))?;
        }
        Ok(summary)
    })
}

/// Unpins the blocks.
pub fn run_unpin(env: &Env, arguments: &UnpinArguments) -> Result<ChangeReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    change(env, arguments.options, &|draft, opened| {
        let mut summary = ChangeSummary::change("unpinned");
        for number in selector.select(&opened.workspace.reading)? {
            if opened.workspace.reading.block(number).is_some_and(|block| block.pin.is_some()) {
                mark(draft, &mut summary, number, MarkKind::Pin, None)?;
            } else {
                summary.keep(SkipReason::AsItIs, number);
            }
        }
        Ok(summary)
    })
}

/// Sets or clears a mark on a block; skips blocks that cannot be identified again later.
pub fn mark(
    draft: &mut Draft<'_>,
    summary: &mut ChangeSummary,
    number: BlockNumber,
    kind: MarkKind,
    value: Option<String>,
) -> Result<(), CommandError> {
    let before = draft.marks();
    match draft.mark(number, kind, value) {
        Ok(()) if draft.marks() == before => summary.keep(SkipReason::AsItIs, number),
        Ok(()) => {}
        Err(PlanError::Immutable(_)) => summary.keep(SkipReason::Bound, number),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
