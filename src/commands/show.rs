//! `aperture show`: prints the content of blocks.

/// Arguments of `show`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture show 12                 one block
  aperture show 17 19..21          several; also 17,19..21
  aperture show 'turn(3) & error'  the errors of a turn
  aperture show 12 --raw > a.txt   its content unchanged, nothing else

Credentials are masked and control characters are shown as symbols, except with --raw.
Blocks are named by selectors: aperture help selectors.")]
pub struct Arguments {
    /// Block selectors; matches are combined
    #[arg(required = true)]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// Print only the content as sent to the model, including credentials and control characters
    #[arg(long)]
    pub raw: bool,
}
