use super::file_list::file_list;
use crate::engine::tokens::most_tokens;
use crate::engine::{BlockSummary, Forgotten, Manifest, SuggestionKind, ZoneSummary};
use crate::model::limits::{DETAILED_TIER_TOKENS, SUMMARY_TIER_TOKENS};
use crate::model::{Level, Pin, State, TokenCount, Zone};
use crate::output::{Report, Style, advice, amount, clip, format, plural, printable, tokens, unit};
use crate::text::cut::cut;
use schemars::JsonSchema;
use serde::Serialize;

/// The level of detail of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// At most 200 tokens: fill level, current task, the most important files, suggestions.
    Summary,
    /// At most 500 tokens: rules of the user, files in work, zones, topics, the largest stale blocks.
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

/// The context manifest: the content of the window in a few hundred tokens.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ManifestReport {
    /// Level of detail.
    pub tier: Tier,
    /// Limit for the text of the manifest, if the user gave one.
    pub max_tokens: Option<usize>,
    #[serde(flatten)]
    pub manifest: Manifest,
}

/// Maximum length of a quoted rule.
const RULE_CHARACTERS: usize = 110;
const TOPIC_CHARACTERS: usize = 40;
/// Tokens from which on a block is called large.
const LARGE: f64 = 1000.0;
/// Maximum number of entries of a list if there is a limit.
const LISTED: usize = 12;
/// Maximum number of entries of the lists, and the highest rank of the lines that must be within the limit with them.
#[derive(Clone, Copy, Debug, Default)]
struct Sizes {
    listed: usize,
    /// Files with their blocks, then files of which only the name is listed.
    files: usize,
    names: usize,
    rules: usize,
    rank: u8,
}

const fn sizes(listed: usize, (files, names): (usize, usize), rules: usize, rank: u8) -> Sizes {
    Sizes { listed, files, names, rules, rank }
}

/// Sizes of the lists, from the largest. Files are the last to be omitted: of the files that the next 20 steps touch again,
/// the first 15 contain nine in ten, the first 28 nearly all.
const LONG_SIZES: &[Sizes] = &[
    sizes(8, (24, 8), 5, 9),
    sizes(6, (20, 8), 4, 9),
    sizes(5, (16, 8), 4, 6),
    sizes(4, (14, 8), 3, 5),
    sizes(4, (12, 8), 3, 4),
    sizes(3, (11, 8), 2, 4),
    sizes(2, (10, 8), 2, 3),
    sizes(2, (9, 8), 1, 3),
    sizes(1, (8, 8), 1, 3),
    sizes(1, (7, 8), 1, 3),
    sizes(1, (7, 4), 1, 3),
    sizes(1, (6, 4), 1, 2),
    sizes(1, (6, 4), 1, 1),
    sizes(1, (5, 4), 1, 1),
    sizes(1, (4, 4), 1, 1),
    sizes(1, (3, 4), 1, 1),
    sizes(1, (3, 0), 1, 1),
];
const SHORT_SIZES: &[Sizes] = &[
    sizes(4, (6, 0), 1, 9),
    sizes(3, (6, 0), 1, 3),
    sizes(2, (5, 0), 1, 2),
    sizes(1, (5, 0), 0, 2),
    sizes(1, (5, 0), 0, 1),
    sizes(1, (4, 0), 0, 1),
    sizes(1, (3, 0), 0, 1),
    sizes(1, (2, 0), 0, 1),
];

/// A line and its rank. If there is not enough space, the line with the highest rank is omitted first.
struct Line(u8, String);

impl Report for ManifestReport {
    const SCHEMA: &str = "aperture.manifest/2";

