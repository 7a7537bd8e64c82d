//! One request: checked, read, changed as `wire` says, sent, and its response passed on.

use super::beside::{Answered, Sent, Task, is_in_line};
use super::body::{self, Read, RequestBody, ResponseBody, Tee};
use super::relay::{self, Exchange};
use super::server::Proxy;
use super::{control, headers};
use crate::output::{ProxyRequest, RequestStage};
use crate::provider::{CallFilter, Endpoint, ResponseForm, ResponseReader};
use crate::wire::{Outgoing, RequestApi, RequestFacts, RequestHead, Stage, TOOL, Wire};
use anyhow::Context;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// The maximum size of a recorded response, in bytes.
const LONGEST_RECORD: usize = 16 << 20;
/// The size in bytes from which a body can pass without being read first.
const SMALL: u64 = 64 << 10;

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
    let api = head.api().filter(|_| proxy.wire.reads());
    let is_api = api.is_some();
    let is_compressed = parts.headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity");
    let (body, received) = upload(&mut passage, head, is_compressed, body).await?;
    let base = proxy.options.upstream.as_deref().unwrap_or(endpoint.base_url());
    let reads = is_api && (passage.offered.is_some() || proxy.upstream.compresses(base));
    let sent = match outgoing(parts, endpoint, base, body, reads) {
        Ok(request) => {
            passage.keep(api, &request);
            passage.sent(proxy.env.elapsed().saturating_sub(received));
            proxy.upstream.send(request).await
        }
        Err(error) => Err(error),
    };
    match sent {
        Ok(response) => Ok(respond(response, passage, is_api, base)),
        // The passage ends as aborted: the client left before the end of its body.
        Err(cause) if is_of_client(&cause) => {
            Ok(error(endpoint, StatusCode::BAD_GATEWAY, "client_gone", "aperture: the request is cut"))
        }
        Err(cause) => {
            let message = proxy.env.gate.masked(&format!("aperture: no response from {base}: {cause:#}"));
            passage.stage(&message);
            passage.status(StatusCode::BAD_GATEWAY);
            passage.end("failed");
            Ok(error(endpoint, StatusCode::BAD_GATEWAY, "upstream_unreachable", &message))
        }
    }
}

/// Returns the body to send, and the time at which it can be sent.
async fn upload(
    passage: &mut Passage,
    head: RequestHead,
    is_compressed: bool,
    body: Incoming,
) -> Result<(Upload, Duration), hyper::Error> {
    let proxy = passage.proxy.clone();
    if head.api().is_none() {
        return Ok((Upload::stream(body::stream(body)), proxy.env.elapsed()));
    }
    if is_compressed {
        passage.stage("passed on as a stream: the body is compressed");
        return Ok((Upload::stream(body::stream(body)), proxy.env.elapsed()));
    }
    let body = match passage.pass(&head, body) {
        Ok(body) => return Ok((Upload::stream(body), proxy.env.elapsed())),
        Err(body) => body,
    };
    let read = body::read(body, &proxy.buffers).await?;
    let received = proxy.env.elapsed();
    let upload = match read {
        Read::Whole(bytes) => Upload::from(passage.decide(head, bytes).await),
        Read::Larger(body) => {
            passage.stage("passed on as a stream: the body is too large to be changed");
            Upload::stream(body)
        }
    };
    Ok((upload, received))
}

/// Returns true if a request failed because its body could not be read from the client.
fn is_of_client(cause: &anyhow::Error) -> bool {
    cause.chain().any(|cause| cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_user))
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
        passage.read(form(&parts.headers) == Some(ResponseForm::Events));
    }
    let exchange = passage.exchange.take().filter(|_| parts.status == StatusCode::OK);
    let exchange = exchange.and_then(|exchange| Some((exchange, form(&parts.headers)?)));
    parts.headers = headers::forwarded(&parts.headers, None);
    parts.version = Version::HTTP_11;
    if let Some(((facts, exchange), form)) = exchange {
        let filter = CallFilter::new(exchange.api, form, TOOL.name, TOOL.input);
        parts.headers.remove(CONTENT_LENGTH);
        return Response::from_parts(parts, relay::body(body, passage, facts, exchange, filter));
    }
    Response::from_parts(parts, http_body_util::BodyExt::boxed_unsync(Tee::new(body, passage)))
}

