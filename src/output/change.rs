use super::{
    DiffReport, Paint, Report, Style, amount, bytes, clip, numbered, padded, percent, plural, price_lines, tokens, unit,
};
use crate::engine::diff::BlockDifference;
use crate::engine::{ChangeGroup, EditPrice};
use crate::model::{
    As, Basis, BlockChange, BlockNumber, Estimated, Level, Operation, OperationId, OperationKind, SkipReason, TokenCount,
    UnneededData, json_forms,
};
use crate::text::shell::quoted_word;
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

/// Maximum number of changes that are listed individually.
const LISTED: usize = 12;
/// Maximum number of skipped blocks that are listed individually.
const FEW: usize = 4;
/// Minimum number of columns for the name of a block, on any terminal.
const NARROWEST: usize = 12;

/// Maximum number of groups that a dry run lists.
const GROUPS: usize = 14;
/// Maximum number of lines of a difference that a dry run shows unless more is requested.
const SHORT_DIFFERENCE: usize = 20;

/// The detail of a dry run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChangeDetail {
    /// A table: few blocks one by one, many by kind and reason; and the difference if it is short.
    #[default]
    Table,
    /// One line for each block, the largest first.
    Stat,
    Full,
}

/// A block that was pinned or selected.
#[derive(Clone, Debug)]
pub struct MarkedBlock {
    pub number: BlockNumber,
    pub label: String,
    pub tokens: TokenCount,
}

json_forms! {
    /// A changed block.
    #[schemars(rename = "BlockChange")]
    ChangedBlock of change: BlockChange {
        number: BlockNumber = change.number,
        /// Short description.
        label: String = change.label.clone(),
        level_before: Level = change.level_before,
        level_after: Level = change.level_after,
        tokens_before: Estimated = Estimated::json_of(&change.tokens_before),
        tokens_after: Estimated = Estimated::json_of(&change.tokens_after),
        /// Reason given by the user; may be empty.
        reason: String = change.reason.clone(),
        /// True if credentials were removed from the block.
        redacted: bool = change.redacted,
        /// True if the content before names credentials, which stay masked in the whole session.
        named_credentials: bool = change.named_credentials,
    }

    /// Blocks that a change skipped for one reason.
    SkippedBlocks of skipped: (&'static str, Vec<BlockNumber>) {
        reason: &'static str = skipped.0,
        blocks: Vec<BlockNumber> = skipped.1.clone(),
    }
}

