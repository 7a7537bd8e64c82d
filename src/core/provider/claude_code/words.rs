//! Finds the user's words: prompts, and texts inside or beside tool results: answers to questions, reasons for rejecting a
//! call, words typed while the model was working.
//!
//! The record of the client beside the content (`toolUseResult`, `userFeedback`, `toolDenialKind`) tells where they are. A result
//! without such a record, as in requests and in older rows, is recognized by the first words of the client's sentence: any tool can
//! return these.

use super::parse::{RowFields, is_from};
use crate::model::{BlockKind, Flags, Role, Row};
use crate::provider::ParsedBlock;
use crate::provider::json::{elements, equals, is_true, member, members, text, text_of};
use crate::provider::words::{Span, TYPED_BYTES, is_wrapped, own, span, typed};
use memchr::memmem::Finder;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Prefixes of the results of calls that the user rejected, by tool and version.
pub(super) const REJECTED: &[&str] = &[
    "The user doesn't want to",
    "The user does not want to",
    "The user did not allow",
    "The user didn't allow",
    "The user rejected",
    "The user declined",
    "The user denied",
    "User rejected",
    "User declined",
    "The agent proposed a plan that was rejected",
];
/// The first version that is known to record who denied a call. The error of a tool can have the same text.
const DENIALS_ARE_RECORDED: [u32; 3] = [2, 1, 224];
/// The texts before the user's reason in such a result; their first letter can be a capital.
const REASONS: &[&str] = &["he user said:\n", "he following reason for the rejection:"];
/// The beginning of the client's instruction in such a result if the user gave no reason.
const NO_REASON: &str = "STOP what you are doing";
/// Prefixes of results that contain the user's answers.
const ANSWERED: &[&str] = &["User has answered your questions: ", "Your questions have been answered: ", "The user answered: "];
/// Prefix of the result of a plan that the user approved.
const APPROVED: &str = "User has approved";
/// The heading of a plan that the user changed before approving it.
const EDITED_PLAN: &str = "## Approved Plan (edited by user):\n";
/// Prefix of the notice of a background task.
pub(super) const TASK_NOTICE: &str = "<task-notification>";
/// Prefixes of texts in the user's name that a client or an editor writes.
const CLIENTS: &[&str] = &[
    "<local-command-", "<bash-stdout>", "<bash-stderr>", "<system-reminder>", TASK_NOTICE, "<ide_", "<new-diagnostics>",
    "<user-prompt-submit-hook>",
];
/// Prefixes of those that guide the model.
const GUIDES: &[&str] = &["<system-reminder>", "<user-prompt-submit-hook>", "<local-command-caveat>"];
/// Prefix of the client's note on an image.
const IMAGE: &str = "[Image";
/// The tag of the instructions in the record of a command.
const COMMAND_TEXT: &str = "<command-contents>";
/// The text with which the client marks an interruption, at the start of the next prompt.
const INTERRUPTED: &str = "[Request interrupted by user";
/// Maximum gap, in bytes, between questions, answers and notes that are joined into one span.
const BETWEEN_BYTES: usize = 32;
/// Prefix of the record of a command that the model answers; that of any other command begins with its name.
const ANSWERED_COMMAND: &str = "<command-message>";
/// Tags around the typed text in a record of a command.
const TYPED_TAGS: &[&str] = &["command-args", "bash-input"];

/// Marks the texts of a row that the client or a hook wrote in the user's name to guide the model: skills, commands, reminders, summaries.
pub(super) fn mark_user_text(fields: &RowFields<'_>, row: &Row, blocks: &mut [ParsedBlock<'_>]) {
    let is_of_client = is_true(fields.compact_summary) || row.flags.any(Flags::META);
    for ParsedBlock { block, content, .. } in blocks {
        let guides = || {
            let text = content.trim_start();
            GUIDES.iter().any(|known| text.starts_with(known)) || text.starts_with("<command-") && text.contains(COMMAND_TEXT)
        };
        block.ground = block.kind == BlockKind::Text
            && block.role == Role::User
            && (is_of_client && !content.starts_with(IMAGE) || guides());
    }
}

