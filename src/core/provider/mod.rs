//! Formats of session files and the clients that write them: from bytes to rows and blocks, and back.
//!
//! A provider is the sum of four parts: [`Format`] (rows, window, slots), [`Client`] (places, open sessions, the API),
//! [`Rewriter`] (rows that aperture adds) and [`Billing`] (usage, cache life). It is given bytes and names and returns values; it
//! neither reads a file nor decides anything. A new one is a folder here and a line in [`PROVIDERS`]; the laws over that
//! table test it at once. The bodies of requests to an API have formats too: [`REQUESTS`]; so have files that hold their messages in
//! another form: [`MEDIA`]. Files of both are found by their path only. [`Endpoint`] names the API of a request.

/// Declares methods that are a call of a function or a value, and those of a trait by their default: `name(arguments) -> Type = value;`.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> $returns:ty = $value:expr;)*) => {
        $($(#[$doc])* fn $name(&self, $($argument: $type),*) -> $returns {
            $value
        })*
    };
}

pub mod claude_code;
mod client;
pub mod codex;
mod command;
mod edited;
mod endpoint;
mod files;
mod format;
mod framing;
mod gemini;
mod json;
mod json_edit;
/// The kind of a file, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Session(&'static str),
    /// A description of a file that aperture recognizes but cannot read as a session.
    Known(&'static str),
    Empty,
    Unknown,
}

/// Returns the kind of a file by its first bytes.
pub fn sniff(head: &[u8]) -> FileKind {
    if head.trim_ascii().is_empty() {
        return FileKind::Empty;
    }
    if head.starts_with(b"SQLite format 3\0") {
        return FileKind::Known("an SQLite database; Cursor keeps its sessions in one");
    }
    if let Some(provider) = PROVIDERS.iter().chain(REQUESTS).chain(MEDIA).find(|provider| provider.recognizes(head)) {
        return FileKind::Session(provider.name());
    }
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let has = |key: &str| memchr::memmem::find(line, format!("\"{key}\":").as_bytes()).is_some();
    let start = &head[..head.len().min(4096)];
    let mentions = |text: &str| memchr::memmem::find(start, text.as_bytes()).is_some();
    if has("display") && has("project") && has("timestamp") {
        FileKind::Known("Claude Code's history.jsonl, the list of typed prompts")
    } else if has("agent") && has("cli_version") && has("v") {
        FileKind::Known("a transcript of Entire")
    } else if head.trim_ascii_start().starts_with(b"{") && mentions("\"info\"") && mentions("\"messages\"") {
        FileKind::Known("an export of OpenCode")
    } else if has("role") && (has("content") || has("message")) {
        FileKind::Known("an OpenAI-style log of messages")
    } else if has("messages") || mentions("\"role\"") && mentions("\"content\"") {
        FileKind::Known("an OpenAI-style list of messages")
    } else if has("agentId") && has("sessionId") {
        FileKind::Known("a record that Claude Code keeps beside its sessions")
    } else {
        FileKind::Unknown
    }
}

#[cfg(test)]
mod laws;
pub mod mcp_client;
mod media;
mod message;
mod opencode;
mod pdf;
mod recorded;
mod requests;
mod response;
mod rewriter;
mod route;
mod tool_input;
mod turns;
mod usage;
mod words;

use crate::model::{Conventions, Merge};
use std::sync::LazyLock;

pub use client::{
    Client, ClientPart, IN_DATABASE, Location, OpenSession, Places, Queries, SessionParts, TypedPrompt, Variables, WindowSize,
    WriterLock,
};
pub use edited::{ByteEdit, BytePiece, EditedBytes, body_capacity, returned_capacity};
pub use endpoint::Endpoint;
pub use format::{Format, MediaPlace, ParsedBlock, ParsedRow, Scanner, SentUnder, Stub, Totals, UnsentRecord};
pub use framing::Framing;
pub use json::{lenient, parsed, strings};
pub use json_edit::EditError;
pub use message::{Addition, Change, Lead, Message, Part, Source, Unrecorded, reminder, unwrap};
pub use requests::{
    KnownElements, KnownHashes, MEDIA, Occurrences, Piece, PromptElements, REMINDER, REQUESTS, RequestApi, RequestBody,
    RequestDocument, RequestElement, RequestHead, RequestIdentity, ToolDefinition, begins, call_result, continuation, identity,
    named_directory, named_in_head, restored, session_lines,
};
pub use response::{CallFilter, RefusalCause, Reply, ResponseContent, ResponseForm, ResponseReader, WithheldCall};
pub use rewriter::{
    Billing, EMPTY_MESSAGE, ForkedRow, KnownContext, NO_PARENT, NewRow, NewSession, NewText, Opening, RECORD, Rewriter,
};
pub use route::{Launch, REDIRECTED, Redirection, Route, redirection};
pub use words::OtherCalls;

/// Every provider that aperture reads.
pub static PROVIDERS: &[&dyn ProviderAdapter] = &[&claude_code::ClaudeCode, &codex::Codex, &opencode::OpenCode, &gemini::Gemini];

