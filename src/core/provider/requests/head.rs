//! The head of a request, without its credentials.

use super::{MEDIA, REQUESTS};
use crate::provider::{Framing, ProviderAdapter};

/// The method, the target and the headers of a request.
#[derive(Clone, Debug, Default)]
pub struct RequestHead {
    pub method: String,
    pub target: String,
    /// The headers with names in lower case; those with credentials are left out.
    pub headers: Vec<(String, String)>,
}

impl RequestHead {
    /// Returns the value of a header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// Returns the API of the request; `None` if its body passes through untouched.
    pub fn api(&self) -> Option<RequestApi> {
        if self.method != "POST" {
            return None;
        }
        let path = self.path().trim_end_matches('/');
        let ends = |end: &str| path.ends_with(end);
        match () {
            () if ends("/v1/messages") => Some(RequestApi::Messages),
            () if ends("/chat/completions") => Some(RequestApi::Chat),
            () if ends("/responses") => Some(RequestApi::Responses),
            () => None,
        }
    }
}

/// An API whose requests are sessions, in the order of [`REQUESTS`] and [`MEDIA`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestApi {
    Messages,
    Responses,
    Chat,
}

impl RequestApi {
    /// Returns the format of bodies.
    pub fn format(self) -> &'static dyn ProviderAdapter {
        REQUESTS[self as usize]
    }

    pub fn lines_format(self) -> &'static str {
        MEDIA[self as usize].name()
    }

    /// Returns the members of a body that have the elements of the prompt.
    pub(super) fn members(self) -> &'static [&'static str] {
        match self.format().framing() {
            Framing::Elements(names) | Framing::Record(names) => names,
            Framing::Lines => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_paths_have_an_api() {
        let api = |method: &str, target: &str| {
            RequestHead { method: method.to_owned(), target: target.to_owned(), headers: Vec::new() }.api()
        };
        assert_eq!(api("POST", "/v1/messages?beta=true"), Some(RequestApi::Messages));
        assert_eq!(api("POST", "/v1/chat/completions"), Some(RequestApi::Chat));
        assert_eq!(api("POST", "/openai/v1/responses/"), Some(RequestApi::Responses));
        assert_eq!(api("POST", "/v1/messages/count_tokens"), None);
        assert_eq!(api("POST", "/v1/responses/compact"), None);
        assert_eq!(api("GET", "/v1/messages"), None);
    }
}
