//! Blocks: the content of each piece of an item, as the model sees it.

use super::item::{self, Piece, Sort};
use super::tool;
use crate::model::{Block, BlockKind, Media, Role};
use crate::provider::json::{elements, joined, key_of, member, members, range_in, shown, text, text_of};
use crate::provider::{ParsedBlock, media, words};
use crate::text::sentence::fenced_input;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Prefixes of texts that the client adds in the user's name, with their labels. The client itself searches for them, so edits must
/// preserve them.
const CLIENT_TEXTS: &[(&str, &str)] = &[
    ("# AGENTS.md instructions", "agents_md"),
    ("<INSTRUCTIONS>", "INSTRUCTIONS"),
    ("<environment_context>", "environment_context"),
    ("<user_instructions>", "user_instructions"),
    ("<user_shell_command>", "user_shell_command"),
    ("<turn_aborted>", INTERRUPTED),
    ("<subagent_notification>", "subagent_notification"),
    ("<recommended_plugins>", "recommended_plugins"),
    ("<skill>", "skill"),
    ("<system-reminder>", "system_reminder"),
    ("Warning: apply_patch was requested via ", "warning"),
    ("Warning: The maximum number of unified exec processes", "warning"),
    ("Warning: Your account was flagged ", "warning"),
];
/// Labels of instructions that the client adds before a prompt, and removes with it.
const UPDATES: &[&str] = &[
    "permissions_instructions", "model_switch", "collaboration_mode", "multi_agent_mode", "realtime_conversation",
    "environments_instructions", "plugins_instructions", "skills_instructions", "personality_spec", "token_budget",
    "context_window", "context_window_guidance", "rollout_budget",
];
/// The label of such a text after the user stopped a turn.
pub(super) const INTERRUPTED: &str = "turn_aborted";
/// The tags around such texts that hold results; all others guide the model.
pub(super) const RESULT_TAGS: [[&str; 2]; 2] =
    [["<subagent_notification>\n", "</subagent_notification>"], ["<user_shell_command>\n", "</user_shell_command>"]];
/// The heading before the prompt in a text to which an editor prepended its own context.
const REQUEST: &str = "## My request for Codex:";
const EDITOR_TEXTS: &[&str] = &["# Context from my IDE setup:", "# Files mentioned by the user:"];
/// Length of the head of a result, in characters, in which the client reports the exit status of a command.
const STATUS_CHARACTERS: usize = 400;
/// Suffixes of the results of calls that the user rejected, and the maximum length of such a result in bytes.
const DENIED: &[&str] = &["rejected by user", "denied by user", "declined by user", "cancelled by user"];
const DENIAL_BYTES: usize = 600;
/// The same as whole values, which end a result of any length: it repeats the command.
const DENIED_VALUES: &[&str] = &["Rejected(\"rejected by user", "Rejected(\\\"rejected by user"];
const DENIALS: &[&str] = &["user rejected ", "user denied ", "user declined ", "user cancelled ", "rejected by user:"];
/// The line before the output of a command.
const OUTPUT: &str = "Output:";
/// The line in the head of a result whose command has not ended, and the tool that gets its next output, or types into it.
const RUNNING: &str = "Process running with session ID ";
const POLL: &str = "write_stdin";
/// Maximum length of a label made from a tag, in bytes.
const LABEL_BYTES: usize = 40;

pub(super) fn is_clients(text: &str) -> bool {
    client_label(text).is_some()
}

fn client_label(text: &str) -> Option<&'static str> {
    let text = text.trim_start();
    CLIENT_TEXTS.iter().find(|(beginning, _)| text.starts_with(beginning)).map(|(_, label)| *label)
}

/// Returns true if a block is context that the client adds to a prompt: it makes no turn, and a rollback removes it with the prompt.
pub(super) fn is_context(block: &Block) -> bool {
    let is_known = match block.role {
        Role::User => CLIENT_TEXTS.iter().any(|(_, label)| *label == &*block.label),
        _ => UPDATES.contains(&&*block.label),
    };
    block.kind == BlockKind::Attachment && is_known
}

/// Returns true for a text of the client that holds a result: what is between its tags can be changed.
pub(super) fn is_result(text: &str) -> bool {
    RESULT_TAGS.iter().any(|[open, close]| text.starts_with(open) && text.ends_with(close))
}

/// Labels of texts in the user's name that the client sends once, at the beginning of a conversation.
const STANDING: &[&str] = &["agents_md", "environment_context", "user_instructions", "INSTRUCTIONS"];

/// Returns true if a block is context that the client sends once.
pub(super) fn is_standing(block: &Block) -> bool {
    block.kind == BlockKind::Attachment && STANDING.contains(&&*block.label)
}

