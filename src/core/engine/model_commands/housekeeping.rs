//! The fenced block `aperture` in a text of the model: its words about the turn, and requests for turns.
//!
//! ```text
//! {"housekeeping": {"response_header": "…", …}, "context_requests": [{"turns": "3,7..9", "as": "summary"}]}
//! ```

use super::{FoundCommand, Malformed, ModelCommand};
use crate::engine::report::summary::HEADER_TOKENS;
use crate::engine::{TurnForm, TurnPriority, TurnRequest, mask, o200k};
use crate::model::{FENCE, Housekeeping, PromptNotes, Verb};
use crate::text::cut::{one_line, with_ellipsis};
use serde_json::{Map, Value};
use std::ops::Range;

/// The maximum size of the block, in bytes.
const LONGEST: usize = 16 << 10;
/// The maximum number of requests in a block.
const MOST_REQUESTS: usize = 5;
/// The maximum number of entries of a list.
const MOST_ENTRIES: usize = 8;
/// The maximum size of a summary and of another text, in tokens.
const SUMMARY_TOKENS: u32 = 120;
const ENTRY_TOKENS: u32 = 40;

/// Returns true if a line opens the block.
pub fn is_fence(line: &str) -> bool {
    line.strip_prefix(FENCE).is_some_and(|rest| rest.trim().is_empty())
}

/// Returns the commands of the block at the start of a text, and its length in bytes with its last line.
pub fn block(text: &str) -> (usize, Vec<FoundCommand>) {
    let start = text.find('\n').map_or(text.len(), |end| end + 1);
    let mut end = start;
    let mut length = text.len();
    for line in text[start..].split_inclusive('\n') {
        if line.trim_end() == "```" {
            length = end + line.len();
            break;
        }
        end += line.len();
    }
    let (body, place) = (&text[start..end], 0..text[..length].trim_end().len());
    let value = match object(body) {
        Ok(value) => value,
        Err(malformed) => return (length, vec![FoundCommand { place, command: Err(malformed) }]),
    };
    let mut commands = Vec::new();
    if let Some(housekeeping) = value.get("housekeeping") {
        commands.push(FoundCommand { place, command: words(housekeeping).map(command) });
    }
    for range in requests(body).into_iter().take(MOST_REQUESTS) {
        let command = request(&body[range.clone()]);
        commands.push(FoundCommand { place: start + range.start..start + range.end, command });
    }
    if commands.is_empty() {
        let malformed = Malformed::Housekeeping("it has neither housekeeping nor context_requests".to_owned());
        commands.push(FoundCommand { place: 0..text[..length].trim_end().len(), command: Err(malformed) });
    }
    (length, commands)
}

/// Parses a stored command: a block, or a request in one.
pub fn read(text: &str) -> Option<ModelCommand> {
    if text.starts_with(FENCE) {
        return block(text).1.into_iter().next()?.command.ok();
    }
    request(text).ok()
}

/// Parses the words of the model about a turn.
/// Errors: the text is not a JSON object, is too long or too deep, or has no known key.
pub fn parse(text: &str) -> Result<Housekeeping, Malformed> {
    let value = object(text)?;
    words(value.get("housekeeping").unwrap_or(&Value::Object(value.clone())))
}

/// Returns the command that records words about a turn.
pub fn command(words: Housekeeping) -> ModelCommand {
    ModelCommand { housekeeping: Some(Box::new(words)), ..ModelCommand::new(Verb::Housekeeping, Vec::new()) }
}

fn object(text: &str) -> Result<Map<String, Value>, Malformed> {
    let refused = |why: String| Err(Malformed::Housekeeping(why));
    if text.len() > LONGEST {
        return refused(format!("it has {} bytes; the maximum is {LONGEST}", text.len()));
    }
    // The parser limits the depth.
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => refused("it is not a JSON object".to_owned()),
        Err(error) => refused(format!("it is not JSON: {error}")),
    }
}

