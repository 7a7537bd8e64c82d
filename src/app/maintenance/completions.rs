//! `aperture completions`: prints the completion script of a shell.

use crate::app::CommandError;
use crate::commands::completions::Arguments;
use std::io::Write;

/// Prints the script.
pub fn run(arguments: &Arguments) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::commands::definition(), "aperture", &mut script);
    Ok(std::io::stdout().write_all(&script)?)
}
