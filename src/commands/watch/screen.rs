//! Builds the screen of a watched session.

use super::report::{Arrived, Hot, WatchScreen};
use crate::app::Env;
use crate::commands::live::{pending, proxied};
use crate::commands::status;
use crate::engine::{ExecutedCommand, Suggestion, label};
use crate::model::Block;
use crate::workspace::Workspace;

/// The number of recent blocks: more than a tall terminal has lines.
const ARRIVED: usize = 100;
/// The number of hot blocks and of commands.
const FEW: usize = 5;

/// Returns the screen of a session, without the parts that depend only on the current time.
pub(super) fn build(env: &Env, workspace: &Workspace<'_>, suggestions: Vec<Suggestion>, title: String) -> WatchScreen {
    let reading = &workspace.reading;
    let used = |block: &&Block| block.usefulness.references > 0 && block.usefulness.heat > 0.0;
    let mut hot: Vec<&Block> = reading.in_window().filter(used).collect();
    hot.sort_by(|a, b| b.usefulness.heat.total_cmp(&a.usefulness.heat).then(b.number.cmp(&a.number)));
    let hot = hot.into_iter().take(FEW).map(|block| Hot { block: arrived(block), references: block.usefulness.references });
    let refusal = proxied::refusal(env, &workspace.location.id);
    let refusal = refusal.map(|reason| format!("requests are sent as the client writes them: {reason}"));
    let unapplied = proxied::unapplied(env, &workspace.location.id);
    let unapplied = (!unapplied.is_empty()).then(|| status::unapplied(&unapplied, &workspace.location.id));
    WatchScreen {
        session: workspace.location.id.clone(),
        title,
        model: reading.model.clone(),
        turns: reading.turns.len(),
        steps: reading.steps,
        last_written: reading.session.last_written(),
        tokens: Some(reading.price.total),
        capacity: reading.capacity.tokens,
        free: reading.remaining(),
        percent: reading.percent(),
        stale: Some(reading.stale_total()).filter(|(blocks, _)| *blocks > 0),
        pinned: reading.session.blocks.iter().filter(|block| block.pin.is_some()).count(),
        focused: reading.session.blocks.iter().filter(|block| block.focused).map(|block| block.number).collect(),
        arrived: reading.session.blocks.iter().rev().take(ARRIVED).map(arrived).collect(),
        hot: hot.collect(),
        commands: workspace.history.operations.iter().rev().take(FEW).map(ExecutedCommand::from_operation).collect(),
        suggestions,
        pending: pending::changes(env, workspace),
        activity: proxied::model_activity(workspace),
        notices: refusal.into_iter().chain(unapplied).collect(),
        ..WatchScreen::default()
    }
}

fn arrived(block: &Block) -> Arrived {
    Arrived { time: block.timestamp, number: block.number, role: block.role, label: label(block), tokens: block.tokens }
}
