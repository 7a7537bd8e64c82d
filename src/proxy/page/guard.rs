//! The requests that are answered: those for this machine, by the page itself, with its token.
//!
//! Loopback alone proves nothing: any page in the browser can send requests to it, and a name that leads there can be made.

use crate::proxy::control::is_equal;
use crate::proxy::headers::{FETCH_SITE, TOKEN_HEADER};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, ORIGIN, UPGRADE};
use hyper::http::request::Parts;
use hyper::{Method, header::HeaderName};

/// The path below which requests need the token.
pub const CONTROL: &str = "/aperture/";
/// The headers in which browsers say what for a request is: to go to a page, in a tab or in a frame.
const FETCH_MODE: &str = "sec-fetch-mode";
const FETCH_DESTINATION: &str = "sec-fetch-dest";

/// The hosts and the token of a page.
pub struct Guard {
    /// The hosts that requests may be for, with their ports.
    pub hosts: Vec<String>,
    pub token: String,
}

impl Guard {
    /// Admits a request by its head, or returns the reason why it is refused.
    pub fn admit(&self, parts: &Parts) -> Result<(), &'static str> {
        let headers = &parts.headers;
        let is_known = |host: &str| self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
        let is_own = |origin: &str| origin.strip_prefix("http://").is_some_and(is_known);
        let host = only(headers, &HOST).ok_or("the request names no host, or several")?;
        if !host.is_some_and(is_known) || parts.uri.authority().is_some_and(|authority| !is_known(authority.as_str())) {
            return Err("the request is for another host");
        }
        let origin = only(headers, &ORIGIN).ok_or("the request names several origins")?;
        if origin.is_some_and(|origin| !is_own(origin)) {
            return Err("the request is of another page");
        }
        let fetch = |name: &str| headers.get(name).map(|value| value.as_bytes());
        // The file of `serve --open` leads to the page, which holds no data and is shown in no frame.
        let is_opened = parts.method == Method::GET
            && fetch(FETCH_MODE) == Some(b"navigate")
            && fetch(FETCH_DESTINATION) == Some(b"document");
        let is_own_site = matches!(fetch(FETCH_SITE), None | Some(b"same-origin" | b"none"));
        if !is_own_site && (!is_opened || parts.uri.path() != "/") {
            return Err("the request is of another page");
        }
        if headers.contains_key(UPGRADE) {
            return Err("the connection cannot change its protocol");
        }
        if parts.method != Method::GET {
            if origin.is_none() {
                return Err("a request that is not GET names its origin");
            }
            if only(headers, &CONTENT_TYPE).flatten() != Some("application/json") {
                return Err("the content type is not application/json");
            }
        }
        let token = headers.get(TOKEN_HEADER).map(|token| token.as_bytes());
        if parts.uri.path().starts_with(CONTROL) && !token.is_some_and(|token| is_equal(token, self.token.as_bytes())) {
            return Err("the token is missing or wrong");
        }
        Ok(())
    }
}

/// Returns the value of a header; `None` if there are several.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Some(None),
        (Some(value), None) => value.to_str().ok().map(Some),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "127.0.0.1:7000";

    fn admitted(method: &str, path: &str, headers: &[(&str, &str)]) -> Result<(), &'static str> {
        let hosts = [OWN, "localhost:7000", "[::1]:7000", "box:9"].map(str::to_owned).to_vec();
        let guard = Guard { hosts, token: "secret".to_owned() };
        let request = hyper::Request::builder().method(method).uri(path);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        guard.admit(&request.body(()).unwrap().into_parts().0)
    }

    /// The headers of a request of the page itself.
    const GOOD: [(&str, &str); 5] = [
        ("host", OWN),
        ("origin", "http://127.0.0.1:7000"),
        ("content-type", "application/json"),
        ("x-aperture-token", "secret"),
        ("sec-fetch-site", "same-origin"),
    ];

    #[test]
    fn the_page_and_its_own_requests_are_served() {
        for host in [OWN, "localhost:7000", "LOCALHOST:7000", "[::1]:7000", "box:9"] {
            assert_eq!(admitted("GET", "/", &[("host", host)]), Ok(()), "{host}");
        }
        assert_eq!(admitted("GET", "/page.js", &[("host", OWN), ("sec-fetch-site", "none")]), Ok(()));
        assert_eq!(admitted("POST", "/aperture/request", &GOOD), Ok(()));
        assert_eq!(admitted("GET", "/aperture/events", &[("host", OWN), ("x-aperture-token", "secret")]), Ok(()));
    }

    #[test]
    fn a_page_elsewhere_can_lead_to_the_page_and_to_nothing_else() {
        let sent = |path: &str, destination: &str| {
            let fetch = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", destination)];
            admitted("GET", path, &[&[("host", OWN), ("x-aperture-token", "secret")], &fetch[..]].concat())
        };
        assert_eq!(sent("/", "document"), Ok(()));
        for (path, destination) in [("/", "iframe"), ("/", "empty"), ("/page.js", "document"), ("/aperture/events", "document")] {
            assert!(sent(path, destination).is_err(), "{path} {destination}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let hosts = [
            "evil.example", "127.evil.com:7000", "localhost.evil.com:7000", "127.0.0.1", "127.0.0.1:7001", "localhost",
            "0.0.0.0:7000", "", "127.0.0.1:7000.evil.com",
        ];
        for host in hosts {
            assert!(admitted("GET", "/", &[("host", host)]).is_err(), "{host}");
        }
        assert!(admitted("GET", "/", &[]).is_err() && admitted("GET", "/", &[("host", OWN), ("host", OWN)]).is_err());
        assert!(admitted("GET", "http://evil.example/", &[("host", OWN)]).is_err());
        assert!(admitted("GET", "/aperture/events", &[("host", OWN)]).is_err());
        // Each header of a good request, missing or changed.
        for (name, values) in [
            ("host", &["evil.example", ""][..]),
            ("origin", &["https://evil.example", "null", "https://127.0.0.1:7000", "http://127.0.0.1:7001", "http://localhost"]),
            ("content-type", &["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8"]),
            ("x-aperture-token", &["Secret", "secret ", "secre"]),
            ("sec-fetch-site", &["cross-site", "same-site", "?"]),
        ] {
            let without: Vec<_> = GOOD.into_iter().filter(|(other, _)| *other != name).collect();
            if name != "sec-fetch-site" {
                assert!(admitted("POST", "/aperture/request", &without).is_err(), "without {name}");
            }
            for value in values {
                let changed = [&without[..], &[(name, *value)]].concat();
                assert!(admitted("POST", "/aperture/request", &changed).is_err(), "{name}: {value}");
            }
        }
        let upgrade = [("host", OWN), ("x-aperture-token", "secret"), ("connection", "upgrade"), ("upgrade", "websocket")];
        assert!(admitted("GET", "/aperture/events", &upgrade).is_err());
        assert!(admitted("DELETE", "/aperture/request", &GOOD[..1]).is_err());
    }
}
