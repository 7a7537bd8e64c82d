//! `aperture help`: commands and topics.

use crate::cli::{self, CommandError, ErrorKind};
use anyhow::anyhow;
use std::io::Write;

/// Arguments of `help`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture help manifest
  aperture help selectors
  aperture help lifecycle")]
pub struct Arguments {
    /// A command, or one of the topics selectors, lifecycle and settings
    topic: Option<String>,
}

/// Explains.
pub fn run(arguments: &Arguments) -> Result<(), CommandError> {
    let mut definition = cli::definition();
    definition.build();
    let text = match arguments.topic.as_deref() {
        None => definition.render_long_help().to_string(),
        Some(name) => match cli::topic(name) {
            Some(text) => text,
            None => {
                let command = definition.find_subcommand_mut(name).ok_or_else(|| {
                    let error = anyhow!("there is no command and no topic '{name}'");
                    CommandError::new(ErrorKind::Usage, error)
                        .hint("aperture help lists the commands; the topics are selectors, lifecycle and settings")
                })?;
                command.render_long_help().to_string()
            }
        },
    };
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}
