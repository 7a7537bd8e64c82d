use crate::commands::blocks::BlockRow;
use crate::engine::{Explanation, LevelPreview, Referred};
use crate::model::{As, OperationId, Time};
use crate::output::{Paint, Report, Style, age, amount, clip, padded, plural, printable, tokens};
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum number of references and operations in the text.
const LISTED: usize = 5;
/// Columns of the names on the left.
const NAMES: usize = 12;

/// A decision about a block.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Decision {
    /// Kind: `pin`, `focus`, `protection` or `change`.
    pub what: &'static str,
    /// True if the decision keeps the block unchanged.
    pub keeps: bool,
    /// Reason.
    pub why: String,
}

/// An operation that changed a block.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HistoryEntry {
    /// Operation in the log.
    pub operation: OperationId,
    /// Time of the operation.
    #[serde(with = "As::<Time>")]
    pub time: i64,
    /// Command.
    pub command: String,
    /// Effect on the block.
    pub what: String,
    /// Operation that undid it.
    pub undone_by: Option<OperationId>,
}

/// The explanation of a block: its state, references, levels and history.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplainReport {
    /// The block.
    pub block: BlockRow,
    /// Reasons for its state, and the references to it.
    pub explanation: Explanation,
    /// Content that each level would keep; empty if the block cannot be changed.
    pub levels: Vec<LevelPreview>,
    /// Decisions about the block.
    pub decisions: Vec<Decision>,
    /// Operations that changed the block, the oldest first.
    pub history: Vec<HistoryEntry>,
}

impl Report for ExplainReport {
    const SCHEMA: &str = "aperture.explain/2";

    fn text(&self, style: &Style) -> String {
        let mut lines = Vec::new();
        self.heading(style, &mut lines);
        self.why(style, &mut lines);
        self.references(style, &mut lines);
        self.write_kept(style, &mut lines);
        self.decided(style, &mut lines);
        self.done(style, &mut lines);
        lines.join("\n") + "\n"
    }
}

/// Formats a line with a name on the left, cut to the width of the terminal.
fn row(style: &Style, name: &str, text: &str) -> String {
    format!("  {} {}", padded(name, NAMES - 1), clip(text, style.width.saturating_sub(NAMES + 2)))
}

impl ExplainReport {
    fn heading(&self, style: &Style, lines: &mut Vec<String>) {
        let block = &self.block;
        let heading = clip(&format!("#{} {}", block.number, block.label), style.width);
        lines.push(style.paint(Paint::Heading, &heading));
        let mut facts = vec![
            block.kind.name().replace('_', " "),
            format!("{} tokens", tokens(block.tokens)),
            format!("turn {}, step {}", block.turn, block.step),
            block.zone.label().to_owned(),
            block.level.name().to_owned(),
        ];
        if !block.topic.is_empty() {
            facts.push(block.topic.clone());
        }
        lines.push(style.paint(Paint::Dim, &clip(&facts.join(" · "), style.width)));
    }

    fn why(&self, style: &Style, lines: &mut Vec<String>) {
        let explanation = &self.explanation;
        section(style, lines, &format!("why it is {}", explanation.state.name()));
        let mut name = explanation.rule;
        for because in &explanation.because {
            lines.push(row(style, name, because));
            name = "";
        }
        if !name.is_empty() {
            lines.push(row(style, name, explanation.when));
        }
        lines.push(row(style, "use", &explanation.heat));
        let left = match explanation.turns_left {
            Some(0) | None => None,
            Some(turns) => Some(format!("about {}, unless it is used or pinned", plural(turns as usize, "turn"))),
        };
        lines.extend(left.map(|left| row(style, "stale in", &left)));
    }

