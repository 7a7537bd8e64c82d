//! Texts of attachments that list things: agents, servers, tools, diagnostics.

use super::templates::Payload;
use std::borrow::Cow;
use std::collections::BTreeMap;

const AMBIENT: &str =
    "This is ambient context — do not narrate it to the user unless they ask or it is directly relevant to their request.";
/// Names beyond this number are only counted.
const NAMES: usize = 30;
/// Characters of all diagnostics together.
const DIAGNOSTICS_CHARACTERS: usize = 4000;
const CUT_DIAGNOSTICS: &str = "…[truncated]";

/// A text of at most `characters`, with `end` behind what was cut.
pub(super) fn cut(text: &str, characters: usize, end: &str) -> String {
    match text.char_indices().nth(characters) {
        Some((place, _)) => format!("{}{end}", &text[..place]),
        None => text.to_owned(),
    }
}

/// Agent types that came or went.
pub(super) fn agents(payload: &Payload<'_>) -> Option<String> {
    let (lines, types, removed) = (payload.texts("addedLines"), payload.texts("addedTypes"), payload.texts("removedTypes"));
    let added = !lines.is_empty() && !types.is_empty();
    let initial = payload.is("isInitial");
    let mut parts = Vec::new();
    if added {
        let head = if initial {
            "Available agent types for the Agent tool:"
        } else {
            "New agent types are now available for the Agent tool:"
        };
        parts.push(format!("{head}\n{}", lines.join("\n")));
    }
    if !removed.is_empty() {
        let removed: Vec<String> = removed.iter().map(|name| format!("- {name}")).collect();
        parts.push(format!("The following agent types are no longer available:\n{}", removed.join("\n")));
        parts.push(AMBIENT.into());
    }
    if added && initial && payload.is("showConcurrencyNote") {
        parts.push("When you launch multiple agents for independent work, send them in a single message with multiple tool uses so they run concurrently.".into());
    }
    paragraphs(&parts)
}

/// Instructions of MCP servers that came or went.
pub(super) fn servers(payload: &Payload<'_>) -> Option<String> {
    let (blocks, names, removed) = (payload.texts("addedBlocks"), payload.texts("addedNames"), payload.texts("removedNames"));
    let mut parts = Vec::new();
    if !blocks.is_empty() && !names.is_empty() {
        parts.push(format!(
            "# MCP Server Instructions\n\nThe following MCP servers have provided instructions for how to use their tools and resources:\n\n{}",
            blocks.join("\n\n")
        ));
    }
    if !removed.is_empty() {
        parts.push(format!(
            "The following MCP servers have disconnected. Their instructions above no longer apply:\n{}",
            removed.join("\n")
        ));
        parts.push(AMBIENT.into());
    }
    paragraphs(&parts)
}

