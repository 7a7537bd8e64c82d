//! `aperture transcript`: the conversation as the model would see it.

use crate::cli::{CommandError, Env};
use crate::output::{TranscriptReport, TranscriptStyle};

/// Arguments of `transcript`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Session: a path, an id or the beginning of one
    session: Option<String>,
}

/// Writes the conversation.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    let _workspace = env.open(arguments.session.as_deref())?;
    env.print(&TranscriptReport { messages: Vec::new(), style: TranscriptStyle::Plain })
}
