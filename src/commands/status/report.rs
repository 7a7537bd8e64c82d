use crate::engine::tokens::Accuracy;
use crate::engine::{BlockSummary, Capacity, CapacitySource, Finding, ReservedCapacity, Suggestion, SuggestionKind};
use crate::model::paths::relative;
use crate::model::{As, Damage, Fault, Hidden, Measured, OperationId, Time, TokenCount, Zone, json_forms};
use crate::output::pending::{PendingChanges, difference};
use crate::output::{
    Paint, Report, Style, advice, ago, amount, bytes, clip, clip_start, count, format, percent, plural, printable, tokens, unit,
    wrap,
};
use crate::text::shell::quoted_word;
use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

json_forms! {
    /// A number of faults of one kind.
    FaultCount of pair: (Fault, u32) {
        fault: Fault = pair.0,
        /// Number of occurrences.
        count: u32 = pair.1,
    }
}

/// The state of a session and its window.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatusReport {
    pub session: String,
    /// Provider, such as `claude-code`.
    pub provider: &'static str,
    pub path: String,
    pub project: String,
    /// Title, or the first prompt.
    pub title: String,
    /// Model of the last response.
    pub model: String,
    /// Version of the agent program that wrote last.
    pub version: String,
    /// Time of the last row.
    #[serde(with = "As::<Option<Time>>")]
    pub last_written_time: Option<i64>,
    /// True if a running agent program has the session open.
    pub open: bool,
    /// Changes of the session file that the agent program has not loaded; null if there are none.
    pub pending: Option<PendingChanges>,
    /// Number of operations that are in force in requests, and are written to the file when the agent program has closed it.
    pub deferred_operations: usize,
    /// Reason why a proxy sends the requests of the session unchanged; null unless the API refused changed ones.
    pub refused: Option<String>,
    /// Operations that are in force, but not in effect: the last request through a proxy did not have their contents.
    pub unapplied_operations: Vec<OperationId>,
    /// Reason why new changes wait: a running proxy cannot use the store; null if it can.
    pub store_fault: Option<String>,
    /// Changes by the model in the last turn, as a sentence; null if there are none.
    pub activity: Option<String>,
    /// Id of the session that this one was forked from.
    pub forked_from: Option<String>,
    /// Tokens of the window.
    pub tokens: TokenCount,
    #[serde(flatten, with = "As::<ReservedCapacity>")]
    pub capacity: Capacity,
    /// Free part of the window, without the reserve.
    pub remaining_tokens: u64,
    /// Share of the window that is in use.
    pub percent: f64,
    /// Billed input tokens of the last response; null if the window was changed since.
    #[serde(with = "As::<Option<Measured>>")]
    pub billed_tokens: Option<u64>,
    /// True if the window was changed since the last bill, so that its size is an estimate.
    pub changed_since_bill: bool,
    /// Price of the window in the next prompt while it is in the cache; null without a known price.
    pub cached_prompt_dollars: Option<f64>,
    /// The same after the cache has expired.
    pub uncached_prompt_dollars: Option<f64>,
    /// Time at which the cache expires, or expired; null without a response.
    #[serde(with = "As::<Option<Time>>")]
    pub cache_end_time: Option<i64>,
    /// Tokens that are sent and not in the file, such as the system prompt.
    pub outside_tokens: TokenCount,
    /// Tokens that the agent program adds by itself, by part: `prompt`, `tools`, `MCP`, `skills`, `memory`; `other` is the rest of
    /// what is not in the file. Estimates; empty if no part is known.
    pub client_parts: Vec<Share>,
    /// Errors of the estimates, compared with the bills of the session.
    pub accuracy: Accuracy,
    /// Blocks by zone.
    pub zones: Vec<Share>,
    /// Blocks of the window by kind.
    pub kinds: Vec<Share>,
    /// Blocks of the window by tool, calls and results together.
    pub tools: Vec<Share>,
    /// Blocks of the window by file, the largest first.
    pub files: Vec<Share>,
    /// Stale blocks of the window.
    pub stale: Share,
    /// Stale blocks that a later block supersedes.
    pub superseded: Share,
    /// Older blocks that are not stale.
    pub aging: Share,
    /// Largest stale blocks.
    pub largest_stale: Vec<BlockSummary>,
    /// Suggested commands.
    pub suggestions: Vec<Suggestion>,
    /// Blocks of the file that are not in the window.
    pub hidden: Hidden,
    /// Size of the file.
    pub bytes: u64,
    /// Size of the content in the window.
    pub window_bytes: u64,
    /// Number of sessions of the project without a current copy that the agent program deletes within 7 days; 0 if the settings say that
    /// none is kept.
    #[schemars(extend("unit" = "sessions"))]
    pub expiring_sessions: usize,
    /// Number of rows in the file.
    #[schemars(extend("unit" = "rows"))]
    pub rows: usize,
    pub turns: usize,
    /// Number of responses of the model.
    pub steps: u32,
    /// Damage in the file.
    #[serde(with = "As::<Vec<FaultCount>>")]
    pub damage: Damage,
    /// The name by which commands find the session.
    #[serde(skip)]
    pub named: String,
    /// The name of the client.
    #[serde(skip)]
    pub agent: &'static str,
    /// True if the text has all of them.
    #[serde(skip)]
    pub all: bool,
    /// The same as findings, each with its effect on the next request.
    #[serde(skip)]
    pub findings: Vec<Finding>,
}