    fn text(&self, _: &Style) -> String {
        let lines = |sizes: Sizes| if self.tier == Tier::Summary { self.short(sizes) } else { self.long(sizes) };
        let lines = match self.max_tokens.or(self.tier.limit()) {
            None => lines(sizes(usize::MAX, (usize::MAX, 0), usize::MAX, u8::MAX)),
            Some(limit) => {
                // Shortens the lists first, then omits lines.
                let tried = if self.tier == Tier::Summary { SHORT_SIZES } else { LONG_SIZES };
                let model = &self.manifest.model;
                let exceeds = |sizes: &Sizes| {
                    let mut lines = lines(*sizes);
                    lines.retain(|Line(rank, _)| *rank <= sizes.rank);
                    cost(&lines, model) > limit as f64
                };
                let largest = tried.partition_point(exceeds);
                let mut lines = lines(tried.get(largest).or(tried.last()).copied().unwrap_or_default());
                fit(&mut lines, limit, model);
                lines
            }
        };
        without_empty(lines).into_iter().map(|Line(_, text)| text + "\n").collect()
    }
}

/// Leaves out the titles that no line follows, each with the empty line before it.
fn without_empty(lines: Vec<Line>) -> Vec<Line> {
    let mut kept: Vec<Line> = Vec::with_capacity(lines.len());
    let mut lines = lines.into_iter().peekable();
    while let Some(line) = lines.next() {
        let is_last = lines.peek().is_none_or(|Line(_, next)| next.is_empty());
        if is_last && line.1.ends_with("):") {
            kept.pop_if(|Line(_, before)| before.is_empty());
        } else {
            kept.push(line);
        }
    }
    kept
}

impl ManifestReport {
    fn header(&self) -> Line {
        let manifest = &self.manifest;
        let capacity = amount(manifest.capacity.tokens);
        let (blocks, used) = (plural(manifest.blocks as usize, "block"), tokens(manifest.tokens));
        Line(0, format!("[CONTEXT MANIFEST — {blocks}, {used}/{capacity} tokens, {:.0}% capacity]", manifest.percent))
    }

    fn messages(&self, rank: u8) -> Line {
        let zones = || self.manifest.zones.iter().filter(|zone| zone.zone != Zone::Cold);
        let user: u32 = zones().map(|zone| zone.user_messages).sum();
        let agent: u32 = zones().map(|zone| zone.responses).sum();
        let tools: u32 = zones().map(|zone| zone.tool_results).sum();
        Line(rank, format!("MESSAGES: user {user}, agent {agent}, tools {tools}"))
    }

    fn budget(&self) -> Line {
        let manifest = &self.manifest;
        let mut text = format!("BUDGET: {} remaining", unit(&amount(manifest.remaining_tokens), "token"));
        match manifest.stale_blocks {
            0 => text.push_str(" — nothing is stale"),
            1 => text.push_str(&format!(" — 1 stale block holds {}", tokens(manifest.stale_tokens))),
            count => text.push_str(&format!(" — {count} stale blocks hold {}", tokens(manifest.stale_tokens))),
        }
        Line(0, text)
    }

