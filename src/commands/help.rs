//! `aperture help`: prints the help of commands and topics.

/// Arguments of `help`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture help manifest
  aperture help selectors
  aperture help lifecycle")]
pub struct Arguments {
    /// A command, or one of the topics selectors, lifecycle, settings, bulk and clients
    pub topic: Option<String>,
}
