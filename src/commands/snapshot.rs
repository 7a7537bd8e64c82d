//! `aperture snapshot`: manages named points in the log.

/// Arguments of `snapshot`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture snapshot save before-cleanup
  aperture snapshot list
  aperture restore before-cleanup")]
pub struct Arguments {
    /// The action.
    #[command(subcommand)]
    pub action: Action,
}

/// The actions.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Name the point where the session is now
    Save {
        /// A name, not a number
        name: String,
    },
    /// List the names
    List,
    /// Show what was done since
    Show {
        /// The name
        name: String,
    },
    /// Take a name away; nothing else is lost
    Delete {
        /// The name
        name: String,
    },
}
