//! `aperture redo`: takes an undo back.

use super::changing::ChangeOptions;
use super::undo::invert;
use crate::cli::{CommandError, Env};
use crate::model::OperationKind;
use crate::output::ChangeReport;

/// Arguments of `redo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture redo            after an undo: there again")]
pub struct Arguments {
    #[command(flatten)]
    options: ChangeOptions,
}

/// Takes the last undo back.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    invert(env, arguments.options, OperationKind::Redo, None)
}
