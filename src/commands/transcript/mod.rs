//! `aperture transcript`: prints the conversation as the model would see it.

mod report;
mod run;

pub use report::{Headers, TranscriptReport};
pub use run::{headers_of_last_turn, run};

/// Arguments of `transcript`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture transcript            the conversation of the newest session here
  aperture transcript --headers  with the header of each message and part
  aperture transcript --client-texts  including texts added by the client
  aperture transcript --raw 6666 | wc -c

Credentials are masked and control characters are shown as symbols, except with --raw.")]
pub struct Arguments {
    /// Session: a path, an id or an id prefix
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Print a header for each message and part
    #[arg(long, conflicts_with = "raw")]
    pub headers: bool,
    /// Print only the content exactly as sent, including credentials and control characters
    #[arg(long)]
    pub raw: bool,
    /// Also texts that the client adds: reminders, lists of skills and agents
    #[arg(long = "client-texts", alias = "all")]
    pub all: bool,
}
