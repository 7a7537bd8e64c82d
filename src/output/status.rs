use super::{Paint, Report, Style, age, amount, bytes, clip, count, percent, plural, tokens, unit};
use crate::engine::tokens::Accuracy;
use crate::engine::{Capacity, CapacitySource, Entry, Suggestion};
use crate::model::{Damage, Fault, Hidden, TokenCount, Zone};
use serde::Serialize;

/// One screen about a session.
#[derive(Clone, Debug, Serialize)]
pub struct StatusReport {
    /// The session's id.
    pub session: String,
    /// The provider.
    pub provider: &'static str,
    /// The file.
    pub path: String,
    /// The project's directory.
    pub project: String,
    /// The title, or the first prompt.
    pub title: String,
    /// The model of the last response.
    pub model: String,
    /// The version of the client that wrote last.
    pub version: String,
    /// When the last row was written, in milliseconds since 1970, UTC.
    pub last_written: Option<i64>,
    /// Whether a running client has it open.
    pub open: bool,
    /// The session that it was forked from.
    pub forked_from: Option<String>,
    /// Tokens of the window.
    pub tokens: TokenCount,
    /// How much it can hold.
    pub capacity: Capacity,
    /// How full it is, in percent.
    pub percent: f64,
    /// Input tokens of the last call, as billed.
    pub measured: Option<u64>,
    /// What is sent and not in the file.
    pub outside: TokenCount,
    /// How far the estimates were from this session's bills.
    pub accuracy: Accuracy,
    /// Blocks and tokens by zone.
    pub zones: Vec<Share>,
    /// Blocks and tokens of the window by kind.
    pub kinds: Vec<Share>,
    /// Blocks and tokens of the window by tool, uses and results together.
    pub tools: Vec<Share>,
    /// Blocks and tokens of the window by file, the heaviest first.
    pub files: Vec<Share>,
    /// Stale blocks of the window.
    pub stale: Share,
    /// Those of them that a later block supersedes.
    pub superseded: Share,
    /// The largest stale blocks.
    pub largest_stale: Vec<Entry>,
    /// What could be done next, each a command, with what it would cost and save, about.
    pub suggestions: Vec<Suggestion>,
    /// Blocks of the file that are not in the window, by reason.
    pub hidden: Hidden,
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of the content in the window.
    pub window_bytes: u64,
    /// Rows of the file.
    pub rows: usize,
    /// Turns.
    pub turns: usize,
    /// Responses of the model.
    pub steps: u32,
    /// What is wrong with the file.
    pub damage: Damage,
}

/// A part of the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// What it is.
    pub name: String,
    /// Its blocks.
    pub blocks: u32,
    /// What they cost.
    pub tokens: u64,
}

/// Widest that the screen is drawn.
const WIDEST: usize = 100;

