//! `aperture util`: measurements for developers of aperture, not part of its stable interface.

mod accuracy;
mod placeholders;
mod run;

pub use accuracy::AccuracyReport;
pub use placeholders::PlaceholdersReport;
pub use run::run;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
pub struct Arguments {
    /// The tool.
    #[command(subcommand)]
    #[serde(rename = "action")]
    pub tool: Tool,
}

/// The tools.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Subcommand)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// Compare token estimates with the bills of sessions
    ///
    /// Each step, from one call of the model to the next, is predicted from the steps before it alone. Without files, the
    /// sessions of this machine are compared.
    Accuracy {
        /// Session files
        files: Vec<String>,
    },
    /// Count the tokens of the lines that replace archived blocks
    ///
    /// It computes the line for each block in the window and changes nothing. Without files, it reads all sessions of this machine.
    Placeholders {
        /// Session files
        files: Vec<String>,
    },
    /// Print the instructions for a model: its commands, and when to use memories
    ///
    /// For a system prompt or an instruction file. The hooks of aperture send the commands by themselves.
    Instructions,
}
