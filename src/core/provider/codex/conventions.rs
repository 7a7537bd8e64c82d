//! The texts that Codex writes into contents, and the names in the inputs of its tools.

use super::content::RESULT_TAGS;
use super::tool::PATCH;
use crate::model::{Conventions, InputNames, PlanNames};
use crate::provider::rewriter::RECORD;
use crate::provider::words::INPUT_HEADING;

pub(super) fn conventions() -> Conventions {
    Conventions {
        envelope_lines: vec![
            "Command: ", "Chunk ID: ", "Wall time: ", "Original token count: ", "Process exited with code 0", "Exit code: 0",
        ],
        envelope_titles: vec!["Output:"],
        running_lines: vec!["Process running with session ID "],
        status_lines: vec![
            "exit code", "process exited with", "chunk id:", "wall time:", "original token count:", "output:",
            "total output lines:",
        ],
        opening_tags: RESULT_TAGS.iter().map(|[open, _]| *open).collect(),
        inserted_tags: vec![
            "environment_context", "user_instructions", "INSTRUCTIONS", "permissions instructions", "collaboration_mode",
            "turn_aborted", "skill", RECORD,
        ],
        inserted_lines: vec!["[image", "# AGENTS.md instructions"],
        inserted_headings: vec!["# AGENTS.md"],
        changed_files: vec!["Success. Updated the following files:"],
        input_headings: vec![INPUT_HEADING],
        inputs: InputNames {
            commands: vec!["cmd", "command"],
            patches: vec!["input", "patch"],
            patch_starts: vec![PATCH],
            patch_files: vec!["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "],
            patch_moves: vec!["*** Move to: "],
            ..InputNames::default()
        },
        plans: PlanNames {
            lists: vec!["plan"],
            texts: vec!["step"],
            statuses: vec!["status"],
            done: vec!["completed", "done"],
            current: vec!["in_progress"],
            ..PlanNames::default()
        },
        ..Conventions::default()
    }
}
