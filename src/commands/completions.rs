//! `aperture completions`: prints the completion script of a shell.

/// Arguments of `completions`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture completions bash > ~/.local/share/bash-completion/completions/aperture
  aperture completions zsh > \"${fpath[1]}/_aperture\"
  aperture completions fish > ~/.config/fish/completions/aperture.fish

Beside commands and options, the scripts complete the ids of sessions (-s),
selectors with the tools and topics of the session, turns (fork --at) and the
topics of help. They run aperture for that; nothing is changed.")]
pub struct Arguments {
    /// The shell
    #[serde(serialize_with = "super::json::choice")]
    pub shell: clap_complete::Shell,
}
