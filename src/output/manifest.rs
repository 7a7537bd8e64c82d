use super::{Report, Style, clip, plural, printable, tokens, unit};
use crate::engine::tokens::estimate;
use crate::engine::{Entry, Manifest, ZoneSummary};
use crate::model::limits::{DETAILED_TIER_TOKENS, SUMMARY_TIER_TOKENS};
use crate::model::{Level, Pin, TokenCount, Zone};

/// The level of detail of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Tier {
    /// At most 200 tokens: fill level, current task, suggestions.
    Summary,
    /// At most 500 tokens: zones, topics, the largest stale blocks.
    Detailed,
    /// Everything, without a limit.
    Full,
}

impl Tier {
    /// Returns the maximum number of entries of each list.
    pub fn listed(self) -> usize {
        if self == Tier::Full { usize::MAX } else { LISTED }
    }

    /// Returns the token limit. `None` if there is no limit.
    pub fn limit(self) -> Option<usize> {
        match self {
            Tier::Summary => Some(SUMMARY_TIER_TOKENS),
            Tier::Detailed => Some(DETAILED_TIER_TOKENS),
            Tier::Full => None,
        }
    }
}

/// The context manifest.
#[derive(Clone, Debug)]
pub struct ManifestReport {
    /// The level of detail.
    pub tier: Tier,
    /// The token limit, if there is one.
    pub max_tokens: Option<usize>,
    /// The manifest data.
    pub manifest: Manifest,
}

/// Maximum number of entries of a list if there is a limit.
const LISTED: usize = 12;

/// A line and its rank. If there is not enough space, the line with the highest rank is omitted first.
struct Line(u8, String);

impl Report for ManifestReport {
    const SCHEMA: &str = "aperture.manifest/2";

    fn text(&self, _: &Style) -> String {
        // Shortens the lists first, then omits lines.
        let (fewest, most) = match self.tier {
            Tier::Summary => (1, 4),
            Tier::Detailed => (2, 8),
            Tier::Full => (2, usize::MAX),
        };
        let lines = |listed| if self.tier == Tier::Summary { self.short(listed) } else { self.long(listed) };
        let lines = match self.max_tokens.or(self.tier.limit()) {
            None => lines(most),
            Some(limit) => {
                let fitting = (fewest..=most.min(LISTED)).rev().map(lines).find(|lines| cost(lines) <= limit as f64);
                fitting.unwrap_or_else(|| {
                    let mut lines = lines(fewest);
                    fit(&mut lines, limit);
                    lines
                })
            }
        };
        lines.into_iter().map(|Line(_, text)| text + "\n").collect()
    }
}

impl ManifestReport {
    fn header(&self) -> Line {
        let manifest = &self.manifest;
        let capacity = super::amount(manifest.capacity.tokens);
        let (blocks, used) = (plural(manifest.blocks as usize, "block"), tokens(manifest.tokens));
        Line(0, format!("[CONTEXT MANIFEST — {blocks}, {used}/{capacity} tokens, {:.0}% capacity]", manifest.percent))
    }

    fn budget(&self) -> Line {
        let manifest = &self.manifest;
        let mut text = format!("BUDGET: {} remaining", unit(&super::amount(manifest.remaining), "token"));
        match manifest.stale_blocks {
            0 => text.push_str(" — nothing is stale"),
            1 => text.push_str(&format!(" — 1 stale block holds {}", tokens(manifest.stale_tokens))),
            count => text.push_str(&format!(" — {count} stale blocks hold {}", tokens(manifest.stale_tokens))),
        }
        Line(0, text)
    }

    /// Returns suggested commands: shorten stale blocks, expand shortened blocks.
    fn suggestions(&self) -> Vec<Line> {
        let manifest = &self.manifest;
        let mut lines = Vec::new();
        for (place, suggestion) in manifest.suggestions.iter().enumerate() {
            let text = format!("  - {} ({})", printable(&suggestion.command), super::advice::effect(suggestion));
            lines.push(Line(if place == 0 { 2 } else { 5 }, text));
        }
        if manifest.expandable > 0 {
            let blocks = if manifest.expandable == 1 { "block" } else { "blocks" };
            lines.push(Line(3, format!("  - safe to expand ~{} shortened {blocks}", manifest.expandable)));
        }
        if !manifest.changed_elsewhere.is_empty() {
            lines.push(Line(2, format!("  - changed by another program: {}", numbers(&manifest.changed_elsewhere))));
        }
        if !manifest.pinned_outside.is_empty() {
            lines.push(Line(2, format!("  - pinned, and not in the window: {}", numbers(&manifest.pinned_outside))));
        }
        lines
    }