pub(super) fn block<'a>(piece: &Piece<'a>) -> ParsedBlock<'a> {
    match piece.sort {
        Sort::Text => spoken(piece),
        Sort::Image => {
            let url = member(piece.element, "image_url");
            ParsedBlock::read(BlockKind::Image, Role::User, |media| media::add_image(media, url))
        }
        Sort::Drawing => {
            let data = member(piece.element, "result");
            ParsedBlock::read(BlockKind::Image, Role::Assistant, |media| media::add_image(media, data))
        }
        Sort::Document => ParsedBlock::read(BlockKind::Document, Role::User, |media| media::add_document(media, piece.element)),
        Sort::Thinking => {
            let parts = [piece.item.summary, piece.item.content].into_iter().flatten().flat_map(elements);
            let texts: Vec<Cow<'a, str>> = parts.filter_map(|part| text_of(member(part, "text"))).collect();
            ParsedBlock::thinking(joined(texts), piece.item.encrypted)
        }
        Sort::Call | Sort::TextCall | Sort::OwnCall => call(piece),
        Sort::Output => {
            let mut parsed = ParsedBlock::result(key_of(piece.item.call), |media| {
                piece.item.output.map(|output| result(output, media)).unwrap_or_default()
            });
            let answers = given_answers(&parsed.content);
            parsed.block.error = answers.is_none() && failed(&parsed.content);
            parsed.block.program = running(&parsed.content).into();
            let denial = || words::span(0, parsed.content.len()).filter(|_| is_denial(&parsed.content)).into_iter().collect();
            parsed.block.words = answers.unwrap_or_else(denial).into();
            parsed
        }
        Sort::Tools => {
            ParsedBlock::result(key_of(piece.item.call), |_| Cow::Borrowed(piece.item.tools.map_or("", RawValue::get)))
        }
        Sort::Other => {
            let kind = text_of(member(piece.element, "type")).unwrap_or_default();
            // The summary of a compaction is encrypted: the text that the model sees is not in the file.
            let sealed = member(piece.element, "encrypted_content").and_then(text);
            let mut parsed = ParsedBlock::read(BlockKind::Other, role(piece), |media| match &sealed {
                Some(_) => Cow::Owned(format!("[{kind}]")),
                None => media::unknown(media, piece.element),
            });
            parsed.block.label = if kind.is_empty() { "item".into() } else { (&*kind).into() };
            parsed.block.signature_bytes = sealed.map_or(0, |sealed| sealed.len() as u32);
            parsed
        }
    }
}

fn role(piece: &Piece<'_>) -> Role {
    match text_of(piece.item.role).as_deref() {
        Some("assistant") => Role::Assistant,
        Some("user") => Role::User,
        _ if item::is_of_model(&piece.item) => Role::Assistant,
        _ => Role::System,
    }
}

fn spoken<'a>(piece: &Piece<'a>) -> ParsedBlock<'a> {
    let content = piece.text().and_then(text).unwrap_or_default();
    let role = role(piece);
    let added = role == Role::System || role == Role::User && (is_clients(&content) || words::is_wrapped(&content));
    let mut block = Block::new(if added { BlockKind::Attachment } else { BlockKind::Text }, role);
    if added {
        block.label = label(&content).into();
        block.ground = role == Role::System || is_clients(&content) && !is_result(&content);
    } else if role == Role::User {
        let typed = prompt(&content);
        block.words = match typed {
            Some(typed) => {
                let place = range_in(content.as_bytes(), typed);
                words::typed(&content, place.start, place.end)
            }
            None => words::prompt(&content),
        }
        .into();
        block.preview = typed.unwrap_or_default().into();
    }
    ParsedBlock::new(block, content)
}

/// Returns the prompt as typed: in a template, or after the context of an editor; `None` if it is the whole content.
fn prompt(content: &str) -> Option<&str> {
    if let Some(input) = fenced_input(content, words::INPUT_HEADING) {
        return Some(input);
    }
    let start = content.trim_start();
    let (_, prompt) = start.split_once(REQUEST).filter(|_| EDITOR_TEXTS.iter().any(|known| start.starts_with(known)))?;
    Some(prompt.trim()).filter(|prompt| !prompt.is_empty())
}

/// Returns the label of a text that the client added: the name of its first tag.
fn label(content: &str) -> String {
    if let Some(label) = client_label(content) {
        return label.to_owned();
    }
    let content = content.trim_start();
    let tag = content.strip_prefix('<').and_then(|rest| rest.split_once('>')).map(|(tag, _)| tag.trim_start_matches('/'));
    // The name of a tag is before its attributes.
    let name = tag.map(|tag| tag.split_once(' ').filter(|(_, rest)| rest.contains('=')).map_or(tag, |(name, _)| name));
    let tag = name.map(|name| name.replace([' ', '-'], "_"));
    let named = |tag: &String| {
        tag.len() <= LABEL_BYTES && !tag.is_empty() && tag.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
    };
    tag.filter(named).unwrap_or_else(|| "developer".to_owned())
}

