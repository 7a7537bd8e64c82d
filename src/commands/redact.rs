//! `aperture redact`: replaces credentials in a session with placeholders.

use super::ChangeOptions;

/// Arguments of `redact`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture redact --all --dry-run       the credentials, by kind
  aperture redact --all                 everywhere in the file, including rows that are never sent
  aperture redact 12                    in one block
  aperture redact --all --forget --yes  also in the stored originals, permanently

Each credential becomes [secret:KIND], and nothing else in the file changes. aperture undo restores them; with --forget,
nothing does: the originals in the store are rewritten as well. It finds the same shapes as aperture check --no-secrets;
a credential without a known shape is not found. Revoke leaked credentials nevertheless.")]
pub struct Arguments {
    /// Blocks, by selectors: their union
    #[arg(required_unless_present = "all")]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// All texts in the file, including those outside blocks
    #[arg(long, conflicts_with = "selector")]
    pub all: bool,
    /// Also remove them from the stored originals: they can never be restored
    #[arg(long)]
    pub forget: bool,
    /// Apply --forget, which is a dry run otherwise
    #[arg(long, requires = "forget")]
    pub yes: bool,
    /// The options of every change.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}