/// Deferred tools that came or went.
pub(super) fn tools(payload: &Payload<'_>) -> Option<String> {
    const ABSENT: &str = "Do not search for them — ToolSearch will return no match";
    let (lines, names) = (payload.texts("addedLines"), payload.texts("addedNames"));
    let removed = payload.texts("removedNames");
    let mut parts = Vec::new();
    if !lines.is_empty() && !names.is_empty() {
        parts.push(format!(
            "The following deferred tools are now available via ToolSearch. Their schemas are NOT loaded — calling them directly will fail with InputValidationError. Use ToolSearch with query \"select:<name>[,<name>...]\" to load tool schemas before calling them:\n{}",
            lines.join("\n")
        ));
    }
    let again = |count: usize| format!("{count} deferred tool{} available again", if count == 1 { " is" } else { "s are" });
    let (of_servers, own) = split(payload.texts("readdedNames"));
    if !of_servers.is_empty() {
        parts.push(format!(
            "{} (MCP server reconnected — names announced earlier in this conversation): {}. Load via ToolSearch as before.",
            again(of_servers.len()),
            summary(&of_servers)
        ));
    }
    if !own.is_empty() {
        parts.push(format!(
            "{} in this session (announced earlier in this conversation): {}. Load via ToolSearch as before.",
            again(own.len()),
            own.join(", ")
        ));
    }
    let gone = !removed.is_empty();
    let (of_servers, own) = split(removed);
    if of_servers.len() > NAMES {
        parts.push(format!(
            "{} deferred tools are no longer available (MCP server disconnected): {}. {ABSENT}.",
            of_servers.len(),
            summary(&of_servers)
        ));
    } else if !of_servers.is_empty() {
        parts.push(format!(
            "The following deferred tools are no longer available (their MCP server disconnected). {ABSENT}:\n{}",
            of_servers.join("\n")
        ));
    }
    if !own.is_empty() {
        parts
            .push(format!("The following deferred tools are no longer available in this session. {ABSENT}:\n{}", own.join("\n")));
    }
    if gone {
        parts.push(AMBIENT.into());
    }
    let pending = payload.texts("pendingMcpServers");
    if !pending.is_empty() {
        let servers = if pending.len() > NAMES {
            format!("{}, …and {} more", pending[..NAMES].join(", "), pending.len() - NAMES)
        } else {
            pending.join("\n")
        };
        parts.push(include_str!("texts/pending_servers.txt").replacen("{servers}", &servers, 1));
    }
    paragraphs(&parts)
}

fn paragraphs(parts: &[String]) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Names of tools of MCP servers, and all others.
fn split(names: Vec<Cow<'_, str>>) -> (Vec<Cow<'_, str>>, Vec<Cow<'_, str>>) {
    names.into_iter().partition(|name| name.starts_with("mcp__"))
}

/// How many tools each server has, by name.
fn summary(names: &[Cow<'_, str>]) -> String {
    let mut counts: BTreeMap<(String, String), u32> = BTreeMap::new();
    for name in names {
        let parts: Vec<&str> = name.splitn(3, "__").take(2).collect();
        let server = parts.join("__") + "__*";
        *counts.entry((server.to_lowercase(), server)).or_default() += 1;
    }
    let entries =
        counts.iter().map(|((_, server), count)| if *count > 1 { format!("{server} ({count})") } else { server.clone() });
    entries.collect::<Vec<_>>().join(", ")
}

/// New problems that the editor or a language server found.
pub(super) fn diagnostics(payload: &Payload<'_>) -> Option<String> {
    let files: Vec<String> = payload.list("files").into_iter().map(|file| of_file(&Payload::new(Some(file)))).collect();
    if files.is_empty() {
        return None;
    }
    let mut text = files.join("\n\n");
    if text.encode_utf16().count() > DIAGNOSTICS_CHARACTERS {
        text = cut(&text, DIAGNOSTICS_CHARACTERS - CUT_DIAGNOSTICS.chars().count(), CUT_DIAGNOSTICS);
    }
    Some(format!("<new-diagnostics>The following new diagnostic issues were detected:\n\n{text}</new-diagnostics>"))
}

fn of_file(file: &Payload<'_>) -> String {
    let uri = file.text("uri");
    let name = uri.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(&uri);
    let lines = file.list("diagnostics").into_iter().map(|entry| {
        let entry = Payload::new(Some(entry));
        let start = entry.inner("range").inner("start");
        let place = |name| start.text(name).parse::<u64>().unwrap_or_default() + 1;
        let sign = match entry.text("severity").to_lowercase().as_str() {
            "error" => "✘",
            "warning" => "⚠",
            "info" | "information" => "ℹ",
            "hint" => "★",
            _ => "●",
        };
        let optional = |before: &str, name: &str, after: &str| match entry.text(name) {
            text if text.is_empty() => String::new(),
            text => format!("{before}{text}{after}"),
        };
        format!(
            "  {sign} [Line {}:{}] {}{}{}",
            place("line"),
            place("character"),
            entry.text("message"),
            optional(" [", "code", "]"),
            optional(" (", "source", ")")
        )
    });
    format!("{name}:\n{}", lines.collect::<Vec<_>>().join("\n"))
}
