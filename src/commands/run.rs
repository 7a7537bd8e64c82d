//! `aperture run`: runs a client behind the proxy.

/// Arguments of `run`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture run -- claude
  aperture run -- claude --resume
  aperture run -- codex
  aperture run -- opencode
  aperture run -- aider --model openai/gpt-5.5

The client is started with the address of the running proxy or, without one, of a proxy
that ends with the client. Only this process gets the address: no settings are changed.
The client's own base URLs, such as ANTHROPIC_BASE_URL, hold for the requests that are sent on.
The exit code is that of the client; one line on standard error has the requests and savings.")]
pub struct Arguments {
    /// Log requests without modifying them
    #[arg(long)]
    pub observe: bool,
    /// The command line of the client
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}
