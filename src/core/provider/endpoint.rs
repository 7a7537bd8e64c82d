//! The APIs behind a proxy: the base URL of a request, and the form of errors.

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
    Anthropic,
    OpenAi,
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
}
