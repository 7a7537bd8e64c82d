//! `aperture expand`: restores blocks to a longer level.

use super::ChangeOptions;
use super::change::pipeline::{ChangeSummary, OpenedSession, change};
use super::compress::level;
use super::undo::{describe, inexact};
use crate::app::{CommandError, Env, refusal};
use crate::model::{Actor, BlockNumber, Key, Level, OperationId, OperationKind, Zone};
use crate::output::{ChangeReport, plural};
use crate::workspace::{Workspace, shorten};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("expand"))]
pub struct Arguments {
    /// Block selectors; matches are combined
    #[arg(required = true)]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
    /// Level of the result: trimmed or summarized [default: the original]
    #[arg(long, value_name = "LEVEL", value_parser = level(), hide_possible_values = true)]
    pub level: Option<Level>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ChangeOptions,
}

/// Restores the selected blocks.
pub fn run(env: &Env, arguments: &Arguments) -> Result<ChangeReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    let level = arguments.level.unwrap_or(Level::Original);
    change(env, arguments.options, &|draft, opened| {
        let reading = &opened.workspace.reading;
        let shorter = |number: &BlockNumber| reading.block(*number).is_some_and(|block| block.level > level);
        let selected = selector.select_marked(reading)?;
        if let Some(id) = folded_by(env, opened, &selected)?
            && let Some(operation) = opened.workspace.history.operation(id)
        {
            if env.actor == Actor::Model && operation.actor != Actor::Model {
                return Err(refusal!(
                    "the user folded these blocks (operation {id}), so only the user can restore them; @recall({}) shows them",
                    arguments.selector.join(", ")
                ));
            }
            let notes = inexact(draft.toggle(operation)?);
            let what = Some(describe(&opened.workspace.history, operation));
            let undo = ChangeSummary { kind: OperationKind::Undo, inverts: Some(id), ..ChangeSummary::change("undone") };
            return Ok(ChangeSummary { what, notes, ..undo });
        }
        let wanted: BTreeMap<BlockNumber, Level> =
            selected.iter().copied().filter(shorter).map(|number| (number, level)).collect();
        let than = if level == Level::Original { String::new() } else { format!(" to less than {}", level.name()) };
        let notes = match &selected[..] {
            _ if !wanted.is_empty() => Vec::new(),
            [number] => vec![format!("#{number} is not shortened{than}")],
            _ => vec![format!("none of the {} is shortened{than}", plural(selected.len(), "block"))],
        };
        Ok(ChangeSummary { skipped: shorten(draft, &wanted, "", None)?, notes, ..ChangeSummary::change("expanded") })
    })
}

/// Returns the last operation in force that folded a selected block with its turn.
fn folded_by(env: &Env, opened: &OpenedSession, selected: &[BlockNumber]) -> Result<Option<OperationId>, CommandError> {
    let Workspace { reading, history, path, .. } = &opened.workspace;
    let cold = selected.iter().filter_map(|number| reading.block(*number)).filter(|block| block.position.zone == Zone::Cold);
    let cold: FxHashSet<Key> = cold.map(|block| block.hash).collect();
    let Some(store) = opened.store.as_ref().filter(|_| !cold.is_empty()) else { return Ok(None) };
    let Some(session) = store.find(&env.disk.resolve(path)?)? else { return Ok(None) };
    let is_undone =
        |id| history.undone_by(id).is_some() || history.operation(id).is_none_or(|operation| operation.inverts.is_some());
    let operations = store.content_operations(&session)?.into_iter().rev();
    let folds = operations.filter_map(|operation| Some((operation.id, operation.window?))).filter(|(id, _)| !is_undone(*id));
    let mut ids = folds.filter(|(_, window)| window.removed.iter().any(|address| cold.contains(&address.content)));
    Ok(ids.next().map(|(id, _)| id))
}
