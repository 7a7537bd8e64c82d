use super::Arguments;
use super::report::{BlockRow, BlocksReport};
use crate::app::{CommandError, Env};

/// Lists the blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// Returns the table of blocks.
/// Errors: the selector is invalid or names something that does not exist; the session cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<BlocksReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    let workspace = env.open(None)?;
    let reading = &workspace.reading;
    let blocks: Vec<BlockRow> = selector
        .select(reading)?
        .into_iter()
        .filter_map(|number| reading.block(number))
        .map(|block| BlockRow::new(reading, block))
        .collect();
    let empty = match &arguments.selector[..] {
        [word] if word == "pinned" => "no pinned blocks",
        [word] if word == "focused" => "no focused blocks",
        _ => "no matching blocks",
    };
    let mut report = BlocksReport {
        empty,
        tokens: blocks.iter().map(|block| block.tokens).sum(),
        blocks,
        tree: arguments.tree,
        prompts: reading.turns.iter().map(|turn| turn.prompt.clone()).collect(),
    };
    report.sort(arguments.sort, arguments.reverse);
    Ok(report)
}