/// Returns the form of a response; `None` if it cannot be read.
pub fn form(headers: &HeaderMap) -> Option<ResponseForm> {
    let kind = headers.get(CONTENT_TYPE).filter(|_| !is_compressed(headers))?.as_bytes();
    match () {
        () if kind.starts_with(b"text/event-stream") => Some(ResponseForm::Events),
        () if kind.starts_with(b"application/json") => Some(ResponseForm::Document),
        () => None,
    }
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
    /// The body as it was received and as it was sent, if it offers the tool of aperture.
    offered: Option<(Bytes, Bytes)>,
    /// The request for those that continue it.
    exchange: Option<(RequestFacts, Exchange)>,
    /// The facts of a request whose body is passed on as it arrives.
    arriving: Option<JoinHandle<Option<RequestFacts>>>,
}

impl Passage {
    fn new(proxy: Arc<Proxy>, request: ProxyRequest) -> Passage {
        let number = proxy.requests.add(request);
        Passage {
            proxy,
            number,
            status: 0,
            failed: true,
            ended: false,
            reader: None,
            record: None,
            decided: None,
            offered: None,
            exchange: None,
            arriving: None,
        }
    }

    /// Returns the passage of a request that continues this one.
    pub fn continuation(&self, facts: &RequestFacts, body: &Bytes) -> Passage {
        let RequestFacts { session, line, model, .. } = facts.clone();
        let bytes = body.len() as u64;
        let mut request = ProxyRequest { time: self.proxy.now(), session, line, model, ..ProxyRequest::default() };
        (request.client_bytes, request.sent_bytes) = (bytes, bytes);
        self.update(|of| (request.method, request.path) = (of.method.clone(), of.path.clone()));
        let mut passage = Passage::new(self.proxy.clone(), request);
        passage.note(Stage::Emit.name(), &format!("continues request {} with the results of its calls", self.number));
        passage.decided = Some((facts.clone(), true));
        passage.begin_record("sent", body);
        passage
    }

    /// Returns the proxy.
    pub fn proxy(&self) -> &Arc<Proxy> {
        &self.proxy
    }

    /// Keeps a request for those that continue it, if it offers the tool of aperture.
    fn keep(&mut self, api: Option<RequestApi>, request: &Request<RequestBody>) {
        let facts = self.decided.as_ref().map(|(facts, _)| facts.clone());
        if let (Some(api), Some((received, body)), Some(facts)) = (api, self.offered.take(), facts) {
            let (method, uri, headers) = (request.method().clone(), request.uri().clone(), request.headers().clone());
            self.exchange = Some((facts, Exchange { api, method, uri, headers, received, body }));
        }
    }

    /// Records a body, and from now on the response.
    fn begin_record(&mut self, kind: &str, body: &Bytes) {
        if self.proxy.options.record.is_some() {
            self.proxy.record(format!("{:06}-{kind}.json", self.number), body.clone());
            self.record = Some(Vec::new());
        }
    }

    fn update(&self, change: impl FnOnce(&mut ProxyRequest)) {
        self.proxy.requests.update(self.number, change);
    }

    /// Adds a note on what was sent.
    fn stage(&self, note: &str) {
        self.note(Stage::Emit.name(), note);
    }

    /// Adds a note on the work of a stage.
    pub fn note(&self, stage: &str, note: &str) {
        self.update(|request| request.stages.push(RequestStage { stage: stage.to_owned(), note: note.to_owned() }));
    }

