//! The passage of a request and its response: its entry in the list, its figures, and the bytes that are kept meanwhile.

use super::beside::{Answered, Task};
use super::body::RequestBody;
use super::kept::KeptBody;
use super::relay::Exchange;
use super::server::Proxy;
use crate::commands::proxy::ProxyRequest;
use crate::engine::preview;
use crate::provider::{EditedBody, ResponseReader};
use crate::wire::{RequestApi, RequestFacts, RequestStage, stages::emit};
use hyper::body::Bytes;
use hyper::{Request, StatusCode};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The maximum size of a recorded response, in bytes.
const LONGEST_RECORD: usize = 16 << 20;

/// A request and its response on their way. An entry of the list whose passage is dropped without an end was aborted by the client.
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
    /// The body as it was received and its changes, if it offers the tool of aperture.
    offered: Option<(Bytes, EditedBody)>,
    exchange: Option<(RequestFacts, Exchange)>,
    /// The work beside the request, which returns its facts if its body is passed on as it arrives.
    beside: Option<JoinHandle<Option<RequestFacts>>>,
    /// Dropped when the answer begins, for this work.
    unanswered: Option<oneshot::Sender<()>>,
}

/// Returns the name of the file with a body of a request.
pub fn record_name(request: u64, kind: &str) -> String {
    format!("{request:06}-{kind}.json")
}

impl Passage {
    /// Adds a request to the list and returns its passage.
    pub fn new(proxy: Arc<Proxy>, request: ProxyRequest) -> Passage {
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
            beside: None,
            unanswered: None,
        }
    }

    pub fn continuation(&self, facts: &RequestFacts, exchange: &Exchange) -> Passage {
        let RequestFacts { session, line, model, .. } = facts.clone();
        let bytes = exchange.body.len() as u64;
        let mut request = ProxyRequest { time: self.proxy.now(), session, line, model, ..ProxyRequest::default() };
        (request.client_bytes, request.sent_bytes) = (bytes, bytes);
        self.update(|of| (request.method, request.path, request.run) = (of.method.clone(), of.path.clone(), of.run));
        let mut passage = Passage::new(self.proxy.clone(), request);
        passage.note(&format!("continues request {} with the results of its calls", self.number));
        passage.decided = Some((facts.clone(), true));
        passage.record_body("sent", || exchange.body.bytes(&exchange.received()).into());
        passage
    }

    pub fn proxy(&self) -> &Arc<Proxy> {
        &self.proxy
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// Takes the work beside the request, and the value to drop when the answer begins. The end of the request is after it.
    pub fn work(&mut self, beside: JoinHandle<Option<RequestFacts>>, unanswered: oneshot::Sender<()>) {
        (self.beside, self.unanswered) = (Some(beside), Some(unanswered));
    }

    /// Takes the facts of the request, and if its body was changed.
    pub fn decide(&mut self, facts: RequestFacts, is_changed: bool) {
        self.decided = Some((facts, is_changed));
    }

    /// Takes the body of a request that offers the tool of aperture: as received, and its changes.
    pub fn offer(&mut self, received: Bytes, changed: EditedBody) {
        self.offered = Some((received, changed));
    }

    /// Keeps a request for those that continue it, if it offers the tool of aperture.
    pub fn keep(&mut self, api: Option<RequestApi>, request: &Request<RequestBody>) {
        let facts = self.decided.as_ref().map(|(facts, _)| facts.clone());
        if let (Some(api), Some((received, body)), Some(facts)) = (api, self.offered.take(), facts) {
            let (method, uri, headers) = (request.method().clone(), request.uri().clone(), request.headers().clone());
            let received = KeptBody::Received(received);
            self.exchange = Some((facts, Exchange { api, method, uri, headers, received, body }));
        }
    }

    pub fn take_exchange(&mut self) -> Option<(RequestFacts, Exchange)> {
        self.exchange.take()
    }

    /// Records a body, and from now on the response.
    pub fn record_body(&mut self, kind: &str, body: impl FnOnce() -> Bytes) {
        if let Some(directory) = &self.proxy.options.record {
            self.update(|request| request.record = Some(directory.clone()));
            self.proxy.record(record_name(self.number, kind), body());
            self.record = Some(Vec::new());
        }
    }

    fn update(&self, change: impl FnOnce(&mut ProxyRequest)) {
        self.proxy.requests.update(self.number, change);
    }

    /// Adds a note on what was sent.
    pub fn note(&self, note: &str) {
        self.update(|request| request.stages.push(RequestStage::of(&emit::STAGE, note)));
    }

    /// Adds a note on the failure that ended the response early.
    pub fn cut(&self, error: &hyper::Error) {
        let (mut reason, mut cause) = (error.to_string(), error.source());
        while let Some(inner) = cause {
            reason = format!("{reason}: {inner}");
            cause = inner.source();
        }
        self.note(&self.proxy.env.gate.masked(&format!("the response was cut: {reason}")));
    }

    /// Takes the time between the end of the request of the client and the start of the one to the API.
    pub fn sent(&self, added: Duration) {
        self.update(|request| request.added_microseconds = u64::try_from(added.as_micros()).unwrap_or(u64::MAX));
    }

    pub fn status(&mut self, status: StatusCode) {
        self.unanswered = None;
        self.status = status.as_u16();
        self.failed = status.is_client_error() || status.is_server_error();
        self.update(|request| request.status = status.as_u16());
    }

    /// Reads the figures of the response.
    pub fn read(&mut self, events: bool) {
        self.reader = Some(ResponseReader::new(events));
    }

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
        self.unanswered = None;
        let (Some(beside), Ok(runtime)) = (self.beside.take(), Handle::try_current()) else { return self.conclude(outcome) };
        let ended = Passage {
            proxy: self.proxy.clone(),
            reader: self.reader.take(),
            record: self.record.take(),
            decided: self.decided.take(),
            beside: None,
            unanswered: None,
            offered: None,
            exchange: None,
            ..*self
        };
        runtime.spawn(async move {
            let mut ended = ended;
            if let Ok(Some(facts)) = beside.await {
                ended.decided = Some((facts, false));
            }
            ended.conclude(outcome);
        });
    }

    fn conclude(&mut self, outcome: &str) {
        let content = self.reader.take().map(ResponseReader::finish).unwrap_or_default();
        let billed = content.tokens;
        if !content.error.is_empty() {
            let message = preview(&self.proxy.env.gate.masked(&content.error));
            let note = match self.failed {
                true => format!("the API refused it (status {}): {message}", self.status),
                false => format!("the API ended the answer with an error: {message}"),
            };
            self.note(&note);
        }
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
        let answered = Answered { number: self.number, decided, status: self.status, complete, content };
        self.proxy.tasks.send(Task::Answered(Box::new(answered)));
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.end("aborted");
    }
}