    /// Returns suggested commands: the one that makes room best, and the block to expand.
    fn suggestions(&self) -> Vec<Line> {
        let manifest = &self.manifest;
        let mut lines = Vec::new();
        let offers = manifest.suggestions.iter().enumerate();
        for (place, suggestion) in offers.filter(|(place, offer)| *place == 0 || offer.kind == SuggestionKind::Expand) {
            let text = format!("  - {} ({})", printable(&suggestion.command), advice::effect(suggestion));
            // Without it, the reader of a full window has no command.
            lines.push(Line(if place == 0 { 1 } else { 5 }, text));
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

    fn states(&self) -> Line {
        let states = self
            .manifest
            .states
            .iter()
            .map(|(state, count)| format!("{count} {}", if *state == State::Evicted { "not sent" } else { state.name() }));
        Line(6, format!("States: {}", states.collect::<Vec<_>>().join(", ")))
    }

    /// Lists the files in work, each on a line, then the names of others.
    fn files(&self, sizes: Sizes) -> Vec<Line> {
        let files = &self.manifest.files;
        let most = if self.tier == Tier::Full { files.len() } else { sizes.files };
        let listed = files.len().min(most.saturating_add(sizes.names));
        let more = files.len() - listed;
        let files = file_list(&files[..listed], most);
        if files.lines.is_empty() {
            return Vec::new();
        }
        let heading = format!("FILES IN WORK{} (* edited, #block):", place(&files.directory));
        let mut lines = vec![Line(0, String::new()), Line(1, heading)];
        lines.extend(files.lines.iter().map(|line| Line(1, format!("  {}", printable(line)))));
        if !files.names.is_empty() {
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            lines.push(Line(1, format!("  also: {}{more}", printable(&files.names.join(", ")))));
        }
        lines
    }

    fn rules(&self, most: usize) -> Vec<Line> {
        let rules = self.manifest.rules.iter().take(most).enumerate();
        let mut lines: Vec<Line> = rules
            .map(|(place, rule)| {
                let rank = if place < 2 { 2 } else { 4 };
                Line(rank, format!("  - #{} \"{}\"", rule.block, clip(&rule.text, RULE_CHARACTERS)))
            })
            .collect();
        if !lines.is_empty() {
            lines.splice(0..0, [Line(0, String::new()), Line(2, "RULES OF THE USER:".to_owned())]);
        }
        lines
    }

    /// Names the topics of the blocks that are compacted away or archived, with a command that finds one.
    fn forgotten(&self, listed: usize) -> Vec<Line> {
        let parts = &self.manifest.forgotten;
        let line = |part: &Forgotten| {
            let name = match part.third {
                0 => "Early conversation",
                1 => "Middle of the conversation",
                _ => "Recent conversation",
            };
            let first = part.topics.first().map(String::as_str).unwrap_or_default();
            let others = joined(part.topics.get(1..).unwrap_or_default(), listed.clamp(3, 6));
            let others = if others.is_empty() { others } else { format!("; also {others}") };
            Line(3, format!("  - {name}: @recall(\"{}\"){others}", printable(first)))
        };
        parts.iter().map(line).collect()
    }

    fn archived(&self, listed: usize) -> Vec<Line> {
        let manifest = &self.manifest;
        let mut lines = Vec::new();
        if manifest.archived.is_empty() {
            return lines;
        }
        let blocks: u32 = manifest.archived.iter().map(|run| run.blocks).sum();
        let tokens: f64 = manifest.archived.iter().map(|run| run.tokens).sum();
        let amount = |tokens: f64| amount(tokens.round() as u64);
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

    fn short(&self, sizes: Sizes) -> Vec<Line> {
        let listed = sizes.listed;
        let manifest = &self.manifest;
        let zones: Vec<String> = manifest
            .zones
            .iter()
            .filter(|zone| zone.blocks > 0)
            .map(|zone| {
                let cost = if zone.zone == Zone::Cold { String::new() } else { format!(", {}", tokens(self.zone_tokens(zone))) };
                format!("{} {}{cost}", zone.zone.label().to_uppercase(), zone.blocks)
            })
            .collect();
        let mut lines = vec![self.header(), Line(4, zones.join(" | ")), self.messages(5)];
        if let Some(task) = &manifest.current_task {
            lines.push(Line(1, format!("Current task: \"{}\"", clip(task, 60))));
        }
        let files = file_list(&manifest.files[..manifest.files.len().min(sizes.files)], sizes.files);
        if !files.short.is_empty() {
            lines.push(Line(1, format!("Files (* edited): {}", printable(&files.short.join(", ")))));
        }
        for rule in manifest.rules.iter().take(sizes.rules) {
            lines.push(Line(4, format!("User rule: #{} \"{}\"", rule.block, clip(&rule.text, 60))));
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

    fn long(&self, sizes: Sizes) -> Vec<Line> {
        let listed = sizes.listed;
        let manifest = &self.manifest;
        let mut lines = vec![self.header(), self.messages(1)];
        lines.extend(self.rules(sizes.rules));
        lines.extend(self.files(sizes));
        let mut cold = None;
        for zone in &manifest.zones {
            lines.push(Line(0, String::new()));
            match zone.zone {
                Zone::Primacy => lines.extend(self.primacy(zone, listed)),
                Zone::Middle if zone.blocks > 0 => lines.extend(self.middle(zone, listed)),
                Zone::Recency if zone.blocks > 0 => lines.extend(self.recency(zone, listed)),
                Zone::Cold if zone.blocks > 0 => {
                    // Archived blocks are still in the window, so their line precedes the empty line above.
                    cold = Some(lines.len() - 1);
                    lines.extend(self.cold(listed));
                }
                Zone::Middle | Zone::Recency | Zone::Cold => drop(lines.pop()),
            }
        }
        let at = cold.unwrap_or(lines.len());
        let mut archived = self.archived(listed);
        if cold.is_none() {
            archived.extend(self.forgotten(listed));
        }
        lines.splice(at..at, archived);
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
        if manifest.outside_tokens.round() > 0 {
            let what = if manifest.lost { "System prompt, tools, lost messages" } else { "System prompt and tools" };
            lines.push(Line(2, format!("  - {what} ({}) [not in the file]", tokens(manifest.outside_tokens))));
        } else if let Some((from, to)) = manifest.unrecorded {
            let usual = format!("usually {} to {}", amount(from.into()), amount(to.into()));
            lines.push(Line(2, format!("  - System prompt and tools: not in the file, not counted before a bill ({usual})")));
        }
        for (place, entry) in manifest.primacy.iter().take(listed).enumerate() {
            lines.push(Line(if place < 2 { 4 } else { 7 }, entry_line("", entry)));
        }
        lines
    }

    /// Lists the middle of the window: what can be shortened.
    fn middle(&self, zone: &ZoneSummary, listed: usize) -> Vec<Line> {
        let manifest = &self.manifest;
        let mut lines = vec![Line(0, zone_title(zone, zone.tokens, ""))];
        if !zone.compressed.is_empty() {
            let level =
                |(level, count): &(Level, u32)| format!("{} compressed ({})", plural(*count as usize, "block"), level.name());
            let levels = zone.compressed.iter().map(level).collect::<Vec<_>>().join(", ");
            let shortened = &manifest.shortened;
            let saved = amount(shortened.saved.round() as u64);
            let restore = match shortened.blocks {
                0 => String::new(),
                _ => format!("; saves {}, @expand(N) restores one", unit(&saved, "token")),
            };
            lines.push(Line(2, format!("  - {levels}{restore}")));
        }
        lines.extend(self.topics(listed));
        let stale = manifest.stale.iter().filter(|entry| entry.zone == Zone::Middle);
        for (place, entry) in stale.take(listed).enumerate() {
            let reason = entry.reason.as_deref().map(|reason| format!(", {reason}")).unwrap_or_default();
            let text = format!("  - Stale: #{} {} ({}{reason})", entry.number, clip(&entry.label, 48), tokens(entry.tokens));
            lines.push(Line(
                if place == 0 {
                    2
                } else if place < 3 {
                    3
                } else {
                    6
                },
                text,
            ));
        }
        let large = manifest.middle.iter().filter(|entry| entry.reason.is_none() && entry.tokens.value >= LARGE);
        for (place, entry) in large.take(if listed > 6 { listed } else { 3 }).enumerate() {
            lines.push(Line(if place == 0 { 4 } else { 7 }, entry_line("Large: ", entry)));
        }
        lines
    }

    fn topics(&self, listed: usize) -> Option<Line> {
        let topics = &self.manifest.topics;
        (!topics.is_empty()).then(|| Line(2, format!("  - Topics: {}", joined(topics, listed.max(3)))))
    }

    /// Lists the end of the window: the current work. The topics of a window without a middle are listed here.
    fn recency(&self, zone: &ZoneSummary, listed: usize) -> Vec<Line> {
        let manifest = &self.manifest;
        let mut lines = vec![Line(0, zone_title(zone, zone.tokens, ""))];
        if manifest.zones.iter().any(|zone| zone.zone == Zone::Middle && zone.blocks == 0) {
            lines.extend(self.topics(listed));
        }
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

    fn cold(&self, listed: usize) -> Vec<Line> {
        let manifest = &self.manifest;
        let mut lines = vec![Line(0, format!("OUTSIDE THE WINDOW ({})", format::hidden(&manifest.hidden)))];
        let forgotten = self.forgotten(listed);
        // Blocks that were dropped or cut off are not forgotten, but their topics are worth a line.
        if forgotten.is_empty() && !manifest.cold_topics.is_empty() {
            lines.push(Line(4, format!("  - Topics: {}", joined(&manifest.cold_topics, listed))));
        }
        lines.extend(forgotten);
        lines
    }

    /// Returns the tokens of a zone. The start of the window includes the tokens that are not in the file.
    fn zone_tokens(&self, zone: &ZoneSummary) -> TokenCount {
        if zone.zone == Zone::Primacy { zone.tokens + self.manifest.outside_tokens } else { zone.tokens }
    }
}

fn place(directory: &str) -> String {
    if directory.is_empty() { String::new() } else { format!(" in {}", printable(directory)) }
}

fn zone_title(zone: &ZoneSummary, total: TokenCount, pinned: &str) -> String {
    let blocks = if zone.blocks > 0 { plural(zone.blocks as usize, "block") + ", " } else { String::new() };
    format!("{} ({blocks}{}{pinned}):", zone.zone.label().to_uppercase(), unit(&tokens(total), "token"))
}

fn entry_line(kind: &str, entry: &BlockSummary) -> String {
    format!("  - {kind}#{} {} ({}){}", entry.number, clip(&entry.label, 48), tokens(entry.tokens), pin(entry))
}

/// Returns an upper bound of the tokens of all lines in a model.
fn cost(lines: &[Line], model: &str) -> f64 {
    let text: String = lines.iter().flat_map(|Line(_, text)| [text.as_str(), "\n"]).collect();
    most_tokens(&text, model)
}

/// Omits the least important lines until the rest is within the limit, then truncates.
fn fit(lines: &mut Vec<Line>, limit: usize, model: &str) {
    while cost(lines, model) > limit as f64 {
        let Some(worst) = lines.iter().map(|Line(rank, _)| *rank).max().filter(|rank| *rank > 0) else { break };
        if let Some(place) = lines.iter().rposition(|Line(rank, _)| *rank == worst) {
            lines.remove(place);
        }
    }
    // A heading that lost its lines, and the empty line before it.
    for place in (1..lines.len()).rev() {
        let is_heading = lines[place].0 > 0 && lines[place].1.ends_with(':') && !lines[place].1.starts_with(' ');
        let is_bare = lines.get(place + 1).is_none_or(|Line(_, next)| !next.starts_with("  "));
        if is_heading && is_bare {
            lines.remove(place);
        }
    }
    lines.dedup_by(|Line(_, next), Line(_, line)| next.is_empty() && line.is_empty());
    // Lines from the end.
    while cost(lines, model) > limit as f64 && lines.len() > 1 {
        let place = if lines.len() > 2 { lines.len() - 2 } else { 1 };
        lines.remove(place);
    }
}

fn numbers(blocks: &[u32]) -> String {
    const LISTED: usize = 6;
    let more = if blocks.len() > LISTED { ", …" } else { "" };
    blocks.iter().take(LISTED).map(|number| format!("#{number}")).collect::<Vec<_>>().join(", ") + more
}

fn pin(entry: &BlockSummary) -> &'static str {
    match entry.pin {
        Some(Pin::Here) => " [pinned]",
        Some(Pin::Top) => " [pinned:top]",
        Some(Pin::Bottom) => " [pinned:bottom]",
        None => "",
    }
}

/// Joins labels of topics, each cut at a word: longer ones leave no room for other lines.
fn joined(names: &[String], most: usize) -> String {
    let names: Vec<String> = names.iter().take(most).map(|name| cut(name, TOPIC_CHARACTERS)).collect();
    printable(&names.join(", ")).into_owned()
}

fn entries(entries: &[BlockSummary], most: usize) -> String {
    entries
        .iter()
        .take(most)
        .map(|entry| format!("#{} ({})", entry.number, clip(&entry.label, 30)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn entries_with_tokens(entries: &[BlockSummary], most: usize) -> String {
    let shown = entries.iter().take(most);
    shown
        .map(|entry| format!("#{} {} {}", entry.number, clip(&entry.label, 30), tokens(entry.tokens)))
        .collect::<Vec<_>>()
        .join(", ")
}
