//! `aperture fork`: copies a session up to a turn or a block into a new one.

/// Arguments of `fork`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture fork --at 'turn(5)'     the conversation up to the end of turn 5
  aperture fork --at 120           up to block 120, with the result of its tool use
  aperture fork -s 6666 --dry-run  the whole session, as a dry run

The fork is a session of the same client, with an id of its own: claude --resume ID or codex resume ID continues it.
The source is not changed. To remove the fork, delete its file; the report names it.
Content that aperture shortened before is shortened in the fork as well; its originals belong to the source.")]
pub struct Arguments {
    /// Copy up to this block (the last match of a selector) [default: the end]
    #[arg(long, value_name = "SELECTOR")]
    pub at: Option<String>,
    /// Report the fork, without writing it
    #[arg(long)]
    pub dry_run: bool,
}
