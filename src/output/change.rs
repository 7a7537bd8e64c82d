use super::{DiffReport, Paint, Report, Style, amount, clip, price_lines};
use crate::engine::EditPrice;
use crate::engine::diff::BlockDifference;
use crate::model::{Basis, BlockChange, BlockNumber, OperationId, TokenCount};
use serde::Serialize;

/// Changes that are listed one by one.
const LISTED: usize = 12;

/// What a change did, or would do.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeReport {
    /// The session's id.
    pub session: String,
    /// The operation in its log; none when nothing was written.
    pub operation: Option<OperationId>,
    /// Whether it is a look ahead.
    pub dry_run: bool,
    /// What was done, in a word.
    pub verb: &'static str,
    /// To what, where that is not blocks.
    pub what: Option<String>,
    /// What happened to each block.
    pub changes: Vec<BlockChange>,
    /// Blocks that were pinned, unpinned, selected or let go.
    pub marks: Vec<BlockNumber>,
    /// Rows that were added.
    pub rows_added: usize,
    /// Blocks that were left alone, by reason.
    pub kept: Vec<(&'static str, Vec<BlockNumber>)>,
    /// Tokens of the window before.
    pub tokens_before: f64,
    /// Tokens of the window after.
    pub tokens_after: f64,
    /// Thinking blocks that are no longer sent, because what stands before them changed.
    pub thinking_dropped: u32,
    /// What the edit costs and saves; none where the window stays what it is.
    pub price: Option<EditPrice>,
    /// What else there is to say.
    pub notes: Vec<String>,
    /// What the model would see differently, for a look ahead.
    pub differences: Vec<BlockDifference>,
}

impl ChangeReport {
    /// Tokens that the model no longer receives; negative when it receives more.
    pub fn saved(&self) -> f64 {
        self.tokens_before - self.tokens_after
    }
}

impl Report for ChangeReport {
    fn schema(&self) -> &'static str {
        "aperture.change/1"
    }

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        let mut line = |line: &str| {
            text.push_str(line);
            text.push('\n');
        };
        let blocks = self.changes.len().max(self.marks.len());
        if blocks == 0 && self.rows_added == 0 {
            line("nothing to do");
        } else {
            let would = if self.dry_run { "would have " } else { "" };
            let what = match &self.what {
                Some(what) => what.clone(),
                None if blocks == 1 => "1 block".to_owned(),
                None => format!("{blocks} blocks"),
            };
            line(&style.paint(Paint::Heading, &format!("{would}{} {what}", self.verb)));
        }
        for change in self.changes.iter().take(LISTED) {
            let (before, after) = (amount(change.tokens_before.round() as u64), amount(change.tokens_after.round() as u64));
            let level = format!("{} → {}", change.level_before.name(), change.level_after.name());
            let label = clip(&change.label, style.width.saturating_sub(48));
            line(&format!("  {:>6}  {label}  {level}  {before} → {after}", format!("#{}", change.number)));
        }
        for (why, blocks) in &self.kept {
            line(&format!("  left alone: {} ({why})", blocks.len()));
        }
        if let Some(price) = &self.price {
            price_lines(price).iter().for_each(|text| line(text));
        }
        if self.thinking_dropped > 0 {
            let (count, plural) = (self.thinking_dropped, if self.thinking_dropped == 1 { "block" } else { "blocks" });
            line(&format!("{count} thinking {plural} after the first change no longer fit and are not sent"));
        }
        for note in &self.notes {
            line(note);
        }
        if let Some(operation) = self.operation {
            line(&style.paint(Paint::Dim, &format!("operation {operation}; aperture undo takes it back")));
        }
        if !self.differences.is_empty() {
            let report = DiffReport {
                from: "now".to_owned(),
                to: format!("as it would be {}", self.verb),
                blocks: self.differences.clone(),
                tokens_before: TokenCount { value: self.tokens_before, basis: Basis::Calibrated },
                tokens_after: TokenCount { value: self.tokens_after, basis: Basis::Calibrated },
                stat: false,
                full: false,
            };
            text.push('\n');
            text.push_str(&report.text(style));
        }
        text
    }
}