/// A part of the window.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Share {
    /// Name of the part.
    pub name: String,
    pub blocks: u32,
    pub tokens: TokenCount,
}

const WIDEST: usize = 100;
/// Columns before the text of each line.
const MARGIN: usize = 10;
/// The median error of the estimates from which on it is shown.
const LARGE_ERROR: f64 = 0.2;
/// Below this width, lists are shown below their names instead of beside them.
const BESIDE: usize = 60;

impl Report for StatusReport {
    const SCHEMA: &str = "aperture.status/2";

    fn text(&self, style: &Style) -> String {
        let width = style.width.min(WIDEST);
        let mut lines: Vec<String> = Vec::new();
        lines.push(style.paint(Paint::Heading, &clip(&self.title, width)));
        lines.extend(wrap(&self.subtitle(style), 0, width).iter().map(|line| style.paint(Paint::Dim, line)));
        lines.push(String::new());
        self.gauge(style, width, &mut lines);
        lines.push(String::new());
        self.shares(style, width, &mut lines);
        self.advice(style, width, &mut lines);
        lines.join("\n") + "\n"
    }
}

impl StatusReport {
    fn subtitle(&self, style: &Style) -> String {
        let mut facts = vec![crate::output::short_id(&self.session)];
        if !self.model.is_empty() {
            facts.push(self.model.clone());
        }
        facts.push(format!("{}, {}", plural(self.turns, "turn"), plural(self.steps as usize, "step")));
        facts.extend(self.last_written_time.map(|moment| ago(style.now, moment, "now")));
        facts.extend(self.forked_from.as_ref().map(|id| format!("forked from {}", crate::output::short_id(id))));
        if self.open {
            facts.push("open in a client".to_owned());
        }
        if !self.project.is_empty() {
            facts.push(self.project.clone());
        }
        facts.join(" · ")
    }

    fn next_prompt(&self, style: &Style) -> Option<String> {
        let (cached, uncached) = self.cached_prompt_dollars.zip(self.uncached_prompt_dollars)?;
        let left = self.cache_end_time? - style.now.as_millisecond();
        Some(if left > 0 {
            let minutes = (left + 59_999) / 60_000;
            format!(
                "prompt    the next one costs ~${cached:.2} for the window, ~${uncached:.2} once the cache expires in {minutes} min"
            )
        } else {
            format!("prompt    the next one costs ~${uncached:.2} for the window: the cache has expired")
        })
    }

