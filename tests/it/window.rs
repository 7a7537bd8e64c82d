//! Compares the window of a session with the request that the real client sent when it resumed that session.

use crate::sandbox::{directory_in, files_below, repository};
use aperture::fsio::RealDisk;
use aperture::model::{BlockNumber, Counts, Session};
use aperture::provider::claude_code::ClaudeCode;
use aperture::provider::codex::Codex;
use aperture::provider::{Message, ProviderAdapter, Source, Unrecorded};
use aperture::store::Cache;
use aperture::workspace;
use serde_json::Value;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// One content block as sent: the role of its message, its type, and its text, input or content.
#[derive(Debug)]
struct Sent {
    role: String,
    kind: String,
    content: Value,
    /// Characters that are sent beyond those of the content, where some of it is known by its size alone.
    unrecorded: Option<i64>,
}

impl Sent {
    /// Returns true if both are equal: word by word, or by size within 5 % if not all words are recorded.
    fn equals(&self, other: &Sent) -> bool {
        let same = self.role == other.role && self.kind == other.kind;
        let Some(unrecorded) = self.unrecorded.or(other.unrecorded).filter(|_| same) else {
            return same && self.content == other.content;
        };
        let size = |sent: &Sent| sent.content.as_str().map_or(0, |text| text.chars().count() as i64);
        let (sent, own) = if self.unrecorded.is_some() { (size(other), size(self)) } else { (size(self), size(other)) };
        (own + unrecorded - sent).abs() * 20 <= sent
    }
}

/// Start of the client's note on an interrupted call, and the length of the note in characters.
const INTERRUPTED: (&str, i64) = ("[note on an interrupted call", 180);

/// The client's replacement for references to tools that no longer exist.
const TOOL_REFERENCES_GONE: &str = "[Tool references removed - tools no longer available]";

fn load(provider: &'static dyn ProviderAdapter, path: &Path) -> Session {
    workspace::load(&RealDisk, &Cache::default(), provider, path, "session".into()).unwrap()
}

/// The messages of a session's window, block by block, as text.
fn window(provider: &'static dyn ProviderAdapter, path: &Path) -> Vec<Sent> {
    let session = load(provider, path);
    let bytes = std::fs::read(path).unwrap();
    let window = provider.window(&session);
    let messages = provider.messages(&session, &window);
    let sent: Vec<BlockNumber> = messages.iter().flat_map(|message| &message.parts).flat_map(|part| part.blocks()).collect();
    assert_eq!(window.blocks, sent);
    let parsed = |number: BlockNumber| {
        let block = &session.blocks[number as usize - 1];
        let row = &session.rows[block.row as usize];
        let line = &bytes[row.offset as usize..][..row.length as usize];
        let parsed = provider.parse(line).blocks.swap_remove(block.index as usize);
        (parsed.content.into_owned(), parsed.unrecorded)
    };
    messages.iter().flat_map(|message| sent_blocks(&session, message, &parsed)).collect()
}

fn sent_blocks(session: &Session, message: &Message, parsed: &dyn Fn(BlockNumber) -> (String, Option<Unrecorded>)) -> Vec<Sent> {
    let block = |part: &aperture::provider::Part| {
        let kind = match part.source {
            Source::Block(number) => session.blocks[number as usize - 1].kind.name(),
            Source::Text(_) => "text",
            Source::Result { .. } => "tool_result",
        };
        let kind = if kind == "attachment" { "text" } else { kind };
        let text = part.text(|number| Cow::Owned(parsed(number).0));
        let beyond = |counts: Counts, line: &str| i64::from(counts.characters) - line.chars().count() as i64;
        let mut unrecorded: Vec<i64> = part
            .blocks()
            .filter_map(|number| {
                let (content, unrecorded) = parsed(number);
                unrecorded.map(|unrecorded| beyond(unrecorded.counts, &content[unrecorded.line]))
            })
            .collect();
        let lead = part.reminder.filter(|lead| !lead.line.is_empty() && text.contains(lead.line));
        unrecorded.extend(lead.map(|lead| beyond(lead.counts, lead.line)));
        if text.starts_with(INTERRUPTED.0) {
            unrecorded.push(INTERRUPTED.1 - text.chars().count() as i64);
        }
        let unrecorded = (!unrecorded.is_empty()).then(|| unrecorded.iter().sum());
        let input = (kind == "tool_use").then(|| serde_json::from_str(&text).ok()).flatten();
        let content = input.unwrap_or_else(|| Value::from(text));
        Sent { role: message.role.into(), kind: kind.into(), content, unrecorded }
    };
    message.parts.iter().map(block).collect()
}

