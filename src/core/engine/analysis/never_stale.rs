//! Instructions, reminders, and the texts of hooks and of aperture: they never go stale, and no rule shortens them.

use crate::engine::Analysis;
use crate::model::{Block, BlockKind, Event, Role, RowKind, ToolVerb};
use crate::text::names::file_name;

/// Files that instruct an agent, by name.
const FILES: &[&str] = &[
    "AGENTS.md", "AGENTS.override.md", "CLAUDE.local.md", "CLAUDE.md", "GEMINI.md", "MEMORY.md", "SKILL.md",
    "copilot-instructions.md", ".cursorrules",
];
/// Parts of the paths of such files.
const DIRECTORIES: &[&str] = &[".claude/rules/", ".cursor/rules/", ".claude/memory/"];

/// Commands that print files.
const PRINTERS: &[&str] = &["bat", "cat", "head", "nl", "sed", "tail"];

/// Returns true if a block instructs the model: because its client wrote it for that, or because it is the newest read of an
/// instruction file. No rule shortens it; a person who names it by number can.
pub fn instructs(block: &Block) -> bool {
    let superseded = || block.usefulness.outdated.is_some_and(|(reason, _)| reason.supersedes());
    block.ground || is_instruction_file(block) && !superseded()
}

/// Bytes from which on a block can get shorter by more than its marker line.
pub const LEAST_BYTES: u64 = 150;

/// Returns true if nearly all of a block is the words of a person.
pub fn is_said(block: &Block) -> bool {
    !block.words.is_empty() && block.bytes.saturating_sub(block.words_bytes()) < LEAST_BYTES
}

/// Returns true if a block is a part of the newest prompt that a person wrote, or was typed after it.
pub fn is_newest_prompt(reading: &Analysis, block: &Block) -> bool {
    let rows = &reading.session.rows;
    let typed = |block: &Block| rows[block.row as usize].prompt && !block.words.is_empty();
    let opens = |block: &&Block| typed(block) && rows[block.row as usize].kind == RowKind::User && !reading.is_left(block);
    let newest =
        || reading.turns.iter().rev().flat_map(|turn| &turn.blocks).filter_map(|number| reading.block(*number)).find(opens);
    typed(block) && newest().is_none_or(|newest| block.row >= newest.row)
}

/// Returns true if a block is the result of a call that the user rejected, of which the place of the reason is not known.
pub fn is_rejection(block: &Block) -> bool {
    block.kind == BlockKind::ToolResult && block.error && block.words.first().is_some_and(|(start, _)| *start == 0)
}

/// Returns true if a block is the result of a client compaction, which a digest can replace.
pub fn is_compacted(reading: &Analysis, block: &Block) -> bool {
    let row = &reading.session.rows[block.row as usize];
    row.kind == RowKind::Boundary || matches!(row.event.as_deref(), Some(Event::CompactSummary))
}

fn is_instruction_file(block: &Block) -> bool {
    let Some(tool) = block.tool.as_deref().filter(|_| block.role == Role::ToolResult && !block.error) else { return false };
    match tool.verb {
        ToolVerb::Read => is_instruction_path(&tool.target),
        ToolVerb::Run => prints_instructions(&tool.target),
        _ => false,
    }
}

fn is_instruction_path(path: &str) -> bool {
    let path = path.replace('\\', "/");
    FILES.contains(&file_name(&path))
        || DIRECTORIES.iter().any(|directory| path.contains(directory))
        || path.contains(".claude/projects/") && path.contains("/memory/")
}

/// Returns true if a command only prints files, each an instruction file: `sed -n '1,200p' a/SKILL.md && cat AGENTS.md`.
fn prints_instructions(command: &str) -> bool {
    let prints = |part: &str| {
        let mut words = part.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
        let mut paths = Vec::new();
        let is_printer = words.next().is_some_and(|first| PRINTERS.contains(&first));
        paths.extend(words.filter(|word| word.contains(['/', '\\']) || word.ends_with(".md")));
        is_printer && !paths.is_empty() && paths.into_iter().all(is_instruction_path)
    };
    command.split(['\n', ';']).flat_map(|line| line.split("&&")).all(prints)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Outdated, Tool};

    fn read(target: &str) -> Block {
        let mut block = Block::new(BlockKind::ToolResult, Role::ToolResult);
        block.tool = Some(Box::new(Tool::new("Read", ToolVerb::Read, target)));
        block
    }

    #[test]
    fn the_newest_read_of_an_instruction_file_is_an_instruction() {
        for (target, expected) in [
            ("/w/CLAUDE.md", true),
            ("C:\\w\\AGENTS.md", true),
            ("/w/.claude/rules/style.md", true),
            ("/h/.claude/projects/-w/memory/tone.md", true),
            ("/w/MY_CLAUDE.md", false),
            ("/w/src/memory/mod.rs", false),
        ] {
            assert_eq!(instructs(&read(target)), expected, "{target}");
        }
        let mut old = read("/w/CLAUDE.md");
        old.usefulness.outdated = Some((Outdated::ReadAgain, 9));
        assert!(!instructs(&old));
        old.usefulness.outdated = Some((Outdated::EditedLater, 9));
        assert!(instructs(&old), "most of it is still in force");
        for (command, expected) in [
            ("sed -n '1,240p' /h/skills/a/SKILL.md && cat \"AGENTS.md\"", true),
            ("cat CLAUDE.md README.md", false),
            ("cat CLAUDE.md; make", false),
            ("grep -n fix CLAUDE.md", false),
            ("", false),
        ] {
            let mut run = read(command);
            run.tool.as_mut().unwrap().verb = ToolVerb::Run;
            assert_eq!(instructs(&run), expected, "{command}");
        }
        let failed = Block { error: true, ..read("/w/CLAUDE.md") };
        assert!(!instructs(&failed));
    }
}
