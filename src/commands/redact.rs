//! `aperture redact`: replaces credentials in a session with placeholders.

use super::ChangeOptions;

/// Arguments of `redact`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture redact --all --dry-run       what is there, by kind
  aperture redact --all                 everywhere in the file, also in what the model never sees
  aperture redact 12                    in one block
  aperture redact --all --forget --yes  there, and in the stored originals, for ever

Each credential becomes [secret:KIND], and nothing else in the file changes. aperture undo brings them back; with --forget,
nothing does: the originals in the store are rewritten as well. Known are the shapes that aperture check --no-secrets knows;
a credential without a known shape is not found. Whatever was leaked should be revoked all the same.")]
pub struct Arguments {
    /// Blocks, by a selector
    #[arg(required_unless_present = "all")]
    pub selector: Option<String>,
    /// Everything that the file says, also beside the blocks
    #[arg(long, conflicts_with = "selector")]
    pub all: bool,
    /// Also take them out of the stored originals: they can never be brought back
    #[arg(long)]
    pub forget: bool,
    /// Do what --forget says, which is otherwise only looked at
    #[arg(long, requires = "forget")]
    pub yes: bool,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}
