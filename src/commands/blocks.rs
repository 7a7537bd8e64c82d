//! `aperture blocks`: prints the table of blocks.

use crate::app::{CommandError, Env};
use crate::engine::Selector;
use crate::output::{BlockRow, BlocksReport, SortKey};

/// Arguments of `blocks`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture blocks                                the blocks of the window
  aperture blocks 'stale & larger(2k)'           what could go
  aperture blocks 'tool(Read)' --sort tokens     reads, the most expensive first
  aperture blocks --tree                         under their turns
  aperture blocks cold --json                    what left the window

aperture help selectors explains how blocks are named.")]
pub struct Arguments {
    /// Blocks, by a selector
    #[arg(default_value = "window")]
    selector: String,
    /// What to sort by
    #[arg(long, value_name = "KEY", default_value = "number")]
    sort: SortKey,
    /// Sort the other way round
    #[arg(long)]
    reverse: bool,
    /// Show the blocks under their turns
    #[arg(long, conflicts_with_all = ["sort", "reverse"])]
    tree: bool,
}

/// Lists the blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// Returns the table of blocks.
///
/// # Errors
///
/// The selector is invalid or names something that does not exist; the session cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<BlocksReport, CommandError> {
    let selector = Selector::parse(&arguments.selector)?;
    let workspace = env.open(None)?;
    let reading = &workspace.reading;
    let blocks: Vec<BlockRow> = selector
        .select(reading)?
        .into_iter()
        .filter_map(|number| reading.block(number))
        .map(|block| BlockRow::new(reading, block))
        .collect();
    let mut report = BlocksReport {
        tokens: blocks.iter().map(|block| block.tokens).sum(),
        blocks,
        tree: arguments.tree,
        prompts: reading.turns.iter().map(|turn| turn.prompt.clone()).collect(),
    };
    report.sort(arguments.sort, arguments.reverse);
    Ok(report)
}
