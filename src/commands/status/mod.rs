//! `aperture status`: prints a one-screen overview of a session.

mod report;
mod run;

pub use report::{StatusReport, degraded, gauge, unapplied};
pub use run::{run, title};

/// Arguments of `status`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture                     the newest session of this project
  aperture status 6666         a session by an id prefix
  aperture status --offers     with every suggested command
  aperture status --json | jq .percent

Figures are billed tokens; estimates have a ~ before them.")]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Print all suggested commands, not only the best one
    #[arg(long = "offers", alias = "all")]
    pub all: bool,
}