/// A change of a session, or its dry run.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Change")]
pub struct ChangeReport {
    pub session: String,
    /// Operation in the log; null if nothing was written, or if it cannot be undone.
    pub operation: Option<OperationId>,
    /// Kind of the operation.
    pub kind: OperationKind,
    /// True if this is a dry run.
    pub dry_run: bool,
    /// Action in one word, such as `archived`.
    pub verb: &'static str,
    /// Object of the action, if it is not blocks.
    pub what: Option<String>,
    /// Changed blocks.
    #[serde(with = "As::<Vec<ChangedBlock>>")]
    pub changes: Vec<BlockChange>,
    /// Changed blocks by kind and reason, those with the largest effect first.
    pub groups: Vec<ChangeGroup>,
    /// Blocks that were pinned or focused.
    pub marks: Vec<BlockNumber>,
    /// Blocks that were unpinned or unfocused.
    pub unmarked: Vec<BlockNumber>,
    /// Number of replaced values in the file, added and removed rows included.
    pub edits: usize,
    pub rows_added: usize,
    pub rows_removed: usize,
    /// Blocks that were not changed, by reason.
    #[serde(with = "As::<Vec<SkippedBlocks>>")]
    pub skipped: Vec<(&'static str, Vec<BlockNumber>)>,
    /// Tokens of the window before.
    #[serde(with = "As::<Estimated>")]
    pub tokens_before: f64,
    /// Tokens of the window after.
    #[serde(with = "As::<Estimated>")]
    pub tokens_after: f64,
    /// Number of thinking blocks that are no longer sent: of earlier turns, or bound to content that changed.
    pub thinking_dropped: u32,
    /// Tokens of these blocks.
    #[serde(with = "As::<Estimated>")]
    pub thinking_dropped_tokens: f64,
    /// Number of thinking blocks of these that were folded with their turns.
    #[serde(skip)]
    pub thinking_folded: u32,
    /// True if the API refuses thinking after the content before it changed.
    #[serde(skip)]
    pub binds_thinking: bool,
    /// Number of thinking blocks that are sent again, because the content before them is restored.
    pub thinking_restored: u32,
    /// Tokens of these blocks.
    #[serde(with = "As::<Estimated>")]
    pub thinking_restored_tokens: f64,
    /// Cost and savings; null if the window does not change.
    pub price: Option<EditPrice>,
    /// True if the usage of a response is rewritten in the file, where the agent program reads how full the window is.
    pub bills_changed: bool,
    /// True if nothing was changed because it would save under 1 % of the window; `--force` changes it.
    pub withheld: bool,
    /// Length of the file before, in bytes; 0 if the change is not in the file yet.
    pub file_bytes: u64,
    /// Data that left the file although the window stays the same; only `aperture shrink` removes any.
    pub removed: UnneededData,
    /// Remarks for a person, one sentence each.
    pub notes: Vec<String>,
    /// Differences in the content for the model, for a dry run.
    pub differences: Vec<BlockDifference>,
    /// The shortest name that selects it.
    #[serde(skip)]
    pub named: String,
    /// The blocks that were pinned or focused with their names; if there are none, those that were unpinned or unfocused.
    #[serde(skip)]
    pub marked: Vec<MarkedBlock>,
    /// The changed files beside the session.
    #[serde(skip)]
    pub companions: usize,
    /// True if the store has no operation of any session yet.
    #[serde(skip)]
    pub is_first: bool,
    /// True if an operation of which nothing is left is inverted: only the log changes.
    #[serde(skip)]
    pub is_of_log: bool,
    /// The detail of a dry run.
    #[serde(skip)]
    pub detail: ChangeDetail,
}

impl ChangeReport {
    /// Returns the report of an undo of an operation that was not yet written to the file.
    pub fn dropped(session: String, named: String, operation: &Operation) -> ChangeReport {
        ChangeReport {
            session,
            named,
            kind: OperationKind::Undo,
            verb: "undone",
            what: Some(format!("operation {} ({})", operation.id, operation.command)),
            edits: operation.edits.len(),
            tokens_before: operation.tokens_after,
            tokens_after: operation.tokens_before,
            notes: vec!["the file did not have it yet".to_owned()],
            ..ChangeReport::default()
        }
    }

    /// Returns the tokens that the model no longer receives. Negative if it receives more.
    pub fn saved(&self) -> f64 {
        self.tokens_before - self.tokens_after
    }

    /// Returns the report if the change is not made, because it would save too little.
    pub fn withheld(self) -> ChangeReport {
        let share = percent(self.saved().max(0.0) / self.tokens_before.max(1.0));
        let saved = unit(&amount(self.saved().max(0.0).round() as u64), "token");
        ChangeReport {
            session: self.session,
            named: self.named,
            kind: self.kind,
            dry_run: self.dry_run,
            verb: self.verb,
            what: self.what,
            tokens_before: self.tokens_before,
            tokens_after: self.tokens_before,
            withheld: true,
            notes: vec![format!("it would save {saved}, {share} of the window; to do it anyway: --force")],
            detail: self.detail,
            file_bytes: self.file_bytes,
            ..ChangeReport::default()
        }
    }

    pub fn is_nothing(&self) -> bool {
        !self.is_of_log && self.edits == 0 && self.marks.is_empty() && self.unmarked.is_empty() && self.companions == 0
    }

    /// Returns a summary on one line: `3 blocks archived, −4.2k tokens; skipped #12 (pinned)`.
    pub fn in_short(&self) -> String {
        let mut text = if self.is_nothing() { self.nothing() } else { format!("{} {}", self.object(), self.verb) };
        let saved = self.saved().round();
        if saved != 0.0 {
            let sign = if saved > 0.0 { '−' } else { '+' };
            text.push_str(&format!(", {sign}{}", unit(&amount(saved.abs() as u64), "token")));
        }
        for (why, blocks) in self.other_skips() {
            text.push_str(&format!("; skipped {} ({})", numbered(blocks, FEW), self.why(why)));
        }
        text
    }

