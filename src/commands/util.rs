//! `aperture util`: measurements for developers of aperture, not part of its stable interface.

/// Arguments of `util`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The tool.
    #[command(subcommand)]
    pub tool: Tool,
}

/// The tools.
#[derive(Debug, clap::Subcommand)]
pub enum Tool {
    /// Compare token estimates with the bills of sessions
    ///
    /// Each step, from one call of the model to the next, is predicted from the steps before it alone. Without files, the
    /// sessions of this machine are compared.
    Accuracy {
        /// Session files
        files: Vec<String>,
    },
    /// Count the tokens of the lines that stand for archived blocks
    ///
    /// Each block in the window is archived on paper alone. Without files, the sessions of this machine are looked at.
    Placeholders {
        /// Session files
        files: Vec<String>,
    },
}
