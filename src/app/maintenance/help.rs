//! `aperture help`: prints the help of commands and topics.

use super::clients::clients;
use crate::app::{CommandError, ErrorKind};
use crate::commands::help::Arguments;
use crate::commands::{CommandLine, topic};
use anyhow::anyhow;
use std::io::Write;

/// Prints the help text.
pub fn run(arguments: &Arguments) -> Result<(), CommandError> {
    let name = arguments.topic.as_deref();
    let text = match name.and_then(help_topic) {
        Some(text) => text,
        None => of_command(name)?,
    };
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

/// Returns the text of a topic; `None` if there is no such topic.
pub fn help_topic(name: &str) -> Option<String> {
    if name == "clients" { Some(clients()) } else { topic(name) }
}

/// Returns the `--help` text of a command or of the program. Only the part of the command line that it shows is defined.
fn of_command(name: Option<&str>) -> Result<String, CommandError> {
    let words = ["aperture"].into_iter().chain(name).chain(["--help"]);
    match CommandLine::try_parse_from(words) {
        Err(help) if help.kind() == clap::error::ErrorKind::DisplayHelp => Ok(help.render().to_string()),
        _ => {
            let error = anyhow!("unknown command or topic '{}'", name.unwrap_or_default());
            Err(CommandError::new(ErrorKind::Usage, error)
                .hint("to list the commands: aperture help; the topics are selectors, lifecycle, settings, bulk and clients"))
        }
    }
}
