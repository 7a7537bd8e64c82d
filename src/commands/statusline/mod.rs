//! `aperture statusline`: prints a one-line status for the client that has the session open.

mod report;
mod run;

pub use report::StatusLineReport;
pub use run::run;

/// Arguments of `statusline`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture statusline < payload.json   the line that the client would show

Clients call it: aperture install claude-code. It always exits with 0 and prints errors on
standard error.")]
pub struct Arguments {}
