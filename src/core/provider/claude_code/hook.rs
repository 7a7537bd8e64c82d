//! The results of tools in the events that Claude Code sends to hooks.

use serde_json::Value;

/// Returns the texts of a tool result that can be shortened safely. File reads are excluded, because the client numbers their
/// lines.
pub fn shortenable_texts<'a>(tool: &str, result: &'a mut Value) -> Vec<&'a mut String> {
    let text = |value: &'a mut Value| match value {
        Value::String(text) => Some(text),
        _ => None,
    };
    match result {
        Value::Object(members) if tool == "Bash" => members.get_mut("stdout").and_then(text).into_iter().collect(),
        Value::Array(parts) if tool.starts_with("mcp__") => parts
            .iter_mut()
            .filter(|part| part["type"] == "text")
            .filter_map(|part| part.get_mut("text").and_then(text))
            .collect(),
        _ => Vec::new(),
    }
}
