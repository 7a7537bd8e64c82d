//! Attachments: texts that the client adds to the conversation.

use super::{content, parse, templates};
use crate::model::limits::PREVIEW_CHARACTERS;
use crate::model::{Block, BlockKind, Flags, Media, Role, Row};
use crate::provider::json::{elements, member, text, text_of};
use crate::provider::rewriter::RECORD;
use crate::provider::{ClientPart, ParsedBlock, Unrecorded, words};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Types that are sent in the user role if the row does not state the role; all others are sent in the system role.
const USER_TYPES: &[&str] = &[
    "account_memory_recall", "artifact_opening_prefetch", "context_sections", "coordinator_context", "cowork_memory_context",
    "dir_sync_notice", "fork_briefing", "goals", "instruction_files_not_loaded", "instructions", "poll_events",
    "remote_session_change", "session_context", "unknown_command_fallback", "widget_context_hint",
];

const SHOWN_CHARACTERS: usize = 2 * PREVIEW_CHARACTERS;
/// Types that hold content of files, of editors and of tools, or the words of a person. All others guide the model: rules, skills,
/// memory, modes, lists of tools, the environment, reminders, texts of hooks and of aperture.
const CONTENT: &[&str] = &[
    "already_read_file", "artifact_opening_prefetch", "compact_file_reference", "diagnostics", "directory", "edited_image_file",
    "edited_text_file", "file", "image", "local_command", "lsp_diagnostics", "mcp_resource", "opened_file_in_ide",
    "pdf_reference", "plan_file_reference", "poll_events", "queued_command", "selected_lines_in_ide", "structured_output",
    "task_status", RECORD,
];

/// Returns true if the client sends the content of an attachment again when no row of the chain holds it: modes, lists,
/// servers. It reads a memory file again only when it reads a file next to it, and repeats no text of a hook or of aperture.
pub(super) fn is_announced(block: &Block) -> bool {
    let is_once = ["memor", "hook_", "aperture_"].iter().any(|part| block.label.contains(part));
    block.kind == BlockKind::Attachment && !is_once
}

/// Types that list what the model can call. The client sends each list once, and later only what changed in it.
const LISTS: &[&str] = &["agent_listing_delta", "deferred_tools_delta", "mcp_instructions_delta", "skill_listing"];

/// Returns true if an attachment lists what the model can call.
pub(super) fn is_list(block: &Block) -> bool {
    block.kind == BlockKind::Attachment && LISTS.contains(&&*block.label)
}

/// Types that list tools and instructions of MCP servers.
const MCP: &[&str] = &["deferred_tools_delta", "mcp_instructions_delta"];
const SKILLS: &[&str] = &["invoked_skills", "skill_listing"];
/// Types with the content of files of instructions, or with memories.
const MEMORY: &[&str] =
    &["account_memory_recall", "cowork_memory_context", "instructions", "memory", "nested_memory", "relevant_memories"];
/// The beginning of the name of a tool of an MCP server.
const MCP_TOOL: &str = "mcp__";

/// Returns the part that an attachment has in the texts that the client adds by itself.
pub(super) fn part_of(block: &Block) -> Option<ClientPart> {
    let parts = [(ClientPart::Mcp, MCP), (ClientPart::Skills, SKILLS), (ClientPart::Memory, MEMORY)];
    let is_attachment = block.kind == BlockKind::Attachment;
    parts.into_iter().find(|(_, types)| is_attachment && types.contains(&&*block.label)).map(|(part, _)| part)
}

/// Returns the system prompt and the definitions of the tools in a snapshot of them, which the client sends unchanged from then on
/// (2.1.330: an attachment with the texts of the prompt, and in every second row the tools); empty for other rows.
pub(super) fn snapshot_texts(row: &[u8]) -> Vec<(ClientPart, String)> {
    let Some(attachment) = parse::fields(row).and_then(|fields| fields.attachment) else { return Vec::new() };
    if text_of(member(attachment, "type")).is_none_or(|kind| kind != "prompt_snapshot") {
        return Vec::new();
    }
    let prompt = member(attachment, "systemPrompt").map(elements).unwrap_or_default();
    let prompt = prompt.into_iter().filter_map(|part| Some((ClientPart::Prompt, text(part)?.into_owned())));
    let tools = member(attachment, "tools").map(elements).unwrap_or_default().into_iter().map(|tool| {
        let is_mcp = text_of(member(tool, "name")).is_some_and(|name| name.starts_with(MCP_TOOL));
        (if is_mcp { ClientPart::Mcp } else { ClientPart::Tools }, tool.get().to_owned())
    });
    prompt.chain(tools).collect()
}

/// A part of an attachment as the client sends it.
pub(super) enum Rendered<'a> {
    Text(Cow<'a, str>, Option<Unrecorded>),
    /// An image or a document, of this kind.
    Media(BlockKind, Box<Media>),
}

