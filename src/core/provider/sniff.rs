use super::{MEDIA, PROVIDERS, REQUESTS};

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
mod tests {
    use super::*;

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
    }

    #[test]
    fn a_broken_first_line_does_not_hide_a_session() {
        check("{\"type\":\n{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s\"}\n", FileKind::Session("claude-code"));
    }
}
