//! `aperture status`: prints a one-screen overview of a session.

mod report;
mod run;

pub use report::{StatusReport, degraded, gauge, unapplied};
pub use run::{run, title};

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("status"))]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Print all suggested commands, not only the best one
    #[arg(long = "offers", alias = "all")]
    pub all: bool,
    /// Suggest no command: the figures alone, without the plans that take longest
    #[arg(long, conflicts_with = "all")]
    pub no_suggestions: bool,
}