/// Returns the known texts of an object, each cut to its maximum. Unknown keys and values of another type are ignored.
fn words(value: &Value) -> Result<Housekeeping, Malformed> {
    let text = |value: &Value, key: &str, most: u32| value[key].as_str().map(|text| cut(text, most)).unwrap_or_default();
    let list = |value: &Value, key: &str| -> Vec<String> {
        let entries = match &value[key] {
            Value::Array(entries) => entries.as_slice(),
            single => std::slice::from_ref(single),
        };
        let texts = entries.iter().filter_map(|entry| match entry {
            Value::String(text) => Some(cut(text, ENTRY_TOKENS)),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        texts.filter(|text| !text.is_empty()).take(MOST_ENTRIES).collect()
    };
    let user = &value["user"];
    let words = Housekeeping {
        response_header: text(value, "response_header", HEADER_TOKENS),
        context_summary: text(value, "context_summary", SUMMARY_TOKENS),
        key_decisions: list(value, "key_decisions"),
        code_changes: list(value, "code_changes"),
        user: PromptNotes {
            query_header: text(user, "query_header", HEADER_TOKENS),
            understood_intent: text(user, "understood_intent", ENTRY_TOKENS),
            context_used: list(user, "context_used"),
        },
        written_by: String::new(),
        claimed: false,
    };
    if words == Housekeeping::default() {
        return Err(Malformed::Housekeeping("housekeeping has no known key, such as response_header".to_owned()));
    }
    Ok(words)
}

/// Returns a text on one line without credentials, cut to a number of tokens between words.
fn cut(text: &str, most: u32) -> String {
    let line = mask(&one_line(text)).into_owned();
    if o200k(&line) <= most {
        return line;
    }
    let spaces: Vec<usize> = line.match_indices(' ').map(|(at, _)| at).collect();
    let count = spaces.partition_point(|at| o200k(&with_ellipsis(&line[..*at])) <= most);
    count.checked_sub(1).map_or_else(String::new, |last| with_ellipsis(&line[..spaces[last]]))
}

/// Returns the places of the requests in a block.
fn requests(body: &str) -> Vec<Range<usize>> {
    const KEY: &str = "\"context_requests\"";
    let list = body.find(KEY).map(|at| at + KEY.len()).and_then(|at| {
        let rest = body[at..].trim_start().strip_prefix(':')?.trim_start().strip_prefix('[')?;
        Some(body.len() - rest.len())
    });
    let Some(mut at) = list else { return Vec::new() };
    let mut found = Vec::new();
    loop {
        at += body[at..].len() - body[at..].trim_start_matches(|c: char| c.is_whitespace() || c == ',').len();
        let mut values = serde_json::Deserializer::from_str(&body[at..]).into_iter::<Value>();
        let Some(Ok(_)) = values.next() else { return found };
        found.push(at..at + values.byte_offset());
        at += values.byte_offset();
    }
}

/// Parses a request: an object with the turns, or only these.
fn request(text: &str) -> Result<ModelCommand, Malformed> {
    let value: Value = serde_json::from_str(text).map_err(|error| Malformed::Housekeeping(format!("not JSON: {error}")))?;
    let refused = |what: &str| {
        Malformed::Housekeeping(format!("a request needs {what}; example: {{\"turns\": \"3,7..9\", \"as\": \"summary\"}}"))
    };
    let turns = if value.is_object() { &value["turns"] } else { &value };
    let list = match turns {
        Value::Array(numbers) => numbers.iter().map(Value::to_string).collect::<Vec<_>>().join(","),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let turns = list.parse().map_err(|_| refused("turns"))?;
    let name = |key: &str| value.get(key).and_then(Value::as_str);
    let form = name("as").map(|name| TurnForm::from_name(name).ok_or_else(|| refused("a form: header, summary, full or mixed")));
    let order = name("priority")
        .map(|name| TurnPriority::from_name(name).ok_or_else(|| refused("an order: recent, relevant or specific")));
    let query = name("query").unwrap_or_default().to_owned();
    let turns = TurnRequest { turns, form: form.transpose()?.unwrap_or_default(), priority: order.transpose()?, query };
    Ok(ModelCommand { turns: Some(turns), ..ModelCommand::new(Verb::Recall, Vec::new()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::model_commands::{find, read_all};

    fn check(body: &str) -> Vec<String> {
        let text = format!("Done.\n\n{FENCE}\n{body}\n```\nThe end.\n@pin(3)");
        let found = find(&text);
        for (found, of_all) in found.iter().zip(read_all(&format!("{FENCE}\n{body}\n```"))) {
            assert_eq!(found.command, of_all.command);
        }
        let shown = found.into_iter().map(|found| match found.command {
            Ok(command) => {
                assert_eq!(super::super::read(&text[found.place]), Some(command.clone()));
                let turns = command.turns.map(|turns| format!(" {} {}", turns.turns, turns.form)).unwrap_or_default();
                let words = command.housekeeping.map(|words| format!(" {}", serde_json::to_string(&*words).unwrap()));
                format!("{}{turns}{}", command.verb, words.unwrap_or_default())
            }
            Err(malformed) => malformed.to_string(),
        });
        shown.collect()
    }

    #[test]
    fn a_block_has_words_and_requests() {
        let body = r#"{"mood": 3, "housekeeping": {"response_header": "Parser done", "key_decisions": "keep comments", "x": [1],
            "user": {"context_used": [3, "turn 7"]}}, "context_requests": [{"turns": "3,7..9", "as": "full"}, [4, 5], "12"]}"#;
        let words =
            r#"{"response_header":"Parser done","key_decisions":["keep comments"],"user":{"context_used":["3","turn 7"]}}"#;
        let housekeeping = format!("housekeeping {words}");
        assert_eq!(check(body), [&*housekeeping, "recall 3,7..9 full", "recall 4,5 mixed", "recall 12 mixed", "pin"]);
    }

    #[test]
    fn an_unusable_block_is_refused() {
        let refused = |body: &str, expected: &str| {
            let found = check(body);
            assert!(found.len() == 2 && found[0].contains(expected), "{body:.40}: {found:?}");
        };
        refused("", "it is not JSON");
        refused("[]", "it is not a JSON object");
        refused("{}", "neither housekeeping nor context_requests");
        refused(r#"{"housekeeping": {"mood": "good"}}"#, "no known key");
        refused(r#"{"context_requests": [{"turns": "x"}]}"#, "a request needs turns");
        refused(r#"{"context_requests": [{"turns": "3", "as": "long"}]}"#, "a form: header");
        refused(&format!("{{\"housekeeping\": {}{}}}", "[".repeat(1_000), "]".repeat(1_000)), "recursion limit");
        refused(&format!("{{\"housekeeping\": \"{}\"}}", "x".repeat(LONGEST)), "the maximum is 16384");
    }

    #[test]
    fn texts_are_cut_to_their_maximum() {
        let long = "one two three four five six seven ".repeat(90);
        let words =
            parse(&format!(r#"{{"response_header": "{long}", "context_summary": "{long}", "code_changes": ["{long}"]}}"#));
        let words = words.unwrap();
        let tokens = [&words.response_header, &words.context_summary, &words.code_changes[0]].map(|text| o200k(text));
        assert!(tokens[0] <= 12 && tokens[1] <= 120 && tokens[2] <= 40 && tokens.iter().all(|count| *count > 8), "{tokens:?}");
    }

    #[test]
    fn other_fences_are_code() {
        for text in ["```json\n{\"housekeeping\": {}}\n```", "````\n```aperture\n{}\n```\n````", "> ```aperture\n> {}\n> ```"] {
            assert!(find(text).is_empty(), "{text}");
        }
        assert_eq!(find("```aperture\n{\"housekeeping\":").len(), 1, "an open block");
    }
}
