//! `aperture redact`: replaces credentials in a session with placeholders.

mod run;

pub use run::{redact, run, with_chosen_texts};

use super::{BulkOptions, ChangeOptions};

/// Arguments of `redact`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture redact --whole-file --dry-run       the credentials, by kind
  aperture redact --whole-file                 everywhere in the file, including rows that are never sent
  aperture redact 12                           in one block
  aperture redact --whole-file --forget --yes  also in the stored originals, permanently
  aperture redact --whole-file --all           everywhere in every session on this machine
  aperture redact --text @-                    texts of your own, from standard input

Each credential becomes [secret:KIND], and nothing else in the file changes. aperture undo restores them; with --forget,
nothing does: the originals in the store are rewritten as well. It finds the same shapes as aperture check --no-secrets;
a credential without a known shape is not found. Revoke leaked credentials nevertheless.
Many sessions: aperture help bulk.")]
pub struct Arguments {
    /// Block selectors; matches are combined
    #[arg(required_unless_present_any = ["all", "all_sessions", "every", "project", "text"])]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// All texts in the file, including those outside blocks
    #[arg(long = "whole-file", conflicts_with = "selector")]
    pub all: bool,
    /// Texts of your own instead of credentials, one on each line: @- reads standard input, @FILE a file
    #[arg(long, value_name = "@-")]
    pub text: Option<String>,
    /// The earlier name of `--all`; with it, `--all` is the earlier name of `--whole-file`
    #[arg(long = "all-sessions", hide = true)]
    #[serde(skip)]
    pub every: bool,
    /// Also remove them from the stored originals: they can never be restored
    #[arg(long)]
    pub forget: bool,
    /// Apply --forget, which is a dry run otherwise
    #[arg(long, requires = "forget")]
    pub yes: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
    /// The sessions, if there are many.
    #[command(flatten)]
    #[serde(flatten)]
    pub bulk: BulkOptions,
}

impl Arguments {
    /// Returns true if all texts in the file are redacted, not only blocks.
    pub fn is_everywhere(&self) -> bool {
        self.all || self.selector.is_empty()
    }

    /// Returns true if `--all` is the only choice, as the earlier name of `--whole-file`: then it means one session.
    pub fn is_earlier_all(&self) -> bool {
        self.bulk.all_sessions && self.selector.is_empty() && self.text.is_none() && !self.all && !self.every
    }

    pub fn many(&self) -> Option<&BulkOptions> {
        (self.every || self.bulk.is_bulk() && !self.is_earlier_all()).then_some(&self.bulk)
    }

    /// Returns the options of the change: without --yes, --forget is a dry run.
    pub fn applied(&self) -> ChangeOptions {
        ChangeOptions { dry_run: self.options.dry_run || (self.forget && !self.yes), ..self.options }
    }
}