fn call<'a>(piece: &Piece<'a>) -> ParsedBlock<'a> {
    let kind = text_of(piece.item.kind).unwrap_or_default();
    let name = text_of(piece.item.name).unwrap_or_else(|| Cow::Owned(kind.trim_end_matches("_call").to_owned()));
    let input = match piece.sort {
        Sort::TextCall => piece.item.input.map(shown).unwrap_or_default(),
        Sort::Call => piece.item.arguments.map(shown).unwrap_or_default(),
        _ => Cow::Borrowed(piece.item.action.or(piece.item.arguments).map_or("{}", RawValue::get)),
    };
    let read = if piece.sort == Sort::TextCall { tool::of_text(&name, &input) } else { tool::of_object(&name, &input) };
    let mut parsed = ParsedBlock::tool_use(key_of(piece.item.call), input, read);
    if piece.sort == Sort::OwnCall {
        parsed.block.label = (&*kind).into();
    }
    if name == POLL
        && let Some(tool) = parsed.block.tool.as_deref().filter(|tool| tool.target.bytes().all(|byte| byte.is_ascii_digit()))
    {
        parsed.block.program = tool.target.clone();
    }
    parsed
}

/// Returns the text of a result: a string, or its items joined by line feeds; media are added to `media`.
pub(super) fn result<'a>(output: &'a RawValue, media: &mut Media) -> Cow<'a, str> {
    if let Some(text) = text(output) {
        return text;
    }
    if !output.get().starts_with('[') {
        return Cow::Borrowed(output.get());
    }
    let parts = elements(output).into_iter().map(|element| match text_of(member(element, "type")).as_deref() {
        Some("input_text" | "output_text" | "text") => text_of(member(element, "text")).unwrap_or_default(),
        _ => other(element, media),
    });
    joined(parts.collect())
}

/// Returns the content of an element of a result that is not a text; images and documents are added to `media`.
pub(super) fn other<'a>(element: &'a RawValue, media: &mut Media) -> Cow<'a, str> {
    match text_of(member(element, "type")).as_deref() {
        Some("input_image") => media::add_image(media, member(element, "image_url")),
        Some("input_file" | "input_audio") => media::add_document(media, element),
        _ => media::unknown(media, element),
    }
}

/// Returns true if a result states that the user rejected the call: in the words of the client, not in an output.
fn is_denial(content: &str) -> bool {
    let end = content.trim_end_matches(['"', ')', '}', '\\', ' ', '\n', '.']);
    let is_short = content.len() <= DENIAL_BYTES && DENIED.iter().any(|known| end.ends_with(known));
    let is_worded = is_short
        || DENIED_VALUES.iter().any(|known| end.ends_with(known))
        || DENIALS.iter().any(|known| content.starts_with(known));
    is_worded && !content.starts_with(['{', '[']) && content.lines().all(|line| line != OUTPUT)
}

/// Returns the start of the content in which the client reports on the command.
fn status(content: &str) -> &str {
    content.char_indices().nth(STATUS_CHARACTERS).map_or(content, |(end, _)| &content[..end])
}

/// Returns the number of the program that has not ended; empty if it has.
fn running(content: &str) -> &str {
    let head = status(content).lines().take_while(|line| *line != OUTPUT);
    head.filter_map(|line| line.strip_prefix(RUNNING)).next().unwrap_or_default()
}

/// Returns the places of the answers in a result that has them by question id; `None` for any other. Any tool can return such a text:
/// they are the user's if the call asked.
fn given_answers(content: &str) -> Option<Vec<words::Span>> {
    let value: &RawValue = content.starts_with("{\"answers\":").then(|| serde_json::from_str(content).ok())??;
    let answers = member(value, "answers").filter(|answers| answers.get().starts_with('{'))?;
    let lists = members(answers).into_iter().filter_map(|(_, given)| member(given, "answers"));
    let texts = lists.flat_map(elements).filter(|answer| answer.get().starts_with('"'));
    let places = texts.filter_map(|answer| {
        let place = range_in(content.as_bytes(), answer);
        words::span(place.start + 1, place.end - 1)
    });
    Some(places.collect())
}

