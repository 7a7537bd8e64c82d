use super::PROVIDERS;

/// What a file looks like from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A session of a provider, by its name.
    Session(&'static str),
    /// A file that aperture knows and cannot read as a session, in words.
    Known(&'static str),
    /// Nothing at all.
    Empty,
    /// Anything else.
    Unknown,
}

/// Tells the format of a file from its first bytes.
pub fn sniff(head: &[u8]) -> Format {
    if head.trim_ascii().is_empty() {
        return Format::Empty;
    }
    if head.starts_with(b"SQLite format 3\0") {
        return Format::Known("an SQLite database; Cursor and newer OpenCode keep their sessions in one");
    }
    if let Some(provider) = PROVIDERS.iter().find(|provider| provider.recognizes(head)) {
        return Format::Session(provider.name());
    }
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let has = |key: &str| memchr::memmem::find(line, format!("\"{key}\":").as_bytes()).is_some();
    let start = &head[..head.len().min(4096)];
    let mentions = |text: &str| memchr::memmem::find(start, text.as_bytes()).is_some();
    if has("display") && has("project") && has("timestamp") {
        Format::Known("Claude Code's history.jsonl, the list of typed prompts")
    } else if has("agent") && has("cli_version") && has("v") {
        Format::Known("a transcript of Entire")
    } else if head.trim_ascii_start().starts_with(b"{") && mentions("\"info\"") && mentions("\"messages\"") {
        Format::Known("an export of OpenCode")
    } else if has("role") && (has("content") || has("message")) {
        Format::Known("an OpenAI-style log of messages")
    } else if has("messages") || mentions("\"role\"") && mentions("\"content\"") {
        Format::Known("an OpenAI-style list of messages")
    } else if has("agentId") && has("sessionId") {
        Format::Known("a record that Claude Code keeps beside its sessions")
    } else {
        Format::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(head: &str, expected: Format) {
        assert_eq!(sniff(head.as_bytes()), expected, "{head}");
    }

    #[test]
    fn formats_are_told_apart() {
        check("", Format::Empty);
        check("  \n\n", Format::Empty);
        check("hello", Format::Unknown);
        check(r#"{"type":"user","uuid":"u","sessionId":"s","message":{}}"#, Format::Session("claude-code"));
        check(r#"{"timestamp":"t","type":"session_meta","payload":{}}"#, Format::Session("codex"));
        check(
            r#"{"display":"hi","pastedContents":{},"timestamp":1,"project":"/p"}"#,
            Format::Known("Claude Code's history.jsonl, the list of typed prompts"),
        );
        check(r#"{"role":"user","content":"hi"}"#, Format::Known("an OpenAI-style log of messages"));
        check("{\n \"info\": {},\n \"messages\": []}", Format::Known("an export of OpenCode"));
    }

    #[test]
    fn a_broken_first_line_does_not_hide_a_session() {
        check("{\"type\":\n{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s\"}\n", Format::Session("claude-code"));
    }
}
