//! `aperture log`: lists the operations on a session.

mod report;
mod run;

pub use report::LogReport;
pub use run::{report, run};

/// Arguments of `log`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture log            the newest operation first
  aperture log --json | jq '.operations[0].command'

aperture undo N reverts operation N; aperture diff N shows the changes since it.")]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
}
