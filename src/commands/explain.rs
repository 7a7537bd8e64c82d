//! `aperture explain`: prints the reasons for a block's state, the references to it, and its size at each level.

use crate::app::{CommandError, Env};
use crate::commands::blocks::BlockRow;
use crate::engine::sidecar::written_by;
use crate::engine::{self, Explanation, LevelPreview, Referred, Selector, SelectorError, Subject};
use crate::model::{As, Block, BlockNumber, History, JsonOf, Level, OperationId, OperationKind, State, Time, Zone};
use crate::output::{Paint, Report, Style, ago, amount, clip, padded, plural, printable, tokens};
use crate::store::Store;
use crate::workspace::{Aim, DigestFold, PlanError, Scope, SkipReason, Workspace, fold_into_digest, shrink};
use anyhow::anyhow;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = help_text!("explain"))]
pub struct Arguments {
    /// One block, by a selector
    #[arg(value_name = "BLOCK", required = true)]
    #[serde(serialize_with = "super::json::union")]
    pub selector: Vec<String>,
}

/// Explains the block.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// Errors: no block matches, or more than one; the session cannot be read.
pub fn report(env: &Env, arguments: &Arguments) -> Result<ExplainReport, CommandError> {
    let selector = env.selector(&arguments.selector)?;
    let workspace = env.open(None)?;
    let number = find_block(&workspace, &selector, &arguments.selector.join(", "))?.number;
    of_block(env, &workspace, number)
}

/// Returns the explanation of a block of a session.
/// Errors: there is no such block; the session or the store cannot be read.
pub fn of_block(env: &Env, workspace: &Workspace<'_>, number: BlockNumber) -> Result<ExplainReport, CommandError> {
    let reading = &workspace.reading;
    let block = reading.block(number).ok_or_else(|| {
        let last = reading.session.blocks.len() as BlockNumber;
        CommandError::from(SelectorError::NoSuchBlock { number, last })
    })?;
    let contents = workspace.contents(&[block.number])?;
    let content = contents.into_iter().next().map(|content| content.readable).unwrap_or_default();
    let store = env.existing_store()?;
    let now = env.style.now.as_millisecond();
    let draft = workspace.draft(store.as_ref(), now)?;
    let (levels, decisions) = match draft.immutable(block.number)? {
        Some(why) => (Vec::new(), decisions(env, block, "", Some(why.reason()))),
        None => match draft.original(block.number) {
            Ok(original) => {
                let content = reading.known.mask(&original.content);
                let texts = env.sidecar_texts(&workspace.path);
                let written = texts.as_ref().and_then(|texts| texts.summarized(original.block.hash));
                let subject = Subject {
                    left: None,
                    block: &original.block,
                    conventions: reading.session.conventions,
                    content: &content,
                    tokens: original.tokens,
                    label: engine::label(&original.block),
                    why: engine::why_old(block),
                    newest: false,
                    held: original.block.words.to_vec(),
                    written: written.as_ref().map(|(text, _)| text.as_str()),
                };
                let mut levels = engine::levels(reading, &subject);
                if let Some((text, model)) = &written {
                    let is_written =
                        |level: &&mut LevelPreview| level.content.as_ref().is_some_and(|content| content.contains(text));
                    let summarized = levels.iter_mut().filter(|preview| preview.level == Level::Summarized);
                    summarized.filter(is_written).for_each(|level| level.written_by = Some(model.clone()));
                }
                levels.push(by_preset(env, workspace, store.as_ref(), block)?);
                (levels, decisions(env, block, &original.content, None))
            }
            Err(PlanError::NoOriginal(_)) => (Vec::new(), decisions(env, block, "", Some(SkipReason::NoOriginal.reason()))),
            Err(error) => return Err(error.into()),
        },
    };
    Ok(ExplainReport {
        block: BlockRow::json_of(&(reading, block)),
        explanation: engine::explain(reading, block, &content),
        levels,
        decisions,
        history: entries(&workspace.history, block.number),
    })
}

/// Returns the block that a selector matches. If it matches a tool use and its result, that is the result.
fn find_block<'a>(workspace: &'a Workspace<'_>, selector: &Selector, text: &str) -> Result<&'a Block, CommandError> {
    let reading = &workspace.reading;
    let numbers = selector.select(reading)?;
    let refuse = |error| Err(CommandError::refused(error).hint("to list every block: aperture blocks all"));
    let blocks: Vec<&Block> = numbers.iter().filter_map(|number| reading.block(*number)).collect();
    match blocks.as_slice() {
        [] => refuse(anyhow!("no block matches '{text}'")),
        [block] => Ok(block),
        [call, result] if call.call.is_some() && call.call == result.call => Ok(result),
        several => refuse(anyhow!("'{text}' matches {} blocks; explain takes one", several.len())),
    }
}