/// The text of a tool result, as a block of the session has it.
fn flat(content: &Value) -> String {
    let Value::Array(elements) = content else { return content.as_str().unwrap_or_default().to_owned() };
    let part = |element: &Value| match element["type"].as_str() {
        Some("text") => element["text"].as_str().unwrap_or_default().to_owned(),
        Some("image") => "[image]".to_owned(),
        Some("tool_reference") => format!("[tool {}]", element["tool_name"].as_str().unwrap_or_default()),
        _ => element.to_string(),
    };
    elements.iter().map(part).collect::<Vec<_>>().join("\n")
}

/// Makes sent blocks comparable with the expected ones.
///
/// References to loaded tools and the texts that belong to them are omitted: their presence depends on the client that resumes the
/// session.
fn comparable(blocks: Vec<Sent>) -> Vec<Sent> {
    let mut comparable: Vec<Sent> = Vec::new();
    let mut referred = false;
    for mut block in blocks {
        match block.kind.as_str() {
            "tool_result" => {
                let text = flat(&block.content);
                let refers = |line: &&str| line.starts_with("[tool ") || *line == TOOL_REFERENCES_GONE;
                referred |= text.lines().any(|line| refers(&line));
                let lines: Vec<&str> = text.lines().filter(|line| !refers(line)).collect();
                block.content = lines.join("\n").trim().into();
            }
            "text" if referred && block.role == "user" => {
                let text = block.content.as_str().unwrap_or_default().trim_end();
                let last = comparable.last_mut().unwrap();
                if text != "Tool loaded." {
                    last.unrecorded = last.unrecorded.map_or(block.unrecorded, |size| Some(size + block.unrecorded.unwrap_or(0)));
                    last.content = format!("{}\n\n{text}", last.content.as_str().unwrap_or_default()).trim().into();
                }
                continue;
            }
            "redacted_thinking" => (block.kind, block.content) = ("thinking".into(), "".into()),
            "image" | "document" => block.content = Value::Null,
            _ => {}
        }
        referred &= block.kind == "tool_result";
        comparable.push(block);
    }
    // A line feed parts the last text from the prompt that came next.
    if let Some(Sent { content: Value::String(text), .. }) = comparable.last_mut() {
        text.truncate(text.trim_end_matches('\n').len());
    }
    comparable
}

fn check(session: &Path, expected: Vec<Sent>) -> Result<(), String> {
    let (ours, expected) = (comparable(window(&ClaudeCode, session)), comparable(expected));
    let place = ours.iter().zip(&expected).position(|(a, b)| !a.equals(b));
    if place.is_none() && ours.len() == expected.len() {
        return Ok(());
    }
    let place = place.unwrap_or(ours.len().min(expected.len()));
    let show = |blocks: &[Sent]| {
        blocks.get(place).map_or("nothing".into(), |block| format!("{block:?}").chars().take(600).collect::<String>())
    };
    let (sent, own) = (show(&expected), show(&ours));
    Err(format!(
        "{}: {} blocks sent, {} ours; at {place}:\n  sent {sent}\n  ours {own}",
        session.display(),
        expected.len(),
        ours.len()
    ))
}