    /// Returns that there is nothing to do, and why: by the first note, or because the blocks have their state already.
    fn nothing(&self) -> String {
        let is = |blocks: &[BlockNumber]| if blocks.len() == 1 { "is" } else { "are" };
        let same = self.same().map(|blocks| format!("{} {} already {}", named(blocks), is(blocks), self.verb));
        match self.notes.first().cloned().or(same) {
            Some(why) => format!("nothing to do: {why}"),
            None => "nothing to do".to_owned(),
        }
    }

    /// Returns the skipped blocks that [`ChangeReport::nothing`] names: they have the state that was asked for.
    fn same(&self) -> Option<&[BlockNumber]> {
        let same = self.skipped.iter().find(|(why, _)| *why == SkipReason::AsItIs.reason());
        same.map(|(_, blocks)| blocks.as_slice()).filter(|_| self.is_nothing() && self.notes.is_empty())
    }

    /// Returns the other skipped blocks, with the reason.
    fn other_skips(&self) -> impl Iterator<Item = (&'static str, &[BlockNumber])> {
        let is_named = self.same().is_some();
        let skipped = self.skipped.iter().map(|(why, blocks)| (*why, blocks.as_slice()));
        skipped.filter(move |(why, _)| !is_named || *why != SkipReason::AsItIs.reason())
    }

    /// Returns why blocks were skipped, in terms of this change.
    fn why(&self, reason: &'static str) -> String {
        if reason == SkipReason::AsItIs.reason() { format!("already {}", self.verb) } else { reason.to_owned() }
    }

    /// Returns the object of the change: a number of blocks, or another object.
    pub fn object(&self) -> String {
        let marked = if self.marks.is_empty() { &self.unmarked } else { &self.marks };
        self.what.clone().unwrap_or_else(|| plural(self.changes.len().max(marked.len()), "block"))
    }
}

impl Report for ChangeReport {
    const SCHEMA: &str = "aperture.change/2";

    fn text(&self, style: &Style) -> String {
        let mut text = String::new();
        let mut line = |line: &str| {
            text.push_str(line);
            text.push('\n');
        };
        let nothing = self.is_nothing();
        if nothing {
            line(&self.nothing());
        } else {
            let would = if self.dry_run { "would be " } else { "" };
            let heading = format!("{} {would}{}", self.object(), self.verb);
            line(&style.paint(Paint::Heading, &clip(&heading, style.width)));
        }
        self.table(style).iter().for_each(|row| line(row));
        self.removed_lines().iter().for_each(|row| line(row));
        let digits = self.marked.iter().map(|block| block.number.to_string().len()).max().unwrap_or_default();
        for block in self.marked.iter().take(LISTED) {
            let (number, size) = (format!("#{}", block.number), tokens(block.tokens));
            let room = style.width.saturating_sub(digits + size.width() + 8).max(NARROWEST);
            line(&format!("  {number:<0$}  {1} ({size})", digits + 1, clip(&block.label, room)));
        }
        if self.marked.len() > LISTED {
            line(&format!("  … and {} more", self.marked.len() - LISTED));
        }
        if !self.unmarked.is_empty() && !self.marks.is_empty() {
            line(&format!("  cleared: {}", numbered(&self.unmarked, LISTED)));
        }
        for (why, blocks) in self.other_skips() {
            line(&format!("  skipped {} ({})", named(blocks), self.why(why)));
        }
        if let Some(price) = &self.price {
            price_lines(price).iter().for_each(|text| line(text));
        }
        if self.thinking_dropped > 0 {
            let are = if self.thinking_dropped == 1 { "is" } else { "are" };
            line(&format!("{} {are} no longer sent:", thinking(self.thinking_dropped, self.thinking_dropped_tokens)));
            let others = match self.binds_thinking {
                true => "the model binds thinking to everything before it",
                false => "of turns before the last, and billed with each request",
            };
            line(&match self.thinking_folded {
                0 => format!("  {others}"),
                folded if folded == self.thinking_dropped => "  of the folded blocks".to_owned(),
                folded => format!("  {folded} of the folded blocks; the others: {others}"),
            });
        }
        if self.thinking_restored > 0 {
            let are = if self.thinking_restored == 1 { "is" } else { "are" };
            line(&format!("{} {are} sent again", thinking(self.thinking_restored, self.thinking_restored_tokens)));
        }
        if self.bills_changed && self.is_first {
            line(
                "the client will show the new fill level; programs that add up bills (ccusage) count less for the last response",
            );
        }
        for note in self.notes.iter().skip(usize::from(nothing)) {
            line(note);
        }
        if let Some(operation) = self.operation {
            let back = if self.kind == OperationKind::Undo { "redo" } else { "undo" };
            line(&style.paint(
                Paint::Dim,
                &format!("operation {operation}; to revert: aperture {back} -s {}", quoted_word(&self.named)),
            ));
        } else if self.dry_run && !nothing {
            line(&style.paint(Paint::Dim, "nothing was written: this is a dry run"));
        }
        text.push_str(&self.difference(style));
        text
    }
}

/// Returns a few blocks by their numbers, or the number of more.
fn named(blocks: &[BlockNumber]) -> String {
    if blocks.len() > FEW { plural(blocks.len(), "block") } else { numbered(blocks, FEW) }
}

impl ChangeReport {
    fn removed_lines(&self) -> Vec<String> {
        let UnneededData { compacted_rows, display_copies, file_snapshots, request_records } = self.removed;
        let gone = self.removed.bytes();
        if gone == 0 {
            return Vec::new();
        }
        let mut lines = vec![format!("file      {} → {}", bytes(self.file_bytes), bytes(self.file_bytes.saturating_sub(gone)))];
        for (name, unit, amount) in [
            ("before the last compaction", "row", compacted_rows),
            ("file snapshots for /rewind to before it", "row", file_snapshots),
            ("records of requests before it", "row", request_records),
            ("long texts in the copies of results for the screen", "result", display_copies),
        ] {
            if amount.count > 0 {
                lines.push(format!("  {:>8}  {name}, {}", bytes(amount.bytes), plural(amount.count, unit)));
            }
        }
        lines.push("the next request stays the same; aperture's store keeps what left the file".to_owned());
        if compacted_rows.count > 0 {
            lines.push("until an undo, uncompact, show, recall, memory learn, /rewind and programs that".to_owned());
            lines.push("  add up bills, such as ccusage, find only prompts and last answers before it".to_owned());
        }
        if display_copies.count > 0 {
            lines.push("until an undo, the client's screen shows these results without their long texts".to_owned());
        }
        lines
    }

