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
    /// Count the tokens of the lines that replace archived blocks
    ///
    /// It computes the line for each block in the window and changes nothing. Without files, it reads all sessions of this machine.
    Placeholders {
        /// Session files
        files: Vec<String>,
    },
}
