//! The texts of attachments recorded without their text: for each type, the text that the client generates on resume.
//!
//! The data of an attachment is in its row and stays verbatim; the client's words around the data are only counted by size
//! (`prose.rs`). Types that are not sent, and types that every known version recorded with their text, have no template. Sizes
//! that depend on the user's account (how many agents plan mode may start) are those of a default account.

use super::attachment::{Rendered, element};
use super::lists;
use super::prose::{self, Composed};
use crate::model::{BlockKind, Media};
use crate::provider::json::{elements, is_true, member, members, number, shown, text};
use crate::provider::media;
use serde_json::value::RawValue;
use std::borrow::Cow;

const TAG: &str = "system-reminder";
const OTHER_SOURCE: &str = "[MESSAGE FROM";

pub(super) struct Payload<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Payload<'a> {
    pub fn new(value: Option<&'a RawValue>) -> Payload<'a> {
        Payload(value.map(members).unwrap_or_default())
    }

    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value).filter(|value| value.get() != "null")
    }

    /// Returns the text of a member; other values verbatim, and empty if it is absent.
    pub fn text(&self, name: &str) -> Cow<'a, str> {
        self.get(name).map(shown).unwrap_or_default()
    }

    /// Returns the text of a member; `None` if it is empty or absent.
    fn filled(&self, name: &str) -> Option<Cow<'a, str>> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    pub fn texts(&self, name: &str) -> Vec<Cow<'a, str>> {
        self.list(name).into_iter().filter_map(text).collect()
    }

    pub fn list(&self, name: &str) -> Vec<&'a RawValue> {
        self.get(name).map(elements).unwrap_or_default()
    }

    pub fn is(&self, name: &str) -> bool {
        is_true(self.get(name))
    }

    pub fn inner(&self, name: &str) -> Payload<'a> {
        Payload::new(self.get(name))
    }

    fn number(&self, name: &str) -> u64 {
        number(self.get(name)).unwrap_or_default()
    }
}

/// Returns the parts that the client sends for an attachment of this type; empty if it sends nothing.
pub(super) fn render<'a>(label: &str, payload: &'a RawValue) -> Vec<Rendered<'a>> {
    let payload = Payload::new(Some(payload));
    match label {
        "file" => return file(&payload),
        "queued_command" => return queued(&payload),
        "async_hook_response" => return hook_response(&payload),
        "directory" => {
            let path = payload.text("path");
            let input = [("command", format!("ls {}", quoted(&path))), ("description", format!("Lists files in {path}"))];
            let result = Composed::new("result", prose::RESULT, format!("Result\n{}", payload.text("content").trim_end()));
            return vec![called("Bash", &input), composed(result)];
        }
        _ => {}
    }
    single_text(label, &payload).map(composed).into_iter().collect()
}

fn composed<'a>(text: Composed) -> Rendered<'a> {
    let (content, unrecorded) = text.into_reminder();
    Rendered::Text(Cow::Owned(content), unrecorded)
}

/// Composes the text of an attachment that is a single text, without the reminder tags; `None` if nothing is sent.
fn single_text(label: &str, payload: &Payload<'_>) -> Option<Composed> {
    hook_text(label, payload)
        .or_else(|| file_text(label, payload))
        .or_else(|| list_text(label, payload))
        .or_else(|| mode_text(label, payload))
        .or_else(|| recorded_text(label, payload))
}

fn hook_text(label: &str, payload: &Payload<'_>) -> Option<Composed> {
    let text = |name| payload.text(name);
    let name = text("hookName");
    let said = match label {
        "hook_success" => {
            matches!(&*text("hookEvent"), "SessionStart" | "UserPromptSubmit" | "UserPromptExpansion").then_some(())?;
            format!("{name} hook success: {}", payload.filled("content")?)
        }
        "hook_additional_context" => {
            let lines = Some(payload.texts("content")).filter(|lines| !lines.is_empty())?;
            format!("{name} hook additional context: {}", lines.join("\n"))
        }
        "hook_blocking_error" => {
            let error = payload.inner("blockingError");
            let (command, message) = (error.text("command"), error.text("blockingError"));
            format!("{name} hook blocking error from command: \"{command}\": {message}")
        }
        "hook_stopped_continuation" => format!("{name} hook stopped continuation: {}", text("message")),
        _ => return None,
    };
    Some(Composed::recorded(hook(&said)))
}

