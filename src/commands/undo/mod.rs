//! `aperture undo`: undoes an operation.

mod run;

pub use run::{describe, inexact, invert, revert_companions, run};

use super::{BulkOptions, ChangeOptions};
use crate::model::OperationId;

/// Arguments of `undo`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture undo            the newest operation in force, byte for byte
  aperture undo 3          operation 3 in aperture log
  aperture undo --dry-run  show what would change
  aperture undo --all      the last change of many sessions at once (compress --all, archive --project …)

Undo of the newest operation in force restores the exact bytes; rows that a client appended since stay. Undo of
an older operation is planned from logged values, and refused if a later one changed the same block. aperture redo inverts
an undo.")]
pub struct Arguments {
    /// Operation [default: the last one]
    #[arg(conflicts_with_all = ["all_sessions", "project"])]
    pub operation: Option<OperationId>,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
    /// The sessions, if there are many.
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
}