/// A format of session files, and the client that writes them.
///
/// | task | part |
/// | --- | --- |
/// | detect sessions | [`Format::recognizes`], [`Client::roots`], [`Client::locate`] |
/// | parse | [`Format::parse`], [`Format::link`], [`Format::window`] |
/// | texts and names | [`Client::conventions`] |
/// | watch | [`Client::roots`], [`Client::registries`] |
/// | write back | [`Format::locate_slot`], [`Format::encode`], [`Rewriter`], [`Billing::usage`] |
/// | base URL of the API | [`Client::api_base_url`], [`Client::variables`] |
/// | request | [`Format::messages`] |
pub trait ProviderAdapter: Format + Client + Rewriter + Billing {
    /// Returns the name in reports, settings and `--json`, such as `claude-code`.
    fn name(&self) -> &'static str;
}

/// Returns the provider with this name, of sessions or of requests; `None` if none has it: a newer version may have written the name.
pub fn by_name(name: &str) -> Option<&'static dyn ProviderAdapter> {
    PROVIDERS.iter().chain(REQUESTS).chain(MEDIA).find(|provider| provider.name() == name).copied()
}

/// Returns the conventions of all clients, because a session can quote the rows of any of them.
pub fn conventions() -> &'static Conventions {
    static ALL: LazyLock<Conventions> = LazyLock::new(|| {
        let mut all = Conventions::default();
        PROVIDERS.iter().chain(REQUESTS).for_each(|provider| all.merge(provider.conventions()));
        all
    });
    &ALL
}

/// Returns the commands that a script runs through the tools of a client, one after the other; `None` if it is not such a script.
pub fn scripted_commands(script: &str) -> Option<String> {
    codex::scripted_commands(script)
}

/// Returns a text without what clients wrote before it: elements of their tags, and lines that they insert.
pub fn without_insertions(text: &str) -> &str {
    let conventions = conventions();
    let mut rest = text.trim_start();
    loop {
        let name = rest
            .strip_prefix('<')
            .and_then(|rest| Some(&rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')?]));
        let after = match name.filter(|name| conventions.inserted_tags.contains(name)) {
            // The end of a long element can be cut off.
            Some(name) => rest.split_once(&format!("</{name}>")).map_or("", |(_, after)| after),
            None if conventions.inserted_lines.iter().any(|line| rest.starts_with(line)) => {
                rest.split_once('\n').map_or("", |(_, after)| after)
            }
            None => return rest,
        };
        rest = after.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insertions_of_clients_are_not_titles() {
        let check = |text: &str, expected: &str| assert_eq!(without_insertions(text), expected, "{text}");
        check("<local-command-caveat>Caveat: the messages</local-command-caveat>", "");
        check("<ide_opened_file>a.rs</ide_opened_file>\n <ide_selection>x</ide_selection> why?", "why?");
        check("<local-command-caveat>Caveat: the messages are cut of", "");
        check("Caveat: The messages below are of commands\nfix it", "fix it");
        check("<T> is a type", "<T> is a type");
        check("<div>a page</div>", "<div>a page</div>");
        check("<", "<");
        check("", "");
    }

    fn check(head: &str, expected: FileKind) {
        assert_eq!(sniff(head.as_bytes()), expected, "{head}");
    }

    #[test]
    fn formats_are_distinguished() {
        check("", FileKind::Empty);
        check("  \n\n", FileKind::Empty);
        check("hello", FileKind::Unknown);
        check(r#"{"type":"user","uuid":"u","sessionId":"s","message":{}}"#, FileKind::Session("claude-code"));
        check(r#"{"timestamp":"t","type":"session_meta","payload":{}}"#, FileKind::Session("codex"));
        check(
            r#"{"display":"hi","pastedContents":{},"timestamp":1,"project":"/p"}"#,
            FileKind::Known("Claude Code's history.jsonl, the list of typed prompts"),
        );
        check(r#"{"role":"user","content":"hi"}"#, FileKind::Session("openai-chat-lines"));
        check(r#"{"role":"user","content":[{"type":"tool_result"}]}"#, FileKind::Session("anthropic-lines"));
        check(
            "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\"}]}",
            FileKind::Session("anthropic-lines"),
        );
        check("{\n\"messages\": [\n{\"role\":\"user\"}]}", FileKind::Session("openai-chat"));
        check(r#"{"model":"m","input":[{"role":"user","content":"hi"}]}"#, FileKind::Session("openai-responses"));
        check("{\"messages\":[{\"role\":\"user\"}]}\n{\"messages\":[]}", FileKind::Session("openai-chat-log"));
        check(r#"{"request":{"system":"s","messages":[{"role":"user"}]}}"#, FileKind::Session("anthropic-log"));
        check(r#"{"request":{"body":{"input":[{"role":"user"}]}}}"#, FileKind::Session("openai-responses-log"));
        check(r#"[{"role":"user","content":"hi"}]"#, FileKind::Known("an OpenAI-style log of messages"));
        check("{\n \"info\": {},\n \"messages\": []}", FileKind::Known("an export of OpenCode"));
        check("{\"type\":\n{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s\"}\n", FileKind::Session("claude-code"));
    }
}
