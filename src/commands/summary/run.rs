use super::report::{IdentifiedTurn, SummaryReport};
use super::{Arguments, contents};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::blocks::BlockRow;
use crate::commands::show::{ShowReport, ShownBlock};
use crate::commands::status;
use crate::engine::plural;
use crate::engine::summary::{PointKind, TurnSummary, summarize};
use crate::model::{BlockNumber, TurnList};
use crate::output::times_of_day;
use crate::workspace::Workspace;
use anyhow::anyhow;

/// Prints the summary.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// Returns the summary.
/// Errors: there is no such turn; the session cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<SummaryReport, CommandError> {
    let workspace = env.open(arguments.session.as_deref())?;
    build_report(env, &workspace, arguments)
}

/// Returns the summary of a session, without its turns.
pub fn current(env: &Env, workspace: &Workspace<'_>) -> Result<SummaryReport, CommandError> {
    Ok(SummaryReport { turns: Vec::new(), ..build_report(env, workspace, &Arguments::default())? })
}

fn build_report(env: &Env, workspace: &Workspace<'_>, arguments: &Arguments) -> Result<SummaryReport, CommandError> {
    let reading = &workspace.reading;
    let range = arguments.turns.clone().or_else(|| arguments.turn.map(|turn| TurnList::from_iter([turn])));
    let (mut turns, current) = summarize(reading, &contents(env, workspace)?, &times_of_day(&env.style));
    let turn_count = turns.len();
    let asked = turns.iter().flat_map(|turn| &turn.summary.points).find(|point| point.kind == PointKind::Asked);
    let first = asked.map(|point| point.text());
    if let Some(range) = &range {
        turns.retain(|turn| range.contains(turn.number));
        if turns.is_empty() {
            let error = anyhow!("the session does not have this turn; it has {}", plural(turn_count, "turn"));
            return Err(CommandError::new(ErrorKind::Refused, error).hint("to list the latest turns: aperture summary"));
        }
    }
    let identified = |turn: TurnSummary| IdentifiedTurn {
        conversation_id: reading.session.id.clone(),
        turn_id: turn.number,
        housekeeping: reading.turn(turn.number).and_then(|turn| turn.housekeeping.as_deref().cloned()),
        turn,
    };
    let full = arguments.turn.filter(|_| arguments.full).map(|turn| full(workspace, turn)).transpose()?;
    // Text that a client wrote before the first prompt is not a title.
    let title = Some(status::title(reading)).filter(|title| !title.starts_with('<')).or(first).unwrap_or_default();
    Ok(SummaryReport {
        session: reading.session.id.clone(),
        title,
        counted: "o200k",
        turn_count,
        steps: reading.steps,
        last_written_time: reading.session.last_written(),
        current: range.is_none().then_some(current),
        turns: turns.into_iter().map(identified).collect(),
        full,
        format: arguments.format,
    })
}

/// Returns all blocks of a turn with their content.
fn full(workspace: &Workspace<'_>, turn: u32) -> Result<ShowReport, CommandError> {
    let reading = &workspace.reading;
    let numbers: Vec<BlockNumber> = reading.turn(turn).map(|turn| turn.blocks.clone()).unwrap_or_default();
    let contents = workspace.masked_contents(&numbers)?;
    let blocks = numbers.iter().zip(contents).filter_map(|(number, content)| {
        let block = BlockRow::new(reading, reading.block(*number)?);
        Some(ShownBlock { block, content: content.sent, readable: content.readable })
    });
    Ok(ShowReport { blocks: blocks.collect(), raw: false })
}
