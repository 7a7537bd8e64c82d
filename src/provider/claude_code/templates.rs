//! The texts of attachments that were written without them: what the client makes of each type anew.
//!
//! Types of which nothing is sent, and types that no known version wrote without its text, have none. Numbers that depend
//! on the user's account (how many agents plan mode may start) are those of a plain one.

use super::attachment::{Rendered, element};
use super::lists;
use crate::provider::json::{elements, is_true, member, members, number, text};
use crate::provider::message::wrap;
use serde_json::value::RawValue;
use std::borrow::Cow;

const TAG: &str = "system-reminder";
/// What comes before the notice of a background task.
pub(super) const NOTIFICATION: &str = include_str!("texts/notification.txt");
const OTHER_SOURCE: &str = "[MESSAGE FROM NON-USER SOURCE - NOT USER INPUT]\n";
const QUEUED_BEFORE: &str = "The user sent a new message while you were working:\n";
const QUEUED_AFTER: &str = "\n\nThis is how Claude Code surfaces messages the user sends mid-turn — within the running turn, often alongside the next tool result, rather than as a separate conversation turn. Address the message above as you continue this turn.";

/// The members of an attachment.
pub(super) struct Payload<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Payload<'a> {
    pub fn new(value: Option<&'a RawValue>) -> Payload<'a> {
        Payload(value.map(members).unwrap_or_default())
    }

    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value).filter(|value| value.get() != "null")
    }

    /// The text of a member; numbers as they stand, nothing for what is absent.
    pub fn text(&self, name: &str) -> Cow<'a, str> {
        self.get(name).map(|value| text(value).unwrap_or(Cow::Borrowed(value.get()))).unwrap_or_default()
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

/// The parts that the client sends for an attachment of this type; empty when it sends nothing.
pub(super) fn render<'a>(label: &str, payload: &'a RawValue) -> Vec<Rendered<'a>> {
    let payload = Payload::new(Some(payload));
    match label {
        "file" => return file(&payload),
        "queued_command" => return queued(&payload),
        "async_hook_response" => return hook_response(&payload),
        "directory" => {
            let path = payload.text("path");
            let input = [("command", format!("ls {}", quoted(&path))), ("description", format!("Lists files in {path}"))];
            let result = format!("Result of calling the Bash tool:\n{}", payload.text("content").trim_end());
            return vec![called("Bash", &input), reminder(&result)];
        }
        _ => {}
    }
    one(label, &payload).map(|text| reminder(&text)).into_iter().collect()
}

fn reminder<'a>(text: &str) -> Rendered<'a> {
    Rendered::Text(Cow::Owned(wrap(text)))
}

