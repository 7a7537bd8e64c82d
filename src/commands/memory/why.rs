//! `aperture memory why`: prints the evidence of an entry, quoted from the sessions.

use super::compose;
use super::learning::Learning;
use super::report::{MemoryQuote, MemoryWhyReport};
use super::run::Memories;
use crate::app::CommandError;
use crate::engine::label;
use crate::engine::memory::words::plain_words;
use crate::model::{Block, BlockNumber, Key, Memory, MemoryKind, Sighting, id_starts_with};
use crate::workspace::{Found, Workspace, find_in_folder};
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a quote.
const QUOTE: usize = 400;
/// The label of a prompt that no block records.
const QUEUED: &str = "typed while the agent worked";
/// Other files in a folder of sessions that are read.
const OTHER_FILES: usize = 16;

/// Prints the evidence.
pub fn run(memories: &Memories<'_>, id: &str) -> Result<(), CommandError> {
    let memory = memories.find(id).or_else(|error| not_learned(memories, id).ok_or(error))?;
    let mut opened: BTreeMap<String, Result<Workspace<'static>, String>> = BTreeMap::new();
    let mut evidence = Vec::new();
    for sighting in &memory.evidence {
        let session = opened.entry(sighting.session.clone()).or_insert_with(|| open(memories, &sighting.session));
        evidence.push(match session {
            Ok(workspace) => quote(workspace, sighting, &memory),
            Err(reason) => kept(sighting, reason, &memory),
        });
    }
    memories.env.print(&MemoryWhyReport { memory, evidence })
}

/// Finds an entry that `compose` prints although no tree has it yet: sessions teach it that were not learned.
fn not_learned(memories: &Memories<'_>, id: &str) -> Option<Memory> {
    let name = id.trim_start_matches('#');
    let current = compose::current(memories, &Learning::of_project(memories)).ok()?;
    current.into_iter().find(|memory| memory.name() == name || memory.id.to_string() == name)
}

fn open(memories: &Memories<'_>, prefix: &str) -> Result<Workspace<'static>, String> {
    let env = memories.env;
    let found = in_folder(memories, prefix).map_or_else(|| env.find_by(prefix), Ok);
    let found = found.map_err(|_| "this session no longer exists on this machine".to_owned())?;
    env.read(found).map_err(|error| format!("{:#}", error.source))
}

fn in_folder(memories: &Memories<'_>, prefix: &str) -> Option<Found> {
    let folder = memories.project.sessions.as_deref()?;
    let found = find_in_folder(memories.env.disk, folder, OTHER_FILES).into_iter().map(|(found, _)| found);
    found.into_iter().find(|found| id_starts_with(&found.location.id, prefix))
}

/// Returns the words that the entry itself keeps of a session that no longer exists: those of the user, or the error.
fn kept(sighting: &Sighting, reason: &str, memory: &Memory) -> MemoryQuote {
    let is_quote = !memory.is_edited && (memory.kind.is_statement() || memory.kind == MemoryKind::Resolution);
    let quote = is_quote.then(|| excerpt(&memory.text, &memory.text));
    let label = quote.is_some().then(|| "kept in the entry".to_owned());
    MemoryQuote { quote, label, ..missing(sighting, &sighting.session, reason) }
}

fn missing(sighting: &Sighting, session: &str, reason: &str) -> MemoryQuote {
    let (session, missing) = (session.to_owned(), Some(reason.to_owned()));
    MemoryQuote { session, block: sighting.block, time: None, label: None, quote: None, missing }
}

fn quote(workspace: &Workspace<'_>, sighting: &Sighting, memory: &Memory) -> MemoryQuote {
    let id = &workspace.location.id;
    let Some(block) = sighted(workspace, sighting) else {
        return missing(sighting, id, "the session has no such block any more");
    };
    let content =
        workspace.contents(&[block.number]).ok().and_then(|mut contents| contents.pop()).map(|content| content.readable);
    if let Some(prompt) = queued(workspace, block.number, content.as_deref().unwrap_or_default(), &memory.text) {
        let (quote, label) = (Some(excerpt(&prompt, &memory.text)), Some(QUEUED.to_owned()));
        return MemoryQuote { session: id.clone(), block: block.number, time: block.timestamp, label, quote, missing: None };
    }
    let quote = content.map(|content| excerpt(&content, &memory.text));
    let reason = quote.is_none().then(|| "the content of the block cannot be read".to_owned());
    let label = label(block);
    let is_quote = label.starts_with('"');
    let label = Some(if is_quote { block.role.name().to_owned() } else { label });
    MemoryQuote { session: id.clone(), block: block.number, time: block.timestamp, label, quote, missing: reason }
}

/// Returns the block of a sighting, by its row: blocks can be numbered differently since. A row that the client does not name is known by
/// the block alone.
fn sighted<'w>(workspace: &'w Workspace<'_>, sighting: &Sighting) -> Option<&'w Block> {
    let session = &workspace.reading.session;
    let row = Key::from_text(&sighting.row);
    let is_there = |block: &&Block| session.rows[block.row as usize].id == Some(row);
    let is_named = !sighting.row.is_empty() && !sighting.row.starts_with('L');
    let numbered = workspace.reading.block(sighting.block).filter(|block| !is_named || is_there(block));
    numbered.or_else(|| session.blocks.iter().find(|block| is_named && is_there(block)))
}

/// Returns the prompt, typed while the agent worked and recorded in no block, that has more words of a text than the block of a
/// sighting: the one that it follows.
fn queued(workspace: &Workspace<'_>, block: BlockNumber, content: &str, text: &str) -> Option<Box<str>> {
    let words: BTreeSet<String> = plain_words(text).collect();
    let common = |other: &str| plain_words(other).collect::<BTreeSet<_>>().intersection(&words).count();
    let queued = workspace.reading.session.queued_words().into_iter().filter(|(before, _)| *before >= block);
    let known = common(content);
    let better = queued.map(|(_, prompt)| (common(&prompt), prompt)).filter(|(common, _)| *common > known);
    // The first of several.
    better.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, prompt)| prompt)
}

/// Returns the part of a content with most of the words of a memory.
fn excerpt(content: &str, text: &str) -> String {
    let words: Vec<String> = plain_words(text).collect();
    let lines: Vec<&str> = content.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let score = |line: &str| plain_words(line).filter(|word| words.contains(word)).count();
    let scores: Vec<usize> = lines.iter().map(|line| score(line)).collect();
    let best = scores.iter().copied().max().unwrap_or_default();
    let first = scores.iter().position(|score| *score == best).unwrap_or_default();
    let start = if content.chars().count() <= QUOTE { 0 } else { first.saturating_sub(1) };
    let rest = lines.get(start..).unwrap_or_default().join(" ");
    let lead = if start > 0 { "… " } else { "" };
    let quote: String = rest.chars().take(QUOTE).collect();
    let end = if quote.len() < rest.len() { " …" } else { "" };
    format!("{lead}{quote}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_about_the_memory_is_quoted() {
        assert_eq!(excerpt("use tabs\nplease", "use tabs"), "use tabs please");
        let long = format!("{}\nalways use tabs\n{}", "word ".repeat(200), "other ".repeat(200));
        let quote = excerpt(&long, "use tabs");
        assert!(quote.contains("word") && quote.chars().count() <= QUOTE + 4);
        let far = format!("{}\n{}\nalways use tabs\nend", "word ".repeat(90), "a");
        assert_eq!(excerpt(&far, "use tabs"), "… a always use tabs end");
        assert_eq!(excerpt("", "x"), "");
    }
}
