//! `aperture obey`: executes the commands in the model's messages.

/// Arguments of `obey`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture obey --dry-run      what the model asked for, and what would come of it
  aperture obey                do it, as far as the settings allow
  aperture obey --tell         what the model is to be told, once

The model writes @archive(3..9) or @pin(12) on a line of its own. Each command counts once,
and only from the turn on in which it was first looked. What removes something waits in
aperture inbox: aperture help settings, [model]. All of it is in aperture log, and
aperture undo takes it back.")]
pub struct Arguments {
    /// Show what would be done; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Print what the model has not been told yet, and nothing twice
    #[arg(long, conflicts_with = "dry_run")]
    pub tell: bool,
}