    fn gauge(&self, style: &Style, width: usize, lines: &mut Vec<String>) {
        let free = self.remaining_tokens;
        let gauge = gauge(style, width.saturating_sub(MARGIN), self.tokens, self.capacity.tokens, self.percent);
        lines.push(format!("window    {gauge}"));
        let source = match self.capacity.source {
            CapacitySource::Setting => "window size as set",
            CapacitySource::Client => "window size reported by the client",
            CapacitySource::Model => "window size by model",
            CapacitySource::Observed => "window size inferred: the session exceeded the usual size of the model",
            CapacitySource::Compacted => "window size inferred: the client compacted the session by itself at this size",
            CapacitySource::Assumed => "window size assumed; to set it: --window",
        };
        let until = if self.capacity.reserve > 0 { " until auto-compaction" } else { "" };
        let free = wrap(&format!("          {} free{until}; {source}", amount(free)), MARGIN, width);
        lines.extend(free.iter().map(|line| style.paint(Paint::Dim, line)));
        if self.capacity.reserve > 0 {
            let from = amount(self.capacity.free(0));
            let reserve =
                format!("reserve   {}: the client compacts automatically from {from} on", amount(self.capacity.reserve));
            lines.extend(wrap(&reserve, MARGIN, width));
        }
        lines.extend(self.next_prompt(style).iter().flat_map(|text| wrap(text, MARGIN, width)));
        for warning in self.warnings() {
            lines.extend(wrap(&warning, MARGIN, width).iter().map(|line| style.paint(Paint::Warning, line)));
        }
        if let Some(activity) = &self.activity {
            lines.extend(wrap(&format!("model     {activity} in the last turn"), MARGIN, width));
        }
        let accuracy = &self.accuracy;
        let measured = match (self.billed_tokens, accuracy.step_median) {
            (Some(measured), Some(median)) if median > LARGE_ERROR => format!(
                "billed    {} at the last answer; the figures of blocks are estimates, with errors of {}: aperture util accuracy",
                amount(measured),
                percent(median),
            ),
            (Some(measured), _) => format!("billed    {} at the last answer", amount(measured)),
            (None, _) if self.changed_since_bill => {
                "billed    nothing since the window was changed: its size is an estimate until the next response".to_owned()
            }
            (None, _) => "billed    never: the model has not answered in this window, all figures are estimates".to_owned(),
        };
        lines.extend(wrap(&measured, MARGIN, width));
    }