/// Returns the result of `compress --preset` for a block, as part of the whole window.
fn by_preset(env: &Env, workspace: &Workspace<'_>, store: Option<&Store>, block: &Block) -> Result<LevelPreview, CommandError> {
    let preset = env.rules.preset;
    let mut draft = workspace.draft(store, env.style.now.as_millisecond())?;
    let scope = Scope { end: engine::first_of_last_turns(&workspace.reading, env.rules.keep_turns), only: None, level: None };
    let stays = |why: &'static str| LevelPreview {
        level: block.level,
        preset: Some(preset.name),
        tokens: block.tokens.value,
        content: None,
        why: Some(why),
        written_by: None,
    };
    if engine::instructs(block) {
        return Ok(stays(SkipReason::Instructions.reason()));
    }
    if preset.folds {
        return Ok(match fold_into_digest(&mut draft, &preset, &scope, &env.rules)? {
            DigestFold::Folded(blocks) if blocks.contains(&block.number) => stays("only its part in the digest"),
            DigestFold::Folded(_) => stays("follows the digest"),
            DigestFold::Nothing(why) => stays(why),
        });
    }
    let cache = env.cache();
    let kept = shrink(&mut draft, Aim::Preset(preset), &scope, &env.rules, cache.as_ref())?;
    let drafted = draft.finish(OperationKind::Change, "", None, &|hash| cache.count(hash), true)?;
    let left = drafted.differences.into_iter().find(|difference| difference.number == block.number);
    let kept = kept.iter().find(|(_, blocks)| blocks.contains(&block.number)).map(|(why, _)| why.reason());
    let why = kept.or((block.level > Level::Original).then_some("short already")).unwrap_or("already as short as possible");
    Ok(left.map_or_else(
        || stays(why),
        |left| LevelPreview {
            level: left.level_after,
            preset: Some(preset.name),
            tokens: left.tokens_after.value,
            content: Some(left.after),
            why: None,
            written_by: None,
        },
    ))
}

/// Returns the checks that decide if a block is kept unchanged, with the reason for each result.
fn decisions(env: &Env, block: &Block, content: &str, immutable: Option<&str>) -> Vec<Decision> {
    let decision = |what, keeps, yes: &str, no: &str| Decision { what, keeps, why: if keeps { yes } else { no }.to_owned() };
    let pin = block.pin.map(|pin| pin.name());
    let pinned = format!("pinned {}: it is not shortened until unpinned", pin.unwrap_or_default());
    let mut decisions = vec![
        decision("pin", block.pin.is_some(), &pinned, "no pin"),
        decision("focus", block.focused, "focused: it is not shortened meanwhile", "no focus"),
    ];
    if let Some(why) = immutable {
        decisions.push(Decision { what: "change", keeps: true, why: format!("cannot be changed: {why}") });
        return decisions;
    }
    let protected = env.rules.protect(block, content);
    decisions.push(decision(
        "protection",
        protected,
        "a rule under [protect] protects it unless a selector names its number",
        "no protecting rule",
    ));
    let instructs = engine::instructs(block);
    decisions.push(decision(
        "instructions",
        instructs,
        "it guides the model: no rule shortens it unless a selector names its number",
        "no instructions",
    ));
    let free = !protected && !instructs && block.pin.is_none() && !block.focused;
    decisions.push(decision("change", !free, "only by name", "compress may shorten it"));
    decisions
}

fn entries(history: &History, number: BlockNumber) -> Vec<HistoryEntry> {
    let (mut entries, reverted) = (Vec::new(), history.reverted());
    for operation in &history.operations {
        let changes = operation.edits.iter().filter_map(|edit| edit.change.as_ref()).filter(|change| change.number == number);
        let changes = changes.map(|change| {
            let amount = |tokens: f64| amount(tokens.round() as u64);
            let tokens = format!("({} → {} tokens)", amount(change.tokens_before), amount(change.tokens_after));
            let reason = if change.reason.is_empty() { String::new() } else { format!(": {}", change.reason) };
            format!("{} → {} {tokens}{reason}", change.level_before.name(), change.level_after.name())
        });
        let marks = operation.marks.iter().filter(|mark| mark.number == number);
        let marks = marks.map(|mark| {
            let name = mark.kind.name();
            if mark.after.is_some() { format!("{name} set") } else { format!("{name} removed") }
        });
        let what: Vec<String> = changes.chain(marks).collect();
        if !what.is_empty() {
            entries.push(HistoryEntry {
                operation: operation.id,
                time: operation.time,
                command: operation.command.clone(),
                what: what.join(", "),
                undone_by: history.undone_by(operation.id).or_else(|| reverted.get(&operation.id).copied()),
            });
        }
    }
    entries
}

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
    pub why: String,
}

/// An operation that changed a block.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HistoryEntry {
    pub operation: OperationId,
    /// Time of the operation.
    #[serde(with = "As::<Time>")]
    pub time: i64,
    pub command: String,
    /// Effect on the block.
    pub what: String,
    /// Operation that undid it.
    pub undone_by: Option<OperationId>,
}

/// The explanation of a block: its state, references, levels and history.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplainReport {
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
            if block.zone == Zone::Cold { "not in the window".to_owned() } else { block.zone.label().to_owned() },
            block.level.name().to_owned(),
        ];
        if !block.topic.is_empty() {
            facts.push(block.topic.clone());
        }
        lines.push(style.paint(Paint::Dim, &clip(&facts.join(" · "), style.width)));
    }

    fn why(&self, style: &Style, lines: &mut Vec<String>) {
        let explanation = &self.explanation;
        let is_outside = explanation.state == State::Evicted;
        let state = if is_outside { "not sent" } else { explanation.state.name() };
        section(style, lines, &format!("why it is {state}"));
        let mut name = if is_outside { "place" } else { explanation.rule };
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
                    let by = kept.written_by.as_ref().map(|model| format!(", {}", written_by(model))).unwrap_or_default();
                    format!("~{} tokens{level}{by}  {}", amount(kept.tokens.round() as u64), first_words(content))
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
            let text = format!("{}{undone}, {}: {}", entry.what, ago(style.now, entry.time, "now"), entry.command);
            lines.push(row(style, &format!("operation {}", entry.operation), &text));
        }
    }
}

fn section(style: &Style, lines: &mut Vec<String>, title: &str) {
    lines.push(String::new());
    lines.push(style.paint(Paint::Heading, title));
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