/// Marks the user's words in the blocks of a user row.
pub(super) fn mark(fields: &RowFields<'_>, row: &Row, blocks: &mut [ParsedBlock<'_>]) {
    if row.sidechain || row.flags.any(Flags::NOTIFICATION) || !is_human(fields) {
        return;
    }
    let meta = row.flags.any(Flags::META) || is_true(fields.compact_summary);
    for ParsedBlock { block, content, .. } in blocks {
        let found = match (block.kind, block.role) {
            (BlockKind::ToolResult, _) => in_result(fields, content, block.error),
            (BlockKind::Text, Role::User) if !meta && !is_foreign(fields, content) => {
                let is_typed = author(fields).is_some() || text_of(fields.prompt_source).is_some();
                in_text(content, if is_typed { typed } else { own })
            }
            _ => Vec::new(),
        };
        block.words = found.into();
    }
}

/// Returns true if the row names no author other than a person.
fn is_human(fields: &RowFields<'_>) -> bool {
    let source = || text_of(fields.prompt_source).is_none_or(|source| source != "system");
    author(fields).map_or_else(source, |kind| kind == "human")
}

fn author<'a>(fields: &RowFields<'a>) -> Option<Cow<'a, str>> {
    fields.origin.and_then(|origin| text_of(member(origin, "kind")))
}

/// Returns true if another agent, a channel or a later client wrote a text in the user's name: the row names such an author, or
/// the text is in tags that no client is known to write and the row does not state that it was typed.
pub(super) fn is_foreign(fields: &RowFields<'_>, content: &str) -> bool {
    if let Some(author) = author(fields) {
        return author != "human" && author != "task-notification";
    }
    let source = text_of(fields.prompt_source);
    let text = content.trim_start();
    let is_known = text.starts_with("<command-") || text.starts_with("<bash-input>");
    let is_wrapped = || !is_known && !CLIENTS.iter().any(|known| text.starts_with(known)) && is_wrapped(content);
    match source.as_deref() {
        Some("typed") => false,
        Some("system") => true,
        _ => is_wrapped(),
    }
}

/// Returns the typed part of a text in the user's name, as `words` does for a part of which nothing more is known.
fn in_text(content: &str, words: fn(&str, usize, usize) -> Vec<Span>) -> Vec<Span> {
    let start = content.len() - content.trim_start().len();
    let begins = |known: &str| content[start..].starts_with(known);
    if begins("<command-") || begins("<bash-input>") {
        let inside = |tag: &&str| {
            let open = format!("<{tag}>");
            let from = content.find(&open)? + open.len();
            Some((from, from + content[from..].find(&format!("</{tag}>"))?))
        };
        let in_tags =
            |tags: &[&str]| tags.iter().filter_map(inside).flat_map(|(from, to)| typed(content, from, to)).collect::<Vec<_>>();
        // Of a command that the model answers, its name was typed too; it counts if there is nothing else.
        return match in_tags(TYPED_TAGS) {
            words if words.is_empty() && begins(ANSWERED_COMMAND) => in_tags(&["command-name"]),
            words => words,
        };
    }
    if CLIENTS.iter().any(|known| begins(known)) {
        return Vec::new();
    }
    let from = match content[start..].find(']') {
        Some(end) if begins(INTERRUPTED) => start + end + 1,
        _ => start,
    };
    words(content, from, content.len())
}

/// Returns the user's words in a tool result.
fn in_result(fields: &RowFields<'_>, content: &str, error: bool) -> Vec<Span> {
    let exact = fields.feedback.and_then(text).and_then(|feedback| content.find(&*feedback).zip(Some(feedback.len())));
    if let Some((from, length)) = exact {
        return typed(content, from, from + length);
    }
    if error && is_rejected(fields, content) {
        let said = REASONS.iter().filter_map(|known| content.find(known)).min();
        let (start, end) = match said {
            Some(at) => (at - usize::from(content[..at].ends_with(['t', 'T'])), content.len()),
            // Without a reason, only the rejection itself counts.
            None if content.contains(NO_REASON) => (0, content.find(['.', '\n']).map_or(content.len(), |end| end + 1)),
            // Any part of an unknown wording can be the reason.
            None => (0, content.len()),
        };
        return span(start, content[..end].trim_end().len()).into_iter().collect();
    }
    if let Some(spans) = answers(fields, content) {
        return spans;
    }
    let has_plan = || fields.result.is_none_or(|result| member(result, "plan").is_some());
    let approved = (content.starts_with(APPROVED) && has_plan()).then(|| content.find(EDITED_PLAN)).flatten();
    match approved {
        Some(at) => typed(content, at + EDITED_PLAN.len(), content.len()),
        None if is_true(fields.persons) && content.len() <= TYPED_BYTES => typed(content, 0, content.len()),
        None => Vec::new(),
    }
}

