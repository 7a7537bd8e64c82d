//! The texts that Claude Code writes into contents, and the names in the inputs of its tools.

use super::tool::NEW_SIDE;
use super::words::REJECTED;
use crate::model::{Conventions, InputNames, PlanNames};
use crate::provider::words::INPUT_HEADING;

/// The tokens of the system prompt, the tools and what else is sent and not recorded, in 8 of 10 sessions of 43.
const UNRECORDED_TOKENS: (u32, u32) = (20_000, 48_000);

/// Returns the conventions of Claude Code and of the tools that Anthropic defines.
pub(super) fn conventions() -> Conventions {
    Conventions {
        status_lines: vec!["exit code"],
        error_tags: vec!["<tool_use_error>", "</tool_use_error>"],
        declined: [REJECTED, &["Request interrupted", "Cancelled:", "[Request interrupted"]].concat(),
        cancelled: vec!["Sibling tool call errored"],
        opening_tags: vec![
            "<system-reminder>\n", "<local-command-stdout>", "<local-command-stderr>", "<bash-stdout>", "<bash-stderr>",
        ],
        inserted_tags: vec![
            "system-reminder", "command-message", "command-name", "command-args", "command-contents", "local-command-stdout",
            "local-command-stderr", "local-command-caveat", "bash-input", "bash-stdout", "bash-stderr", "ide_opened_file",
            "ide_selection", "ide_diagnostics", "new-diagnostics", "task-notification", "persisted-output",
            "user-prompt-submit-hook",
        ],
        inserted_lines: vec![
            "[Request interrupted",
            "[Image",
            "[image",
            "[Pasted text",
            "[Truncated",
            "Caveat: The messages below",
            "Base directory for this skill",
            "ARGUMENTS:",
            "This session is being continued from a previous conversation",
        ],
        reminder_lines: vec!["<system-reminder>"],
        typed_commands: vec!["<command-"],
        client_commands: vec![
            "/clear", "/model", "/compact", "/exit", "/resume", "/login", "/mcp", "/config", "/usage", "/context",
        ],
        input_headings: vec![INPUT_HEADING],
        reason_starts: vec!["the user said:\n", "the following reason for the rejection:"],
        reason_ends: vec!["\n\nNote: The user"],
        no_reasons: vec!["The user wants to clarify these questions", "(No answer provided)"],
        hook_messages: vec!["Operation stopped by hook:"],
        created_files: vec!["File created successfully"],
        changed_files: vec![" has been updated"],
        answer_marks: vec!["\"=\""],
        inputs: InputNames {
            commands: vec!["command"],
            replaced: vec!["old_string", "old_str"],
            written: NEW_SIDE.to_vec(),
            replacements: vec![("old_string", "new_string")],
            edits: vec!["edits"],
            ..InputNames::default()
        },
        plans: PlanNames {
            lists: vec!["todos"],
            texts: vec!["content", "text", "subject"],
            created: vec!["subject"],
            changed: vec!["taskId"],
            statuses: vec!["status"],
            done: vec!["completed"],
            current: vec!["in_progress"],
            removed: vec!["deleted", "cancelled"],
        },
        unrecorded_tokens: Some(UNRECORDED_TOKENS),
        ..Conventions::default()
    }
}
