use crate::model::{Tool, ToolVerb};
use crate::provider::command::{one_line, printed_file, scope as hash, unmarked};
use crate::provider::tool_input::{Call, Input};
use crate::provider::{files, json};
use crate::text::shell::joined_lines;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Input members that can name the target of a tool, in order of preference.
const TARGET_KEYS: &[&str] = &[
    "file_path", "notebook_path", "command", "pattern", "query", "url", "path", "skill", "subject", "taskId", "task_id",
    "bash_id", "shell_id", "description", "title", "text", "prompt", "question", "message", "name",
];

/// Input members of an edit that hold the new text; the other members refer to earlier content.
pub(super) const NEW_SIDE: &[&str] = &["new_string", "content", "new_source", "new_str", "file_text"];

/// Input members that select a part of a file.
const PARTS: [&str; 3] = ["offset", "limit", "pages"];

pub(super) fn read(name: &str, input: Option<&RawValue>) -> Call {
    let input = Input::new(input, json::shown);
    let target = TARGET_KEYS.iter().find_map(|key| input.get(key)).or_else(|| input.first());
    let target = unmarked(target.unwrap_or_default());
    let mut verb = verb(name);
    let mut shown = Cow::Borrowed(target);
    let (mut scope, mut whole, mut lines) = (0, false, String::new());
    match verb {
        ToolVerb::Read => {
            whole = PARTS.iter().all(|part| input.get(part).is_none());
            lines = line_range(input.get("offset"), input.get("limit"));
            scope = hash(&PARTS.map(|part| input.get(part).unwrap_or_default()));
        }
        ToolVerb::Run => {
            (scope, shown) = (hash(&[target.trim()]), joined_lines(target));
            if let Some(printed) = printed_file(target, "") {
                scope = hash(&[&printed.selection]);
                lines = printed.lines;
                (verb, shown) = (ToolVerb::Read, Cow::Owned(printed.path));
            }
        }
        ToolVerb::Search | ToolVerb::Other => scope = hash(&[input.whole]),
        ToolVerb::Plan | ToolVerb::Edit => {}
    }
    let files = match verb {
        ToolVerb::Plan => Vec::new(),
        ToolVerb::Run | ToolVerb::Read if input.get("command").is_some() => {
            files::of_command(unmarked(input.get("command").unwrap_or_default()), "")
        }
        ToolVerb::Read | ToolVerb::Edit if !target.is_empty() => vec![target.to_owned()],
        _ => input.files(),
    };
    let parameters = input.parameters();
    Call {
        tool: Tool { scope, whole, lines: lines.into(), parameters, ..Tool::new(name, verb, &one_line(&shown)) },
        files: files.iter().map(String::as_str).collect(),
        readable: Some(input.lines(|_| true)),
        refers: input.lines(|name| verb != ToolVerb::Edit || !NEW_SIDE.contains(&name)),
    }
}

/// Returns the lines of a file from an offset, at most `limit` of them; empty for the whole file.
fn line_range(offset: Option<&str>, limit: Option<&str>) -> String {
    let number = |text: Option<&str>| text.and_then(|text| text.trim().parse::<u64>().ok());
    match (number(offset), number(limit)) {
        (None, None) => String::new(),
        (offset, None) => format!("{}-", offset.unwrap_or(1)),
        (offset, Some(limit)) => {
            let first = offset.unwrap_or(1).max(1);
            format!("{first}-{}", first.saturating_add(limit).saturating_sub(1))
        }
    }
}

fn verb(name: &str) -> ToolVerb {
    match name {
        "Read" | "NotebookRead" | "View" => ToolVerb::Read,
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => ToolVerb::Edit,
        "Bash" | "PowerShell" | "bash" => ToolVerb::Run,
        "Grep" | "Glob" | "LS" => ToolVerb::Search,
        "TodoWrite" | "TodoRead" | "TaskCreate" | "TaskUpdate" | "TaskList" => ToolVerb::Plan,
        _ => ToolVerb::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(name: &str, json: &str) -> Call {
        read(name, Some(serde_json::from_str(json).unwrap()))
    }

    #[test]
    fn a_read_names_its_file_and_range() {
        let whole = input("Read", r#"{"file_path":"/a/b.rs"}"#).tool;
        assert_eq!((&*whole.target, whole.whole, whole.verb), ("/a/b.rs", true, ToolVerb::Read));
        let part = input("Read", r#"{"file_path":"/a/b.rs","offset":10,"limit":5}"#).tool;
        assert!(!part.whole && part.scope != whole.scope);
    }

    #[test]
    fn an_edit_refers_to_the_old_side_only() {
        let edit = input("Edit", r#"{"file_path":"/a","old_string":"old\nline","new_string":"fresh"}"#);
        assert_eq!(edit.refers, "file_path: /a\nold_string: old\nline\n");
        assert!(edit.readable.unwrap().contains("fresh"));
    }

    #[test]
    fn an_unknown_tool_shows_its_first_text() {
        assert_eq!(&*input("mcp__x__y", r#"{"n":60,"who":"me"}"#).tool.target, "60");
        assert_eq!(&*input("X", "[]").tool.target, "");
    }

    #[test]
    fn a_long_command_is_cut_to_one_line() {
        let long = format!(r#"{{"command":"{}"}}"#, "word\\n".repeat(300));
        let target = input("Bash", &long).tool.target;
        assert!(target.len() < 420 && target.ends_with('…') && !target.contains('\n'), "{target}");
    }
}
