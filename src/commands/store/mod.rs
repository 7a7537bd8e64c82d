//! `aperture store`: seals what is stored, and opens it again.

mod report;
mod run;

pub use report::{StoreReport, StoreStatusReport};
pub use run::run;

use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("store"))]
pub struct Arguments {
    /// The action; the status without one.
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// The actions.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Show whether the store is sealed, what it holds, and what stays clear
    Status,
    /// Seal everything that is stored
    Encrypt {
        #[command(flatten)]
        #[serde(flatten)]
        key: Key,
        /// List what would be sealed; change nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
    /// Open everything that is sealed
    Decrypt {
        /// List what would be opened; change nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
    /// Replace the passphrase or the key; with --data, seal everything again with a new data key
    Rekey {
        #[command(flatten)]
        #[serde(flatten)]
        key: Key,
        /// Seal everything again with a new data key
        #[arg(long)]
        data: bool,
        /// List what would be done; change nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
}

/// The secret that opens the store.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, clap::Args)]
#[group(id = "key", multiple = false)]
pub struct Key {
    /// A passphrase; the default
    #[arg(long)]
    pub passphrase: bool,
    /// A file that only you can read, which is created if it does not exist: for hooks and services
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// The keyring of the system
    #[arg(long)]
    pub keyring: bool,
}
