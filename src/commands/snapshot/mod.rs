//! `aperture snapshot`: manages named points in the log.

mod report;
mod run;

pub use report::SnapshotReport;
pub use run::{run, save};

/// Arguments of `snapshot`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture snapshot save before-cleanup
  aperture snapshot save before-cleanup --force   move the name to the current point
  aperture snapshot                 lists them
  aperture restore before-cleanup")]
pub struct Arguments {
    /// The action; `list` if there is none.
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// The actions.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Name the current point
    Save {
        /// A name, not a number
        name: String,
        /// Move an existing name to the current point
        #[arg(long)]
        force: bool,
    },
    /// List the names
    List,
    /// List the operations since
    Show {
        /// The name
        name: String,
    },
    /// Delete a name; nothing else changes
    Delete {
        /// The name
        name: String,
    },
}