    fn references(&self, style: &Style, lines: &mut Vec<String>) {
        let referred = &self.explanation.references;
        if referred.is_empty() {
            return;
        }
        let count = plural(referred.len(), "later block");
        let order = if referred.len() > 1 { ", the surest first" } else { "" };
        section(style, lines, &format!("used by {count}{order}"));
        for Referred { number, label, steps_ago, names, .. } in referred.iter().take(LISTED) {
            let names: Vec<String> = names.iter().map(|name| clip(name, 32)).collect();
            let ago =
                if *steps_ago == 0 { "just now".to_owned() } else { format!("{} ago", plural(*steps_ago as usize, "step")) };
            let by = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
            lines.push(row(style, &format!("#{number}"), &format!("{}, {ago}{by}", clip(label, 36))));
        }
        if referred.len() > LISTED {
            lines.push(row(style, "", &format!("and {} more", referred.len() - LISTED)));
        }
    }

    fn write_kept(&self, style: &Style, lines: &mut Vec<String>) {
        if self.levels.is_empty() {
            return;
        }
        section(style, lines, "result at each level");
        if let Some(why) = self.levels.iter().map(|kept| kept.why).reduce(|one, other| one.filter(|_| one == other)).flatten() {
            lines.push(row(style, "any level", &format!("as it is: {why}")));
            return;
        }
        for kept in &self.levels {
            let name = kept.preset.unwrap_or(kept.level.name());
            let text = match (&kept.content, kept.preset) {
                (None, _) => format!("as it is: {}", kept.why.unwrap_or_default()),
                (Some(content), preset) => {
                    let level = if preset.is_some() { format!(", {}", kept.level.name()) } else { String::new() };
                    format!("~{} tokens{level}  {}", amount(kept.tokens.round() as u64), first_words(content))
                }
            };
            lines.push(row(style, name, text.trim_end()));
        }
    }

    fn decided(&self, style: &Style, lines: &mut Vec<String>) {
        section(style, lines, "decision");
        let keeps: Vec<&Decision> = self.decisions.iter().filter(|decision| decision.keeps).collect();
        if keeps.is_empty() {
            let mut why: Vec<&str> = self.decisions.iter().map(|decision| decision.why.as_str()).collect();
            let free = why.pop().unwrap_or_default();
            lines.push(row(style, "free", &format!("{free}: {}", why.join(", "))));
        }
        for decision in keeps {
            lines.push(style.paint(Paint::Warning, &row(style, decision.what, &decision.why)));
        }
    }

    fn done(&self, style: &Style, lines: &mut Vec<String>) {
        if self.history.is_empty() {
            return;
        }
        section(style, lines, "operations");
        let before = self.history.len().saturating_sub(LISTED);
        if before > 0 {
            lines.push(row(style, "", &format!("{} before", plural(before, "operation"))));
        }
        for entry in &self.history[before..] {
            let undone = entry.undone_by.map(|by| format!(" (undone by {by})")).unwrap_or_default();
            let text = format!("{}{undone}, {}: {}", entry.what, since(style, entry.time), entry.command);
            lines.push(row(style, &format!("operation {}", entry.operation), &text));
        }
    }
}

fn section(style: &Style, lines: &mut Vec<String>, title: &str) {
    lines.push(String::new());
    lines.push(style.paint(Paint::Heading, title));
}

fn since(style: &Style, time: i64) -> String {
    match age(style.now, time).as_str() {
        "now" => "now".to_owned(),
        age => format!("{age} ago"),
    }
}

/// Returns the first significant line of the remaining content; else the names that replace lines; else the text of the marker
/// line.
fn first_words(content: &str) -> String {
    let lines = || content.lines().map(str::trim).filter(|line| !line.starts_with("[@"));
    let telling = |line: &&str| line.chars().filter(|character| character.is_alphanumeric()).count() >= 4;
    let text = lines().find(|line| telling(line) && !line.starts_with("[…"));
    let named = || lines().find(|line| line.starts_with("[…") && line.contains(':'));
    let marked = || content.lines().next().map(|line| line.split(" | ").skip(2).last().unwrap_or_default().trim_end_matches(']'));
    printable(text.or_else(named).or_else(marked).unwrap_or_default()).into_owned()
}
