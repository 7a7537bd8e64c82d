//! One request: checked, read, changed as `wire` says, sent, and its response passed on.

use super::beside::{Answered, Sent, Task, is_in_line};
use super::body::{self, Read, RequestBody, ResponseBody, Tee};
use super::server::Proxy;
use super::{control, headers};
use crate::output::{ProxyRequest, RequestStage};
use crate::provider::{Endpoint, ResponseReader};
use crate::wire::{Outgoing, RequestFacts, RequestHead};
use anyhow::Context;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use std::sync::Arc;
use std::time::Duration;

/// The maximum size of a recorded response, in bytes.
const LONGEST_RECORD: usize = 16 << 20;
/// The stage that sends the body.
const EMIT: &str = "emit";

/// Answers a request.
///
/// # Errors
///
/// The client closed the connection while it sent the request.
pub async fn answer(proxy: Arc<Proxy>, request: Request<Incoming>) -> Result<Response<ResponseBody>, hyper::Error> {
    let (parts, body) = request.into_parts();
    let endpoint = Endpoint::of(parts.uri.path(), |name| parts.headers.contains_key(name));
    let refuse = |status, code, message: &str| Ok(error(endpoint, status, code, message));
    if proxy.needs_token() {
        if !control::is_control(&parts) && !proxy.has_token(&parts.headers) {
            let message = "the header x-aperture-token is missing or wrong";
            return refuse(StatusCode::FORBIDDEN, "wrong_token", message);
        }
    } else if !headers::names_loopback(&parts, proxy.address.port()) {
        return refuse(StatusCode::FORBIDDEN, "foreign_host", "the host of the request is not a loopback address");
    }
    if control::is_control(&parts) {
        return Ok(control::answer(&proxy, &parts));
    }
    if parts.method == Method::CONNECT {
        return refuse(StatusCode::METHOD_NOT_ALLOWED, "no_tunnel", "CONNECT is not supported");
    }
    if headers::is_upgrade(&parts.headers) {
        // Clients that try a websocket first then use HTTP.
        return refuse(StatusCode::UPGRADE_REQUIRED, "no_websocket", "websockets are not supported; use HTTP");
    }
    forward(proxy, endpoint, parts, body).await
}

async fn forward(
    proxy: Arc<Proxy>,
    endpoint: Endpoint,
    parts: Parts,
    body: Incoming,
) -> Result<Response<ResponseBody>, hyper::Error> {
    let head = headers::head(&parts);
    let request =
        ProxyRequest { time: proxy.now(), method: head.method.clone(), path: head.path().to_owned(), ..ProxyRequest::default() };
    let mut passage = Passage::new(proxy.clone(), request);
    let is_api = head.api().is_some();
    let is_compressed = parts.headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity");
    let (body, received) = if is_api && !is_compressed {
        match body::read(body, &proxy.buffers).await? {
            Read::Whole(bytes) => {
                let received = proxy.env.elapsed();
                (Upload::from(passage.decide(head, bytes).await), received)
            }
            Read::Larger(body) => {
                passage.stage("passed on as a stream: the body is too large to be changed");
                (Upload::stream(body), proxy.env.elapsed())
            }
        }
    } else {
        if is_api {
            passage.stage("passed on as a stream: the body is compressed");
        }
        (Upload::stream(body::stream(body)), proxy.env.elapsed())
    };
    let base = proxy.options.upstream.as_deref().unwrap_or(endpoint.base_url());
    let reads = is_api && proxy.upstream.compresses(base);
    let sent = match outgoing(parts, endpoint, base, body, reads) {
        Ok(request) => {
            passage.sent(proxy.env.elapsed().saturating_sub(received));
            proxy.upstream.send(request).await
        }
        Err(error) => Err(error),
    };
    match sent {
        Ok(response) => Ok(respond(response, passage, is_api, base)),
        Err(cause) => {
            let message = proxy.env.gate.masked(&format!("aperture: no response from {base}: {cause:#}"));
            passage.stage(&message);
            passage.status(StatusCode::BAD_GATEWAY);
            passage.end("failed");
            Ok(error(endpoint, StatusCode::BAD_GATEWAY, "upstream_unreachable", &message))
        }
    }
}

