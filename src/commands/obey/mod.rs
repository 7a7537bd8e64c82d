//! `aperture obey`: executes the commands in the model's messages.

mod report;
mod run;

pub use report::{ObeyReport, ObeyedCommand, TellReport};
pub use run::{answers, obey, obey_turn, register, run, spent, untold};

/// Arguments of `obey`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture obey --dry-run      the commands, and the effect of each
  aperture obey                executes them, as far as the settings allow
  aperture obey --tell         results for the model, each once

The model writes @archive(3..9) or @pin(12) on a line of its own. Each command counts once,
starting with the turn of the first run. Commands that remove something wait in
aperture inbox: aperture help settings, [model]. aperture log lists all of them, and
aperture undo reverts them.")]
pub struct Arguments {
    /// Dry run: show the result; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Print the results that the model has not received yet, each once
    #[arg(long, conflicts_with = "dry_run")]
    pub tell: bool,
}