    /// Returns what is not in effect yet, or will be lost.
    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(pending) = &self.pending {
            let saved = difference(-pending.saved_tokens);
            warnings.push(format!("pending   {saved}: takes effect after /resume {} in the client", pending.session));
        }
        if self.deferred_operations > 0 {
            let verb = if self.deferred_operations == 1 { "is" } else { "are" };
            let what = plural(self.deferred_operations, "operation");
            warnings.push(format!("deferred  {what} {verb} written to the file when {} closes the session", self.agent));
        }
        warnings
            .extend(self.refused.iter().map(|reason| format!("proxy     requests are sent as the client writes them: {reason}")));
        warnings.extend(self.store_fault.as_deref().map(degraded));
        if !self.unapplied_operations.is_empty() {
            warnings.push(format!("unapplied {}", unapplied(&self.unapplied_operations, &self.session)));
        }
        if self.expiring_sessions > 0 {
            let sessions = plural(self.expiring_sessions, "session");
            warnings.push(format!("deletion  {} deletes {sessions} here within 7 days: aperture keep --project", self.agent));
        }
        warnings
    }

    fn shares(&self, style: &Style, width: usize, lines: &mut Vec<String>) {
        let total = self.tokens.round().max(1);
        let bar = if width >= 70 { 20 } else { 6 };
        let room = width.saturating_sub(33 + bar);
        let row = |share: &Share, name: &str| {
            let part = share.tokens.round() as f64 / total as f64;
            format!(
                "  {:<13} {:>7} {:>6}  {}",
                clip(name, 13),
                amount(share.tokens.round()),
                percent(part),
                style.paint(Paint::Name, &style.bar(part, bar))
            )
        };
        lines.push(style.paint(Paint::Heading, "by position"));
        if self.outside_tokens.round() > 0 {
            let outside = Share { name: String::new(), blocks: 0, tokens: self.outside_tokens };
            lines.push(with_note(style, &row(&outside, "system, tools"), "not in file", room));
        }
        for (zone, share) in Zone::ALL.iter().filter(|zone| **zone != Zone::Cold).zip(&self.zones) {
            let is_first = *zone == Zone::Primacy && self.outside_tokens.round() > 0;
            let outside = if is_first { self.outside_tokens } else { TokenCount::ZERO };
            let value = (share.tokens.value - outside.value).max(0.0);
            let share = Share { tokens: TokenCount { value, ..share.tokens }, ..share.clone() };
            lines.push(with_note(style, &row(&share, zone.label()), &plural(share.blocks as usize, "block"), room));
        }
        if !self.client_parts.is_empty() {
            lines.push(style.paint(Paint::Heading, "added by the client"));
        }
        for part in &self.client_parts {
            let amount = format!("~{}", amount(part.tokens.round()));
            let share = percent(part.tokens.round() as f64 / total as f64);
            let note = match part.blocks {
                0 => "not in file".to_owned(),
                blocks => plural(blocks as usize, "block"),
            };
            let line = format!("  {:<13} {amount:>7} {share:>6} ", part.name);
            lines.push(with_note(style, &line, &note, width.saturating_sub(line.width() + 1)));
        }
        let columns: [(&str, &[Share]); 2] = [("by kind", &self.kinds), ("by tool", &self.tools)];
        for (title, shares) in columns {
            if shares.is_empty() {
                continue;
            }
            lines.push(style.paint(Paint::Heading, title));
            for share in shares.iter().take(6) {
                lines.push(with_note(style, &row(share, &share.name), &plural(share.blocks as usize, "block"), room));
            }
        }
        if !self.files.is_empty() {
            lines.push(style.paint(Paint::Heading, "heaviest files"));
            for file in self.files.iter().take(5) {
                let note = plural(file.blocks as usize, "block");
                let name = clip_start(relative(&file.name, &self.project), width.saturating_sub(13 + note.len()));
                lines.push(format!("  {:>7}  {name}  {}", amount(file.tokens.round()), style.paint(Paint::Dim, &note)));
            }
        }
        lines.push(String::new());
    }

    /// Lists what the user can do next, then what is outside the window.
    fn advice(&self, style: &Style, width: usize, lines: &mut Vec<String>) {
        self.stale_lines(style, width, lines);
        self.suggestion_lines(style, width, lines);
        self.file_lines(style, width, lines);
    }

    /// Lists the stale blocks, the largest by name, and the older ones in use.
    fn stale_lines(&self, style: &Style, width: usize, lines: &mut Vec<String>) {
        let margin = if width < BESIDE { 2 } else { MARGIN };
        let total = self.tokens.round().max(1) as f64;
        if self.stale.blocks > 0 {
            let share = percent(self.stale.tokens.round() as f64 / total);
            let text = format!(
                "stale     {}, {} ({share}); of these {} outdated, {}",
                plural(self.stale.blocks as usize, "block"),
                unit(&amount(self.stale.tokens.round()), "token"),
                self.superseded.blocks,
                unit(&amount(self.superseded.tokens.round()), "token")
            );
            lines.extend(wrap(&text, MARGIN, width).iter().map(|line| style.paint(Paint::Warning, line)));
            for entry in self.largest_stale.iter().take(3) {
                let reason = entry.reason.as_deref().unwrap_or_default();
                let (number, rest) = (format!("#{}", entry.number), format!("({}) {reason}", tokens(entry.tokens)));
                let room = width.saturating_sub(margin + number.len() + rest.width() + 2).clamp(8, 40);
                let text = format!("{:margin$}{number} {} {rest}", "", clip(&entry.label, room));
                lines.push(clip(&text, width));
            }
            let all = format!("{:margin$}to list them: aperture blocks stale --sort tokens -s {}", "", quoted_word(&self.named));
            lines.extend(wrap(&all, margin, width).iter().map(|line| style.paint(Paint::Dim, line)));
        } else {
            lines.push("stale     nothing".to_owned());
        }
        if self.aging.blocks > 0 {
            let blocks = plural(self.aging.blocks as usize, "block");
            let text = format!("older     {blocks} in use, {}", unit(&amount(self.aging.tokens.round()), "token"));
            lines.extend(wrap(&text, MARGIN, width));
        }
    }

    /// Lists the best suggested command, or all of them, each with its effect and its cost.
    fn suggestion_lines(&self, style: &Style, width: usize, lines: &mut Vec<String>) {
        let listed = if self.all { self.suggestions.len() } else { 1 };
        // A block to expand makes no room: it is never the best offer.
        let offers = self.suggestions.iter().filter(|offer| self.all || offer.kind != SuggestionKind::Expand);
        for (place, suggestion) in offers.take(listed).enumerate() {
            let name = if place == 0 { "next" } else { "" };
            let (command, aim) = (printable(&suggestion.command), advice::aim(suggestion));
            let others = self.suggestions.len() - listed;
            let all = format!("; others: aperture status --offers -s {}", quoted_word(&self.named));
            let more = if others > 0 { &*all } else { "" };
            let cost = advice::cost(suggestion);
            let undo = if cost.is_empty() { "undo any time" } else { "; undo any time" };
            let note = format!("{cost}{undo}{more}");
            let line = format!("{name:<MARGIN$}{aim}: {}", style.paint(Paint::Name, &command));
            match width.checked_sub(MARGIN + aim.width() + 2 + command.width()) {
                Some(room) if note.width() + 3 <= room => lines.push(format!("{line}   {}", style.paint(Paint::Dim, &note))),
                Some(_) => {
                    lines.push(line);
                    let note = wrap(&format!("{:MARGIN$}{note}", ""), MARGIN, width);
                    lines.extend(note.iter().map(|line| style.paint(Paint::Dim, line)));
                }
                // A truncated command cannot be pasted. It gets its own line, which the terminal wraps if necessary.
                None => {
                    lines.extend(wrap(&format!("{name:<MARGIN$}{aim}; {note}"), MARGIN, width));
                    let command = style.paint(Paint::Name, &command);
                    lines.push(format!("{:indent$}{command}", "", indent = width.saturating_sub(suggestion.command.width())));
                }
            }
        }
    }

    /// Lists the blocks outside the window, the size of the file and its faults.
    fn file_lines(&self, style: &Style, width: usize, lines: &mut Vec<String>) {
        let hidden = &self.hidden;
        let away = format::hidden(hidden);
        if !away.is_empty() {
            lines.extend(wrap(&format!("not sent  {away}"), MARGIN, width));
        }
        let file = format!(
            "file      {}, {}; the window's content is {} of it, {}",
            bytes(self.bytes),
            unit(&count(self.rows as u64), "row"),
            bytes(self.window_bytes),
            percent(self.window_bytes as f64 / self.bytes.max(1) as f64)
        );
        lines.extend(wrap(&file, MARGIN, width));
        if !self.damage.is_empty() {
            let faults: Vec<String> =
                self.damage.iter().map(|(fault, count)| format!("{count} {}", fault_name(*fault, *count))).collect();
            let damage = wrap(&format!("damage    {}", faults.join(", ")), MARGIN, width);
            lines.extend(damage.iter().map(|line| style.paint(Paint::Warning, line)));
        }
        if let Some(first) = self.findings.first() {
            let more = self.findings.len() - 1;
            let others = if more > 0 { format!("; {}", plural(more, "more finding")) } else { String::new() };
            let name = if self.damage.is_empty() { "damage" } else { "" };
            let text = format!("{name:<MARGIN$}row {}: {}; {}{others}", first.row + 1, first.message(), first.effect());
            lines.extend(wrap(&text, MARGIN, width).iter().map(|line| style.paint(Paint::Warning, line)));
            let id = quoted_word(&self.named);
            let hint = match self.findings.iter().any(Finding::is_repairable) {
                true => format!("aperture repair {id} --dry-run, which shows how to mend it"),
                false => format!("aperture check {id} --no-damage, which lists it"),
            };
            lines.push(style.paint(Paint::Dim, &format!("{:MARGIN$}{hint}", "")));
        }
    }
}

