use super::{Paint, PendingChanges, Report, Style, amount, tokens};
use crate::model::TokenCount;

/// Columns of the bar.
const BAR: usize = 8;
/// Usage of the window, in percent, from which it is shown as high and as critical.
const FULL: [f64; 2] = [60.0, 80.0];

/// One line for the status line of a client.
#[derive(Clone, Debug)]
pub struct StatusLineReport {
    pub used: TokenCount,
    /// Capacity of the window in tokens. 0 if it is unknown.
    pub capacity: u64,
    /// Tokens that are free until the client compacts the session. `None` if its reserve is unknown.
    pub free: Option<u64>,
    /// Changes that the client has not loaded.
    pub pending: Option<PendingChanges>,
    /// Number of stale blocks. `None` if the session was not analysed.
    pub stale_blocks: Option<usize>,
    pub stale_tokens: TokenCount,
    /// Number of model commands awaiting approval.
    pub waiting: usize,
    /// The changes by the model in the last turn, as a sentence. `None` if there are none.
    pub activity: Option<String>,
    /// The reason why a proxy sends the requests of the session unchanged, if the API refused changed ones.
    pub refused: Option<String>,
}

impl Report for StatusLineReport {
    const SCHEMA: &str = "aperture.statusline/2";

    fn text(&self, style: &Style) -> String {
        let percent = self.used.value / self.capacity.max(1) as f64 * 100.0;
        let filled = ((percent / 100.0 * BAR as f64).ceil() as usize).min(BAR);
        let paint = if percent < FULL[0] {
            Paint::Good
        } else if percent < FULL[1] {
            Paint::Warning
        } else {
            Paint::Bad
        };
        let mut parts = vec![if self.capacity == 0 {
            format!("{} tokens", amount(self.used.round()))
        } else {
            let bar = style.paint(paint, &format!("{}{}", "▓".repeat(filled), "░".repeat(BAR - filled)));
            format!("{bar} {}/{} {percent:.0} %", amount(self.used.round()), amount(self.capacity))
        }];
        if let Some(free) = self.free {
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
