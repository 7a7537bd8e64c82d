//! `aperture statusline`: one line about a session, for the client that has it open.

use crate::app::{CommandError, Env};
use crate::commands::inbox;
use crate::model::TokenCount;
use crate::output::{StatusLineReport, Style};
use serde::Deserialize;
use std::path::PathBuf;

/// Longest session that is read for a line, in bytes: a longer one takes more time than a line may.
const LONGEST: u64 = 12 << 20;

/// Arguments of `statusline`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  aperture statusline < payload.json   the line that the client would show

Clients call it: aperture install claude-code. It always exits with 0; what went wrong is on
standard error.")]
pub struct Arguments {}

/// What a client says of itself. Nothing of it is certain to be there.
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

/// Prints the line.
pub fn run(env: &Env, _: &Arguments) -> Result<(), CommandError> {
    // A line with less in it is better than none.
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
