//! `aperture completions`: prints the completion script of a shell.

use crate::app::CommandError;
use std::io::Write;

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture completions bash > ~/.local/share/bash-completion/completions/aperture
  aperture completions zsh > \"${fpath[1]}/_aperture\"
  aperture completions fish > ~/.config/fish/completions/aperture.fish")]
pub struct Arguments {
    /// The shell
    shell: clap_complete::Shell,
}

/// Prints the script.
pub fn run(arguments: &Arguments) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::definition(), "aperture", &mut script);
    Ok(std::io::stdout().write_all(&script)?)
}