/// Returns a line on a store that a running proxy cannot use.
pub fn degraded(fault: &str) -> String {
    format!("degraded  new changes wait, known ones are sent from memory: {}", printable(fault))
}

/// Returns a sentence about operations whose contents the last request did not have.
pub fn unapplied(operations: &[OperationId], session: &str) -> String {
    let numbers = operations.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let (noun, verb, it) = if operations.len() == 1 { ("operation", "is", "its") } else { ("operations", "are", "their") };
    format!(
        "{noun} {numbers} {verb} not in effect: the last request did not have {it} contents; to apply: /resume {session} in the client"
    )
}

/// Formats a row with a note after it. The note is truncated or omitted if there is not enough space.
fn with_note(style: &Style, row: &str, note: &str, room: usize) -> String {
    let fitting = [note, note.split(';').next().unwrap_or_default()].into_iter().find(|note| note.width() <= room);
    fitting.map_or_else(|| row.trim_end().to_owned(), |note| format!("{row} {}", style.paint(Paint::Dim, note)))
}

/// Formats the usage of a window: the figures, and a bar if there is enough space.
pub fn gauge(style: &Style, width: usize, held: TokenCount, capacity: u64, percent: f64) -> String {
    let share = percent / 100.0;
    let paint = if share >= 0.8 {
        Paint::Bad
    } else if share >= 0.6 {
        Paint::Warning
    } else {
        Paint::Good
    };
    let figures = format!("{} of {} tokens, {percent:.0} %", tokens(held), amount(capacity));
    let bar = width.saturating_sub(figures.chars().count() + 4).min(40);
    let gauge = if bar < 4 { String::new() } else { style.paint(paint, &format!("▕{}▏  ", style.bar(share, bar))) };
    format!("{gauge}{}", clip(&figures, width))
}

fn fault_name(fault: Fault, count: u32) -> &'static str {
    let (one, several) = match fault {
        Fault::NotJson => ("unreadable line", "unreadable lines"),
        Fault::NotAnObject => ("line that is not an object", "lines that are not objects"),
        Fault::Glued => ("line with rows glued together", "lines with rows glued together"),
        Fault::Buried => ("row beside unreadable bytes", "rows beside unreadable bytes"),
        Fault::HalfWritten => ("half-written last line", "half-written last line"),
        Fault::DuplicateId => ("row identity twice", "row identities twice"),
        Fault::DanglingParent => ("row whose parent is missing", "rows whose parent is missing"),
        Fault::OrphanResult => ("result without its tool use", "results without their tool use"),
        Fault::UnansweredUse => ("tool use without a result", "tool uses without a result"),
        Fault::ImpossibleBill => {
            ("bill larger than the window, estimated instead", "bills larger than the window, estimated instead")
        }
        Fault::ShortParentSession => ("parent session too short", "parent session too short"),
        Fault::MissingOrdinal => ("last row without a number", "last row without a number"),
        Fault::MissingParentSession => ("parent session not found", "parent session not found"),
    };
    if count == 1 { one } else { several }
}
