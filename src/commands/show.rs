//! `aperture show`: prints the content of blocks.

/// Arguments of `show`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture show 12                 one block
  aperture show 'turn(3) & error'  the errors of a turn
  aperture show 12 --raw > a.txt   its content as it is, nothing else

Credentials are masked, and control characters are shown as symbols; not so with --raw.
aperture help selectors explains how blocks are named.")]
pub struct Arguments {
    /// Blocks, by a selector
    pub selector: String,
    /// Write the content as it is sent to the model, credentials and control characters included, and nothing else
    #[arg(long)]
    pub raw: bool,
}