/// Returns true if the user rejected the call of a result: the client records it, or an older one says it.
fn is_rejected(fields: &RowFields<'_>, content: &str) -> bool {
    if is_from(fields, DENIALS_ARE_RECORDED) {
        return equals(fields.denial, "user-rejected");
    }
    // A shortened result begins with the marker line of aperture, followed by the user's words.
    let shown = fields.result.and_then(text).unwrap_or_default();
    let shown = shown.strip_prefix("Error: ").unwrap_or(&shown);
    let says = |known: &&str| content.starts_with(known) || shown.starts_with(known);
    equals(fields.denial, "user-rejected") || REJECTED.iter().any(says)
}

/// Returns the spans of each answered question with its answer and notes; `None` if the result holds no answers.
fn answers(fields: &RowFields<'_>, content: &str) -> Option<Vec<Span>> {
    static KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"answers\""));
    // Almost no result has answers: a fast byte search rules out the others.
    let result = fields.result.filter(|result| is_object(result) && KEY.find(result.get().as_bytes()).is_some());
    let Some(answers) = result.and_then(|result| member(result, "answers")).filter(|value| is_object(value)) else {
        let begin = ANSWERED.iter().find(|begin| fields.result.is_none() && content.starts_with(**begin))?;
        return Some(typed(content, begin.len(), content.len()));
    };
    let notes = result.and_then(|result| member(result, "annotations")).filter(|value| is_object(value));
    let notes = notes.map(members).unwrap_or_default().into_iter();
    let notes = notes.map(|(question, note)| (question, member(note, "notes").and_then(text).into_iter().collect()));
    let said = members(answers).into_iter().map(|(question, answer)| (question, words_of(answer))).chain(notes);
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (question, words) in said {
        let asked = content.find(&*question);
        let behind = asked.map_or(0, |at| at + question.len());
        let places = words.iter().filter(|words| !words.trim().is_empty()).filter_map(|words| {
            let at = content[behind..].find(&**words).map(|at| behind + at)?;
            Some((at, at + words.len()))
        });
        let places: Vec<_> = places.collect();
        found.extend(asked.filter(|_| !places.is_empty()).map(|at| (at, behind)));
        found.extend(places);
    }
    found.sort_unstable();
    // Includes the quotation marks, and joins spans that are close together.
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (start, end) in found {
        let start = start - usize::from(content[..start].ends_with('"'));
        let end = end + usize::from(content[end..].starts_with('"'));
        match spans.last_mut() {
            Some(last) if start <= last.1 + BETWEEN_BYTES => last.1 = last.1.max(end),
            _ => spans.push((start, end)),
        }
    }
    Some(spans.into_iter().filter_map(|(start, end)| span(start, end)).collect())
}

fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

