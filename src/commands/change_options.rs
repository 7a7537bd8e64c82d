//! Steps shared by all commands that change a session: lock, settle, plan, compute the price, apply.

/// Options of every command that changes a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, clap::Args)]
pub struct ChangeOptions {
    /// Show what would change and what it costs; write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Also change a session that a client has open; type /resume in the client afterwards
    #[arg(long)]
    pub live: bool,
    /// Keep the thinking after the first change; refused where the model binds it to what precedes it
    #[arg(long)]
    pub keep_thinking: bool,
}