/// The body of a request to send.
struct Upload {
    body: RequestBody,
    /// Its length, if the header must say it.
    changed_length: Option<usize>,
}

impl Upload {
    fn stream(body: RequestBody) -> Upload {
        Upload { body, changed_length: None }
    }

    fn from((bytes, changed): (Bytes, bool)) -> Upload {
        let changed_length = changed.then_some(bytes.len());
        Upload { body: body::whole(bytes), changed_length }
    }
}

/// Returns the request to the API.
fn outgoing(
    mut parts: Parts,
    endpoint: Endpoint,
    base: &str,
    upload: Upload,
    reads: bool,
) -> anyhow::Result<Request<RequestBody>> {
    let uri: Uri = endpoint.url(base, headers::target(&parts)).parse().context("the path cannot be sent")?;
    let host = uri.authority().map(|authority| HeaderValue::from_str(authority.as_str())).transpose()?;
    parts.headers = headers::forwarded(&parts.headers, host.as_ref());
    if let Some(length) = upload.changed_length
        && parts.headers.contains_key(CONTENT_LENGTH)
    {
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    if reads && parts.headers.contains_key(ACCEPT_ENCODING) {
        parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
    parts.uri = uri;
    parts.version = Version::HTTP_11;
    Ok(Request::from_parts(parts, upload.body))
}

/// Returns the response to the client.
fn respond(response: Response<Incoming>, mut passage: Passage, is_api: bool, base: &str) -> Response<ResponseBody> {
    let (mut parts, body) = response.into_parts();
    passage.status(parts.status);
    if is_api && is_compressed(&parts.headers) {
        passage.proxy.upstream.note_compression(base);
    } else if is_api {
        let events = parts.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        passage.read(events);
    }
    parts.headers = headers::forwarded(&parts.headers, None);
    parts.version = Version::HTTP_11;
    Response::from_parts(parts, http_body_util::BodyExt::boxed_unsync(Tee::new(body, passage)))
}

fn is_compressed(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity")
}

/// Returns an error of the proxy, in the form of the API.
pub fn error(endpoint: Endpoint, status: StatusCode, code: &str, message: &str) -> Response<ResponseBody> {
    json(status, endpoint.error_body(code, message))
}

/// Returns a response with JSON.
pub fn json(status: StatusCode, text: String) -> Response<ResponseBody> {
    let mut response = Response::new(body::whole(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The passage of a request and its response: its entry in the list, and the figures and bytes that are read meanwhile. An entry whose
/// passage is dropped without an end was aborted by the client.
pub struct Passage {
    proxy: Arc<Proxy>,
    number: u64,
    status: u16,
    failed: bool,
    ended: bool,
    reader: Option<ResponseReader>,
    record: Option<Vec<u8>>,
    /// The facts of the request, and if its body was changed.
    decided: Option<(RequestFacts, bool)>,
}

impl Passage {
    fn new(proxy: Arc<Proxy>, request: ProxyRequest) -> Passage {
        let number = proxy.requests.add(request);
        Passage { proxy, number, status: 0, failed: true, ended: false, reader: None, record: None, decided: None }
    }

    fn update(&self, change: impl FnOnce(&mut ProxyRequest)) {
        self.proxy.requests.update(self.number, change);
    }

    /// Adds a note on what was sent.
    fn stage(&self, note: &str) {
        self.update(|request| request.stages.push(RequestStage { stage: EMIT.to_owned(), note: note.to_owned() }));
    }

    /// Returns the bytes to send for a body, and if they differ from it. Any failure gives the body as it is.
    async fn decide(&mut self, head: RequestHead, body: Bytes) -> (Bytes, bool) {
        let proxy = self.proxy.clone();
        let (original, api) = (body.clone(), head.api());
        // A panic on the other thread is the error of the join.
        let decided = tokio::task::spawn_blocking(move || proxy.wire.request(&head, &body, proxy.now())).await;
        let (outgoing, fault) = match decided {
            Ok(outgoing) => (outgoing, None),
            Err(_) => (Outgoing::default(), Some("an internal error: the body was sent as it was received")),
        };
        if let Some(fault) = fault {
            self.proxy.report_once(fault);
        }
        let Outgoing { body, facts } = outgoing;
        if let Some(problem) = &facts.problem {
            self.proxy.report_once(&format!("the body was sent as it was received: {problem}"));
        }
        let body = body.filter(|body| **body != *original).map(Bytes::from);
        let note = match (&body, fault) {
            (_, Some(fault)) => fault.to_owned(),
            (Some(body), None) => format!("changed: {} bytes received, {} bytes sent", original.len(), body.len()),
            (None, None) if self.proxy.options.observe => "sent as received: the proxy only observes".to_owned(),
            (None, None) => "sent as received".to_owned(),
        };
        let sent = body.clone().unwrap_or_else(|| original.clone());
        self.update(|request| {
            request.session.clone_from(&facts.session);
            request.line.clone_from(&facts.line);
            request.model.clone_from(&facts.model);
            (request.client_bytes, request.sent_bytes) = (original.len() as u64, sent.len() as u64);
            let stages = facts.stages.iter();
            request.stages.extend(stages.map(|stage| RequestStage { stage: stage.stage.to_owned(), note: stage.note.clone() }));
            request.stages.push(RequestStage { stage: EMIT.to_owned(), note });
        });
        if body.is_some() {
            self.proxy.requests.count_changed();
        }
        if let Some(api) = api.filter(|_| is_in_line(&facts)) {
            self.proxy.tasks.sent(Sent { number: self.number, api, client: original.clone(), sent: body.clone() });
        }
        self.decided = Some((facts, body.is_some()));
        if self.proxy.options.record.is_some() {
            self.proxy.record(format!("{:06}-request.json", self.number), original.clone());
            if let Some(body) = &body {
                self.proxy.record(format!("{:06}-sent.json", self.number), body.clone());
            }
            self.record = Some(Vec::new());
        }
        (sent, body.is_some())
    }

    fn sent(&self, added: Duration) {
        self.update(|request| request.added_microseconds = u64::try_from(added.as_micros()).unwrap_or(u64::MAX));
    }

    fn status(&mut self, status: StatusCode) {
        self.status = status.as_u16();
        self.failed = status.is_client_error() || status.is_server_error();
        self.update(|request| request.status = status.as_u16());
    }

    /// Reads the figures of the response.
    fn read(&mut self, events: bool) {
        self.reader = Some(ResponseReader::new(events));
    }

    /// Takes a piece of the response.
    pub fn piece(&mut self, bytes: &[u8]) {
        if let Some(reader) = &mut self.reader {
            reader.push(bytes);
        }
        if let Some(record) = self.record.as_mut().filter(|record| record.len() + bytes.len() <= LONGEST_RECORD) {
            record.extend_from_slice(bytes);
        }
    }

    /// Takes the end of the response; later ends are ignored.
    pub fn end(&mut self, outcome: &str) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let content = self.reader.take().map(ResponseReader::finish).unwrap_or_default();
        let billed = content.tokens;
        let failed = self.failed || outcome == "cut";
        self.proxy.requests.end(self.number, failed && outcome != "aborted", |request| {
            request.outcome = outcome.to_owned();
            request.billed = billed;
            if let Some(billed) = billed.filter(|_| request.sent_bytes > 0) {
                // The bill calibrates the estimate of the tokens that were not sent.
                request.sent_tokens = billed.sent();
                let ratio = request.client_bytes as f64 / request.sent_bytes as f64;
                request.client_tokens = (billed.sent() as f64 * ratio).round() as u64;
            }
        });
        if let Some(record) = self.record.take() {
            self.proxy.record(format!("{:06}-response.txt", self.number), record.into());
        }
        let decided = self.decided.take();
        let complete = outcome == "done";
        self.proxy.tasks.send(Task::Answered(Answered { number: self.number, decided, status: self.status, complete, content }));
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.end("aborted");
    }
}
