//! The APIs behind a proxy: the base URL of a request, the form of errors, and the way in which a client is given another address.

use super::claude_code::ClaudeCode;
use super::client::Client;
use super::codex::Codex;
use serde_json::json;

/// The base URL of requests with a ChatGPT login, which Codex marks with [`CHATGPT_HEADER`].
const CHATGPT_BASE_URL: &str = "https://chatgpt.com/backend-api/codex";
const CHATGPT_HEADER: &str = "chatgpt-account-id";

/// An API as a request names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// Anthropic.
    Anthropic,
    /// OpenAI.
    OpenAi,
    /// OpenAI with a ChatGPT login.
    ChatGpt,
}

impl Endpoint {
    /// Returns the API of a request by its path and the names of its headers in lower case.
    pub fn of(path: &str, has_header: impl Fn(&str) -> bool) -> Endpoint {
        let messages = path.split_once("/v1/messages").is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with('/'));
        match () {
            () if messages || has_header("anthropic-version") => Endpoint::Anthropic,
            () if has_header(CHATGPT_HEADER) => Endpoint::ChatGpt,
            () => Endpoint::OpenAi,
        }
    }

    /// Returns the base URL.
    pub fn base_url(self) -> &'static str {
        match self {
            Endpoint::Anthropic => ClaudeCode.api_base_url(),
            Endpoint::OpenAi => Codex.api_base_url(),
            Endpoint::ChatGpt => CHATGPT_BASE_URL,
        }
    }

    /// Returns the URL of a request: its path and query after a base URL. The path segment `v1` is not repeated if the base URL ends
    /// with it, and is left out if the API has none.
    pub fn url(self, base: &str, target: &str) -> String {
        let base = base.trim_end_matches('/');
        let versionless = target.strip_prefix("/v1").filter(|rest| rest.starts_with('/'));
        match versionless {
            Some(rest) if base.ends_with("/v1") || base == CHATGPT_BASE_URL => format!("{base}{rest}"),
            _ => format!("{base}{target}"),
        }
    }

    /// Returns the body of an error of the proxy, in the form of the API's own errors.
    pub fn error_body(self, code: &str, message: &str) -> String {
        match self {
            Endpoint::Anthropic => json!({"type": "error", "error": {"type": "api_error", "message": message}}),
            Endpoint::OpenAi | Endpoint::ChatGpt => {
                json!({"error": {"message": message, "type": "api_error", "param": null, "code": code}})
            }
        }
        .to_string()
    }
}

/// The changes to a client's command line and environment that lead its requests to another address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redirection {
    /// Environment variables to set.
    pub variables: Vec<(&'static str, String)>,
    /// Arguments to insert before the client's own.
    pub arguments: Vec<String>,
    /// The variables with the base URL of Anthropic that the user chose for this client; the client reads the first one that is set.
    pub anthropic: &'static [&'static str],
    /// The same for OpenAI.
    pub openai: &'static [&'static str],
    /// Variables that lead the client's requests past every base URL.
    pub elsewhere: &'static [&'static str],
}

/// Returns the changes for a client by the name of its program, such as `claude`, and the URL of the proxy without a path; `None` for
/// an unknown program.
pub fn redirection(program: &str, proxy: &str) -> Option<Redirection> {
    const ANTHROPIC: &[&str] = &["ANTHROPIC_BASE_URL"];
    const OPENAI: &[&str] = &["OPENAI_BASE_URL"];
    const AIDER_ANTHROPIC: &[&str] = &["ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"];
    const AIDER_OPENAI: &[&str] = &["AIDER_OPENAI_API_BASE", "OPENAI_BASE_URL", "OPENAI_API_BASE"];
    let versioned = format!("{proxy}/v1");
    let set = |names: &[&'static str], url: &str| names.iter().map(|name| (*name, url.to_owned())).collect::<Vec<_>>();
    Some(match program {
        // With another base URL, Claude Code sends the definitions of all MCP tools unless this variable is set.
        "claude" => Redirection {
            variables: [set(ANTHROPIC, proxy), set(&["ENABLE_TOOL_SEARCH"], "true")].concat(),
            anthropic: ANTHROPIC,
            elsewhere: &["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"],
            ..Redirection::default()
        },
        "codex" => Redirection {
            arguments: vec!["-c".to_owned(), format!("openai_base_url=\"{versioned}\"")],
            openai: OPENAI,
            ..Redirection::default()
        },
        "opencode" => Redirection {
            variables: [set(ANTHROPIC, &versioned), set(OPENAI, &versioned)].concat(),
            anthropic: ANTHROPIC,
            openai: OPENAI,
            ..Redirection::default()
        },
        "aider" => Redirection {
            variables: [set(AIDER_OPENAI, &versioned), set(AIDER_ANTHROPIC, proxy)].concat(),
            anthropic: AIDER_ANTHROPIC,
            openai: AIDER_OPENAI,
            ..Redirection::default()
        },
        _ => return None,
    })
}

/// The programs that [`redirection`] knows.
pub const REDIRECTED: &[&str] = &["claude", "codex", "opencode", "aider"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_its_api() {
        let url = |target: &str, header: &str| {
            let endpoint = Endpoint::of(target, |name| name == header);
            endpoint.url(endpoint.base_url(), target)
        };
        assert_eq!(url("/v1/messages", ""), "https://api.anthropic.com/v1/messages");
        assert_eq!(url("/v1/messages/count_tokens", ""), "https://api.anthropic.com/v1/messages/count_tokens");
        assert_eq!(url("/v1/models", "anthropic-version"), "https://api.anthropic.com/v1/models");
        assert_eq!(url("/v1/models", ""), "https://api.openai.com/v1/models");
        assert_eq!(url("/v1/responses", "chatgpt-account-id"), "https://chatgpt.com/backend-api/codex/responses");
        assert_eq!(Endpoint::OpenAi.url("http://127.0.0.1:1/", "/v1/models"), "http://127.0.0.1:1/v1/models");
        assert_eq!(Endpoint::OpenAi.url("http://host/gateway", "/v1?x"), "http://host/gateway/v1?x");
    }

    #[test]
    fn every_known_program_is_redirected() {
        for program in REDIRECTED {
            let changes = redirection(program, "http://127.0.0.1:5").unwrap();
            let values = changes.variables.iter().map(|(_, value)| value).chain(&changes.arguments);
            assert!(values.clone().any(|value| value.contains("http://127.0.0.1:5")), "{program}");
        }
        assert_eq!(redirection("ls", "http://127.0.0.1:5"), None);
    }
}