/// Returns the texts of an answer, which is a string or a list.
fn words_of(value: &RawValue) -> Vec<Cow<'_, str>> {
    match value.get().as_bytes().first() {
        Some(b'"') => text(value).into_iter().collect(),
        Some(b'[') => elements(value).into_iter().filter_map(text).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::BETWEEN_BYTES;
    use serde_json::json;

    /// Returns the user's words in each block of a row.
    fn check(row: serde_json::Value, expected: &[&[&str]]) {
        let line = row.to_string();
        let parsed = parse(line.as_bytes());
        let found: Vec<Vec<&str>> = parsed.blocks.iter().map(|parsed| parsed.block.words_in(&parsed.content).collect()).collect();
        assert_eq!(found, expected, "{line}");
        assert!(
            !parsed.row.prompt || parsed.row.sidechain || found.iter().any(|words| !words.is_empty()),
            "a prompt without a word of the user: {line}"
        );
    }

    fn user(content: serde_json::Value, beside: serde_json::Value) -> serde_json::Value {
        let mut row = json!({"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": content}});
        for (key, value) in beside.as_object().unwrap() {
            row[key] = value.clone();
        }
        row
    }

    fn result(content: &str, error: bool, beside: serde_json::Value) -> serde_json::Value {
        user(json!([{"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": error}]), beside)
    }

    #[test]
    fn prompts_are_a_persons_words_and_what_a_client_writes_is_not() {
        for (content, expected) in [
            ("fix it", &["fix it"][..]),
            (
                "<command-message>go</command-message><command-name>/go</command-name><command-args>to it</command-args>",
                &["to it"],
            ),
            ("<command-message>go</command-message>\n<command-name>/go</command-name>", &["/go"]),
            ("<command-name>/model</command-name>\n<command-args></command-args>", &[]),
            ("<bash-input>ls</bash-input>", &["ls"]),
            ("<local-command-stdout>x</local-command-stdout>", &[]),
            ("<system-reminder>x</system-reminder>", &[]),
            ("<peer-note from=\"b\">\nalways use tabs\n</peer-note>", &[]),
            ("A peer wrote:\n<peer-note from=\"b\">\nalways use tabs\n</peer-note>\n\nIt is not the user.", &[]),
            ("<log>it failed</log>\nwhy?", &["<log>it failed</log>\nwhy?"]),
            ("[Request interrupted by user]", &[]),
            ("[Request interrupted by user for tool use]\nno, the other file", &["no, the other file"]),
        ] {
            check(user(json!(content), json!({})), &[expected]);
        }
        check(user(json!("instructions"), json!({"isMeta": true})), &[&[]]);
        check(user(json!("instructions"), json!({"isSidechain": true})), &[&[]]);
        check(user(json!("news"), json!({"origin": {"kind": "channel"}})), &[&[]]);
        check(user(json!("news"), json!({"origin": {"kind": "human"}})), &[&["news"]]);
        check(user(json!("news"), json!({"promptSource": "system"})), &[&[]]);
        check(user(json!("<a>b</a>"), json!({"promptSource": "typed"})), &[&["<a>b</a>"]]);
    }

    #[test]
    fn text_typed_beside_a_result_is_the_users() {
        let blocks = json!([{"type": "tool_result", "tool_use_id": "t", "content": "ok"}, {"type": "text", "text": "use tabs"}]);
        check(user(blocks, json!({})), &[&[], &["use tabs"]]);
    }

    #[test]
    fn the_reason_of_a_rejection_stays_and_else_that_it_was_one() {
        let head = "The user doesn't want to proceed with this tool use. It was not run.";
        check(
            result(&format!("{head} To go on, the user said:\ntoo slow.\nUse rg"), true, json!({})),
            &[&["the user said:\ntoo slow.\nUse rg"]],
        );
        let stopped = format!("{head} STOP what you are doing and wait.");
        check(result(&stopped, true, json!({})), &[&["The user doesn't want to proceed with this tool use."]]);
        check(result(head, true, json!({})), &[&[head]]);
        check(result("declined. And more", true, json!({"toolDenialKind": "user-rejected"})), &[&["declined. And more"]]);
        let reason = "the following reason for the rejection:  too slow. Use rg.\n\nAnd no cat.";
        check(result(&format!("{head} The user provided {reason}"), true, json!({})), &[&[reason]]);
        let long = format!("The user declined. {}Not in this way.", "A long reason.\n".repeat(1_000));
        check(result(&long, true, json!({})), &[&[&long]]);
        let shown = json!({"toolUseResult": "User rejected tool use"});
        check(result("Not run. Too slow: use rg.", true, shown), &[&["Not run. Too slow: use rg."]]);
        check(result("Permission denied. Use sudo.", true, json!({"toolDenialKind": "permission-rule"})), &[&[]]);
        check(result("not now: too slow", true, json!({"userFeedback": "too slow"})), &[&["too slow"]]);
        check(result("not now, too slow", true, json!({"holdsPersonsWords": true})), &[&["not now, too slow"]]);
        check(result("Exit code 1\nthe user said:\nx", true, json!({})), &[&[]]);
        // The error of a tool can have the same text, but a client that records denials says if it is one.
        let said = format!("{head} To go on, the user said:\ntoo slow");
        let beside = |version: &str| json!({"toolUseResult": format!("Error: {said}"), "version": version});
        check(result(&said, true, beside("2.1.330")), &[&[]]);
        check(result(&said, true, beside("2.1.33")), &[&["the user said:\ntoo slow"]]);
        let recorded =
            json!({"toolUseResult": format!("Error: {said}"), "version": "2.1.330", "toolDenialKind": "user-rejected"});
        check(result(&said, true, recorded), &[&["the user said:\ntoo slow"]]);
        // As written by aperture.
        let shown = format!("Error: {head} To go on, the user said:\ntoo slow");
        check(
            result("[@3 | minimal]\nthe user said:\ntoo slow", true, json!({"toolUseResult": shown})),
            &[&["the user said:\ntoo slow"]],
        );
    }

    #[test]
    fn answers_are_listed_with_their_questions() {
        let shown = json!({"toolUseResult": {"questions": [], "answers": {"Which?": "B", "How many?": "as \"few\" as you can"}}});
        let content = "User has answered your questions: \"Which?\"=\"B\", \"How many?\"=\"as \"few\" as you can\". Go on.";
        check(result(content, false, shown), &[&["\"Which?\"=\"B\", \"How many?\"=\"as \"few\" as you can\""]]);
        let noted = json!({"toolUseResult": {"answers": {"Which?": ""}, "annotations": {"Which?": {"notes": "neither"}}}});
        check(result("\"Which?\"=(none) notes: neither. Read it.", false, noted), &[&["\"Which?\"=(none) notes: neither"]]);
        let other =
            json!({"toolUseResult": {"answers": {"Which?": "B"}, "annotations": {"Why?": {"preview": "x", "notes": "ask me"}}}});
        let preview = "x".repeat(BETWEEN_BYTES);
        let content = format!("\"Which?\"=\"B\" preview: {preview}, \"Why?\"=(none) notes: ask me. Go on.");
        check(result(&content, false, other), &[&["\"Which?\"=\"B\"", "\"Why?\"=(none) notes: ask me"]]);
        let several = json!({"toolUseResult": {"answers": {"Which?": ["A", "C"]}}});
        check(result("\"Which?\"=\"A, C\". Go on.", false, several), &[&["\"Which?\"=\"A, C\""]]);
        check(result("No answer.", false, json!({"toolUseResult": {"answers": {}}})), &[&[]]);
        let answered = "User has answered your questions: \"a\"=\"b\".";
        check(result(answered, false, json!({})), &[&["\"a\"=\"b\"."]]);
        // Another tool returned the sentence.
        for shown in [json!(answered), json!([{"type": "text", "text": answered}]), json!({"stdout": answered})] {
            check(result(answered, false, json!({"toolUseResult": shown})), &[&[]]);
        }
        check(result("", true, json!({"toolUseResult": {"answers": {"": "", "x": "é"}}})), &[&[]]);
    }

    #[test]
    fn a_plan_that_the_user_changed_is_a_persons_word() {
        let plan = |how: &str| format!("User has approved your plan.\n\n## Approved Plan{how}:\nfirst this");
        check(result(&plan(" (edited by user)"), false, json!({})), &[&["first this"]]);
        check(result(&plan(""), false, json!({})), &[&[]]);
        let edited = plan(" (edited by user)");
        check(result(&edited, false, json!({"toolUseResult": {"plan": "first this", "isAgent": false}})), &[&["first this"]]);
        check(result(&edited, false, json!({"toolUseResult": {"stdout": edited}})), &[&[]]);
    }

    #[test]
    fn text_typed_while_the_model_works_is_the_users() {
        let row = |kind: &str| {
            json!({"type": "attachment", "uuid": "u", "attachment": {"type": "queued_command", "prompt": "and tabs", "origin": {"kind": kind}},
                "rendered": [{"content": "<system-reminder>\nThe user says:\nand tabs\n</system-reminder>"}]})
        };
        check(row("human"), &[&["and tabs"]]);
        let queued = |prompt: &str| {
            json!({"type": "attachment", "uuid": "u", "attachment": {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"},
                "rendered": [{"content": format!("While you worked, this came:\n{prompt}\nGo on.")}]})
        };
        check(queued("and tabs"), &[&["and tabs"]]);
        check(queued("<peer-note from=\"b\">and tabs</peer-note>"), &[&[]]);
        check(row("task-notification"), &[&[]]);
    }
}
