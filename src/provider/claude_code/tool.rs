use crate::model::{Tool, ToolVerb};
use crate::provider::json;
use serde_json::value::RawValue;
use std::borrow::Cow;
use twox_hash::XxHash3_64;

/// Longest target that is kept, in bytes.
const TARGET_BYTES: usize = 400;

/// The members that name what a tool is pointed at, the most telling first.
const TARGET_KEYS: &[&str] = &[
    "file_path",
    "notebook_path",
    "command",
    "pattern",
    "query",
    "url",
    "path",
    "skill",
    "subject",
    "taskId",
    "task_id",
    "bash_id",
    "shell_id",
    "description",
    "title",
    "text",
    "prompt",
    "question",
    "message",
    "name",
];

/// The members of an edit that hold what is new: everything else of its input refers to what was there.
const NEW_SIDE: &[&str] = &["new_string", "content", "new_source", "new_str", "file_text"];

/// A tool use, read: what it does, its input as text, and the part of the input that refers to what was known.
pub(super) struct ToolInput {
    pub tool: Tool,
    pub readable: String,
    pub refers: String,
}

/// Reads the name and the input of a tool use.
pub(super) fn read(name: &str, input: Option<&RawValue>) -> ToolInput {
    let members: Vec<(Cow<'_, str>, &RawValue)> = input.map(json::members).unwrap_or_default();
    let texts: Vec<(&str, Cow<'_, str>)> =
        members.iter().map(|(key, value)| (key.as_ref(), json::text(value).unwrap_or(Cow::Borrowed(value.get())))).collect();
    let get = |key: &str| texts.iter().rev().find(|(known, _)| *known == key).map(|(_, text)| text.as_ref());
    let target = TARGET_KEYS
        .iter()
        .find_map(|key| get(key))
        .or_else(|| texts.iter().find(|(_, text)| !text.is_empty()).map(|(_, text)| text.as_ref()))
        .unwrap_or_default();

    let target = unmarked(target);
    let mut verb = verb(name);
    let mut shown = target;
    let (mut scope, mut whole) = (0, false);
    match verb {
        ToolVerb::Read => {
            whole = get("offset").is_none() && get("limit").is_none() && get("pages").is_none();
            scope =
                hash(&[get("offset").unwrap_or_default(), get("limit").unwrap_or_default(), get("pages").unwrap_or_default()]);
        }
        ToolVerb::Run => {
            scope = hash(&[target.trim()]);
            if let Some(path) = printed_file(target) {
                (verb, shown) = (ToolVerb::Read, path);
            }
        }
        ToolVerb::Search | ToolVerb::Other => scope = hash(&[input.map_or("", RawValue::get)]),
        ToolVerb::Plan | ToolVerb::Edit => {}
    }
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
    let edit = verb == ToolVerb::Edit;
    ToolInput {
        tool: Tool { name: name.into(), verb, target: one_line(shown).into(), scope, whole, parameters: texts.len() as u32 },
        readable: join(&|_| true),
        refers: join(&|key| !(edit && NEW_SIDE.contains(&key))),
    }
}

/// A text without the line that says how it was shortened.
fn unmarked(text: &str) -> &str {
    match text.split_once("\n") {
        Some((line, rest)) if line.starts_with("[#") && line.ends_with(")]") => rest,
        _ => text,
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

fn hash(parts: &[&str]) -> u64 {
    XxHash3_64::oneshot(parts.join("\0").as_bytes())
}

fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.len() + word.len() > TARGET_BYTES {
            line.push_str(word.get(..TARGET_BYTES.saturating_sub(line.len())).unwrap_or_default());
            line.push('…');
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The file that a command prints and does nothing else with: `cat F`, `nl -ba F`, `sed -n '1,9p' F`, `head -n 5 F`, after an optional `cd D &&`.
fn printed_file(command: &str) -> Option<&str> {
    let mut words: Vec<&str> = command.split_whitespace().collect();
    if words.len() > 3 && words[0] == "cd" && words[2] == "&&" {
        words.drain(..3);
    }
    let (file, options) = words.split_last()?;
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./@-".contains(&byte));
    let range = |text: &str| {
        let inner = text.trim_matches(['\'', '"']);
        inner.ends_with('p') && inner[..inner.len() - 1].bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
    };
    let count = |text: &str| text.trim_start_matches("-n").trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    let prints = match options {
        ["cat"] | ["nl", "-ba"] | ["head"] | ["tail"] => true,
        ["sed", "-n", lines] => range(lines),
        ["head" | "tail", "-n", lines] => count(lines),
        ["head" | "tail", lines] => lines.starts_with('-') && count(lines),
        _ => false,
    };
    (prints && plain(file) && !file.starts_with('-')).then_some(*file)
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
    fn commands_that_print_a_file_are_reads() {
        for (command, file) in [
            ("cat src/a.rs", Some("src/a.rs")),
            ("cd /w && sed -n '1,20p' a.py", Some("a.py")),
            ("head -n 5 a", Some("a")),
            ("tail -20 log.txt", Some("log.txt")),
            ("cat a b", None),
            ("cat a | wc", None),
            ("cargo test", None),
            ("", None),
        ] {
            assert_eq!(printed_file(command), file, "{command}");
        }
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
