//! Texts of attachments that list things: agents, servers, tools, diagnostics.

use super::prose::{self, Composed};
use super::templates::Payload;
use crate::model::Counts;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Maximum number of names listed; the others are only counted.
const NAMES: usize = 30;
/// Maximum length of all diagnostics together, in UTF-16 units.
const DIAGNOSTICS_CHARACTERS: usize = 4000;
const CUT_DIAGNOSTICS: &str = "…[truncated]";

/// Truncates a text to `characters`, and appends `end` if it was longer.
pub(super) fn cut(text: &str, characters: usize, end: &str) -> String {
    match text.char_indices().nth(characters) {
        Some((place, _)) => format!("{}{end}", &text[..place]),
        None => text.to_owned(),
    }
}

/// A text of paragraphs, each of client words and data, and its name; `None` if there are no paragraphs.
struct Paragraphs(Option<Composed>, &'static str);

impl Paragraphs {
    fn add(&mut self, words: Counts, data: &str) {
        self.0 = Some(match self.0.take() {
            None => Composed::new(self.1, words, data),
            Some(text) => text.and(words, &format!("\n\n{data}")),
        });
    }

    fn end(&mut self, words: Counts) {
        self.0 = self.0.take().map(|text| text.and(words, ""));
    }
}

/// Composes the notice of added and removed agent types.
pub(super) fn agents(payload: &Payload<'_>) -> Option<Composed> {
    let (lines, types, removed) = (payload.texts("addedLines"), payload.texts("addedTypes"), payload.texts("removedTypes"));
    let added = !lines.is_empty() && !types.is_empty();
    let initial = payload.is("isInitial");
    let mut parts = Paragraphs(None, "list of agents");
    if added {
        let words = if initial { prose::AGENTS } else { prose::AGENTS_NEW };
        parts.add(words, &format!("\n{}", lines.join("\n")));
    }
    if !removed.is_empty() {
        let removed: Vec<String> = removed.iter().map(|name| format!("- {name}")).collect();
        parts.add(prose::AGENTS_GONE, &format!("no longer available:\n{}", removed.join("\n")));
        parts.end(prose::AMBIENT);
    }
    if added && initial && payload.is("showConcurrencyNote") {
        parts.end(prose::AGENTS_AT_ONCE);
    }
    parts.0
}

/// Composes the notice of added and removed MCP server instructions.
pub(super) fn servers(payload: &Payload<'_>) -> Option<Composed> {
    let (blocks, names, removed) = (payload.texts("addedBlocks"), payload.texts("addedNames"), payload.texts("removedNames"));
    let mut parts = Paragraphs(None, "instructions of MCP servers");
    if !blocks.is_empty() && !names.is_empty() {
        parts.add(prose::SERVERS, &format!("\n{}", blocks.join("\n\n")));
    }
    if !removed.is_empty() {
        parts.add(prose::SERVERS_GONE, &format!("disconnected:\n{}", removed.join("\n")));
        parts.end(prose::AMBIENT);
    }
    parts.0
}

/// Composes the notice of added, restored and removed deferred tools.
pub(super) fn tools(payload: &Payload<'_>) -> Option<Composed> {
    let (lines, names) = (payload.texts("addedLines"), payload.texts("addedNames"));
    let removed = payload.texts("removedNames");
    let mut parts = Paragraphs(None, "list of deferred tools");
    if !lines.is_empty() && !names.is_empty() {
        parts.add(prose::TOOLS, &format!("\n{}", lines.join("\n")));
    }
    let (of_servers, own) = split(payload.texts("readdedNames"));
    if !of_servers.is_empty() {
        parts.add(prose::SERVER_TOOLS_BACK, &format!("available again: {}", summary(&of_servers)));
    }
    if !own.is_empty() {
        parts.add(prose::TOOLS_BACK, &format!("available again: {}", own.join(", ")));
    }
    let gone = !removed.is_empty();
    let (of_servers, own) = split(removed);
    if of_servers.len() > NAMES {
        parts.add(prose::MANY_TOOLS_GONE, &format!("no longer available: {}", summary(&of_servers)));
    } else if !of_servers.is_empty() {
        parts.add(prose::SERVER_TOOLS_GONE, &format!("no longer available:\n{}", of_servers.join("\n")));
    }
    if !own.is_empty() {
        parts.add(prose::TOOLS_GONE, &format!("no longer available:\n{}", own.join("\n")));
    }
    if gone {
        parts.end(prose::AMBIENT);
    }
    let pending = payload.texts("pendingMcpServers");
    if !pending.is_empty() {
        let servers = if pending.len() > NAMES {
            format!("{}, …and {} more", pending[..NAMES].join(", "), pending.len() - NAMES)
        } else {
            pending.join("\n")
        };
        parts.add(prose::PENDING_SERVERS, &format!("still connecting\n{servers}"));
    }
    parts.0
}

/// Splits tool names into those of MCP servers and all others.
fn split(names: Vec<Cow<'_, str>>) -> (Vec<Cow<'_, str>>, Vec<Cow<'_, str>>) {
    names.into_iter().partition(|name| name.starts_with("mcp__"))
}

/// Formats the number of tools per server, sorted by server name.
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

/// Composes the notice of new problems reported by the editor or a language server.
pub(super) fn diagnostics(payload: &Payload<'_>) -> Option<Composed> {
    let files: Vec<String> = payload.list("files").into_iter().map(|file| of_file(&Payload::new(Some(file)))).collect();
    if files.is_empty() {
        return None;
    }
    let mut text = files.join("\n\n");
    if text.encode_utf16().count() > DIAGNOSTICS_CHARACTERS {
        text = cut(&text, DIAGNOSTICS_CHARACTERS - CUT_DIAGNOSTICS.chars().count(), CUT_DIAGNOSTICS);
    }
    Some(Composed::new("new diagnostics", prose::DIAGNOSTICS, format!("<new-diagnostics>\n{text}</new-diagnostics>")))
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
