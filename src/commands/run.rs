//! `aperture run`: runs a client behind the proxy.

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("run"))]
pub struct Arguments {
    /// Log requests without modifying them
    #[arg(long)]
    pub observe: bool,
    /// Keep the window below this size: older blocks are shortened when it exceeds it
    #[arg(long, value_name = "TOKENS", value_parser = crate::app::tokens, conflicts_with = "observe")]
    pub budget: Option<u64>,
    /// The command line of the client
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}
