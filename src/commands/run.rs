//! `aperture run`: runs a client behind the proxy.

/// Arguments of `run`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("run"))]
pub struct Arguments {
    /// Log requests without modifying them
    #[arg(long)]
    pub observe: bool,
    /// The command line of the client
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}
