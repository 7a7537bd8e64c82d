//! `aperture statusline`: prints a one-line status for the client that has the session open.

use crate::app::{CommandError, Env};
use crate::commands::inbox;
use crate::commands::live::{pending, proxied};
use crate::engine::Capacity;
use crate::model::TokenCount;
use crate::output::{Paint, PendingChanges, Report, Style, amount, tokens};
use crate::provider::WindowSize;
use crate::provider::{lenient, parsed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture statusline < payload.json   the line that the client would show

Clients call it: aperture install claude-code. It always exits with 0 and prints errors on
standard error.")]
pub struct Arguments {}

const BAR: usize = 8;
/// Usage of the window, in percent, from which it is shown as high and as critical.
const FULL: [f64; 2] = [60.0, 80.0];

/// The line for the status line of an agent program.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatusLineReport {
    /// Tokens of the window.
    pub tokens: TokenCount,
    /// Size of the window; 0 if it is unknown.
    pub capacity_tokens: u64,
    /// Tokens that are free until the agent program compacts by itself; null if its reserve is unknown.
    pub remaining_tokens: Option<u64>,
    /// Changes of the session file that the agent program has not loaded; null if there are none.
    pub pending: Option<PendingChanges>,
    /// Reason why a proxy sends the requests of the session unchanged; null unless the API refused changed ones.
    pub refused: Option<String>,
    /// Changes by the model in the last turn, as a sentence; null if there are none.
    pub activity: Option<String>,
    /// Number of stale blocks; null if the session was not read.
    pub stale_blocks: Option<usize>,
    /// Tokens of the stale blocks.
    pub stale_tokens: TokenCount,
    /// Number of commands of the model that wait for the user.
    pub waiting: usize,
}

impl Report for StatusLineReport {
    const SCHEMA: &str = "aperture.statusline/2";

    fn text(&self, style: &Style) -> String {
        let percent = self.tokens.value / self.capacity_tokens.max(1) as f64 * 100.0;
        let filled = ((percent / 100.0 * BAR as f64).ceil() as usize).min(BAR);
        let paint = if percent < FULL[0] {
            Paint::Good
        } else if percent < FULL[1] {
            Paint::Warning
        } else {
            Paint::Bad
        };
        let mut parts = vec![if self.capacity_tokens == 0 {
            format!("{} tokens", amount(self.tokens.round()))
        } else {
            let bar = style.paint(paint, &format!("{}{}", "▓".repeat(filled), "░".repeat(BAR - filled)));
            format!("{bar} {}/{} {percent:.0} %", amount(self.tokens.round()), amount(self.capacity_tokens))
        }];
        if let Some(free) = self.remaining_tokens {
            parts.push(format!("{} free", amount(free)));
        }
        if let Some(pending) = &self.pending {
            parts.push(style.paint(Paint::Warning, &pending.mark()));
        }
        if let Some(stale) = self.stale_blocks.filter(|stale| *stale > 0) {
            parts.push(style.paint(Paint::Dim, &format!("{stale} stale ({})", tokens(self.stale_tokens))));
        }
        if self.waiting > 0 {
            parts.push(style.paint(Paint::Name, &format!("{} waiting", self.waiting)));
        }
        if self.refused.is_some() {
            parts.push(style.paint(Paint::Bad, "sent unchanged"));
        }
        if let Some(activity) = &self.activity {
            parts.push(style.paint(Paint::Good, activity));
        }
        format!("{}\n", parts.join(" · "))
    }
}

/// The maximum size of a session that is read, in bytes: a longer one would delay the status line.
const LONGEST: u64 = 64 << 20;

/// The client's description of itself. Any field may be missing, or of another type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload {
    #[serde(deserialize_with = "lenient")]
    transcript_path: Option<PathBuf>,
    #[serde(deserialize_with = "lenient")]
    context_window: Option<Window>,
    #[serde(deserialize_with = "lenient")]
    model: Option<Model>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Model {
    #[serde(deserialize_with = "lenient")]
    id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Window {
    #[serde(deserialize_with = "lenient")]
    total_input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    context_window_size: Option<u64>,
}

/// Prints the status line.
pub fn run(env: &Env, _: &Arguments) -> Result<(), CommandError> {
    // An incomplete status line is better than an error.
    let payload: Payload = parsed(&env.text("-")?).unwrap_or_default();
    let window = payload.context_window.unwrap_or_default();
    let path = payload.transcript_path.unwrap_or_default();
    let readable = env.disk.identify(&path).is_ok_and(|file| (1..LONGEST).contains(&file.bytes));
    let session = env.on(&path, "statusline");
    let found = session.find(None).ok();
    let workspace = if readable { session.open(None).ok() } else { None };
    let reading = workspace.as_ref().map(|workspace| &workspace.reading);
    let stale = reading.map(|reading| reading.stale_total());
    // The client's figure is that of its last response: without what followed it, and still the same right after a compaction.
    let counted = reading.map(|reading| reading.price.total).filter(|total| total.round() > 0);
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