/// Parses the blocks of an attachment: one for each text or image that is sent.
pub(super) fn read<'a>(
    payload: &'a RawValue,
    rendered: Option<&'a RawValue>,
    role: Option<&RawValue>,
    row: &mut Row,
    blocks: &mut Vec<ParsedBlock<'a>>,
) {
    let label = text_of(member(payload, "type")).unwrap_or_default();
    let parts = rendered.and_then(as_written).unwrap_or_else(|| {
        row.flags = row.flags | Flags::TEMPLATE;
        templates::render(&label, payload)
    });
    let user = match text_of(role).as_deref() {
        Some("user") => true,
        Some("system") => false,
        _ => USER_TYPES.contains(&&*label),
    };
    row.flags.set(Flags::USER_TURN, user);
    let typed = member(payload, "prompt").filter(|_| label == "queued_command").map(|prompt| match text(prompt) {
        Some(text) => vec![text],
        None => elements(prompt).into_iter().filter_map(|part| text_of(member(part, "text"))).collect(),
    });
    let is_typed = || typed.iter().flatten().next().is_none_or(|typed| !words::is_wrapped(typed));
    let author = member(payload, "origin").and_then(|origin| text_of(member(origin, "kind")));
    // A command typed while the model was working is a prompt.
    row.prompt = !parts.is_empty()
        && label == "queued_command"
        && text_of(member(payload, "commandMode")).is_none_or(|mode| mode == "prompt")
        && author.as_deref().map_or_else(is_typed, |kind| kind == "human");
    let speaker = if row.prompt || user { Role::User } else { Role::System };
    let first = blocks.len();
    blocks.extend(parts.into_iter().map(|part| match part {
        Rendered::Text(text, unrecorded) => {
            let mut parsed = block(&label, speaker, text);
            if unrecorded.as_ref().is_some_and(|unrecorded| !unrecorded.line.is_empty()) {
                parsed.block.preview = parsed.content.chars().take(SHOWN_CHARACTERS).collect();
            }
            parsed.unrecorded = unrecorded;
            parsed
        }
        Rendered::Media(kind, media) => {
            let placeholder = if kind == BlockKind::Image { Media::IMAGE } else { Media::DOCUMENT };
            let mut parsed = block(&label, speaker, Cow::Borrowed(placeholder));
            (parsed.block.kind, parsed.block.media) = (kind, *media);
            parsed
        }
    }));
    // The preview shows the prompt as typed, without the client's words around it, or what a notice reports; either names the block.
    let prompt = typed.iter().flatten().next();
    let shown = prompt.and_then(|prompt| if row.prompt { Some(prompt.to_string()) } else { content::reported(prompt) });
    if let (Some(shown), Some(parsed)) = (shown, blocks.get_mut(first)) {
        (parsed.block.preview, parsed.block.label) = (shown.into(), Box::default());
    }
    let typed = typed.filter(|_| row.prompt);
    let words = if author.is_some() { words::typed } else { words::own };
    for ParsedBlock { block, content, .. } in &mut blocks[first..] {
        let places = typed.iter().flatten().filter_map(|typed| Some((content.find(&**typed)?, typed.len())));
        let mut found: Vec<_> = places.flat_map(|(at, length)| words(content, at, at + length)).collect();
        found.sort_unstable();
        found.dedup_by(|next, before| next.0 < before.1);
        block.words = found.into();
    }
}

pub(super) fn block<'a>(label: &str, role: Role, content: Cow<'a, str>) -> ParsedBlock<'a> {
    ParsedBlock::attachment(label, role, !CONTENT.contains(&label), content)
}

/// Returns the parts as first sent, verbatim; `None` if an entry is empty, because the client then ignores the recorded text.
fn as_written(rendered: &RawValue) -> Option<Vec<Rendered<'_>>> {
    let mut parts = Vec::new();
    for entry in elements(rendered) {
        let content = member(entry, "content")?;
        match text(content) {
            Some(string) if string.is_empty() => return None,
            Some(string) => parts.push(Rendered::Text(string, None)),
            None => {
                let elements = elements(content);
                if elements.is_empty() {
                    return None;
                }
                parts.extend(elements.into_iter().map(element));
            }
        }
    }
    Some(parts).filter(|parts| !parts.is_empty())
}

/// Converts one content block to a part.
pub(super) fn element(element: &RawValue) -> Rendered<'_> {
    let ParsedBlock { block, content, .. } = content::block(element, false);
    match block.kind {
        BlockKind::Image | BlockKind::Document if !block.media.is_empty() => Rendered::Media(block.kind, Box::new(block.media)),
        _ => Rendered::Text(content, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_divided_into_prompt_tools_and_servers() {
        let row = r#"{"type":"attachment","uuid":"u","attachment":{"type":"prompt_snapshot","systemPrompt":["one","two"],
            "tools":[{"name":"Read"},{"name":"mcp__files__list"}]}}"#;
        let texts = snapshot_texts(row.as_bytes());
        let parts: Vec<(&str, &str)> = texts.iter().map(|(part, text)| (part.name(), text.as_str())).collect();
        let expected =
            [("prompt", "one"), ("prompt", "two"), ("tools", r#"{"name":"Read"}"#), ("MCP", r#"{"name":"mcp__files__list"}"#)];
        assert_eq!(parts, expected);
        assert_eq!(snapshot_texts(br#"{"type":"attachment","attachment":{"type":"date"}}"#), []);
        assert_eq!(snapshot_texts(b"no row"), []);
    }
}
