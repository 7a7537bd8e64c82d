//! `aperture log`: what was done to a session.

use crate::cli::{CommandError, Env};
use crate::output::{LogReport, LogRow};

/// Arguments of `log`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture log            the newest operation first
  aperture log --json | jq '.operations[0].command'

aperture undo N takes operation N back; aperture diff N shows what changed since.")]
pub struct Arguments {
    /// Session: a path, an id or the beginning of one
    #[arg(id = "named", value_name = "SESSION")]
    session: Option<String>,
}

/// Lists the operations.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// The operations, the newest first.
///
/// # Errors
///
/// The store cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<LogReport, CommandError> {
    let history = env.history_of(&env.find(arguments.session.as_deref())?)?;
    let row = |operation: &crate::model::Operation| LogRow::new(operation, &history);
    let operations = history.operations.iter().rev().map(row).collect();
    Ok(LogReport { operations, snapshots: history.snapshots.clone() })
}