/// Composes a note on a file: changed, read before a compaction, open in an editor.
fn file_text(label: &str, payload: &Payload<'_>) -> Option<Composed> {
    let text = |name| payload.text(name);
    let path = |name| text(name).replace('<', "&lt;").replace('>', "&gt;");
    match label {
        "edited_text_file" => {
            let note = Composed::new("note on a changed file", prose::FILE_CHANGED, path("filename"));
            Some(match payload.filled("snippet") {
                None => note.and(prose::FILE_CHANGE_UNSEEN, ""),
                Some(snippet) => note.and(prose::FILE_CHANGE_SEEN, &format!("\n{}", escape(&snippet, false, false))),
            })
        }
        "compact_file_reference" => {
            Some(Composed::new("note on a file read before the compaction", prose::FILE_BEFORE_COMPACTION, path("filename")))
        }
        "opened_file_in_ide" => Some(Composed::new("note on an open file", prose::OPENED_FILE, path("filename"))),
        "selected_lines_in_ide" => {
            let content = lists::cut(&text("content"), 2000, "\n... (truncated)");
            let (first, last, name) = (text("lineStart"), text("lineEnd"), path("filename"));
            let data = format!("lines {first} to {last} {name}\n{content}");
            Some(Composed::new("note on selected lines", prose::SELECTED_LINES, data))
        }
        _ => None,
    }
}

/// Composes a list: of tasks, diagnostics, skills, agents, servers or tools.
fn list_text(label: &str, payload: &Payload<'_>) -> Option<Composed> {
    match label {
        "task_reminder" => {
            let line = |task| {
                let task = Payload::new(Some(task));
                format!("#{}. [{}] {}", task.text("id"), task.text("status"), task.text("subject"))
            };
            let tasks: Vec<String> = payload.list("content").into_iter().map(line).collect();
            let reminder = Composed::new("task reminder", prose::TASK_REMINDER, "");
            Some(if tasks.is_empty() { reminder } else { reminder.and(prose::TASKS, &format!("\n{}", tasks.join("\n"))) })
        }
        "diagnostics" => lists::diagnostics(payload),
        "invoked_skills" => {
            let skill = |skill| {
                let skill = Payload::new(Some(skill));
                format!("### Skill: {}\nPath: {}\n\n{}", skill.text("name"), skill.text("path"), skill.text("content"))
            };
            let skills: Vec<String> = payload.list("skills").into_iter().map(skill).collect();
            Some(skills)
                .filter(|skills| !skills.is_empty())
                .map(|skills| Composed::new("note on skills in use", prose::INVOKED_SKILLS, skills.join("\n\n---\n\n")))
        }
        "skill_listing" => Some(Composed::new("list of skills", prose::SKILLS, format!("\n{}", payload.filled("content")?))),
        "agent_listing_delta" => lists::agents(payload),
        "mcp_instructions_delta" => lists::servers(payload),
        "deferred_tools_delta" => lists::tools(payload),
        _ => None,
    }
}

/// Composes a note on the mode of the client: effort, plan mode, auto mode, the date.
fn mode_text(label: &str, payload: &Payload<'_>) -> Option<Composed> {
    let text = |name| payload.text(name);
    let only = |name, words| Some(Composed::new(name, words, ""));
    match label {
        "date_change" => Some(Composed::new("note on a new date", prose::DATE_CHANGE, text("newDate"))),
        "ultra_effort_enter" if text("reminderType") == "full" => only("ultracode reminder", prose::ULTRACODE_ON),
        "ultra_effort_enter" => only("ultracode reminder", prose::ULTRACODE_STILL_ON),
        "ultra_effort_exit" => only("note that ultracode is off", prose::ULTRACODE_OFF),
        "ultrathink_effort" => only("ultrathink reminder", prose::ULTRATHINK),
        "workflow_keyword_request" => only("workflow reminder", prose::WORKFLOW),
        "plan_file_reference" => {
            let data = format!("{}\n{}", text("planFilePath"), text("planContent"));
            Some(Composed::new("note on the plan", prose::PLAN_FILE, data))
        }
        "plan_mode_exit" => {
            let note = Composed::new("note that plan mode is off", prose::PLAN_LEFT, "");
            Some(if payload.is("planExists") { note.and(prose::PLAN_LEFT_FILE, &text("planFilePath")) } else { note })
        }
        "plan_mode" => plan_mode(payload),
        "auto_mode" => Some(auto_mode(payload)),
        _ => None,
    }
}

