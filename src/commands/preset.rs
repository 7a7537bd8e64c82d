//! `aperture preset`: lists, shows and selects compression presets.

/// Arguments of `preset`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture preset                    lists them
  aperture preset use aggressive     writes it to aperture.toml in this directory
  aperture compress --preset light")]
pub struct Arguments {
    /// The action; `list` if there is none.
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// The actions.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// List the presets
    List,
    /// Show one preset, by default the one in use with the settings applied
    Show {
        /// Its name
        name: Option<String>,
    },
    /// Use a preset in this project: set it in aperture.toml
    Use {
        /// Its name
        name: String,
    },
}
