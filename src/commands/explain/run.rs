use super::Arguments;
use super::report::{Decision, ExplainReport, HistoryEntry};
use crate::app::{CommandError, Env, ErrorKind};
use crate::commands::blocks::BlockRow;
use crate::engine::{self, LevelPreview, Selector, SelectorError, Subject};
use crate::model::{Block, BlockNumber, History, Level, OperationKind};
use crate::store::Store;
use crate::workspace::{Aim, DigestFold, PlanError, Scope, SkipReason, Workspace, fold_into_digest, shrink};
use anyhow::anyhow;

/// Explains the block.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), CommandError> {
    env.print(&report(env, arguments)?)
}

/// Returns the explanation.
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
                };
                let mut levels = engine::levels(reading, &subject);
                levels.push(by_preset(env, workspace, store.as_ref(), block)?);
                (levels, decisions(env, block, &original.content, None))
            }
            Err(PlanError::NoOriginal(_)) => (Vec::new(), decisions(env, block, "", Some(SkipReason::NoOriginal.reason()))),
            Err(error) => return Err(error.into()),
        },
    };
    Ok(ExplainReport {
        block: BlockRow::new(reading, block),
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
    let refuse = |error| Err(CommandError::new(ErrorKind::Refused, error).hint("to list every block: aperture blocks all"));
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

/// Returns the log entries that concern a block.
fn entries(history: &History, number: BlockNumber) -> Vec<HistoryEntry> {
    let mut entries = Vec::new();
    for operation in &history.operations {
        let changes = operation.edits.iter().filter_map(|edit| edit.change.as_ref()).filter(|change| change.number == number);
        let changes = changes.map(|change| {
            let amount = |tokens: f64| engine::amount(tokens.round() as u64);
            let tokens = format!("({} → {} tokens)", amount(change.tokens_before), amount(change.tokens_after));
            format!("{} → {} {tokens}", change.level_before.name(), change.level_after.name())
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
                undone_by: history.undone_by(operation.id),
            });
        }
    }
    entries
}