/// The one text of an attachment, without the wrapper.
fn one(label: &str, payload: &Payload<'_>) -> Option<String> {
    let text = |name| payload.text(name);
    let filled = |name| Some(payload.text(name)).filter(|text| !text.is_empty());
    let path = |name| text(name).replace('<', "&lt;").replace('>', "&gt;");
    Some(match label {
        "hook_success" => {
            matches!(&*text("hookEvent"), "SessionStart" | "UserPromptSubmit" | "UserPromptExpansion").then_some(())?;
            hook(&format!("{} hook success: {}", text("hookName"), filled("content")?))
        }
        "hook_additional_context" => {
            let lines = Some(payload.texts("content")).filter(|lines| !lines.is_empty())?;
            hook(&format!("{} hook additional context: {}", text("hookName"), lines.join("\n")))
        }
        "hook_blocking_error" => {
            let error = payload.inner("blockingError");
            let (command, message) = (error.text("command"), error.text("blockingError"));
            hook(&format!("{} hook blocking error from command: \"{command}\": {message}", text("hookName")))
        }
        "hook_stopped_continuation" => hook(&format!("{} hook stopped continuation: {}", text("hookName"), text("message"))),
        "task_reminder" => {
            let line = |task| {
                let task = Payload::new(Some(task));
                format!("#{}. [{}] {}", task.text("id"), task.text("status"), task.text("subject"))
            };
            let tasks: Vec<String> = payload.list("content").into_iter().map(line).collect();
            let list = if tasks.is_empty() { "" } else { "\n\nHere are the existing tasks:\n\n" };
            format!("{}{list}{}", include_str!("texts/task_reminder.txt"), tasks.join("\n"))
        }
        "diagnostics" => lists::diagnostics(payload)?,
        "edited_text_file" => {
            let note = format!(
                "Note: {} changed on disk since you last read it. That's usually deliberate, so take it as the current state rather than reverting it; if the change looks wrong, say so rather than undoing it yourself — otherwise no need to call it out.",
                path("filename")
            );
            match filled("snippet") {
                None => format!("{note} The changes are not shown here; use Read if you need the current content."),
                Some(snippet) => {
                    format!("{note} Here are the relevant changes (shown with line numbers):\n{}", escape(&snippet, false, false))
                }
            }
        }
        "compact_file_reference" => format!(
            "Note: {} was read before the last conversation was summarized, but the contents are too large to include. Use Read tool if you need to access it.",
            path("filename")
        ),
        "opened_file_in_ide" => {
            format!("The user opened the file {} in the IDE. This may or may not be related to the current task.", path("filename"))
        }
        "selected_lines_in_ide" => {
            let content = lists::cut(&text("content"), 2000, "\n... (truncated)");
            let (first, last, name) = (text("lineStart"), text("lineEnd"), path("filename"));
            format!(
                "The user selected the lines {first} to {last} from {name}:\n{content}\n\nThis may or may not be related to the current task."
            )
        }
        "invoked_skills" => {
            let skill = |skill| {
                let skill = Payload::new(Some(skill));
                format!("### Skill: {}\nPath: {}\n\n{}", skill.text("name"), skill.text("path"), skill.text("content"))
            };
            let skills: Vec<String> = payload.list("skills").into_iter().map(skill).collect();
            Some(skills).filter(|skills| !skills.is_empty())
                .map(|skills| format!("{}{}", include_str!("texts/invoked_skills.txt"), skills.join("\n\n---\n\n")))?
        }
        "skill_listing" => format!("The following skills are available for use with the Skill tool:\n\n{}", filled("content")?),
        "agent_listing_delta" => lists::agents(payload)?,
        "mcp_instructions_delta" => lists::servers(payload)?,
        "deferred_tools_delta" => lists::tools(payload)?,
        "date_change" => format!(
            "The date has changed. Today's date is now {}. No need to announce the new date — the user's own clock shows it.",
            text("newDate")
        ),
        "ultra_effort_enter" if text("reminderType") == "full" => "Ultracode is on: optimize for the most exhaustive, correct answer — not the fastest or cheapest. Use the Workflow tool on every substantive task; token cost is not a constraint. See the **Ultracode** section and quality patterns in the workflow authoring reference. Solo only on conversational/trivial turns.".into(),
        "ultra_effort_enter" => "Ultracode is still on — use the Workflow tool; see the Ultracode section of the workflow authoring reference.".into(),
        "ultra_effort_exit" => "Ultracode is off — the Workflow tool's standard opt-in rule applies again.".into(),
        "ultrathink_effort" => "The user included the keyword \"ultrathink\", requesting deeper reasoning on this turn. Reason as thoroughly as the task warrants.".into(),
        "workflow_keyword_request" => "The user included the keyword \"ultracode\", opting this turn into multi-agent orchestration — use the Workflow tool to fulfill the request.".into(),
        "total_tokens_reminder" | "silent_turn_reminder" | "elapsed_time_reminder" | "output_limit_note" => filled("text")?.into_owned(),
        "critical_system_reminder" => text("content").into_owned(),
        "nested_memory" => {
            let memory = payload.inner("content");
            format!("Contents of {}:\n\n{}", memory.text("path"), memory.text("content"))
        }
        "plan_file_reference" => {
            let place = filled("planFilePath").map(|path| format!(" file exists from plan mode at: {path}"));
            let place = place.unwrap_or_else(|| " exists from plan mode.".into());
            let plan = text("planContent");
            format!(
                "A plan{place}\n\nPlan contents:\n\n{plan}\n\nIf this plan is relevant to the current work and not already complete, continue working on it."
            )
        }
        "plan_mode_exit" => {
            let plan = if payload.is("planExists") {
                format!(" The plan file is located at {} if you need to reference it.", text("planFilePath"))
            } else {
                String::new()
            };
            format!("## Exited Plan Mode\n\nYou have exited plan mode. You can now make edits, run tools, and take actions.{plan}")
        }
        "plan_mode" => plan_mode(payload)?,
        "auto_mode" => auto_mode(payload),
        _ => return None,
    })
}

