//! `aperture pin` and `aperture unpin`: protect blocks from changes.

use super::{ChangeOptions, blocks};
use crate::model::Pin;

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
    /// The options of every change.
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
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

impl Arguments {
    /// Returns the request that lists the pins, if no blocks are named.
    pub fn list(&self) -> Option<blocks::Arguments> {
        self.selector.is_empty().then(|| blocks::Arguments::new("pinned"))
    }

    /// Returns the position of the pin.
    pub fn place(&self) -> Pin {
        match (self.top, self.bottom) {
            (true, _) => Pin::Top,
            (_, true) => Pin::Bottom,
            _ => Pin::Here,
        }
    }
}