#[test]
fn the_window_is_what_the_client_sends() {
    let all = files_below(&repository().join("fixtures/claude-code"));
    let expectations: Vec<&PathBuf> = all.iter().filter(|path| path.to_string_lossy().ends_with(".window.json")).collect();
    assert!(!expectations.is_empty());
    for expectation in expectations {
        let name = expectation.file_name().unwrap().to_string_lossy();
        let start = name.trim_end_matches(".window.json");
        let home = expectation.parent().unwrap();
        let session = all
            .iter()
            .find(|path| {
                path.starts_with(home) && path.extension().is_some_and(|end| end == "jsonl") && {
                    path.file_name().unwrap().to_string_lossy().starts_with(start)
                }
            })
            .unwrap();
        let expected: Vec<(String, String, Value)> = serde_json::from_slice(&std::fs::read(expectation).unwrap()).unwrap();
        let expected = expected.into_iter().map(|(role, kind, content)| Sent { role, kind, content, unrecorded: None }).collect();
        check(session, expected).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

/// The window of Codex equals its request, except for its instructions before the session and the context that it renews after it.
#[test]
fn the_window_of_codex_is_what_the_client_sends() {
    let all = files_below(&repository().join("fixtures/codex"));
    let expectations: Vec<&PathBuf> = all.iter().filter(|path| path.to_string_lossy().ends_with(".window.json")).collect();
    assert!(!expectations.is_empty());
    for expectation in expectations {
        let home = expectation.parent().unwrap();
        let is_session = |path: &&PathBuf| path.starts_with(home) && path.extension().is_some_and(|end| end == "jsonl");
        let session = all.iter().find(is_session).unwrap();
        let expected: Vec<(String, String, String)> = serde_json::from_slice(&std::fs::read(expectation).unwrap()).unwrap();
        let words = |kind: &str, text: &str| {
            let text = if kind == "thinking" { String::new() } else { text.replace("[input_image]", "[image]") };
            (kind.to_owned(), text.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        let ours: Vec<_> = window(&Codex, session)
            .iter()
            .map(|sent| match &sent.content {
                Value::String(text) => words(&sent.kind, text),
                input => words(&sent.kind, &input.to_string()),
            })
            .collect();
        let sent: Vec<_> = expected
            .iter()
            .map(|(_, kind, text)| match serde_json::from_str::<Value>(text) {
                Ok(input) if kind == "tool_use" => words(kind, &input.to_string()),
                _ => words(kind, text),
            })
            .collect();
        assert_eq!(ours, sent, "{}", session.display());
    }
}

/// Run manually: sessions of any kind under `APERTURE_CORPUS`, and the requests of the client for each in `APERTURE_WINDOWS`.
#[test]
fn the_window_of_real_sessions_is_what_the_client_sends() {
    let (Some(corpus), Some(windows)) = (directory_in("APERTURE_CORPUS"), directory_in("APERTURE_WINDOWS")) else { return };
    let (sessions, expectations) = (files_below(&corpus), files_below(&windows));
    let (mut equal, mut compared) = (0, 0);
    for expectation in expectations {
        let expectation: Value = serde_json::from_slice(&std::fs::read(expectation).unwrap()).unwrap();
        let file = PathBuf::from(expectation["file"].as_str().unwrap());
        let end: PathBuf = file.components().rev().take(4).collect::<Vec<_>>().into_iter().rev().collect();
        let Some(session) = sessions.iter().find(|session| session.ends_with(&end)) else { continue };
        let own = |block: &&Value| block["added_by_client"] != Value::Bool(true);
        let sent = |block: &Value| {
            let kind = block["type"].as_str().unwrap();
            let key = match kind {
                "tool_use" => "input",
                "tool_result" => "content",
                kind => kind,
            };
            let role = block["role"].as_str().unwrap().into();
            Sent { role, kind: kind.into(), content: block[key].clone(), unrecorded: None }
        };
        compared += 1;
        match check(session, expectation["flat"].as_array().unwrap().iter().filter(own).map(sent).collect()) {
            Ok(()) => equal += 1,
            Err(difference) => eprintln!("{difference}"),
        }
    }
    eprintln!("{equal} of {compared} windows are equal");
    assert!(compared > 0 && equal * 100 >= compared * 97);
}
