//! Requests to the proxy itself, from `aperture proxy status` and its siblings.

use super::body::{ResponseBody, whole};
use super::forward::{error, json};
use super::server::{Phase, Proxy};
use super::turns::Turn;
use crate::provider::Endpoint;
use crate::workspace::{RequestSessions, SessionBytes};
use hyper::body::Bytes;
use hyper::header::{ETAG, HeaderValue, IF_NONE_MATCH};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use serde::Serialize;
use std::sync::Arc;

/// The path below which requests are for the proxy itself.
const ROOT: &str = "/.aperture/";
/// The path of the status.
pub const STATUS: &str = "/.aperture/status";
/// The path below which each client of `run` has its status, by the process of `run`.
pub const RUNS: &str = "/.aperture/status/";
/// The path of the newest requests.
pub const REQUESTS: &str = "/.aperture/requests";
/// The path of the sessions in memory. Below it, each has a path with the hash of its id.
pub const SESSIONS: &str = "/.aperture/sessions";
/// The path that stops the proxy.
pub const STOP: &str = "/.aperture/stop";
/// The header with the token of the state file.
pub const HEADER: &str = "x-aperture-control";

/// Returns true if a request is for the proxy itself.
pub fn is_control(parts: &Parts) -> bool {
    parts.uri.path().starts_with(ROOT)
}

/// Answers a request for the proxy itself.
pub async fn answer(proxy: &Arc<Proxy>, parts: &Parts) -> Response<ResponseBody> {
    let given = parts.headers.get(HEADER).map(|value| value.as_bytes());
    if !given.is_some_and(|given| is_equal(given, proxy.control_token.as_bytes())) {
        return error(Endpoint::OpenAi, StatusCode::FORBIDDEN, "wrong_token", "the control token is missing or wrong");
    }
    match (&parts.method, parts.uri.path()) {
        (&Method::GET, STATUS) => document(&proxy.status()),
        (&Method::GET, path) if path.starts_with(RUNS) => match path[RUNS.len()..].parse() {
            Ok(process) => document(&proxy.status_of(process)),
            Err(_) => unknown(),
        },
        (&Method::GET, REQUESTS) => document(&proxy.requests.newest()),
        (&Method::GET, SESSIONS) => document(&proxy.memory.list()),
        (&Method::GET, path) if path.starts_with(SESSIONS) => session(proxy, &path[SESSIONS.len()..], parts).await,
        (&Method::POST, STOP) => {
            proxy.enter(Phase::Stopping);
            document(&proxy.status())
        }
        _ => unknown(),
    }
}

/// Returns the bytes of a session in memory, unless the other side has this version of them. They are made on another thread, in the
/// turn of its body if that is large.
async fn session(proxy: &Arc<Proxy>, path: &str, parts: &Parts) -> Response<ResponseBody> {
    let memory = proxy.memory.clone();
    let Some(id) = path.strip_prefix('/').and_then(|hash| memory.id_of(hash)) else { return unknown() };
    let version = memory.version(&id).and_then(|version| HeaderValue::try_from(version).ok());
    if version.is_some() && parts.headers.get(IF_NONE_MATCH) == version.as_ref() {
        let mut same = Response::new(whole(Bytes::new()));
        *same.status_mut() = StatusCode::NOT_MODIFIED;
        return same;
    }
    let turn = proxy.tasks.turns().wait(memory.received_bytes(&id)).await;
    let Some(Some(bytes)) = proxy.tasks.on_bodies(move || memory.bytes(&id)).await else { return unknown() };
    let mut response = Response::new(whole(Bytes::from_owner(Answer { bytes, _turn: turn })));
    // An older version than that of the bytes only has them sent again.
    response.headers_mut().extend(version.map(|version| (ETAG, version)));
    response
}

struct Answer {
    bytes: SessionBytes,
    _turn: Option<Turn>,
}

impl AsRef<[u8]> for Answer {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

fn unknown() -> Response<ResponseBody> {
    error(Endpoint::OpenAi, StatusCode::NOT_FOUND, "unknown_path", "there is no such control path")
}

fn document(value: &impl Serialize) -> Response<ResponseBody> {
    json(StatusCode::OK, serde_json::to_string(value).unwrap_or_default())
}

/// Compares two secrets in constant time.
pub fn is_equal(left: &[u8], right: &[u8]) -> bool {
    blake3::hash(left) == blake3::hash(right)
}
