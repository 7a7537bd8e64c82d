//! `aperture transcript`: prints the conversation as the model would see it.

/// Arguments of `transcript`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture transcript            the conversation of the newest session here
  aperture transcript --headers  with the header of each message and part
  aperture transcript --all      with what the client adds to it
  aperture transcript --raw 6666 | wc -c

Credentials are masked, and control characters are shown as symbols; not so with --raw.")]
pub struct Arguments {
    /// Session: a path, an id or the beginning of one
    #[arg(id = "named", value_name = "SESSION")]
    pub session: Option<String>,
    /// Write the in-band header of each message and part
    #[arg(long, conflicts_with = "raw")]
    pub headers: bool,
    /// Write the content alone, exactly as it is sent, credentials and control characters included
    #[arg(long)]
    pub raw: bool,
    /// Also what the client adds in the system's name: reminders, lists of skills and agents
    #[arg(short, long)]
    pub all: bool,
}
