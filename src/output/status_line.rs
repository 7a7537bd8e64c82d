use super::{Paint, Report, Style, amount, tokens};
use crate::model::TokenCount;

/// Columns of the bar.
const BAR: usize = 8;
/// From which share on, in percent, a window is rather full, and too full.
const FULL: [f64; 2] = [60.0, 80.0];

/// One line for the status line of a client.
#[derive(Clone, Debug)]
pub struct StatusLineReport {
    /// Tokens that the window holds.
    pub used: TokenCount,
    /// Tokens that it can hold; 0 where that is not known.
    pub capacity: u64,
    /// Stale blocks; none where the session was not read.
    pub stale_blocks: Option<usize>,
    /// What they cost together.
    pub stale_tokens: TokenCount,
    /// Commands of the model that wait for the user.
    pub waiting: usize,
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
        if let Some(stale) = self.stale_blocks.filter(|stale| *stale > 0) {
            parts.push(style.paint(Paint::Dim, &format!("{stale} stale ({})", tokens(self.stale_tokens))));
        }
        if self.waiting > 0 {
            parts.push(style.paint(Paint::Name, &format!("{} waiting", self.waiting)));
        }
        format!("{}\n", parts.join(" · "))
    }
}