    /// Lists the blocks that become stale in the next turn, so that the model can pin those it still needs.
    fn expiring(&self, listed: usize, rank: u8) -> Option<Line> {
        let manifest = &self.manifest;
        let more = (manifest.expiring_blocks as usize).saturating_sub(listed);
        if manifest.expiring.is_empty() {
            return None;
        }
        let more =
            if more > 0 { format!(" and {more} more, {} in all", tokens(manifest.expiring_tokens)) } else { String::new() };
        let blocks = entries_with_tokens(&manifest.expiring, listed);
        Some(Line(rank, format!("Expiring next turn: {blocks}{more} — pin to keep")))
    }

    /// Counts the blocks in each state.
    fn states(&self) -> Line {
        let states = self.manifest.states.iter().map(|(state, count)| format!("{count} {}", state.name()));
        Line(5, format!("States: {}", states.collect::<Vec<_>>().join(", ")))
    }

    fn archived(&self, listed: usize) -> Vec<Line> {
        let manifest = &self.manifest;
        let mut lines = Vec::new();
        if manifest.archived.is_empty() {
            return lines;
        }
        let blocks: u32 = manifest.archived.iter().map(|run| run.blocks).sum();
        let tokens: f64 = manifest.archived.iter().map(|run| run.tokens).sum();
        let amount = |tokens: f64| super::amount(tokens.round() as u64);
        lines.push(Line(0, String::new()));
        let (blocks, tokens) = (plural(blocks as usize, "block"), unit(&amount(tokens), "token"));
        lines.push(Line(0, format!("ARCHIVED ({blocks}, {tokens}; @recall(N) restores one):")));
        for (place, run) in manifest.archived.iter().take(listed).enumerate() {
            let range = if run.first == run.last { format!("#{}", run.first) } else { format!("#{}..{}", run.first, run.last) };
            let mut text = format!("  - {range}: {} archived, {}", run.blocks, amount(run.tokens));
            if !run.reasons.is_empty() {
                text.push_str(&format!(" ({})", clip(&run.reasons.join("; "), 60)));
            }
            if run.thinking > 0 {
                text.push_str(&format!(", {} kept", plural(run.thinking as usize, "thinking signature")));
            }
            lines.push(Line(if place < 2 { 3 } else { 6 }, text));
        }
        lines
    }

    fn short(&self, listed: usize) -> Vec<Line> {
        let manifest = &self.manifest;
        let zones: Vec<String> = manifest
            .zones
            .iter()
            .filter(|zone| zone.blocks > 0)
            .map(|zone| {
                let cost = if zone.zone == Zone::Cold { String::new() } else { format!(", {}", tokens(self.zone_tokens(zone))) };
                format!("{} {}{cost}", zone.zone.name().to_uppercase(), zone.blocks)
            })
            .collect();
        let mut lines = vec![self.header(), Line(2, zones.join(" | "))];
        if let Some(task) = &manifest.current_task {
            lines.push(Line(1, format!("Current task: \"{}\"", clip(task, 60))));
        }
        if !manifest.topics.is_empty() {
            lines.push(Line(4, format!("Topics: {}", joined(&manifest.topics, listed))));
        }
        if !manifest.focused.is_empty() {
            lines.push(Line(1, format!("User-selected: {}", entries(&manifest.focused, 4))));
        }
        if !manifest.stale.is_empty() {
            lines.push(Line(3, format!("Stale: {}", entries_with_tokens(&manifest.stale, listed))));
        }
        if !manifest.archived.is_empty() {
            let blocks: u32 = manifest.archived.iter().map(|run| run.blocks).sum();
            lines.push(Line(3, format!("Archived: {}; @recall(N)", plural(blocks as usize, "block"))));
        }
        lines.extend(self.expiring(listed.min(2), 5));
        lines.push(self.budget());
        lines.extend(self.suggestions().into_iter().take(1));
        lines
    }

