use crate::engine::mask;
use crate::model::{Basis, BlockChange, Level, MarkKind, Operation, TokenCount};
use crate::output::{Form, Report, Style, clip, count, plural, tokens};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// Maximum length of an answer that the client does not truncate, in UTF-16 code units, as the client counts.
const LONGEST: usize = 9_900;
/// Marker at the cut of a truncated answer.
const CUT: &str = "\n[truncated; for the rest: aperture manifest, aperture show]";

/// The answer to an event of an agent program.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct HookReport {
    /// The name of the event that the client sent.
    pub event: &'static str,
    /// Additional context for the model.
    pub context: Option<String>,
    /// Replacement of the result of a tool, in the form of that tool.
    pub output: Option<Value>,
    /// Text for the person, which the model does not receive.
    pub message: Option<String>,
    /// True if the prompt is held, for the reason in the message.
    pub is_held: bool,
    /// True if the client reads the answer as plain text.
    #[serde(skip)]
    pub plain: bool,
}

impl HookReport {
    /// Returns an answer with additional context for the model; the event is added when it is printed.
    pub fn context(text: &str) -> HookReport {
        HookReport { context: Some(limited(text)), ..HookReport::default() }
    }
}

impl Report for HookReport {
    const SCHEMA: &str = "aperture.hook/1";

    fn form(&self) -> Form {
        if self.plain { Form::Text } else { Form::Json }
    }

    fn text(&self, _: &Style) -> String {
        let text = self.context.clone().unwrap_or_default();
        if self.plain {
            return format!("{text}\n");
        }
        let mut answer = json!({"hookEventName": self.event});
        if let Some(context) = &self.context {
            answer["additionalContext"] = Value::from(&**context);
        }
        if let Some(output) = &self.output {
            answer["updatedToolOutput"] = output.clone();
        }
        let mut whole = json!({});
        if self.context.is_some() || self.output.is_some() {
            whole["hookSpecificOutput"] = answer;
        }
        if let Some(message) = &self.message {
            let name = if self.is_held { "reason" } else { "systemMessage" };
            whole[name] = Value::from(&**message);
        }
        if self.is_held {
            whole["decision"] = Value::from("block");
        }
        format!("{whole}\n")
    }
}

/// Masks credentials and truncates the text to the limit of the client, at the end of a line if possible.
fn limited(text: &str) -> String {
    let text = mask(text.trim_end());
    let room = LONGEST - CUT.len();
    let mut length = 0;
    let mut line_end = 0;
    for (at, character) in text.char_indices() {
        if character == '\n' && length <= room {
            line_end = at;
        }
        length += character.len_utf16();
        if length > LONGEST {
            // A line that is much too long is cut inside.
            let hard = text.char_indices().nth(room / 2).map_or(0, |(at, _)| at);
            return format!("{}{CUT}", &text[..line_end.max(hard)]);
        }
    }
    text.into_owned()
}

/// Summarizes an operation on one line, for the model. `None` if it changed nothing that the model receives.
pub fn changes_of(operation: &Operation) -> Option<String> {
    let changes: Vec<_> = operation.edits.iter().filter_map(|edit| edit.change.as_ref()).collect();
    let mut said: Vec<String> = Vec::new();
    let verbs = ["updated", "restored", "trimmed", "summarized", "reduced to a line", "archived"];
    for verb in verbs {
        let of_level: Vec<_> = changes.iter().filter(|change| verb_of(change) == verb).collect();
        if !of_level.is_empty() {
            let blocks = of_level
                .iter()
                .take(LISTED)
                .map(|change| format!("#{} {}", change.number, clip(&change.label, LABEL_CHARACTERS)));
            let more = of_level.len().saturating_sub(LISTED);
            let more = if more == 0 { String::new() } else { format!(" and {} more", count(more as u64)) };
            said.push(format!("{verb} {}{more}", blocks.collect::<Vec<_>>().join(", ")));
        }
    }
    let pins = operation.marks.iter().filter(|mark| mark.kind == MarkKind::Pin);
    for (verb, put) in [("pinned", true), ("unpinned", false)] {
        let numbers: Vec<String> =
            pins.clone().filter(|mark| mark.after.is_some() == put).map(|mark| format!("#{}", mark.number)).collect();
        if !numbers.is_empty() {
            said.push(format!("{verb} {}", numbers.join(", ")));
        }
    }
    let added = operation.edits.iter().filter(|edit| edit.before.is_none()).count();
    if added > 0 && changes.is_empty() {
        said.push(format!("added {}", plural(added, "note")));
    }
    let saved = TokenCount { value: operation.tokens_before - operation.tokens_after, basis: Basis::Estimated };
    let saved = if saved.value >= 1.0 { format!(" (saves {})", tokens(saved)) } else { String::new() };
    (!said.is_empty()).then(|| format!("- {}{saved}", said.join("; ")))
}

/// Maximum number of blocks on a line, and length of their labels: one can be a whole command.
const LISTED: usize = 6;
const LABEL_CHARACTERS: usize = 80;

fn verb_of(change: &BlockChange) -> &'static str {
    match change.level_after {
        Level::Original if change.level_before == Level::Original => "updated",
        Level::Original => "restored",
        Level::Trimmed => "trimmed",
        Level::Summarized => "summarized",
        Level::Minimal => "reduced to a line",
        Level::Archived => "archived",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_answer_is_longer_than_the_client_takes() {
        for text in [
            "x".repeat(30_000),
            "日本語\n".repeat(9_000),
            "🦀".repeat(9_000),
            format!("{}\n{}", "a".repeat(9_800), "b".repeat(500)),
        ] {
            let cut = limited(&text);
            assert!(cut.encode_utf16().count() < 10_000 && cut.ends_with(CUT), "{}", cut.len());
        }
        let short = "a line\n".repeat(1_000);
        assert_eq!(limited(&short), short.trim_end());
        let cut = limited(&"a line\n".repeat(2_000));
        assert!(cut.strip_suffix(CUT).unwrap().ends_with("\na line"), "whole lines");
    }

    #[test]
    fn no_credential_is_printed() {
        assert!(!limited("key sk-ant-api03-abcdefghijklmnopqrstuvwxyz").contains("abcdefghijkl"));
    }
}
