//! Headers: those that end at the proxy, those with credentials, and the host that a request may name.

use crate::engine::mask;
use crate::wire::RequestHead;
use hyper::header::{CONNECTION, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, UPGRADE};
use hyper::http::request::Parts;

/// The header with the token of remote clients, and of the page.
pub const TOKEN_HEADER: &str = "x-aperture-token";
/// Headers of one connection, which a proxy does not pass on.
const HOP_BY_HOP: &[&str] = &[
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade", TOKEN_HEADER,
];
const CREDENTIALS: &[&str] =
    &["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "proxy-authorization", TOKEN_HEADER];
/// The header of a browser on the relation of a page to the site that it asks.
pub const FETCH_SITE: &str = "sec-fetch-site";

/// Returns the headers to pass on, in their order; the host is replaced in its place.
pub fn forwarded(headers: &HeaderMap, host: Option<&HeaderValue>) -> HeaderMap {
    let listed: Vec<String> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let ends = |name: &HeaderName| HOP_BY_HOP.contains(&name.as_str()) || listed.iter().any(|listed| listed == name.as_str());
    let mut passed = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers.iter().filter(|(name, _)| !ends(name)) {
        match host.filter(|_| name == HOST) {
            Some(host) => drop(passed.insert(HOST, host.clone())),
            None => drop(passed.append(name.clone(), value.clone())),
        }
    }
    passed
}

/// Returns the head of a request without its credentials.
pub fn head(parts: &Parts) -> RequestHead {
    let is_safe = |name: &HeaderName, text: &str| !CREDENTIALS.contains(&name.as_str()) && mask(text) == text;
    let text = |(name, value): (&HeaderName, &HeaderValue)| {
        let text = value.to_str().ok().filter(|text| is_safe(name, text))?;
        Some((name.as_str().to_owned(), text.to_owned()))
    };
    RequestHead {
        method: parts.method.as_str().to_owned(),
        target: mask(target(parts)).into_owned(),
        headers: parts.headers.iter().filter_map(text).collect(),
    }
}

/// Returns the path and the query of a request.
pub fn target(parts: &Parts) -> &str {
    parts.uri.path_and_query().map_or("/", |target| target.as_str())
}

/// Returns true if a request wants another protocol on its connection, such as a websocket.
pub fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.get(UPGRADE).and_then(|value| value.to_str().ok()).is_some_and(|value| value.eq_ignore_ascii_case("websocket"))
}

/// Returns true if a web page of another origin sends a request: its origin, or its relation to this site, says so. A preflight of a
/// browser has the same headers.
pub fn is_of_page(headers: &HeaderMap, port: u16) -> bool {
    let is_own = |origin: &HeaderValue| {
        let host = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
        host.is_some_and(|host| is_loopback(host) && host.ends_with(&format!(":{port}")))
    };
    let is_near = |site: &HeaderValue| matches!(site.as_bytes(), b"same-origin" | b"none");
    !headers.get_all(ORIGIN).iter().all(is_own) || !headers.get_all(FETCH_SITE).iter().all(is_near)
}

/// Returns true if a request names the proxy by a loopback address and a port. A web page that leads its own name to this machine (DNS
/// rebinding) names that one instead.
pub fn names_loopback(parts: &Parts, own_port: u16) -> bool {
    let mut hosts = parts.headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let authority = parts.uri.authority().map(|authority| authority.as_str());
    // The port of HTTP is not named.
    let has_port = |host: &str| host.rsplit(':').next().is_some_and(|port| port.parse::<u16>().is_ok());
    let is_own = |host: &str| is_loopback(host) && (own_port == 80 || has_port(host));
    host.to_str().is_ok_and(is_own) && authority.is_none_or(is_loopback)
}

/// Returns true if a program sends a request, whatever host it names: web pages cannot send this header.
pub fn is_of_program(headers: &HeaderMap) -> bool {
    headers.contains_key(EXPECT)
}

fn is_loopback(host: &str) -> bool {
    let (name, given) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, rest)) => (name, rest.strip_prefix(':')),
        None => host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port))),
    };
    // The port can be that of another program on this machine, which passes the request on.
    is_loopback_name(name) && given.is_none_or(|given| given.parse::<u16>().is_ok())
}

/// Returns true if a name is one of this machine itself.
pub fn is_loopback_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || matches!(name, "::1" | "[::1]") || name == "127.0.0.1"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_hosts_are_known() {
        for host in ["127.0.0.1:5400", "localhost:5400", "LOCALHOST:5400", "[::1]:5400", "127.0.0.1:80", "127.0.0.1", "localhost"]
        {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["evil.example", "evil", "evil.example:5400", "evil:5400", "127.0.0.1:x", "127.0.0.1.evil.example:5400", "", ":5400"]
        {
            assert!(!is_loopback(host), "{host}");
        }
        assert!(!is_loopback("localhost."));
    }

    #[test]
    fn a_host_without_a_port_is_known_at_the_port_of_http_alone() {
        let names = |host: &str, own_port| {
            let request = hyper::Request::get("/v1").header("host", host).body(()).unwrap();
            names_loopback(&request.into_parts().0, own_port)
        };
        for host in ["127.0.0.1", "localhost", "[::1]"] {
            assert!(!names(host, 5400) && names(host, 80), "{host}");
            assert!(names(&format!("{host}:5400"), 5400), "{host}");
        }
        assert!(!names("x", 80) && !names("x:5400", 5400));
    }

    #[test]
    fn the_head_has_no_credentials() {
        let key = format!("sk-ant-api03-{}-{}AA", "k3Yx".repeat(23), "q");
        let request = hyper::Request::post(format!("/v1/messages?beta=true&key={key}"))
            .header("authorization", "Bearer x")
            .header("x-api-key", "x")
            .header("x-custom", &key)
            .header("cookie", "a=1")
            .header("session-id", "abc");
        let head = head(&request.body(()).unwrap().into_parts().0);
        assert_eq!(head.headers, [("session-id".to_owned(), "abc".to_owned())]);
        assert!(!format!("{head:?}").contains("k3Yxk3Yx") && head.target.starts_with("/v1/messages?beta=true"));
    }
}
