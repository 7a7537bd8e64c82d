//! `aperture inbox`, `approve` and `deny`: the model commands that await the user's approval.

mod report;
mod run;

pub use report::InboxReport;
pub use run::{count, run, run_approve, run_deny, waiting_here};

use crate::model::ProposalNumber;

/// Arguments of `inbox`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture inbox           pending commands, and the effect of each
  aperture inbox --all     in every session on this machine
  aperture approve 3 4     executes them
  aperture deny --pending --reason 'still needed'

The commands that need approval are set under [model]: aperture help settings.")]
pub struct Arguments {
    /// In every session on this machine
    #[arg(long)]
    pub all: bool,
}

/// The selected proposals.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[group(id = "which", required = true, multiple = false)]
pub struct ProposalSelection {
    /// Numbers, as listed by aperture inbox
    #[arg(group = "which", value_name = "NUMBER")]
    pub numbers: Vec<ProposalNumber>,
    /// All pending ones of this session
    #[arg(long = "pending", alias = "all", group = "which")]
    pub all: bool,
}

/// Arguments of `approve`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture approve 3 --dry-run
  aperture approve 3 4
  aperture approve --pending
  aperture approve 3 --live      in a session that a client has open

Each is one operation in aperture log; aperture undo reverts it. The exit code is 1
if one could not be executed; the model receives the results with the next prompt.")]
pub struct ApproveArguments {
    /// The selected proposals.
    #[command(flatten)]
    #[serde(flatten)]
    pub which: ProposalSelection,
    /// Dry run: show the result; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Also change a session that a client has open; type /resume in the client afterwards
    #[arg(long)]
    pub live: bool,
}

/// The reason for the model, if the user states none.
pub const REJECTED: &str = "rejected by the user";

/// Arguments of `deny`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture deny 3 --reason 'the tests still need it'
  aperture deny --pending

The model receives the answer with the next prompt.")]
pub struct DenyArguments {
    /// The selected proposals.
    #[command(flatten)]
    #[serde(flatten)]
    pub which: ProposalSelection,
    /// Reason, for the model
    #[arg(long, value_name = "TEXT", default_value = REJECTED)]
    pub reason: String,
}
