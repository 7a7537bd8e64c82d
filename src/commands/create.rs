//! `aperture create`: adds a note at the end of a session.

use super::ChangeOptions;

/// Arguments of `create`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture create 'the tests need a database: start it with make db'
  aperture create -                   from standard input

The model receives the note with the next prompt; the prompt cache stays valid.")]
pub struct Arguments {
    /// The note; - reads standard input
    pub text: String,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}
