//! The way of every change of a session, and changes that are written later.

pub mod deferred;
pub mod pipeline;

/// Options of every command that changes a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, clap::Args)]
pub struct ChangeOptions {
    /// Dry run: show the changes and their cost; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// In a dry run, show one line for each block, the largest first
    #[arg(long, requires = "dry_run", conflicts_with = "full")]
    pub stat: bool,
    /// In a dry run, show all changed lines
    #[arg(long, requires = "dry_run")]
    pub full: bool,
    /// Also change a session that a client has open; type /resume in the client afterwards
    #[arg(long)]
    pub live: bool,
    /// Keep the thinking after the first change; rejected for models that sign thinking over preceding content
    #[arg(long)]
    pub keep_thinking: bool,
}
