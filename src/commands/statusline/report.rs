use crate::model::TokenCount;
use crate::output::{Paint, PendingChanges, Report, Style, amount, tokens};
use schemars::JsonSchema;
use serde::Serialize;

/// Columns of the bar.
const BAR: usize = 8;
/// Usage of the window, in percent, from which it is shown as high and as critical.
const FULL: [f64; 2] = [60.0, 80.0];

/// The line for the status line of an agent program.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatusLineReport {
    /// Tokens of the window.
    pub tokens: TokenCount,
    /// Size of the window; 0 if it is unknown.
    #[schemars(extend("unit" = "tokens"))]
    pub capacity_tokens: u64,
    /// Tokens that are free until the agent program compacts by itself; null if its reserve is unknown.
    #[schemars(extend("unit" = "tokens"))]
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
