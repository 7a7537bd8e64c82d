use super::Arguments;
use super::report::StatusLineReport;
use crate::app::{CommandError, Env};
use crate::commands::inbox;
use crate::commands::live::{pending, proxied};
use crate::engine::Capacity;
use crate::model::TokenCount;
use crate::output::Style;
use crate::provider::WindowSize;
use serde::Deserialize;
use std::path::PathBuf;

/// The maximum size of a session that is read, in bytes: a longer one would delay the status line.
const LONGEST: u64 = 12 << 20;

/// The client's description of itself. Any field may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload {
    transcript_path: Option<PathBuf>,
    context_window: Option<Window>,
    model: Option<Model>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Model {
    id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Window {
    total_input_tokens: Option<u64>,
    context_window_size: Option<u64>,
}

/// Prints the status line.
pub fn run(env: &Env, _: &Arguments) -> Result<(), CommandError> {
    // An incomplete status line is better than an error.
    let payload: Payload = serde_json::from_str(&env.text("-")?).unwrap_or_default();
    let window = payload.context_window.unwrap_or_default();
    let path = payload.transcript_path.unwrap_or_default();
    let readable = env.disk.identify(&path).is_ok_and(|file| (1..LONGEST).contains(&file.bytes));
    let session = env.on(&path, "statusline");
    let found = session.find(None).ok();
    let workspace = if readable { session.open(None).ok() } else { None };
    let reading = workspace.as_ref().map(|workspace| &workspace.reading);
    let stale = reading.map(|reading| reading.stale_total());
    // The client's figure is that of its last response: without what followed it, and still the same right after a compaction.
    let counted = reading.map(|reading| reading.price.total.0).filter(|total| total.round() > 0);
    let said = window.total_input_tokens.filter(|used| *used > 0).map(TokenCount::measured);
    let pending = match (&workspace, &found) {
        (Some(workspace), _) => pending::changes(&session, workspace),
        (None, Some(found)) => pending::changes_unread(&session, found),
        (None, None) => None,
    };
    // Until a resume, the client sends what it has read.
    let used = if pending.is_some() { said.or(counted) } else { counted.or(said) }.unwrap_or(TokenCount::ZERO);
    let capacity = window.context_window_size.or(reading.map(|reading| reading.capacity.tokens)).unwrap_or_default();
    let model = payload.model.map(|model| model.id).or(reading.map(|reading| reading.model.clone())).unwrap_or_default();
    let provider = found.as_ref().map(|found| found.provider);
    let reserve = provider.map_or(0, |provider| provider.reserve(&model, WindowSize { tokens: capacity, reported: true }));
    let report = StatusLineReport {
        tokens: used,
        capacity_tokens: capacity,
        remaining_tokens: (reserve > 0).then(|| Capacity { tokens: capacity, reserve, ..Capacity::default() }.free(used.round())),
        pending,
        stale_blocks: stale.map(|(blocks, _)| blocks),
        stale_tokens: stale.map_or(TokenCount::ZERO, |(_, tokens)| tokens),
        waiting: inbox::count(&session),
        activity: workspace.as_ref().and_then(proxied::model_activity),
        refused: found.as_ref().and_then(|found| proxied::refusal(env, &found.location.id)),
    };
    if report.tokens.round() == 0 && report.capacity_tokens == 0 {
        return Ok(());
    }
    let style = Style { color: env.client_colors, ..env.style.clone() };
    let mut env = env.clone();
    env.style = style;
    env.print(&report)
}
