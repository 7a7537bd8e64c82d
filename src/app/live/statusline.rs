//! `aperture statusline`: prints a one-line status for the client that has the session open.

use crate::app::model::inbox;
use crate::app::{CommandError, Env};
use crate::commands::statusline::Arguments;
use crate::model::TokenCount;
use crate::output::{StatusLineReport, Style};
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
    let workspace = if readable { session.open(None).ok() } else { None };
    let reading = workspace.as_ref().map(|workspace| &workspace.reading);
    let stale = reading.map(|reading| reading.stale_total());
    let known = window.total_input_tokens.filter(|used| *used > 0);
    let report = StatusLineReport {
        used: known.map(TokenCount::measured).or(reading.map(|reading| reading.price.total.0)).unwrap_or(TokenCount::ZERO),
        capacity: window.context_window_size.or(reading.map(|reading| reading.capacity.tokens)).unwrap_or_default(),
        stale_blocks: stale.map(|(blocks, _)| blocks),
        stale_tokens: stale.map_or(TokenCount::ZERO, |(_, tokens)| tokens),
        waiting: inbox::count(&session),
    };
    if report.used.round() == 0 && report.capacity == 0 {
        return Ok(());
    }
    let style = Style { color: env.client_colors, ..env.style.clone() };
    let mut env = env.clone();
    env.style = style;
    env.print(&report)
}