/// Returns true if the text of a result reports a failure.
fn failed(content: &str) -> bool {
    if content.starts_with("apply_patch verification failed") || content.starts_with("Script failed") {
        return true;
    }
    if content.starts_with("{\"output\":")
        && let Ok(value) = serde_json::from_str::<&RawValue>(content)
    {
        let code = member(value, "metadata").and_then(|metadata| member(metadata, "exit_code"));
        return code.is_some_and(|code| code.get() != "0");
    }
    let head = status(content);
    let code = |before: &str| {
        let place = head.find(before)?;
        let digits = head[place + before.len()..].split(|c: char| !c.is_ascii_digit()).next()?;
        (!digits.is_empty()).then_some((place, digits))
    };
    let first = [code("exited with code "), code("Exit code: ")].into_iter().flatten().min();
    first.is_some_and(|(_, digits)| digits.bytes().any(|digit| digit != b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_result_says_how_a_command_ended() {
        for (content, expected) in [
            ("Exit code: 0\nOutput:\nok", false),
            ("Exit code: 2\nOutput:\nno", true),
            ("Chunk ID: a\nProcess exited with code 127\nOutput:\n", true),
            ("Process exited with code 0\nOutput:\nExit code: 3", false),
            ("Exit code: \n", false),
            ("{\"output\":\"a\",\"metadata\":{\"exit_code\":1}}", true),
            ("{\"output\":\"Exit code: 1\",\"metadata\":{\"exit_code\":0}}", false),
            ("apply_patch verification failed: no such line", true),
            ("", false),
        ] {
            assert_eq!(failed(content), expected, "{content}");
        }
        assert!(!failed(&format!("{}Exit code: 1", "é".repeat(STATUS_CHARACTERS))));
    }

    #[test]
    fn a_text_of_the_client_is_named_by_its_tag() {
        assert_eq!(label("<permissions instructions>\nx"), "permissions_instructions");
        assert_eq!(label("# AGENTS.md instructions for /p"), "agents_md");
        assert_eq!(label("plain"), "developer");
        assert_eq!(label("<a b=\"c\">"), "a");
    }

    #[test]
    fn the_words_of_an_answer_are_what_was_chosen_or_typed() {
        let words = |content: &str| -> Option<Vec<String>> {
            let text = |(start, end)| content[start as usize..end as usize].to_owned();
            given_answers(content).map(|places| places.into_iter().map(text).collect())
        };
        let content = r#"{"answers":{"shape":{"answers":["round","user_note: or oval"]},"size":{"answers":["big"]}}}"#;
        assert_eq!(words(content), Some(["round", "user_note: or oval", "big"].map(str::to_owned).to_vec()));
        assert_eq!(words(r#"{"answers":{"shape":"round"}}"#), Some(Vec::new()));
        assert_eq!(words(r#"{"answers":["round"]}"#), None);
        assert_eq!(words("user rejected it"), None);
    }

    #[test]
    fn denials_are_a_persons_words() {
        for (content, expected) in [
            (r#"exec_command failed: Rejected("rejected by user")"#, true),
            ("a log\nrejected by username", false),
            ("Exit code: 0\nOutput:\nuse tabs, it was rejected by user", false),
            (r#"{"status":{"a":{"completed":"use tabs, it was rejected by user"}}}"#, false),
            ("", false),
        ] {
            assert_eq!(is_denial(content), expected, "{content}");
        }
        assert!(!is_denial(&format!("{}rejected by user", "x".repeat(DENIAL_BYTES))));
        let command = "x".repeat(DENIAL_BYTES);
        assert!(is_denial(&format!(
            r#"exec_command failed for `{command}`: Refused {{ message: "Rejected(\"rejected by user\")" }}"#
        )));
        assert!(is_denial(&format!("user rejected the call: {command}")));
    }

    #[test]
    fn a_call_that_holds_data_is_what_it_holds() {
        let data = "iVBORw0KGgoAAAANSUhEUgAABAAAAAQACAIAAADwf7zU".to_owned() + &"A".repeat(2_000);
        let first = |item: serde_json::Value| {
            let text = item.to_string();
            let element: &RawValue = serde_json::from_str(&text).unwrap();
            let piece = item::pieces(element)[0];
            let block = block(&piece).block;
            (block.kind, block.role, block.media.images.first().map(|image| (image.width, image.height)))
        };
        let drawn = json!({"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": data});
        assert_eq!(first(drawn), (BlockKind::Image, Role::Assistant, Some((1024, 1024))));
        let unknown = first(json!({"type": "video_generation_call", "id": "v_1", "result": data}));
        assert_eq!((unknown.0, unknown.1), (BlockKind::Other, Role::Assistant));
        assert_eq!(first(json!({"type": "web_search_call", "id": "w_1", "status": "completed"})).0, BlockKind::ToolUse);
    }

    #[test]
    fn a_prompt_follows_the_context_of_an_editor() {
        assert_eq!(prompt("# Context from my IDE setup:\n## Open\n\n## My request for Codex:\nfix it\n"), Some("fix it"));
        assert_eq!(prompt("fix ## My request for Codex: it"), None);
    }
}