impl Report for StatusReport {
    fn schema(&self) -> &'static str {
        "aperture.status/1"
    }

    fn text(&self, style: &Style) -> String {
        let width = style.width.min(WIDEST);
        let mut lines: Vec<String> = Vec::new();
        lines.push(style.paint(Paint::Heading, &clip(&self.title, width)));
        lines.push(style.paint(Paint::Dim, &clip(&self.subtitle(style), width)));
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
        let mut facts = vec![super::sessions::short_id(&self.session)];
        if !self.model.is_empty() {
            facts.push(self.model.clone());
        }
        facts.push(format!("{}, {}", plural(self.turns, "turn"), plural(self.steps as usize, "step")));
        facts.extend(self.last_written.map(|moment| match age(style.now, moment).as_str() {
            "now" => "now".to_owned(),
            other => format!("{other} ago"),
        }));
        facts.extend(self.forked_from.as_ref().map(|id| format!("forked from {}", super::sessions::short_id(id))));
        if self.open {
            facts.push("open in a client".to_owned());
        }
        if !self.project.is_empty() {
            facts.push(self.project.clone());
        }
        facts.join(" · ")
    }

    fn gauge(&self, style: &Style, width: usize, lines: &mut Vec<String>) {
        let free = self.capacity.tokens.saturating_sub(self.tokens.round());
        let gauge = gauge(style, width.saturating_sub(10), self.tokens, self.capacity.tokens, self.percent);
        lines.push(format!("window    {gauge}"));
        let source = match self.capacity.source {
            CapacitySource::Setting => "window size as set",
            CapacitySource::Client => "window size as the client says",
            CapacitySource::Model => "window size by model",
            CapacitySource::Observed => "window size as seen: it held more than the model's usual one",
            CapacitySource::Assumed => "window size assumed: --window sets it",
        };
        lines.push(style.paint(Paint::Dim, &clip(&format!("          {} free; {source}", amount(free)), width)));
        let accuracy = &self.accuracy;
        let measured = match (self.measured, accuracy.step_median, accuracy.step_p90) {
            (Some(measured), Some(median), Some(p90)) => format!(
                "billed    {} at the last step; estimated within {} (median), {} (p90)",
                count(measured),
                percent(median),
                percent(p90),
            ),
            (Some(measured), ..) => format!("billed    {} at the last step", count(measured)),
            (None, ..) => "billed    never: the model has not answered in this window, all figures are estimates".to_owned(),
        };
        lines.push(clip(&measured, width));
    }

    fn shares(&self, style: &Style, width: usize, lines: &mut Vec<String>) {
        let total = self.tokens.round().max(1);
        let bar = if width >= 70 { 20 } else { 6 };
        let row = |share: &Share, name: &str| {
            let part = share.tokens as f64 / total as f64;
            format!(
                "  {:<13} {:>7} {:>6}  {}",
                clip(name, 13),
                amount(share.tokens),
                percent(part),
                style.paint(Paint::Name, &style.bar(part, bar))
            )
        };
        lines.push(style.paint(Paint::Heading, "by zone"));
        for zone in self.zones.iter().filter(|zone| zone.name != Zone::Cold.name()) {
            let blocks = plural(zone.blocks as usize, "block");
            let note = if zone.name == Zone::Primacy.name() && self.outside.round() > 0 {
                format!("{blocks}; {} not in file", tokens(self.outside))
            } else {
                blocks
            };
            let line = row(zone, &zone.name);
            lines.push(format!("{line} {}", style.paint(Paint::Dim, &clip(&note, width.saturating_sub(33 + bar)))));
        }
        let columns: [(&str, &[Share]); 2] = [("by kind", &self.kinds), ("by tool", &self.tools)];
        for (title, shares) in columns {
            if shares.is_empty() {
                continue;
            }
            lines.push(style.paint(Paint::Heading, title));
            for share in shares.iter().take(6) {
                let note = plural(share.blocks as usize, "block");
                lines.push(format!(
                    "{} {}",
                    row(share, &share.name),
                    style.paint(Paint::Dim, &clip(&note, width.saturating_sub(33 + bar)))
                ));
            }
        }
        if !self.files.is_empty() {
            lines.push(style.paint(Paint::Heading, "heaviest files"));
            for file in self.files.iter().take(5) {
                let note = plural(file.blocks as usize, "block");
                let inside = file.name.strip_prefix(&self.project).unwrap_or(&file.name).trim_start_matches('/');
                let name = clip(inside, width.saturating_sub(24));
                lines.push(format!("  {:>7}  {name}  {}", amount(file.tokens), style.paint(Paint::Dim, &note)));
            }
        }
        lines.push(String::new());
    }

    fn advice(&self, style: &Style, width: usize, lines: &mut Vec<String>) {
        let total = self.tokens.round().max(1) as f64;
        if self.stale.blocks > 0 {
            let share = percent(self.stale.tokens as f64 / total);
            let text = format!(
                "stale     {}, {} ({share}); of these {} superseded, {}",
                plural(self.stale.blocks as usize, "block"),
                unit(&amount(self.stale.tokens), "token"),
                self.superseded.blocks,
                unit(&amount(self.superseded.tokens), "token")
            );
            lines.push(style.paint(Paint::Warning, &clip(&text, width)));
            for entry in self.largest_stale.iter().take(3) {
                let reason = entry.reason.as_deref().unwrap_or_default();
                let text = format!("          #{} {} ({}) {reason}", entry.number, clip(&entry.label, 40), tokens(entry.tokens));
                lines.push(clip(&text, width));
            }
            lines.push(style.paint(Paint::Dim, &clip("          aperture blocks stale --sort tokens lists them", width)));
        } else {
            lines.push("stale     nothing".to_owned());
        }
        let mut name = "next";
        for suggestion in &self.suggestions {
            // A command that is cut cannot be pasted: what it would do goes first, then the column of its own.
            let command = super::printable(&suggestion.command);
            let length = command.chars().count();
            let indent = if 10 + length > width && name.is_empty() { 2.min(width.saturating_sub(length)) } else { 10 };
            let line = style.paint(Paint::Name, &clip(&command, width.saturating_sub(indent)));
            let line = format!("{name:<indent$}{line}");
            let room = width.saturating_sub(indent + length + 3);
            let effect = super::advice::short_effect(suggestion, room);
            lines.push(if effect.is_empty() { line } else { format!("{line}   {}", style.paint(Paint::Dim, &effect)) });
            name = "";
        }
        let hidden = &self.hidden;
        let away = super::format::hidden(hidden);
        if !away.is_empty() {
            lines.push(clip(&format!("cold      {}: {away}", plural(hidden.total() as usize, "block")), width));
        }
        let file = format!(
            "file      {}, {}; the window's content is {} of it, {}",
            bytes(self.bytes),
            unit(&count(self.rows as u64), "row"),
            bytes(self.window_bytes),
            percent(self.window_bytes as f64 / self.bytes.max(1) as f64)
        );
        lines.push(clip(&file, width));
        if !self.damage.is_empty() {
            let faults: Vec<String> =
                self.damage.iter().map(|(fault, count)| format!("{count} {}", fault_name(*fault, *count))).collect();
            lines.push(style.paint(Paint::Warning, &clip(&format!("damage    {}", faults.join(", ")), width)));
        }
    }
}

/// How full a window is: a bar where there is room for one, and the figures.
pub(super) fn gauge(style: &Style, width: usize, held: TokenCount, capacity: u64, percent: f64) -> String {
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
    let one = count == 1;
    match fault {
        Fault::NotJson if one => "unreadable line",
        Fault::NotJson => "unreadable lines",
        Fault::NotAnObject if one => "line that is no object",
        Fault::NotAnObject => "lines that are no objects",
        Fault::Glued if one => "line with rows glued together",
        Fault::Glued => "lines with rows glued together",
        Fault::HalfWritten => "half-written last line",
        Fault::DuplicateId if one => "row identity twice",
        Fault::DuplicateId => "row identities twice",
        Fault::DanglingParent if one => "row whose parent is missing",
        Fault::DanglingParent => "rows whose parent is missing",
        Fault::OrphanResult if one => "result without its tool use",
        Fault::OrphanResult => "results without their tool use",
        Fault::UnansweredUse if one => "tool use without a result",
        Fault::UnansweredUse => "tool uses without a result",
    }
}