    fn long(&self, listed: usize) -> Vec<Line> {
        let manifest = &self.manifest;
        let mut lines = vec![self.header()];
        let mut cold = None;
        for zone in &manifest.zones {
            lines.push(Line(0, String::new()));
            match zone.zone {
                Zone::Primacy => lines.extend(self.primacy(zone, listed)),
                Zone::Middle => lines.extend(self.middle(zone, listed)),
                Zone::Recency => lines.extend(self.recency(zone, listed)),
                Zone::Cold if zone.blocks > 0 => {
                    // Archived blocks are still in the window, so their line precedes the empty line above.
                    cold = Some(lines.len() - 1);
                    lines.extend(self.cold(zone, listed));
                }
                Zone::Cold => drop(lines.pop()),
            }
        }
        let cold = cold.unwrap_or(lines.len());
        lines.splice(cold..cold, self.archived(listed));
        lines.push(Line(0, String::new()));
        lines.push(self.states());
        lines.extend(self.expiring(listed.min(4), 3));
        lines.push(self.budget());
        lines.extend(self.suggestions());
        lines
    }

    /// Lists the start of the window, with what the client sends before the file's blocks.
    fn primacy(&self, zone: &ZoneSummary, listed: usize) -> Vec<Line> {
        let manifest = &self.manifest;
        let pinned = if manifest.primacy.iter().any(|entry| entry.pin.is_some()) { ", pinned" } else { "" };
        let mut lines = vec![Line(0, zone_title(zone, self.zone_tokens(zone), pinned))];
        if manifest.outside.round() > 0 {
            let what = if manifest.lost { "System prompt, tools, lost messages" } else { "System prompt and tools" };
            lines.push(Line(1, format!("  - {what} ({}) [not in the file]", tokens(manifest.outside))));
        }
        for (place, entry) in manifest.primacy.iter().take(listed).enumerate() {
            lines.push(Line(if place < 2 { 4 } else { 7 }, entry_line("", entry)));
        }
        lines
    }

    /// Lists the middle of the window: what can be shortened.
    fn middle(&self, zone: &ZoneSummary, listed: usize) -> Vec<Line> {
        let manifest = &self.manifest;
        let mut lines = vec![Line(0, zone_title(zone, zone.tokens, "")), Line(2, format!("  - {}", spoken(zone)))];
        if !zone.compressed.is_empty() {
            let level =
                |(level, count): &(Level, u32)| format!("{} compressed ({})", plural(*count as usize, "block"), level.name());
            lines.push(Line(2, format!("  - {}", zone.compressed.iter().map(level).collect::<Vec<_>>().join(", "))));
        }
        if !manifest.topics.is_empty() {
            lines.push(Line(2, format!("  - Topics: {}", joined(&manifest.topics, listed))));
        }
        let stale = manifest.stale.iter().filter(|entry| entry.zone == Zone::Middle);
        for (place, entry) in stale.take(listed).enumerate() {
            let reason = entry.reason.as_deref().map(|reason| format!(", {reason}")).unwrap_or_default();
            let text = format!("  - Stale: #{} {} ({}{reason})", entry.number, clip(&entry.label, 48), tokens(entry.tokens));
            lines.push(Line(if place < 3 { 3 } else { 6 }, text));
        }
        let large = manifest.middle.iter().filter(|entry| entry.reason.is_none());
        for (place, entry) in large.take(if listed > 6 { listed } else { 3 }).enumerate() {
            lines.push(Line(if place == 0 { 4 } else { 7 }, entry_line("Large: ", entry)));
        }
        lines
    }

    /// Lists the end of the window: the current work.
    fn recency(&self, zone: &ZoneSummary, listed: usize) -> Vec<Line> {
        let manifest = &self.manifest;
        let mut lines = vec![Line(0, zone_title(zone, zone.tokens, ""))];
        if let Some(task) = &manifest.current_task {
            lines.push(Line(1, format!("  - Current task: \"{}\"", clip(task, 100))));
        }
        if !manifest.focused.is_empty() {
            lines.push(Line(1, format!("  - User-selected blocks: {}", entries(&manifest.focused, listed))));
        }
        for (place, entry) in manifest.recent.iter().take(listed.min(4)).enumerate() {
            lines.push(Line(if place < 1 { 5 } else { 8 }, entry_line("", entry)));
        }
        lines
    }