    fn table(&self, style: &Style) -> Vec<String> {
        let many = self.changes.len() > LISTED;
        match self.detail {
            ChangeDetail::Stat if self.dry_run && !self.differences.is_empty() => Vec::new(),
            ChangeDetail::Table if self.dry_run && many => groups(&self.groups, style),
            _ => rows(&self.changes, style.width),
        }
    }

    /// Returns the difference after the other lines of a dry run, or how to see it.
    fn difference(&self, style: &Style) -> String {
        if self.differences.is_empty() {
            return String::new();
        }
        let stat = self.detail == ChangeDetail::Stat;
        let mut blocks = self.differences.clone();
        if stat {
            let change = |block: &BlockDifference| (block.tokens_before.value - block.tokens_after.value).abs();
            blocks.sort_by(|a, b| change(b).total_cmp(&change(a)));
        }
        let report = DiffReport {
            from: "now".to_owned(),
            to: "after this change".to_owned(),
            blocks,
            tokens_before: TokenCount { value: self.tokens_before, basis: Basis::Calibrated },
            tokens_after: TokenCount { value: self.tokens_after, basis: Basis::Calibrated },
            stat,
            full: self.detail == ChangeDetail::Full,
        };
        // The text of a difference that is not printed takes as long as all else.
        let many = self.detail == ChangeDetail::Table && report.blocks.len() > FEW;
        let text = if many { None } else { Some(report.text(style)) };
        match text.filter(|text| self.detail != ChangeDetail::Table || text.lines().count() <= SHORT_DIFFERENCE) {
            Some(text) => format!("\n{text}"),
            None => {
                let hint = "each block: --stat; the whole difference: --full";
                style.paint(Paint::Dim, &clip(hint, style.width)) + "\n"
            }
        }
    }
}

/// Returns the groups as rows of aligned columns, with their sum.
fn groups(groups: &[ChangeGroup], style: &Style) -> Vec<String> {
    let sum = |groups: &[ChangeGroup], kind: String| {
        groups.iter().fold(ChangeGroup { kind, ..ChangeGroup::default() }, |sum, group| ChangeGroup {
            blocks: sum.blocks + group.blocks,
            tokens_before: sum.tokens_before + group.tokens_before,
            tokens_after: sum.tokens_after + group.tokens_after,
            ..sum
        })
    };
    let listed = if groups.len() > GROUPS { GROUPS - 1 } else { groups.len() };
    let rest = &groups[listed..];
    let mut lines: Vec<ChangeGroup> = groups[..listed].to_vec();
    if !rest.is_empty() {
        lines.push(sum(rest, plural(rest.len(), "more group")));
    }
    lines.push(sum(groups, "total".to_owned()));
    let tokens = |value: f64| amount(value.abs().round() as u64);
    let saved = |group: &ChangeGroup| {
        let sign = if group.saved() < 0.0 { "+" } else { "−" };
        format!("{sign}{}", tokens(group.saved()))
    };
    let cells = lines.iter().map(|group| {
        let window = format!("{} → {}", tokens(group.tokens_before), tokens(group.tokens_after));
        [group.kind.clone(), group.reason.to_owned(), group.blocks.to_string(), window, saved(group)]
    });
    let heading = ["KIND", "REASON", "BLOCKS", "TOKENS", "CHANGE"].map(str::to_owned);
    let cells: Vec<[String; 5]> = std::iter::once(heading).chain(cells).collect();
    let widest = |column: usize| cells.iter().map(|cells| cells[column].width()).max().unwrap_or_default();
    let (blocks, window, change) = (widest(2), widest(3), widest(4));
    // Restored blocks have no reason.
    let has_reasons = groups.iter().any(|group| !group.reason.is_empty());
    let reason = if has_reasons { widest(1) + 2 } else { 0 };
    let kind = widest(0).min(style.width.saturating_sub(reason + blocks + window + change + 8).max(NARROWEST));
    let last = cells.len() - 1;
    let line = |(at, [name, why, number, tokens, saved]): (usize, &[String; 5])| {
        let why = if has_reasons { format!("  {}", padded(why, reason - 2)) } else { String::new() };
        let name = padded(&clip(name, kind), kind);
        let line = format!("  {name}{why}  {number:>blocks$}  {tokens:>window$}  {saved:>change$}");
        match at {
            0 => style.paint(Paint::Dim, &line),
            at if at == last => style.paint(Paint::Heading, &line),
            _ => line,
        }
    };
    cells.iter().enumerate().map(line).collect()
}

/// Formats a number of thinking blocks and their tokens: `3 thinking blocks (1.2k tokens)`.
fn thinking(blocks: u32, tokens: f64) -> String {
    let tokens = unit(&amount(tokens.round() as u64), "token");
    format!("{} ({tokens})", plural(blocks as usize, "thinking block"))
}

/// Returns the first changes as rows of aligned columns: number, name, levels, tokens.
fn rows(changes: &[BlockChange], width: usize) -> Vec<String> {
    let cells: Vec<[String; 5]> = changes
        .iter()
        .take(LISTED)
        .map(|change| {
            let levels = match (change.level_before, change.level_after) {
                _ if change.redacted => "redacted".to_owned(),
                (Level::Original, Level::Original) => "other text".to_owned(),
                (before, after) if before == after => after.name().to_owned(),
                (before, after) => format!("{} → {}", before.name(), after.name()),
            };
            let tokens = |value: f64| amount(value.round() as u64);
            let (before, after) = (tokens(change.tokens_before), tokens(change.tokens_after));
            [format!("#{}", change.number), change.label.clone(), levels, before, after]
        })
        .collect();
    let widest = |column: usize| cells.iter().map(|cells| cells[column].width()).max().unwrap_or_default();
    let (number, levels, before, after) = (widest(0), widest(2), widest(3), widest(4));
    // Two columns before each cell, and the arrow between the figures.
    let others = 2 + number + 2 + 2 + levels + 2 + before + 3 + after;
    let label = widest(1).min(width.saturating_sub(others).max(NARROWEST));
    let mut rows: Vec<String> = cells
        .iter()
        .map(|[id, name, change, old, new]| {
            let (name, change) = (padded(&clip(name, label), label), padded(change, levels));
            format!("  {id:>number$}  {name}  {change}  {old:>before$} → {new:>after$}")
        })
        .collect();
    let more = changes.len().saturating_sub(LISTED);
    if more > 0 {
        rows.push(format!("  … and {more} more"));
    }
    rows
}
