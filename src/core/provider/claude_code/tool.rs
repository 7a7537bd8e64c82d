use crate::model::{Keywords, Tool, ToolVerb};
use crate::provider::command::{one_line, printed_file, scope as hash, unmarked};
use crate::provider::{files, json};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Input members that can name the target of a tool, in order of preference.
const TARGET_KEYS: &[&str] = &[
    "file_path", "notebook_path", "command", "pattern", "query", "url", "path", "skill", "subject", "taskId", "task_id",
    "bash_id", "shell_id", "description", "title", "text", "prompt", "question", "message", "name",
];

/// Input members of an edit that hold the new text; the other members refer to earlier content.
pub(super) const NEW_SIDE: &[&str] = &["new_string", "content", "new_source", "new_str", "file_text"];

/// A parsed tool use: the tool, its input as text, and the part of the input that refers to earlier content.
pub(super) struct ToolInput {
    pub tool: Tool,
    pub files: Keywords,
    pub readable: String,
    pub refers: String,
}

pub(super) fn read(name: &str, input: Option<&RawValue>) -> ToolInput {
    let members: Vec<(Cow<'_, str>, &RawValue)> = input.map(json::members).unwrap_or_default();
    let texts: Vec<(&str, Cow<'_, str>)> =
        members.iter().map(|(key, value)| (key.as_ref(), json::text(*value).unwrap_or(Cow::Borrowed(value.get())))).collect();
    let get = |key: &str| texts.iter().rev().find(|(known, _)| *known == key).map(|(_, text)| text.as_ref());
    let target = TARGET_KEYS
        .iter()
        .find_map(|key| get(key))
        .or_else(|| texts.iter().find(|(_, text)| !text.is_empty()).map(|(_, text)| text.as_ref()))
        .unwrap_or_default();

    let target = unmarked(target);
    let mut verb = verb(name);
    let mut shown = Cow::Borrowed(target);
    let (mut scope, mut whole, mut lines) = (0, false, String::new());
    match verb {
        ToolVerb::Read => {
            whole = get("offset").is_none() && get("limit").is_none() && get("pages").is_none();
            lines = line_range(get("offset"), get("limit"));
            scope =
                hash(&[get("offset").unwrap_or_default(), get("limit").unwrap_or_default(), get("pages").unwrap_or_default()]);
        }
        ToolVerb::Run => {
            scope = hash(&[target.trim()]);
            if let Some(printed) = printed_file(target) {
                scope = hash(&[&printed.selection]);
                lines = printed.lines;
                (verb, shown) = (ToolVerb::Read, Cow::Owned(printed.path));
            }
        }
        ToolVerb::Search | ToolVerb::Other => scope = hash(&[input.map_or("", RawValue::get)]),
        ToolVerb::Plan | ToolVerb::Edit => {}
    }
    let files = match verb {
        ToolVerb::Plan => Vec::new(),
        ToolVerb::Run | ToolVerb::Read if get("command").is_some() => {
            files::of_command(unmarked(get("command").unwrap_or_default()), "")
        }
        ToolVerb::Read | ToolVerb::Edit if !target.is_empty() => vec![target.to_owned()],
        _ => texts.iter().filter(|(_, text)| files::is_file(text)).map(|(_, text)| text.to_string()).collect(),
    };
    let join = |keep: &dyn Fn(&str) -> bool| {
        let mut text = String::new();
        for (key, value) in texts.iter().filter(|(key, _)| keep(key)) {
            text.push_str(key);
            text.push_str(": ");
            text.push_str(value);
            text.push('\n');
        }
        text
    };
    let (edit, parameters) = (verb == ToolVerb::Edit, texts.len() as u32);
    ToolInput {
        tool: Tool { scope, whole, lines: lines.into(), parameters, ..Tool::new(name, verb, &one_line(&shown)) },
        files: files.iter().map(String::as_str).collect(),
        readable: join(&|_| true),
        refers: join(&|key| !(edit && NEW_SIDE.contains(&key))),
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

    fn input(name: &str, json: &str) -> ToolInput {
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
        assert!(edit.readable.contains("fresh"));
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