    /// Counts the blocks that are not in the window.
    fn cold(&self, zone: &ZoneSummary, listed: usize) -> Vec<Line> {
        let manifest = &self.manifest;
        let (blocks, places) = (plural(zone.blocks as usize, "block"), super::format::hidden(&manifest.hidden));
        let mut lines = vec![Line(0, format!("COLD STORAGE ({blocks} not in the window: {places})"))];
        if !manifest.cold_topics.is_empty() {
            lines.push(Line(3, format!("  - Earlier conversation: {}", joined(&manifest.cold_topics, listed))));
        }
        lines
    }

    /// Returns the tokens of a zone. The start of the window includes the tokens that are not in the file.
    fn zone_tokens(&self, zone: &ZoneSummary) -> TokenCount {
        if zone.zone == Zone::Primacy { zone.tokens + self.manifest.outside } else { zone.tokens }
    }
}

/// Returns the title of a zone with its size.
fn zone_title(zone: &ZoneSummary, total: TokenCount, pinned: &str) -> String {
    let (name, blocks) = (zone.zone.name().to_uppercase(), plural(zone.blocks as usize, "block"));
    format!("{name} ({blocks}, {}{pinned}):", unit(&tokens(total), "token"))
}

/// Returns the line of one block in a zone.
fn entry_line(kind: &str, entry: &Entry) -> String {
    format!("  - {kind}#{} {} ({}){}", entry.number, clip(&entry.label, 48), tokens(entry.tokens), pin(entry))
}

/// Returns the estimated tokens of all lines, rounded up.
fn cost(lines: &[Line]) -> f64 {
    lines.iter().map(|Line(_, text)| estimate(text) + 1.0).sum()
}

/// Omits the least important lines until the rest is within the limit, then truncates.
fn fit(lines: &mut Vec<Line>, limit: usize) {
    while cost(lines) > limit as f64 {
        let Some(worst) = lines.iter().map(|Line(rank, _)| *rank).max().filter(|rank| *rank > 0) else { break };
        if let Some(place) = lines.iter().rposition(|Line(rank, _)| *rank == worst) {
            lines.remove(place);
        }
    }
    // Removes headings without content, then lines from the end.
    while cost(lines) > limit as f64 && lines.len() > 1 {
        let place = if lines.len() > 2 { lines.len() - 2 } else { 1 };
        lines.remove(place);
    }
}

fn numbers(blocks: &[u32]) -> String {
    const LISTED: usize = 6;
    let more = if blocks.len() > LISTED { ", …" } else { "" };
    blocks.iter().take(LISTED).map(|number| format!("#{number}")).collect::<Vec<_>>().join(", ") + more
}

fn pin(entry: &Entry) -> &'static str {
    match entry.pin {
        Some(Pin::Here) => " [pinned]",
        Some(Pin::Top) => " [pinned:top]",
        Some(Pin::Bottom) => " [pinned:bottom]",
        None => "",
    }
}

fn spoken(zone: &ZoneSummary) -> String {
    [
        plural(zone.user_messages as usize, "user message"),
        plural(zone.responses as usize, "assistant response"),
        plural(zone.tool_results as usize, "tool result"),
    ]
    .join(", ")
}

fn joined(names: &[String], most: usize) -> String {
    printable(&names.iter().take(most).cloned().collect::<Vec<_>>().join(", ")).into_owned()
}

fn entries(entries: &[Entry], most: usize) -> String {
    entries
        .iter()
        .take(most)
        .map(|entry| format!("#{} ({})", entry.number, clip(&entry.label, 30)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn entries_with_tokens(entries: &[Entry], most: usize) -> String {
    let shown = entries.iter().take(most);
    shown
        .map(|entry| format!("#{} {} {}", entry.number, clip(&entry.label, 30), tokens(entry.tokens)))
        .collect::<Vec<_>>()
        .join(", ")
}