    /// Returns the body as a stream if it is sent as it is, whatever it contains: then no time is spent before it is sent, and its facts
    /// are read when it has arrived. Otherwise it returns the body unread.
    fn pass(&mut self, head: &RequestHead, body: Incoming) -> Result<RequestBody, Incoming> {
        // A small body is read faster than this is decided; a large one would be in memory while the next one arrives.
        if !(SMALL..=body::LARGEST_KEPT as u64).contains(&body.size_hint().lower())
            || self.proxy.options.record.is_some()
            || !self.proxy.wire.passes(head)
        {
            return Err(body);
        }
        let (body, arrived) = body::kept(body, &self.proxy.buffers);
        let (proxy, number, head) = (self.proxy.clone(), self.number, head.clone());
        self.arriving = Some(tokio::spawn(async move {
            let bytes = arrived.await.ok()?;
            let (api, client) = (head.api(), bytes.clone());
            let facts = tokio::task::spawn_blocking(move || Wire::facts(&head, &bytes)).await;
            if let (Ok(facts), Some(api)) = (&facts, api)
                && is_in_line(facts)
            {
                proxy.tasks.sent(Sent { number, api, client, sent: None });
            }
            match &facts {
                Ok(facts) => proxy.list(number, facts, proxy.as_received()),
                Err(_) => proxy.report_once("an internal error: the facts of a request are not listed"),
            }
            facts.ok()
        }));
        Ok(body)
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
        let Outgoing { body, offers_tool, mut facts } = outgoing;
        let body = body.filter(|body| **body != *original).map(Bytes::from);
        let note = match (&body, fault) {
            (_, Some(fault)) => fault.to_owned(),
            (Some(body), None) => format!("changed: {} bytes received, {} bytes sent", original.len(), body.len()),
            (None, None) => self.proxy.as_received().to_owned(),
        };
        let sent = body.clone().unwrap_or_else(|| original.clone());
        (facts.client_bytes, facts.sent_bytes) = (original.len() as u64, sent.len() as u64);
        self.proxy.list(self.number, &facts, &note);
        if body.is_some() {
            self.proxy.requests.count_changed();
        }
        if let Some(api) = api.filter(|_| is_in_line(&facts)) {
            self.proxy.tasks.sent(Sent { number: self.number, api, client: original.clone(), sent: body.clone() });
        }
        self.decided = Some((facts, body.is_some()));
        self.offered = offers_tool.then(|| (original.clone(), sent.clone()));
        self.begin_record("request", &original);
        if let Some(body) = &body {
            self.begin_record("sent", body);
        }
        (sent, body.is_some())
    }

    fn sent(&self, added: Duration) {
        self.update(|request| request.added_microseconds = u64::try_from(added.as_micros()).unwrap_or(u64::MAX));
    }

    /// Takes the status of the response.
    pub fn status(&mut self, status: StatusCode) {
        self.status = status.as_u16();
        self.failed = status.is_client_error() || status.is_server_error();
        self.update(|request| request.status = status.as_u16());
    }

    /// Reads the figures of the response.
    pub fn read(&mut self, events: bool) {
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
    pub fn end(&mut self, outcome: &'static str) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let Some(arriving) = self.arriving.take() else { return self.conclude(outcome) };
        let Ok(runtime) = Handle::try_current() else { return };
        // The facts of the request are complete at the end of its entry.
        let ended = Passage {
            proxy: self.proxy.clone(),
            reader: self.reader.take(),
            record: None,
            decided: None,
            arriving: None,
            offered: None,
            exchange: None,
            ..*self
        };
        runtime.spawn(async move {
            let mut ended = ended;
            ended.decided = arriving.await.ok().flatten().map(|facts| (facts, false));
            ended.conclude(outcome);
        });
    }

    fn conclude(&mut self, outcome: &str) {
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

impl Proxy {
    /// Returns the note on a body that was not changed.
    fn as_received(&self) -> &'static str {
        if self.options.observe { "sent as received: the proxy only observes" } else { "sent as received" }
    }

    /// Lists the facts of a request and a note on the bytes that were sent, and reports the problem that kept the body from being changed.
    fn list(&self, number: u64, facts: &RequestFacts, note: &str) {
        if let Some(problem) = &facts.problem {
            self.report_once(&format!("the body was sent as it was received: {problem}"));
        }
        self.requests.update(number, |request| {
            request.session.clone_from(&facts.session);
            request.line.clone_from(&facts.line);
            request.model.clone_from(&facts.model);
            (request.client_bytes, request.sent_bytes) = (facts.client_bytes, facts.sent_bytes);
            let stages = self.wire.explained(facts).into_iter();
            request.stages.extend(stages.map(|stage| RequestStage { stage: stage.stage.name().to_owned(), note: stage.note }));
            request.stages.push(RequestStage { stage: Stage::Emit.name().to_owned(), note: note.to_owned() });
        });
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.end("aborted");
    }
}