fn recorded_text(label: &str, payload: &Payload<'_>) -> Option<Composed> {
    let text = match label {
        "total_tokens_reminder" | "silent_turn_reminder" | "elapsed_time_reminder" | "output_limit_note" => {
            payload.filled("text")?.into_owned()
        }
        "critical_system_reminder" => payload.text("content").into_owned(),
        "nested_memory" => {
            let memory = payload.inner("content");
            format!("Contents of {}:\n\n{}", memory.text("path"), memory.text("content"))
        }
        _ => return None,
    };
    Some(Composed::recorded(text))
}

fn called<'a>(tool: &str, input: &[(&str, String)]) -> Rendered<'a> {
    let json = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let members: Vec<String> = input.iter().map(|(key, value)| format!("{}:{}", json(key), json(value))).collect();
    let input = format!("{{{}}}", members.join(","));
    composed(Composed::new("call", prose::CALL, format!("{tool} {}", escape(&input, false, false))))
}

fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_/:=.,@%+-".contains(c);
    if !path.is_empty() && path.chars().all(plain) { path.into() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

fn file<'a>(payload: &Payload<'a>) -> Vec<Rendered<'a>> {
    let name = payload.text("filename");
    let content = payload.inner("content");
    let file = content.inner("file");
    let mut parts = vec![called("Read", &[("file_path", name.to_string())])];
    match &*content.text("type") {
        "text" => {
            let lines = file.text("content");
            let first = if file.number("startLine") == 0 { 1 } else { file.number("startLine") };
            let numbered: Vec<String> = lines
                .split('\n')
                .enumerate()
                .map(|(place, line)| format!("{}\t{}", first + place as u64, line.strip_suffix('\r').unwrap_or(line)))
                .collect();
            parts.push(composed(if lines.is_empty() {
                Composed::new("note on an empty file", prose::RESULT, "Result\n").and(prose::EMPTY_FILE, "")
            } else {
                Composed::new("result", prose::RESULT, format!("Result\n{}", escape(&numbered.join("\n"), false, false)))
            }));
            if payload.is("truncated") {
                let name = name.replace('<', "&lt;").replace('>', "&gt;");
                parts.push(composed(Composed::new("note on a long file", prose::CUT_FILE, name)));
            }
        }
        "image" => {
            let mut media = Media::default();
            media::add_image(&mut media, file.get("base64"));
            parts.push(Rendered::Media(BlockKind::Image, Box::new(media)));
        }
        _ => {}
    }
    parts
}

fn queued<'a>(payload: &Payload<'a>) -> Vec<Rendered<'a>> {
    let kind = payload.inner("origin").text("kind");
    let notice = kind.is_empty() && payload.text("commandMode") == "task-notification";
    let kind = if notice { "task-notification" } else { &*kind };
    let meta = payload.is("isMeta");
    let other = |text: &str| Composed::new("note on a message of another source", prose::OTHER_SOURCE, text);
    let sent = |text: &str| {
        let safe = if !matches!(kind, "" | "human") || meta { escape_closing(text) } else { text.to_owned() };
        composed(match kind {
            "" if meta && safe.starts_with(OTHER_SOURCE) => Composed::recorded(safe),
            "" if meta => other(&safe),
            "task-notification" if safe.starts_with(prose::NOTIFICATION_LEAD.start) => Composed::recorded(safe),
            "task-notification" => Composed::new("note on a background task", prose::NOTIFICATION, safe),
            "slack-ping" | "unclassified" => other(&safe),
            _ => Composed::new("note on a queued prompt", prose::QUEUED, safe),
        })
    };
    let Some(prompt) = payload.get("prompt") else { return Vec::new() };
    if let Some(string) = text(prompt) {
        return vec![sent(&string)];
    }
    let (mut texts, mut media) = (Vec::new(), Vec::new());
    for part in elements(prompt) {
        match element(part) {
            Rendered::Text(text, _) if member(part, "text").is_some() => texts.push(text),
            image @ Rendered::Media(..) => media.push(image),
            Rendered::Text(..) => {}
        }
    }
    std::iter::once(sent(&texts.join("\n"))).chain(media).collect()
}

