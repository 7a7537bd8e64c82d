//! `aperture show`: prints the content of blocks.

use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::show::Arguments;
use crate::output::{BlockRow, ShowReport, ShownBlock};
use anyhow::anyhow;

/// Prints the content.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// Returns the content of the blocks.
///
/// # Errors
///
/// No block matches; the session cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<ShowReport, CommandError> {
    Ok(ShowReport { raw: arguments.raw, ..content(env, &arguments.selector)? })
}

/// Returns the content of the blocks that selectors match.
///
/// # Errors
///
/// As `report`.
pub fn content(env: &Env, selectors: &[String]) -> Result<ShowReport, CommandError> {
    let parsed = env.selector(selectors)?;
    let workspace = env.open(None)?;
    let numbers = parsed.select(&workspace.reading)?;
    if numbers.is_empty() {
        let error = anyhow!("no block matches '{}'", selectors.join(", "));
        return Err(CommandError::new(ErrorKind::Refused, error).hint("to list every block: aperture blocks all"));
    }
    let contents = workspace.contents(&numbers)?;
    let blocks = numbers.iter().zip(contents).filter_map(|(number, content)| {
        let block = workspace.reading.block(*number)?;
        Some(ShownBlock { block: BlockRow::new(&workspace.reading, block), content: content.sent, readable: content.readable })
    });
    Ok(ShowReport { blocks: blocks.collect(), raw: false })
}