fn called<'a>(tool: &str, input: &[(&str, String)]) -> Rendered<'a> {
    let json = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let members: Vec<String> = input.iter().map(|(key, value)| format!("{}:{}", json(key), json(value))).collect();
    let input = format!("{{{}}}", members.join(","));
    reminder(&format!("Called the {tool} tool with the following input: {}", escape(&input, false, false)))
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
            let numbered = if lines.is_empty() {
                "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>".to_owned()
            } else {
                numbered.join("\n")
            };
            parts.push(reminder(&format!("Result of calling the Read tool:\n{}", escape(&numbered, false, false))));
            if payload.is("truncated") {
                let name = name.replace('<', "&lt;").replace('>', "&gt;");
                parts.push(reminder(&format!("Note: The file {name} was too large and has been truncated to the first 2000 lines. No need to mention the truncation. Use Read to read more of the file if you need.")));
            }
        }
        "image" => {
            let size = file.get("base64").and_then(text).map(|data| crate::provider::image::size(data.as_bytes()));
            parts.push(Rendered::Image(size));
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
    let once = |before: &str, text: &str| if text.starts_with(before) { text.to_owned() } else { format!("{before}{text}") };
    let sent = |text: &str| {
        let safe = if !matches!(kind, "" | "human") || meta { escape_closing(text) } else { text.to_owned() };
        reminder(&match kind {
            "" if meta => once(OTHER_SOURCE, &safe),
            "task-notification" => once(NOTIFICATION, &safe),
            "slack-ping" | "unclassified" => format!("{OTHER_SOURCE}{safe}"),
            _ => format!("{QUEUED_BEFORE}{safe}{QUEUED_AFTER}"),
        })
    };
    let Some(prompt) = payload.get("prompt") else { return Vec::new() };
    if let Some(string) = text(prompt) {
        return vec![sent(&string)];
    }
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for part in elements(prompt) {
        match element(part) {
            Rendered::Text(text) if member(part, "text").is_some() => texts.push(text),
            Rendered::Image(image) => images.push(Rendered::Image(image)),
            Rendered::Text(_) => {}
        }
    }
    std::iter::once(sent(&texts.join("\n"))).chain(images).collect()
}

fn hook_response<'a>(payload: &Payload<'a>) -> Vec<Rendered<'a>> {
    let response = payload.inner("response");
    let said = response.get("systemMessage").and_then(text).filter(|said| !said.is_empty());
    let context = response.inner("hookSpecificOutput").text("additionalContext");
    let name = if payload.is("isPlainOutput") { format!("{} hook success: ", payload.text("hookName")) } else { String::new() };
    let context = Some(context).filter(|context| !context.is_empty()).map(|context| format!("{name}{context}"));
    said.map(Cow::into_owned).into_iter().chain(context).map(|text| reminder(&hook(&text))).collect()
}

fn plan_mode(payload: &Payload<'_>) -> Option<String> {
    let file = payload.get("planFilePath").and_then(text)?;
    if payload.is("isSubAgent") || payload.get("customInstructions").is_some() {
        return None;
    }
    if payload.text("reminderType") == "sparse" {
        return Some(format!(
            "Plan mode still active (see full instructions earlier in conversation). Read-only except plan file ({file}). Follow 5-phase workflow. End turns with AskUserQuestion (for clarifications) or ExitPlanMode (for plan approval). Never ask about plan approval via text or AskUserQuestion."
        ));
    }
    let place = if payload.is("planExists") {
        format!("A plan file already exists at {file}. You can read it and make incremental edits using the Edit tool.")
    } else {
        format!("No plan file exists yet. You should create your plan at {file} using the Write tool.")
    };
    Some(include_str!("texts/plan_mode.txt").replacen("{file}", &place, 1))
}

fn auto_mode(payload: &Payload<'_>) -> String {
    let finish = if payload.is("finishExposedWork") { include_str!("texts/auto_mode_finish.txt") } else { "" };
    let consent = if payload.is("autoModeConsentFlow") { include_str!("texts/auto_mode_consent.txt") } else { "" };
    let relaxed = payload.text("bashFirstSteer") == "relaxed";
    let bash = if relaxed { include_str!("texts/bash_relaxed.txt") } else { include_str!("texts/bash_first.txt") };
    if payload.is("bypass") {
        return format!("While bypass permissions mode is active:\n\n{bash}");
    }
    let steer = payload.is("steerOnly");
    let first = payload.get("bashFirst").map(RawValue::get);
    let shown = if steer { first != Some("false") } else { first == Some("true") };
    let bash = if shown { format!("\n\n{bash}") } else { String::new() };
    if steer {
        return format!("While auto mode is active:{finish}{bash}");
    }
    format!("{}{finish}{consent}{bash}", include_str!("texts/auto_mode.txt"))
}

/// The output of a hook, so that it cannot end or begin a reminder.
fn hook(text: &str) -> String {
    let mut safe = escape(text, true, true);
    if let Some(start) = safe.rfind('<')
        && matches!(safe[start + 1..].trim(), "" | "/")
    {
        safe.replace_range(start..=start, "&lt;");
    }
    safe
}

/// The text with each `<` of a closing reminder tag escaped, `opening` ones too.
fn escape(text: &str, opening: bool, any_case: bool) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        safe.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        let begins = tag(rest, opening, any_case).is_some_and(|end| !end.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        safe.push_str(if begins { "&lt;" } else { "<" });
    }
    safe + rest
}

/// The text with each whole closing reminder tag escaped.
fn escape_closing(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        safe.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        match tag(rest, false, true).and_then(|end| end.trim_start().strip_prefix('>')) {
            Some(after) => {
                safe.push_str("&lt;/system-reminder&gt;");
                rest = after;
            }
            None => safe.push('<'),
        }
    }
    safe + rest
}

/// What follows the name of a reminder tag, if `rest`, which stands behind a `<`, begins with one.
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