fn hook_response<'a>(payload: &Payload<'a>) -> Vec<Rendered<'a>> {
    let response = payload.inner("response");
    let said = response.get("systemMessage").and_then(text).filter(|said| !said.is_empty());
    let context = response.inner("hookSpecificOutput").text("additionalContext");
    let name = if payload.is("isPlainOutput") { format!("{} hook success: ", payload.text("hookName")) } else { String::new() };
    let context = Some(context).filter(|context| !context.is_empty()).map(|context| format!("{name}{context}"));
    said.map(Cow::into_owned).into_iter().chain(context).map(|text| composed(Composed::recorded(hook(&text)))).collect()
}

fn plan_mode(payload: &Payload<'_>) -> Option<Composed> {
    let file = payload.get("planFilePath").and_then(text)?;
    if payload.is("isSubAgent") || payload.get("customInstructions").is_some() {
        return None;
    }
    let name = "plan mode reminder";
    if payload.text("reminderType") == "sparse" {
        return Some(Composed::new(name, prose::PLAN_STILL_ON, file));
    }
    let plan = if payload.is("planExists") { prose::PLAN_EXISTS } else { prose::NO_PLAN };
    Some(Composed::new(name, prose::PLAN_MODE, file).and(plan, ""))
}

fn auto_mode(payload: &Payload<'_>) -> Composed {
    let bash = if payload.text("bashFirstSteer") == "relaxed" { prose::BASH_RELAXED } else { prose::BASH_FIRST };
    let note = |words| Composed::new("auto mode reminder", words, "");
    if payload.is("bypass") {
        return note(prose::BYPASS).and(bash, "");
    }
    let steer = payload.is("steerOnly");
    let first = payload.get("bashFirst").map(RawValue::get);
    let shown = if steer { first != Some("false") } else { first == Some("true") };
    let parts = [
        (prose::AUTO_MODE_FINISH, payload.is("finishExposedWork")),
        (prose::AUTO_MODE_CONSENT, !steer && payload.is("autoModeConsentFlow")),
        (bash, shown),
    ];
    let start = note(if steer { prose::AUTO_MODE_STEER } else { prose::AUTO_MODE });
    parts.into_iter().filter(|(_, sent)| *sent).fold(start, |note, (words, _)| note.and(words, ""))
}

/// Escapes the output of a hook, so that it cannot open or close a reminder.
fn hook(text: &str) -> String {
    let mut safe = escape(text, true, true);
    if let Some(start) = safe.rfind('<')
        && matches!(safe[start + 1..].trim(), "" | "/")
    {
        safe.replace_range(start..=start, "&lt;");
    }
    safe
}

/// Replaces each `<` for which `put` returns another text, and the rest after it.
fn replaced<'t>(text: &'t str, put: impl Fn(&'t str) -> Option<(&'static str, &'t str)>) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        safe.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let (text, after) = put(after).unwrap_or(("<", after));
        safe.push_str(text);
        rest = after;
    }
    safe + rest
}

/// Escapes the `<` of each closing reminder tag, and with `opening` also that of each opening one.
fn escape(text: &str, opening: bool, any_case: bool) -> String {
    let is_longer = |end: &str| end.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    replaced(text, |rest| tag(rest, opening, any_case).filter(|end| !is_longer(end)).map(|_| ("&lt;", rest)))
}

/// Escapes each complete closing reminder tag.
fn escape_closing(text: &str) -> String {
    let closed = |rest| tag(rest, false, true)?.trim_start().strip_prefix('>');
    replaced(text, |rest| closed(rest).map(|after| ("&lt;/system-reminder&gt;", after)))
}

/// Returns the text after the name of a reminder tag; `rest` is the text after a `<`. `None` if it is not a reminder tag.
fn tag(rest: &str, opening: bool, any_case: bool) -> Option<&str> {
    let inner = rest.trim_start();
    let name = match inner.strip_prefix('/') {
        Some(name) => name.trim_start(),
        None if opening => inner,
        None => return None,
    };
    let (head, end) = name.split_at_checked(TAG.len())?;
    (head == TAG || any_case && head.eq_ignore_ascii_case(TAG)).then_some(end)
}
