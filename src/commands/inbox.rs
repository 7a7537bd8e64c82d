//! `aperture inbox`, `approve` and `deny`: the model commands that await the user's approval.

use crate::model::ProposalNumber;

/// Arguments of `inbox`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture inbox           what waits, and what it would do
  aperture inbox --all     in every session
  aperture approve 3 4     carry them out
  aperture deny --all --reason 'still needed'

Which commands of the model wait is set under [model]: aperture help settings.")]
pub struct Arguments {
    /// In every session
    #[arg(long)]
    pub all: bool,
}

/// Which proposals are meant.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[group(id = "which", required = true, multiple = false)]
pub struct Which {
    /// Numbers, as aperture inbox shows them
    #[arg(group = "which", value_name = "NUMBER")]
    pub numbers: Vec<ProposalNumber>,
    /// All that wait in this session
    #[arg(long, group = "which")]
    pub all: bool,
}

/// Arguments of `approve`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture approve 3 --dry-run
  aperture approve 3 4
  aperture approve --all

Each is one operation in aperture log, which aperture undo takes back. The exit code is 1
where one could not be carried out; the model is told at its next prompt.")]
pub struct ApproveArguments {
    /// The selected proposals.
    #[command(flatten)]
    #[serde(flatten)]
    pub which: Which,
    /// Show what would be done; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// Arguments of `deny`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture deny 3 --reason 'the tests still need it'
  aperture deny --all

The model is told at its next prompt.")]
pub struct DenyArguments {
    /// The selected proposals.
    #[command(flatten)]
    #[serde(flatten)]
    pub which: Which,
    /// Why, for the model
    #[arg(long, value_name = "TEXT", default_value = "the user said no")]
    pub reason: String,
}
